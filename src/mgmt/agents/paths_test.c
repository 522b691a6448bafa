/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracing of data packets by tables that were set through MADs. */
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

struct trace_fixture {
	struct topo topo;
	struct agents *agents;
	unsigned n_links, n_arrived;
	bool reached[SWITCHES]; /* hosts that a packet has reached */
};

static port_id host_of(const struct trace_fixture *w, unsigned i)
{
	return topo_port_of(&w->topo, SWITCHES + i, 1);
}

static void on_link(void *context, port_id out, port_id in)
{
	struct trace_fixture *w = context;

	assert_int_equal(w->topo.ports[out].peer, in);
	w->n_links++;
}

static void on_arrival(void *context, port_id end)
{
	struct trace_fixture *w = context;

	w->n_arrived++;
	for (unsigned i = 0; i < SWITCHES; i++)
		w->reached[i] |= host_of(w, i) == end;
}

/* A ring of switches by ports 1 and 2, with a host on port 8 of each. */
static void start(struct trace_fixture *w)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { 0 };

	*w = (struct trace_fixture){ 0 };
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

static void finish(struct trace_fixture *w)
{
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* Sets a table of switch `i` from its own host. */
static void set(struct trace_fixture *w, unsigned i, uint16_t attribute, const uint8_t *data)
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

static void set_group(struct trace_fixture *w, unsigned i, uint16_t ports)
{
	uint8_t data[64] = { 0 };

	store_be16(data, ports);
	set(w, i, ATTR_MULTICAST_FORWARDING, data);
}

static void trace(struct trace_fixture *w, unsigned from, uint16_t lid)
{
	const struct agents_path_observer observer = { on_link, on_arrival, w };

	w->n_links = w->n_arrived = 0;
	memset(w->reached, 0, sizeof(w->reached));
	agents_trace(w->agents, host_of(w, from), lid, 0, &observer);
}

enum { NEXT = 1 << 1, PREVIOUS = 1 << 2, HOST_PORT = 1 << HOST };

static void multicast_tree_delivers_one_copy_per_member(void **state)
{
	struct trace_fixture w;

	(void)state;
	start(&w);
	set_group(&w, 0, NEXT | HOST_PORT);
	set_group(&w, 1, NEXT | PREVIOUS | HOST_PORT);
	set_group(&w, 2, PREVIOUS | HOST_PORT);
	for (unsigned i = 0; i < SWITCHES; i++) {
		trace(&w, i, GROUP);
		assert_int_equal(w.n_arrived, SWITCHES - 1);
		/* The sender's cable, two between switches, two to members. */
		assert_int_equal(w.n_links, 1 + 2 + 2);
		for (unsigned k = 0; k < SWITCHES; k++)
			assert_int_equal(w.reached[k], k != i);
	}
	finish(&w);
}

/* Copies that return to a switch are not sent again. */
static void multicast_loop_ends(void **state)
{
	struct trace_fixture w;

	(void)state;
	start(&w);
	for (unsigned i = 0; i < SWITCHES; i++)
		set_group(&w, i, NEXT | PREVIOUS | HOST_PORT);
	trace(&w, 0, GROUP);
	assert_true(w.reached[0] && w.reached[1] && w.reached[2]);
	assert_true(w.n_links <= w.topo.n_ports);
	finish(&w);
}

/* Unicast packets in a loop are lost; a table that leads to the host delivers. */
static void forwarding_loop_loses_the_packet(void **state)
{
	uint8_t round[64], home[64];
	struct trace_fixture w;

	(void)state;
	start(&w);
	memset(round, 1, sizeof(round));
	memset(home, 1, sizeof(home));
	home[3] = HOST;
	for (unsigned i = 0; i < SWITCHES; i++)
		set(&w, i, ATTR_LINEAR_FORWARDING, round);
	trace(&w, 0, 3);
	assert_int_equal(w.n_arrived, 0);
	assert_true(w.n_links > SWITCHES && w.n_links <= 64);
	set(&w, 2, ATTR_LINEAR_FORWARDING, home);
	trace(&w, 0, 3);
	assert_int_equal(w.n_arrived, 1);
	assert_true(w.reached[2]);
	assert_int_equal(w.n_links, 4);
	finish(&w);
}

/* For random tables, no more cables than ports, and no more hops than the limit. */
static void random_tables_cannot_loop_forever(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 5, 0);
	for (unsigned n = 0; n < 200; n++) {
		struct trace_fixture w;

		start(&w);
		for (unsigned i = 0; i < SWITCHES; i++) {
			uint8_t table[64];

			for (unsigned k = 0; k < sizeof(table); k++)
				table[k] = (uint8_t)rng_below(&r, HOST + 1);
			set(&w, i, ATTR_LINEAR_FORWARDING, table);
			set_group(&w, i, (uint16_t)rng_below(&r, 65536));
		}
		for (unsigned i = 0; i < SWITCHES; i++) {
			trace(&w, i, GROUP);
			assert_true(w.n_links <= w.topo.n_ports);
			trace(&w, i, (uint16_t)(1 + rng_below(&r, 4)));
			assert_true(w.n_links <= 64 && w.n_arrived <= 1);
		}
		finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(multicast_tree_delivers_one_copy_per_member),
		cmocka_unit_test(multicast_loop_ends),
		cmocka_unit_test(forwarding_loop_loses_the_packet),
		cmocka_unit_test(random_tables_cannot_loop_forever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
