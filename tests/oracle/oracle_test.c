/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oracle against times worked out by hand from docs/model.md.
 *
 * Unless a test says otherwise a byte takes 1 ps on every link, so that D is
 * the number of bytes; P is 5 ps; switches are input-queued and voq with
 * r = a = 0; a tick is 1 ps. An update (6 bytes) takes 6 ps, hence a credit
 * is usable 5 + 6 = 11 ps after its space came free.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fabric.h"
#include "oracle.h"

#define MAX_ARRIVALS 64
#define HORIZON      4000
#define LOST         UINT64_C(999999) /* no event of this packet */

static const struct hd_rate byte_per_ps = { UINT64_C(8000000000000), 1 };
static const struct hd_rate half_byte_per_ps = { UINT64_C(4000000000000), 1 };

struct rig {
	struct fabric f;
	struct sim_arrival arrivals[MAX_ARRIVALS];
	size_t n_arrivals;
	struct sim_record record;
	struct oracle_stats stats;
};

static void rig_links(struct rig *r, uint32_t in_blocks, uint8_t vls)
{
	fabric_links_set(&r->f, &(struct fabric_link){
					.rate = byte_per_ps,
					.propagation = 5,
					.in_blocks = in_blocks,
					.out_blocks = 64,
					.vl15_blocks = 64,
					.vls = vls,
				});
}

/* Two hosts and a cable. */
static void rig_pair(struct rig *r, uint32_t in_blocks, uint8_t vls)
{
	*r = (struct rig){ 0 };
	fabric_init(&r->f);
	node_id a = fabric_host(&r->f), b = fabric_host(&r->f);

	fabric_cable(&r->f, a, 1, b, 1);
	fabric_finish(&r->f);
	rig_links(r, in_blocks, vls);
}

/* Switch 0 with host k (LID k, end k - 1) on port k = 1 .. n. */
static void rig_star(struct rig *r, unsigned n, uint32_t in_blocks, uint8_t vls)
{
	*r = (struct rig){ 0 };
	fabric_init(&r->f);
	node_id sw = fabric_switch(&r->f, n);

	for (unsigned k = 1; k <= n; k++)
		fabric_cable(&r->f, sw, k, fabric_host(&r->f), 1);
	fabric_finish(&r->f);
	for (unsigned k = 1; k <= n; k++)
		fabric_route(&r->f, sw, (lid_t)k, k);
	rig_links(r, in_blocks, vls);
}

static void rate_of_cable(struct rig *r, uint32_t port, struct hd_rate rate)
{
	struct sim_port *ports = r->f.setup.ports;

	ports[port].rate = rate;
	ports[ports[port].peer].rate = rate;
}

static struct sim_arrival *send(struct rig *r, hd_time time, uint32_t end,
				lid_t dlid, uint32_t bytes)
{
	struct sim_arrival *a = &r->arrivals[r->n_arrivals];

	*a = (struct sim_arrival){
		.time = time,
		.flow = (uint32_t)r->n_arrivals,
		.source = r->f.ends[end],
		.dlid = dlid,
		.pkey = 0xffff,
		.bytes = bytes,
	};
	r->n_arrivals++;
	return a;
}

static void send_on(struct rig *r, uint8_t sl, unsigned times, uint32_t bytes)
{
	for (unsigned i = 0; i < times; i++)
		send(r, 0, 0, 2, bytes)->sl = sl;
}

static void run(struct rig *r)
{
	struct oracle_case c = { &r->f.setup, r->arrivals, r->n_arrivals,
				 HORIZON, 1 };

	oracle_run(&c, ORACLE_TRUE, &r->record, &r->stats);
}

static void rig_fini(struct rig *r)
{
	oracle_record_fini(&r->record);
	fabric_fini(&r->f);
}

/* When packet `flow` met `fate`, anywhere or at one port. */
static hd_time when_at(const struct rig *r, uint32_t flow, enum sim_fate fate,
		       uint32_t where)
{
	for (size_t i = 0; i < r->record.n_events; i++) {
		const struct sim_event_record *e = &r->record.events[i];

		if (e->flow == flow && e->fate == fate &&
		    (where == SIM_NONE || e->where == where))
			return e->time;
	}
	return LOST;
}

static hd_time delivered(const struct rig *r, uint32_t flow)
{
	return when_at(r, flow, SIM_DELIVERED, SIM_NONE);
}

static const struct sim_counters *counters(const struct rig *r, uint32_t port)
{
	return &r->record.counters[port];
}

/* Packet flow must be the n-th (from 0) of equal ones back to back. */
static void assert_nth(const struct rig *r, uint32_t flow, unsigned n,
		       uint32_t bytes)
{
	assert_int_equal(delivered(r, flow), (hd_time)n * bytes + 5 + bytes);
}

