/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C9: congestion control whose settings change during a run, on two switches
 * with hosts, where every instant follows by hand: a byte takes 1 ps, a link
 * 10 ps, a switch no time. Each as a whole, in two parts, and in two parts
 * after a checkpoint of the whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/setup_for_tests.h"
#include "sim/sim.h"

#define P      10
#define BYTES  1024 /* 16 blocks */
#define BUFFER 256  /* blocks: 16 packets */
#define N      8

struct bed {
	struct test_fabric f;
	struct sim_control control;
	struct sim_throttle throttles[2];
	uint32_t throttle_of_flow[2];
	struct sim_control_change settings[2];
	struct sim_record record;
};

/* Flow 0 from host 0 and flow 1 from host 1, to host 2 at the other switch. */
static void bed_init(struct bed *b, const char *algorithm)
{
	const char *const words[] = { "mesh", "--columns=2", "--rows=1", "--hosts=2", NULL };
	const struct test_links links = {
		.rate = { UINT64_C(8000000000000), 1 },
		.propagation = P,
		.in_blocks = BUFFER,
		.vls = 1,
	};

	*b = (struct bed){ 0 };
	test_fabric_init(&b->f, words, "minhop", &links);
	for (uint32_t i = 0; i < 2; i++) {
		b->throttle_of_flow[i] = i;
		b->throttles[i] = (struct sim_throttle){
			.node = b->f.end_nodes[i],
			.sender = 1,
			.algorithm = algorithm ? cc_find(algorithm) : NULL,
			.config = cc_config_default(1, 1e9),
		};
	}
	b->control = (struct sim_control){
		.window = 1000,
		.ack_delay = HD_S, /* after the run */
		.throttles = b->throttles,
		.n_throttles = 2,
		.throttle_of_flow = b->throttle_of_flow,
		.n_flows = 2,
	};
	b->f.setup.control = &b->control;
	b->f.setup.settings = b->settings;
}

static void bed_fini(struct bed *b)
{
	sim_record_fini(&b->record);
	test_fabric_fini(&b->f);
}

enum how { WHOLE, IF_DOMAIN, RESTARTED, N_HOWS };

/* Sends this number of packets of the first flow, and one of each other flow, at once. */
static void bed_run(struct bed *b, uint32_t n, uint32_t flows, enum how how)
{
	const struct sim_restart restart = { 5 * BYTES, { 1, 1 }, { 2, 1 } };
	struct sim_arrival list[N + 1];
	uint32_t k = 0;

	for (uint32_t i = 0; i < n + flows - 1; i++)
		list[k++] = (struct sim_arrival){
			.flow = i < n ? 0 : 1,
			.sequence = i < n ? i : 0,
			.source = b->f.end_nodes[i < n ? 0 : 1],
			.dlid = b->f.ends[2].dlid,
			.pkey = 0xffff,
			.bytes = BYTES,
		};
	const struct sim_replay what = { &b->f.setup, list, k, HD_MS };

	if (how == RESTARTED)
		assert_true(sim_replay_restart(&what, &restart, &b->record));
	else
		assert_int_equal(sim_replay_parts(what.setup, list, k, what.horizon,
						  how == IF_DOMAIN ? restart.after : restart.before,
						  &b->record),
				 how == IF_DOMAIN ? 2 : 1);
}

static const struct sim_event_record *end_of(const struct bed *b, uint32_t flow, uint32_t sequence)
{
	for (size_t i = 0; i < b->record.n_events; i++) {
		const struct sim_event_record *e = &b->record.events[i];

		if (e->flow == flow && e->sequence == sequence)
			return e;
	}
	fail_msg("no packet %u of flow %u", sequence, flow);
	return NULL;
}

/* A table that adds a delay of this many packet times after each packet. */
static struct cc_config delaying(uint16_t packets)
{
	struct cc_config c = cc_config_default(1, 1e9);

	c.cct[0] = packets;
	return c;
}

/* When the packet after one that started at `last` starts. */
static hd_time next_start(hd_time last, hd_time slow_from, hd_time slow_to)
{
	hd_time fast = last + BYTES, slow = last + 4 * BYTES;

	if (fast < slow_from || fast >= slow_to)
		return fast;
	return slow < slow_to ? slow : slow_to;
}

/* A delay of three packets holds from one time to another. */
static void check_delays(hd_time from, hd_time to, enum how how)
{
	const struct cc_config slow[] = { delaying(3), delaying(3) };
	const struct cc_config fast[] = { delaying(0), delaying(0) };
	struct bed b;
	hd_time start = 0;

	bed_init(&b, "cct");
	b.throttles[0].config = fast[0];
	b.settings[0] = (struct sim_control_change){ .time = from, .configs = slow };
	b.settings[1] = (struct sim_control_change){ .time = to, .configs = fast };
	b.f.setup.n_settings = 2;
	bed_run(&b, N, 1, how);
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(end_of(&b, 0, i)->time, start + 3 * P + BYTES);
		start = next_start(start, from, to);
	}
	bed_fini(&b);
}

/* Also of a packet that waits already. */
static void tables_delay_from_the_instant_of_their_change(void **state)
{
	const hd_time from = 3 * BYTES + 1;

	(void)state;
	for (enum how how = WHOLE; how < N_HOWS; how++)
		for (hd_time to = from; to < 20 * BYTES; to += BYTES / 2 - 1)
			check_delays(from, to, how);
}

/*
 * Two packets meet at an output, and follow each other at the other switch: a
 * grant is by what holds then, and one packet that waits is enough for a mark.
 */
static void check_marks(enum how how)
{
	const hd_time last_grants[] = { 2 * P, 2 * P + BYTES };

	for (hd_time at = 1; at < 2 * BYTES; at += at < 2 * P + 2 ? 1 : BYTES / 4) {
		struct bed b;

		bed_init(&b, NULL);
		const struct cc_config same[] = { b.throttles[0].config, b.throttles[1].config };

		b.control.marking = (struct mark_config){ .rule = MARK_IBA };
		b.settings[0] = (struct sim_control_change){ at,
							     { .rule = MARK_IBA, .threshold = 15 },
							     same };
		b.f.setup.n_settings = 1;
		bed_run(&b, 1, 2, how);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(end_of(&b, i, 0)->marked, last_grants[i] >= at);
		bed_fini(&b);
	}
}

static void switches_mark_from_the_instant_of_the_change(void **state)
{
	(void)state;
	for (enum how how = WHOLE; how < N_HOWS; how++)
		check_marks(how);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_delay_from_the_instant_of_their_change),
		cmocka_unit_test(switches_mark_from_the_instant_of_the_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
