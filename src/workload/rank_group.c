/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/rank_group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Something that a CPU does. */
struct task {
	struct op op;
	uint32_t ref;
	hd_time time;
	struct critical_path path;
};

struct cpu {
	hd_time until; /* HD_TIME_NEVER: it is free */
	struct task now;
	struct task *line;
	size_t head, n, cap;
};

/* ---- memory -------------------------------------------------------------- */

struct rank *rank_group_ranks_new(const struct job *j)
{
	struct rank *ranks = hd_alloc(j->n_ranks, sizeof(*ranks));

	for (uint32_t i = 0; i < j->n_ranks; i++) {
		ranks[i].began = ranks[i].ended = HD_TIME_NEVER;
		ranks[i].free_receive = RANK_GROUP_NONE;
	}
	return ranks;
}

static void cpus_free(struct cpu *cpus, uint32_t n)
{
	for (uint32_t i = 0; cpus && i < n; i++)
		free(cpus[i].line);
	free(cpus);
}

void rank_group_ranks_free(struct rank *ranks, const struct job *j)
{
	for (uint32_t i = 0; i < j->n_ranks; i++) {
		free(ranks[i].sequences);
		free(ranks[i].receives);
		cpus_free(ranks[i].cpus, j->n_cpus);
	}
	free(ranks);
}

void rank_group_init(struct rank_group *t, const struct job *j, const struct network_ops *c,
		     struct rank *ranks, uint32_t *needs)
{
	size_t n = (size_t)j->repeat * j->n_steps;
	bool has_any = j->graph && j->graph->has_any;

	*t = (struct rank_group){
		.job = j, .network = *c, .ranks = ranks, .last_rank = RANK_GROUP_NONE
	};
	t->needs = needs;
	match_init(&t->posted, has_any);
	match_init(&t->waiting, has_any);
	t->steps = hd_alloc(n, sizeof(*t->steps));
	for (size_t i = 0; i < n; i++)
		t->steps[i].begin = HD_TIME_NEVER;
}

void rank_group_fini(struct rank_group *t)
{
	match_fini(&t->posted);
	match_fini(&t->waiting);
	free(t->steps);
	free(t->misfits);
	free(t->ready);
}

/* ---- what is ready, the lowest number first ----------------------------- */

