/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Senders and congestion control (docs/timing-rules.md, T13p and C1 to C7) on one
 * switch with four hosts, where every instant follows by hand: a byte takes
 * 1 ps, a link 10 ps, a switch 7 + 3 ps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/setup_for_tests.h"
#include "sim/sim.h"

#define P          10
#define R          7
#define A          3
#define BYTES      1024 /* 16 blocks */
#define BLK        16
#define MOST       64
/* From the grant at a host to the delivery at another without other traffic. */
#define WAY(bytes) (2 * P + R + A + (hd_time)(bytes))

struct bed {
	struct test_fabric f;
	struct sim_control control;
	struct sim_throttle throttles[4];
	uint32_t throttle_of_flow[4];
	struct sim_arrival list[MOST];
	size_t n;
	struct sim_record record;
};

static void bed_init(struct bed *b, uint32_t in_blocks)
{
	const char *const words[] = { "star", "--hosts=4", NULL };
	const struct test_links links = {
		.rate = { UINT64_C(8000000000000), 1 },
		.propagation = P,
		.in_blocks = in_blocks,
		.vls = 1,
	};

	*b = (struct bed){ 0 };
	test_fabric_init(&b->f, words, "minhop", &links);
	b->f.setup.sw.routing = R;
	b->f.setup.sw.arbitration = A;
}

/* Gives each flow a throttle at the host of its number. */
static void bed_throttles(struct bed *b, const char *algorithm, double rmin, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		b->throttle_of_flow[i] = i;
		b->throttles[i] = (struct sim_throttle){
			.node = b->f.end_nodes[i],
			.sender = 1,
			.algorithm = algorithm ? cc_find(algorithm) : NULL,
			.config = cc_config_default(rmin, 1e9),
		};
	}
	b->control = (struct sim_control){
		.window = 1000,
		.throttles = b->throttles,
		.n_throttles = n,
		.throttle_of_flow = b->throttle_of_flow,
		.n_flows = n,
	};
	b->f.setup.control = &b->control;
}

static void bed_control(struct bed *b, const char *algorithm, double rmin)
{
	bed_throttles(b, algorithm, rmin, 4);
}

/* `flow` also names the host that sends; the next sequence of it. */
static void bed_send(struct bed *b, hd_time time, uint32_t flow, uint32_t to, uint16_t sender)
{
	uint32_t sequence = 0;

	for (size_t i = 0; i < b->n; i++)
		sequence += b->list[i].flow == flow;
	assert_true(b->n < MOST);
	b->list[b->n++] = (struct sim_arrival){
		.time = time,
		.flow = flow,
		.sequence = sequence,
		.source = b->f.end_nodes[flow % 4],
		.dlid = b->f.ends[to].dlid,
		.pkey = 0xffff,
		.bytes = BYTES,
		.sender = sender,
	};
}

static void bed_run(struct bed *b)
{
	sim_record_fini(&b->record);
	sim_replay(&b->f.setup, b->list, b->n, 100 * HD_MS, &b->record);
}

static const struct sim_event_record *end_of(const struct bed *b, enum sim_packet_kind kind,
					     uint32_t flow, uint32_t sequence)
{
	for (size_t i = 0; i < b->record.n_events; i++) {
		const struct sim_event_record *e = &b->record.events[i];

		if (e->kind == kind && e->flow == flow && e->sequence == sequence)
			return e;
	}
	fail_msg("no packet of kind %d, flow %u, sequence %u", (int)kind, flow, sequence);
	return NULL;
}

static void bed_fini(struct bed *b)
{
	sim_record_fini(&b->record);
	test_fabric_fini(&b->f);
}

/* ---- senders --------------------------------------------------------- */

/* Flow 4k + host belongs to sender k: three of them at host 0. */
static void senders_take_turns_however_much_each_has(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, 2048);
	for (unsigned i = 0; i < 6; i++)
		bed_send(&b, 0, 0, 1, 0);
	for (unsigned i = 0; i < 2; i++)
		bed_send(&b, 0, 4, 1, 1);
	for (unsigned i = 0; i < 4; i++)
		bed_send(&b, 0, 8, 1, 2);
	bed_run(&b);
	/* 0 1 2, 0 1 2, 0 2, 0 2, 0, 0 */
	static const struct {
		uint32_t flow, sequence;
	} order[] = { { 0, 0 }, { 4, 0 }, { 8, 0 }, { 0, 1 }, { 4, 1 }, { 8, 1 },
		      { 0, 2 }, { 8, 2 }, { 0, 3 }, { 8, 3 }, { 0, 4 }, { 0, 5 } };

	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(end_of(&b, SIM_DATA, order[i].flow, order[i].sequence)->time,
				 i * BYTES + WAY(BYTES));
	bed_fini(&b);
}

