/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Activity of some ranks over time, for a picture: computing, sending, receiving, waiting. Each
 * rank has a limited number of spans. When they are full, neighbouring spans are merged, and a
 * merged span keeps the time of each activity. A picture therefore covers the whole run, with
 * the resolution that the limit allows.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

#define MOST_RANKS 32 /* over all jobs */
#define MOST_SPANS 512

/* Activities in order of precedence: the first that applies counts. */
enum doing { DOES_COMPUTE, DOES_SEND, DOES_RECEIVE, DOES_WAIT, N_DOING };

/* The operation that the activity belongs to. */
struct purpose {
	uint32_t iteration, step;
	uint32_t line; /* in the goal file; 0: not known */
};

struct timeline_span {
	hd_time begin, end;
	hd_time times[N_DOING];
	struct purpose purpose;
};

struct job_timeline {
	struct timeline_span *spans;
	uint32_t n;
	hd_time since; /* HD_TIME_NEVER: not begun, or ended */
	enum doing doing;
	struct purpose purpose;
	uint32_t receiving; /* messages partially received */
	bool has_begun;
	bool is_noted; /* record added spans unmerged (timeline_note_all) */
	struct timeline_span *noted;
	uint32_t n_noted;
	size_t noted_cap;
};

void timeline_init(struct placed_job *p, uint32_t n_jobs)
{
	uint32_t most = n_jobs < MOST_RANKS ? MOST_RANKS / n_jobs : 1;

	p->spacing = (p->job.n_ranks + most - 1) / most;
	p->n_timelines = (p->job.n_ranks + p->spacing - 1) / p->spacing;
	p->timelines = hd_alloc(p->n_timelines, sizeof(*p->timelines));
	for (uint32_t i = 0; i < p->n_timelines; i++)
		p->timelines[i].spans = hd_alloc(MOST_SPANS, sizeof(struct timeline_span));
}

static void timeline_free(struct job_timeline *t)
{
	free(t->spans);
	free(t->noted);
}

void timeline_fini(struct placed_job *p)
{
	for (uint32_t i = 0; i < p->n_timelines; i++)
		timeline_free(&p->timelines[i]);
	free(p->timelines);
}

static struct job_timeline *timeline_of(const struct placed_job *p, uint32_t rank)
{
	return rank < p->job.n_ranks && rank % p->spacing == 0 ? &p->timelines[rank / p->spacing]
							       : NULL;
}

/* ---- recording ---------------------------------------------------------- */

/* Halves the number of spans by merging pairs; keeps the purpose of the longer span. */
static void spans_join(struct job_timeline *t)
{
	for (uint32_t i = 0; i < t->n / 2; i++) {
		const struct timeline_span a = t->spans[2 * (size_t)i];
		const struct timeline_span b = t->spans[2 * (size_t)i + 1];
		struct timeline_span *both = &t->spans[i];

		*both = b.end - b.begin > a.end - a.begin ? b : a;
		both->begin = a.begin;
		both->end = b.end;
		for (unsigned k = 0; k < N_DOING; k++)
			both->times[k] = a.times[k] + b.times[k];
	}
	t->n /= 2;
}

static void span_put(struct job_timeline *t, const struct timeline_span *s)
{
	if (t->n == MOST_SPANS)
		spans_join(t);
	t->spans[t->n++] = *s;
}

static void span_add(struct job_timeline *t, hd_time until)
{
	struct timeline_span s = { .begin = t->since, .end = until, .purpose = t->purpose };

	s.times[t->doing] = until - t->since;
	span_put(t, &s);
	if (!t->is_noted)
		return;
	t->noted = hd_grow(t->noted, &t->noted_cap, (size_t)t->n_noted + 1, sizeof(*t->noted));
	t->noted[t->n_noted++] = s;
}

static enum doing doing_of(const struct job_domain *s, uint32_t rank, const struct job_timeline *t,
			   uint32_t *line)
{
	const struct placed_job *p = s->of;
	const struct op *op = rank_group_work(&s->rank_group, rank);
	const struct job_message *m;

	*line = 0;
	if (op) {
		*line = op->line;
		return DOES_COMPUTE;
	}
	m = message_of_sender(p, rank);
	if (m && p->job.graph && (m->kind == MSG_DATA || m->kind == MSG_ASK))
		*line = p->graph.ops[m->ref].line;
	return m || p->actors[rank].under_way ? DOES_SEND : t->receiving ? DOES_RECEIVE : DOES_WAIT;
}

void timeline_look(struct job_domain *s, uint32_t rank, hd_time now)
{
	struct job_timeline *t = timeline_of(s->of, rank);
	struct purpose purpose;

	if (!t || (t->has_begun && t->since == HD_TIME_NEVER))
		return;
	const struct rank *r = &s->of->ranks[rank];
	enum doing doing = doing_of(s, rank, t, &purpose.line);
	bool is_over = r->ended != HD_TIME_NEVER;

	purpose.iteration = r->iteration;
	purpose.step = r->step;
	if (t->has_begun && !is_over && doing == t->doing && purpose.step == t->purpose.step &&
	    purpose.iteration == t->purpose.iteration && purpose.line == t->purpose.line)
		return;
	if (t->has_begun && now > t->since)
		span_add(t, now);
	t->has_begun = true;
	t->since = is_over ? HD_TIME_NEVER : now;
	t->doing = doing;
	t->purpose = purpose;
}

void timeline_receives(struct job_domain *s, uint32_t rank, int more)
{
	struct job_timeline *t = timeline_of(s->of, rank);

	if (t)
		t->receiving += (uint32_t)more;
}

/* ---- several processes -------------------------------------------------- */

