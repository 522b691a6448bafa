/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/seeds_for_tests.h"
#include "subnet/routing/check.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/oracle_for_tests.h"
#include "subnet/routing/order.h"
#include "subnet/routing/replan.h"

/* A fabric under failures: what is down, and the last plan. */
struct world {
	struct topo t;
	struct subnet whole;
	bool *down;
	struct replan plans[2];
	unsigned n; /* plans made */
};

static const struct subnet *present(const struct world *w)
{
	return w->n ? &w->plans[(w->n - 1) % 2].subnet : &w->whole;
}

static void world_init(struct world *w, const char *engine, unsigned lmc)
{
	struct lid_options o = { .lmc = lmc, .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	w->n = 0;
	w->down = hd_alloc(w->t.n_ports, sizeof(*w->down));
	subnet_init(&w->whole, &w->t);
	if (subnet_assign_lids(&w->whole, &o, &d) != HD_OK ||
	    subnet_route(&w->whole, engine, NULL, &d) != HD_OK)
		fail_msg("%s", d.message);
}

/* The first host's port, also when its cable is down. */
static port_id manager(const struct world *w)
{
	port_id p = 0;

	while (!topo_is_end_port(&w->t, p))
		p++;
	return p;
}

/* Sweeps; the plan before the last one is forgotten. */
static struct replan *sweep(struct world *w, const char *engine, enum replan_mode mode)
{
	struct replan_options o = { engine, NULL, mode, manager(w) };
	struct diag d = { .status = HD_OK };
	struct replan *next = &w->plans[w->n % 2];
	const struct subnet *now = present(w);

	if (w->n > 1)
		replan_fini(next);
	if (replan(&w->whole, now, w->down, &o, &d, next) != HD_OK)
		fail_msg("%s", d.message);
	w->n++;
	return next;
}

static void world_fini(struct world *w)
{
	for (unsigned i = 0; i < w->n && i < 2; i++)
		replan_fini(&w->plans[i]);
	subnet_fini(&w->whole);
	topo_fini(&w->t);
	free(w->down);
}

static port_id draw_cable(const struct world *w, struct rng *r, bool is_down)
{
	for (unsigned tries = 0; tries < 10000; tries++) {
		port_id p = (port_id)rng_below(r, w->t.n_ports);

		if (w->t.ports[p].peer != TOPO_NONE && w->down[p] == is_down)
			return p;
	}
	return TOPO_NONE;
}

static void set_cable(struct world *w, port_id p, bool is_down)
{
	w->down[p] = w->down[w->t.ports[p].peer] = is_down;
}

/* Applies the writes to a copy of the old tables: the new ones must result. */
static void assert_writes_lead_there(const struct world *w, const struct subnet *before,
				     const struct replan *r)
{
	const struct subnet *s = &r->subnet;
	size_t size = (size_t)s->n_switches * s->lft_stride;
	uint8_t *lft = hd_alloc(size, 1);
	uint32_t n_changes = 0;

	memcpy(lft, before->lft, size);
	for (uint32_t i = 0; i < r->n_writes; i++) {
		const struct lft_write *x = &r->writes[i];
		const struct topo_node *v = &w->t.nodes[s->node_of_switch[x->sw]];
		bool known = before->lid_of_port[v->first_port] != 0;
		bool touched = false;

		for (unsigned k = 1; k <= v->n_ports; k++)
			touched |= before->topo->ports[v->first_port + k].peer !=
				   r->topo.ports[v->first_port + k].peer;

		assert_int_equal(x->first, n_changes);
		assert_true(x->n > 0 || !known || touched);
		for (uint32_t k = x->first; k < x->first + x->n; k++) {
			const struct lft_change *c = &r->changes[k];
			uint8_t *at = &lft[(size_t)x->sw * s->lft_stride + c->lid];

			assert_int_equal(c->lid / LFT_BLOCK_LIDS, x->block);
			if (known)
				assert_int_equal(*at, c->before);
			assert_int_not_equal(c->before, c->after);
			*at = c->after;
		}
		n_changes += x->n;
	}
	assert_int_equal(n_changes, r->n_changes);
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		/* Nothing can be written to what is out of reach. */
		if (s->lid_of_port[w->t.nodes[s->node_of_switch[sw]].first_port])
			assert_memory_equal(&lft[(size_t)sw * s->lft_stride],
					    &s->lft[(size_t)sw * s->lft_stride], s->lft_stride);
	}
	free(lft);
}

static void assert_sent_in_order(const struct replan *r)
{
	for (uint32_t i = 1; i < r->n_writes; i++) {
		const struct lft_write *a = &r->writes[i - 1], *b = &r->writes[i];
		uint64_t x = __builtin_bswap64(r->topo.nodes[r->subnet.node_of_switch[a->sw]].guid);
		uint64_t y = __builtin_bswap64(r->topo.nodes[r->subnet.node_of_switch[b->sw]].guid);

		assert_true(a->block < b->block || (a->block == b->block && x < y));
	}
}