static void ready_put(struct rank_group *t, uint32_t number)
{
	size_t at = t->n_ready++;

	t->ready = hd_grow(t->ready, &t->ready_cap, t->n_ready, sizeof(*t->ready));
	while (at && t->ready[(at - 1) / 2] > number) {
		t->ready[at] = t->ready[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	t->ready[at] = number;
}

static uint32_t ready_take(struct rank_group *t)
{
	uint32_t first = t->ready[0], last = t->ready[--t->n_ready];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < t->n_ready) {
		if (child + 1 < t->n_ready && t->ready[child + 1] < t->ready[child])
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

static struct step_span *lasting_of(struct rank_group *t, const struct rank *r)
{
	return &t->steps[(size_t)r->iteration * t->job->n_steps + r->step];
}

static void graph_needs(struct rank_group *t, uint32_t rank)
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

static void step_begin(struct rank_group *t, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];
	struct step_span *l = lasting_of(t, r);

	l->begin = t->now < l->begin ? t->now : l->begin;
	if (t->job->graph) {
		r->active = t->job->graph->first[rank + 1] - t->job->graph->first[rank];
		graph_needs(t, rank);
		return;
	}
	uint32_t n = step_sequences(&t->job->steps[r->step]);

	r->active = n;
	free(r->sequences);
	r->sequences = n > 1 ? hd_alloc(n, sizeof(*r->sequences)) : NULL;
	r->sequence = (struct round_sequence){ 0 };
	for (uint32_t i = 0; i < n; i++)
		ready_put(t, i);
}

static void rank_ends(struct rank_group *t, uint32_t rank)
{
	t->ranks[rank].ended = t->now;
	t->n_done++;
	if (t->last_rank != RANK_GROUP_NONE &&
	    (t->now < t->last || (t->now == t->last && rank > t->last_rank)))
		return;
	t->last = t->now;
	t->last_rank = rank;
	t->last_path = t->path;
}

/* All operations of a step are complete. */
static void step_ends(struct rank_group *t, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];
	struct step_span *l = lasting_of(t, r);

	l->end = t->now > l->end ? t->now : l->end;
	if (++r->step == t->job->n_steps) {
		r->step = 0;
		r->iteration++;
		if (t->network.iterated)
			t->network.iterated(t->network.context, rank);
	}
	if (r->iteration == t->job->repeat)
		rank_ends(t, rank);
	else
		step_begin(t, rank);
}

static struct round_sequence *strand_of(struct rank *r, uint32_t i)
{
	return r->sequences ? &r->sequences[i] : &r->sequence;
}

/* ---- operations ---------------------------------------------------------- */

static void release(struct rank_group *t, uint32_t ref, uint32_t flag)
{
	const struct opgraph *g = t->job->graph;

	if (!g)
		return;
	for (uint32_t k = g->edge_of[ref]; k < g->edge_of[ref + 1]; k++) {
		uint32_t to = g->edges[k] & ~OPGRAPH_STARTED;

		if ((g->edges[k] & OPGRAPH_STARTED) == flag && --t->needs[to] == 0)
			ready_put(t, to);
	}
}

static void op_started(struct rank_group *t, uint32_t ref)
{
	release(t, ref, OPGRAPH_STARTED);
}

static void op_done(struct rank_group *t, uint32_t rank, uint32_t ref)
{
	struct rank *r = &t->ranks[rank];

	if (t->job->graph) {
		release(t, ref, 0);
		r->active--;
	} else if (--strand_of(r, ref)->pending == 0) {
		ready_put(t, ref);
	}
}

static hd_time cost_of(const struct rank_group *t, uint64_t bytes)
{
	return t->job->overhead + bytes * t->job->per_byte;
}

static struct cpu *cpu_of(struct rank_group *t, uint32_t rank, uint8_t number)
{
	struct rank *r = &t->ranks[rank];

	if (!r->cpus) {
		r->cpus = hd_alloc(t->job->n_cpus, sizeof(*r->cpus));
		for (uint32_t i = 0; i < t->job->n_cpus; i++)
			r->cpus[i].until = HD_TIME_NEVER;
	}
	return &r->cpus[number];
}

static void task_begin(struct rank_group *t, uint32_t rank, struct cpu *c, const struct task *task)
{
	c->now = *task;
	c->until = t->now + task->time;
	t->network.wake(t->network.context, rank, c->until);
	if (task->op.kind != OP_RECV)
		op_started(t, task->ref);
}

static void task_queue(struct rank_group *t, uint32_t rank, const struct op *op, uint32_t ref,
		       hd_time time)
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

static void receive_free(struct rank *r, uint32_t number)
{
	r->receives[number].is_used = false;
	r->receives[number].next = r->free_receive;
	r->free_receive = number;
}

/* A receive's message is here; frees the receive. */
static void receive_here(struct rank_group *t, const struct arrived_message *l)
{
	struct rank *rank = &t->ranks[l->rank];
	const struct receive *r = &rank->receives[l->receive];
	hd_time time = cost_of(t, l->size);
	const struct op op = r->op;
	uint32_t ref = r->ref;

	if (l->size > op.size) {
		t->misfits =
			hd_grow(t->misfits, &t->misfits_cap, t->n_misfits + 1, sizeof(*t->misfits));
		t->misfits[t->n_misfits++] =
			(struct oversized_message){ t->now, l->rank, l->source, op, l->size };
	}
	receive_free(rank, l->receive);
	if (time)
		task_queue(t, l->rank, &op, ref, time);
	else
		op_done(t, l->rank, ref);
}

static uint32_t receive_new(struct rank *r, const struct op *op, uint32_t ref)
{
	uint32_t number = r->free_receive;

	if (number == RANK_GROUP_NONE) {
		number = r->n_receives++;
		r->receives =
			hd_grow(r->receives, &r->receives_cap, r->n_receives, sizeof(*r->receives));
	} else {
		r->free_receive = r->receives[number].next;
	}
	r->receives[number] = (struct receive){ .op = *op, .ref = ref, .is_used = true };
	return number;
}

static void receive_start(struct rank_group *t, uint32_t rank, const struct op *op, uint32_t ref)
{
	const struct match_key key = { rank, op->peer, op->tag };
	uint32_t number = receive_new(&t->ranks[rank], op, ref);
	uint32_t message = match_take(&t->waiting, key);
	struct arrived_message l = { rank, number, op->peer, 0 };

	op_started(t, ref);
	if (message == MATCH_NONE) {
		match_put(&t->posted, key, number);
		return;
	}
	t->ranks[rank].receives[number].is_matched = true;
	if (t->network.matched(t->network.context, rank, message, number, &l.size))
		receive_here(t, &l);
}

static void op_start(struct rank_group *t, uint32_t rank, const struct op *op, uint32_t ref)
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
			t->network.post(t->network.context, rank, op, ref, &t->path);
	}
}

/* ---- progress ------------------------------------------------------------ */

