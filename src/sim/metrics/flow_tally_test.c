/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "sim/metrics/flow_tally.h"

#define FLOWS  5
#define GROUPS 2 /* flows 0, 2, 4 and flows 1, 3 */
#define MOST   4000

/* All deliveries, to be counted again in a simple way. */
struct log {
	uint32_t flow[MOST];
	hd_time latency[MOST];
	unsigned n;
};

struct bed {
	struct sim_address to[2];
	struct sim_flow flows[FLOWS];
	struct sim_flow_counts counts[FLOWS];
	struct sim_group groups[GROUPS];
	struct sim_metrics m;
	struct flow_tallies t;
};

static void bed_init(struct bed *b)
{
	*b = (struct bed){ 0 };
	for (uint32_t i = 0; i < FLOWS; i++) {
		/* Flow 4 has no deadline. */
		b->flows[i].period = i < 4 ? 800 * (i + 1) : 0;
		/* Flow 3 sends here and there. */
		b->flows[i].to = (struct sim_destinations){
			.choice = i == 3 ? SIM_TO_UNIFORM : SIM_TO_FIXED,
			.list = b->to,
			.n = i == 3 ? 2 : 1,
		};
		b->counts[i].group = i % 2;
	}
	for (uint32_t i = 0; i < GROUPS; i++)
		histogram_init(&b->groups[i].latency);
	b->m.flows = b->counts;
	b->m.n_flows = FLOWS;
	b->m.groups = b->groups;
	b->m.n_groups = GROUPS;
	flow_tallies_init(&b->t, b->flows, &b->m, true);
}

static void bed_fini(struct bed *b)
{
	for (uint32_t i = 0; i < GROUPS; i++)
		histogram_fini(&b->groups[i].latency);
	flow_tallies_fini(&b->t);
}

static void draw(struct log *log, const struct bed *b)
{
	struct rng r;

	rng_init(&r, 8, 0);
	for (log->n = 0; log->n < MOST; log->n++) {
		uint32_t flow = (uint32_t)rng_below(&r, FLOWS);
		hd_time period = b->flows[flow].period;

		log->flow[log->n] = flow;
		/* Often exactly on a border of deadlines and of bins. */
		log->latency[log->n] = rng_below(&r, 2)
					       ? rng_below(&r, 80) * (period ? period / 32 : 9)
					       : rng_below(&r, 5000);
	}
}

static void feed(struct bed *b, const struct log *log, bool at_once)
{
	for (unsigned i = 0; i < log->n; i++) {
		const struct late l = {
			.at = i,
			.latency = log->latency[i],
			.flow = log->flow[i],
			.bytes = 100 + log->flow[i],
		};

		flow_tallies_add(&b->t, &l);
		if (at_once)
			flow_tallies_flush(&b->t);
	}
	flow_tallies_report(&b->t, &b->m);
}

/* [-P - 1/8 P .. , P]: 18 bins; a difference belongs to one by its borders. */
static unsigned bin_of(int64_t d, int64_t period)
{
	if (d > period)
		return 17;
	if (d == period)
		return 16;
	if (d < -period)
		return 0;
	if (d == -period)
		return 1;
	for (int64_t step = 0; step < 8; step++) {
		if (d >= 0 && 8 * d >= step * period && 8 * d < (step + 1) * period)
			return (unsigned)(9 + step);
		if (d < 0 && -8 * d >= step * period && -8 * d < (step + 1) * period)
			return (unsigned)(8 - step);
	}
	fail();
	return 0;
}

static void deadlines_are_counted_as_the_header_says(void **state)
{
	static const unsigned in_32nds[SIM_DEADLINES] = { 1, 2, 4, 8, 16, 24, 32 };
	struct log *log = hd_alloc(1, sizeof(*log));
	struct bed b;

	(void)state;
	bed_init(&b);
	draw(log, &b);
	feed(&b, log, false);
	for (unsigned d = 0; d < SIM_DEADLINES; d++) {
		uint64_t met[FLOWS] = { 0 }, sent[FLOWS] = { 0 };

		for (unsigned i = 0; i < log->n; i++) {
			hd_time period = b.flows[log->flow[i]].period;

			sent[log->flow[i]]++;
			met[log->flow[i]] += period && 32 * log->latency[i] <= period * in_32nds[d];
		}
		for (unsigned f = 0; f < FLOWS; f++) {
			assert_int_equal(b.counts[f].delivered, sent[f]);
			assert_int_equal(b.counts[f].delivered_bytes, sent[f] * (100 + f));
			assert_int_equal(b.counts[f].within[d], met[f]);
		}
		assert_int_equal(b.groups[0].within[d], met[0] + met[2] + met[4]);
		assert_int_equal(b.groups[1].within[d], met[1] + met[3]);
		assert_int_equal(b.groups[0].timed, sent[0] + sent[2]);
		assert_int_equal(b.groups[1].timed, sent[1] + sent[3]);
	}
	bed_fini(&b);
	free(log);
}

