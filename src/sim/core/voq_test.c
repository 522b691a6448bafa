/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sim/core/voq.h"
#include "sim/core/workload_for_tests.h"

#define MOST_INPUTS 256u

/* The first member after `in`, cyclically, by looking at each. */
static unsigned first_after(const bool *members, unsigned n, unsigned in)
{
	for (unsigned k = 1; k <= n; k++) {
		if (members[(in + k) % n])
			return (in + k) % n;
	}
	fail_msg("the set is empty");
	return 0;
}

/* Sets of inputs of a VL grow and shrink; members and their order hold. */
static void check_sets(unsigned low, unsigned n_inputs)
{
	uint64_t words[MOST_INPUTS / 64] = { 0 };
	bool members[MOST_INPUTS] = { false };
	struct port_vl port_vl = { .inputs = 0 };
	struct sim s = { .mode.wide = n_inputs - low > 64, .words = words, .outlet_vls = &port_vl };
	unsigned n = 0;
	struct rng rng;

	rng_init(&rng, 1, n_inputs);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned in = low + (unsigned)rng_below(&rng, n_inputs - low);
		/* Few members in one half of the steps, many in the other. */
		bool add = n == 0 || rng_below(&rng, 8) < (step / 5000 % 2 ? 7u : 1u);

		assert_int_equal(inputs_has(&s, &port_vl, in, false), members[in]);
		if (add)
			inputs_add(&s, &port_vl, in, false);
		else
			inputs_remove(&s, &port_vl, in, false);
		n = n + (add && !members[in]) - (!add && members[in]);
		members[in] = add;
		assert_int_equal(port_vl.inputs == 0, n == 0);
		in = low + (unsigned)rng_below(&rng, n_inputs - low);
		/* Bit 64 is bit 0 of its own word. */
		if (n > 0)
			assert_int_equal(inputs_after(&s, &port_vl, in),
					 first_after(members, n_inputs, in) %
						 (s.mode.wide ? 256 : 64));
	}
}

static void inputs_take_turns_in_switches_of_any_size(void **state)
{
	static const unsigned sizes[] = { 2, 3, 37, 64, 65, 128, 200, 255 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_sets(0, sizes[i]);
	/* Port 0 is no input. */
	for (unsigned n = 3; n <= 68; n++)
		check_sets(1, n);
}

/* A switch with this number of ports, without a cable. */
static void add_spare_switch(struct sim_setup *u, uint32_t ports)
{
	uint32_t first = u->n_ports;

	u->nodes = hd_realloc(u->nodes, u->n_nodes + 1, sizeof(*u->nodes));
	u->ports = hd_realloc(u->ports, first + ports + 1, sizeof(*u->ports));
	u->nodes[u->n_nodes] =
		(struct sim_node){ .kind = SIM_SWITCH, .first_port = first, .n_ports = ports };
	for (; u->n_ports <= first + ports; u->n_ports++) {
		u->ports[u->n_ports] = u->ports[0];
		u->ports[u->n_ports].node = u->n_nodes;
		u->ports[u->n_ports].peer = SIM_NONE;
	}
	u->n_nodes++;
}

struct outcome {
	uint64_t hops, delivered, checksum;
};

static struct outcome run(const struct sim_switch_model *model, uint32_t spare, uint32_t threads,
			  bool expect_wide)
{
	/* 64 hosts at one switch, or 63 at each of two. */
	const struct workload_spec spec = {
		.words = { "star", threads ? "--switches=2" : "--switches=0",
			   threads ? "--hosts=63" : "--hosts=64" },
		.engine = "minhop",
		.load = threads ? 0.05 : 0.9,
	};
	struct sim_rules rules;
	struct workload w;

	workload_init(&w, &spec);
	w.fabric.setup.sw = *model;
	for (uint32_t i = 0; i < w.fabric.setup.n_ports; i++)
		w.fabric.setup.ports[i].out_blocks = 4 * 33; /* of cioq */
	if (spare)
		add_spare_switch(&w.fabric.setup, spare);
	sim_rules_init(&rules);
	rules.threads = threads ? threads : 1;
	struct sim *s = sim_new(&w.fabric.setup, w.flows, w.n_flows, &rules);

	assert_int_equal(s->mode.wide, expect_wide);
	sim_run(s, 8 * HD_US, NULL, NULL);
	const struct sim_metrics *m = sim_metrics(s);
	struct outcome out = { m->hops, m->delivered, m->checksum };

	sim_free(s);
	workload_fini(&w);
	return out;
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->hops, b->hops);
	assert_int_equal(a->delivered, b->delivered);
	assert_int_equal(a->checksum, b->checksum);
}

/* Input 64 is bit 0 in one form, and in a word of its own in the other. */
static void switches_of_64_ports_are_as_any_other(void **state)
{
	static const struct sim_switch_model models[] = {
		{ .order = SIM_VOQ },
		{ .order = SIM_VOQ, .pick = SIM_OLDEST },
		{ .order = SIM_FIFO },
		{ .order = SIM_VOQ, .readers = 1 },
		{ .queueing = SIM_CIOQ, .order = SIM_VOQ },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct sim_switch_model m = models[i];

		m.speedup = (struct hd_ratio){ 1, 1 };
		struct outcome narrow = run(&m, 0, 0, false);
		struct outcome wide = run(&m, 65, 0, true);
		struct outcome one = run(&m, 64, 1, false);
		struct outcome cut = run(&m, 0, 3, false);

		assert_true(narrow.delivered > 1000);
		assert_true(cut.delivered > 100);
		assert_same(&wide, &narrow);
		assert_same(&cut, &one);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_take_turns_in_switches_of_any_size),
		cmocka_unit_test(switches_of_64_ports_are_as_any_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
