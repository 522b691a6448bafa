/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/fabric.h"
#include "sim/sim.h"
#include "subnet/routing/deadlock.h"

/*
 * Paper 002, Figure 1: four senders at the corners of a mesh, each to the
 * opposite corner, all turning the same way. Ports: 1 east, 2 north, 3 west,
 * 4 south; switch number is 2 x + y.
 */
static const char corners[] =
	"fabric:\n"
	"  topology: {kind: mesh, columns: 2, rows: 2, hosts: 1}\n"
	"  link: {rate: 8Gb/s, propagation: 5ns}\n"
	"  switch: {queueing: %s, order: voq, input_buffer: 1 packets%s}\n"
	"  packet: {mtu: 2048}\n"
	"  routing: xy\n"
	"qos: {vls: 1}\n"
	"traffic:\n"
	"  - {name: a, kind: saturating, pattern: pairs, source: h0, destination: h3}\n"
	"  - {name: b, kind: saturating, pattern: pairs, source: h2, destination: h1}\n"
	"  - {name: c, kind: saturating, pattern: pairs, source: h3, destination: h0}\n"
	"  - {name: d, kind: saturating, pattern: pairs, source: h1, destination: h2}\n"
	"run: {measure: 2ms}\n";

enum { EAST = 1, NORTH, WEST, SOUTH };

struct world {
	struct fabric *fabric;
	char yaml[sizeof(corners) + 64];
};

static void world_init(struct world *w, bool cioq)
{
	struct diag d = { .status = HD_OK };

	snprintf(w->yaml, sizeof(w->yaml), corners, cioq ? "cioq" : "input",
		 cioq ? ", output_buffer: 1 packets" : "");
	if (fabric_load(w->yaml, strlen(w->yaml), "x.yaml", NULL, &d, &w->fabric) != HD_OK)
		fail_msg("refused: %u:%u: %s", d.line, d.column, d.message);
}

static void world_fini(struct world *w)
{
	fabric_free(w->fabric);
}

/* At switch `sw`, packets to host `to` leave by `port`. */
static void turn(struct world *w, switch_id sw, const char *to, uint8_t port)
{
	struct subnet *s = &w->fabric->subnet;

	subnet_own(s);
	for (port_id p = 0; p < w->fabric->topo.n_ports; p++) {
		const struct topo_node *node = topo_node_of(&w->fabric->topo, p);

		if (strcmp(node->name, to) == 0 && s->lid_of_port[p])
			s->lft[(size_t)sw * s->lft_stride + s->lid_of_port[p]] = port;
	}
}

/* YX instead of XY for two of the four: now all turn left. */
static void make_cyclic(struct world *w)
{
	turn(w, 2, "h1", NORTH);
	turn(w, 3, "h1", WEST);
	turn(w, 1, "h2", SOUTH);
	turn(w, 0, "h2", EAST);
}

static enum sim_state run(const struct world *w, uint32_t parts, struct sim **sim)
{
	struct sim_rules rules = w->fabric->rules;

	rules.parts = parts;
	rules.threads = 2;
	*sim = sim_new(&w->fabric->setup, w->fabric->flows, w->fabric->n_flows, &rules);
	return sim_run(*sim, HD_TIME_NEVER, NULL, NULL);
}

static void cyclic_routes_deadlock_and_are_named(void **state)
{
	(void)state;
	struct world w = { 0 };
	struct sim *sim;
	struct sim_wait *waits;
	unsigned seen = 0;

	world_init(&w, false);
	make_cyclic(&w);
	assert_int_equal(run(&w, 1, &sim), SIM_DEADLOCK);
	assert_int_equal(sim_deadlock(sim, &waits), 4);
	for (unsigned i = 0; i < 4; i++) {
		const struct sim_port *out = &w.fabric->setup.ports[waits[i].out_port];

		/* Each packet waits for the buffer that the next one occupies. */
		assert_int_equal(out->peer, waits[(i + 1) % 4].in_port);
		seen |= 1u << w.fabric->setup.nodes[waits[i].node].sw;
	}
	assert_int_equal(seen, 0xf); /* all four switches */
	free(waits);
	sim_free(sim);
	world_fini(&w);
}

static void parts_stand_still_at_the_same_time(void **state)
{
	hd_time now = 0;

	(void)state;
	for (uint32_t parts = 1; parts <= 4; parts++) {
		struct world w = { 0 };
		struct sim *sim;
		struct sim_wait *waits;
		const char *why;

		world_init(&w, false);
		make_cyclic(&w);
		assert_int_equal(run(&w, parts, &sim), SIM_DEADLOCK);
		assert_int_equal(sim_is_cut(sim, &why), parts);
		assert_int_equal(sim_deadlock(sim, &waits), 4);
		if (parts > 1)
			assert_int_equal(sim_now(sim), now);
		now = sim_now(sim);
		free(waits);
		sim_free(sim);
		world_fini(&w);
	}
}

