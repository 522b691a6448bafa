/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical path: the chain of messages, each the cause of the next, that led to the end of
 * the last rank, and the links on which they waited.
 *
 * Each actor records the last log_most messages that it posted; a record names the message
 * that caused it. The number of records depends on the job only, so that the path does not
 * depend on the number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

/* Record of a posted message. */
struct posting {
	hd_time posted, begun; /* begun: its first packet was offered */
	uint64_t size;
	uint32_t target;
	struct path_message cause;
};

#define FEW_STEPS  32
#define MOST_STEPS 4096 /* with `all` */

/* ---- recording ---------------------------------------------------------- */

static struct posting *posting_of(const struct placed_job *p, uint32_t actor, uint32_t number)
{
	const struct actor *a = &p->actors[actor];

	if (!number || a->n_posted - number >= p->log_most)
		return NULL; /* overwritten by a later message */
	return &a->log[(number - 1) % p->log_most];
}

void chain_post(struct placed_job *p, struct job_message *m)
{
	struct actor *a = &p->actors[m->source];
	uint32_t place = a->n_posted++ % p->log_most;

	m->number = a->n_posted;
	m->held = 0;
	a->log = hd_grow(a->log, &a->log_cap, (size_t)place + 1, sizeof(*a->log));
	a->log[place] = (struct posting){ .posted = m->posted,
					  .begun = m->posted,
					  .size = m->size,
					  .target = m->target,
					  .cause = m->path.last };
}

void chain_begin(struct placed_job *p, const struct job_message *m, hd_time now)
{
	struct posting *x = posting_of(p, m->source, m->number);
	struct actor *a = &p->actors[m->source];

	if (x)
		x->begun = now;
	/* A message posted later may have begun earlier, from another queue. */
	if (a->n_collected >= m->number)
		a->n_collected = m->number - 1;
}

struct path_message chain_left(const struct job_message *m, hd_time now)
{
	/* The send ends with the last byte at the host, so waits in the fabric are no cause. */
	return (struct path_message){
		.until = now,
		.held = m->held,
		.from = m->source,
		.number = m->number,
		.has_left = true,
	};
}

struct path_message chain_arrived(const struct job_message *m, const struct sim_waits *waits,
				  hd_time now)
{
	return (struct path_message){
		.until = now,
		.held = waits->held,
		/* The waits of a multicast differ per destination and are not recorded. */
		.wait = m->dlid ? 0 : waits->longest,
		.from = m->source,
		.number = m->number,
	};
}

/* ---- several processes -------------------------------------------------- */

static const struct pack_member posting_members[] = {
	PACK(posting, posted),         PACK(posting, begun),       PACK(posting, size),
	PACK(posting, target),         PACK(posting, cause.until), PACK(posting, cause.held),
	PACK(posting, cause.wait),     PACK(posting, cause.from),  PACK(posting, cause.number),
	PACK(posting, cause.has_left),
};

bool chain_cause_is_valid(const struct placed_job *p, const struct path_message *x)
{
	return (!x->number || x->from < p->n_actors) &&
	       sim_wait_port(x->wait) < p->fabric->setup.n_ports;
}

void chain_collect(struct placed_job *p, struct pack *k, uint32_t actor)
{
	struct actor *a = &p->actors[actor];
	uint32_t first = a->n_collected;

	pack_u32(k, &a->n_posted);
	pack_u32(k, &first);
	if (!pack_check(k, first <= a->n_posted))
		return;
	if (a->n_posted - first > p->log_most)
		first = a->n_posted - p->log_most;
	for (uint32_t i = first; i < a->n_posted && !k->refused; i++) {
		uint32_t place = i % p->log_most;

		if (k->reads)
			a->log = hd_grow(a->log, &a->log_cap, (size_t)place + 1, sizeof(*a->log));
		PACK_STRUCT(k, posting_members, &a->log[place]);
		pack_check(k, chain_cause_is_valid(p, &a->log[place].cause));
	}
	if (!k->reads)
		a->n_collected = a->n_posted;
}

