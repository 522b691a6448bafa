/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/bound.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define US 1e-6

/* 1x SDR: 250 bytes per microsecond. Ports: N1>S1 N2>S1 N3>S2 S1>S2 S2>N4. */
enum { N1_S1, N2_S1, N3_S2, S1_S2, S2_N4, N_PORTS };

static const uint32_t path1[] = { S1_S2, S2_N4 };
static const uint32_t path3[] = { S2_N4 };
static const uint32_t whole1[] = { N1_S1, S1_S2, S2_N4 };
static const uint32_t whole2[] = { N2_S1, S1_S2, S2_N4 };
static const uint32_t whole3[] = { N3_S2, S2_N4 };

static struct bound_port port(void)
{
	return (struct bound_port){
		.rate = 250 / US,
		.max_packet = 2048,
		.high_limit = HIGH_LIMIT_NONE,
	};
}

static struct bound_flow flow(double burst, double period_us, const uint32_t *path, uint32_t n)
{
	return (struct bound_flow){ .class = CLASS_DBTS,
				    .burst = burst,
				    .period = period_us * US,
				    .path = path,
				    .n_hops = n };
}

/* bound_delays, any refusal's text left in `refusal`. */
static char refusal[480];

static enum hd_status compute(enum bound_mode mode, const struct bound_port *ports,
			      uint32_t n_ports, const struct bound_flow *flows, uint32_t n_flows,
			      double *delay)
{
	struct bound_network network = { ports, n_ports, flows, n_flows, false };
	struct diag d = { .status = HD_OK };
	enum hd_status status = bound_delays(mode, &network, &d, delay);

	memcpy(refusal, d.message, sizeof(refusal));
	return status;
}

static void assert_us(double seconds, double expected)
{
	assert_true(fabs(seconds / US - expected) < 1e-3);
}

static void published_rule_gives_the_reference(void **state)
{
	(void)state;
	struct bound_port ports[N_PORTS];
	struct bound_flow flows[] = { flow(4096, 1000, path1, 2), flow(8192, 2000, path1, 2),
				      flow(2048, 500, path3, 1) };
	double delay[5];

	for (int i = 0; i < N_PORTS; i++)
		ports[i] = port();
	assert_int_equal(compute(BOUND_PUBLISHED, ports, N_PORTS, flows, 3, delay), HD_OK);
	assert_us(delay[0], 40.960);
	assert_us(delay[1], 49.152);
	assert_us(delay[2], 24.576);
	assert_us(delay[3], 32.768);
	assert_us(delay[4], 57.344);
	assert_int_equal(compute(BOUND_BUCKET, ports, N_PORTS, flows, 3, delay), HD_OK);
	assert_us(delay[0], 57.344);
	assert_us(delay[1], 67.415);
	assert_us(delay[3], 67.415);
	assert_us(delay[4], 67.415);
}

/* The same, with each host link limiting the packets that cross it. */
static void grouping_gives_the_reference(void **state)
{
	(void)state;
	struct bound_port ports[N_PORTS];
	struct bound_flow flows[] = { flow(4096, 1000, whole1, 3), flow(8192, 2000, whole2, 3),
				      flow(2048, 500, whole3, 2) };
	double delay[8];

	for (int i = 0; i < N_PORTS; i++)
		ports[i] = port();
	/* The reference counts switch ports only. */
	for (int i = 0; i < 3; i++)
		flows[i].n_paced = 1;
	assert_int_equal(compute(BOUND_GROUPED, ports, N_PORTS, flows, 3, delay), HD_OK);
	assert_us(delay[0], 0);
	assert_us(delay[1], 33.1774);
	assert_us(delay[2], 25.2882);
	assert_us(delay[4], 33.1774);
	assert_us(delay[5], 25.2882);
	assert_us(delay[7], 25.2882);
}

static void weighted_sharing_gives_the_reference(void **state)
{
	(void)state;
	struct bound_port p = port();
	const double rho = 12.3 / US;

	p.db_weight = 128;
	p.other_weight = 65;
	p.n_others = 2;
	p.min_fill = 1;
	struct bound_service s = bound_wrr_service(&p, 14336, rho);

	assert_true(fabs(s.rate * US - 118.3875) < 1e-3);
	assert_us(s.latency, 95.0442);
	assert_us(s.latency + 8192 / s.rate, 164.2406);
	p.db_weight = 200;
	p.other_weight = 51;
	s = bound_wrr_service(&p, 14336, rho);
	assert_true(fabs(s.rate * US - 150.9206) < 1e-3);
	assert_us(s.latency, 91.2747);
	assert_us(s.latency + 8192 / s.rate, 145.5549);
}