static void zero_load_latency_is_the_closed_form(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64, 1);
	r.f.setup.sw.routing = 3;
	r.f.setup.sw.arbitration = 2;
	send(&r, 7, 0, 2, 100);
	run(&r);
	/* 7 + P + (r + a) + P + D = 7 + 5 + 5 + 5 + 100 */
	assert_int_equal(delivered(&r, 0), 122);
	assert_int_equal(r.record.n_events, 1);
	assert_int_equal(counters(&r, fabric_port(&r.f, 0, 2))->xmit_bytes,
			 100);
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
	send(&r, 0, 0, 2, 100);
	run(&r);
	/* h = 5, ready = 5 + (200 - 100) = 105, tail at 105 + 5 + 100 */
	assert_int_equal(delivered(&r, 0), 210);
	rig_fini(&r);
}

static void a_buffer_of_one_packet_stalls_its_link(void **state)
{
	(void)state;
	/* delay and exact mode agree here: the reverse link is idle. */
	for (int exact = 0; exact < 2; exact++) {
		struct rig r;

		rig_pair(&r, 1, 1);
		r.f.setup.credits =
			exact ? SIM_CREDITS_EXACT : SIM_CREDITS_DELAY;
		send_on(&r, 0, 3, 64);
		run(&r);
		/* g = 0; tail at 69; credit at 80; so g = 80 and 160. */
		assert_int_equal(delivered(&r, 0), 69);
		assert_int_equal(delivered(&r, 1), 149);
		assert_int_equal(delivered(&r, 2), 229);
		/* Waiting from 64 to 80 and from 144 to 160. */
		assert_int_equal(
			counters(&r, fabric_end_port(&r.f, 0))->xmit_wait, 32);
		assert_int_equal(
			counters(&r, fabric_end_port(&r.f, 1))->updates_sent,
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
	send_on(&r, 0, 2, 64);
	send(&r, 60, 1, 1, 64);
	run(&r);
	/*
	 * Tail at 69, but the reverse link is busy from 60 to 124: update at
	 * 124, usable at 135; packet 1 is delivered at 135 + 69.
	 */
	assert_int_equal(delivered(&r, 0), 69);
	assert_int_equal(delivered(&r, 1), 204);
	assert_int_equal(delivered(&r, 2), 129);
	rig_fini(&r);
}

static void a_lost_update_is_never_usable_until_the_timer(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 1, 1);
	r.f.setup.credits = SIM_CREDITS_EXACT;
	r.f.setup.ports[fabric_end_port(&r.f, 1)].update_loss = 1;
	send_on(&r, 0, 2, 64);
	run(&r);
	assert_int_equal(delivered(&r, 0), 69);
	assert_int_equal(delivered(&r, 1), LOST);
	/* Waits from 64 to the horizon. */
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 0))->xmit_wait,
			 HORIZON - 64);
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
	send_on(&r, 0, 4, 64); /* flows 0..3 */
	send_on(&r, 1, 2, 64); /* flows 4, 5 */
	run(&r);
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
	send_on(&r, 0, 4, 128);
	send_on(&r, 1, 1, 128);
	run(&r);
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
		send_on(&r, 0, 4, 2048);
		send_on(&r, 1, 2, 2048);
		struct oracle_case c = { &r.f.setup, r.arrivals, r.n_arrivals,
					 20000, 1 };
		oracle_run(&c, ORACLE_TRUE, &r.record, &r.stats);
		assert_nth(&r, 4, cases[i].low[0], 2048);
		assert_nth(&r, 5, cases[i].low[1], 2048);
		rig_fini(&r);
	}
}

