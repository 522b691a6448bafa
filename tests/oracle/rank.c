/* SPDX-License-Identifier: BSD-2-Clause */
/* What the ranks of jobs do: J1 to J3, J7. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "work.h"

static const struct oracle_job *drawn(const struct oracle *o, uint32_t job)
{
	return &o->jobs->list[job];
}

static struct rank *rank_at(struct oracle *o, uint32_t job, uint32_t rank)
{
	return &o->work->jobs[job].ranks[rank];
}

/* ---- what waits for what (J2) ---- */

/* `op` has started, or is done: who waits for that? */
static void requirements_meet(struct oracle *o, struct rank *r, uint32_t op, bool started)
{
	for (size_t i = 0; i < r->does->n_edges; i++) {
		const struct oracle_edge *e = &r->does->edges[i];
		bool at_start = e->started;

		if (o->mutation == MUT_IREQUIRES_DONE)
			at_start = false;
		if (o->mutation == MUT_REQUIRES_STARTED)
			at_start = true;
		if (e->on == op && at_start == started && --r->work[e->op].needs == 0)
			r->work[e->op].state = OP_READY;
	}
}

static void op_started(struct oracle *o, struct rank *r, uint32_t op)
{
	if (r->work[op].started)
		return;
	r->work[op].started = true;
	requirements_meet(o, r, op, true);
}

void op_done(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	struct rank *r = rank_at(o, job, rank);

	r->work[op].state = OP_DONE;
	r->left_over--;
	requirements_meet(o, r, op, false);
}

/* ---- CPUs (J3) ---- */

static hd_time cost_of(const struct oracle *o, uint32_t job, uint64_t size)
{
	const struct oracle_job *j = drawn(o, job);

	return j->overhead + size * j->per_byte;
}

/* What an operation takes of its CPU. */
static hd_time cpu_time(const struct oracle *o, uint32_t job, const struct rank *r, uint32_t op)
{
	const struct oracle_op *is = &r->does->ops[op];

	switch (is->kind) {
	case ORACLE_COMPUTE:
		return is->size;
	case ORACLE_RECV:
		if (o->mutation == MUT_RECEIVES_COST_NOTHING)
			return 0;
		if (o->mutation == MUT_COST_OF_ROOM)
			return cost_of(o, job, is->size);
		return cost_of(o, job, r->sizes[op]);
	case ORACLE_READ:
		if (o->mutation != MUT_READS_COST_NO_BYTES)
			break;
		return cost_of(o, job, 0);
	case ORACLE_GIVE:
		if (o->mutation == MUT_GIVES_WITHOUT_CPU)
			return 0;
		break;
	case ORACLE_SEND:
	case ORACLE_WRITE:
		break;
	}
	return cost_of(o, job, is->size);
}

static struct cpu *cpu_of(const struct oracle *o, struct rank *r, uint32_t op)
{
	return &r->cpus[o->mutation == MUT_ONE_CPU ? 0 : r->does->ops[op].cpu];
}

/* An operation has had its time. */
static void op_served(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	enum oracle_op_kind kind = rank_at(o, job, rank)->does->ops[op].kind;

	if (kind == ORACLE_COMPUTE || kind == ORACLE_RECV)
		op_done(o, job, rank, op);
	else
		job_messages_post(o, job, rank, op);
}

static void cpu_take(struct oracle *o, uint32_t job, uint32_t rank, struct cpu *c)
{
	struct rank *r = rank_at(o, job, rank);
	uint32_t op;

	if (c->busy || c->n_line == 0)
		return;
	op = c->line[0];
	c->n_line--;
	memmove(c->line, c->line + 1, c->n_line * sizeof(*c->line));
	c->busy = true;
	c->op = op;
	c->until = o->now + cpu_time(o, job, r, op);
	o->stats->cpu_work++;
	op_started(o, r, op);
}

static void cpu_need(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	struct rank *r = rank_at(o, job, rank);
	struct cpu *c = cpu_of(o, r, op);

	if (o->mutation == MUT_STARTED_IN_LINE)
		op_started(o, r, op);
	if (cpu_time(o, job, r, op) == 0 &&
	    (o->mutation != MUT_NOTHING_WAITS_FOR_CPU || !c->busy)) {
		op_started(o, r, op);
		op_served(o, job, rank, op);
		return;
	}
	o->stats->cpu_lines += c->busy;
	c->line = hd_grow(c->line, &c->line_cap, c->n_line + 1, sizeof(*c->line));
	c->line[c->n_line++] = op;
	if (o->mutation == MUT_CPU_LAST_FIRST && c->n_line > 1) {
		memmove(c->line + 1, c->line, (c->n_line - 1) * sizeof(*c->line));
		c->line[0] = op;
	}
	cpu_take(o, job, rank, c);
}

