/* SPDX-License-Identifier: BSD-2-Clause */
/* The oracle against times worked out by hand (rig.h): faults (A1, F1-F7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rig.h"

static const struct sim_counters *counters(const struct rig *r, uint32_t port)
{
	return &r->record.counters[port];
}

static void fault_add(struct rig *r, hd_time time, enum sim_fault_kind kind, uint32_t port)
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
		rig_send_on(&r, 0, 2, 64);
		fault_add(&r, down, SIM_LINK_DOWN, fabric_end_port(&r.f, 0));
		fault_add(&r, 100, SIM_LINK_UP, fabric_end_port(&r.f, 1));
		rig_run(&r);
		/*
		 * The head arrives at 5. The second packet starts at 100, when
		 * the buffer is known to be empty.
		 */
		if (down == 5)
			assert_int_equal(rig_when(&r, 0, SIM_LOST_LINK, SIM_NONE), 5);
		else
			assert_int_equal(rig_delivered(&r, 0), 69);
		assert_int_equal(rig_delivered(&r, 1), 169);
		assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->link_lost, down == 5);
		rig_fini(&r);
	}
}

static void a_switch_discards_towards_a_dead_link(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 2, 1, 1);
	fault_add(&r, 0, SIM_LINK_DOWN, fabric_end_port(&r.f, 1));
	rig_send(&r, 0, 0, 2, 64);
	rig_send(&r, 0, 0, 2, 64);
	rig_run(&r);
	/*
	 * Ready and discarded at 5; it leaves its buffer with its tail, at
	 * 69; the credit is back at 80; the next is discarded at 85.
	 */
	assert_int_equal(rig_when(&r, 0, SIM_LOST_DISCARD, SIM_NONE), 5);
	assert_int_equal(rig_when(&r, 1, SIM_LOST_DISCARD, SIM_NONE), 85);
	assert_int_equal(counters(&r, fabric_port(&r.f, 0, 2))->xmit_discards, 2);
	rig_fini(&r);
}

static void a_packet_lives_so_long_at_the_head_of_its_queue(void **state)
{
	struct rig r;

	(void)state;
	rig_star(&r, 3, 64, 1);
	r.f.setup.ports[fabric_port(&r.f, 0, 3)].hoq_life = 64;
	rig_send(&r, 0, 0, 3, 64);
	rig_send(&r, 0, 1, 3, 64);
	rig_send(&r, 10, 1, 3, 64);
	rig_run(&r);
	/*
	 * Port 1 goes at 5. Port 2's first is ready at 5 and the link is free
	 * at 69, when its life ends: too late. Its second, head at 69, takes
	 * the link at 69.
	 */
	assert_int_equal(rig_delivered(&r, 0), 74);
	assert_int_equal(rig_when(&r, 1, SIM_LOST_DISCARD, SIM_NONE), 69);
	assert_int_equal(rig_delivered(&r, 2), 138);
	rig_fini(&r);
}

static void a_corrupted_packet_is_dropped_and_gives_its_space_back(void **state)
{
	struct rig r;

	(void)state;
	rig_pair(&r, 1, 1);
	r.f.setup.ports[fabric_end_port(&r.f, 0)].ber = 1;
	rig_send_on(&r, 0, 2, 64);
	rig_run(&r);
	/* Heads at 5 and, one credit round of 80 later, at 85. */
	assert_int_equal(rig_when(&r, 0, SIM_LOST_CORRUPT, SIM_NONE), 5);
	assert_int_equal(rig_when(&r, 1, SIM_LOST_CORRUPT, SIM_NONE), 85);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->rcv_errors, 2);
	assert_int_equal(counters(&r, fabric_end_port(&r.f, 1))->rcv_packets, 0);
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
	rig_send_on(&r, 0, 2, 64);
	rig_run(&r);
	/* Tail at 69, in [69, 300); credit at 311. */
	assert_int_equal(rig_delivered(&r, 0), 300);
	assert_int_equal(rig_delivered(&r, 1), 380);
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
	rig_send_on(&r, 0, 2, 64);
	rig_run(&r);
	/* Tails at 69, in [60, 300), and at 311 + 69, in [300, 500). */
	assert_int_equal(rig_delivered(&r, 0), 300);
	assert_int_equal(rig_delivered(&r, 1), 500);
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
	rig_send(&r, 0, 0, 2, 64);
	rig_send(&r, 0, 0, 2, 64);
	rig_run(&r);
	/*
	 * Heads at 5 and 69. Granted by the crossbar at 5 with x1 = 69, so
	 * ready for the link at 5: discarded at 5. The crossbar's output is
	 * busy until 69, when the second takes the same way.
	 */
	assert_int_equal(rig_when(&r, 0, SIM_LOST_DISCARD, SIM_NONE), 5);
	assert_int_equal(rig_when(&r, 1, SIM_LOST_DISCARD, SIM_NONE), 69);
	rig_fini(&r);
}

