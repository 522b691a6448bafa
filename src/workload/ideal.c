/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/ideal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/eventq.h"

enum { EV_ARRIVES, EV_WAKES };
#define KEY_SHIFT 32
/* Latest time: adding one computation does not overflow. */
#define LAST_TIME ((hd_time)1 << 63)

struct ideal_message {
	uint32_t source, target, tag, ref, receive;
	uint32_t line;
	uint64_t size;
	hd_time posted, left;
	struct critical_path path;
	uint32_t next;
};

/* Letters, the oldest first. */
struct message_queue {
	uint32_t first, last;
};

struct ideal_sender {
	hd_time free_at; /* the last byte of all it posted leaves then */
	struct message_queue leaving, under_way;
};

struct ideal {
	const struct ideal_net *net;
	struct rank_group rank_group;
	struct eventq q;
	hd_time now;
	struct diag *d; /* fails if an instant is beyond LAST_TIME */
	struct ideal_message *messages;
	uint32_t n, free;
	size_t cap;
	struct ideal_sender *senders; /* by rank */
};

static uint64_t key_of(unsigned kind, uint32_t what)
{
	return (uint64_t)kind << KEY_SHIFT | what;
}

/* Schedules an event `delay` after `when`; an event after LAST_TIME fails the run. */
static void push(struct ideal *i, hd_time when, hd_time delay, uint64_t key, uint32_t line)
{
	if (when <= LAST_TIME && delay <= LAST_TIME - when)
		eventq_push(&i->q, when + delay, key);
	else
		diag_fail_at(
			i->d, HD_ERR_RANGE, line, 0,
			"the job takes more than 106 days, the maximum of a time in picoseconds");
}

static uint32_t letter_new(struct ideal *i)
{
	uint32_t id = i->free;

	if (id == RANK_GROUP_NONE) {
		id = i->n++;
		i->messages = hd_grow(i->messages, &i->cap, i->n, sizeof(*i->messages));
	} else {
		i->free = i->messages[id].next;
	}
	return id;
}

static void letter_free(struct ideal *i, uint32_t id)
{
	i->messages[id].next = i->free;
	i->free = id;
}

static void line_put(struct ideal *i, struct message_queue *l, uint32_t id)
{
	i->messages[id].next = RANK_GROUP_NONE;
	if (l->first == RANK_GROUP_NONE)
		l->first = id;
	else
		i->messages[l->last].next = id;
	l->last = id;
}

static uint32_t line_take(const struct ideal *i, struct message_queue *l)
{
	uint32_t id = l->first;

	l->first = i->messages[id].next;
	return id;
}

static void post(void *context, uint32_t rank, const struct op *op, uint32_t ref,
		 const struct critical_path *path)
{
	struct ideal *i = context;
	uint32_t id = letter_new(i);
	struct ideal_sender *sender = &i->senders[rank];
	hd_time from = sender->free_at > i->now ? sender->free_at : i->now;
	hd_time time = hd_rate_duration(i->net->rate, op->size);
	bool counts = from <= LAST_TIME && time <= LAST_TIME - from;
	hd_time left = counts ? from + time : HD_TIME_NEVER;

	i->messages[id] = (struct ideal_message){
		.source = rank,
		.target = op->peer,
		.tag = op->tag,
		.ref = ref,
		.receive = RANK_GROUP_NONE,
		.line = op->line,
		.size = op->size,
		.posted = i->now,
		.left = left,
		.path = *path,
	};
	sender->free_at = left;
	line_put(i, &sender->leaving, id);
	push(i, left, 0, key_of(EV_WAKES, rank), op->line);
}

static bool matched(void *context, uint32_t rank, uint32_t message, uint32_t receive,
		    uint64_t *size)
{
	struct ideal *i = context;

	(void)rank, (void)receive;
	*size = i->messages[message].size;
	letter_free(i, message);
	return true;
}

static void wake(void *context, uint32_t rank, hd_time when)
{
	struct ideal *i = context;
	/* With several CPUs, the ending operation is not known. */
	const struct op *op =
		i->rank_group.job->n_cpus == 1 ? rank_group_work(&i->rank_group, rank) : NULL;

	push(i, when, 0, key_of(EV_WAKES, rank), op ? op->line : 0);
}

/* One message of a rank leaves at a time; those of no bytes together. */
static void on_wake(struct ideal *i, uint32_t rank)
{
	struct ideal_sender *sender = &i->senders[rank];
	uint32_t id = sender->leaving.first;

	if (id == RANK_GROUP_NONE || i->messages[id].left > i->now) {
		rank_group_wake(&i->rank_group, rank, i->now, RANK_GROUP_NONE, NULL);
		return;
	}
	line_take(i, &sender->leaving);
	line_put(i, &sender->under_way, id);
	struct ideal_message l = i->messages[id];

	l.path.sending += i->now - l.posted;
	push(i, i->now, i->net->latency, key_of(EV_ARRIVES, rank), l.line);
	rank_group_wake(&i->rank_group, rank, i->now, l.ref, &l.path);
}