void chain_pack(struct placed_job *p, struct pack *k, uint32_t actor)
{
	struct actor *a = &p->actors[actor];

	pack_sum_u32(k, &a->n_posted);
	if (k->list)
		return;
	size_t n = a->n_posted < p->log_most ? a->n_posted : p->log_most;

	if (!pack_check(k, n <= k->left))
		n = 0;
	if (k->reads) {
		a->log = hd_grow(a->log, &a->log_cap, n, sizeof(*a->log));
		a->n_collected = 0;
	}
	for (size_t i = 0; i < n; i++) {
		PACK_STRUCT(k, posting_members, &a->log[i]);
		pack_check(k, chain_cause_is_valid(p, &a->log[i].cause));
	}
}

/* ---- skipped iterations ------------------------------------------------- */

/* Number of messages of an actor that have not begun. */
static uint32_t n_waiting(const struct placed_job *p, const struct actor *a)
{
	uint32_t n = 0;

	for (uint32_t i = a->first; i != RANK_GROUP_NONE; i = message_at(p, i)->next)
		n++;
	for (uint32_t i = a->inner_first; i != RANK_GROUP_NONE; i = message_at(p, i)->next)
		n++;
	return n;
}

/* Whether two postings are equal except for one period of time. */
static bool postings_repeat(const struct job_periods *r, const struct posting *x,
			    const struct posting *y)
{
	uint32_t from = x->cause.from;
	hd_time more = y->cause.until - x->cause.until;
	uint32_t numbers = more ? r->posted[2][from] - r->posted[1][from] : 0;

	return y->posted - x->posted == r->period && x->size == y->size && x->target == y->target &&
	       x->cause.held == y->cause.held && x->cause.wait == y->cause.wait &&
	       x->cause.has_left == y->cause.has_left && y->cause.from == from &&
	       (more == 0 || more == r->period) && y->cause.number - x->cause.number == numbers;
}

/* The posting m periods after x. */
static struct posting posting_after(const struct job_periods *r, const struct posting *x,
				    bool cause_moves, uint64_t m)
{
	struct posting y = *x;
	uint32_t from = x->cause.from;

	y.posted += m * r->period;
	y.begun += m * r->period;
	if (!cause_moves)
		return y;
	y.cause.until += m * r->period;
	y.cause.number += (uint32_t)m * (r->posted[2][from] - r->posted[1][from]);
	return y;
}

/* Whether the cause of a posting of the last two periods is also a period later each time. */
static bool cause_moves(const struct placed_job *p, const struct job_periods *r, uint32_t actor,
			uint32_t number)
{
	uint32_t d = r->posted[2][actor] - r->posted[1][actor];
	const struct posting *x = posting_of(p, actor, number);
	const struct posting *other =
		posting_of(p, actor, number > r->posted[1][actor] ? number - d : number + d);

	return x->cause.number &&
	       (other ? other->cause.until != x->cause.until : x->cause.until > r->begin);
}

bool chain_repeats(const struct placed_job *p, const struct job_periods *r, uint32_t actor)
{
	const struct actor *a = &p->actors[actor];
	uint32_t first = r->posted[0][actor], middle = r->posted[1][actor];
	uint32_t d = r->posted[2][actor] - middle;

	if (d == 0)
		return first == middle;
	if (middle - first != d || n_waiting(p, a) > d)
		return false;
	for (uint32_t i = middle + 1; i <= middle + d; i++) {
		const struct posting *x = posting_of(p, actor, i - d);
		const struct posting *y = posting_of(p, actor, i);

		if (x && y && !postings_repeat(r, x, y))
			return false;
		if (!x && y && y->cause.number && y->cause.until <= r->begin)
			return false;
	}
	return true;
}

void chain_continue(struct placed_job *from, struct placed_job *to, const struct job_periods *r,
		    uint32_t actor)
{
	struct actor *a = &to->actors[actor];
	uint32_t begin = r->posted[0][actor], now = r->posted[2][actor];
	uint32_t d = now - r->posted[1][actor], most = from->log_most;
	uint32_t n = a->n_posted < most ? a->n_posted : most;

	a->log = hd_grow(a->log, &a->log_cap, n, sizeof(*a->log));
	for (uint32_t i = a->n_posted - n + 1; n && i <= a->n_posted; i++) {
		uint32_t number = i;

		if (d && a->n_posted - i < d)
			number = now - (a->n_posted - i);
		else if (d && i > begin)
			number = begin + 1 + (i - begin - 1) % d;
		a->log[(i - 1) % most] =
			posting_after(r, posting_of(from, actor, number),
				      number != i && cause_moves(from, r, actor, number),
				      number != i ? (i - number) / d : 0);
	}
}

