/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parallel_for.h"
#include "base/seeds_for_tests.h"
#include "subnet/routing/adaptive.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/oracle_for_tests.h"
#include "subnet/routing/route.h"

#define ALL_SLS 0xFFFF

static const struct lid_options by_opensm = { .sm_port = TOPO_NONE };

static enum hd_status route_with(struct subnet *s, const char *engine,
				 const struct route_options *o, struct diag *d)
{
	*d = (struct diag){ .status = HD_OK };
	if (subnet_assign_lids(s, &by_opensm, d) != HD_OK)
		fail_msg("%s", d->message);
	return subnet_route(s, engine, o, d);
}

static enum hd_status route(struct subnet *s, const char *engine, uint16_t sls, struct diag *d)
{
	return route_with(s, engine, &(struct route_options){ .adaptive = sls }, d);
}

static void must_route(struct subnet *s, const char *engine)
{
	struct diag d;

	if (route(s, engine, ALL_SLS, &d) != HD_OK)
		fail_msg("%s: %s", engine, d.message);
}

static bool has(const struct port_set *set, unsigned port)
{
	return set && set->bits[port / 64] >> port % 64 & 1;
}

/* ---- every way that a packet may take, one by one ---- */

struct wanderer {
	const struct subnet *s;
	lid_t lid;
	unsigned sl;
	switch_id target;
	bool *seen; /* by channel: port * 16 + VL */
	struct oracle_deps *deps;
	uint64_t n_lost;
};

static bool may_leave_by(const struct wanderer *w, switch_id sw, port_id in, unsigned out)
{
	const struct subnet *s = w->s;
	struct port_set ports = adaptive_ports(s->adaptive, sw, w->target, in);

	if (sw == w->target || !(s->adaptive->sls >> w->sl & 1))
		return lft_get(s, sw, w->lid) == out;
	return has(&ports, out);
}

/* Follows a packet on `channel`, whose head is at port `at`. */
static void wander(struct wanderer *w, uint32_t channel, port_id at)
{
	const struct subnet *s = w->s;
	const struct topo *t = s->topo;
	const struct topo_port *in = &t->ports[at];
	bool leaves = false;

	if (at == s->port_of_lid[in->subnet][w->lid])
		return;
	if (!topo_is_switch(t, in->node)) {
		w->n_lost++;
		return;
	}
	switch_id sw = s->switch_of_node[in->node];

	for (unsigned out = 1; out <= t->nodes[in->node].n_ports; out++) {
		port_id next = t->nodes[in->node].first_port + out;

		if (!may_leave_by(w, sw, at, out))
			continue;
		leaves = true;
		assert_true(t->ports[next].peer != TOPO_NONE);
		uint32_t then = next * 16 + sl2vl_at(s, sw, in->number, out)->vl[w->sl];

		oracle_wait(w->deps, channel, then);
		if (!w->seen[then]) {
			w->seen[then] = true;
			wander(w, then, t->ports[next].peer);
		}
	}
	w->n_lost += !leaves;
}

/* All that is sent to the destination at hand with the SL at hand. */
static void wander_from_all(struct wanderer *w, port_id to)
{
	const struct subnet *s = w->s;
	const struct topo *t = s->topo;

	memset(w->seen, 0, w->deps->n * sizeof(*w->seen));
	for (port_id from = 0; from < t->n_ports; from++) {
		if (!topo_is_end_port(t, from) || from == to ||
		    (s->sl_of_path && path_sl(s, from, w->lid, 0) != w->sl))
			continue;
		wander(w, from * 16 + sl2vl_of(s, from)->vl[w->sl], t->ports[from].peer);
	}
}

/* Whether packets between end ports can form a cycle; all are delivered. */
static bool is_cyclic(const struct subnet *s)
{
	const struct topo *t = s->topo;
	struct oracle_deps deps = { .n = t->n_ports * 16 };
	struct wanderer w = { .s = s, .deps = &deps };

	w.seen = calloc(deps.n, sizeof(*w.seen));
	for (port_id to = 0; to < t->n_ports; to++) {
		if (!topo_is_end_port(t, to))
			continue;
		w.lid = s->lid_of_port[to];
		w.target = s->switch_of_node[t->ports[t->ports[to].peer].node];
		for (w.sl = 0; w.sl < N_SLS; w.sl++)
			wander_from_all(&w, to);
	}
	bool cyclic = oracle_is_cyclic(&deps);

	assert_int_equal(w.n_lost, 0);
	free(w.seen);
	free(deps.pairs);
	return cyclic;
}

