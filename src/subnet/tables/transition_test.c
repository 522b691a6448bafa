/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/seeds_for_tests.h"
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/tables/transition.h"

/* A fabric, and the tables of a manager after cables are gone. */
struct world {
	struct topo t;
	struct subnet whole;
	bool *down;
	struct replan plan;
};

static void world_init(struct world *w, const char *engine)
{
	struct lid_options o = { .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	w->down = hd_alloc(w->t.n_ports, sizeof(*w->down));
	subnet_init(&w->whole, &w->t);
	if (subnet_assign_lids(&w->whole, &o, &d) != HD_OK ||
	    subnet_route(&w->whole, engine, NULL, &d) != HD_OK)
		fail_msg("%s", d.message);
}

static void unplug(struct world *w, port_id p)
{
	w->down[p] = w->down[w->t.ports[p].peer] = true;
}

static void plan(struct world *w, const char *engine, enum replan_mode mode)
{
	struct replan_options o = { engine, NULL, mode, TOPO_NONE };
	struct diag d = { .status = HD_OK };

	if (replan(&w->whole, &w->whole, w->down, &o, &d, &w->plan) != HD_OK)
		fail_msg("%s", d.message);
}

static void world_fini(struct world *w)
{
	replan_fini(&w->plan);
	subnet_fini(&w->whole);
	topo_fini(&w->t);
	free(w->down);
}

/* The worst case, by examining every state alone. */
struct brute {
	uint64_t unreachable, loops, unreachable_after;
	bool locks;
};

static void look_at(const struct subnet *mixed, struct brute *b)
{
	struct route_check c;
	struct deadlock_check l;

	route_check(mixed, &c);
	b->unreachable_after = c.n_unreachable;
	if (c.n_unreachable > b->unreachable)
		b->unreachable = c.n_unreachable;
	if (c.n_loops > b->loops)
		b->loops = c.n_loops;
	route_check_deadlock(mixed, DEADLOCK_ONE_VL, &l);
	b->locks = b->locks || l.cycle;
	route_deadlock_fini(&l);
}

static void brute_force(const struct world *w, struct brute *b)
{
	const struct replan *r = &w->plan;
	size_t size = (size_t)w->whole.n_switches * w->whole.lft_stride;
	struct subnet mixed = r->subnet;

	*b = (struct brute){ 0 };
	mixed.lft = hd_alloc(size, 1);
	memcpy(mixed.lft, w->whole.lft, size);
	look_at(&mixed, b);
	for (uint32_t i = 0; i < r->n_writes; i++) {
		const struct lft_write *x = &r->writes[i];

		for (uint32_t k = x->first; k < x->first + x->n; k++)
			mixed.lft[(size_t)x->sw * mixed.lft_stride + r->changes[k].lid] =
				r->changes[k].after;
		look_at(&mixed, b);
	}
	free(mixed.lft);
}

struct tally {
	unsigned loops, cycles, clean;
};

static void one_case(uint64_t seed, const char *engine, struct tally *tally)
{
	struct world w;
	struct rng r;
	struct brute b;
	struct table_transition t;

	rng_init(&r, seed, 4);
	build_random(&w.t, seed, 5 + (uint32_t)rng_below(&r, 10), (uint32_t)rng_below(&r, 15));
	world_init(&w, engine);
	for (unsigned n = 1 + (unsigned)rng_below(&r, 3); n > 0;) {
		port_id p = (port_id)rng_below(&r, w.t.n_ports);

		if (w.t.ports[p].peer == TOPO_NONE)
			continue;
		unplug(&w, p);
		n--;
	}
	plan(&w, engine, rng_below(&r, 2) ? REPLAN_FRESH : REPLAN_KEEP);
	transition_check(&w.whole, &w.plan, &w.whole, &t);
	brute_force(&w, &b);
	assert_int_equal(t.unreachable, b.unreachable);
	assert_int_equal(t.loops, b.loops);
	assert_int_equal(t.unreachable_after, b.unreachable_after);
	assert_int_equal(b.unreachable_after, 0);
	/* A cycle in a single state is a cycle of all states. */
	assert_true(t.cycle || !b.locks);
	tally->loops += t.loops > 0;
	tally->cycles += t.cycle != NULL;
	tally->clean += !t.cycle && w.plan.n_changes > 0;
	transition_fini(&t);
	world_fini(&w);
}

static void every_state_is_counted_as_it_is(void **state)
{
	static const char *const engines[] = { "minhop", "updn" };
	unsigned rounds = cases_of_run(120, 2000);
	struct tally tally = { 0 };

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_case(9000 + i, engines[i % 2], &tally);
	/* The fixed cases have all kinds. */
	assert_true(tally.loops > 0);
	assert_true(tally.cycles > 0);
	assert_true(tally.clean > 0);
}

/*
 * Three switches in a ring, a host on each. When the cable from 0 to 1 goes,
 * both send to each other through 2, whose entries stay the same: no packet
 * turns back, and without the cable two pairs are unreachable.
 */
static void a_ring_of_three_loses_two_pairs_and_never_turns_back(void **state)
{
	struct world w;
	struct table_transition t;

	(void)state;
	generate(&w.t, "ring --switches=3");
	world_init(&w, "minhop");
	unplug(&w, topo_port_of(&w.t, w.whole.node_of_switch[0], 1));
	plan(&w, "minhop", REPLAN_KEEP);
	transition_check(&w.whole, &w.plan, &w.whole, &t);
	assert_int_equal(t.unreachable, 2);
	assert_int_equal(t.loops, 0);
	assert_int_equal(t.unreachable_after, 0);
	assert_null(t.cycle);
	transition_fini(&t);
	world_fini(&w);
}

/*
 * On a ring of four, 0 reaches 1 directly and 3 reaches 1 by 0 or 2. Where it
 * is by 0, the new way 0, 3, 2, 1 turns back at 3 until 3 has its new entry:
 * 0 is written before 3.
 */
static void a_ring_of_four_turns_back_for_a_while(void **state)
{
	struct world w;
	struct table_transition t;

	(void)state;
	generate(&w.t, "ring --switches=4");
	world_init(&w, "minhop");
	switch_id s0 = 0, s1 = 1, s3 = 3;
	lid_t to_1 =
		w.whole.lid_of_port[w.t.ports[topo_port_of(&w.t, w.whole.node_of_switch[s1], 3)]
					    .peer];

	/* Port 1 leads to the next switch of the ring. */
	w.whole.lft[(size_t)s3 * w.whole.lft_stride + to_1] = 1;
	unplug(&w, topo_port_of(&w.t, w.whole.node_of_switch[s0], 1));
	plan(&w, "minhop", REPLAN_KEEP);
	transition_check(&w.whole, &w.plan, &w.whole, &t);
	assert_true(t.loops >= 2); /* from 0 and from 3 */
	assert_non_null(t.cycle);
	assert_int_equal(t.n_cycle, 2);
	transition_fini(&t);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_is_counted_as_it_is),
		cmocka_unit_test(a_ring_of_three_loses_two_pairs_and_never_turns_back),
		cmocka_unit_test(a_ring_of_four_turns_back_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
