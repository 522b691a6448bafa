/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/run_for_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/setup_for_tests.h"

/*
 * Whole fabrics with known behaviour: counts of what an arbitration table admits, closed forms of
 * docs/timing-rules.md, shares under congestion. 8 Gb/s: a byte takes 1 ns.
 */

#define TEXT 1600

/* ---- arbitration -------------------------------------------------------- */

/* Three VLs that never run dry: hosts 0..2 to host 3, or one host. */
static void run_vls(struct test_run *r, const char *tables, unsigned payload, bool one_host)
{
	char text[TEXT];

	snprintf(
		text, sizeof(text),
		"fabric:\n  topology: {kind: star, hosts: 4}\n"
		"  link: {rate: 8Gb/s, propagation: 5ns}\n"
		"  switch: {input_buffer: 64KiB}\n"
		"  host: {input_buffer: 64KiB}\n"
		"qos:\n  vls: 4\n%straffic:\n"
		"- {name: a, kind: saturating, sl: 0, payload: %u, pattern: pairs, source: 0, destination: 3}\n"
		"- {name: b, kind: saturating, sl: 1, payload: %u, pattern: pairs, source: %u, destination: 3}\n"
		"- {name: c, kind: saturating, sl: 2, payload: %u, pattern: pairs, source: %u, destination: 3}\n"
		"run: {warmup: 1ms, measure: 10ms}\n",
		tables, payload, payload, one_host ? 0u : 1u, payload, one_host ? 0u : 2u);
	test_run_init(r, text);
}

/* Checks the shares of rows a, b, c in the delivered bytes, and that the link is never idle. */
static void check_shares(const char *tables, unsigned payload, bool one_host,
			 const double wanted[3])
{
	struct test_run r;
	double total = 0, sum = wanted[0] + wanted[1] + wanted[2];

	run_vls(&r, tables, payload, one_host);
	for (unsigned i = 0; i < 3; i++)
		total += (double)r.rows[i].delivered;
	for (unsigned i = 0; i < 3; i++) {
		double share = (double)r.rows[i].delivered / total;

		if (fabs(share - wanted[i] / sum) >= 0.005)
			fail_msg("%s%u B: VL %u has %.4f, not %.4f", tables, payload, i, share,
				 wanted[i] / sum);
	}
	/* The link works all the time: to within one packet. */
	double busy = total * (payload + 26) * HD_NS;

	assert_true(fabs(busy - 10.0 * HD_MS) <= (payload + 26) * HD_NS);
	test_run_fini(&r);
}

/* Packets per round, counted by hand: blocks are ceil((payload + 26) / 64). */
static void vls_share_a_link_as_their_weights_say(void **state)
{
	static const struct {
		const char *tables;
		double packets[3][3]; /* of 4096, 2048, 256 bytes */
	} rows[] = {
		{ "  low: [0:1, 1:2, 2:4]\n", { { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 } } },
		{ "  low: [0:4, 1:4, 2:4]\n", { { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 } } },
		{ "  low: [0:16, 1:32, 2:64]\n", { { 1, 1, 1 }, { 1, 1, 2 }, { 4, 7, 13 } } },
		{ "  low: [0:64, 1:128, 2:192]\n", { { 1, 2, 3 }, { 2, 4, 6 }, { 13, 26, 39 } } },
		{ "  low: [0:66, 1:132, 2:198]\n", { { 2, 3, 4 }, { 2, 4, 6 }, { 14, 27, 40 } } },
	};
	static const unsigned payloads[] = { 4096, 2048, 256 };

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (unsigned k = 0; k < 6; k++)
			check_shares(rows[i].tables, payloads[k / 2], k % 2,
				     rows[i].packets[k / 2]);
	}
}

/* Packets of 2 KiB are 33 blocks: an entry of 33 is one packet. */
static void vls_may_stand_several_times_in_tables(void **state)
{
	static const struct {
		const char *tables;
		double packets[3];
	} rows[] = {
		{ "  low: [0:33, 1:33, 0:33, 2:33]\n", { 2, 1, 1 } },
		{ "  low: [0:33, 0:33, 0:33, 1:66, 2:33]\n", { 3, 2, 1 } },
		{ "  low: [0:33, 1:0, 2:33, 1:33]\n", { 1, 1, 1 } },
		/* One packet of the high table and one of the low table in turn. */
		{ "  high: 0:33\n  low: [0:33, 1:33, 2:33]\n  high_limit: 0\n", { 4, 1, 1 } },
		{ "  high: 0:33\n  low: [1:33, 2:33]\n  high_limit: 0\n", { 2, 1, 1 } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		check_shares(rows[i].tables, 2048, false, rows[i].packets);
		check_shares(rows[i].tables, 2048, true, rows[i].packets);
	}
}

/* High packets of 33 blocks until limit x 64 blocks are reached, one low. */
static void the_high_limit_lets_low_vls_live_or_starve(void **state)
{
	static const struct {
		unsigned limit, high, low;
	} rows[] = { { 0, 1, 1 }, { 1, 2, 1 }, { 10, 20, 1 }, { 255, 1, 0 } };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		double packets[3] = { rows[i].high, rows[i].low / 2.0, rows[i].low / 2.0 };
		char tables[100];

		snprintf(tables, sizeof(tables),
			 "  high: 0:33\n  low: [1:33, 2:33]\n"
			 "  high_limit: %u\n",
			 rows[i].limit);
		check_shares(tables, 2048, false, packets);
		check_shares(tables, 2048, true, packets);
	}
}

