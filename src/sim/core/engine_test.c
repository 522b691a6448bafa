/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fabric/fabric.h"
#include "fabric/setup_for_tests.h"
#include "qos/tables/arbiter.h"
#include "sim/metrics/record.h"
#include "sim/sim.h"

/* Shares of three VLs that always have a packet, in per cent, rounded. */
static void shares(struct vlarb from, uint32_t blk, unsigned rounds, unsigned counts[16])
{
	struct arbiter_table t;
	struct arbiter a;

	memset(counts, 0, 16 * sizeof(*counts));
	arbiter_table_init(&t, &from);
	arbiter_init(&a, &t);
	for (unsigned i = 0; i < rounds; i++) {
		bool is_high = false;
		unsigned vl = arbiter_choose(&a, &t, 7, &is_high);

		assert_true(vl < 16);
		arbiter_charge(&a, is_high, blk);
		counts[vl]++;
	}
}

/* Packets per round by hand: a VL sends while it has weight left. */
static void packets_per_round_follow_weights_in_whole_packets(void **state)
{
	static const struct {
		uint8_t weights[3];
		uint32_t blk;
		unsigned packets[3];
	} rows[] = {
		{ { 1, 2, 4 }, 65, { 1, 1, 1 } },      { { 16, 32, 64 }, 33, { 1, 1, 2 } },
		{ { 16, 32, 64 }, 5, { 4, 7, 13 } },   { { 64, 128, 192 }, 65, { 1, 2, 3 } },
		{ { 66, 132, 198 }, 65, { 2, 3, 4 } }, { { 64, 128, 192 }, 5, { 13, 26, 39 } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const unsigned *p = rows[i].packets;
		unsigned counts[16];
		struct vlarb from = { .n_low = 3 };

		for (uint8_t vl = 0; vl < 3; vl++)
			from.low[vl] = (struct vlarb_entry){ vl, rows[i].weights[vl] };
		shares(from, rows[i].blk, 10 * (p[0] + p[1] + p[2]), counts);
		for (unsigned vl = 0; vl < 3; vl++)
			assert_int_equal(counts[vl], 10 * p[vl]);
	}
}

static void high_limits_share_starve_or_alternate(void **state)
{
	static const struct {
		uint8_t limit;
		unsigned high, low; /* of a cycle, packets of 33 blocks */
	} rows[] = {
		{ 0, 1, 1 },   /* one packet */
		{ 1, 2, 1 },   /* 64 blocks are reached by the second */
		{ 10, 20, 1 }, /* 640 by the twentieth */
		{ 255, 1, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vlarb from = { .high = { { 0, 255 } },
				      .low = { { 1, 255 } },
				      .n_high = 1,
				      .n_low = 1,
				      .high_limit = rows[i].limit };
		unsigned counts[16];

		shares(from, 33, 100 * (rows[i].high + rows[i].low), counts);
		assert_int_equal(counts[0], 100 * rows[i].high);
		assert_int_equal(counts[1], 100 * rows[i].low);
	}
}

/* One packet through n switches at a rate: the sum of the delays of all parts. */
static void check_zero_load(struct test_fabric *f, unsigned n, struct hd_rate rate)
{
	struct sim_arrival a = {
		.time = 1000,
		.source = f->end_nodes[0],
		.dlid = f->ends[n - 1].dlid,
		.pkey = 0xffff,
		.bytes = 2074,
	};
	struct sim_record record;

	for (uint32_t i = 0; i < f->setup.n_ports; i++)
		f->setup.ports[i].rate = rate;
	sim_replay(&f->setup, &a, 1, HD_S, &record);
	assert_int_equal(record.n_events, 1);
	assert_int_equal(record.events[0].fate, SIM_DELIVERED);
	assert_int_equal(record.events[0].time, 1000 + (n + 1) * 7777 + n * (100 + 23) * HD_NS +
							exact_duration(rate, 2074));
	sim_record_fini(&record);
}

static void zero_load_latency_is_the_closed_form(void **state)
{
	static const unsigned widths[] = { 1, 4, 12 };
	struct test_links links = {
		.rate = hd_rate_of_link(4, SPEED_EDR),
		.propagation = 7777,
		.in_blocks = 64,
		.vls = 1,
	};

	(void)state;
	for (unsigned n = 2; n <= 6; n++) {
		char columns[32];
		const char *words[] = { "mesh", columns, "--rows=1", "--hosts=1", NULL };
		struct test_fabric f;

		snprintf(columns, sizeof(columns), "--columns=%u", n);
		test_fabric_init(&f, words, "minhop", &links);
		f.setup.sw.routing = 100 * HD_NS;
		f.setup.sw.arbitration = 23 * HD_NS;
		for (unsigned i = 0; i < 3 * SPEED_COUNT; i++)
			check_zero_load(&f, n, hd_rate_of_link(widths[i % 3], i / 3));
		test_fabric_fini(&f);
	}
}

/*
 * One host sends to all the others of its switch at once. Its cable brings no
 * more than theirs take, so that no port ever has more than one copy besides
 * the one that it sends; the slots in the input buffer wait for no port.
 */
static void slots_of_multicast_wait_nowhere(void **state)
{
	static const char text[] = "fabric:\n"
				   "  topology: {kind: star, hosts: 12}\n"
				   "  groups: [{name: g, members: all}]\n"
				   "traffic:\n"
				   "  - {name: a, kind: saturating, source: 0, pattern: group,\n"
				   "     group: g, count: 60, payload: 2KiB}\n"
				   "run: {warmup: 0ns, measure: 1ms}\n";
	struct diag d = { .status = HD_OK };
	struct fabric *fabric = NULL;
	uint64_t most = 0;

	(void)state;
	if (fabric_load(text, strlen(text), "t.yaml", NULL, &d, &fabric) != HD_OK)
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);
	uint32_t source = fabric->setup.nodes[fabric->flows[0].source].first_port + 1;

	for (hd_time at = 0; at < 40 * HD_US; at += 50 * HD_NS) {
		struct sim_backlog c;

		sim_run(s, at, NULL, NULL);
		sim_backlog(s, &c);
		if (c.waiting > 0 && c.port != source) {
			assert_true(c.waiting <= 2);
			most = c.waiting > most ? c.waiting : most;
		}
	}
	assert_true(most > 0);
	sim_free(s);
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_per_round_follow_weights_in_whole_packets),
		cmocka_unit_test(high_limits_share_starve_or_alternate),
		cmocka_unit_test(zero_load_latency_is_the_closed_form),
		cmocka_unit_test(slots_of_multicast_wait_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