/* The operations of the sequence's next round that has any. */
static void thread_continue(struct rank_group *t, uint32_t rank, uint32_t number)
{
	struct rank *r = &t->ranks[rank];
	const struct workload_step *s = &t->job->steps[r->step];
	struct round_sequence *sequence = strand_of(r, number);
	struct step_position at = { .sequence = number, .round = sequence->round };
	struct op op;

	if (at.round == step_rounds(s, t->job->n_ranks, rank, number)) {
		r->active--;
		return;
	}
	sequence->round++;
	/* One more, so that it is not done before the last has begun. */
	sequence->pending = 1;
	for (; step_op(s, t->job->n_ranks, rank, at, &op); at.index++) {
		sequence->pending++;
		op.tag |= r->step << 8;
		op_start(t, rank, &op, number);
	}
	op_done(t, rank, number);
}

static void settle(struct rank_group *t, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];

	for (;;) {
		while (t->n_ready) {
			uint32_t number = ready_take(t);

			if (t->job->graph)
				op_start(t, rank, &t->job->graph->ops[number], number);
			else
				thread_continue(t, rank, number);
		}
		if (r->active || r->ended != HD_TIME_NEVER)
			return;
		step_ends(t, rank);
	}
}

static void tell(struct rank_group *t, hd_time now, const struct critical_path *path)
{
	assert(t->n_ready == 0);
	t->now = now;
	if (path)
		t->path = *path;
}

void rank_group_begin(struct rank_group *t, uint32_t rank, hd_time now)
{
	const struct critical_path none = { 0 };

	tell(t, now, &none);
	t->ranks[rank].began = now;
	step_begin(t, rank);
	settle(t, rank);
}

const struct op *rank_group_work(const struct rank_group *t, uint32_t rank)
{
	const struct cpu *cpus = t->ranks[rank].cpus;

	for (uint32_t i = 0; cpus && i < t->job->n_cpus; i++) {
		if (cpus[i].until != HD_TIME_NEVER)
			return &cpus[i].now.op;
	}
	return NULL;
}

static void task_end(struct rank_group *t, uint32_t rank, struct cpu *c)
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
		t->network.post(t->network.context, rank, &task.op, task.ref, &t->path);
}

void rank_group_wake(struct rank_group *t, uint32_t rank, hd_time now, uint32_t left,
		     const struct critical_path *path)
{
	struct rank *r = &t->ranks[rank];

	tell(t, now, NULL);
	for (uint32_t i = 0; r->cpus && i < t->job->n_cpus; i++) {
		if (r->cpus[i].until == now)
			task_end(t, rank, &r->cpus[i]);
	}
	if (left != RANK_GROUP_NONE) {
		t->path = *path;
		op_done(t, rank, left);
	}
	settle(t, rank);
}

uint32_t rank_group_announce(struct rank_group *t, struct match_key key, uint32_t message)
{
	uint32_t number = match_take(&t->posted, key);

	if (number == MATCH_NONE)
		match_put(&t->waiting, key, message);
	else
		t->ranks[key.rank].receives[number].is_matched = true;
	return number;
}

void rank_group_arrived(struct rank_group *t, hd_time now, const struct arrived_message *what,
			const struct critical_path *path)
{
	tell(t, now, path);
	receive_here(t, what);
	settle(t, what->rank);
}

void rank_group_answered(struct rank_group *t, uint32_t rank, hd_time now, uint32_t ref,
			 const struct critical_path *path)
{
	tell(t, now, path);
	op_done(t, rank, ref);
	settle(t, rank);
}

/* ---- as bytes ------------------------------------------------------------ */

static const struct pack_member rank_members[] = {
	PACK_TIME(rank, began),       PACK_TIME(rank, ended),
	PACK_SUM(rank, busy),         PACK(rank, step),
	PACK(rank, active),           PACK(rank, sequence.round),
	PACK(rank, sequence.pending),
};

static const struct pack_member strand_members[] = {
	PACK(round_sequence, round),
	PACK(round_sequence, pending),
};

static const struct pack_member op_members[] = {
	PACK(op, size), PACK(op, peer), PACK(op, tag),
	PACK(op, line), PACK(op, kind), PACK(op, cpu),
};

static const struct pack_member task_members[] = {
	PACK(task, ref),
	PACK(task, time),
	PACK_CRITICAL_PATH(task, path),
};

static const struct pack_member receive_members[] = {
	PACK(receive, ref),
	PACK(receive, is_matched),
};

PACK_KNOWS(round_sequence, 8);
PACK_KNOWS(op, 24);
PACK_KNOWS(task, 112);
PACK_KNOWS(receive, 40);

static bool is_at_work(const struct rank *r)
{
	return r->began != HD_TIME_NEVER && r->ended == HD_TIME_NEVER;
}

