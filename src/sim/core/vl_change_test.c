/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * T11l: SL2VL, VLs in operation and partitions that change during a run, on
 * one switch with hosts, where every instant follows by hand: a byte takes 1
 * ps, a link 10 ps, a switch no time, and no packet meets another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/setup_for_tests.h"
#include "sim/sim.h"

#define P     10
#define BYTES 640
#define EVERY 1000
#define N     20
#define KEY   0x8001

/* The fabric at first, and as it is from a time on. */
struct bed {
	struct test_fabric first, then;
	struct sim_path_change change;
	struct sim_record record;
};

static void bed_init(struct bed *b, uint8_t vls, uint8_t vls_then)
{
	const char *const words[] = { "star", "--hosts=3", NULL };
	struct test_links links = {
		.rate = { UINT64_C(8000000000000), 1 },
		.propagation = P,
		.in_blocks = 64,
		.vls = vls,
	};

	*b = (struct bed){ 0 };
	test_fabric_init(&b->first, words, "minhop", &links);
	links.vls = vls_then;
	test_fabric_init(&b->then, words, "minhop", &links);
}

static void bed_fini(struct bed *b)
{
	sim_record_fini(&b->record);
	test_fabric_fini(&b->first);
	test_fabric_fini(&b->then);
}

/* Both VLs have a weight, whichever are in operation. */
static void set_weights(struct bed *b)
{
	const struct vlarb both = { .low = { { 0, 10 }, { 1, 10 } }, .n_low = 2 };

	for (port_id p = 0; p < b->first.topo.n_ports; p++)
		subnet_set_vlarb(&b->first.subnet, p, &both);
}

static hd_time born(uint32_t i)
{
	return (hd_time)i * EVERY;
}

static void change_at(struct bed *b, hd_time at)
{
	b->change = (struct sim_path_change){ at, &b->then.subnet, .vls = true };
	b->first.setup.paths = &b->change;
	b->first.setup.n_paths = 1;
}

static struct sim_flow flow_of(const struct bed *b, uint16_t key, hd_time interval)
{
	return (struct sim_flow){
		.kind = SIM_CBR,
		.source = b->first.end_nodes[0],
		.to = { .choice = SIM_TO_FIXED,
			.list = &b->first.ends[1],
			.n = 1,
			.self = SIM_NONE },
		.pkey = key,
		.bytes = BYTES,
		.packets = 1,
		.interval = { interval, 1 },
	};
}

/* Host 0 sends to host 1, one after the other; `at`: the change. */
static void bed_run(struct bed *b, hd_time at, uint16_t key)
{
	struct test_fabric *f = &b->first;
	struct sim_arrival list[N];

	for (uint32_t i = 0; i < N; i++)
		list[i] = (struct sim_arrival){
			.time = born(i),
			.sequence = i,
			.source = f->end_nodes[0],
			.dlid = f->ends[1].dlid,
			.pkey = key,
			.bytes = BYTES,
			.sl = 3,
		};
	change_at(b, at);
	sim_record_fini(&b->record);
	sim_replay(&f->setup, list, N, HD_US, &b->record);
	assert_int_equal(b->record.n_events, N);
}

static uint32_t host_port(const struct bed *b, unsigned host)
{
	const struct sim_setup *u = &b->first.setup;

	return u->nodes[b->first.end_nodes[host]].first_port + 1;
}

static uint32_t switch_port(const struct bed *b, unsigned host)
{
	return b->first.setup.ports[host_port(b, host)].peer;
}

static void set_vl(struct subnet *s, uint8_t vl)
{
	struct sl2vl map = sl2vl_default(8);

	map.vl[3] = vl;
	for (port_id p = 0; p < s->topo->n_ports; p++)
		if (topo_is_end_port(s->topo, p))
			subnet_set_port_sl2vl(s, p, &map);
	for (unsigned in = 0; in <= 3; in++)
		for (unsigned out = 0; out <= 3; out++)
			subnet_set_sl2vl(s, 0, in, out, &map);
}

/* Number of packets that reached a place, `after` their creation, at or after `at`. */
static unsigned later(hd_time after, hd_time at)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < N; i++)
		n += born(i) + after >= at;
	return n;
}

/* All instants around creation and arrival of the tenth packet. */
#define FIRST_TIME (born(10) - 1)
#define LAST_TIME  (born(10) + 2 * P + 1)

static void vls_are_those_of_the_instant(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, 2, 2);
	set_vl(&b.first.subnet, 0);
	set_vl(&b.then.subnet, 1);
	for (hd_time at = FIRST_TIME; at <= LAST_TIME; at++) {
		bed_run(&b, at, 0xffff);
		const struct sim_counters *c = b.record.counters;

		assert_int_equal(c[host_port(&b, 0)].xmit_packets_vl[1], later(0, at));
		assert_int_equal(c[switch_port(&b, 1)].xmit_packets_vl[1], later(P, at));
		assert_int_equal(c[switch_port(&b, 1)].xmit_packets_vl[0], N - later(P, at));
	}
	bed_fini(&b);
}