static const struct pack_member span_members[] = {
	PACK(timeline_span, begin),        PACK(timeline_span, end),
	PACK_EACH(timeline_span, times),   PACK(timeline_span, purpose.iteration),
	PACK(timeline_span, purpose.step), PACK(timeline_span, purpose.line),
};

void timeline_collect(struct placed_job *p, struct pack *k, uint32_t rank)
{
	struct job_timeline *t = timeline_of(p, rank);

	if (!t)
		return;
	pack_u32(k, &t->n);
	if (!pack_check(k, t->n <= MOST_SPANS))
		t->n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		PACK_STRUCT(k, span_members, &t->spans[i]);
		pack_check(k, t->spans[i].purpose.step < p->job.n_steps);
	}
}

static const struct pack_member timeline_members[] = {
	PACK_TIME(job_timeline, since),   PACK_SUM(job_timeline, purpose.iteration),
	PACK(job_timeline, purpose.step), PACK(job_timeline, purpose.line),
	PACK(job_timeline, receiving),    PACK(job_timeline, has_begun),
};

void timeline_pack(struct placed_job *p, struct pack *k, uint32_t rank)
{
	struct job_timeline *t = timeline_of(p, rank);

	if (!t)
		return;
	uint8_t doing = (uint8_t)t->doing;

	if (!k->list)
		timeline_collect(p, k, rank);
	PACK_STRUCT(k, timeline_members, t);
	pack_u8(k, &doing);
	if (pack_check(k, doing < N_DOING && t->purpose.step < p->job.n_steps))
		t->doing = (enum doing)doing;
}

/* ---- skipped iterations ------------------------------------------------- */

void timeline_note_all(struct placed_job *p, bool on)
{
	for (uint32_t i = 0; i < p->n_timelines; i++) {
		p->timelines[i].is_noted = on;
		p->timelines[i].n_noted = 0;
	}
}

uint64_t timeline_noted_bytes(const struct placed_job *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->n_timelines; i++)
		n += p->timelines[i].noted_cap;
	return n * sizeof(struct timeline_span);
}

uint32_t timeline_noted(const struct placed_job *p, uint32_t number)
{
	return p->timelines[number].n_noted;
}

void timeline_continue(struct placed_job *from, struct placed_job *to, const struct job_periods *r,
		       uint32_t number)
{
	struct job_timeline *t = &from->timelines[number], *out = &to->timelines[number];
	struct timeline_span *unused = out->spans;

	out->spans = t->spans;
	out->n = t->n;
	t->spans = unused;
	for (uint64_t k = 1; k <= r->n; k++) {
		for (uint32_t i = r->spans[1][number]; i < r->spans[2][number]; i++) {
			struct timeline_span s = t->noted[i];

			s.begin += k * r->period;
			s.end += k * r->period;
			s.purpose.iteration += (uint32_t)k * r->iterations;
			span_put(out, &s);
		}
	}
}

/* ---- table -------------------------------------------------------------- */

struct span_row {
	const char *job;
	uint64_t rank;
	hd_time begin, end;
	hd_time compute, send, receive, wait;
	uint64_t iteration;
	const char *operation;
};

static const struct column columns[] = {
	{ "job", NULL, CELL(span_row, job) },
	{ "rank", NULL, CELL(span_row, rank) },
	{ "begin", "us", CELL_TIME(span_row, begin), ORIGIN_SIMULATED, 6 },
	{ "end", "us", CELL_TIME(span_row, end), ORIGIN_SIMULATED, 6 },
	{ "compute", "us", CELL_TIME(span_row, compute), ORIGIN_SIMULATED, 6 },
	{ "send", "us", CELL_TIME(span_row, send), ORIGIN_SIMULATED, 6 },
	{ "receive", "us", CELL_TIME(span_row, receive), ORIGIN_SIMULATED, 6 },
	{ "wait", "us", CELL_TIME(span_row, wait), ORIGIN_SIMULATED, 6 },
	{ "iteration", NULL, CELL(span_row, iteration), ORIGIN_SIMULATED },
	{ "operation", NULL, CELL(span_row, operation), ORIGIN_SIMULATED },
	{ NULL },
};

static const char *purpose_name(struct table *t, const struct placed_job *p,
				const struct purpose *x)
{
	if (p->job.graph)
		return x->line ? table_text(t, "line %u", x->line) : NULL;
	return p->steps[x->step].algorithm->operation;
}

static void put_spans(struct table *t, const struct placed_job *p, uint32_t number)
{
	const struct job_timeline *line = &p->timelines[number];

	for (uint32_t i = 0; i < line->n; i++) {
		const struct timeline_span *s = &line->spans[i];
		const struct span_row row = {
			.job = p->scn->name,
			.rank = (uint64_t)number * p->spacing,
			.begin = s->begin,
			.end = s->end,
			.compute = s->times[DOES_COMPUTE],
			.send = s->times[DOES_SEND],
			.receive = s->times[DOES_RECEIVE],
			.wait = s->times[DOES_WAIT],
			.iteration = s->purpose.iteration,
			.operation = purpose_name(t, p, &s->purpose),
		};

		table_put_row(t, &row);
	}
}

void timeline_table(const struct jobs *jobs, struct results *r)
{
	struct strbuf title = STRBUF_INIT;

	strbuf_printf(
		&title,
		"what ranks did when: computed, else sent, else received, else waited; %d ranks at most, with %d spans of time each",
		MOST_RANKS, MOST_SPANS);
	struct table *t = results_table(r, "rank timeline", title.text, columns);

	strbuf_fini(&title);
	for (uint32_t i = 0; i < jobs->n; i++) {
		for (uint32_t k = 0; k < jobs->placed[i].n_timelines; k++)
			put_spans(t, &jobs->placed[i], k);
	}
}