static void drops_packets_without_route_vl_or_key_at_the_head(void **state)
{
	struct rig r;
	struct pkey_table *keys;

	(void)state;
	rig_star(&r, 2, 64, 2);
	r.f.subnet.n_sl2vl_tables = 2;
	r.f.subnet.sl2vl_tables[1] = r.f.subnet.sl2vl_tables[0];
	r.f.subnet.sl2vl_tables[1].vl[1] = 15;
	r.f.subnet.sl2vl_of_pair[0][1 * 3 + 2] = 1;
	keys = &r.f.subnet.pkeys[r.f.setup.ports[fabric_port(&r.f, 0, 1)].origin];
	keys->enforce_in = true;
	keys->keys[0] = 0x7fff; /* of a limited member, who sends so */
	keys->n = 1;
	rig_send(&r, 0, 0, 2, 64)->pkey = 0xfffe;
	rig_send(&r, 0, 0, 9, 64);
	rig_send(&r, 0, 0, 2, 64)->sl = 1;
	rig_send(&r, 0, 0, 2, 64)->pkey = 0x7fff;
	rig_run(&r);
	/*
	 * VL0's three come first, at 5, 69 and 133, if VL1 were not taking
	 * turns: weight 255 for VL0, so it does not. VL1's head is at 197.
	 */
	assert_int_equal(rig_when(&r, 0, SIM_LOST_PARTITION, SIM_NONE), 5);
	assert_int_equal(rig_when(&r, 1, SIM_LOST_NO_ROUTE, SIM_NONE), 69);
	assert_int_equal(rig_delivered(&r, 3), 133 + 69);
	assert_int_equal(rig_when(&r, 2, SIM_LOST_DISCARD, SIM_NONE), 197);
	rig_fini(&r);
}

static void an_end_port_refuses_foreign_partitions_stuck_or_not(void **state)
{
	struct rig r;
	struct pkey_table *keys;
	uint32_t sink;

	(void)state;
	rig_pair(&r, 1, 1);
	sink = fabric_end_port(&r.f, 1);
	keys = &r.f.subnet.pkeys[r.f.setup.ports[sink].origin];
	keys->enforce_in = true;
	keys->keys[0] = 0x7fff; /* a limited member */
	keys->n = 1;
	fault_add(&r, 0, SIM_SINK_STUCK, sink);
	fault_add(&r, 300, SIM_SINK_FREE, sink);
	rig_send(&r, 0, 0, 2, 64)->pkey = 0xfffe;
	rig_send(&r, 0, 0, 2, 64)->pkey = 0x7fff; /* another one */
	rig_send(&r, 0, 0, 2, 64)->pkey = 0xffff;
	rig_run(&r);
	/* Space for one: free at 69 and 149, credits at 80 and 160. */
	assert_int_equal(rig_when(&r, 0, SIM_LOST_PARTITION, sink), 5);
	assert_int_equal(rig_when(&r, 1, SIM_LOST_PARTITION, sink), 85);
	assert_int_equal(rig_delivered(&r, 2), 300);
	assert_int_equal(counters(&r, sink)->rcv_constraint_errors, 2);
	assert_int_equal(counters(&r, sink)->rcv_packets, 3);
	rig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_that_goes_down_loses_what_has_not_arrived),
		cmocka_unit_test(a_switch_discards_towards_a_dead_link),
		cmocka_unit_test(a_packet_lives_so_long_at_the_head_of_its_queue),
		cmocka_unit_test(a_corrupted_packet_is_dropped_and_gives_its_space_back),
		cmocka_unit_test(a_stuck_sink_holds_packet_and_space),
		cmocka_unit_test(a_sink_that_sticks_again_delivers_what_it_held),
		cmocka_unit_test(a_crossbar_feeds_a_dead_link_and_all_is_discarded),
		cmocka_unit_test(drops_packets_without_route_vl_or_key_at_the_head),
		cmocka_unit_test(an_end_port_refuses_foreign_partitions_stuck_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