/* The same from the table itself, wherever the entries are. */
static void a_vls_turn_follows_from_its_entries(void **state)
{
	(void)state;
	const struct vlarb_entry once[] = { { 1, 128 }, { 2, 64 }, { 3, 1 } };
	/* 64 of others after each half: no packet waits for both. */
	const struct vlarb_entry spread[] = { { 1, 64 }, { 2, 64 }, { 1, 64 }, { 2, 64 } };
	const struct vlarb_entry together[] = { { 1, 64 }, { 1, 64 }, { 2, 64 }, { 2, 64 } };
	/* Blocks; packets of 1 to 32 of them; of 65 bytes, two blocks. */
	const struct bound_sizes block = { 64, 64 }, any = { 2048, 64 };
	const struct bound_sizes odd = { 65, 65 };
	const struct bound_sizes blocks[] = { block, block, block, block };
	struct bound_sizes mixed[] = { any, any, any, any, any };
	struct bound_turn t = bound_table_turn(once, 3, 1, mixed);

	/* Others: 64 * 63 + 2048 and 2048; the own packets fill 65 of 128 bytes. */
	double own = 64 * 128 * 65 / 128.0;

	assert_true(fabs(t.lead - (64 * 63 + 2 * 2048)) < 1e-9);
	assert_true(fabs(t.share - own / (own + t.lead)) < 1e-12);
	t = bound_table_turn(spread, 4, 1, blocks);
	assert_true(fabs(t.share - 0.5) < 1e-12);
	assert_true(fabs(t.lead - 64 * 64) < 1e-9);
	t = bound_table_turn(together, 4, 1, blocks);
	assert_true(fabs(t.share - 0.5) < 1e-12);
	assert_true(fabs(t.lead - 2 * 64 * 64) < 1e-9);
	/* A small entry before a large gap: what it sends counts little. */
	const struct vlarb_entry uneven[] = { { 2, 10 }, { 1, 1 }, { 2, 100 }, { 1, 109 } };

	t = bound_table_turn(uneven, 4, 1, blocks);
	assert_true(fabs(t.lead - 64 * (10 - 1 + 100)) < 1e-9);
	assert_true(bound_table_turn(once, 3, 4, mixed).share <= 0);
	/* Packets of two blocks are whole in every entry: 64, 32 and 1. */
	for (unsigned vl = 0; vl < 5; vl++)
		mixed[vl] = odd;
	t = bound_table_turn(once, 3, 1, mixed);
	assert_true(fabs(t.lead - (32 + 1) * 65) < 1e-9);
	assert_true(fabs(t.share - 64.0 / (64 + 33)) < 1e-12);
}

/*
 * Unit packets on unit links. g1 and g2 come to the last port over links on
 * which each can be delayed by 2 (a low packet and a cross packet), so two
 * packets of each can be back to back, and f waits 4.0 there: more than the
 * 3.0 that the published rule promises; the sound rules allow for it.
 */
static void the_published_rule_is_no_bound(void **state)
{
	(void)state;
	struct bound_port ports[3];
	static const uint32_t via1[] = { 0, 2 }, via2[] = { 1, 2 }, only1[] = { 0 },
			      only2[] = { 1 }, last[] = { 2 };
	struct bound_flow flows[] = {
		{ .class = CLASS_DBTS, .burst = 1, .period = 2.5, .path = via1, .n_hops = 2 },
		{ .class = CLASS_DBTS, .burst = 1, .period = 2.5, .path = via2, .n_hops = 2 },
		{ .class = CLASS_DBTS, .burst = 1, .period = 1000, .path = only1, .n_hops = 1 },
		{ .class = CLASS_DBTS, .burst = 1, .period = 1000, .path = only2, .n_hops = 1 },
		{ .class = CLASS_DBTS, .burst = 1, .period = 1000, .path = last, .n_hops = 1 },
	};
	double delay[7];
	const double simulated_wait = 4.0;

	for (int i = 0; i < 3; i++)
		ports[i] = (struct bound_port){ .rate = 1,
						.max_packet = 1,
						.high_limit = HIGH_LIMIT_NONE };
	assert_int_equal(compute(BOUND_PUBLISHED, ports, 3, flows, 5, delay), HD_OK);
	assert_true(fabs(delay[6] - 3.0) < 1e-9);
	assert_true(simulated_wait > delay[6]);
	for (enum bound_mode mode = BOUND_BUCKET; mode < BOUND_MODES; mode++) {
		assert_int_equal(compute(mode, ports, 3, flows, 5, delay), HD_OK);
		/* These include the own transmission of 1. */
		assert_true(delay[6] >= simulated_wait + 1 - 1e-9);
	}
}