static void an_expired_limit_starts_anew_if_low_has_nothing(void **state)
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
	send_on(&r, 0, 6, 2048);
	send(&r, 4100, 0, 2, 2048)->sl = 1;
	struct oracle_case c = { &r.f.setup, r.arrivals, r.n_arrivals, 20000,
				 1 };
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
	send_on(&r, 3, 1, 64);
	send_on(&r, 1, 1, 64);
	send_on(&r, 0, 1, 64);
	send(&r, 0, 0, 2, 64)->management = true;
	run(&r);
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
	send(&r, 0, 0, 3, 64);
	send(&r, 0, 0, 3, 64);
	send(&r, 0, 1, 3, 64);
	run(&r);
	/*
	 * Heads at 5 (ports 1 and 2) and 69 (port 1). Port 1 goes at 5, port 2
	 * at 69 (after the pointer), port 1 at 133; each arrives 69 later.
	 */
	assert_int_equal(delivered(&r, 0), 74);
	assert_int_equal(delivered(&r, 2), 138);
	assert_int_equal(delivered(&r, 1), 202);
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
	send(&r, 0, 0, LID_FIRST_MCAST, 64);
	send(&r, 0, 0, LID_FIRST_MCAST, 64);
	run(&r);
	fast = fabric_end_port(&r.f, 1);
	slow = fabric_end_port(&r.f, 2);
	/*
	 * h = 5; the copies leave until 69 and until 133. The credit is usable
	 * at 133 + 11 = 144; the second packet is 144 later than the first. No
	 * copy goes back to host 1. The sinks' credits are not missed: the
	 * slow one's tail is at 138, its credit at 138 + 5 + 12 = 155, and the
	 * second packet asks for it at 149: so it starts at 155.
	 */
	assert_int_equal(when_at(&r, 0, SIM_DELIVERED, fast), 74);
	assert_int_equal(when_at(&r, 0, SIM_DELIVERED, slow), 138);
	assert_int_equal(when_at(&r, 1, SIM_DELIVERED, fast), 218);
	assert_int_equal(when_at(&r, 1, SIM_DELIVERED, slow), 155 + 133);
	assert_int_equal(r.record.n_events, 4);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 0))->xmit_wait,
			 144 - 64);
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
		send(&r, 0, 0, 2, 64);
		send(&r, 0, 0, 3, 64);
		run(&r);
		/*
		 * Heads at 5 and 69. The first leaves from 7 to 71. The second
		 * is ready at 71 (voq), or at 71 + 2 (fifo).
		 */
		assert_int_equal(delivered(&r, 0), 76);
		assert_int_equal(delivered(&r, 1), fifo ? 142 : 140);
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
		send(&r, 0, 0, 2, 64);
		send(&r, 0, 0, 3, 64)->sl = 1;
		run(&r);
		/*
		 * Heads at 5 and 69; the first moves from 5 to 133, and holds
		 * the reader so long.
		 */
		assert_int_equal(delivered(&r, 0), 138);
		assert_int_equal(delivered(&r, 1), readers ? 266 : 202);
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
	send(&r, 0, 0, 3, 64);
	send(&r, 0, 1, 3, 64);
	run(&r);
	/*
	 * Both ready at 8. Port 1: x1 = max(8 + 32, 5 + 3 + 64) = 72, on the
	 * link at max(8, 72 - 64) = 8. Port 2: g = 72, x1 = 104, ready for
	 * the link at 72, when that is free.
	 */
	assert_int_equal(delivered(&r, 0), 77);
	assert_int_equal(delivered(&r, 1), 141);
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
	send(&r, 0, 0, 3, 64);
	send(&r, 0, 1, 3, 64);
	run(&r);
	/*
	 * h = 5, D_out = 128: x1 = max(5 + 64, 69) = 69, link at 5, busy to
	 * 133, and so long the buffer is full. Then x1 = 197, ready for the
	 * link at max(133, 69) = 133; delivered at 133 + 5 + 128.
	 */
	assert_int_equal(delivered(&r, 0), 138);
	assert_int_equal(delivered(&r, 1), 266);
	rig_fini(&r);
}

static void vl15_needs_space_but_no_credit(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 1, 1);
	r.f.setup.ports[fabric_end_port(&r.f, 1)].vl15_blocks = 1;
	for (int i = 0; i < 3; i++)
		send(&r, 0, 0, 2, 64)->management = true;
	run(&r);
	/*
	 * Heads at 5, 69, 133. The first occupies from 5 to 69: too late for
	 * the second, which occupies nothing.
	 */
	assert_int_equal(delivered(&r, 0), 69);
	assert_int_equal(when_at(&r, 1, SIM_LOST_VL15, SIM_NONE), 69);
	assert_int_equal(delivered(&r, 2), 197);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->vl15_dropped,
			 1);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->rcv_packets,
			 2);
	rig_fini(&r);
}

static void fault_add(struct rig *r, hd_time time, enum sim_fault_kind kind,
		      uint32_t port)
{
	struct sim_setup *s = &r->f.setup;

	s->faults = realloc(s->faults, (s->n_faults + 1) * sizeof(*s->faults));
	assert_non_null(s->faults);
	s->faults[s->n_faults++] = (struct sim_fault){ time, kind, port };
}

