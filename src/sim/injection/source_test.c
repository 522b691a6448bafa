/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creation times of flows, their counters, and the end of a run, calculated by hand: two hosts
 * behind one switch each, a byte takes a picosecond, no other traffic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "fabric/setup_for_tests.h"
#include "sim/sim.h"

#define BYTES   640
/* Zero load: three links of 10 ps, two switches of 7 + 3 ps, the packet. */
#define LATENCY (3 * 10 + 2 * (7 + 3) + BYTES)
#define MOST    4096

struct seen {
	hd_time time[MOST];
	unsigned n;
};

static void see(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct seen *seen = context;

	(void)p;
	assert_int_equal(e->fate, SIM_DELIVERED);
	if (seen->n < MOST)
		seen->time[seen->n++] = e->time;
}

struct bed {
	struct test_fabric f;
	struct sim_flow flow;
	struct sim_rules rules;
	struct sim *sim;
	struct seen seen;
};

static void bed_init(struct bed *b, enum sim_flow_kind kind)
{
	const char *const words[] = { "mesh", "--columns=2", "--rows=1", "--hosts=1", NULL };
	const struct test_links links = {
		.rate = { UINT64_C(8000000000000), 1 },
		.propagation = 10,
		.in_blocks = 2048,
		.vls = 1,
	};

	test_fabric_init(&b->f, words, "minhop", &links);
	b->f.setup.sw.routing = 7;
	b->f.setup.sw.arbitration = 3;
	b->flow = (struct sim_flow){
		.kind = kind,
		.source = b->f.end_nodes[0],
		.to = { .choice = SIM_TO_FIXED, .list = &b->f.ends[1], .n = 1, .self = SIM_NONE },
		.pkey = 0xffff,
		.bytes = BYTES,
		.packets = 1,
	};
	sim_rules_init(&b->rules);
	b->sim = NULL;
	b->seen.n = 0;
}

static const struct sim_metrics *bed_run(struct bed *b, enum sim_state ends)
{
	struct sim_observer observer = { .context = &b->seen, .ended = see };

	sim_free(b->sim);
	b->seen.n = 0;
	b->sim = sim_new(&b->f.setup, &b->flow, 1, &b->rules);
	sim_observe(b->sim, &observer);
	assert_int_equal(sim_run(b->sim, HD_TIME_NEVER, NULL, NULL), ends);
	return sim_metrics(b->sim);
}

static void bed_fini(struct bed *b)
{
	sim_free(b->sim);
	test_fabric_fini(&b->f);
}

/* ---- when ---------------------------------------------------------------- */

static void constant_rate_keeps_its_instants_without_drift(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_CBR);
	b.flow.start = 12345;
	b.flow.interval = (struct sim_interval){ 5000003, 7 };
	b.rules.stop = 1000 * HD_US;
	for (int counted = 0; counted < 2; counted++) {
		/* A count sends it the general way, with the same result. */
		b.flow.count = counted ? 100000 : 0;
		bed_run(&b, SIM_ENDED);
		assert_true(b.seen.n > 1000);
		for (unsigned k = 0; k < b.seen.n; k++)
			assert_int_equal(b.seen.time[k],
					 12345 + k * UINT64_C(5000003) / 7 + LATENCY);
	}
	bed_fini(&b);
}

/* The variance of a mean of n exponential gaps is its square over n. */
static void poisson_gaps_have_the_mean_and_are_memoryless(void **state)
{
	const double mean = 1e6, n = MOST;
	unsigned long_ones = 0;
	struct bed b;

	(void)state;
	bed_init(&b, SIM_POISSON);
	b.flow.interval = (struct sim_interval){ 1000000, 1 };
	b.rules.packets = MOST;
	bed_run(&b, SIM_ENDED);
	assert_int_equal(b.seen.n, MOST);
	double last = (double)b.seen.time[MOST - 1] - LATENCY;

	assert_true(fabs(last / n - mean) < 4 * mean / sqrt(n));
	for (unsigned k = 1; k < MOST; k++)
		long_ones += b.seen.time[k] - b.seen.time[k - 1] > 2000000;
	/* A share exp(-2) of the gaps, within four standard deviations. */
	double p = exp(-2);

	assert_true(fabs(long_ones / n - p) < 4 * sqrt(p * (1 - p) / n));
	bed_fini(&b);
}

/* One random stream, however packets are created. */
static void a_flow_with_a_count_sends_what_one_without_sends(void **state)
{
	struct seen *plain = malloc(sizeof(*plain));
	struct bed b;

	(void)state;
	assert_non_null(plain);
	bed_init(&b, SIM_POISSON);
	b.flow.interval = (struct sim_interval){ 3000001, 3 };
	b.rules.stop = 2000 * HD_US;
	uint64_t checksum = bed_run(&b, SIM_ENDED)->checksum;
	*plain = b.seen;
	b.flow.count = UINT64_MAX;
	const struct sim_metrics *m = bed_run(&b, SIM_ENDED);

	assert_int_equal(m->checksum, checksum);
	assert_int_equal(plain->n, b.seen.n);
	for (unsigned k = 0; k < b.seen.n; k++)
		assert_int_equal(plain->time[k], b.seen.time[k]);
	free(plain);
	bed_fini(&b);
}