/* Messages of a rank arrive as they left, also those of one instant. */
static void on_arrival(struct ideal *i, uint32_t rank)
{
	uint32_t id = line_take(i, &i->senders[rank].under_way);
	struct ideal_message l = i->messages[id];
	const struct match_key key = { l.target, l.source, l.tag };
	uint32_t receive = rank_group_announce(&i->rank_group, key, id);

	if (receive == RANK_GROUP_NONE)
		return;
	l.path.messages += i->now - l.posted;
	l.path.n_messages++;
	letter_free(i, id);
	const struct arrived_message what = { l.target, receive, l.source, l.size };

	rank_group_arrived(&i->rank_group, i->now, &what, &l.path);
}

/* ---- what fails ---------------------------------------------------------- */

static size_t count_receives(const struct rank_group *t)
{
	size_t n = 0;

	for (uint32_t r = 0; r < t->job->n_ranks; r++) {
		for (uint32_t k = 0; k < t->ranks[r].n_receives; k++)
			n += t->ranks[r].receives[k].is_used;
	}
	return n;
}

static struct ideal_problem *add_receives(const struct rank_group *t, struct ideal_problem *to)
{
	for (uint32_t r = 0; r < t->job->n_ranks; r++) {
		const struct rank *rank = &t->ranks[r];

		for (uint32_t k = 0; k < rank->n_receives; k++) {
			if (rank->receives[k].is_used)
				*to++ = (struct ideal_problem){ .rank = r,
								.op = rank->receives[k].op };
		}
	}
	return to;
}

static struct ideal_problem *add_misfits(const struct rank_group *t, struct ideal_problem *to)
{
	for (size_t i = 0; i < t->n_misfits; i++) {
		const struct oversized_message *m = &t->misfits[i];

		*to++ = (struct ideal_problem){ m->rank, m->op, m->source, m->size };
	}
	return to;
}

static void add_sends(const struct ideal *i, struct ideal_problem *to)
{
	uint32_t n = match_count(&i->rank_group.waiting);
	struct match_item *items = hd_alloc(n, sizeof(*items));

	match_list(&i->rank_group.waiting, items);
	for (uint32_t k = 0; k < n; k++) {
		const struct ideal_message *l = &i->messages[items[k].value];

		to[k] = (struct ideal_problem){
			.rank = l->source,
			.op = { .kind = OP_SEND,
				.size = l->size,
				.peer = l->target,
				.tag = l->tag,
				.line = l->line },
		};
	}
	free(items);
}

static int by_rank(const void *a, const void *b)
{
	const struct ideal_problem *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->op.line != y->op.line)
		return x->op.line < y->op.line ? -1 : 1;
	return x->op.tag < y->op.tag ? -1 : x->op.tag > y->op.tag;
}

static void find_problems(const struct ideal *i, struct ideal_result *out)
{
	const struct rank_group *t = &i->rank_group;
	size_t n = count_receives(t) + t->n_misfits + match_count(&t->waiting);

	if (n == 0)
		return;
	out->n_problems = n;
	out->problems = hd_alloc(n, sizeof(*out->problems));
	add_sends(i, add_misfits(t, add_receives(t, out->problems)));
	qsort(out->problems, n, sizeof(*out->problems), by_rank);
}

void ideal_result_fini(struct ideal_result *r)
{
	free(r->problems);
	*r = (struct ideal_result){ 0 };
}

/* ---- all of it ----------------------------------------------------------- */

static void run(struct ideal *i)
{
	struct event e;

	for (uint32_t r = 0; r < i->rank_group.job->n_ranks; r++)
		rank_group_begin(&i->rank_group, r, 0);
	while (i->d->status == HD_OK && eventq_pop(&i->q, &e)) {
		uint32_t what = (uint32_t)e.key;

		i->now = e.when;
		if (e.key >> KEY_SHIFT == EV_ARRIVES)
			on_arrival(i, what);
		else
			on_wake(i, what);
	}
}

static void ideal_init(struct ideal *i, const struct job *j, const struct ideal_net *net,
		       struct diag *d)
{
	*i = (struct ideal){ .net = net, .d = d, .free = RANK_GROUP_NONE };
	eventq_init(&i->q);
	i->senders = hd_alloc(j->n_ranks, sizeof(*i->senders));
	for (uint32_t r = 0; r < j->n_ranks; r++)
		i->senders[r].leaving.first = i->senders[r].under_way.first = RANK_GROUP_NONE;
}

static void ideal_fini(struct ideal *i)
{
	rank_group_fini(&i->rank_group);
	eventq_fini(&i->q);
	free(i->messages);
	free(i->senders);
}

enum hd_status ideal_run(const struct job *j, const struct ideal_net *net, struct diag *d,
			 struct ideal_result *out)
{
	struct ideal i;
	const struct network_ops c = { &i, post, matched, wake, NULL };
	uint32_t *needs = hd_alloc(j->graph ? j->graph->n_ops : 0, sizeof(*needs));
	struct rank *ranks = rank_group_ranks_new(j);

	ideal_init(&i, j, net, d);
	rank_group_init(&i.rank_group, j, &c, ranks, needs);
	run(&i);
	if (d->status == HD_OK) {
		bool ends = i.rank_group.n_done == j->n_ranks;

		*out = (struct ideal_result){
			.completion = ends ? i.rank_group.last : HD_TIME_NEVER,
			.n_done = i.rank_group.n_done,
			.last_rank = i.rank_group.last_rank,
			.path = i.rank_group.last_path,
		};
		find_problems(&i, out);
	}
	ideal_fini(&i);
	rank_group_ranks_free(ranks, j);
	free(needs);
	return d->status;
}