static bool says_cyclic(const struct subnet *s)
{
	struct deadlock_check c;

	route_check_deadlock(s, DEADLOCK_PLAIN, &c);
	bool cyclic = c.n_cycle > 0;

	route_deadlock_fini(&c);
	return cyclic;
}

/* ---- tests ---- */

/* Port `p`, toward every target: a member exactly if it leads nearer. */
static void check_member(const struct subnet *s, const unsigned *dist, port_id p)
{
	const struct topo *t = s->topo;
	node_id at = t->ports[p].node;
	port_id peer = t->ports[p].peer;

	if (!topo_is_switch(t, at) || peer == TOPO_NONE || !topo_is_switch(t, t->ports[peer].node))
		return;
	for (switch_id to = 0; to < s->n_switches; to++) {
		node_id v = s->node_of_switch[to];
		unsigned here = dist[at * t->n_nodes + v];
		unsigned there = dist[t->ports[peer].node * t->n_nodes + v];

		assert_int_equal(has(adaptive_group(s->adaptive, s->switch_of_node[at], to),
				     t->ports[p].number),
				 there + 1 == here);
	}
}

static void groups_are_all_ports_that_lead_nearer(void **state)
{
	unsigned n = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct topo t;
		struct subnet s;
		struct diag d;

		build_random(&t, seed, 3 + (uint32_t)seed % 9, (uint32_t)seed % 12);
		subnet_init(&s, &t);
		unsigned *dist = oracle_distances(&t);
		bool routed = route(&s, "minhop", ALL_SLS, &d) == HD_OK;

		for (port_id p = 0; routed && p < t.n_ports; p++)
			check_member(&s, dist, p);
		n += routed;
		free(dist);
		subnet_fini(&s);
		topo_fini(&t);
	}
	assert_true(n >= 5);
}

/* Engines, and fabrics that their choices fit. */
static const struct {
	const char *engine, *fabric;
	bool choice; /* some switch has two ports or more */
} fits[] = {
	{ "minhop", "fat-tree --radix 8 --levels 3", true },
	{ "updn", "fat-tree --radix 6 --levels 3", true },
	{ "ftree", "fat-tree --radix 8 --levels 3", true },
	{ "ftree", "xgft --down 3,4,2 --up 1,2,3", true },
	{ "dragonfly", "dragonfly --groups 5 --routers 4 --globals 1 --hosts 1", false },
	{ "dragonfly", "dragonfly-plus --groups 4 --leaves 3 --spines 3 --globals 1 --hosts 2",
	  true },
	{ "negative-first", "mesh --columns 5 --rows 4", true },
	{ "negative-first", "hypercube --dimensions 3", true },
	{ "xy", "mesh --columns 4 --rows 4", false },
	{ "torus", "torus --sizes 6x5", false },
	{ "ecube", "hypercube --dimensions 4", false },
};

/* Checks the paths to one end port: those of its tables are among them. */
static void check_ways(const struct subnet *s, port_id to)
{
	lid_t lid = s->lid_of_port[to];
	switch_id target;
	uint8_t last;

	assert_true(subnet_target(s, 0, lid, &target, &last));
	for (switch_id at = 0; at < s->n_switches; at++) {
		const struct port_set *group = adaptive_group(s->adaptive, at, target);

		if (at == target)
			assert_null(group);
		else if (group)
			assert_true(has(group, lft_get(s, at, lid)));
	}
}

static void choices_hold_the_forwarding_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fits) / sizeof(*fits); i++) {
		struct topo t;
		struct subnet s;
		struct adaptive_size size;

		generate(&t, fits[i].fabric);
		subnet_init(&s, &t);
		must_route(&s, fits[i].engine);
		for (port_id p = 0; p < t.n_ports; p++) {
			if (topo_is_end_port(&t, p))
				check_ways(&s, p);
		}
		adaptive_measure(&s, &size);
		assert_int_equal(size.n_choices > 0, fits[i].choice);
		assert_false(is_cyclic(&s));
		assert_false(says_cyclic(&s));
		subnet_fini(&s);
		topo_fini(&t);
	}
}