/* VLs with packets share unused weight by their own weights. */
static void idle_weight_is_shared_by_busy_vls(void **state)
{
	struct test_run r;
	double got[3];

	(void)state;
	test_run_init(
		&r,
		"fabric:\n  topology: {kind: star, hosts: 4}\n"
		"  link: {rate: 8Gb/s, propagation: 5ns}\n"
		"  switch: {input_buffer: 64KiB}\n"
		"qos: {vls: 4, low: [0:198, 1:33, 2:66]}\n"
		"traffic:\n"
		"- {name: a, kind: cbr, load: 10%, sl: 0, pattern: pairs, source: 0, destination: 3}\n"
		"- {name: b, kind: saturating, sl: 1, pattern: pairs, source: 1, destination: 3}\n"
		"- {name: c, kind: saturating, sl: 2, pattern: pairs, source: 2, destination: 3}\n"
		"run: {warmup: 1ms, measure: 50ms}\n");
	for (unsigned i = 0; i < 3; i++)
		got[i] = (double)r.rows[i].delivered * 2074 * HD_NS / (50.0 * HD_MS);
	assert_true(fabs(got[0] - 0.1) < 0.001);
	assert_true(fabs(got[1] - 0.3) < 0.005);
	assert_true(fabs(got[2] - 0.6) < 0.005);
	assert_true(fabs(got[0] + got[1] + got[2] - 1) < 1e-4);
	test_run_fini(&r);
}

/* 004, 5.2: for large packets, the same small weights have another effect. */
static void small_weights_mean_nothing_to_large_packets(void **state)
{
	static const struct {
		const char *tables;
		unsigned payload;
		double packets[3];
	} rows[] = {
		/* 64 bytes on the wire: one block */
		{ "  low: [0:20, 1:20]\n", 38, { 1, 1, 0 } },
		{ "  low: [0:30, 1:10]\n", 38, { 3, 1, 0 } },
		{ "  low: [0:20, 1:20]\n", 2048, { 1, 1, 0 } },
		{ "  low: [0:30, 1:10]\n", 2048, { 1, 1, 0 } },
	};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		check_shares(rows[i].tables, rows[i].payload, false, rows[i].packets);
		check_shares(rows[i].tables, rows[i].payload, true, rows[i].packets);
	}
}

/* ---- zero load ---------------------------------------------------------- */

static hd_time duration(unsigned lanes, enum link_speed speed, uint32_t bytes)
{
	struct hd_rate rate = hd_rate_of_link(lanes, speed);
	double exact = 8e12 * bytes * (double)rate.den / (double)rate.num;

	return (hd_time)ceil(exact - 1e-6);
}

/* Two cables of any two rates: T6 adds what the faster output must wait. */
static void rates_that_differ_cost_what_the_faster_must_wait(void **state)
{
	static const unsigned widths[] = { 1, 4, 12 };
	struct test_links links = { .rate = hd_rate_of_link(4, SPEED_EDR),
				    .propagation = 7777,
				    .in_blocks = 64,
				    .vls = 1 };
	const char *words[] = { "star", "--hosts=2", NULL };
	struct test_fabric f;
	unsigned n = 3 * SPEED_COUNT;

	(void)state;
	test_fabric_init(&f, words, "minhop", &links);
	f.setup.sw.routing = 100 * HD_NS;
	f.setup.sw.arbitration = 23 * HD_NS;
	for (unsigned i = 0; i < n * n; i++) {
		unsigned in = i % n, out = i / n;
		hd_time d_in = duration(widths[in % 3], in / 3, 2074);
		hd_time d_out = duration(widths[out % 3], out / 3, 2074);
		struct sim_arrival a = { .time = 1000,
					 .source = f.end_nodes[0],
					 .dlid = f.ends[1].dlid,
					 .pkey = 0xffff,
					 .bytes = 2074 };
		uint32_t up = f.setup.nodes[f.end_nodes[0]].first_port + 1;
		uint32_t down = f.setup.nodes[f.end_nodes[1]].first_port + 1;
		struct sim_record record;

		f.setup.ports[up].rate = f.setup.ports[f.setup.ports[up].peer].rate =
			hd_rate_of_link(widths[in % 3], in / 3);
		f.setup.ports[down].rate = f.setup.ports[f.setup.ports[down].peer].rate =
			hd_rate_of_link(widths[out % 3], out / 3);
		sim_replay(&f.setup, &a, 1, HD_S, &record);
		assert_int_equal(record.n_events, 1);
		assert_int_equal(record.events[0].time, 1000 + 2 * 7777 + 123 * HD_NS + d_out +
								(d_in > d_out ? d_in - d_out : 0));
		sim_record_fini(&record);
	}
	test_fabric_fini(&f);
}

