/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/setup_for_tests.h"
#include "sim/metrics/record.h"
#include "sim/sim.h"

#define P     10   /* propagation */
#define BYTES 1000 /* a byte takes 1 ps */
#define A     5000 /* arbitration */

/* Two switches with a host each. */
static void fabric_init(struct test_fabric *f, uint8_t vls)
{
	const char *const words[] = { "mesh", "--columns=2", "--rows=1", "--hosts=1", NULL };
	const struct test_links links = {
		.rate = { UINT64_C(8000000000000), 1 },
		.propagation = P,
		.in_blocks = 64,
		.vls = vls,
	};

	test_fabric_init(f, words, "minhop", &links);
	f->setup.sw.arbitration = A;
	f->setup.arbiter = SIM_STRICT;
}

static uint32_t port_of_end(const struct test_fabric *f, uint32_t end)
{
	return f->setup.nodes[f->end_nodes[end]].first_port + 1;
}

static struct sim_arrival arrival(const struct test_fabric *f, hd_time time, uint32_t sequence,
				  uint8_t sl)
{
	return (struct sim_arrival){
		.time = time,
		.sequence = sequence,
		.source = f->end_nodes[0],
		.dlid = f->ends[1].dlid,
		.pkey = 0xffff,
		.bytes = BYTES,
		.sl = sl,
	};
}

static const struct sim_event_record *end_of(const struct sim_record *r, uint32_t sequence)
{
	for (size_t i = 0; i < r->n_events; i++) {
		if (r->events[i].sequence == sequence)
			return &r->events[i];
	}
	return NULL;
}

static void link_up_and_down_at_one_instant_sends_nothing(void **state)
{
	struct test_fabric f;
	struct sim_record r;

	(void)state;
	fabric_init(&f, 1);
	uint32_t port = port_of_end(&f, 0);
	struct sim_arrival a = arrival(&f, 500, 0, 0);
	struct sim_fault faults[] = {
		{ 100, SIM_LINK_DOWN, port },
		{ 1000, SIM_LINK_UP, port },
		{ 1000, SIM_LINK_DOWN, port },
		{ 3000, SIM_LINK_UP, port },
	};

	f.setup.faults = faults;
	f.setup.n_faults = 4;
	sim_replay(&f.setup, &a, 1, 2999, &r);
	assert_int_equal(r.counters[port].xmit_packets, 0);
	sim_record_fini(&r);
	sim_replay(&f.setup, &a, 1, HD_MS, &r);
	assert_int_equal(r.n_events, 1);
	assert_int_equal(r.events[0].fate, SIM_DELIVERED);
	assert_int_equal(r.events[0].time, 3000 + 3 * P + 2 * A + BYTES);
	assert_int_equal(r.counters[port].link_downed, 2);
	assert_int_equal(r.counters[f.setup.ports[port].peer].link_downed, 2);
	sim_record_fini(&r);
	test_fabric_fini(&f);
}

/* F3: packets on the link are lost, later ones pass. */
static void link_down_and_up_at_one_instant_cuts_what_is_under_way(void **state)
{
	struct test_fabric f;
	struct sim_record r;

	(void)state;
	fabric_init(&f, 1);
	uint32_t port = port_of_end(&f, 0);
	struct sim_arrival a[] = { arrival(&f, 1000 - P, 0, 0), arrival(&f, 1000, 1, 0) };
	struct sim_fault faults[] = {
		{ 1000, SIM_LINK_DOWN, port },
		{ 1000, SIM_LINK_UP, port },
	};

	f.setup.faults = faults;
	f.setup.n_faults = 2;
	sim_replay(&f.setup, a, 2, HD_MS, &r);
	assert_int_equal(r.n_events, 2);
	assert_int_equal(end_of(&r, 0)->fate, SIM_LOST_LINK);
	assert_int_equal(end_of(&r, 0)->time, 1000);
	assert_int_equal(end_of(&r, 1)->fate, SIM_DELIVERED);
	/* The sender's link stays busy as it was. */
	assert_int_equal(end_of(&r, 1)->time, 1000 - P + BYTES + 3 * P + 2 * A + BYTES);
	sim_record_fini(&r);
	test_fabric_fini(&f);
}