static void a_leaf_chooses_among_all_its_ways_up(void **state)
{
	struct topo t;
	struct subnet s;
	struct adaptive_size size;

	(void)state;
	generate(&t, "fat-tree --radix 8 --levels 3"); /* 4 up everywhere */
	subnet_init(&s, &t);
	must_route(&s, "ftree");
	adaptive_measure(&s, &size);
	assert_int_equal(size.most_ports, 4);
	assert_int_equal(size.most_hops, 4); /* up, up, down, down */
	/*
	 * 32 leaves in 8 pods: toward the 28 in other pods leaves and the 32
	 * switches above them have 4 ways up, within the pod only leaves do;
	 * all other ways lead down, one port each.
	 */
	assert_int_equal(size.n_choices, 32 * 31 + 32 * 28);
	subnet_fini(&s);
	topo_fini(&t);
}

static void refusals_are_those_of_brute_force(void **state)
{
	unsigned n = cases_of_run(150, 2000), n_cyclic = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++) {
		const char *engine = seed % 3 ? "minhop" : "updn";
		struct topo t;
		struct subnet s;
		struct diag d;

		build_random(&t, seed, 3 + (uint32_t)seed % 8, (uint32_t)(seed % 10));
		subnet_init(&s, &t);
		enum hd_status status = route(&s, engine, ALL_SLS, &d);

		if (status == HD_OK) {
			assert_false(is_cyclic(&s));
		} else {
			assert_int_equal(status, HD_ERR_UNFIT);
			assert_non_null(strstr(d.message, "lock the fabric"));
			assert_non_null(strstr(d.message, "' port "));
			assert_string_equal(engine, "minhop");
			assert_null(s.adaptive);
			n_cyclic++;
		}
		subnet_fini(&s);
		topo_fini(&t);
	}
	assert_in_range(n_cyclic, n / 10, n * 6 / 10);
}

static void draw_vls(struct subnet *s, switch_id sw, struct rng *r)
{
	unsigned n = switch_node(s, sw)->n_ports + 1u;
	struct sl2vl table;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		table.vl[sl] = (uint8_t)rng_below(r, 2);
	for (unsigned i = 0; i < n * n; i++)
		subnet_set_sl2vl(s, sw, i / n, i % n, &table);
}

/* An invalid relation: the second port is in all groups. */
static void add_ways_back(struct subnet *s, switch_id sw)
{
	port_id second = switch_node(s, sw)->first_port + 2;

	if (s->topo->ports[second].peer == TOPO_NONE)
		return;
	for (uint32_t i = 0; i < s->adaptive->n_groups[sw]; i++)
		s->adaptive->groups[sw][i].bits[0] |= 1u << 2;
}

/* VLs at random, and only some SLs that choose. */
static bool check_drawn(uint64_t seed)
{
	struct topo t;
	struct subnet s;
	struct diag d;
	struct rng r;

	rng_init(&r, seed, 3);
	build_random(&t, seed, 3 + (uint32_t)seed % 6, (uint32_t)seed % 7);
	subnet_init(&s, &t);
	if (route(&s, "updn", (uint16_t)(1 + rng_below(&r, ALL_SLS)), &d) != HD_OK)
		fail_msg("%s", d.message);
	assert_non_null(s.adaptive);
	for (switch_id sw = 0; sw < s.n_switches; sw++) {
		draw_vls(&s, sw, &r);
		if (seed % 2)
			add_ways_back(&s, sw);
	}
	bool cyclic = is_cyclic(&s);

	assert_int_equal(says_cyclic(&s), cyclic);
	subnet_fini(&s);
	topo_fini(&t);
	return cyclic;
}

static void checks_of_vls_are_those_of_brute_force(void **state)
{
	unsigned n = cases_of_run(60, 1000), n_cyclic = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++)
		n_cyclic += check_drawn(seed);
	assert_in_range(n_cyclic, n / 8, n * 7 / 8);
}

static void engines_without_a_rule_refuse(void **state)
{
	static const char *const engines[] = { "lash", "dfsssp" };
	struct topo t;
	struct subnet s;
	struct diag d;

	(void)state;
	generate(&t, "mesh --columns 3 --rows 3");
	subnet_init(&s, &t);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(route(&s, engines[i], 1, &d), HD_ERR_UNFIT);
		assert_non_null(strstr(d.message, "no choice of ports"));
	}
	assert_int_equal(route(&s, "lash", 0, &d), HD_OK);
	assert_null(s.adaptive);
	subnet_fini(&s);
	topo_fini(&t);
}