static void a_sender_whose_packet_lacks_credits_is_passed_over(void **state)
{
	struct bed b;

	(void)state;
	/* Room for 17 blocks: a large packet and a small one. */
	bed_init(&b, BLK + 1);
	bed_send(&b, 0, 0, 1, 0);
	bed_send(&b, 1, 4, 1, 1);
	bed_send(&b, 1, 8, 1, 2);
	b.list[2].bytes = 64;
	bed_run(&b);
	assert_int_equal(end_of(&b, SIM_DATA, 0, 0)->time, WAY(BYTES));
	/* Sender 2 starts when the link is free, sender 1 after it: by then
	 * the credit is there. */
	assert_int_equal(end_of(&b, SIM_DATA, 8, 0)->time, BYTES + WAY(64));
	assert_int_equal(end_of(&b, SIM_DATA, 4, 0)->time, BYTES + 64 + WAY(BYTES));
	bed_fini(&b);
}

/* ---- throttles ------------------------------------------------------- */

/* 3e5 packets a second, each the ceiling of 1/3e5 s after the one before. */
static void a_throttle_keeps_its_gap_to_the_picosecond(void **state)
{
	const hd_time gap = 3333334;

	(void)state;
	for (unsigned fixed = 0; fixed < 2; fixed++) {
		struct bed b;

		bed_init(&b, 2048);
		bed_control(&b, "fimd", 3e5);
		b.control.fixed_gap = fixed;
		b.control.ack_delay = HD_S; /* after the run */
		for (unsigned i = 0; i < 5; i++)
			bed_send(&b, 0, 0, 1, 0);
		bed_run(&b);
		for (uint32_t i = 0; i < 5; i++)
			assert_int_equal(end_of(&b, SIM_DATA, 0, i)->time, i * gap + WAY(BYTES));
		bed_fini(&b);
	}
}

/* An answer that arrives while the source waits moves the next start, or not. */
static void the_gap_follows_the_rate_unless_it_is_fixed(void **state)
{
	(void)state;
	for (unsigned fixed = 0; fixed < 2; fixed++) {
		struct bed b;
		struct cc_state s;

		bed_init(&b, 2048);
		bed_control(&b, "fimd", 1e5);
		const struct cc_config *config = &b.throttles[0].config;

		cc_init(cc_find("fimd"), config, &s);
		hd_time before = cc_gap(cc_find("fimd"), config, &s, BYTES);
		cc_on_ack(cc_find("fimd"), config, &s, false, 0);
		hd_time after = cc_gap(cc_find("fimd"), config, &s, BYTES);

		assert_true(after < before);
		b.control.fixed_gap = fixed;
		b.control.ack_delay = 5000;
		bed_send(&b, 0, 0, 1, 0);
		bed_send(&b, 0, 0, 1, 0);
		bed_run(&b);
		assert_int_equal(end_of(&b, SIM_DATA, 0, 1)->time,
				 (fixed ? before : after) + WAY(BYTES));
		bed_fini(&b);
	}
}

/* Without an algorithm only the window holds it back. */
static void a_window_waits_for_its_acknowledgement(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, 2048);
	bed_control(&b, NULL, 1);
	b.control.window = 1;
	for (unsigned i = 0; i < 3; i++)
		bed_send(&b, 0, 0, 1, 0);
	bed_run(&b);
	const hd_time round = WAY(BYTES) + WAY(SIM_ACK_BYTES);

	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(end_of(&b, SIM_DATA, 0, i)->time, i * round + WAY(BYTES));
		assert_int_equal(end_of(&b, SIM_ACK, 0, i)->time, (i + 1) * round);
	}
	bed_fini(&b);
}

static void a_window_that_was_lost_is_forgotten_after_its_time(void **state)
{
	struct bed b;
	struct sim_fault fault = { .time = 0, .kind = SIM_LINK_DOWN };

	(void)state;
	bed_init(&b, 2048);
	bed_control(&b, NULL, 1);
	b.control.window = 1;
	b.control.timeout = 7777;
	fault.port = b.f.setup.nodes[b.f.end_nodes[1]].first_port + 1;
	b.f.setup.faults = &fault;
	b.f.setup.n_faults = 1;
	for (unsigned i = 0; i < 3; i++)
		bed_send(&b, 0, 0, 1, 0);
	bed_run(&b);
	for (uint32_t i = 0; i < 3; i++) {
		const struct sim_event_record *e = end_of(&b, SIM_DATA, 0, i);

		assert_int_equal(e->fate, SIM_LOST_DISCARD);
		assert_int_equal(e->time, i * 7777 + P + R + A);
	}
	bed_fini(&b);
}