/* Every pair with a remaining path has a shortest path. */
static void assert_routed(const struct subnet *s)
{
	struct route_check c;
	struct oracle o;

	route_check(s, &c);
	oracle_run(s, &o);
	assert_int_equal(o.n_unreachable, 0);
	assert_int_equal(o.n_not_minimal, 0);
	assert_int_equal(c.n_unreachable, 0);
	assert_int_equal(c.n_switch_unreachable, 0);
}

/*
 * An entry changes only if its cable is gone, if it is no longer on a shortest path, or if its LID
 * has no port.
 */
static void assert_no_needless_change(const struct world *w, const struct subnet *before,
				      const struct replan *r)
{
	const struct subnet *s = &r->subnet;
	const struct topo *t = s->topo;
	unsigned *dist = oracle_distances(t);

	for (uint32_t i = 0; i < r->n_writes; i++) {
		const struct lft_write *x = &r->writes[i];
		node_id v = s->node_of_switch[x->sw];

		if (before->lid_of_port[w->t.nodes[v].first_port] == 0)
			continue;
		for (uint32_t k = x->first; k < x->first + x->n; k++) {
			const struct lft_change *c = &r->changes[k];
			port_id to = s->port_of_lid[0][c->lid];

			if (to == TOPO_NONE || c->before == LFT_NO_PORT)
				continue;
			assert_int_not_equal(c->before, 0);
			port_id next = t->ports[topo_port_of(t, v, c->before)].peer;
			node_id goal = t->ports[to].node;

			if (next == TOPO_NONE)
				continue;
			assert_true(dist[t->ports[next].node * t->n_nodes + goal] + 1 >
				    dist[v * t->n_nodes + goal]);
		}
	}
	free(dist);
}

static void assert_fresh(const struct world *w, const struct replan *r)
{
	struct replan_options o = { "minhop", NULL, REPLAN_FRESH, manager(w) };
	struct diag d = { .status = HD_OK };
	struct replan fresh;

	assert_int_equal(replan(&w->whole, &w->whole, w->down, &o, &d, &fresh), HD_OK);
	assert_memory_equal(fresh.subnet.lft, r->subnet.lft,
			    (size_t)fresh.subnet.n_switches * fresh.subnet.lft_stride);
	replan_fini(&fresh);
}

static void one_history(uint64_t seed, unsigned lmc)
{
	struct world w;
	struct rng r;

	rng_init(&r, seed, 3);
	build_random(&w.t, seed, 5 + (uint32_t)rng_below(&r, 12), (uint32_t)rng_below(&r, 20));
	world_init(&w, "minhop", lmc);
	for (unsigned step = 0; step < 8; step++) {
		const struct subnet *before = present(&w);
		bool up = rng_below(&r, 3) == 0;
		port_id p = draw_cable(&w, &r, up);

		if (p == TOPO_NONE)
			continue;
		set_cable(&w, p, !up);
		struct replan *plan = sweep(&w, "minhop", REPLAN_AS_OPENSM);

		/* A cable behind a permanent loss is not new. */
		assert_int_equal(plan->kept, plan->n_new_cables == 0);
		if (!up)
			assert_true(plan->kept);
		assert_writes_lead_there(&w, before, plan);
		assert_sent_in_order(plan);
		assert_routed(&plan->subnet);
		if (plan->kept)
			assert_no_needless_change(&w, before, plan);
		else
			assert_fresh(&w, plan);
	}
	world_fini(&w);
}

static void plans_change_what_they_must_and_no_more(void **state)
{
	unsigned rounds = cases_of_run(40, 1000);

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_history(5000 + i, i % 3);
}

static void a_switch_that_comes_back_is_written_whole(void **state)
{
	struct world w;
	unsigned n_blocks = 0;

	(void)state;
	generate(&w.t, "fat-tree --radix=8 --levels=2");
	world_init(&w, "minhop", 0);
	node_id spine = 0;

	while (w.t.nodes[spine].tier != 2)
		spine++;
	for (unsigned k = 1; k <= w.t.nodes[spine].n_ports; k++)
		set_cable(&w, topo_port_of(&w.t, spine, k), true);
	struct replan *plan = sweep(&w, "minhop", REPLAN_AS_OPENSM);

	assert_true(plan->kept);
	assert_int_equal(plan->n_lost_ports, 1);
	for (uint32_t i = 0; i < plan->n_writes; i++)
		assert_int_not_equal(plan->writes[i].sw, w.whole.switch_of_node[spine]);
	memset(w.down, 0, w.t.n_ports * sizeof(*w.down));
	plan = sweep(&w, "minhop", REPLAN_AS_OPENSM);
	assert_false(plan->kept);
	assert_int_equal(plan->n_lost_ports, 0);
	assert_memory_equal(plan->subnet.lft, w.whole.lft,
			    (size_t)w.whole.n_switches * w.whole.lft_stride);
	for (uint32_t i = 0; i < plan->n_writes; i++)
		n_blocks += plan->writes[i].sw == w.whole.switch_of_node[spine];
	assert_int_equal(n_blocks, w.whole.top_lid[0] / LFT_BLOCK_LIDS + 1);
	world_fini(&w);
}