static void a_low_limit_lets_more_low_packets_pass(void **state)
{
	(void)state;
	static const uint32_t path[] = { 0 };
	struct bound_flow flows[] = {
		{ .class = CLASS_DBTS, .burst = 16384, .period = 1e-3, .path = path, .n_hops = 1 }
	};
	struct bound_port p = port();
	double free_of_limit, limited;

	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 1, &free_of_limit), HD_OK);
	/* One low packet per 4096 bytes before the last packet, a block. */
	p.high_limit = 1;
	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 1, &limited), HD_OK);
	assert_us(limited - free_of_limit, (16384 - 64) / 4096.0 * 2048 / 250.0);
}

static void too_much_is_refused_with_the_port(void **state)
{
	(void)state;
	static const uint32_t path[] = { 0 };
	struct bound_flow flows[] = {
		{ .class = CLASS_DB, .burst = 250, .period = 1 * US, .path = path, .n_hops = 1 }
	};
	struct bound_port p = port();
	double delay = -1;

	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 1, &delay), HD_ERR_UNFIT);
	assert_non_null(strstr(refusal, "port 0"));
	assert_true(delay == -1);
}

/* Two flows chase each other around a ring: settles at low load only. */
static void cycles_settle_or_are_refused(void **state)
{
	(void)state;
	static const uint32_t one[] = { 0, 1 }, other[] = { 1, 0 };
	struct bound_port ports[2] = { port(), port() };
	struct bound_flow flows[] = {
		{ .class = CLASS_DBTS, .burst = 1000, .period = 0, .path = one, .n_hops = 2 },
		{ .class = CLASS_DBTS, .burst = 1000, .period = 0, .path = other, .n_hops = 2 }
	};
	double delay[4];

	for (int i = 0; i < 2; i++)
		flows[i].period = 1000 / (50 / US);
	assert_int_equal(compute(BOUND_BUCKET, ports, 2, flows, 2, delay), HD_OK);
	/* Symmetric: D = (L + 2b + r D)/C, so D = (L + 2b)/(C - r). */
	assert_us(delay[0], (2048 + 2000) / 200.0);
	assert_us(delay[1], (2048 + 2000) / 200.0);
}

/*
 * Two flows over links of their own, which delay them by (2048 + burst) / 250,
 * to one port: the other's rate comes off the link's, or their inputs take
 * turns, whichever is less. Bursts of one packet: one of each before its end.
 */
static void any_order_costs_the_others_rate(void **state)
{
	(void)state;
	static const uint32_t paths[2][2] = { { 0, 2 }, { 1, 2 } };
	struct bound_port ports[] = { port(), port(), port() };
	struct bound_flow flows[] = { flow(4096, 100, paths[0], 2), flow(2048, 100, paths[1], 2) };
	struct bound_network network = { ports, 3, flows, 2, true };
	struct diag d = { .status = HD_OK };
	double delay[4];

	assert_int_equal(bound_delays(BOUND_BUCKET, &network, &d, delay), HD_OK);
	double first[] = { (2048 + 4096) / 250.0, (2048 + 2048) / 250.0 };
	double both = 4096 + 40.96 * first[0] + 2048 + 20.48 * first[1];

	assert_us(delay[0], first[0]);
	assert_us(delay[1], (2048 + both) / (250 - 20.48));
	assert_us(delay[3], (2048 + both) / (250 - 40.96));
	/* Packets of 1024: the second flow's two wait for two of the first. */
	struct bound_flow small[] = { flow(409600, 10000, paths[0], 2), flows[1] };

	for (int i = 0; i < 2; i++)
		small[i].largest = small[i].smallest = 1024;
	network.flows = small;
	assert_int_equal(bound_delays(BOUND_BUCKET, &network, &d, delay), HD_OK);
	/* The burst added by the delay arrives at the link's rate, and is served at half of it. */
	double added = 20.48 * delay[2] * 1e6;

	assert_us(delay[3], 2 * 2048 / 250.0 + 2048 / 125.0 + added / (250 - 20.48));
}

