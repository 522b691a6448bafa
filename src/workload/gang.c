/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/gang.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Something that a CPU does. */
struct task {
	struct op op;
	uint32_t ref;
	hd_time time;
	struct path path;
};

struct cpu {
	hd_time until; /* HD_TIME_NEVER: it is free */
	struct task now;
	struct task *line;
	size_t head, n, cap;
};

/* ---- memory -------------------------------------------------------------- */

struct rank *ranks_new(const struct job *j)
{
	struct rank *ranks = hd_alloc(j->n_ranks, sizeof(*ranks));

	for (uint32_t i = 0; i < j->n_ranks; i++)
		ranks[i].began = ranks[i].ended = HD_TIME_NEVER;
	return ranks;
}

static void cpus_free(struct cpu *cpus, uint32_t n)
{
	for (uint32_t i = 0; cpus && i < n; i++)
		free(cpus[i].line);
	free(cpus);
}

void ranks_free(struct rank *ranks, const struct job *j)
{
	for (uint32_t i = 0; i < j->n_ranks; i++) {
		free(ranks[i].strands);
		cpus_free(ranks[i].cpus, j->n_cpus);
	}
	free(ranks);
}

void gang_init(struct gang *t, const struct job *j, const struct carrier *c,
	       struct rank *ranks, uint32_t *needs)
{
	size_t n = (size_t)j->repeat * j->n_steps;
	bool has_any = j->graph && j->graph->has_any;

	*t = (struct gang){ .job = j,
			    .carrier = *c,
			    .ranks = ranks,
			    .free_receive = GANG_NONE,
			    .last_rank = GANG_NONE };
	t->needs = needs;
	match_init(&t->posted, has_any);
	match_init(&t->waiting, has_any);
	t->steps = hd_alloc(n, sizeof(*t->steps));
	for (size_t i = 0; i < n; i++)
		t->steps[i].begin = HD_TIME_NEVER;
}

void gang_fini(struct gang *t)
{
	match_fini(&t->posted);
	match_fini(&t->waiting);
	free(t->receives);
	free(t->steps);
	free(t->misfits);
	free(t->ready);
}

/* ---- what is ready, the lowest number first --------------------------------
 */

static void ready_put(struct gang *t, uint32_t number)
{
	size_t at = t->n_ready++;

	t->ready =
		hd_grow(t->ready, &t->ready_cap, t->n_ready, sizeof(*t->ready));
	while (at && t->ready[(at - 1) / 2] > number) {
		t->ready[at] = t->ready[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	t->ready[at] = number;
}

static uint32_t ready_take(struct gang *t)
{
	uint32_t first = t->ready[0], last = t->ready[--t->n_ready];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < t->n_ready) {
		if (child + 1 < t->n_ready &&
		    t->ready[child + 1] < t->ready[child])
			child++;
		if (t->ready[child] >= last)
			break;
		t->ready[at] = t->ready[child];
		at = child;
	}
	t->ready[at] = last;
	return first;
}

/* ---- steps and iterations ------------------------------------------------ */

static struct lasting *lasting_of(struct gang *t, const struct rank *r)
{
	return &t->steps[(size_t)r->iteration * t->job->n_steps + r->step];
}

static void graph_needs(struct gang *t, uint32_t rank)
{
	const struct opgraph *g = t->job->graph;
	uint32_t low = g->first[rank], high = g->first[rank + 1];

	memset(&t->needs[low], 0, (high - low) * sizeof(*t->needs));
	for (uint32_t k = g->edge_of[low]; k < g->edge_of[high]; k++)
		t->needs[g->edges[k] & ~OPGRAPH_STARTED]++;
	for (uint32_t i = low; i < high; i++) {
		if (!t->needs[i])
			ready_put(t, i);
	}
}

static void step_begin(struct gang *t, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];
	struct lasting *l = lasting_of(t, r);

	l->begin = t->now < l->begin ? t->now : l->begin;
	if (t->job->graph) {
		r->active = t->job->graph->first[rank + 1] -
			    t->job->graph->first[rank];
		graph_needs(t, rank);
		return;
	}
	uint32_t n = step_strands(&t->job->steps[r->step]);

	r->active = n;
	free(r->strands);
	r->strands = n > 1 ? hd_alloc(n, sizeof(*r->strands)) : NULL;
	r->strand = (struct strand){ 0 };
	for (uint32_t i = 0; i < n; i++)
		ready_put(t, i);
}

static void rank_ends(struct gang *t, uint32_t rank)
{
	t->ranks[rank].ended = t->now;
	t->n_done++;
	if (t->last_rank != GANG_NONE &&
	    (t->now < t->last || (t->now == t->last && rank > t->last_rank)))
		return;
	t->last = t->now;
	t->last_rank = rank;
	t->last_path = t->path;
}

