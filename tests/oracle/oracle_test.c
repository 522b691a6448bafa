/* SPDX-License-Identifier: BSD-2-Clause */
/* The oracle against times worked out by hand (rig.h): what does not fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rig.h"

static const struct hd_rate half_byte_per_ps = { UINT64_C(4000000000000), 1 };

static void rate_of_cable(struct rig *r, uint32_t port, struct hd_rate rate)
{
	struct sim_port *ports = r->f.setup.ports;

	ports[port].rate = rate;
	ports[ports[port].peer].rate = rate;
}

static const struct sim_counters *counters(const struct rig *r, uint32_t port)
{
	return &r->record.counters[port];
}

/* Packet flow must be the n-th (from 0) of equal ones back to back. */
static void assert_nth(const struct rig *r, uint32_t flow, unsigned n, uint32_t bytes)
{
	assert_int_equal(rig_delivered(r, flow), (hd_time)n * bytes + 5 + bytes);
}

static void zero_load_latency_is_the_closed_form(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64, 1);
	r.f.setup.sw.routing = 3;
	r.f.setup.sw.arbitration = 2;
	rig_send(&r, 7, 0, 2, 100);
	rig_run(&r);
	/* 7 + P + (r + a) + P + D = 7 + 5 + 5 + 5 + 100 */
	assert_int_equal(rig_delivered(&r, 0), 122);
	assert_int_equal(r.record.n_events, 1);
	assert_int_equal(counters(&r, fabric_port(&r.f, 0, 2))->xmit_bytes, 100);
	assert_int_equal(counters(&r, fabric_port(&r.f, 0, 1))->rcv_packets, 1);
	assert_int_equal(counters(&r, fabric_port(&r.f, 0, 2))->xmit_wait, 0);
	rig_fini(&r);
}

static void a_fast_link_waits_for_a_slow_one_before_it(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64, 1);
	rate_of_cable(&r, fabric_port(&r.f, 0, 1), half_byte_per_ps);
	rig_send(&r, 0, 0, 2, 100);
	rig_run(&r);
	/* h = 5, ready = 5 + (200 - 100) = 105, tail at 105 + 5 + 100 */
	assert_int_equal(rig_delivered(&r, 0), 210);
	rig_fini(&r);
}

static void a_buffer_of_one_packet_stalls_its_link(void **state)
{
	(void)state;
	/* delay and exact mode agree here: the reverse link is idle. */
	for (int exact = 0; exact < 2; exact++) {
		struct rig r;

		rig_pair(&r, 1, 1);
		r.f.setup.credits = exact ? SIM_CREDITS_EXACT : SIM_CREDITS_DELAY;
		rig_send_on(&r, 0, 3, 64);
		rig_run(&r);
		/* g = 0; tail at 69; credit at 80; so g = 80 and 160. */
		assert_int_equal(rig_delivered(&r, 0), 69);
		assert_int_equal(rig_delivered(&r, 1), 149);
		assert_int_equal(rig_delivered(&r, 2), 229);
		/* Waiting from 64 to 80 and from 144 to 160. */
		assert_int_equal(counters(&r, fabric_end_port(&r.f, 0))->xmit_wait, 32);
		assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->updates_sent,
				 exact ? 3 : 0);
		rig_fini(&r);
	}
}

static void an_update_waits_for_the_packet_on_the_reverse_link(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 1, 1);
	r.f.setup.credits = SIM_CREDITS_EXACT;
	rig_send_on(&r, 0, 2, 64);
	rig_send(&r, 60, 1, 1, 64);
	rig_run(&r);
	/*
	 * Tail at 69, but the reverse link is busy from 60 to 124: update at
	 * 124, usable at 135; packet 1 is delivered at 135 + 69.
	 */
	assert_int_equal(rig_delivered(&r, 0), 69);
	assert_int_equal(rig_delivered(&r, 1), 204);
	assert_int_equal(rig_delivered(&r, 2), 129);
	rig_fini(&r);
}

static void a_lost_update_is_never_usable_until_the_timer(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 1, 1);
	r.f.setup.credits = SIM_CREDITS_EXACT;
	r.f.setup.ports[fabric_end_port(&r.f, 1)].update_loss = 1;
	rig_send_on(&r, 0, 2, 64);
	rig_run(&r);
	assert_int_equal(rig_delivered(&r, 0), 69);
	assert_int_equal(rig_delivered(&r, 1), LOST);
	/* Waits from 64 to the horizon. */
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 0))->xmit_wait, HORIZON - 64);
	assert_int_equal(r.stats.updates_lost, 1);
	rig_fini(&r);
}