/* ---- credits ------------------------------------------------------------ */

/*
 * W packets every R over many rounds; R is calculated from T3 to T6: to the far port, through it,
 * the tail, the update.
 */
static void check_credits(hd_time propagation, unsigned packets, bool to_switch)
{
	hd_time through = to_switch ? 123 * HD_NS : 0;
	hd_time round = 2 * propagation + through + 2074 * HD_NS + 6 * HD_NS;
	hd_time rounds = 50, measured = rounds * round;
	uint64_t line = measured / (2074 * HD_NS);
	struct test_run r;
	char text[TEXT];

	/* The other buffer must have no effect. */
	snprintf(
		text, sizeof(text),
		"fabric:\n  topology: {kind: star, hosts: 2}\n"
		"  link: {rate: 8Gb/s, propagation: %llups}\n"
		"  links: [{ports: \"%s\", propagation: 5ns}]\n"
		"  switch: {routing_delay: 100ns, arbitration_delay: 23ns, input_buffer: %u packets}\n"
		"  host: {input_buffer: %u packets}\n"
		"  packet: {mtu: 2048}\n"
		"qos: {vls: 1}\n"
		"traffic: [{name: a, kind: saturating, pattern: pairs, source: 0, destination: 1}]\n"
		"run: {warmup: 10ms, measure: %llups}\n",
		(unsigned long long)propagation, to_switch ? "h1" : "h0", to_switch ? packets : 50,
		to_switch ? 50 : packets, (unsigned long long)measured);
	test_run_init(&r, text);
	uint64_t wanted = rounds * packets;

	if (wanted < line)
		assert_int_equal(r.rows[0].delivered, wanted);
	else
		assert_in_range(r.rows[0].delivered, line, line + 1);
	test_run_fini(&r);
}

static void credits_limit_a_long_cable_exactly(void **state)
{
	(void)state;
	for (unsigned packets = 1; packets <= 12; packets++) {
		for (hd_time us = 1; us <= 11; us += 5) {
			check_credits(us * HD_US + 333, packets, false);
			check_credits(us * HD_US + 333, packets, true);
		}
	}
}

/* Lost updates and lost packets cost time, but never a credit for good. */
static void what_is_lost_costs_no_credit_for_good(void **state)
{
	static const char *const faults[] = {
		"{update_loss: 0.9}",
		"{ber: 1e-5}",
		"{update_loss: 0.5, ber: 1e-5}",
	};

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct test_run r;
		char text[TEXT];

		snprintf(
			text, sizeof(text),
			"fabric:\n  topology: {kind: star, hosts: 3}\n"
			"  link: {rate: 8Gb/s, propagation: 5ns}\n"
			"  credits: %s\n"
			"  switch: {input_buffer: 1 packets}\n"
			"  host: {input_buffer: 1 packets}\n"
			"traffic: [{name: a, kind: messages, count: 500, source: 0..1, destination: 2, pattern: incast}]\n"
			"faults: %s\nrun: {warmup: 0s, measure: 100s, horizon: 100s}\n",
			i % 2 ? "exact" : "delay", faults[i / 2]);
		test_run_init(&r, text);
		assert_int_equal(r.rows[0].made, 1000);
		assert_int_equal(r.rows[0].delivered + r.rows[0].lost, 1000);
		/* 2074 bytes at 1e-5: one in six, on each of two links */
		if (i / 2 == 0)
			assert_int_equal(r.rows[0].lost, 0);
		else
			assert_in_range(r.rows[0].lost, 200, 400);
		test_run_fini(&r);
	}
}

/* ---- congestion --------------------------------------------------------- */

