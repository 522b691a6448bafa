/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oracle's senders (T13p) and congestion control (C1 to C6) against times
 * worked out by hand from docs/timing-rules.md.
 *
 * A byte takes 1 ps on every link, so that D is the number of bytes; P is 5 ps;
 * switches are input-queued and voq with r = a = 0, unless a test says
 * otherwise; a credit is usable 5 + 6 = 11 ps after its space came free. So a
 * packet that goes from one host of a star to another at g is delivered at
 * g + 5 + 5 + D, and an ACK of 30 bytes that leaves at once is back 40 ps
 * later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fabric.h"
#include "oracle.h"

#define MAX_ARRIVALS 32
#define MAX_FLOWS    8
#define HORIZON      4000
#define LOST         UINT64_C(999999) /* no such event */

static const struct hd_rate byte_per_ps = { UINT64_C(8000000000000), 1 };

struct rig {
	struct fabric fabric;
	struct sim_arrival arrivals[MAX_ARRIVALS];
	size_t n_arrivals;
	struct sim_control control;
	struct sim_throttle throttles[MAX_FLOWS];
	uint32_t throttle_of_flow[MAX_FLOWS];
	struct sim_record record;
	struct oracle_stats stats;
};

static void rig_init(struct rig *r)
{
	*r = (struct rig){ 0 };
	fabric_init(&r->fabric);
	for (int i = 0; i < MAX_FLOWS; i++)
		r->throttle_of_flow[i] = SIM_NONE;
	r->control.window = 100;
	r->control.throttles = r->throttles;
	r->control.throttle_of_flow = r->throttle_of_flow;
	r->control.n_flows = MAX_FLOWS;
}

static void rig_links(struct rig *r, uint32_t in_blocks)
{
	fabric_links_set(&r->fabric, &(struct fabric_link){
					     .rate = byte_per_ps,
					     .propagation = 5,
					     .in_blocks = in_blocks,
					     .out_blocks = 64,
					     .vl15_blocks = 64,
					     .vls = 1,
				     });
}

/* Switch 0 with host k (LID k, end k - 1) on port k = 1 .. n. */
static void rig_star(struct rig *r, unsigned n, uint32_t in_blocks)
{
	rig_init(r);
	node_id sw = fabric_switch(&r->fabric, n);

	for (unsigned k = 1; k <= n; k++)
		fabric_cable(&r->fabric, sw, k, fabric_host(&r->fabric), 1);
	fabric_finish(&r->fabric);
	for (unsigned k = 1; k <= n; k++)
		fabric_route(&r->fabric, sw, (lid_t)k, k);
	rig_links(r, in_blocks);
}

/* Creates a throttle for a flow, at the flow's source. */
static struct sim_throttle *throttle(struct rig *r, uint32_t flow, uint32_t end)
{
	uint32_t i = r->control.n_throttles++;

	r->fabric.setup.control = &r->control;
	r->throttle_of_flow[flow] = i;
	r->throttles[i].node = r->fabric.ends[end];
	r->throttles[i].sender = flow + 1;
	return &r->throttles[i];
}

/* Rates are 1/`fast` ps and 1/`slow` ps, the algorithm starts slowly. */
static void respond(struct sim_throttle *t, const char *algorithm, double fast, double slow)
{
	t->algorithm = cc_find(algorithm);
	t->config = cc_config_default((double)HD_S / slow, (double)HD_S / fast);
	t->config.m = 2;
}

static struct sim_arrival *send(struct rig *r, hd_time time, uint32_t flow, uint32_t end,
				lid_t dlid, uint32_t bytes)
{
	struct sim_arrival *a = &r->arrivals[r->n_arrivals++];
	uint32_t sequence = 0;

	for (size_t i = 0; i + 1 < r->n_arrivals; i++)
		sequence += r->arrivals[i].flow == flow;
	*a = (struct sim_arrival){
		.time = time,
		.flow = flow,
		.sequence = sequence,
		.source = r->fabric.ends[end],
		.dlid = dlid,
		.pkey = 0xffff,
		.bytes = bytes,
	};
	return a;
}

static void run(struct rig *r)
{
	struct oracle_case c = { &r->fabric.setup, r->arrivals, r->n_arrivals, HORIZON, 0, true };

	oracle_run(&c, ORACLE_TRUE, &r->record, &r->stats);
}

static void rig_fini(struct rig *r)
{
	oracle_record_fini(&r->record);
	fabric_fini(&r->fabric);
}

static const struct sim_event_record *end_of(const struct rig *r, uint32_t flow, uint32_t sequence,
					     enum sim_packet_kind kind)
{
	for (size_t i = 0; i < r->record.n_events; i++) {
		const struct sim_event_record *e = &r->record.events[i];

		if (e->flow == flow && e->sequence == sequence && e->kind == kind)
			return e;
	}
	return NULL;
}