static void weights_give_their_sequence(void **state)
{
	struct rig r;
	struct vlarb *t;
	const unsigned vl0[4] = { 0, 1, 3, 4 }, vl1[2] = { 2, 5 };

	(void)state;
	rig_pair(&r, 64, 2);
	t = &r.f.subnet.vlarb_tables[0];
	t->n_low = 2;
	t->low[0] = (struct vlarb_entry){ 0, 2 };
	t->low[1] = (struct vlarb_entry){ 1, 1 };
	rig_send_on(&r, 0, 4, 64); /* flows 0..3 */
	rig_send_on(&r, 1, 2, 64); /* flows 4, 5 */
	rig_run(&r);
	/* 0 0 1 0 0 1 */
	for (uint32_t i = 0; i < 4; i++)
		assert_nth(&r, i, vl0[i], 64);
	for (uint32_t i = 0; i < 2; i++)
		assert_nth(&r, 4 + i, vl1[i], 64);
	rig_fini(&r);
}

static void a_weight_is_rounded_up_to_packets_and_not_carried(void **state)
{
	struct rig r;
	struct vlarb *t;
	const unsigned vl0[4] = { 0, 1, 3, 4 };

	(void)state;
	rig_pair(&r, 64, 2);
	t = &r.f.subnet.vlarb_tables[0];
	t->n_low = 2;
	t->low[0] = (struct vlarb_entry){ 0, 3 };
	t->low[1] = (struct vlarb_entry){ 1, 1 };
	rig_send_on(&r, 0, 4, 128);
	rig_send_on(&r, 1, 1, 128);
	rig_run(&r);
	/*
	 * VL0 has 3 blocks: 3, 1, -1 after two packets of 2. VL1 then has one.
	 * Back at VL0 with 3 again, not with 3 - 1, hence two more.
	 */
	for (uint32_t i = 0; i < 4; i++)
		assert_nth(&r, i, vl0[i], 128);
	assert_nth(&r, 4, 2, 128);
	rig_fini(&r);
}

static void the_high_limit_lets_low_in(void **state)
{
	/* Positions of the two low packets among six, by limit. */
	const struct {
		uint8_t limit;
		unsigned low[2];
	} cases[] = {
		{ 0, { 1, 3 } },   /* H L H L H H: one high packet each */
		{ 1, { 2, 5 } },   /* 4096 B = two of 2048: H H L H H L */
		{ 2, { 4, 5 } },   /* 8192 B = four of them: H H H H L L */
		{ 255, { 4, 5 } }, /* starved while high has something */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig r;
		struct vlarb *t;

		rig_pair(&r, 1024, 2);
		t = &r.f.subnet.vlarb_tables[0];
		t->n_high = t->n_low = 1;
		t->high[0] = (struct vlarb_entry){ 0, 255 };
		t->low[0] = (struct vlarb_entry){ 1, 1 };
		t->high_limit = cases[i].limit;
		rig_send_on(&r, 0, 4, 2048);
		rig_send_on(&r, 1, 2, 2048);
		struct oracle_case c = { &r.f.setup, r.arrivals, r.n_arrivals, 20000, 1 };
		oracle_run(&c, ORACLE_TRUE, &r.record, &r.stats);
		assert_nth(&r, 4, cases[i].low[0], 2048);
		assert_nth(&r, 5, cases[i].low[1], 2048);
		rig_fini(&r);
	}
}

static void an_expired_limit_restarts_without_low_entries(void **state)
{
	struct rig r;
	struct vlarb *t;

	(void)state;
	rig_pair(&r, 1024, 2);
	t = &r.f.subnet.vlarb_tables[0];
	t->n_high = t->n_low = 1;
	t->high[0] = (struct vlarb_entry){ 0, 255 };
	t->low[0] = (struct vlarb_entry){ 1, 1 };
	t->high_limit = 1;
	rig_send_on(&r, 0, 6, 2048);
	rig_send(&r, 4100, 0, 2, 2048)->sl = 1;
	struct oracle_case c = { &r.f.setup, r.arrivals, r.n_arrivals, 20000, 1 };
	oracle_run(&c, ORACLE_TRUE, &r.record, &r.stats);
	/*
	 * hi is 32 and 64 after the packets of 0 and 2048: expired. At 4096
	 * low has nothing: hi := 32. At 6144 low waits, but hi is not 64 yet;
	 * it is at 8192, so the fifth packet is low's.
	 */
	assert_nth(&r, 3, 3, 2048);
	assert_nth(&r, 6, 4, 2048);
	assert_nth(&r, 4, 5, 2048);
	rig_fini(&r);
}