/* On a port with one VL for both, DB counts against DBTS. */
static void merged_vls_make_one_class(void **state)
{
	(void)state;
	static const uint32_t path[] = { 0 };
	struct bound_port p = port();
	struct bound_flow flows[] = { flow(4096, 100, path, 1), flow(2048, 100, path, 1) };
	double apart[2], merged[2];

	flows[1].class = CLASS_DB;
	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 2, apart), HD_OK);
	p.merged = true;
	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 2, merged), HD_OK);
	assert_us(apart[0], (2048 + 4096) / 250.0);
	assert_us(merged[0], (2048 + 4096 + 2048) / 250.0);
	assert_us(merged[1], (2048 + 4096 + 2048) / 250.0);
}

/*
 * Four VLs in turn, all packets of 2048 bytes and 250 B/us in and out: a VL
 * is sure of 62.5 B/us of the crossbar, after a packet that crosses (8.192)
 * and, since two servers of packets stand in a row, 2048 / 62.5. Then the link:
 * a low packet (8.192) and the burst, at the lesser rate. For DB the burst of
 * DBTS has grown by what it can have waited for the crossbar, 73.728 us.
 */
static void a_crossbar_is_a_server_before_the_link(void **state)
{
	(void)state;
	static const uint32_t path[] = { 0 };
	struct bound_port p = port();
	struct bound_flow flows[] = { flow(2048, 1000, path, 1), flow(2048, 1000, path, 1) };
	const double cross = 8.192 + 32.768, rate = 2.048;
	double delay[2];

	flows[1].class = CLASS_DB;
	p.min_packet = 2048;
	p.crossbar_rate = 250 / US;
	p.crossbar_vls = 4;
	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 2, delay), HD_OK);
	/* The sum includes the grown burst of the flow itself. */
	assert_us(delay[0], cross + (2048 + rate * 73.728) / 250 + 32.768);
	assert_us(delay[1], cross + (2048 + 2048 + rate * 73.728) / (250 - rate) + 32.768);
	/* A quarter of the link is all that a VL can be promised. */
	flows[0].period = 2048 / 62.4 * US;
	flows[1].period = 1;
	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 2, delay), HD_OK);
	flows[0].period = 2048 / 62.6 * US;
	assert_int_equal(compute(BOUND_BUCKET, &p, 1, flows, 2, delay), HD_ERR_UNFIT);
	assert_non_null(strstr(refusal, "of the crossbar"));
}

/*
 * A burst of VL15 precedes every class, at the link and at a crossbar: a bound without it would not
 * hold.
 */
static void management_goes_before_every_class(void **state)
{
	const double burst = 512;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		enum bound_mode mode = (enum bound_mode)(BOUND_BUCKET + (int)(i / 4));
		struct bound_flow f = flow(4096, 1000, path3, 1);
		struct bound_port ports[N_PORTS];
		double plain, managed;
		bool crossbar = i & 2;

		f.class = i & 1 ? CLASS_DB : CLASS_DBTS;
		for (int p = 0; p < N_PORTS; p++) {
			ports[p] = port();
			ports[p].crossbar_rate = crossbar ? 500 / US : 0;
			ports[p].crossbar_vls = crossbar;
		}
		assert_int_equal(compute(mode, ports, N_PORTS, &f, 1, &plain), HD_OK);
		for (int p = 0; p < N_PORTS; p++)
			ports[p].management_burst = burst;
		assert_int_equal(compute(mode, ports, N_PORTS, &f, 1, &managed), HD_OK);
		if (crossbar)
			assert_true(managed - plain >= (burst / 250 + burst / 500 - 1e-9) * US);
		else
			assert_us(managed - plain, burst / 250);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_rule_gives_the_reference),
		cmocka_unit_test(grouping_gives_the_reference),
		cmocka_unit_test(weighted_sharing_gives_the_reference),
		cmocka_unit_test(a_vls_turn_follows_from_its_entries),
		cmocka_unit_test(the_published_rule_is_no_bound),
		cmocka_unit_test(a_low_limit_lets_more_low_packets_pass),
		cmocka_unit_test(too_much_is_refused_with_the_port),
		cmocka_unit_test(cycles_settle_or_are_refused),
		cmocka_unit_test(any_order_costs_the_others_rate),
		cmocka_unit_test(merged_vls_make_one_class),
		cmocka_unit_test(a_crossbar_is_a_server_before_the_link),
		cmocka_unit_test(management_goes_before_every_class),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