void rank_arrived(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op, uint64_t size)
{
	rank_at(o, job, rank)->sizes[op] = size;
	cpu_need(o, job, rank, op);
}

void cpus_end(struct oracle *o, uint32_t job, uint32_t rank)
{
	struct rank *r = rank_at(o, job, rank);

	for (int i = 0; i < CPUS; i++) {
		struct cpu *c = &r->cpus[i];

		while (c->busy && c->until <= o->now) {
			c->busy = false;
			op_served(o, job, rank, c->op);
			cpu_take(o, job, rank, c);
		}
	}
}

/* ---- steps and iterations (J7) ---- */

static void graph_begin(struct oracle *o, uint32_t job, uint32_t rank)
{
	const struct oracle_job *j = drawn(o, job);
	struct rank *r = rank_at(o, job, rank);
	size_t n;

	ops_fini(&r->own);
	r->does = j->graphs ? &j->graphs[rank] : &r->own;
	if (!j->graphs)
		rounds_expand(j, r->step, rank, &r->own);
	n = r->does->n_ops + 1;
	r->work = hd_realloc(r->work, n, sizeof(*r->work));
	r->sizes = hd_realloc(r->sizes, n, sizeof(*r->sizes));
	memset(r->work, 0, n * sizeof(*r->work));
	r->left_over = (uint32_t)r->does->n_ops;
	for (size_t i = 0; i < r->does->n_edges; i++)
		r->work[r->does->edges[i].op].needs++;
	for (size_t i = 0; i < r->does->n_ops; i++)
		if (r->work[i].needs == 0)
			r->work[i].state = OP_READY;
}

/* Whether all ranks of the job are as far as this one. */
static bool are_all_here(struct oracle *o, uint32_t job, uint32_t iteration)
{
	for (uint32_t i = 0; i < drawn(o, job)->n_ranks; i++) {
		const struct rank *r = rank_at(o, job, i);

		if (r->iteration < iteration && (r->iteration + 1 < iteration || r->left_over > 0))
			return false;
	}
	return true;
}

/* The job is done when its last rank is. */
static void completion_record(struct oracle *o, uint32_t job)
{
	struct packet done = { .as = { .flow = oracle_job_flow(job) } };

	record_end(o, &done, 0, SIM_DELIVERED);
}

/* The next step, if this one is done; false: no step is left. */
static bool step_next(struct oracle *o, uint32_t job, uint32_t rank)
{
	const struct oracle_job *j = drawn(o, job);
	struct rank *r = rank_at(o, job, rank);
	uint32_t n_steps = j->graphs ? 1 : j->n_steps;

	if (r->left_over > 0 || r->ended != NEVER)
		return false;
	if (r->step + 1 == n_steps && o->mutation == MUT_ITERATIONS_WAIT &&
	    r->iteration + 1 < j->repeat && !are_all_here(o, job, r->iteration + 1))
		return false;
	if (++r->step == n_steps) {
		r->step = 0;
		r->iteration++;
	}
	if (r->iteration == j->repeat) {
		r->ended = o->now;
		o->stats->ranks_done++;
		if (++o->work->jobs[job].n_done == j->n_ranks)
			completion_record(o, job);
		return false;
	}
	graph_begin(o, job, rank);
	return true;
}

/* ---- notifying (J3) ---- */

static void op_take(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op)
{
	struct rank *r = rank_at(o, job, rank);

	r->work[op].state = OP_TAKEN;
	if (r->does->ops[op].kind == ORACLE_RECV) {
		op_started(o, r, op);
		job_messages_receive(o, job, rank, op);
		return;
	}
	cpu_need(o, job, rank, op);
}

/* The lowest number that is ready, or SIM_NONE. */
static uint32_t op_ready(const struct oracle *o, const struct rank *r)
{
	uint32_t found = SIM_NONE;

	for (uint32_t i = 0; i < r->does->n_ops; i++) {
		if (r->work[i].state != OP_READY)
			continue;
		if (o->mutation != MUT_HIGHEST_NUMBER_FIRST)
			return i;
		found = i;
	}
	return found;
}

void rank_told(struct oracle *o, uint32_t job, uint32_t rank)
{
	struct rank *r = rank_at(o, job, rank);

	notify_begin(o);
	do {
		uint32_t op;

		while ((op = op_ready(o, r)) != SIM_NONE)
			op_take(o, job, rank, op);
	} while (step_next(o, job, rank));
	notify_finish(o);
}

