/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that do not end: the operations that wait, and for which rank. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "sim/jobs/jobs_internal.h"

#define MOST 64 /* rows shown */

struct job_problem {
	const struct placed_job *of;
	uint32_t rank;
	uint32_t peer, tag; /* RANK_GROUP_NONE: none; tag: OP_ANY */
	uint32_t line;      /* in the goal file; 0: none */
	const char *what, *operation;
	uint64_t bytes;
	uint64_t came; /* bytes received, more than fit the receive; 0: nothing received */
	bool to_all;   /* waits for all other ranks of its group */
};

struct job_problems {
	struct job_problem *items;
	size_t n, cap;
};

struct job_problem_row {
	const char *job;
	uint64_t rank;
	const char *host, *operation, *where, *peer;
	uint64_t bytes;
	const char *problem;
};

static const struct column columns[] = {
	{ "job", NULL, CELL(job_problem_row, job) },
	{ "rank", NULL, CELL(job_problem_row, rank) },
	{ "host", NULL, CELL(job_problem_row, host) },
	{ "operation", NULL, CELL(job_problem_row, operation) },
	{ "where", NULL, CELL(job_problem_row, where) },
	{ "peer", NULL, CELL(job_problem_row, peer) },
	{ "bytes", NULL, CELL(job_problem_row, bytes) },
	{ "problem", NULL, CELL(job_problem_row, problem), ORIGIN_SIMULATED },
	{ NULL },
};

static void add(struct job_problems *all, const struct job_problem *one)
{
	all->items = hd_grow(all->items, &all->cap, all->n + 1, sizeof(*all->items));
	all->items[all->n++] = *one;
}

/* ---- search ------------------------------------------------------------- */

static void add_receives(struct job_problems *all, const struct placed_job *p, uint32_t rank)
{
	for (uint32_t i = 0; i < p->ranks[rank].n_receives; i++) {
		const struct receive *r = &p->ranks[rank].receives[i];

		if (!r->is_used)
			continue;
		add(all, &(struct job_problem){
				 .of = p,
				 .rank = rank,
				 .peer = r->op.peer,
				 .tag = r->op.tag,
				 .line = r->op.line,
				 .operation = "receive",
				 .bytes = r->op.size,
				 .what = r->is_matched ? "its message does not arrive"
						       : "no message arrives for it",
			 });
	}
}

static void add_misfits(struct job_problems *all, const struct placed_job *p,
			const struct rank_group *t)
{
	for (size_t i = 0; i < t->n_misfits; i++) {
		const struct oversized_message *m = &t->misfits[i];

		add(all, &(struct job_problem){
				 .of = p,
				 .rank = m->rank,
				 .peer = m->source,
				 .tag = m->op.tag,
				 .line = m->op.line,
				 .operation = "receive",
				 .bytes = m->op.size,
				 .came = m->size,
				 .what = "it is larger",
			 });
	}
}

/* The line of the goal file that caused a message. */
static uint32_t line_of(const struct placed_job *p, const struct job_message *m)
{
	if (!p->job.graph)
		return 0;
	return m->kind == MSG_GO ? p->ranks[m->source].receives[m->here.receive].op.line
				 : p->graph.ops[m->ref].line;
}

/* The tag of a program encodes its step; a reduction stores its transaction there. */
static uint32_t tag_of(const struct placed_job *p, const struct job_message *m)
{
	return m->kind == MSG_REDUCE ? p->ranks[m->source].step << 8 : m->tag;
}

static const char *fate_of(const struct placed_job *p, const struct job_message *m)
{
	bool is_rc = goes_over_rc(p, m);

	if (m->lost)
		return is_rc ? "its queue pair gave up" : "packets of it are lost";
	if (m->sent < m->n_packets)
		return is_rc ? "it is not acknowledged" : "it is not sent";
	if (m->kind == MSG_ASK)
		return "it has no receive";
	if (m->kind == MSG_REDUCE)
		return "its result does not come";
	return m->here.arrived == m->n_packets && !m->dlid && m->target < p->job.n_ranks
		       ? "it has no receive"
		       : "it does not arrive";
}

static void add_message(struct job_problems *all, const struct placed_job *p,
			const struct job_message *m)
{
	static const char *const names[] = {
		[MSG_DATA] = "send",     [MSG_ASK] = "send",    [MSG_GO] = "receive",
		[MSG_READ] = "read",     [MSG_WRITE] = "write", [MSG_ANSWER] = "read or write",
		[MSG_REDUCE] = "reduce",
	};

	/* The client waits for the server's answer. */
	bool is_answer = m->kind == MSG_ANSWER;

	add(all, &(struct job_problem){
			 .of = p,
			 .rank = is_answer ? m->target : m->source,
			 .peer = is_answer ? m->source : m->target,
			 .tag = tag_of(p, m),
			 .line = line_of(p, m),
			 .operation = names[m->kind],
			 .bytes = m->size,
			 .what = fate_of(p, m),
			 .to_all = m->dlid != 0,
		 });
}