static hd_time delivered(const struct rig *r, uint32_t flow, uint32_t sequence)
{
	const struct sim_event_record *e = end_of(r, flow, sequence, SIM_DATA);

	return e && e->fate == SIM_DELIVERED ? e->time : LOST;
}

static bool marked(const struct rig *r, uint32_t flow, uint32_t sequence)
{
	const struct sim_event_record *e = end_of(r, flow, sequence, SIM_DATA);

	assert_non_null(e);
	return e->marked;
}

/* The packet must have been granted at its source then, all links free. */
static void assert_granted(const struct rig *r, uint32_t flow, uint32_t sequence, hd_time granted)
{
	hd_time d = 0;

	for (size_t i = 0; i < r->n_arrivals; i++)
		if (r->arrivals[i].flow == flow)
			d = r->arrivals[i].bytes;
	assert_int_equal(delivered(r, flow, sequence), granted + 10 + d);
}

/* ---- senders ---- */

static void senders_take_turns_from_sender_0(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64);
	for (uint32_t s = 0; s < 3; s++)
		for (int i = 0; i < 2; i++)
			send(&r, 0, s, 0, 2, 64)->sender = (uint16_t)s;
	run(&r);
	for (uint32_t k = 0; k < 6; k++)
		assert_granted(&r, k % 3, k / 3, (hd_time)k * 64);
	assert_true(r.stats.sender_turns > 0);
	rig_fini(&r);
}

static void a_sender_that_does_not_fit_is_passed_over(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 3);
	send(&r, 0, 0, 0, 2, 128)->sender = 1;
	send(&r, 0, 1, 0, 2, 128)->sender = 2;
	send(&r, 0, 2, 0, 2, 64)->sender = 3;
	run(&r);
	/*
	 * Three blocks: sender 1 takes two at 0. At 128 one is left, so sender
	 * 2 waits and sender 3 goes. The first packet leaves the switch's
	 * buffer at 5 + 128, usable at 144; there are two again from 144 on,
	 * but the link is busy until 192.
	 */
	assert_granted(&r, 0, 0, 0);
	assert_granted(&r, 2, 0, 128);
	assert_granted(&r, 1, 0, 192);
	rig_fini(&r);
}

/* ---- throttles ---- */

static void a_gap_counts_from_the_grant(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64);
	respond(throttle(&r, 0, 0), "fimd", 100, 1000);
	r.control.fixed_gap = true;
	for (int i = 0; i < 3; i++)
		send(&r, 0, 0, 0, 2, 64);
	send(&r, 0, 1, 0, 2, 64);
	run(&r);
	/*
	 * It begins at the lowest rate. Sender 0 goes at 0, the throttle at 64,
	 * and with the gap of that grant at 1064. The ACK has doubled the rate
	 * meanwhile (m ^ (rmin / rmin)), so that the next gap is half of it.
	 */
	assert_granted(&r, 1, 0, 0);
	assert_granted(&r, 0, 0, 64);
	assert_granted(&r, 0, 1, 1064);
	assert_granted(&r, 0, 2, 1064 + 500);
	assert_int_equal(end_of(&r, 0, 0, SIM_ACK)->time, 64 + 74 + 40);
	assert_int_equal(r.record.counters[fabric_end_port(&r.fabric, 0)].xmit_wait, 0);
	rig_fini(&r);
}

static void a_gap_follows_the_rate(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64);
	respond(throttle(&r, 0, 0), "fimd", 100, 1000);
	send(&r, 0, 0, 0, 2, 64);
	send(&r, 0, 0, 0, 2, 64);
	run(&r);
	/* The ACK, at 0 + 74 + 40, doubles the rate: m ^ (rmin / rmin). */
	assert_granted(&r, 0, 0, 0);
	assert_granted(&r, 0, 1, 500);
	rig_fini(&r);
}

static void a_window_waits_for_the_acknowledgement(void **state)
{
	(void)state;
	for (hd_time delay = 0; delay < 200; delay += 100) {
		struct rig r;
		hd_time back = delay ? 74 + delay : 74 + 40;

		rig_star(&r, 2, 64);
		throttle(&r, 0, 0);
		r.control.window = 1;
		r.control.ack_delay = delay;
		for (int i = 0; i < 4; i++)
			send(&r, 0, 0, 0, 2, 64);
		run(&r);
		for (uint32_t k = 0; k < 4; k++)
			assert_granted(&r, 0, k, k * back);
		assert_int_equal(r.stats.answers, delay ? 0 : 4);
		rig_fini(&r);
	}
}

