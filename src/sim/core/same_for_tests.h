/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_SAME_FOR_TESTS_H
#define HD_SIM_CORE_SAME_FOR_TESTS_H

/*
 * Are two runs the same, to the bit? All that they measured, and all that they
 * told an observer. For tests that compute one run in several ways.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/sim.h"

static inline void same_histograms(const struct histogram *a, const struct histogram *b)
{
	struct histogram_bucket x, y;
	unsigned i = 0, j = 0;

	assert_int_equal(a->n, b->n);
	assert_int_equal(a->sum_low, b->sum_low);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	assert_memory_equal(a->squares, b->squares, sizeof(a->squares));
	while (histogram_next(a, &i, &x)) {
		assert_true(histogram_next(b, &j, &y));
		assert_memory_equal(&x, &y, sizeof(x));
	}
	assert_false(histogram_next(b, &j, &y));
}

static inline void same_numbers(double a, double b)
{
	assert_memory_equal(&a, &b, sizeof(a));
}

static inline void same_groups(const struct sim_group *a, const struct sim_group *b)
{
	same_histograms(&a->latency, &b->latency);
	assert_memory_equal(a->within, b->within, sizeof(a->within));
	assert_int_equal(a->timed, b->timed);
	assert_memory_equal(a->jitter, b->jitter, sizeof(a->jitter));
	assert_int_equal(a->jitter_n, b->jitter_n);
	assert_int_equal(a->jitter_abs_low, b->jitter_abs_low);
}

static inline void same_metrics(const struct sim_metrics *a, const struct sim_metrics *b)
{
	assert_int_equal(a->from, b->from);
	assert_int_equal(a->to, b->to);
	assert_int_equal(a->hops, b->hops);
	assert_int_equal(a->made, b->made);
	assert_int_equal(a->made_bytes, b->made_bytes);
	assert_int_equal(a->delivered, b->delivered);
	assert_int_equal(a->delivered_bytes, b->delivered_bytes);
	assert_memory_equal(a->lost, b->lost, sizeof(a->lost));
	assert_int_equal(a->checksum, b->checksum);
	same_numbers(a->mean_latency.mean, b->mean_latency.mean);
	same_numbers(a->mean_latency.half_width, b->mean_latency.half_width);
	same_numbers(a->mean_latency.lag1, b->mean_latency.lag1);
	assert_int_equal(a->mean_latency.batches, b->mean_latency.batches);
	same_numbers(a->jain, b->jain);
	same_histograms(&a->latency, &b->latency);
	assert_int_equal(a->n_groups, b->n_groups);
	for (uint32_t i = 0; i < a->n_groups; i++)
		same_groups(&a->groups[i], &b->groups[i]);
	assert_memory_equal(a->flows, b->flows, a->n_flows * sizeof(*a->flows));
	for (uint32_t i = 0; i < a->n_ports; i++) {
		struct sim_counters x, y;

		sim_port_counters(a, i, &x);
		sim_port_counters(b, i, &y);
		assert_memory_equal(&x, &y, sizeof(x));
	}
	assert_memory_equal(a->ports, b->ports, a->n_ports * sizeof(*a->ports));
}

static inline void same_control(struct sim *a, struct sim *b, uint32_t n_flows)
{
	struct sim_control_counts x, y;

	sim_control_counts(a, &x);
	sim_control_counts(b, &y);
	assert_memory_equal(&x, &y, sizeof(x));
	for (uint32_t i = 0; i < n_flows; i++) {
		struct sim_flow_control f = { 0 }, g = { 0 };
		struct sim_admission c = { 0 }, d = { 0 };

		assert_int_equal(sim_flow_control(a, i, &f), sim_flow_control(b, i, &g));
		assert_memory_equal(&f, &g, sizeof(f));
		assert_int_equal(sim_admission(a, i, &c), sim_admission(b, i, &d));
		assert_memory_equal(&c, &d, sizeof(c));
	}
}

static inline void same_vls(struct sim *a, struct sim *b, uint32_t n_ports)
{
	for (uint32_t i = 0; i < n_ports; i++) {
		for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
			struct sim_vl_use x = { 0 }, y = { 0 };

			assert_int_equal(sim_vl_use(a, i, vl, 0.95, &x),
					 sim_vl_use(b, i, vl, 0.95, &y));
			assert_memory_equal(&x, &y, sizeof(x));
		}
	}
}

/* ---- what observers receive --------------------------------------------- */

struct told {
	uint64_t n, sum;
};

static inline void hear(struct told *t, hd_time at, uint32_t where, uint32_t flow,
			uint32_t sequence, unsigned what)
{
	uint64_t x =
		at ^ (uint64_t)where << 40 ^ (uint64_t)flow << 24 ^ sequence ^ (uint64_t)what << 60;

	t->n++;
	t->sum = (t->sum ^ x) * UINT64_C(0x100000001b3);
}

static inline void hear_delivered(void *context, hd_time now, uint32_t node,
				  const struct sim_packet *p)
{
	hear(context, now, node, p->flow, p->sequence, 1);
}

static inline void hear_ended(void *context, const struct sim_event_record *e,
			      const struct sim_packet *p)
{
	hear(context, e->time, e->where, p->flow, e->sequence, 2 + e->fate);
}

static inline void hear_granted(void *context, hd_time now, uint32_t port,
				const struct sim_packet *p)
{
	hear(context, now, port, p->flow, p->sequence, p->marked ? 14 : 15);
}

static inline void hear_updated(void *context, hd_time now, uint32_t port,
				const struct sim_update *u)
{
	hear(context, now, port, u->fctbs, u->fccl, 13);
}

static const struct sim_observer hearer = { .delivered = hear_delivered,
					    .ended = hear_ended,
					    .granted = hear_granted,
					    .updated = hear_updated };

#endif