/* ---- the path ------------------------------------------------------------ */

struct path_step {
	struct posting posting;
	struct path_message end;
};

struct chain {
	struct path_step *steps; /* the last step first */
	size_t n, cap;
	bool is_whole; /* reaches back to the start of the job */
};

static void chain_follow(const struct placed_job *p, struct chain *c)
{
	struct path_message at = job_last_domain(p)->last_path.last;
	const struct posting *x;

	while ((x = posting_of(p, at.from, at.number))) {
		c->steps = hd_grow(c->steps, &c->cap, c->n + 1, sizeof(*c->steps));
		c->steps[c->n++] = (struct path_step){ *x, at };
		at = x->cause;
	}
	c->is_whole = !at.number;
}

struct chain_step_row {
	const char *job;
	uint64_t number;
	const char *from, *to;
	uint64_t bytes;
	hd_time posted, line, held, end;
	const char *until, *link;
	hd_time waited;
};

static const struct column step_columns[] = {
	{ "job", NULL, CELL(chain_step_row, job) },
	{ "number", NULL, CELL(chain_step_row, number) },
	{ "from", NULL, CELL(chain_step_row, from), ORIGIN_SIMULATED },
	{ "to", NULL, CELL(chain_step_row, to), ORIGIN_SIMULATED },
	{ "bytes", NULL, CELL(chain_step_row, bytes), ORIGIN_SIMULATED },
	{ "posted", "us", CELL_TIME(chain_step_row, posted), ORIGIN_SIMULATED, 6 },
	{ "in line", "us", CELL_TIME(chain_step_row, line), ORIGIN_SIMULATED, 6 },
	{ "held", "us", CELL_TIME(chain_step_row, held), ORIGIN_SIMULATED, 6 },
	{ "end", "us", CELL_TIME(chain_step_row, end), ORIGIN_SIMULATED, 6 },
	{ "until it", NULL, CELL(chain_step_row, until), ORIGIN_SIMULATED },
	{ "link", NULL, CELL(chain_step_row, link), ORIGIN_SIMULATED },
	{ "waited", "us", CELL_TIME(chain_step_row, waited), ORIGIN_SIMULATED, 6 },
	{ NULL },
};

static const char *until_name(const struct placed_job *p, const struct path_step *s)
{
	if (!s->end.has_left)
		return "arrives";
	return p->lab && s->posting.target < p->n_actors ? "is acknowledged" : "has left";
}

static void put_steps(struct table *t, const struct placed_job *p, const struct chain *c)
{
	size_t first = c->n > MOST_STEPS ? c->n - MOST_STEPS : 0;

	for (size_t i = first; i < c->n; i++) {
		const struct path_step *s = &c->steps[c->n - 1 - i];
		uint64_t wait = s->end.wait;
		const struct chain_step_row row = {
			.job = p->scn->name,
			.number = i,
			.from = job_actor_name(t, p, s->end.from),
			.to = s->posting.target < p->n_actors
				      ? job_actor_name(t, p, s->posting.target)
				      : "all",
			.bytes = s->posting.size,
			.posted = s->posting.posted,
			.line = s->posting.begun - s->posting.posted,
			.held = s->end.held,
			.end = s->end.until,
			.until = until_name(p, s),
			.link = wait ? job_port_name(t, p, sim_wait_port(wait)) : NULL,
			.waited = wait ? sim_wait_time(wait) : 0,
		};

		table_put_row(t, &row);
	}
}

/* ---- links where the path waited ------------------------------------------ */

struct waited_link {
	uint32_t port;
	hd_time waited;
	uint64_t n;
};

struct waited_row {
	const char *job, *link, *to;
	uint64_t messages;
	hd_time waited;
	double share;
};