static void xy_routes_complete(void **state)
{
	(void)state;
	for (int cioq = 0; cioq < 2; cioq++) {
		struct world w = { 0 };
		struct sim *sim;
		struct sim_wait *waits;

		world_init(&w, cioq);
		assert_int_equal(run(&w, 1, &sim), SIM_ENDED);
		assert_int_equal(sim_deadlock(sim, &waits), 0);
		assert_true(sim_metrics(sim)->delivered > 1000);
		free(waits);
		sim_free(sim);
		world_fini(&w);
	}
}

/*
 * Groups with unicast, all of it saturated, in buffers of one packet, on
 * routes that never lock up by themselves: where trees and routes together
 * have no circle, packets always move; else the fabric says so before.
 */
static const char mixture[] = "fabric:\n"
			      "  topology: {kind: torus, sizes: %ux%u, hosts: 1}\n"
			      "  switch: {queueing: %s, input_buffer: 1 packets%s}\n"
			      "  host: {input_buffer: 1 packets}\n"
			      "  packet: {mtu: 2048}\n"
			      "  routing: %s\n"
			      "  groups: [{name: g, members: %u%%, tree: %s}]\n"
			      "traffic:\n"
			      "  - {name: a, kind: saturating, pattern: group, group: g, sl: %u}\n"
			      "  - {name: b, kind: saturating, pattern: group, group: g, sl: %u}\n"
			      "  - {name: u, kind: saturating}\n"
			      "run: {warmup: 0s, measure: 60us, seed: %u}\n";

struct outcomes {
	unsigned free, named, locked;
};

#define MIXTURE (sizeof(mixture) + 100)

struct drawn {
	unsigned x, y, share, sl[2], seed;
	const char *engine, *tree;
	bool cioq;
};

static struct drawn draw_mixture(struct rng *r)
{
	static const char *const engines[] = { "torus", "dfsssp", "lash", "updn" };
	static const char *const trees[] = { "shared", "union", "shortest" };

	return (struct drawn){ .x = 3 + (unsigned)rng_below(r, 3),
			       .y = 3 + (unsigned)rng_below(r, 3),
			       .share = 25 + (unsigned)rng_below(r, 75),
			       .sl = { (unsigned)rng_below(r, 2), (unsigned)rng_below(r, 2) },
			       .seed = (unsigned)rng_below(r, 1000),
			       .engine = engines[rng_below(r, 4)],
			       .tree = trees[rng_below(r, 3)],
			       .cioq = rng_below(r, 2) };
}

/* With the SLs of the two senders in turn; false: the tree does not fit. */
static bool load_mixture(struct world *w, const struct drawn *m, bool turned, char *yaml)
{
	struct diag d = { .status = HD_OK };

	snprintf(yaml, MIXTURE, mixture, m->x, m->y, m->cioq ? "cioq" : "input",
		 m->cioq ? ", output_buffer: 1 packets" : "", m->engine, m->share, m->tree,
		 m->sl[turned], m->sl[!turned], m->seed);
	return fabric_load(yaml, strlen(yaml), "x.yaml", NULL, &d, &w->fabric) == HD_OK;
}

static void try_mixture(const struct drawn *m, struct outcomes *o)
{
	char yaml[MIXTURE], again[MIXTURE];
	struct world w = { 0 }, turned = { 0 };
	struct deadlock_check c;
	struct sim *sim;

	if (!load_mixture(&w, m, false, yaml))
		return;
	route_check_deadlock(&w.fabric->subnet, DEADLOCK_UNICAST, &c);
	assert_int_equal(c.n_cycle, 0); /* that engines promise */
	route_deadlock_fini(&c);
	bool locked = run(&w, 1, &sim) == SIM_DEADLOCK;
	bool named = w.fabric->circle != NULL;

	if (locked && !named)
		fail_msg("a deadlock that was not foreseen:\n%s", yaml);
	assert_true(load_mixture(&turned, m, true, again));
	if (named != (turned.fabric->circle != NULL))
		fail_msg("who sends first makes a difference:\n%s", yaml);
	o->free += !named;
	o->named += named;
	o->locked += locked;
	sim_free(sim);
	world_fini(&w);
	world_fini(&turned);
}

static void groups_lock_up_only_where_it_was_said(void **state)
{
	struct outcomes o = { 0 };
	struct rng rng;
	unsigned n = cases_of_run(60, 2000);

	(void)state;
	rng_init(&rng, seed_of_run(16), 1);
	for (unsigned i = 0; i < n; i++) {
		const struct drawn m = draw_mixture(&rng);

		try_mixture(&m, &o);
	}
	print_message("%u free, %u with a circle, %u of them locked up\n", o.free, o.named,
		      o.locked);
	assert_true(o.free >= n / 10 && o.named >= n / 10 && o.locked > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cyclic_routes_deadlock_and_are_named),
		cmocka_unit_test(parts_stand_still_at_the_same_time),
		cmocka_unit_test(xy_routes_complete),
		cmocka_unit_test(groups_lock_up_only_where_it_was_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
