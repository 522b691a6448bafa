/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/ideal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/eventq.h"

enum { EV_ARRIVES, EV_WAKES };
#define KEY_SHIFT 32

struct letter {
	uint32_t source, target, tag, ref, receive;
	uint64_t size;
	hd_time posted, left;
	struct path path;
	uint32_t next;
};

struct ideal {
	const struct ideal_net *net;
	struct gang gang;
	struct eventq q;
	hd_time now;
	struct letter *letters;
	uint32_t n, free;
	size_t cap;
	/* Per rank: the last byte of all it posted leaves then; what leaves. */
	hd_time *free_at;
	uint32_t *first, *last;
};

static uint64_t key_of(unsigned kind, uint32_t what)
{
	return (uint64_t)kind << KEY_SHIFT | what;
}

static uint32_t letter_new(struct ideal *i)
{
	uint32_t id = i->free;

	if (id == GANG_NONE) {
		id = i->n++;
		i->letters =
			hd_grow(i->letters, &i->cap, i->n, sizeof(*i->letters));
	} else {
		i->free = i->letters[id].next;
	}
	return id;
}

static void letter_free(struct ideal *i, uint32_t id)
{
	i->letters[id].next = i->free;
	i->free = id;
}

static void post(void *context, uint32_t rank, const struct op *op,
		 uint32_t ref, const struct path *path)
{
	struct ideal *i = context;
	uint32_t id = letter_new(i);
	hd_time from = i->free_at[rank] > i->now ? i->free_at[rank] : i->now;
	hd_time left = from + hd_rate_duration(i->net->rate, op->size);

	i->letters[id] = (struct letter){
		.source = rank,
		.target = op->peer,
		.tag = op->tag,
		.ref = ref,
		.receive = GANG_NONE,
		.size = op->size,
		.posted = i->now,
		.left = left,
		.path = *path,
		.next = GANG_NONE,
	};
	i->free_at[rank] = left;
	if (i->first[rank] == GANG_NONE)
		i->first[rank] = id;
	else
		i->letters[i->last[rank]].next = id;
	i->last[rank] = id;
	eventq_push(&i->q, left, key_of(EV_WAKES, rank));
}

static bool matched(void *context, uint32_t rank, uint32_t message,
		    uint32_t receive, uint64_t *size)
{
	struct ideal *i = context;

	(void)rank, (void)receive;
	*size = i->letters[message].size;
	letter_free(i, message);
	return true;
}

static void wake(void *context, uint32_t rank, hd_time when)
{
	struct ideal *i = context;

	eventq_push(&i->q, when, key_of(EV_WAKES, rank));
}

/* One message of a rank leaves at a time; those of no bytes together. */
static void on_wake(struct ideal *i, uint32_t rank)
{
	uint32_t id = i->first[rank];

	if (id == GANG_NONE || i->letters[id].left > i->now) {
		gang_wake(&i->gang, rank, i->now, GANG_NONE, NULL);
		return;
	}
	struct letter l = i->letters[id];

	l.path.sending += i->now - l.posted;
	i->first[rank] = l.next;
	eventq_push(&i->q, i->now + i->net->latency, key_of(EV_ARRIVES, id));
	gang_wake(&i->gang, rank, i->now, l.ref, &l.path);
}

static void on_arrival(struct ideal *i, uint32_t id)
{
	struct letter l = i->letters[id];
	const struct match_key key = { l.target, l.source, l.tag };
	uint32_t receive = gang_announce(&i->gang, key, id);

	if (receive == GANG_NONE)
		return;
	l.path.messages += i->now - l.posted;
	l.path.n_messages++;
	letter_free(i, id);
	const struct landed what = { l.target, receive, l.source, l.size };

	gang_arrived(&i->gang, i->now, &what, &l.path);
}

static void find_stuck(const struct ideal *i, struct ideal_result *out)
{
	const struct gang *t = &i->gang;

	for (uint32_t r = t->job->n_ranks; r-- > 0;) {
		if (t->ranks[r].ended == HD_TIME_NEVER)
			out->stuck_rank = r;
	}
	if (out->stuck_rank == GANG_NONE)
		return;
	const struct rank *stuck = &t->ranks[out->stuck_rank];

	for (uint32_t k = stuck->n_receives; k-- > 0;) {
		const struct receive *r = &stuck->receives[k];

		if (r->is_used && (out->stuck_op.kind != OP_RECV ||
				   r->op.line < out->stuck_op.line))
			out->stuck_op = r->op;
	}
}

static void run(struct ideal *i)
{
	struct event e;

	for (uint32_t r = 0; r < i->gang.job->n_ranks; r++)
		gang_begin(&i->gang, r, 0);
	while (eventq_pop(&i->q, &e)) {
		uint32_t what = (uint32_t)e.key;

		i->now = e.when;
		if (e.key >> KEY_SHIFT == EV_ARRIVES)
			on_arrival(i, what);
		else
			on_wake(i, what);
	}
}

void ideal_run(const struct job *j, const struct ideal_net *net,
	       struct ideal_result *out)
{
	struct ideal i = { .net = net, .free = GANG_NONE };
	const struct carrier c = { &i, post, matched, wake };
	uint32_t *needs =
		hd_alloc(j->graph ? j->graph->n_ops : 0, sizeof(*needs));
	struct rank *ranks = ranks_new(j);

	eventq_init(&i.q);
	i.free_at = hd_alloc(j->n_ranks, sizeof(*i.free_at));
	i.first = hd_alloc(j->n_ranks, sizeof(*i.first));
	i.last = hd_alloc(j->n_ranks, sizeof(*i.last));
	for (uint32_t r = 0; r < j->n_ranks; r++)
		i.first[r] = GANG_NONE;
	gang_init(&i.gang, j, &c, ranks, needs);
	run(&i);
	*out = (struct ideal_result){
		.completion = i.gang.n_done == j->n_ranks ? i.gang.last
							  : HD_TIME_NEVER,
		.last_rank = i.gang.last_rank,
		.path = i.gang.last_path,
		.stuck_rank = GANG_NONE,
	};
	find_stuck(&i, out);
	gang_fini(&i.gang);
	ranks_free(ranks, j);
	eventq_fini(&i.q);
	free(needs);
	free(i.letters);
	free(i.free_at);
	free(i.first);
	free(i.last);
}