/* Whether the rank may execute the operation. */
static bool op_is_sound(const struct job *j, const struct rank *r, const struct op *op)
{
	bool is_any = op->kind == OP_RECV && op->peer == OP_ANY;
	uint32_t peers = j->n_ranks;

	if (op->kind > OP_REDUCE || op->cpu >= j->n_cpus)
		return false;
	if (op->kind == OP_COMPUTE || is_any)
		return true;
	if (op->kind != OP_SEND && op->kind != OP_RECV) {
		if (j->graph)
			return false;
		peers = op->kind == OP_READ || op->kind == OP_WRITE ? j->steps[r->step].servers
								    : j->steps[r->step].groups;
	}
	return op->peer < peers && op->size <= OP_MOST_SIZE &&
	       (j->graph || op->tag >> 8 < j->n_steps);
}

static bool ref_is_sound(const struct job *j, uint32_t rank, const struct rank *r, uint32_t ref)
{
	return j->graph ? ref >= j->graph->first[rank] && ref < j->graph->first[rank + 1]
			: ref < step_sequences(&j->steps[r->step]);
}

/* The operation of this ref. */
static void pack_op(struct rank_group *t, struct pack *k, uint32_t rank, struct op *op,
		    uint32_t ref)
{
	const struct rank *r = &t->ranks[rank];

	PACK_STRUCT(k, op_members, op);
	pack_check(k, op_is_sound(t->job, r, op) && ref_is_sound(t->job, rank, r, ref));
}

static void pack_task(struct rank_group *t, struct pack *k, uint32_t rank, struct task *task)
{
	PACK_STRUCT(k, task_members, task);
	pack_op(t, k, rank, &task->op, task->ref);
}

static void pack_cpu(struct rank_group *t, struct pack *k, uint32_t rank, struct cpu *c)
{
	size_t n = c->n - c->head;

	pack_time(k, &c->until);
	if (c->until != HD_TIME_NEVER)
		pack_task(t, k, rank, &c->now);
	n = pack_count(k, n);
	if (k->reads) {
		c->line = hd_grow(c->line, &c->cap, n, sizeof(*c->line));
		c->head = 0;
		c->n = n;
	}
	for (size_t i = 0; i < n; i++)
		pack_task(t, k, rank, &c->line[c->head + i]);
}

static void pack_cpus(struct rank_group *t, struct pack *k, uint32_t rank)
{
	bool any = t->ranks[rank].cpus != NULL;

	pack_bool(k, &any);
	for (uint32_t i = 0; any && i < t->job->n_cpus; i++)
		pack_cpu(t, k, rank, cpu_of(t, rank, (uint8_t)i));
}

static void pack_receives(struct rank_group *t, struct pack *k, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];

	r->n_receives = (uint32_t)pack_count(k, r->n_receives);
	if (k->reads)
		r->receives =
			hd_grow(r->receives, &r->receives_cap, r->n_receives, sizeof(*r->receives));
	for (uint32_t i = 0; i < r->n_receives; i++) {
		struct receive *x = &r->receives[i];

		if (k->reads)
			*x = (struct receive){ .next = RANK_GROUP_NONE };
		pack_bool(k, &x->is_used);
		if (!x->is_used)
			continue;
		PACK_STRUCT(k, receive_members, x);
		pack_op(t, k, rank, &x->op, x->ref);
	}
	for (uint32_t i = r->n_receives; k->reads && i-- > 0;) {
		if (!r->receives[i].is_used)
			receive_free(r, i);
	}
}

static void pack_strands(struct rank_group *t, struct pack *k, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];
	uint32_t n = step_sequences(&t->job->steps[r->step]);

	pack_check(k, r->active <= n);
	if (k->reads) {
		free(r->sequences);
		r->sequences = n > 1 ? hd_alloc(n, sizeof(*r->sequences)) : NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct round_sequence *x = strand_of(r, i);

		PACK_STRUCT(k, strand_members, x);
		pack_check(k, x->round <= step_rounds(&t->job->steps[r->step], t->job->n_ranks,
						      rank, i));
	}
}

static void pack_needs(struct rank_group *t, struct pack *k, uint32_t rank)
{
	const struct opgraph *g = t->job->graph;

	for (uint32_t i = g->first[rank]; i < g->first[rank + 1]; i++)
		pack_u32(k, &t->needs[i]);
}

void rank_group_pack_rank(struct rank_group *t, struct pack *k, uint32_t rank)
{
	struct rank *r = &t->ranks[rank];
	const struct job *j = t->job;

	PACK_STRUCT(k, rank_members, r);
	pack_sum_below(k, &r->iteration, r->ended == HD_TIME_NEVER ? j->repeat - 1 : j->repeat);
	if (!pack_check(k, r->step < j->n_steps && (is_at_work(r) ? r->iteration < j->repeat
								  : r->iteration <= j->repeat)))
		*r = (struct rank){ .free_receive = RANK_GROUP_NONE };
	if (k->refused || !is_at_work(r))
		return;
	if (j->graph)
		pack_needs(t, k, rank);
	else
		pack_strands(t, k, rank);
	pack_cpus(t, k, rank);
	pack_receives(t, k, rank);
}