static void a_burst_leaves_at_once_and_packet_by_packet(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_BURST);
	b.flow.start = 500;
	b.flow.count = 20;
	b.flow.packets = 3;
	b.flow.last_bytes = 64;
	bed_run(&b, SIM_IDLE);
	assert_int_equal(b.seen.n, 60);
	/* A message of 640 + 640 + 64 bytes after the other. */
	for (unsigned k = 0; k < 60; k++) {
		hd_time tail = 500 + k / 3 * (2 * BYTES + 64) +
			       (k % 3 < 2 ? (k % 3 + 1) * BYTES : 2 * BYTES + 64);

		assert_int_equal(b.seen.time[k], tail + LATENCY - BYTES);
	}
	bed_fini(&b);
}

static void a_saturating_flow_fills_its_link(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_SATURATING);
	b.rules.stop = 1000 * BYTES + LATENCY;
	const struct sim_metrics *m = bed_run(&b, SIM_ENDED);

	assert_int_equal(b.seen.n, 1001);
	for (unsigned k = 0; k < b.seen.n; k++)
		assert_int_equal(b.seen.time[k], k * BYTES + LATENCY);
	assert_int_equal(m->delivered, 1001);
	bed_fini(&b);
}

/* On for a share of the time, CBR while on: the mean rate is the product. */
static void bursts_have_the_mean_rate_that_on_and_off_times_give(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_ON_OFF);
	b.flow.interval = (struct sim_interval){ 1000, 1 };
	b.flow.mean_on = 20000;
	b.flow.mean_off = 60000;
	b.rules.stop = 2000 * HD_US;
	const struct sim_metrics *m = bed_run(&b, SIM_ENDED);
	double cycles = 2e9 / 80000, expected = 2e9 / 1000 / 4;

	/* The standard deviation per cycle is below 20 * 2 packets. */
	assert_true(fabs((double)m->delivered - expected) < 4 * 40 * sqrt(cycles));
	bed_fini(&b);
}

/* A flow that starts later sends the same, later. */
static void a_start_moves_everything_a_flow_sends(void **state)
{
	static const enum sim_flow_kind kinds[] = { SIM_POISSON, SIM_GE, SIM_ON_OFF, SIM_PARETO };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		static struct seen at_once; /* too large for the stack */
		const hd_time later = 123456789;
		struct bed b;

		bed_init(&b, kinds[i]);
		b.flow.interval = (struct sim_interval){ 1000, 1 };
		b.flow.scv = 3;
		b.flow.mean_on = 20000;
		b.flow.mean_off = 60000;
		b.flow.shape = 1.5;
		b.rules.stop = 10 * HD_US;
		bed_run(&b, SIM_ENDED);
		at_once = b.seen;
		assert_true(at_once.n > 100);
		b.flow.start = later;
		b.rules.stop += later;
		bed_run(&b, SIM_ENDED);
		assert_int_equal(b.seen.n, at_once.n);
		for (unsigned k = 0; k < b.seen.n; k++)
			assert_int_equal(b.seen.time[k], at_once.time[k] + later);
		bed_fini(&b);
	}
}

/* Made at start + k * 1000 as long as that is before the stop. */
static void a_flow_stops_before_the_instant_of_its_stop(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_CBR);
	b.flow.interval = (struct sim_interval){ 1000, 1 };
	b.flow.start = 500;
	for (hd_time stop = 9499; stop <= 11501; stop += 1) {
		b.flow.stop = stop;
		const struct sim_metrics *m = bed_run(&b, SIM_IDLE);

		assert_int_equal(m->made, (stop - 500 + 999) / 1000);
		assert_int_equal(m->delivered, m->made);
	}
	bed_fini(&b);
}

/* ---- flow control ------------------------------------------------------ */

struct updates {
	struct update_seen {
		hd_time time;
		uint32_t port;
		bool lost;
	} at[MOST];
	unsigned n;
};

static void note_update(void *context, hd_time now, uint32_t port, const struct sim_update *u)
{
	struct updates *seen = context;

	assert_true(seen->n < MOST);
	seen->at[seen->n++] = (struct update_seen){ .time = now, .port = port, .lost = u->lost };
}

/*
 * Updates for `port` that have arrived, all of their 6 bytes, by `stop`; those
 * that have not are added to *late.
 */
static uint64_t updates_arrived(const struct updates *seen, uint32_t peer, hd_time stop,
				unsigned *late)
{
	uint64_t arrived = 0;

	for (unsigned i = 0; i < seen->n; i++) {
		const struct update_seen *u = &seen->at[i];

		if (u->port != peer || u->lost)
			continue;
		if (u->time + 6 + 10 > stop)
			++*late;
		else
			arrived++;
	}
	return arrived;
}