/* All of a step is done. */
static void step_ends(struct gang *t, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];
	struct lasting *l = lasting_of(t, r);

	l->end = t->now > l->end ? t->now : l->end;
	if (++r->step == t->job->n_steps) {
		r->step = 0;
		r->iteration++;
	}
	if (r->iteration == t->job->repeat)
		rank_ends(t, rank);
	else
		step_begin(t, rank);
}

static struct strand *strand_of(struct rank *r, uint32_t i)
{
	return r->strands ? &r->strands[i] : &r->strand;
}

/* ---- operations ---------------------------------------------------------- */

static void release(struct gang *t, uint32_t ref, uint32_t flag)
{
	const struct opgraph *g = t->job->graph;

	if (!g)
		return;
	for (uint32_t k = g->edge_of[ref]; k < g->edge_of[ref + 1]; k++) {
		uint32_t to = g->edges[k] & ~OPGRAPH_STARTED;

		if ((g->edges[k] & OPGRAPH_STARTED) == flag &&
		    --t->needs[to] == 0)
			ready_put(t, to);
	}
}

static void op_started(struct gang *t, uint32_t ref)
{
	release(t, ref, OPGRAPH_STARTED);
}

static void op_done(struct gang *t, uint32_t rank, uint32_t ref)
{
	struct rank *r = &t->ranks[rank];

	if (t->job->graph) {
		release(t, ref, 0);
		r->active--;
	} else if (--strand_of(r, ref)->pending == 0) {
		ready_put(t, ref);
	}
}

static hd_time cost_of(const struct gang *t, uint64_t bytes)
{
	return t->job->overhead + bytes * t->job->per_byte;
}

static struct cpu *cpu_of(struct gang *t, uint32_t rank, uint8_t number)
{
	struct rank *r = &t->ranks[rank];

	if (!r->cpus) {
		r->cpus = hd_alloc(t->job->n_cpus, sizeof(*r->cpus));
		for (uint32_t i = 0; i < t->job->n_cpus; i++)
			r->cpus[i].until = HD_TIME_NEVER;
	}
	return &r->cpus[number];
}

static void task_begin(struct gang *t, uint32_t rank, struct cpu *c,
		       const struct task *task)
{
	c->now = *task;
	c->until = t->now + task->time;
	t->carrier.wake(t->carrier.context, rank, c->until);
	if (task->op.kind != OP_RECV)
		op_started(t, task->ref);
}

static void task_queue(struct gang *t, uint32_t rank, const struct op *op,
		       uint32_t ref, hd_time time)
{
	struct cpu *c = cpu_of(t, rank, op->cpu);
	const struct task task = { *op, ref, time, t->path };

	if (c->until == HD_TIME_NEVER) {
		task_begin(t, rank, c, &task);
		return;
	}
	if (c->head == c->n)
		c->head = c->n = 0;
	c->line = hd_grow(c->line, &c->cap, c->n + 1, sizeof(*c->line));
	c->line[c->n++] = task;
}

/* The receive's message is here; frees the receive. */
static void receive_here(struct gang *t, uint32_t number, uint32_t source,
			 uint64_t size)
{
	struct receive *r = &t->receives[number];
	uint32_t rank = r->rank, ref = r->ref;
	hd_time time = cost_of(t, size);
	struct op op = r->op;

	if (size > op.size) {
		t->misfits = hd_grow(t->misfits, &t->misfits_cap,
				     t->n_misfits + 1, sizeof(*t->misfits));
		t->misfits[t->n_misfits++] =
			(struct misfit){ t->now, rank, source, op, size };
	}
	r->is_used = false;
	r->next = t->free_receive;
	t->free_receive = number;
	if (time)
		task_queue(t, rank, &op, ref, time);
	else
		op_done(t, rank, ref);
}

static uint32_t receive_new(struct gang *t, uint32_t rank, const struct op *op,
			    uint32_t ref)
{
	uint32_t number = t->free_receive;

	if (number == GANG_NONE) {
		number = t->n_receives++;
		t->receives = hd_grow(t->receives, &t->receives_cap,
				      t->n_receives, sizeof(*t->receives));
	} else {
		t->free_receive = t->receives[number].next;
	}
	t->receives[number] = (struct receive){
		.op = *op, .rank = rank, .ref = ref, .is_used = true
	};
	return number;
}

static void receive_start(struct gang *t, uint32_t rank, const struct op *op,
			  uint32_t ref)
{
	const struct match_key key = { rank, op->peer, op->tag };
	uint32_t number = receive_new(t, rank, op, ref);
	uint32_t message = match_take(&t->waiting, key);
	uint64_t size;

	op_started(t, ref);
	if (message == MATCH_NONE) {
		match_put(&t->posted, key, number);
		return;
	}
	t->receives[number].is_matched = true;
	if (t->carrier.matched(t->carrier.context, rank, message, number,
			       &size))
		receive_here(t, number, op->peer, size);
}