/* Flows of a port and SL share a throttle, and take turns in it. */
static void flows_of_one_throttle_take_turns(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, 2048);
	bed_control(&b, NULL, 1);
	b.control.n_throttles = 1;
	b.throttle_of_flow[1] = 0;
	b.throttle_of_flow[2] = b.throttle_of_flow[3] = SIM_NONE;
	b.control.ack_delay = 1;
	for (unsigned i = 0; i < 3; i++)
		bed_send(&b, 0, 0, 2, 0);
	for (unsigned i = 0; i < 3; i++) {
		bed_send(&b, 0, 1, 3, 0);
		b.list[b.n - 1].source = b.f.end_nodes[0];
	}
	bed_run(&b);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(end_of(&b, SIM_DATA, 0, i)->time, 2 * i * BYTES + WAY(BYTES));
		assert_int_equal(end_of(&b, SIM_DATA, 1, i)->time,
				 (2 * i + 1) * BYTES + WAY(BYTES));
	}
	bed_fini(&b);
}

/* ---- marks ----------------------------------------------------------- */

/* Hosts 0 and 1 send a packet each to host 2 at once; checks which is marked. */
static void two_meet(struct bed *b, const struct mark_config *marking, uint32_t in_blocks,
		     enum sim_echo echo)
{
	bed_init(b, in_blocks);
	bed_control(b, NULL, 1);
	b->control.marking = *marking;
	b->control.echo = echo;
	bed_send(b, 0, 0, 2, 0);
	bed_send(b, 0, 1, 2, 0);
	bed_run(b);
}

static void check_marks(const struct mark_config *marking, uint32_t in_blocks, bool first,
			bool second)
{
	struct bed b;

	two_meet(&b, marking, in_blocks, SIM_ECHO_ACK);
	assert_int_equal(end_of(&b, SIM_DATA, 0, 0)->marked, first);
	assert_int_equal(end_of(&b, SIM_DATA, 1, 0)->marked, second);
	assert_int_equal(end_of(&b, SIM_ACK, 0, 0)->marked, first);
	assert_int_equal(end_of(&b, SIM_ACK, 1, 0)->marked, second);
	bed_fini(&b);
}

static void each_rule_marks_whom_it_says(void **state)
{
	struct mark_config m = { .rule = MARK_THRESHOLD };

	(void)state;
	/* Two wait when the first starts, one when the second does. */
	m.depth = 2 * BLK;
	check_marks(&m, 2048, true, false);
	m.depth = BLK;
	check_marks(&m, 2048, true, true);
	m.depth = 2 * BLK + 1;
	check_marks(&m, 2048, false, false);
	/* T is reached at (16 - T)/16 of a buffer of 16 packets. */
	m = (struct mark_config){ .rule = MARK_IBA, .threshold = 14 };
	check_marks(&m, 16 * BLK, true, false);
	m.threshold = 15;
	check_marks(&m, 16 * BLK, true, true);
	m.mark_every = 1;
	check_marks(&m, 16 * BLK, false, true);
	m.min_bytes = BYTES + 1;
	check_marks(&m, 16 * BLK, false, false);
	/* A buffer of one packet is full with it; both outputs have two. */
	m = (struct mark_config){ .rule = MARK_TWO_COUNTER, .guard = true };
	check_marks(&m, BLK, true, true);
	check_marks(&m, 2 * BLK, false, false);
	check_marks(&m, 2 * BLK - 1, true, true);
}

static void guard_ignores_waits_without_contention(void **state)
{
	(void)state;
	for (unsigned guard = 0; guard < 2; guard++) {
		struct bed b;

		bed_init(&b, BLK);
		bed_control(&b, NULL, 1);
		b.control.marking =
			(struct mark_config){ .rule = MARK_TWO_COUNTER, .guard = guard };
		bed_send(&b, 0, 0, 2, 0);
		bed_run(&b);
		assert_int_equal(end_of(&b, SIM_DATA, 0, 0)->marked, !guard);
		bed_fini(&b);
	}
}

