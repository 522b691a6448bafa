/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches that choose (D1 to D7): groups, and by what they choose. */
#include "random_parts.h"

#include "base/alloc.h"
#include "subnet/routing/adaptive.h"

#define FAR UINT32_MAX

/* Groups as a routing engine would say them, drawn beforehand: [at][target]. */
struct drawn_groups {
	const struct sim_setup *setup;
	const struct shape *shape;
	struct port_set of[MAX_SWITCHES][MAX_SWITCHES];
	/* D7: minimal ones of the group, and around, of an end and the group */
	struct port_set straight[MAX_SWITCHES][MAX_SWITCHES];
	struct port_set around[2][MAX_SWITCHES][MAX_SWITCHES];
};

static void groups_aim(const void *rule, switch_id target, void *view,
		       /* NOLINTNEXTLINE(readability-non-const-parameter) */
		       switch_id *queue)
{
	(void)rule;
	(void)queue;
	*(switch_id *)view = target;
}

static unsigned ports_list(const struct port_set *set, uint8_t *out)
{
	unsigned n = 0;

	for (unsigned port = 0; port_set_next(set, &port);)
		out[n++] = (uint8_t)port;
	return n;
}

static unsigned groups_ports(const void *rule, const void *view, switch_id at, uint8_t *out)
{
	const struct drawn_groups *g = rule;

	return ports_list(&g->of[at][*(const switch_id *)view], out);
}

static enum way_in groups_way_in(const void *rule, switch_id at, unsigned port)
{
	const struct drawn_groups *g = rule;
	uint32_t far = switch_beyond(g->setup, g->setup->nodes[at].first_port + port);

	if (far == TOPO_NONE)
		return FROM_END;
	return g->shape->group[far] == g->shape->group[at] ? FROM_GROUP : FROM_BEYOND;
}

static unsigned groups_detours(const void *rule, const void *view, switch_id at, enum way_in from,
			       bool around, uint8_t *out)
{
	const struct drawn_groups *g = rule;
	switch_id to = *(const switch_id *)view;

	return ports_list(around ? &g->around[from][at][to] : &g->straight[at][to], out);
}

/* A minimal way in a dragonfly crosses between groups once. */
static bool is_step(const struct shape *h, uint32_t near, uint32_t far, uint32_t target)
{
	return !h->dragonfly || h->group[far] == h->group[near] ||
	       h->group[far] == h->group[target];
}

/* Hops from every switch to one; switches are the first nodes. */
static void hops_find(const struct sim_setup *t, const struct shape *h, uint32_t target,
		      uint32_t *hops)
{
	uint32_t n = t->subnet->n_switches;

	for (uint32_t i = 0; i < n; i++)
		hops[i] = i == target ? 0 : FAR;
	for (uint32_t round = 0; round < n; round++)
		for (uint32_t p = 0; p < t->n_ports; p++) {
			uint32_t near = t->ports[p].node;
			uint32_t far = near < n ? switch_beyond(t, p) : TOPO_NONE;

			if (far != TOPO_NONE && hops[far] == round && hops[near] == FAR &&
			    is_step(h, near, far, target))
				hops[near] = round + 1;
		}
}

static void set_add(struct port_set *set, uint32_t port)
{
	set->bits[port / 64] |= UINT64_C(1) << port % 64;
}

static bool set_has(const struct port_set *set, uint32_t port)
{
	return set->bits[port / 64] >> port % 64 & 1;
}

/* The ways that lead nearer; with `others`, now and then any to a switch. */
static void group_draw(struct drawn_groups *g, uint32_t at, uint32_t to, const uint32_t *hops,
		       bool others, struct rng *r)
{
	const struct sim_setup *t = g->setup;
	const struct sim_node *n = &t->nodes[at];

	for (uint32_t i = 1; i <= n->n_ports; i++) {
		uint32_t port = n->first_port + i;
		uint32_t far = switch_beyond(t, port);
		bool in =
			far != TOPO_NONE && hops[far] < hops[at] && is_step(g->shape, at, far, to);

		if (far != TOPO_NONE && others)
			in = chance(r, in ? 90 : 30);
		if (t->ports[port].peer == SIM_NONE) /* never a candidate */
			in = chance(r, 20);
		if (in)
			set_add(&g->of[at][to], i);
	}
}

/* ---- ways around (D7) ---- */

/* The group of the dragonfly at the far end of a port, or FAR. */
static uint32_t group_beyond(const struct drawn_groups *g, uint32_t at, uint32_t port)
{
	uint32_t far = switch_beyond(g->setup, g->setup->nodes[at].first_port + port);

	return far == TOPO_NONE ? FAR : g->shape->group[far];
}

/* Whether a switch has minimal ports, all with cables to the target's group. */
static bool goes_straight(const struct drawn_groups *g, uint32_t at, uint32_t to)
{
	const struct port_set *set = &g->of[at][to];

	for (unsigned port = 0; port_set_next(set, &port);)
		if (group_beyond(g, at, port) != g->shape->group[to])
			return false;
	return port_set_size(set) > 0;
}

