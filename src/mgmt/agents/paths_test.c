/* SPDX-License-Identifier: BSD-2-Clause */
/* The way of data by tables that were set through MADs. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mgmt/agents/agents.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

enum { SWITCHES = 3, HOST = 8, GROUP = 0xC000, DATA = 64 };

struct world {
	struct topo topo;
	struct agents *agents;
	unsigned passed, ended;
	bool has[SWITCHES]; /* which hosts */
};

static port_id host_of(const struct world *w, unsigned i)
{
	return topo_port_of(&w->topo, SWITCHES + i, 1);
}

static void pass(void *context, port_id out, port_id in)
{
	struct world *w = context;

	assert_int_equal(w->topo.ports[out].peer, in);
	w->passed++;
}

static void arrive(void *context, port_id end)
{
	struct world *w = context;

	w->ended++;
	for (unsigned i = 0; i < SWITCHES; i++)
		w->has[i] |= host_of(w, i) == end;
}

/* A ring of switches by ports 1 and 2, with a host on port 8 of each. */
static void start(struct world *w)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { 0 };

	*w = (struct world){ 0 };
	topo_init(&w->topo);
	for (unsigned i = 0; i < SWITCHES; i++)
		add_switch(&w->topo, HOST);
	for (unsigned i = 0; i < SWITCHES; i++)
		join(&w->topo, i, 1, (i + 1) % SWITCHES, 2);
	for (unsigned i = 0; i < SWITCHES; i++)
		add_host(&w->topo, i, HOST);
	topo_number_subnets(&w->topo);
	w->agents = agents_new(&w->topo, &o, &e);
	for (port_id p = 0; p < w->topo.n_ports; p++)
		if (agents_port_get(w->agents, p, PORT_STATE) == LINK_INIT)
			agents_port_set(w->agents, p, PORT_STATE, LINK_ACTIVE);
	for (unsigned i = 0; i < SWITCHES; i++)
		agents_port_set(w->agents, host_of(w, i), PORT_LID, i + 1);
}

static void finish(struct world *w)
{
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* A table of switch `i`, set by its own host. */
static void set(struct world *w, unsigned i, uint16_t attribute, const uint8_t *data)
{
	struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				.method = MAD_SET,
				.hop_count = 1,
				.attribute = attribute };
	const struct mad_address to = { .lid = 0xFFFF };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	memset(mad + 32, 0xFF, 4);
	mad[128 + 1] = 1;
	memcpy(mad + DATA, data, 64);
	agents_send(w->agents, host_of(w, i), &to, mad, MAD_SIZE, 0);
}

static void set_group(struct world *w, unsigned i, uint16_t ports)
{
	uint8_t data[64] = { 0 };

	store_be16(data, ports);
	set(w, i, ATTR_MULTICAST_FORWARDING, data);
}

static void follow(struct world *w, unsigned from, uint16_t lid)
{
	const struct agents_way way = { pass, arrive, w };

	w->passed = w->ended = 0;
	memset(w->has, 0, sizeof(w->has));
	agents_follow(w->agents, host_of(w, from), lid, 0, &way);
}

enum { ON = 1 << 1, BACK = 1 << 2, OWN = 1 << HOST };

static void a_tree_brings_one_copy_to_each_member(void **state)
{
	struct world w;

	(void)state;
	start(&w);
	set_group(&w, 0, ON | OWN);
	set_group(&w, 1, ON | BACK | OWN);
	set_group(&w, 2, BACK | OWN);
	for (unsigned i = 0; i < SWITCHES; i++) {
		follow(&w, i, GROUP);
		assert_int_equal(w.ended, SWITCHES - 1);
		/* Its own cable, two between switches, two to members. */
		assert_int_equal(w.passed, 1 + 2 + 2);
		for (unsigned k = 0; k < SWITCHES; k++)
			assert_int_equal(w.has[k], k != i);
	}
	finish(&w);
}

/* Copies go round and meet their switch again: an end all the same. */
static void a_circle_ends(void **state)
{
	struct world w;

	(void)state;
	start(&w);
	for (unsigned i = 0; i < SWITCHES; i++)
		set_group(&w, i, ON | BACK | OWN);
	follow(&w, 0, GROUP);
	assert_true(w.has[0] && w.has[1] && w.has[2]);
	assert_true(w.passed <= w.topo.n_ports);
	finish(&w);
}

/* Also by forwarding tables; and one that leads to its host arrives. */
static void a_circle_of_forwarding_loses_the_packet(void **state)
{
	uint8_t round[64], home[64];
	struct world w;

	(void)state;
	start(&w);
	memset(round, 1, sizeof(round));
	memset(home, 1, sizeof(home));
	home[3] = HOST;
	for (unsigned i = 0; i < SWITCHES; i++)
		set(&w, i, ATTR_LINEAR_FORWARDING, round);
	follow(&w, 0, 3);
	assert_int_equal(w.ended, 0);
	assert_true(w.passed > SWITCHES && w.passed <= 64);
	set(&w, 2, ATTR_LINEAR_FORWARDING, home);
	follow(&w, 0, 3);
	assert_int_equal(w.ended, 1);
	assert_true(w.has[2]);
	assert_int_equal(w.passed, 4);
	finish(&w);
}

/* Any tables whatever: no more cables than there are, or hops. */
static void no_table_keeps_a_packet_for_ever(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 5, 0);
	for (unsigned n = 0; n < 200; n++) {
		struct world w;

		start(&w);
		for (unsigned i = 0; i < SWITCHES; i++) {
			uint8_t table[64];

			for (unsigned k = 0; k < sizeof(table); k++)
				table[k] = (uint8_t)rng_below(&r, HOST + 1);
			set(&w, i, ATTR_LINEAR_FORWARDING, table);
			set_group(&w, i, (uint16_t)rng_below(&r, 65536));
		}
		for (unsigned i = 0; i < SWITCHES; i++) {
			follow(&w, i, GROUP);
			assert_true(w.passed <= w.topo.n_ports);
			follow(&w, i, (uint16_t)(1 + rng_below(&r, 4)));
			assert_true(w.passed <= 64 && w.ended <= 1);
		}
		finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_brings_one_copy_to_each_member),
		cmocka_unit_test(a_circle_ends),
		cmocka_unit_test(a_circle_of_forwarding_loses_the_packet),
		cmocka_unit_test(no_table_keeps_a_packet_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