static void a_window_whose_packets_are_lost_heals(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64);
	throttle(&r, 0, 0);
	r.control.window = 2;
	r.control.timeout = 300;
	r.fabric.setup.ports[fabric_end_port(&r.fabric, 0)].ber = 1;
	for (int i = 0; i < 4; i++)
		send(&r, 0, 0, 0, 2, 64);
	run(&r);
	/* Heads of what is corrupted arrive at g + 5; the last g is 64. */
	assert_int_equal(end_of(&r, 0, 1, SIM_DATA)->time, 64 + 5);
	assert_int_equal(end_of(&r, 0, 2, SIM_DATA)->time, 364 + 5);
	assert_int_equal(end_of(&r, 0, 3, SIM_DATA)->time, 428 + 5);
	assert_int_equal(end_of(&r, 0, 3, SIM_DATA)->fate, SIM_LOST_CORRUPT);
	assert_int_equal(r.stats.timeouts, 2);
	rig_fini(&r);
}

static void flows_of_one_throttle_take_turns(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64);
	throttle(&r, 3, 0);
	r.throttle_of_flow[1] = r.throttle_of_flow[3];
	for (int i = 0; i < 3; i++)
		send(&r, 0, 1, 0, 2, 64);
	for (int i = 0; i < 2; i++)
		send(&r, 0, 3, 0, 2, 64);
	run(&r);
	assert_granted(&r, 1, 0, 0);
	assert_granted(&r, 3, 0, 64);
	assert_granted(&r, 1, 1, 128);
	assert_granted(&r, 3, 1, 192);
	assert_granted(&r, 1, 2, 256);
	rig_fini(&r);
}

/* ---- marks ---- */

/* Hosts 1 and 2 send two packets of 64 bytes each to host 3 at 0. */
static void two_to_one(struct rig *r, uint32_t in_blocks)
{
	rig_star(r, 3, in_blocks);
	throttle(r, 0, 0);
	throttle(r, 1, 1);
	for (uint32_t flow = 0; flow < 2; flow++)
		for (int i = 0; i < 2; i++)
			send(r, 0, flow, flow, 3, 64);
}

static void a_threshold_marks_while_enough_wait(void **state)
{
	struct rig r;

	(void)state;
	two_to_one(&r, 64);
	r.control.marking.rule = MARK_THRESHOLD;
	r.control.marking.depth = 3;
	run(&r);
	/*
	 * Heads come at 5 and 69 from either side. The grants at 5 and 69: two
	 * wait at 5; at 69 two have come, and the tail of the first leaves in
	 * that instant: three. At 133 another has left: two.
	 */
	assert_int_equal(delivered(&r, 0, 0), 74);
	assert_int_equal(delivered(&r, 1, 0), 138);
	assert_int_equal(delivered(&r, 0, 1), 202);
	assert_false(marked(&r, 0, 0));
	assert_true(marked(&r, 1, 0));
	assert_false(marked(&r, 0, 1));
	assert_false(marked(&r, 1, 1));
	assert_true(end_of(&r, 1, 0, SIM_ACK)->marked);
	rig_fini(&r);
}

static void waiting_begins_after_the_routing_delay(void **state)
{
	struct rig r;

	(void)state;
	two_to_one(&r, 64);
	r.fabric.setup.sw.routing = 70;
	r.fabric.setup.sw.arbitration = 20;
	r.control.marking.rule = MARK_THRESHOLD;
	r.control.marking.depth = 3;
	run(&r);
	/*
	 * h = 5 and 69; they count from 75 and 139 on. Grants at 95 (two wait,
	 * four are there), 159 (four came, one has left), 223 and 287.
	 */
	assert_false(marked(&r, 0, 0));
	assert_true(marked(&r, 1, 0));
	assert_false(marked(&r, 0, 1));
	rig_fini(&r);
}

static void a_leaving_packet_counts_for_an_arriving_one(void **state)
{
	struct rig r;

	(void)state;
	/* Two blocks in each input buffer. */
	rig_star(&r, 2, 2);
	throttle(&r, 0, 0);
	r.control.marking.rule = MARK_TWO_COUNTER;
	send(&r, 0, 0, 0, 2, 64);
	send(&r, 0, 0, 0, 2, 64);
	run(&r);
	/*
	 * Heads at 5 and 69. The first leaves at 69, when the second comes:
	 * two blocks are taken and no third would fit, so two are to be
	 * marked, of which one has gone.
	 */
	assert_false(marked(&r, 0, 0));
	assert_true(marked(&r, 0, 1));
	assert_int_equal(r.stats.full_inputs, 1);
	rig_fini(&r);

	/* One more block: room for another, and no mark. */
	rig_star(&r, 2, 3);
	throttle(&r, 0, 0);
	r.control.marking.rule = MARK_TWO_COUNTER;
	send(&r, 0, 0, 0, 2, 64);
	send(&r, 0, 0, 0, 2, 64);
	run(&r);
	assert_false(marked(&r, 0, 1));
	assert_int_equal(r.stats.full_inputs, 0);
	rig_fini(&r);
}

