/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches that choose (D1 to D6): groups, and by what they choose. */
#include "random_parts.h"

#include "base/alloc.h"
#include "subnet/adaptive.h"

#define FAR UINT32_MAX

/* Groups as a routing engine would say them, drawn beforehand. */
struct drawn_groups {
	struct port_set of[MAX_SWITCHES][MAX_SWITCHES]; /* [at][target] */
};

static void groups_aim(const void *rule, switch_id target, void *view,
		       /* NOLINTNEXTLINE(readability-non-const-parameter) */
		       switch_id *queue)
{
	(void)rule;
	(void)queue;
	*(switch_id *)view = target;
}

static unsigned groups_ports(const void *rule, const void *view, switch_id at,
			     uint8_t *out)
{
	const struct drawn_groups *g = rule;
	const struct port_set *set = &g->of[at][*(const switch_id *)view];
	unsigned n = 0;

	for (unsigned port = 0; port_set_next(set, &port);)
		out[n++] = (uint8_t)port;
	return n;
}

/* Hops from every switch to one; switches are the first nodes. */
static void hops_find(const struct sim_setup *t, uint32_t target,
		      uint32_t *hops)
{
	uint32_t n = t->subnet->n_switches;

	for (uint32_t i = 0; i < n; i++)
		hops[i] = i == target ? 0 : FAR;
	for (uint32_t round = 0; round < n; round++)
		for (uint32_t p = 0; p < t->n_ports; p++) {
			uint32_t near = t->ports[p].node;
			uint32_t far =
				near < n ? switch_beyond(t, p) : TOPO_NONE;

			if (far != TOPO_NONE && hops[far] == round &&
			    hops[near] == FAR)
				hops[near] = round + 1;
		}
}

/* The ways that lead nearer; with `others`, now and then any to a switch. */
static void group_draw(const struct sim_setup *t, uint32_t at,
		       const uint32_t *hops, bool others, struct port_set *set,
		       struct rng *r)
{
	const struct sim_node *n = &t->nodes[at];

	for (uint32_t i = 1; i <= n->n_ports; i++) {
		uint32_t port = n->first_port + i;
		uint32_t far = switch_beyond(t, port);
		bool in = far != TOPO_NONE && hops[far] < hops[at];

		if (far != TOPO_NONE && others)
			in = chance(r, in ? 90 : 30);
		if (t->ports[port].peer == SIM_NONE) /* never a candidate */
			in = chance(r, 20);
		if (in)
			set->bits[i / 64] |= UINT64_C(1) << i % 64;
	}
}

static void groups_draw(struct scenario *s, struct rng *r)
{
	struct subnet *n = &s->fabric.subnet;
	struct drawn_groups groups = { 0 };
	const struct route_rule rule = {
		.aim = groups_aim,
		.ports = groups_ports,
		.state = &groups,
		.view_size = sizeof(switch_id),
	};
	bool others = chance(r, 30) && !s->forewarned;
	uint32_t hops[MAX_SWITCHES] = { 0 };
	struct sw_graph graph;

	for (uint32_t to = 0; to < n->n_switches; to++) {
		hops_find(&s->fabric.setup, to, hops);
		for (uint32_t at = 0; at < n->n_switches; at++)
			if (at != to && hops[at] != FAR &&
			    (chance(r, 90) || s->forewarned))
				group_draw(&s->fabric.setup, at, hops, others,
					   &groups.of[at][to], r);
	}
	graph_init(&graph, n);
	adaptive_gather(n, &graph, &rule,
			chance(r, 60) ? UINT16_MAX : (uint16_t)rng_next(r));
	graph_fini(&graph);
}

/* None, a few packets' blocks, or more than ever wait. */
static uint32_t threshold_draw(const struct scenario *s, struct rng *r)
{
	uint32_t packet = (s->sizes[0] + 63) / 64;

	if (chance(r, 30))
		return 0;
	if (chance(r, 5))
		return 1000000;
	return below(r, packet * (chance(r, 60) ? 2 : 12) + 1);
}

static hd_time heal_draw(const struct scenario *s, struct rng *r)
{
	if (chance(r, 25))
		return 0;
	if (chance(r, 10))
		return 3 * HD_US / s->tick * s->tick;
	return below(r, chance(r, 50) ? 12 : 200) * s->tick;
}

/* One neighbour of the last switch loses all its cables to it. */
static void far_cables_fail(struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	uint32_t last = s->fabric.subnet.n_switches - 1;
	hd_time down = below(r, 100), up = down + 20 + below(r, 300);
	bool comes_back = chance(r, 60);
	uint32_t failing = SIM_NONE;

	for (uint32_t i = 1; i <= t->nodes[last].n_ports; i++) {
		uint32_t port = t->nodes[last].first_port + i;
		uint32_t far = switch_beyond(t, port);

		if (far == TOPO_NONE)
			continue;
		if (failing == SIM_NONE && chance(r, 60))
			failing = far;
		if (far != failing)
			continue;
		fault_add(s, down, SIM_LINK_DOWN, port);
		if (comes_back)
			fault_add(s, up, SIM_LINK_UP, port);
	}
}

void choices_draw(struct scenario *s, struct rng *r)
{
	struct sim_adaptive *a;

	if (!s->adaptive)
		return;
	groups_draw(s, r);
	a = s->choice = hd_alloc(1, sizeof(*a));
	a->choice = chance(r, 60)   ? SIM_AR_LOAD
		    : chance(r, 50) ? SIM_AR_RANDOM
				    : SIM_AR_TURNS;
	a->per = chance(r, 40)   ? SIM_AR_PACKET
		 : chance(r, 40) ? SIM_AR_FLOW
				 : SIM_AR_FLOWLET;
	a->threshold = threshold_draw(s, r);
	a->hysteresis = chance(r, 30) ? 0 : below(r, a->threshold + 1);
	if (chance(r, 15))
		a->hysteresis = a->threshold;
	a->gap = rng_below(r, 3 * s->d_max / s->tick + 1) * s->tick;
	a->heal = heal_draw(s, r);
	if (chance(r, 60) || s->forewarned)
		a->notify = (1 + below(r, chance(r, 50) ? 12 : 200)) * s->tick;
	if (s->forewarned)
		far_cables_fail(s, r);
	s->fabric.setup.adaptive = a;
}