static void a_link_that_goes_down_loses_what_has_not_arrived(void **state)
{
	(void)state;
	for (hd_time down = 5; down <= 6; down++) {
		struct rig r;

		rig_pair(&r, 1, 1);
		send_on(&r, 0, 2, 64);
		fault_add(&r, down, SIM_LINK_DOWN, fabric_end_port(&r.f, 0));
		fault_add(&r, 100, SIM_LINK_UP, fabric_end_port(&r.f, 1));
		run(&r);
		/*
		 * The head arrives at 5. The second packet starts at 100, when
		 * the buffer is known to be empty.
		 */
		if (down == 5)
			assert_int_equal(
				when_at(&r, 0, SIM_LOST_LINK, SIM_NONE), 5);
		else
			assert_int_equal(delivered(&r, 0), 69);
		assert_int_equal(delivered(&r, 1), 169);
		assert_int_equal(
			counters(&r, fabric_end_port(&r.f, 1))->link_lost,
			down == 5);
		rig_fini(&r);
	}
}

static void a_switch_discards_towards_a_dead_link(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 1, 1);
	fault_add(&r, 0, SIM_LINK_DOWN, fabric_end_port(&r.f, 1));
	send(&r, 0, 0, 2, 64);
	send(&r, 0, 0, 2, 64);
	run(&r);
	/*
	 * Ready and discarded at 5; it leaves its buffer with its tail, at
	 * 69; the credit is back at 80; the next is discarded at 85.
	 */
	assert_int_equal(when_at(&r, 0, SIM_LOST_DISCARD, SIM_NONE), 5);
	assert_int_equal(when_at(&r, 1, SIM_LOST_DISCARD, SIM_NONE), 85);
	assert_int_equal(counters(&r, fabric_port(&r.f, 0, 2))->xmit_discards,
			 2);
	rig_fini(&r);
}

static void a_packet_lives_so_long_at_the_head_of_its_queue(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 3, 64, 1);
	r.f.setup.ports[fabric_port(&r.f, 0, 3)].hoq_life = 64;
	send(&r, 0, 0, 3, 64);
	send(&r, 0, 1, 3, 64);
	send(&r, 10, 1, 3, 64);
	run(&r);
	/*
	 * Port 1 goes at 5. Port 2's first is ready at 5 and the link is free
	 * at 69, when its life ends: too late. Its second, head at 69, takes
	 * the link at 69.
	 */
	assert_int_equal(delivered(&r, 0), 74);
	assert_int_equal(when_at(&r, 1, SIM_LOST_DISCARD, SIM_NONE), 69);
	assert_int_equal(delivered(&r, 2), 138);
	rig_fini(&r);
}

static void a_corrupted_packet_is_dropped_and_gives_its_space_back(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 1, 1);
	r.f.setup.ports[fabric_end_port(&r.f, 0)].ber = 1;
	send_on(&r, 0, 2, 64);
	run(&r);
	/* Heads at 5 and, one credit round of 80 later, at 85. */
	assert_int_equal(when_at(&r, 0, SIM_LOST_CORRUPT, SIM_NONE), 5);
	assert_int_equal(when_at(&r, 1, SIM_LOST_CORRUPT, SIM_NONE), 85);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->rcv_errors, 2);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->rcv_packets,
			 0);
	rig_fini(&r);
}

static void a_stuck_sink_holds_packet_and_space(void **state)
{
	struct rig r;
	uint32_t sink;

	(void)state;
	rig_pair(&r, 1, 1);
	sink = fabric_end_port(&r.f, 1);
	fault_add(&r, 69, SIM_SINK_STUCK, sink);
	fault_add(&r, 300, SIM_SINK_FREE, sink);
	send_on(&r, 0, 2, 64);
	run(&r);
	/* Tail at 69, in [69, 300); credit at 311. */
	assert_int_equal(delivered(&r, 0), 300);
	assert_int_equal(delivered(&r, 1), 380);
	rig_fini(&r);
}

static void a_sink_that_sticks_again_delivers_what_it_held(void **state)
{
	struct rig r;
	uint32_t sink;

	(void)state;
	rig_pair(&r, 1, 1);
	sink = fabric_end_port(&r.f, 1);
	fault_add(&r, 60, SIM_SINK_STUCK, sink);
	fault_add(&r, 300, SIM_SINK_FREE, sink);
	fault_add(&r, 300, SIM_SINK_STUCK, sink);
	fault_add(&r, 500, SIM_SINK_FREE, sink);
	send_on(&r, 0, 2, 64);
	run(&r);
	/* Tails at 69, in [60, 300), and at 311 + 69, in [300, 500). */
	assert_int_equal(delivered(&r, 0), 300);
	assert_int_equal(delivered(&r, 1), 500);
	rig_fini(&r);
}