/* A cable to a suitable switch of a third group. */
static bool crosses(const struct drawn_groups *g, uint32_t at, uint32_t port, uint32_t to)
{
	uint32_t group = group_beyond(g, at, port);

	return group != FAR && group != g->shape->group[at] && group != g->shape->group[to] &&
	       goes_straight(g, switch_beyond(g->setup, g->setup->nodes[at].first_port + port), to);
}

/* Whether the far switch of a port is of the group and has a suitable cable. */
static bool approaches(const struct drawn_groups *g, uint32_t at, uint32_t port, uint32_t to)
{
	uint32_t near = switch_beyond(g->setup, g->setup->nodes[at].first_port + port);

	if (group_beyond(g, at, port) != g->shape->group[at])
		return false;
	for (uint32_t i = 1; i <= g->setup->nodes[near].n_ports; i++)
		if (crosses(g, near, i, to))
			return true;
	return false;
}

/* Outside the target's group; with `others`, now and then any cable that is not
 * minimal. */
static void ways_draw(struct drawn_groups *g, uint32_t at, uint32_t to, bool others, struct rng *r)
{
	for (uint32_t i = 1; i <= g->setup->nodes[at].n_ports; i++) {
		bool minimal = set_has(&g->of[at][to], i);
		bool straight = minimal && group_beyond(g, at, i) != g->shape->group[at];
		bool way = crosses(g, at, i, to);
		bool end = way || approaches(g, at, i, to);

		if (others && chance(r, 15))
			way = end = !way;
		if (straight)
			set_add(&g->straight[at][to], i);
		if (end && !minimal)
			set_add(&g->around[FROM_END][at][to], i);
		if (way && !straight)
			set_add(&g->around[FROM_GROUP][at][to], i);
	}
}

static void around_draw(struct drawn_groups *g, bool others, struct rng *r)
{
	const struct shape *h = g->shape;

	for (uint32_t at = 0; at < h->n_switches; at++)
		for (uint32_t to = 0; to < h->n_switches; to++) {
			if (h->group[at] == h->group[to])
				g->straight[at][to] = g->of[at][to];
			else
				ways_draw(g, at, to, others, r);
		}
}

/* None, some packets' blocks, or more than ever wait. */
static uint32_t margin_draw(const struct scenario *s, struct rng *r)
{
	uint32_t packet = (s->sizes[0] + 63) / 64;

	if (chance(r, 30))
		return 0;
	if (chance(r, 5))
		return UINT32_MAX;
	return chance(r, 40) ? packet : below(r, packet * (chance(r, 70) ? 2 : 6) + 1);
}

/* ---- all of it ---- */

static void groups_draw(struct scenario *s, const struct shape *h, struct rng *r)
{
	struct subnet *n = &s->fabric.subnet;
	struct drawn_groups groups = { .setup = &s->fabric.setup, .shape = h };
	const struct route_rule rule = {
		.aim = groups_aim,
		.ports = groups_ports,
		.way_in = s->around ? groups_way_in : NULL,
		.detours = s->around ? groups_detours : NULL,
		.state = &groups,
		.view_size = sizeof(switch_id),
	};
	bool others = chance(r, 30) && !s->forewarned;
	uint32_t hops[MAX_SWITCHES] = { 0 };
	struct sw_graph graph;

	for (uint32_t to = 0; to < n->n_switches; to++) {
		hops_find(&s->fabric.setup, h, to, hops);
		for (uint32_t at = 0; at < n->n_switches; at++)
			if (at != to && hops[at] != FAR && (chance(r, 90) || s->forewarned))
				group_draw(&groups, at, to, hops, others, r);
	}
	if (s->around)
		around_draw(&groups, others, r);
	graph_init(&graph, n);
	adaptive_gather(n, &graph, &rule, chance(r, 60) ? UINT16_MAX : (uint16_t)rng_next(r));
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

void choices_draw(struct scenario *s, const struct shape *h, struct rng *r)
{
	struct sim_adaptive *a;

	if (!s->adaptive)
		return;
	groups_draw(s, h, r);
	a = s->choice = hd_alloc(1, sizeof(*a));
	a->choice = chance(r, 60) ? SIM_AR_LOAD : chance(r, 50) ? SIM_AR_RANDOM : SIM_AR_TURNS;
	a->per = chance(r, 40) ? SIM_AR_PACKET : chance(r, 40) ? SIM_AR_FLOW : SIM_AR_FLOWLET;
	a->threshold = threshold_draw(s, r);
	a->hysteresis = chance(r, 30) ? 0 : below(r, a->threshold + 1);
	if (chance(r, 15))
		a->hysteresis = a->threshold;
	a->gap = rng_below(r, 3 * s->d_max / s->tick + 1) * s->tick;
	a->heal = heal_draw(s, r);
	if (chance(r, 60) || s->forewarned)
		a->notify = (1 + below(r, chance(r, 50) ? 12 : 200)) * s->tick;
	if (s->around)
		a->around = margin_draw(s, r);
	if (s->forewarned || (s->around && chance(r, 40)))
		far_cables_fail(s, r);
	s->fabric.setup.adaptive = a;
}