static void strict_priority_serves_the_lowest_number(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 64, 4);
	r.f.setup.arbiter = SIM_STRICT;
	rig_send_on(&r, 3, 1, 64);
	rig_send_on(&r, 1, 1, 64);
	rig_send_on(&r, 0, 1, 64);
	rig_send(&r, 0, 0, 2, 64)->management = true;
	rig_run(&r);
	assert_nth(&r, 3, 0, 64);
	assert_nth(&r, 2, 1, 64);
	assert_nth(&r, 1, 2, 64);
	assert_nth(&r, 0, 3, 64);
	rig_fini(&r);
}

static void inputs_take_turns_from_port_0(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 3, 64, 1);
	rig_send(&r, 0, 0, 3, 64);
	rig_send(&r, 0, 0, 3, 64);
	rig_send(&r, 0, 1, 3, 64);
	rig_run(&r);
	/*
	 * Heads at 5 (ports 1 and 2) and 69 (port 1). Port 1 goes at 5, port 2
	 * at 69 (after the pointer), port 1 at 133; each arrives 69 later.
	 */
	assert_int_equal(rig_delivered(&r, 0), 74);
	assert_int_equal(rig_delivered(&r, 2), 138);
	assert_int_equal(rig_delivered(&r, 1), 202);
	/* The output is busy from 5 on, so nothing counts as waiting. */
	assert_int_equal(counters(&r, fabric_port(&r.f, 0, 3))->xmit_wait, 0);
	rig_fini(&r);
}

static void a_multicast_slot_is_freed_by_its_last_copy(void **state)
{
	struct rig r;
	uint32_t fast, slow;

	(void)state;
	rig_star(&r, 3, 1, 1);
	rate_of_cable(&r, fabric_port(&r.f, 0, 3), half_byte_per_ps);
	for (unsigned k = 1; k <= 3; k++)
		fabric_group_add(&r.f, LID_FIRST_MCAST, 0, k);
	rig_send(&r, 0, 0, LID_FIRST_MCAST, 64);
	rig_send(&r, 0, 0, LID_FIRST_MCAST, 64);
	rig_run(&r);
	fast = fabric_end_port(&r.f, 1);
	slow = fabric_end_port(&r.f, 2);
	/*
	 * h = 5; the copies leave until 69 and until 133. The credit is usable
	 * at 133 + 11 = 144; the second packet is 144 later than the first. No
	 * copy goes back to host 1. The sinks' credits are not missed: the
	 * slow one's tail is at 138, its credit at 138 + 5 + 12 = 155, and the
	 * second packet asks for it at 149: so it starts at 155.
	 */
	assert_int_equal(rig_when(&r, 0, SIM_DELIVERED, fast), 74);
	assert_int_equal(rig_when(&r, 0, SIM_DELIVERED, slow), 138);
	assert_int_equal(rig_when(&r, 1, SIM_DELIVERED, fast), 218);
	assert_int_equal(rig_when(&r, 1, SIM_DELIVERED, slow), 155 + 133);
	assert_int_equal(r.record.n_events, 4);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 0))->xmit_wait, 144 - 64);
	rig_fini(&r);
}

static void fifo_is_first_when_the_tail_before_has_left(void **state)
{
	(void)state;
	for (int fifo = 0; fifo < 2; fifo++) {
		struct rig r;

		rig_star(&r, 3, 64, 1);
		r.f.setup.sw.order = fifo ? SIM_FIFO : SIM_VOQ;
		r.f.setup.sw.arbitration = 2;
		rig_send(&r, 0, 0, 2, 64);
		rig_send(&r, 0, 0, 3, 64);
		rig_run(&r);
		/*
		 * Heads at 5 and 69. The first leaves from 7 to 71. The second
		 * is ready at 71 (voq), or at 71 + 2 (fifo).
		 */
		assert_int_equal(rig_delivered(&r, 0), 76);
		assert_int_equal(rig_delivered(&r, 1), fifo ? 142 : 140);
		rig_fini(&r);
	}
}

static void one_reader_reads_one_packet_at_a_time(void **state)
{
	(void)state;
	for (uint32_t readers = 0; readers < 2; readers++) {
		struct rig r;

		rig_star(&r, 3, 64, 2);
		r.f.setup.sw.readers = readers;
		rate_of_cable(&r, fabric_port(&r.f, 0, 2), half_byte_per_ps);
		rate_of_cable(&r, fabric_port(&r.f, 0, 3), half_byte_per_ps);
		rig_send(&r, 0, 0, 2, 64);
		rig_send(&r, 0, 0, 3, 64)->sl = 1;
		rig_run(&r);
		/*
		 * Heads at 5 and 69; the first moves from 5 to 133, and holds
		 * the reader so long.
		 */
		assert_int_equal(rig_delivered(&r, 0), 138);
		assert_int_equal(rig_delivered(&r, 1), readers ? 266 : 202);
		rig_fini(&r);
	}
}