static void a_crossbar_feeds_a_dead_link_and_all_is_discarded(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 64, 1);
	r.f.setup.sw.queueing = SIM_CIOQ;
	r.f.setup.sw.speedup = (struct hd_ratio){ 2, 1 };
	fault_add(&r, 0, SIM_LINK_DOWN, fabric_end_port(&r.f, 1));
	send(&r, 0, 0, 2, 64);
	send(&r, 0, 0, 2, 64);
	run(&r);
	/*
	 * Heads at 5 and 69. Granted by the crossbar at 5 with x1 = 69, so
	 * ready for the link at 5: discarded at 5. The crossbar's output is
	 * busy until 69, when the second takes the same way.
	 */
	assert_int_equal(when_at(&r, 0, SIM_LOST_DISCARD, SIM_NONE), 5);
	assert_int_equal(when_at(&r, 1, SIM_LOST_DISCARD, SIM_NONE), 69);
	rig_fini(&r);
}

static void what_has_no_route_lane_or_key_is_dropped_at_its_head(void **state)
{
	struct rig r;
	struct pkey_table *keys;

	(void)state;
	rig_star(&r, 2, 64, 2);
	r.f.subnet.n_sl2vl_tables = 2;
	r.f.subnet.sl2vl_tables[1] = r.f.subnet.sl2vl_tables[0];
	r.f.subnet.sl2vl_tables[1].vl[1] = 15;
	r.f.subnet.sl2vl_of_pair[0][1 * 3 + 2] = 1;
	keys = &r.f.subnet
			.pkeys[r.f.setup.ports[fabric_port(&r.f, 0, 1)].origin];
	keys->enforce_in = true;
	keys->keys[0] = 0x7fff; /* of a limited member, who sends so */
	keys->n = 1;
	send(&r, 0, 0, 2, 64)->pkey = 0xfffe;
	send(&r, 0, 0, 9, 64);
	send(&r, 0, 0, 2, 64)->sl = 1;
	send(&r, 0, 0, 2, 64)->pkey = 0x7fff;
	run(&r);
	/*
	 * VL0's three come first, at 5, 69 and 133, if VL1 were not taking
	 * turns: weight 255 for VL0, so it does not. VL1's head is at 197.
	 */
	assert_int_equal(when_at(&r, 0, SIM_LOST_PARTITION, SIM_NONE), 5);
	assert_int_equal(when_at(&r, 1, SIM_LOST_NO_ROUTE, SIM_NONE), 69);
	assert_int_equal(delivered(&r, 3), 133 + 69);
	assert_int_equal(when_at(&r, 2, SIM_LOST_DISCARD, SIM_NONE), 197);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_load_latency_is_the_closed_form),
		cmocka_unit_test(a_fast_link_waits_for_a_slow_one_before_it),
		cmocka_unit_test(a_buffer_of_one_packet_stalls_its_link),
		cmocka_unit_test(
			an_update_waits_for_the_packet_on_the_reverse_link),
		cmocka_unit_test(a_lost_update_is_never_usable_until_the_timer),
		cmocka_unit_test(weights_give_their_sequence),
		cmocka_unit_test(
			a_weight_is_rounded_up_to_packets_and_not_carried),
		cmocka_unit_test(the_high_limit_lets_low_in),
		cmocka_unit_test(strict_priority_serves_the_lowest_number),
		cmocka_unit_test(inputs_take_turns_from_port_0),
		cmocka_unit_test(a_multicast_slot_is_freed_by_its_last_copy),
		cmocka_unit_test(fifo_is_first_when_the_tail_before_has_left),
		cmocka_unit_test(one_reader_reads_one_packet_at_a_time),
		cmocka_unit_test(
			a_crossbar_is_twice_as_fast_but_not_faster_than_its_input),
		cmocka_unit_test(a_full_output_buffer_holds_the_crossbar),
		cmocka_unit_test(vl15_needs_space_but_no_credit),
		cmocka_unit_test(
			a_link_that_goes_down_loses_what_has_not_arrived),
		cmocka_unit_test(a_switch_discards_towards_a_dead_link),
		cmocka_unit_test(
			a_packet_lives_so_long_at_the_head_of_its_queue),
		cmocka_unit_test(
			a_corrupted_packet_is_dropped_and_gives_its_space_back),
		cmocka_unit_test(a_stuck_sink_holds_packet_and_space),
		cmocka_unit_test(
			a_sink_that_sticks_again_delivers_what_it_held),
		cmocka_unit_test(
			a_crossbar_feeds_a_dead_link_and_all_is_discarded),
		cmocka_unit_test(
			an_expired_limit_starts_anew_if_low_has_nothing),
		cmocka_unit_test(
			what_has_no_route_lane_or_key_is_dropped_at_its_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