/*
 * Two packets on VL 0 and one on VL 1, all to VL 0 of one output, in `fifo`.
 * The second becomes first of its buffer at P + A + D and is ready A later;
 * the third is first and ready at P + 2 D + A, though behind it for the link.
 * When the link dies it goes at once (F4).
 */
static void dead_link_takes_the_ready_one_behind_one_that_is_not(void **state)
{
	const struct sl2vl to_zero = { { 0 } }, apart = { { 0, 1 } };
	const hd_time down = P + A + 2 * BYTES + 990;
	struct test_fabric f;
	struct sim_record r;

	(void)state;
	fabric_init(&f, 2);
	f.setup.sw.order = SIM_FIFO;
	f.setup.sw.readers = 1;
	uint32_t host = port_of_end(&f, 0);
	uint32_t near = f.setup.ports[host].peer, trunk = 0;
	const struct sim_node *sw = &f.setup.nodes[f.setup.ports[near].node];

	for (unsigned in = 0; in <= sw->n_ports; in++) {
		for (unsigned out = 0; out <= sw->n_ports; out++)
			subnet_set_sl2vl(&f.subnet, sw->sw, in, out, &to_zero);
		uint32_t peer = f.setup.ports[sw->first_port + in].peer;
		if (peer != SIM_NONE && peer != host)
			trunk = sw->first_port + in;
	}
	subnet_set_port_sl2vl(&f.subnet, f.setup.ports[host].origin, &apart);
	struct sim_arrival a[] = { arrival(&f, 0, 0, 0), arrival(&f, 0, 1, 0),
				   arrival(&f, 0, 2, 1) };
	struct sim_fault fault = { down, SIM_LINK_DOWN, trunk };

	f.setup.faults = &fault;
	f.setup.n_faults = 1;
	sim_replay(&f.setup, a, 3, HD_MS, &r);
	assert_int_equal(r.n_events, 3);
	assert_int_equal(end_of(&r, 0)->fate, SIM_DELIVERED);
	assert_int_equal(end_of(&r, 1)->fate, SIM_LOST_DISCARD);
	assert_int_equal(end_of(&r, 1)->time, P + 2 * A + BYTES);
	assert_int_equal(end_of(&r, 2)->fate, SIM_LOST_DISCARD);
	assert_int_equal(end_of(&r, 2)->time, down);
	sim_record_fini(&r);
	test_fabric_fini(&f);
}

/*
 * A1: packets whose SL has no VL at the sender are lost and do not wait: the fabric is empty when
 * the last one is lost.
 */
static void packets_without_a_vl_are_lost(void **state)
{
	const struct sl2vl apart = { { 0, 1 } };
	struct test_fabric f;
	struct sim_rules rules;

	(void)state;
	fabric_init(&f, 1);
	uint32_t port = port_of_end(&f, 0);
	const struct sim_flow flow = {
		.kind = SIM_CBR,
		.source = f.end_nodes[0],
		.to = { .choice = SIM_TO_FIXED, .list = &f.ends[1], .n = 1, .self = SIM_NONE },
		.sl = 1,
		.pkey = 0xffff,
		.bytes = BYTES,
		.packets = 1,
		.interval = { 2 * BYTES, 1 },
		.count = 5,
	};

	subnet_set_port_sl2vl(&f.subnet, f.setup.ports[port].origin, &apart);
	sim_rules_init(&rules);
	struct sim *s = sim_new(&f.setup, &flow, 1, &rules);

	assert_int_equal(sim_run(s, HD_TIME_NEVER, NULL, NULL), SIM_IDLE);
	sim_free(s);
	test_fabric_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_up_and_down_at_one_instant_sends_nothing),
		cmocka_unit_test(link_down_and_up_at_one_instant_cuts_what_is_under_way),
		cmocka_unit_test(dead_link_takes_the_ready_one_behind_one_that_is_not),
		cmocka_unit_test(packets_without_a_vl_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