/* Across two switches, the second of which has this number of blocks to fill. */
static bool marked_on_the_way(uint32_t blocks, bool victims)
{
	const char *const words[] = { "mesh", "--columns=2", "--rows=1", "--hosts=1", NULL };
	const struct test_links links = {
		.rate = { UINT64_C(8000000000000), 1 },
		.propagation = P,
		.in_blocks = blocks,
		.vls = 1,
	};
	struct bed b = { 0 };

	test_fabric_init(&b.f, words, "minhop", &links);
	bed_throttles(&b, NULL, 1, 2);
	b.control.n_throttles = b.control.n_flows = 1;
	/* 10/16 of a buffer: the one packet is that at the first switch. */
	b.control.marking =
		(struct mark_config){ .rule = MARK_IBA, .threshold = 6, .mark_victims = victims };
	const struct sim_node *host = &b.f.setup.nodes[b.f.end_nodes[0]];

	b.f.setup.ports[b.f.setup.ports[host->first_port + 1].peer].in_blocks = BLK;
	bed_send(&b, 0, 0, 1, 0);
	bed_run(&b);
	bool marked = end_of(&b, SIM_DATA, 0, 0)->marked;

	bed_fini(&b);
	return marked;
}

static void an_output_without_credits_for_two_is_a_victim(void **state)
{
	(void)state;
	assert_true(marked_on_the_way(2 * BLK, false));
	assert_false(marked_on_the_way(2 * BLK - 1, false));
	assert_true(marked_on_the_way(2 * BLK - 1, true));
}

/* ---- answers --------------------------------------------------------- */

static void a_marked_packet_is_answered_by_a_cnp_and_then_an_ack(void **state)
{
	const struct mark_config m = { .rule = MARK_THRESHOLD, .depth = 2 * BLK };
	struct bed b;

	(void)state;
	two_meet(&b, &m, 2048, SIM_ECHO_CNP);
	hd_time at = end_of(&b, SIM_DATA, 0, 0)->time;
	const struct sim_event_record *cnp = end_of(&b, SIM_CNP, 0, 0);
	const struct sim_event_record *ack = end_of(&b, SIM_ACK, 0, 0);

	assert_int_equal(at, WAY(BYTES));
	assert_true(cnp->marked);
	assert_false(ack->marked);
	assert_int_equal(cnp->time, at + WAY(SIM_CNP_BYTES));
	assert_int_equal(ack->time, at + SIM_CNP_BYTES + WAY(SIM_ACK_BYTES));
	assert_int_equal(cnp->where, b.f.setup.nodes[b.f.end_nodes[0]].first_port + 1);
	bed_fini(&b);
}

/* ---- observers and endpoints ----------------------------------------- */

struct seen {
	unsigned granted, delivered;
	uint32_t order[8];
};

static void see_granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct seen *seen = context;

	(void)now;
	(void)port;
	(void)p;
	seen->granted++;
}

static void see_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct seen *seen = context;

	(void)now;
	(void)node;
	if (seen->delivered < 8)
		seen->order[seen->delivered] = p->cookie;
	seen->delivered++;
}

static struct sim *new_sim(struct bed *b)
{
	struct sim_rules rules;

	bed_init(b, 2048);
	sim_rules_init(&rules);
	rules.injects = true;
	rules.injects_bytes = BYTES;
	return sim_new(&b->f.setup, NULL, 0, &rules);
}

static struct sim_arrival packet(const struct bed *b, hd_time time, uint32_t from, uint32_t to)
{
	return (struct sim_arrival){
		.time = time,
		.source = b->f.end_nodes[from],
		.dlid = b->f.ends[to].dlid,
		.pkey = 0xffff,
		.bytes = BYTES,
	};
}

static void many_observers_and_endpoints_are_notified(void **state)
{
	struct seen watch[2] = { 0 }, mine = { 0 }, theirs = { 0 };
	struct bed b;

	(void)state;
	struct sim *s = new_sim(&b);

	for (unsigned i = 0; i < 2; i++)
		sim_observe(s, &(struct sim_observer){ .context = &watch[i],
						       .granted = see_granted,
						       .delivered = see_delivered });
	uint32_t a = sim_attach(
		s, &(struct sim_endpoint){ .context = &mine, .delivered = see_delivered });
	uint32_t c = sim_attach(
		s, &(struct sim_endpoint){ .context = &theirs, .delivered = see_delivered });
	struct sim_arrival p = packet(&b, 0, 0, 1);

	/* Two of one and one of the other wait at one port: turns. */
	sim_inject(s, a, &p, 1);
	sim_inject(s, a, &p, 2);
	sim_inject(s, c, &p, 3);
	assert_int_equal(sim_run(s, HD_S, NULL, NULL), SIM_IDLE);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(watch[i].granted, 6);
		assert_int_equal(watch[i].delivered, 3);
		assert_int_equal(watch[i].order[0], 1);
		assert_int_equal(watch[i].order[1], 3);
		assert_int_equal(watch[i].order[2], 2);
	}
	assert_int_equal(mine.delivered, 2);
	assert_int_equal(theirs.delivered, 1);
	sim_free(s);
	bed_fini(&b);
}