static void updates_count_as_received_when_they_arrive_in_time(void **state)
{
	static struct updates seen;
	struct sim_observer observer = { .context = &seen, .updated = note_update };
	unsigned late = 0;
	struct bed b;

	(void)state;
	bed_init(&b, SIM_CBR);
	b.flow.interval = (struct sim_interval){ 1000, 1 };
	b.f.setup.credits = SIM_CREDITS_EXACT;
	for (b.rules.stop = 20000; b.rules.stop < 21000; b.rules.stop++) {
		seen.n = 0;
		struct sim *s = sim_new(&b.f.setup, &b.flow, 1, &b.rules);

		sim_observe(s, &observer);
		sim_run(s, HD_TIME_NEVER, NULL, NULL);
		const struct sim_metrics *m = sim_metrics(s);

		for (uint32_t port = 0; port < m->n_ports; port++) {
			uint32_t peer = b.f.setup.ports[port].peer;
			struct sim_counters c;

			sim_port_counters(m, port, &c);
			if (peer != SIM_NONE)
				assert_int_equal(c.updates_received,
						 updates_arrived(&seen, peer, b.rules.stop, &late));
		}
		sim_free(s);
	}
	assert_true(late > 10);
	bed_fini(&b);
}

/* ---- how it is counted --------------------------------------------------- */

/* Made at k * 1000 while measuring: from <= k * 1000 <= stop. */
static void what_is_made_in_the_warm_up_is_not_counted(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_CBR);
	b.flow.interval = (struct sim_interval){ 1000, 1 };
	b.rules.stop = 500500;
	for (int counted = 0; counted < 2; counted++) {
		b.flow.count = counted ? 100000 : 0;
		for (hd_time warmup = 99000; warmup <= 101000; warmup += 500) {
			b.rules.warmup = warmup;
			const struct sim_metrics *m = bed_run(&b, SIM_ENDED);
			uint64_t made = 500 - (warmup + 999) / 1000 + 1;

			assert_int_equal(m->made, made);
			assert_int_equal(m->flows[0].made, made);
			assert_int_equal(m->flows[0].made_bytes, made * BYTES);
			assert_int_equal(m->made_bytes, made * BYTES);
		}
	}
	bed_fini(&b);
}

/* ---- when it ends -------------------------------------------------------- */

/* A grant determines its delivery at most a packet time and a propagation delay in advance (M2). */
#define MARGIN (BYTES + 10 + 1)

/* The k-th packet is delivered at k * 1000 + LATENCY, k from 0. */
static void a_run_ends_with_the_packets_that_were_asked_for(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_CBR);
	b.flow.interval = (struct sim_interval){ 1000, 1 };
	for (unsigned rule = 0; rule < 3; rule++) {
		b.rules.packets = rule == 0 ? 50 : 0;
		b.rules.packets_per_flow = rule == 1 ? 50 : 0;
		b.rules.packets_per_sl = rule == 2 ? 50 : 0;
		const struct sim_metrics *m = bed_run(&b, SIM_ENDED);

		assert_in_range(m->delivered, 50, 51 + 5 * MARGIN / 1000);
		assert_in_range(m->to, 49 * 1000 + LATENCY, 49 * 1000 + LATENCY + 5 * MARGIN);
		/* M2: a margin after a look. */
		assert_int_equal((m->to - MARGIN) % (4 * MARGIN), 0);
	}
	bed_fini(&b);
}

static void a_warm_up_may_be_counted_in_packets(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, SIM_CBR);
	b.flow.interval = (struct sim_interval){ 1000, 1 };
	b.rules.warmup_packets = 30;
	b.rules.packets = 10;
	const struct sim_metrics *m = bed_run(&b, SIM_ENDED);

	assert_in_range(m->from, 29 * 1000 + LATENCY, 29 * 1000 + LATENCY + 5 * MARGIN);
	assert_int_equal((m->from - MARGIN) % (4 * MARGIN), 0);
	assert_in_range(m->delivered, 10, 11 + 5 * MARGIN / 1000);
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_rate_keeps_its_instants_without_drift),
		cmocka_unit_test(poisson_gaps_have_the_mean_and_are_memoryless),
		cmocka_unit_test(a_flow_with_a_count_sends_what_one_without_sends),
		cmocka_unit_test(a_burst_leaves_at_once_and_packet_by_packet),
		cmocka_unit_test(a_saturating_flow_fills_its_link),
		cmocka_unit_test(bursts_have_the_mean_rate_that_on_and_off_times_give),
		cmocka_unit_test(a_start_moves_everything_a_flow_sends),
		cmocka_unit_test(a_flow_stops_before_the_instant_of_its_stop),
		cmocka_unit_test(updates_count_as_received_when_they_arrive_in_time),
		cmocka_unit_test(what_is_made_in_the_warm_up_is_not_counted),
		cmocka_unit_test(a_run_ends_with_the_packets_that_were_asked_for),
		cmocka_unit_test(a_warm_up_may_be_counted_in_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