/* Shares of one remote flow, one local flow and the victim. */
static void run_two_switches(unsigned flows, const char *sw, const char *vl, double share[3])
{
	const unsigned n[3] = { flows, flows, 1 };
	struct test_run r;
	char text[TEXT];

	snprintf(
		text, sizeof(text),
		"fabric:\n  topology: {kind: two-switch, remote: %u, local: %u, victims: 1}\n"
		"  link: {rate: 1GB/s, propagation: 10ns}\n"
		"  switch: {input_buffer: 4 packets, routing_delay: 0ns, %s}\n"
		"  packet: {overhead: 20}\n"
		"qos: {vls: 2}\n"
		"traffic:\n"
		"- {name: remote, kind: saturating, pattern: incast, source: A1..A%u, destination: Bc}\n"
		"- {name: local, kind: saturating, pattern: incast, source: B1..B%u, destination: Bc}\n"
		"- {name: victim, kind: saturating, pattern: pairs, source: Av, destination: Bv%s}\n"
		"run: {warmup: 2ms, measure: 20ms}\n",
		flows, flows, sw, flows, flows, vl);
	test_run_init(&r, text);
	for (unsigned i = 0; i < 3; i++)
		share[i] = (double)r.rows[i].delivered * 2068 * HD_NS / (20.0 * HD_MS) / n[i];
	test_run_fini(&r);
}

static void congestion_spreads_to_a_victim_as_computed(void **state)
{
	static const struct {
		unsigned flows;
		const char *sw, *vl;
		double share[3];
	} rows[] = {
		{ 1, "order: fifo, arbitration_delay: 0ns", "", { .5, .5, .5 } },
		{ 1, "order: fifo, arbitration_delay: 5ns", "", { 1 / 3., 2 / 3., 1 / 3. } },
		{ 5, "order: fifo, arbitration_delay: 0ns", "", { 1 / 30., 1 / 6., 1 / 30. } },
		{ 5, "order: fifo, arbitration_delay: 5ns", "", { 1 / 30., 1 / 6., 1 / 30. } },
		/*
		 * With a queue per output and a VL of its own, the flow has all of the cable that
		 * the remote flows leave.
		 */
		{ 5, "order: voq, arbitration_delay: 5ns", ", sl: 1", { 1 / 30., 1 / 6., 5 / 6. } },
		{ 1, "order: voq, arbitration_delay: 5ns", ", sl: 1", { .5, .5, .5 } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double got[3];

		run_two_switches(rows[i].flows, rows[i].sw, rows[i].vl, got);
		for (unsigned k = 0; k < 3; k++)
			assert_true(fabs(got[k] / rows[i].share[k] - 1) < 0.01);
	}
}

/*
 * 000, 4.1: a connection with a low rate behind one with a high rate and a blocked path waits for
 * all packets before it; in a VL of its own, for at most one packet at its host and one at its
 * switch.
 */
static void thin_traffic_suffers_behind_thick_traffic(void **state)
{
	hd_time worst[2], least[2];

	(void)state;
	for (unsigned vl = 0; vl < 2; vl++) {
		struct test_run r;
		char text[TEXT];

		snprintf(
			text, sizeof(text),
			"fabric:\n  topology: {kind: star, hosts: 5}\n"
			"  link: {rate: 8Gb/s, propagation: 5ns}\n"
			"  switch: {order: fifo, input_buffer: 4 packets, routing_delay: 80ns, arbitration_delay: 20ns}\n"
			"qos: {vls: 2, low: [0:33, 1:33]}\n"
			"traffic:\n"
			"- {name: thick, kind: saturating, pattern: incast, source: 0..2, destination: 4}\n"
			"- {name: thin, kind: cbr, rate: 1Mb/s, payload: 256, pattern: pairs, source: 0, destination: 3, sl: %u}\n"
			"run: {warmup: 1ms, measure: 300ms}\n",
			vl);
		test_run_init(&r, text);
		assert_in_range(r.rows[1].delivered, 145, 147);
		worst[vl] = r.rows[1].latency.max;
		least[vl] = r.rows[1].latency.min;
		test_run_fini(&r);
	}
	/*
	 * A third of the output each: four packets in the buffer take 12 packet times, less the
	 * sent part of the first.
	 */
	assert_true(least[0] > 8 * 2074 * HD_NS);
	assert_true(worst[1] < (2 * 2074 + 282 + 110) * HD_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vls_share_a_link_as_their_weights_say),
		cmocka_unit_test(vls_may_stand_several_times_in_tables),
		cmocka_unit_test(the_high_limit_lets_low_vls_live_or_starve),
		cmocka_unit_test(idle_weight_is_shared_by_busy_vls),
		cmocka_unit_test(small_weights_mean_nothing_to_large_packets),
		cmocka_unit_test(rates_that_differ_cost_what_the_faster_must_wait),
		cmocka_unit_test(credits_limit_a_long_cable_exactly),
		cmocka_unit_test(what_is_lost_costs_no_credit_for_good),
		cmocka_unit_test(congestion_spreads_to_a_victim_as_computed),
		cmocka_unit_test(thin_traffic_suffers_behind_thick_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