static const struct column waited_columns[] = {
	{ "job", NULL, CELL(waited_row, job) },
	{ "link", NULL, CELL(waited_row, link) },
	{ "to", NULL, CELL(waited_row, to) },
	{ "messages", NULL, CELL(waited_row, messages), ORIGIN_SIMULATED },
	{ "waited", "us", CELL_TIME(waited_row, waited), ORIGIN_SIMULATED, 6 },
	{ "share", "%", CELL_SHARE(waited_row, share), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

static int by_port(const void *a, const void *b)
{
	const struct waited_link *x = a, *y = b;

	return x->port < y->port ? -1 : x->port > y->port;
}

static int by_wait(const void *a, const void *b)
{
	const struct waited_link *x = a, *y = b;

	if (x->waited != y->waited)
		return x->waited > y->waited ? -1 : 1;
	return by_port(a, b);
}

/* The port where a packet waited longest; the sending host's port if none waited in the fabric. */
static uint32_t blamed_port(const struct placed_job *p, const struct path_message *end)
{
	uint32_t node = p->actors[end->from].node;

	return end->wait ? sim_wait_port(end->wait) : p->fabric->setup.nodes[node].first_port + 1;
}

/* Waits at the host and in the fabric may overlap: the sum is limited to the message's time. */
static hd_time waited_of(const struct path_step *s)
{
	hd_time sum = s->end.held + sim_wait_time(s->end.wait);
	hd_time most = s->end.until - s->posting.posted;

	return sum < most ? sum : most;
}

/* Sums the waits of the path by link; returns the number of links. */
static size_t sum_waits(const struct placed_job *p, const struct chain *c,
			struct waited_link *links)
{
	size_t n = 0, sums = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct path_message *end = &c->steps[i].end;
		hd_time waited = waited_of(&c->steps[i]);

		if (waited)
			links[n++] = (struct waited_link){ blamed_port(p, end), waited, 1 };
	}
	if (n)
		qsort(links, n, sizeof(*links), by_port);
	for (size_t i = 0; i < n; i++) {
		if (!sums || links[sums - 1].port != links[i].port) {
			links[sums++] = links[i];
			continue;
		}
		links[sums - 1].waited += links[i].waited;
		links[sums - 1].n++;
	}
	if (sums)
		qsort(links, sums, sizeof(*links), by_wait);
	return sums;
}

static void put_waits(struct table *t, const struct placed_job *p, const struct chain *c, bool all)
{
	struct waited_link *links = hd_alloc(c->n + 1, sizeof(*links));
	size_t n = sum_waits(p, c, links);
	hd_time time = job_last_domain(p)->last - p->job.start;

	for (size_t i = 0; i < n && (all || i < FEW_LINKS); i++) {
		uint32_t peer = p->fabric->setup.ports[links[i].port].peer;
		const struct waited_row row = {
			.job = p->scn->name,
			.link = job_port_name(t, p, links[i].port),
			.to = job_port_name(t, p, peer),
			.messages = links[i].n,
			.waited = links[i].waited,
			.share = (double)links[i].waited / (double)time,
		};

		table_put_row(t, &row);
	}
	free(links);
}

static void say_what_is_left_out(const struct placed_job *p, const struct chain *c,
				 struct results *r)
{
	if (c->n > MOST_STEPS)
		results_remark(
			r,
			"of the %zu messages of the critical path of job '%s' the last %d are shown",
			c->n, p->scn->name, MOST_STEPS);
}

static void say_where_it_begins(const struct placed_job *p, const struct chain *c,
				struct results *r)
{
	struct strbuf from = STRBUF_INIT;

	if (c->is_whole || !c->n)
		return;
	hd_time_print(c->steps[c->n - 1].posting.posted, &from);
	results_remark(
		r,
		"the messages of the critical path of job '%s' are known from %s on: the last %u of each rank are kept",
		p->scn->name, from.text, p->log_most);
	strbuf_fini(&from);
}

void chain_tables(const struct jobs *jobs, bool all, struct results *r)
{
	struct table *waits = results_table(
		r, "path links",
		"how long the messages of critical paths waited, by the link that each waited for longest",
		waited_columns);
	struct table *steps = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];
		struct chain c = { 0 };

		if (!job_is_done(p))
			continue;
		chain_follow(p, &c);
		put_waits(waits, p, &c, all);
		say_where_it_begins(p, &c, r);
		if (all || c.n <= FEW_STEPS) {
			if (!steps)
				steps = results_table(
					r, "path messages",
					"what led to the end of the last rank: in line behind others of its rank, held back by the host, and the link that a packet waited for longest",
					step_columns);
			put_steps(steps, p, &c);
			say_what_is_left_out(p, &c, r);
		}
		free(c.steps);
	}
}
