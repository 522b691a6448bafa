/* SPDX-License-Identifier: BSD-2-Clause */
/* T11c: arbitration tables that change during a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/limits.h"
#include "fabric/setup_for_tests.h"
#include "sim/sim.h"

#define BYTES 640 /* 10 blocks; a byte takes 1 ps */
#define MOST  256

struct seen {
	uint32_t port;
	unsigned n;
	hd_time time[MOST];
	uint8_t vl[MOST];
};

static void see(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct seen *seen = context;

	if (port != seen->port || seen->n == MOST)
		return;
	seen->time[seen->n] = now;
	seen->vl[seen->n++] = p->vl;
}

struct change {
	hd_time time;
	struct vlarb table;
};

/* Two hosts' VLs 0 and 1 always have a packet; what h0's link sends. */
static void run(const struct change *of_port, uint32_t n, const struct vlarb *first,
		struct seen *seen)
{
	const char *const words[] = { "mesh", "--columns=2", "--rows=1", "--hosts=1", NULL };
	const struct test_links links = {
		.rate = { UINT64_C(8000000000000), 1 },
		.propagation = 10,
		.in_blocks = 2048,
		.vls = 2,
	};
	struct test_fabric f;

	test_fabric_init(&f, words, "minhop", &links);
	uint32_t port = f.setup.nodes[f.end_nodes[0]].first_port + 1;
	struct sim_table_change *changes = calloc(n, sizeof(*changes));
	struct sim_flow flows[2];
	struct sim_rules rules;
	struct sim_observer observer = { .context = seen, .granted = see };

	*seen = (struct seen){ .port = port };
	subnet_set_vlarb(&f.subnet, f.setup.ports[port].origin, first);
	for (uint32_t i = 0; i < n; i++)
		changes[i] = (struct sim_table_change){
			of_port[i].time, port, subnet_keep_vlarb(&f.subnet, &of_port[i].table)
		};
	f.setup.changes = changes;
	f.setup.n_changes = n;
	for (unsigned i = 0; i < 2; i++)
		flows[i] = (struct sim_flow){
			.kind = SIM_SATURATING,
			.source = f.end_nodes[0],
			.to = { .choice = SIM_TO_FIXED,
				.list = &f.ends[1],
				.n = 1,
				.self = SIM_NONE },
			.sl = (uint8_t)i,
			.pkey = 0xffff,
			.bytes = BYTES,
			.packets = 1,
		};
	sim_rules_init(&rules);
	rules.stop = 200 * BYTES;
	struct sim *s = sim_new(&f.setup, flows, 2, &rules);

	sim_observe(s, &observer);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	sim_free(s);
	free(changes);
	test_fabric_fini(&f);
	assert_true(seen->n > 100);
	for (unsigned i = 0; i < seen->n; i++)
		assert_int_equal(seen->time[i], i * BYTES);
}

static struct vlarb low_only(uint8_t weight_0, uint8_t weight_1)
{
	return (struct vlarb){ .low = { { 0, weight_0 }, { 1, weight_1 } }, .n_low = 2 };
}

/* At a grant's instant that grant is the first; a picosecond later the next. */
static void a_change_holds_from_its_very_instant(void **state)
{
	(void)state;
	for (hd_time late = 0; late <= 2; late++) {
		struct vlarb only_0 = low_only(5, 0);
		struct change c = { .time = 40 * BYTES - 1 + late, .table = low_only(0, 5) };
		struct seen seen;

		run(&c, 1, &only_0, &seen);
		for (unsigned i = 0; i < seen.n; i++)
			assert_int_equal(seen.vl[i], i >= 40 + (late == 2) ? 1 : 0);
	}
}

/* Weights of 100 blocks are 10 packets a turn. */
static void what_is_left_of_a_turn_is_cut_to_the_new_weight(void **state)
{
	struct vlarb tens = low_only(100, 100);
	struct change c = { .time = 23 * BYTES, .table = low_only(20, 30) };
	struct seen seen;

	(void)state;
	run(&c, 1, &tens, &seen);
	/* 0 to 9 are VL 0, 10 to 19 VL 1, 20 to 22 VL 0 with 70 left: cut to
	 * 20, two more; then turns of 3 and 2. */
	for (unsigned i = 0; i < seen.n; i++) {
		unsigned vl = i < 20 ? i / 10 : 0;

		if (i >= 25)
			vl = (i - 25) % 5 < 3;
		assert_int_equal(seen.vl[i], vl);
	}
}

/* The position is kept; if the new table is shorter, the next entry follows. */
static void a_position_beyond_the_new_table_moves_on(void **state)
{
	struct vlarb three = { .low = { { 0, 10 }, { 0, 10 }, { 1, 100 } }, .n_low = 3 };
	struct change c = { .time = 5 * BYTES, .table = low_only(20, 10) };
	struct seen seen;

	(void)state;
	run(&c, 1, &three, &seen);
	/* 0, 1 are VL 0, then VL 1 at place 2 until the change; then 2, 1. */
	for (unsigned i = 0; i < seen.n; i++) {
		unsigned vl = i >= 2;

		if (i >= 5)
			vl = (i - 5) % 3 == 2;
		assert_int_equal(seen.vl[i], vl);
	}
}

static void the_last_change_of_an_instant_counts(void **state)
{
	struct vlarb only_0 = low_only(5, 0);
	struct change c[] = {
		{ .time = 7 * BYTES, .table = low_only(0, 5) },
		{ .time = 7 * BYTES, .table = low_only(10, 10) },
		{ .time = 50 * BYTES, .table = only_0 },
	};
	struct seen seen;

	(void)state;
	run(c, 3, &only_0, &seen);
	/* At 7 the weight is used up (0, then cut): the next entry, VL 1, sends. */
	for (unsigned i = 0; i < seen.n; i++)
		assert_int_equal(seen.vl[i], i >= 7 && i < 50 ? (i - 7) % 2 == 0 : 0);
}

/* One table after the other: rows of unused tables are reused. */
static void a_run_may_go_through_more_tables_than_fit_at_a_time(void **state)
{
	const uint32_t n = SIM_MOST_TABLES + 5000;
	struct change *c = calloc(n, sizeof(*c));
	struct vlarb only_0 = low_only(5, 0);
	struct seen seen;

	(void)state;
	assert_non_null(c);
	for (uint32_t i = 0; i < n; i++) {
		/* All different; VL 0 until the last one. */
		c[i].time = i;
		c[i].table = low_only((uint8_t)(1 + i % 255), 0);
		c[i].table.high_limit = (uint8_t)(i / 255 % 255);
		c[i].table.low[2].weight = (uint8_t)(1 + i / 65025);
		c[i].table.n_low = 3;
	}
	c[n - 1].table = low_only(0, 5);
	run(c, n, &only_0, &seen);
	for (unsigned i = 0; i < seen.n; i++)
		assert_int_equal(seen.vl[i], i * BYTES >= n - 1);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_holds_from_its_very_instant),
		cmocka_unit_test(what_is_left_of_a_turn_is_cut_to_the_new_weight),
		cmocka_unit_test(a_position_beyond_the_new_table_moves_on),
		cmocka_unit_test(the_last_change_of_an_instant_counts),
		cmocka_unit_test(a_run_may_go_through_more_tables_than_fit_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