static void jitter_is_the_difference_to_the_packet_before(void **state)
{
	struct log *log = hd_alloc(1, sizeof(*log));
	uint64_t bins[GROUPS][SIM_JITTER_BINS] = { { 0 } }, n[GROUPS] = { 0 };
	uint64_t sum[GROUPS] = { 0 };
	int64_t before[FLOWS] = { -1, -1, -1, -1, -1 };
	struct bed b;

	(void)state;
	bed_init(&b);
	draw(log, &b);
	feed(&b, log, false);
	for (unsigned i = 0; i < log->n; i++) {
		uint32_t f = log->flow[i], g = f % 2;
		int64_t now = (int64_t)log->latency[i];
		int64_t period = (int64_t)b.flows[f].period;

		/* Packets to several ports have no predecessor. */
		if (before[f] >= 0 && period && f != 3) {
			bins[g][bin_of(now - before[f], period)]++;
			sum[g] += (uint64_t)llabs(now - before[f]);
			n[g]++;
		}
		before[f] = now;
	}
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned i = 0; i < SIM_JITTER_BINS; i++) {
			assert_true(bins[g][i] > 0);
			assert_int_equal(b.groups[g].jitter[i], bins[g][i]);
		}
		assert_int_equal(b.groups[g].jitter_n, n[g]);
		assert_int_equal(b.groups[g].jitter_abs_low, sum[g]);
		assert_int_equal(b.groups[g].jitter_abs_high, 0);
	}
	bed_fini(&b);
	free(log);
}

static void keeping_deliveries_back_changes_nothing(void **state)
{
	struct log *log = hd_alloc(1, sizeof(*log));
	struct bed late, soon;

	(void)state;
	bed_init(&late);
	bed_init(&soon);
	draw(log, &late);
	feed(&late, log, false);
	feed(&soon, log, true);
	assert_memory_equal(late.counts, soon.counts, sizeof(late.counts));
	for (unsigned g = 0; g < GROUPS; g++) {
		struct histogram *a = &late.groups[g].latency;
		struct histogram *c = &soon.groups[g].latency;

		assert_int_equal(a->n, c->n);
		assert_memory_equal(a->squares, c->squares, sizeof(a->squares));
		assert_memory_equal(late.groups[g].jitter, soon.groups[g].jitter,
				    sizeof(late.groups[g].jitter));
	}
	/* A second report has the same numbers. */
	flow_tallies_report(&late.t, &late.m);
	assert_memory_equal(late.counts, soon.counts, sizeof(late.counts));
	assert_memory_equal(late.groups[0].within, soon.groups[0].within,
			    sizeof(late.groups[0].within));
	bed_fini(&late);
	bed_fini(&soon);
	free(log);
}

/* Takes an instant's deliveries in one order or its reverse. */
static void feed_instants(struct bed *b, const struct log *log, bool backwards)
{
	for (unsigned i = 0, n; i < log->n; i += n) {
		n = 1 + i % 40;
		n = n < log->n - i ? n : log->n - i;
		for (unsigned k = 0; k < n; k++) {
			unsigned j = i + (backwards ? n - 1 - k : k);
			const struct late l = {
				.at = i,
				.latency = log->latency[j],
				.flow = log->flow[j],
				.where = j / 3,
				.turn = j % 3,
			};

			flow_tallies_add(&b->t, &l);
		}
	}
	flow_tallies_report(&b->t, &b->m);
}

static void an_instants_order_is_that_of_ports_and_turns(void **state)
{
	struct log *log = hd_alloc(1, sizeof(*log));
	struct bed one, other;

	(void)state;
	bed_init(&one);
	bed_init(&other);
	draw(log, &one);
	feed_instants(&one, log, false);
	feed_instants(&other, log, true);
	for (unsigned g = 0; g < GROUPS; g++)
		assert_memory_equal(one.groups[g].jitter, other.groups[g].jitter,
				    sizeof(one.groups[g].jitter));
	assert_memory_equal(&one.t.mean, &other.t.mean, sizeof(one.t.mean));
	assert_memory_equal(one.counts, other.counts, sizeof(one.counts));
	bed_fini(&one);
	bed_fini(&other);
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instants_order_is_that_of_ports_and_turns),
		cmocka_unit_test(deadlines_are_counted_as_the_header_says),
		cmocka_unit_test(jitter_is_the_difference_to_the_packet_before),
		cmocka_unit_test(keeping_deliveries_back_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