static void a_crossbar_is_twice_as_fast_but_not_faster_than_its_input(void **s)
{
	struct rig r;

	(void)s;
	rig_star(&r, 3, 64, 1);
	r.f.setup.sw.queueing = SIM_CIOQ;
	r.f.setup.sw.speedup = (struct hd_ratio){ 2, 1 };
	r.f.setup.sw.routing = 1;
	r.f.setup.sw.arbitration = 2;
	rig_send(&r, 0, 0, 3, 64);
	rig_send(&r, 0, 1, 3, 64);
	rig_run(&r);
	/*
	 * Both ready at 8. Port 1: x1 = max(8 + 32, 5 + 3 + 64) = 72, on the
	 * link at max(8, 72 - 64) = 8. Port 2: g = 72, x1 = 104, ready for
	 * the link at 72, when that is free.
	 */
	assert_int_equal(rig_delivered(&r, 0), 77);
	assert_int_equal(rig_delivered(&r, 1), 141);
	rig_fini(&r);
}

static void a_full_output_buffer_holds_the_crossbar(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 3, 64, 1);
	r.f.setup.sw.queueing = SIM_CIOQ;
	r.f.setup.sw.speedup = (struct hd_ratio){ 2, 1 };
	r.f.setup.ports[fabric_port(&r.f, 0, 3)].out_blocks = 1;
	rate_of_cable(&r, fabric_port(&r.f, 0, 3), half_byte_per_ps);
	rig_send(&r, 0, 0, 3, 64);
	rig_send(&r, 0, 1, 3, 64);
	rig_run(&r);
	/*
	 * h = 5, D_out = 128: x1 = max(5 + 64, 69) = 69, link at 5, busy to
	 * 133, and so long the buffer is full. Then x1 = 197, ready for the
	 * link at max(133, 69) = 133; delivered at 133 + 5 + 128.
	 */
	assert_int_equal(rig_delivered(&r, 0), 138);
	assert_int_equal(rig_delivered(&r, 1), 266);
	rig_fini(&r);
}

static void vl15_needs_space_but_no_credit(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 1, 1);
	r.f.setup.ports[fabric_end_port(&r.f, 1)].vl15_blocks = 1;
	for (int i = 0; i < 3; i++)
		rig_send(&r, 0, 0, 2, 64)->management = true;
	rig_run(&r);
	/*
	 * Heads at 5, 69, 133. The first occupies from 5 to 69: too late for
	 * the second, which occupies nothing.
	 */
	assert_int_equal(rig_delivered(&r, 0), 69);
	assert_int_equal(rig_when(&r, 1, SIM_LOST_VL15, SIM_NONE), 69);
	assert_int_equal(rig_delivered(&r, 2), 197);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->vl15_dropped, 1);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->rcv_packets, 2);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_load_latency_is_the_closed_form),
		cmocka_unit_test(a_fast_link_waits_for_a_slow_one_before_it),
		cmocka_unit_test(a_buffer_of_one_packet_stalls_its_link),
		cmocka_unit_test(an_update_waits_for_the_packet_on_the_reverse_link),
		cmocka_unit_test(a_lost_update_is_never_usable_until_the_timer),
		cmocka_unit_test(weights_give_their_sequence),
		cmocka_unit_test(a_weight_is_rounded_up_to_packets_and_not_carried),
		cmocka_unit_test(the_high_limit_lets_low_in),
		cmocka_unit_test(strict_priority_serves_the_lowest_number),
		cmocka_unit_test(inputs_take_turns_from_port_0),
		cmocka_unit_test(a_multicast_slot_is_freed_by_its_last_copy),
		cmocka_unit_test(fifo_is_first_when_the_tail_before_has_left),
		cmocka_unit_test(one_reader_reads_one_packet_at_a_time),
		cmocka_unit_test(a_crossbar_is_twice_as_fast_but_not_faster_than_its_input),
		cmocka_unit_test(a_full_output_buffer_holds_the_crossbar),
		cmocka_unit_test(vl15_needs_space_but_no_credit),
		cmocka_unit_test(an_expired_limit_restarts_without_low_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
