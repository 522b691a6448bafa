/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_FLOW_TALLY_H
#define HD_SIM_METRICS_FLOW_TALLY_H

/*
 * Counters of delivered packets per flow: latencies, deadlines, jitter. Internal to src/sim.
 *
 * A flow has two cache lines; its group also has a histogram and jitter counters. With thousands of
 * flows these are not cached, so deliveries are delayed in order, and their rows are prefetched
 * step by step. sim_metrics() computes its results from these counters.
 *
 * The order is that of the model (docs/timing-rules.md, M1), independent of the engine's order
 * within an instant: all deliveries of an instant are known before the first one is counted.
 */

#include "measure/interval.h"
#include "sim/sim.h"

struct flow_tally {
	uint64_t delivered, bytes;
	hd_time latency_sum, latency_max;
	hd_time before; /* latency of the packet before; NEVER if none */
	hd_time period; /* 0: neither deadlines nor jitter */
	uint32_t group;
	/* Its packets go to one port: successive ones are well defined. */
	bool is_single;
	uint32_t unused[2];
	/* By the tightest deadline met; the last: none. */
	uint64_t met[SIM_DEADLINES + 1];
};

_Static_assert(sizeof(struct flow_tally) == 128, "two cache lines");

/* Origin of a delivery, in the order of an instant (T2). */
enum late_turn { LATE_HEAD, LATE_DELIVERY, LATE_GRANT };

/* A delivery that is not counted yet. */
struct late {
	hd_time at; /* the instant in which it became known */
	hd_time latency;
	uint32_t flow, bytes;
	uint32_t where; /* sim port */
	uint32_t turn;  /* enum late_turn */
};

#define LATE_KEPT 8 /* a power of 2 */

struct flow_tallies {
	struct flow_tally *of; /* per flow */
	uint32_t n_flows;
	struct sim_group *groups; /* borrowed */
	struct late *late;        /* a ring; as many as one instant has */
	uint32_t late_cap;        /* a power of 2 */
	uint64_t added, counted;
	struct batch_counts mean; /* of all latencies */
	bool measure;             /* latencies too */
};

/* m has its flows' groups already. */
void flow_tallies_init(struct flow_tallies *t, const struct sim_flow *flows,
		       const struct sim_metrics *m, bool measure);
void flow_tallies_fini(struct flow_tallies *t);

/* Counts a delivery for its flow; deliveries must be in order. */
void flow_tallies_count(struct flow_tallies *t, const struct late *l);
/* Counts the oldest delayed delivery, also in the mean of all. */
void flow_tallies_take(struct flow_tallies *t);
/* Makes room for one more delivery. */
void flow_tallies_grow(struct flow_tallies *t);
/* Counts all that were kept back. */
void flow_tallies_flush(struct flow_tallies *t);
/* Writes what it has into the flows and groups of m. */
void flow_tallies_report(struct flow_tallies *t, struct sim_metrics *m);

/* Prefetches the rows that counting uses: known from the delivery, ... */
static inline void late_prefetch(const struct flow_tallies *t, uint32_t flow)
{
	const char *record = (const char *)&t->of[flow];

	__builtin_prefetch(record, 1);
	__builtin_prefetch(record + 64, 1);
}

/* ... from the flow's record, ... */
static inline void late_prefetch_group(const struct flow_tallies *t, const struct late *l)
{
	const struct sim_group *g = &t->groups[t->of[l->flow].group];

	__builtin_prefetch(&g->latency, 1);
	__builtin_prefetch(&g->latency.rows[histogram_row(l->latency)]);
	__builtin_prefetch(&g->jitter[SIM_JITTER_BINS / 2], 1);
	__builtin_prefetch(&g->jitter_abs_low, 1);
}

/* ... and from the group's histogram. */
static inline void late_prefetch_bucket(const struct flow_tallies *t, const struct late *l)
{
	const struct sim_group *g = &t->groups[t->of[l->flow].group];
	unsigned row = histogram_row(l->latency);
	const uint64_t *buckets = g->latency.rows[row];

	if (buckets)
		__builtin_prefetch(&buckets[histogram_column(l->latency, row)], 1);
}

/*
 * Order within an instant: the lower port first. A port may have several: a head arrives when a
 * packet with an ACK ends.
 */
static inline bool late_before(const struct late *a, const struct late *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (__builtin_expect(a->where != b->where, 1))
		return a->where < b->where;
	return a->turn != b->turn ? a->turn < b->turn : a->flow < b->flow;
}

static inline struct late *late_at(const struct flow_tallies *t, uint64_t n)
{
	return &t->late[n & (t->late_cap - 1)];
}

/* Inserts a delivery of an existing flow among those of its instant. */
static inline void flow_tallies_add(struct flow_tallies *t, const struct late *l)
{
	uint64_t n = t->added++;

	if (__builtin_expect(n - t->counted == t->late_cap, 0))
		flow_tallies_grow(t);
	for (; n > t->counted && late_before(l, late_at(t, n - 1)); n--)
		*late_at(t, n) = *late_at(t, n - 1);
	*late_at(t, n) = *l;
	late_prefetch(t, l->flow);
	if (t->added - t->counted < LATE_KEPT)
		return; /* the first ones of a run */
	late_prefetch_group(t, late_at(t, t->added - 3));
	late_prefetch_bucket(t, late_at(t, t->added - 5));
	while (t->added - t->counted >= LATE_KEPT && late_at(t, t->counted)->at != l->at)
		flow_tallies_take(t);
}

#endif