static unsigned ended(const struct bed *b, enum sim_fate fate, uint32_t where)
{
	unsigned n = 0;

	for (size_t i = 0; i < b->record.n_events; i++)
		n += b->record.events[i].fate == fate && b->record.events[i].where == where;
	return n;
}

/* VL 1 is no longer in operation, or not yet, at hosts and switch. */
static void vls_go_out_of_operation_and_come(void **state)
{
	struct bed b;

	(void)state;
	for (unsigned rises = 0; rises < 2; rises++) {
		bed_init(&b, rises ? 1 : 2, rises ? 2 : 1);
		set_weights(&b);
		set_vl(&b.first.subnet, 1);
		set_vl(&b.then.subnet, 1);
		for (hd_time at = FIRST_TIME; at <= LAST_TIME; at++) {
			bed_run(&b, at, 0xffff);
			unsigned born_then = later(0, at);
			unsigned came_then = later(P, at);

			assert_int_equal(ended(&b, SIM_LOST_DISCARD, host_port(&b, 0)),
					 rises ? N - born_then : born_then);
			assert_int_equal(ended(&b, SIM_DELIVERED, host_port(&b, 1)),
					 rises ? born_then : N - came_then);
		}
		bed_fini(&b);
	}
}

static void set_keys(struct subnet *s, port_id p, uint16_t key, bool in, bool out)
{
	subnet_set_pkeys(s, p, &key, 1);
	s->pkeys[p].enforce_in = in;
	s->pkeys[p].enforce_out = out;
}

/* At the input and output of the switch, and at the host. */
static void partitions_are_those_of_the_instant(void **state)
{
	(void)state;
	for (unsigned place = 0; place < 3; place++) {
		struct bed b;

		bed_init(&b, 1, 1);
		uint32_t port = place == 0   ? switch_port(&b, 0)
				: place == 1 ? switch_port(&b, 1)
					     : host_port(&b, 1);

		set_keys(&b.first.subnet, port, KEY, place != 1, place == 1);
		set_keys(&b.then.subnet, port, KEY + 1, place != 1, place == 1);
		for (hd_time at = FIRST_TIME; at <= LAST_TIME; at++) {
			unsigned n = later(place == 2 ? 2 * P : P, at);

			bed_run(&b, at, KEY);
			assert_int_equal(ended(&b, SIM_LOST_PARTITION, port), n);
			bed_run(&b, at, KEY + 1);
			assert_int_equal(ended(&b, SIM_LOST_PARTITION, port), N - n);
		}
		bed_fini(&b);
	}
}

static void note_key(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	uint16_t *keys = context;

	(void)port;
	if (now / EVERY < N)
		keys[now / EVERY] = p->pkey;
}

/* A flow sends with its source's key, which becomes a limited member's. */
static void sources_send_with_the_key_that_they_have(void **state)
{
	const hd_time at = born(10);
	uint16_t keys[N] = { 0 };
	struct bed b;

	(void)state;
	bed_init(&b, 1, 1);
	set_keys(&b.first.subnet, host_port(&b, 0), KEY, false, false);
	set_keys(&b.then.subnet, host_port(&b, 0), KEY & 0x7fff, false, false);
	change_at(&b, at);
	const struct sim_flow flow = flow_of(&b, KEY, EVERY);
	const struct sim_observer observer = { .context = keys, .granted = note_key };
	struct sim_rules rules;

	sim_rules_init(&rules);
	rules.stop = born(N);
	struct sim *s = sim_new(&b.first.setup, &flow, 1, &rules);

	sim_observe(s, &observer);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	sim_free(s);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(keys[i], born(i) >= at ? KEY & 0x7fff : KEY);
	bed_fini(&b);
}

/*
 * Packets are created faster than they leave. When the SL moves to another VL, packets wait on the
 * old one, and the arbiter sends packets of the new one between them; behind the switch all are on
 * one VL.
 */
static void vls_overtake_each_other(void **state)
{
	struct sim_rules rules;
	struct bed b;

	(void)state;
	bed_init(&b, 2, 2);
	set_weights(&b);
	set_vl(&b.first.subnet, 0);
	set_vl(&b.then.subnet, 1);
	change_at(&b, 10 * BYTES);
	struct sim_flow flow = flow_of(&b, 0xffff, BYTES / 2);

	flow.sl = 3;
	flow.count = 4 * N;

	sim_rules_init(&rules);
	rules.check_order = true;
	struct sim *s = sim_new(&b.first.setup, &flow, 1, &rules);

	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	assert_int_equal(sim_metrics(s)->delivered, 4 * N);
	assert_true(sim_metrics(s)->checks.out_of_order > 0);
	sim_free(s);
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vls_are_those_of_the_instant),
		cmocka_unit_test(vls_go_out_of_operation_and_come),
		cmocka_unit_test(partitions_are_those_of_the_instant),
		cmocka_unit_test(sources_send_with_the_key_that_they_have),
		cmocka_unit_test(vls_overtake_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