/* Messages of this process, and the known state of those of others. */
static void add_messages(struct job_problems *all, const struct placed_job *p)
{
	for (uint32_t i = 0; i < p->n_shares; i++) {
		for (size_t k = 0; k < p->shares[i].n_seen; k++)
			add_message(all, p, &p->shares[i].seen[k]);
	}
	for (uint32_t id = message_next(p, 0, true); id != RANK_GROUP_NONE;
	     id = message_next(p, id + 1, true))
		add_message(all, p, message_at(p, id));
}

/* Compares all fields, so that the order does not depend on the partitioning. */
static int compare(const void *a, const void *b)
{
	const struct job_problem *x = a, *y = b;
	int words = strcmp(x->operation, y->operation);

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	if (words)
		return words;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	if (x->came != y->came)
		return x->came < y->came ? -1 : 1;
	return strcmp(x->what, y->what);
}

/* ---- tables -------------------------------------------------------------- */

static const char *peer_name(struct table *t, const struct job_problem *x)
{
	const struct placed_job *p = x->of;

	if (x->to_all)
		return "all";
	if (x->peer == OP_ANY)
		return "any";
	if (x->peer >= p->job.n_ranks)
		return x->peer < p->n_actors ? job_host_name(t, p, x->peer) : NULL;
	return table_text(t, "rank %u (%s)", x->peer, job_host_name(t, p, x->peer));
}

/* File and line, or the step of the program, which is encoded in the tag (rank_group.c). */
static const char *place_name(struct table *t, const struct job_problem *x)
{
	const struct placed_job *p = x->of;

	if (p->job.graph)
		return table_text(t, "%s:%u", p->scn->goal, x->line);
	uint32_t step = x->tag >> 8;
	const struct schema_place *place =
		schema_place_of(&p->fabric->scenario->places, &p->scn->program[step]);
	const char *file = p->fabric->scenario->file;

	return table_text(t, "%s:%u %s", file ? file : "scenario", place ? place->line : 0,
			  p->steps[step].algorithm->operation);
}

static void put(struct table *t, const struct job_problem *x)
{
	const struct job_problem_row row = {
		.job = x->of->scn->name,
		.rank = x->rank,
		.host = job_host_name(t, x->of, x->rank),
		.operation = x->operation,
		.where = place_name(t, x),
		.peer = peer_name(t, x),
		.bytes = x->bytes,
		.problem = x->came ? table_text(t, "its message has %llu bytes",
						(unsigned long long)x->came)
				   : x->what,
	};

	table_put_row(t, &row);
}

static void show(struct job_problems *all, struct results *r)
{
	struct table *t = results_table(
		r, "failed operations",
		"of jobs: what never ends, and receives that were too small", columns);

	if (all->n)
		qsort(all->items, all->n, sizeof(*all->items), compare);
	for (size_t i = 0; i < all->n && i < MOST; i++)
		put(t, &all->items[i]);
	if (all->n > MOST)
		results_remark(r, "%zu more operations of jobs have failed", all->n - MOST);
}

static void remark_unfinished(const struct placed_job *p, uint32_t done, struct results *r)
{
	struct strbuf times = STRBUF_INIT;

	if (p->job.start < p->fabric->scenario->run.horizon) {
		results_remark(r, "job '%s' does not come to its end: %u of %u ranks are done",
			       p->scn->name, done, p->job.n_ranks);
		return;
	}
	hd_time_print(p->job.start, &times);
	strbuf_puts(&times, ", and run.horizon ends the run at ");
	hd_time_print(p->fabric->scenario->run.horizon, &times);
	results_remark(r, "job '%s' never begins: its start is at %s", p->scn->name, times.text);
	strbuf_fini(&times);
}

bool jobs_problems(const struct jobs *jobs, struct results *r)
{
	struct job_problems all = { 0 };
	bool any = false;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];
		uint32_t done = job_ranks_done(p);
		bool ends = done == p->job.n_ranks;

		add_messages(&all, p);
		for (uint32_t k = 0; k < p->n_shares; k++)
			add_misfits(&all, p, &p->shares[k].rank_group);
		for (uint32_t k = 0; !ends && k < p->job.n_ranks; k++)
			add_receives(&all, p, k);
		if (!ends)
			remark_unfinished(p, done, r);
		any |= !ends;
	}
	any |= all.n > 0;
	if (all.n)
		show(&all, r);
	free(all.items);
	return any;
}