static void groups_do_not_depend_on_threads(void **state)
{
	struct topo t;
	struct subnet one, four;
	size_t n;

	(void)state;
	generate(&t, "fat-tree --radix 8 --levels 3");
	subnet_init(&one, &t);
	subnet_init(&four, &t);
	parallel_set_threads(1);
	must_route(&one, "updn");
	parallel_set_threads(4);
	must_route(&four, "updn");
	parallel_set_threads(0);
	n = one.n_switches;
	assert_memory_equal(one.adaptive->number, four.adaptive->number,
			    n * n * sizeof(*one.adaptive->number));
	for (switch_id sw = 0; sw < n; sw++)
		assert_memory_equal(one.adaptive->groups[sw], four.adaptive->groups[sw],
				    one.adaptive->n_groups[sw] * sizeof(struct port_set));
	subnet_fini(&one);
	subnet_fini(&four);
	topo_fini(&t);
}

/* ---- ways around ---- */

static const struct route_options around = { .adaptive = ALL_SLS, .around = true };

static void route_around(struct topo *t, struct subnet *s, const char *fabric)
{
	struct diag d;

	generate(t, fabric);
	subnet_init(s, t);
	if (route_with(s, "dragonfly", &around, &d) != HD_OK)
		fail_msg("%s: %s", fabric, d.message);
}

/* Number of paths to the target over permitted ports. */
static unsigned count_chosen(const struct subnet *s, switch_id target, switch_id at, port_id in,
			     unsigned hops)
{
	const struct topo *t = s->topo;
	struct port_set ports = adaptive_ports(s->adaptive, at, target, in);
	unsigned port = 0, n = 0;

	if (at == target)
		return 1;
	assert_true(hops > 0);
	while (port_set_next(&ports, &port)) {
		port_id peer = t->ports[topo_port_of(t, s->node_of_switch[at], port)].peer;

		n += count_chosen(s, target, s->switch_of_node[t->ports[peer].node], peer,
				  hops - 1);
	}
	return n;
}

/* Those of a shape that a user would draw: kinds are of cables, in turn. */
static unsigned count_drawn(const struct topo *t, const char *kinds, node_id at, node_id target,
			    unsigned passed)
{
	const struct topo_node *v = &t->nodes[at];
	unsigned n = 0;

	if (!*kinds)
		return at == target;
	for (unsigned k = 1; k <= v->n_ports; k++) {
		port_id peer = t->ports[v->first_port + k].peer;
		node_id to = peer == TOPO_NONE ? at : t->ports[peer].node;
		unsigned group = t->nodes[to].coord[0];
		bool global = group != v->coord[0];

		if (to == at || !topo_is_switch(t, to) || global != (*kinds == 'g') ||
		    (global && passed >> group & 1))
			continue;
		n += count_drawn(t, kinds + 1, to, target, passed | 1u << group);
	}
	return n;
}

static void check_ways_around(const struct subnet *s, switch_id from, switch_id to)
{
	const struct topo *t = s->topo;
	node_id a = s->node_of_switch[from], b = s->node_of_switch[to];
	unsigned passed = 1u << t->nodes[a].coord[0];
	unsigned drawn = count_drawn(t, "lgl", a, b, passed) + count_drawn(t, "lggl", a, b, passed);

	if (t->nodes[a].coord[0] == t->nodes[b].coord[0])
		drawn = count_drawn(t, "ll", a, b, passed);
	assert_int_equal(count_chosen(s, to, from, TOPO_NONE, 4), drawn);
}

static void ways_around_are_all_by_one_third_group(void **state)
{
	static const char *const fabrics[] = {
		"dragonfly-plus --leaves 3 --spines 3 --globals 2",
		"dragonfly-plus --leaves 3 --spines 4 --globals 2 --groups 5",
		"dragonfly-plus --leaves 2 --spines 2 --globals 4 --groups 5",
		"dragonfly-plus --leaves 2 --spines 2 --globals 5 --groups 4 --arrangement palmtree",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++) {
		struct topo t;
		struct subnet s;
		struct adaptive_size size;

		route_around(&t, &s, fabrics[i]);
		for (switch_id k = 0; k < s.n_switches * s.n_switches; k++) {
			switch_id from = k / s.n_switches;
			switch_id to = k % s.n_switches;

			if (from != to && t.nodes[s.node_of_switch[from]].tier == 1 &&
			    t.nodes[s.node_of_switch[to]].tier == 1)
				check_ways_around(&s, from, to);
		}
		adaptive_measure(&s, &size);
		assert_int_equal(size.most_hops, 4);
		assert_true(size.n_around > 0);
		assert_false(is_cyclic(&s));
		assert_false(says_cyclic(&s));
		subnet_fini(&s);
		topo_fini(&t);
	}
}