static void op_start(struct gang *t, uint32_t rank, const struct op *op,
		     uint32_t ref)
{
	hd_time time = op->kind == OP_COMPUTE ? op->size : cost_of(t, op->size);

	if (op->kind == OP_RECV) {
		receive_start(t, rank, op, ref);
	} else if (time) {
		task_queue(t, rank, op, ref, time);
	} else {
		op_started(t, ref);
		if (op->kind == OP_COMPUTE)
			op_done(t, rank, ref);
		else
			t->carrier.post(t->carrier.context, rank, op, ref,
					&t->path);
	}
}

/* ---- going on ------------------------------------------------------------ */

/* The operations of the strand's next round that has any. */
static void strand_go_on(struct gang *t, uint32_t rank, uint32_t number)
{
	struct rank *r = &t->ranks[rank];
	const struct step *s = &t->job->steps[r->step];
	struct strand *strand = strand_of(r, number);
	struct spot at = { .strand = number, .round = strand->round };
	struct op op;

	if (at.round == step_rounds(s, t->job->n_ranks, rank, number)) {
		r->active--;
		return;
	}
	strand->round++;
	/* One more, so that it is not done before the last has begun. */
	strand->pending = 1;
	for (; step_op(s, t->job->n_ranks, rank, at, &op); at.index++) {
		strand->pending++;
		op.tag |= r->step << 8;
		op_start(t, rank, &op, number);
	}
	op_done(t, rank, number);
}

static void settle(struct gang *t, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];

	for (;;) {
		while (t->n_ready) {
			uint32_t number = ready_take(t);

			if (t->job->graph)
				op_start(t, rank, &t->job->graph->ops[number],
					 number);
			else
				strand_go_on(t, rank, number);
		}
		if (r->active || r->ended != HD_TIME_NEVER)
			return;
		step_ends(t, rank);
	}
}

static void tell(struct gang *t, hd_time now, const struct path *path)
{
	assert(t->n_ready == 0);
	t->now = now;
	if (path)
		t->path = *path;
}

void gang_begin(struct gang *t, uint32_t rank, hd_time now)
{
	const struct path none = { 0 };

	tell(t, now, &none);
	t->ranks[rank].began = now;
	step_begin(t, rank);
	settle(t, rank);
}

const struct op *gang_work(const struct gang *t, uint32_t rank)
{
	const struct cpu *cpus = t->ranks[rank].cpus;

	for (uint32_t i = 0; cpus && i < t->job->n_cpus; i++) {
		if (cpus[i].until != HD_TIME_NEVER)
			return &cpus[i].now.op;
	}
	return NULL;
}

static void task_end(struct gang *t, uint32_t rank, struct cpu *c)
{
	const struct task task = c->now;

	t->ranks[rank].busy += task.time;
	t->path = task.path;
	t->path.compute += task.time;
	c->until = HD_TIME_NEVER;
	if (c->head < c->n)
		task_begin(t, rank, c, &c->line[c->head++]);
	if (task.op.kind == OP_COMPUTE || task.op.kind == OP_RECV)
		op_done(t, rank, task.ref);
	else
		t->carrier.post(t->carrier.context, rank, &task.op, task.ref,
				&t->path);
}

void gang_wake(struct gang *t, uint32_t rank, hd_time now, uint32_t left,
	       const struct path *path)
{
	struct rank *r = &t->ranks[rank];

	tell(t, now, NULL);
	for (uint32_t i = 0; r->cpus && i < t->job->n_cpus; i++) {
		if (r->cpus[i].until == now)
			task_end(t, rank, &r->cpus[i]);
	}
	if (left != GANG_NONE) {
		t->path = *path;
		op_done(t, rank, left);
	}
	settle(t, rank);
}

uint32_t gang_announce(struct gang *t, struct match_key key, uint32_t message)
{
	uint32_t number = match_take(&t->posted, key);

	if (number == MATCH_NONE)
		match_put(&t->waiting, key, message);
	else
		t->receives[number].is_matched = true;
	return number;
}

void gang_arrived(struct gang *t, hd_time now, uint32_t receive,
		  uint32_t source, uint64_t size, const struct path *path)
{
	uint32_t rank = t->receives[receive].rank;

	tell(t, now, path);
	receive_here(t, receive, source, size);
	settle(t, rank);
}

void gang_answered(struct gang *t, uint32_t rank, hd_time now, uint32_t ref,
		   const struct path *path)
{
	tell(t, now, path);
	op_done(t, rank, ref);
	settle(t, rank);
}