static void guard_ignores_waits_without_contention(void **state)
{
	struct rig r;

	(void)state;
	/* A packet fills its buffer, and no other packet wants its output. */
	for (int guard = 0; guard < 2; guard++) {
		rig_star(&r, 2, 1);
		throttle(&r, 0, 0);
		r.control.marking.rule = MARK_TWO_COUNTER;
		r.control.marking.guard = guard;
		send(&r, 0, 0, 0, 2, 64);
		run(&r);
		assert_int_equal(marked(&r, 0, 0), !guard);
		rig_fini(&r);
	}
}

/* Host 1 - switch 0 - switch 1 - host 2; LIDs 1 and 2. */
static void rig_line(struct rig *r, uint32_t in_blocks)
{
	rig_init(r);
	node_id a = fabric_switch(&r->fabric, 2), b = fabric_switch(&r->fabric, 2);

	fabric_cable(&r->fabric, a, 1, fabric_host(&r->fabric), 1);
	fabric_cable(&r->fabric, a, 2, b, 1);
	fabric_cable(&r->fabric, b, 2, fabric_host(&r->fabric), 1);
	fabric_finish(&r->fabric);
	fabric_route(&r->fabric, a, 1, 1);
	fabric_route(&r->fabric, a, 2, 2);
	fabric_route(&r->fabric, b, 1, 1);
	fabric_route(&r->fabric, b, 2, 2);
	rig_links(r, in_blocks);
}

static void a_root_has_credits_for_two(void **state)
{
	static const struct {
		uint32_t blocks;
		bool victims, marked;
	} cases[3] = { { 2, false, true }, { 1, false, false }, { 1, true, true } };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rig r;
		struct mark_config *m = &r.control.marking;

		rig_line(&r, cases[i].blocks);
		throttle(&r, 0, 0);
		m->rule = MARK_IBA;
		m->threshold = 15; /* 1/16 of a buffer */
		m->mark_victims = cases[i].victims;
		/*
		 * Switch 1's output leads to a host and would mark in any case:
		 * so the packet ends before it.
		 */
		r.fabric.setup.ports[fabric_port(&r.fabric, 0, 2)].ber = 1;
		send(&r, 0, 0, 0, 2, 64);
		run(&r);
		assert_int_equal(end_of(&r, 0, 0, SIM_DATA)->fate, SIM_LOST_CORRUPT);
		assert_int_equal(marked(&r, 0, 0), cases[i].marked);
		rig_fini(&r);
	}
}

static void a_cnp_goes_before_the_ack(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 1);
	throttle(&r, 0, 0);
	r.control.marking.rule = MARK_TWO_COUNTER;
	r.control.echo = SIM_ECHO_CNP;
	send(&r, 0, 0, 0, 2, 64);
	run(&r);
	/*
	 * Delivered at 74. The CNP (42 bytes) starts then, its head is at the
	 * switch at 79 and is forwarded; it is back at 74 + 10 + 42. The buffer has
	 * one block, free at 121, usable at 132: then the ACK starts.
	 */
	assert_true(marked(&r, 0, 0));
	assert_int_equal(end_of(&r, 0, 0, SIM_CNP)->time, 126);
	assert_true(end_of(&r, 0, 0, SIM_CNP)->marked);
	assert_int_equal(end_of(&r, 0, 0, SIM_ACK)->time, 132 + 40);
	assert_false(end_of(&r, 0, 0, SIM_ACK)->marked);
	assert_int_equal(r.stats.echoes, 1);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senders_take_turns_from_sender_0),
		cmocka_unit_test(a_sender_that_does_not_fit_is_passed_over),
		cmocka_unit_test(a_gap_counts_from_the_grant),
		cmocka_unit_test(a_gap_follows_the_rate),
		cmocka_unit_test(a_window_waits_for_the_acknowledgement),
		cmocka_unit_test(a_window_whose_packets_are_lost_heals),
		cmocka_unit_test(flows_of_one_throttle_take_turns),
		cmocka_unit_test(a_threshold_marks_while_enough_wait),
		cmocka_unit_test(waiting_begins_after_the_routing_delay),
		cmocka_unit_test(a_leaving_packet_counts_for_an_arriving_one),
		cmocka_unit_test(guard_ignores_waits_without_contention),
		cmocka_unit_test(a_root_has_credits_for_two),
		cmocka_unit_test(a_cnp_goes_before_the_ack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