static void an_empty_change_has_no_effect(void **state)
{
	struct world w;

	(void)state;
	generate(&w.t, "torus --sizes=4x4 --hosts=2");
	world_init(&w, "updn", 0);
	for (int mode = REPLAN_AS_OPENSM; mode <= REPLAN_KEEP; mode++) {
		struct replan *plan = sweep(&w, "updn", (enum replan_mode)mode);

		assert_int_equal(plan->n_writes, 0);
		assert_int_equal(plan->n_changes, 0);
	}
	world_fini(&w);
}

static void draw_weights(struct subnet *s, struct rng *r)
{
	for (port_id p = 0; p < s->topo->n_ports; p++) {
		struct vlarb table = vlarb_default(s->vls_of_port[p]);

		table.high_limit = (uint8_t)rng_below(r, 4);
		table.low[0].weight = (uint8_t)rng_below(r, 3);
		subnet_set_vlarb(s, p, &table);
	}
}

/* Draws maps for end ports, and for some inputs of switches. */
static void draw_maps(struct subnet *s, struct rng *r)
{
	for (port_id p = 0; p < s->topo->n_ports; p++) {
		struct sl2vl map = sl2vl_default(s->vls_of_port[p]);

		map.vl[rng_below(r, N_SLS)] = 0;
		if (topo_is_end_port(s->topo, p))
			subnet_set_port_sl2vl(s, p, &map);
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		unsigned n = s->topo->nodes[s->node_of_switch[sw]].n_ports;
		struct sl2vl map = sl2vl_default(1);

		map.vl[rng_below(r, N_SLS)] = VL_MANAGEMENT;
		subnet_set_sl2vl(s, sw, (unsigned)rng_below(r, n + 1),
				 (unsigned)rng_below(r, n + 1), &map);
	}
}

static void assert_same_vls(const struct subnet *a, const struct subnet *b)
{
	for (port_id p = 0; p < a->topo->n_ports; p++) {
		assert_int_equal(a->vls_of_port[p], b->vls_of_port[p]);
		assert_memory_equal(vlarb_of(a, p), vlarb_of(b, p), sizeof(struct vlarb));
		if (topo_is_end_port(a->topo, p))
			assert_memory_equal(sl2vl_of(a, p), sl2vl_of(b, p), sizeof(struct sl2vl));
	}
	for (switch_id sw = 0; sw < a->n_switches; sw++) {
		unsigned n = a->topo->nodes[a->node_of_switch[sw]].n_ports + 1u;

		for (unsigned i = 0; i < n * n; i++)
			assert_memory_equal(sl2vl_at(a, sw, i / n, i % n),
					    sl2vl_at(b, sw, i / n, i % n), sizeof(struct sl2vl));
	}
}

static void vls_and_their_weights_stay(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 77, 0);
	for (unsigned i = 0; i < 20; i++) {
		struct world w;

		generate(&w.t, "torus --sizes=4x4 --hosts=2");
		world_init(&w, "minhop", 0);
		subnet_limit_vls(&w.whole, 1 + i % 15);
		draw_weights(&w.whole, &r);
		draw_maps(&w.whole, &r);
		if (i % 2)
			subnet_share(&w.whole);
		for (unsigned k = 0; k < 3; k++) {
			set_cable(&w, draw_cable(&w, &r, false), true);
			assert_same_vls(&sweep(&w, "minhop", REPLAN_AS_OPENSM)->subnet, &w.whole);
		}
		world_fini(&w);
	}
}

static void an_unfit_engine_gives_the_reason(void **state)
{
	struct replan_options o = { "torus", NULL, REPLAN_AS_OPENSM, TOPO_NONE };
	struct diag d = { .status = HD_OK };
	struct replan plan;
	struct world w;

	(void)state;
	generate(&w.t, "torus --sizes=5x5");
	world_init(&w, "torus", 0);
	set_cable(&w, topo_port_of(&w.t, w.whole.node_of_switch[0], 1), true);
	assert_int_equal(replan(&w.whole, &w.whole, w.down, &o, &d, &plan), HD_ERR_UNFIT);
	assert_non_null(strstr(d.message, "torus: "));
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_change_what_they_must_and_no_more),
		cmocka_unit_test(a_switch_that_comes_back_is_written_whole),
		cmocka_unit_test(an_empty_change_has_no_effect),
		cmocka_unit_test(vls_and_their_weights_stay),
		cmocka_unit_test(an_unfit_engine_gives_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