/* Packets injected in any order enter by time, then by turn, then in order of injection. */
static void injected_packets_enter_in_order(void **state)
{
	static const struct {
		hd_time time;
		uint8_t turn;
	} given[] = { { 30000, 1 }, { 10000, 2 }, { 30000, 1 }, { 20000, 1 },
		      { 30000, 0 }, { 30000, 2 }, { 30000, 0 } };
	static const uint32_t order[] = { 1, 3, 4, 6, 0, 2, 5 };
	struct seen seen = { 0 };
	struct bed b;

	(void)state;
	struct sim *s = new_sim(&b);
	uint32_t e = sim_attach(
		s, &(struct sim_endpoint){ .context = &seen, .delivered = see_delivered });

	for (uint32_t i = 0; i < 7; i++) {
		struct sim_arrival p = packet(&b, given[i].time, 0, 1);

		p.turn = given[i].turn;
		sim_inject(s, e, &p, i);
	}
	assert_int_equal(sim_run(s, HD_S, NULL, NULL), SIM_IDLE);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(seen.order[i], order[i]);
	sim_free(s);
	bed_fini(&b);
}

/*
 * Host 0 is far away: what it sent first, and has the lower number, arrives
 * last. A sink that was stuck hands over by tail.
 */
static void a_stuck_sink_hands_over_by_tail(void **state)
{
	struct sim_fault faults[2] = {
		{ .time = 0, .kind = SIM_SINK_STUCK },
		{ .time = HD_MS, .kind = SIM_SINK_FREE },
	};
	struct seen seen = { 0 };
	struct bed b;

	(void)state;
	bed_init(&b, 2048);
	uint32_t far = b.f.setup.nodes[b.f.end_nodes[0]].first_port + 1;

	b.f.setup.ports[far].propagation = HD_US;
	b.f.setup.ports[b.f.setup.ports[far].peer].propagation = HD_US;
	for (unsigned i = 0; i < 2; i++)
		faults[i].port = b.f.setup.nodes[b.f.end_nodes[2]].first_port + 1;
	b.f.setup.faults = faults;
	b.f.setup.n_faults = 2;
	struct sim_rules rules;

	sim_rules_init(&rules);
	rules.injects = true;
	rules.injects_bytes = BYTES;
	struct sim *s = sim_new(&b.f.setup, NULL, 0, &rules);
	uint32_t e = sim_attach(
		s, &(struct sim_endpoint){ .context = &seen, .delivered = see_delivered });
	struct sim_arrival p = packet(&b, 0, 0, 2), q = packet(&b, 5, 1, 2);

	sim_inject(s, e, &p, 7);
	sim_inject(s, e, &q, 8);
	sim_run(s, 2 * HD_MS, NULL, NULL);
	assert_int_equal(seen.delivered, 2);
	assert_int_equal(seen.order[0], 8);
	assert_int_equal(seen.order[1], 7);
	sim_free(s);
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senders_take_turns_however_much_each_has),
		cmocka_unit_test(a_sender_whose_packet_lacks_credits_is_passed_over),
		cmocka_unit_test(a_throttle_keeps_its_gap_to_the_picosecond),
		cmocka_unit_test(the_gap_follows_the_rate_unless_it_is_fixed),
		cmocka_unit_test(a_window_waits_for_its_acknowledgement),
		cmocka_unit_test(a_window_that_was_lost_is_forgotten_after_its_time),
		cmocka_unit_test(flows_of_one_throttle_take_turns),
		cmocka_unit_test(each_rule_marks_whom_it_says),
		cmocka_unit_test(guard_ignores_waits_without_contention),
		cmocka_unit_test(an_output_without_credits_for_two_is_a_victim),
		cmocka_unit_test(a_marked_packet_is_answered_by_a_cnp_and_then_an_ack),
		cmocka_unit_test(many_observers_and_endpoints_are_notified),
		cmocka_unit_test(injected_packets_enter_in_order),
		cmocka_unit_test(a_stuck_sink_hands_over_by_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