static void rank_listen(struct oracle *o, uint32_t job, uint32_t rank)
{
	struct rank *r = rank_at(o, job, rank);

	if (!r->begun) {
		hd_time start = drawn(o, job)->start;

		if (o->now < start && o->mutation != MUT_START_AT_ONCE)
			return;
		r->begun = true;
		graph_begin(o, job, rank);
	}
	notify_begin(o);
	cpus_end(o, job, rank);
	line_leaves(o, job, rank);
	rank_told(o, job, rank);
	notify_finish(o);
}

static void job_listen(struct oracle *o, uint32_t job)
{
	uint32_t n = drawn(o, job)->n_ranks;

	for (uint32_t i = 0; i < n; i++)
		rank_listen(o, job, i);
	for (uint32_t i = n; i < o->work->jobs[job].n_lines; i++)
		line_leaves(o, job, i);
}

/* T2, phase 2, after deliveries: what ends by itself. */
void jobs_listen(struct oracle *o)
{
	if (!o->jobs)
		return;
	do {
		for (uint32_t j = 0; j < o->jobs->n; j++)
			job_listen(o, j);
	} while (lines_give(o));
}

static hd_time line_next_due(const struct oracle *o, uint32_t job, const struct job_line *l)
{
	if (l->holds)
		return l->leaves;
	if (l->n > 0 && l->any)
		return l->entered + drawn(o, job)->gap;
	return NEVER;
}

hd_time jobs_next_due(const struct oracle *o)
{
	hd_time next = NEVER;

	for (uint32_t j = 0; o->jobs && j < o->jobs->n; j++) {
		const struct job_work *w = &o->work->jobs[j];

		if (drawn(o, j)->start > o->now && drawn(o, j)->start < next)
			next = drawn(o, j)->start;
		for (uint32_t i = 0; i < drawn(o, j)->n_ranks; i++)
			for (int c = 0; c < CPUS; c++) {
				const struct cpu *cpu = &w->ranks[i].cpus[c];

				if (cpu->busy && cpu->until > o->now && cpu->until < next)
					next = cpu->until;
			}
		for (uint32_t i = 0; i < w->n_lines; i++) {
			hd_time due = line_next_due(o, j, &w->lines[i]);

			if (due > o->now && due < next)
				next = due;
		}
	}
	return next;
}

/* ---- beginning and end ---- */

static void job_init(struct oracle *o, uint32_t job)
{
	const struct oracle_job *j = drawn(o, job);
	struct job_work *w = &o->work->jobs[job];

	w->n_lines = j->n_ranks + j->n_servers;
	w->ranks = hd_alloc(j->n_ranks + (size_t)1, sizeof(*w->ranks));
	w->lines = hd_alloc(w->n_lines + (size_t)1, sizeof(*w->lines));
	w->senders = hd_alloc(o->setup->n_nodes, sizeof(*w->senders));
	for (uint32_t i = 0; i < w->n_lines; i++) {
		bool is_rank = i < j->n_ranks;

		w->lines[i].leaves = NEVER;
		w->lines[i].rank = is_rank ? i : SIM_NONE;
		w->lines[i].node = is_rank ? j->nodes[i] : j->servers[i - j->n_ranks];
	}
	for (uint32_t i = 0; i < j->n_ranks; i++)
		w->ranks[i].ended = NEVER;
}

void jobs_init(struct oracle *o)
{
	if (!o->jobs)
		return;
	o->work = hd_alloc(1, sizeof(*o->work));
	o->work->jobs = hd_alloc(o->jobs->n, sizeof(*o->work->jobs));
	for (uint32_t i = 0; i < o->jobs->n; i++)
		job_init(o, i);
}

void job_sender_set(struct oracle *o, uint32_t job, uint32_t node, uint16_t number)
{
	o->work->jobs[job].senders[node] = number;
}

static void rank_fini(struct rank *r)
{
	ops_fini(&r->own);
	free(r->work);
	free(r->sizes);
	free(r->receives);
	free(r->waiting);
	for (int i = 0; i < CPUS; i++)
		free(r->cpus[i].line);
}

void jobs_fini(struct oracle *o)
{
	if (!o->jobs)
		return;
	for (uint32_t j = 0; j < o->jobs->n; j++) {
		struct job_work *w = &o->work->jobs[j];

		for (uint32_t i = 0; i < drawn(o, j)->n_ranks; i++)
			rank_fini(&w->ranks[i]);
		for (uint32_t i = 0; i < w->n_lines; i++)
			free(w->lines[i].messages);
		free(w->ranks);
		free(w->lines);
		free(w->senders);
	}
	for (size_t i = 0; i < o->work->n_messages; i++) {
		free(o->work->messages[i]->parts);
		free(o->work->messages[i]);
	}
	free(o->work->messages);
	free(o->work->handed);
	free(o->work->jobs);
	free(o->work);
}