/* Packets from a global cable leave by a global cable on the same VL. */
static void keep_vls(struct subnet *s, switch_id sw)
{
	const struct topo_node *v = switch_node(s, sw);
	const uint8_t *way_in = &s->adaptive->detours->way_in[v->first_port];
	unsigned n = v->n_ports + 1u;
	struct sl2vl table;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		table.vl[sl] = 0;
	for (unsigned i = 0; i < n * n; i++) {
		if (way_in[i / n] == FROM_BEYOND && way_in[i % n] == FROM_BEYOND)
			subnet_set_sl2vl(s, sw, i / n, i % n, &table);
	}
}

static void ways_around_lock_without_the_second_vl(void **state)
{
	static const char *const fabrics[] = {
		"dragonfly-plus --leaves 2 --spines 2 --globals 4 --groups 5",
		"dragonfly --groups 4 --routers 3 --globals 3 --hosts 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++) {
		struct topo t;
		struct subnet s;
		struct deadlock_check c;
		struct strbuf circle = STRBUF_INIT;

		route_around(&t, &s, fabrics[i]);
		assert_false(is_cyclic(&s));
		assert_false(says_cyclic(&s));
		for (switch_id sw = 0; sw < s.n_switches; sw++)
			keep_vls(&s, sw);
		assert_true(is_cyclic(&s));
		route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
		route_print_cycle(&s, &c, &circle);
		assert_true(c.n_cycle >= 3);
		assert_non_null(strstr(circle.text, "VL 0"));
		assert_null(strstr(circle.text, "VL 1"));
		route_deadlock_fini(&c);
		strbuf_fini(&circle);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

/* A relation that does not record crossings: from group to group for ever. */
static void a_third_crossing_is_found(void **state)
{
	struct topo t;
	struct subnet s;
	struct deadlock_check c;

	(void)state;
	route_around(&t, &s, "dragonfly-plus --leaves 2 --spines 2 --globals 4 --groups 5");
	uint8_t *way_in = s.adaptive->detours->way_in;

	for (port_id p = 0; p < t.n_ports; p++)
		way_in[p] = way_in[p] == FROM_BEYOND ? FROM_GROUP : way_in[p];
	route_check_deadlock(&s, DEADLOCK_PLAIN, &c);
	assert_true(is_cyclic(&s));
	assert_true(c.n_cycle > 0);
	route_deadlock_fini(&c);
	subnet_fini(&s);
	topo_fini(&t);
}

static void fabrics_without_ways_around_refuse(void **state)
{
	static const struct {
		const char *engine, *fabric;
	} none[] = {
		{ "ftree", "fat-tree --radix 8 --levels 3" },
		{ "dragonfly",
		  "dragonfly-plus --groups 4 --leaves 3 --spines 3 --globals 1 --hosts 2" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct topo t;
		struct subnet s;
		struct diag d;

		generate(&t, none[i].fabric);
		subnet_init(&s, &t);
		assert_int_equal(route_with(&s, none[i].engine, &around, &d), HD_ERR_UNFIT);
		assert_non_null(strstr(d.message, "has no ways around"));
		assert_null(s.adaptive);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_all_ports_that_lead_nearer),
		cmocka_unit_test(choices_hold_the_forwarding_table),
		cmocka_unit_test(a_leaf_chooses_among_all_its_ways_up),
		cmocka_unit_test(refusals_are_those_of_brute_force),
		cmocka_unit_test(checks_of_vls_are_those_of_brute_force),
		cmocka_unit_test(engines_without_a_rule_refuse),
		cmocka_unit_test(groups_do_not_depend_on_threads),
		cmocka_unit_test(ways_around_are_all_by_one_third_group),
		cmocka_unit_test(ways_around_lock_without_the_second_vl),
		cmocka_unit_test(a_third_crossing_is_found),
		cmocka_unit_test(fabrics_without_ways_around_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
