/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/balance.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/layers.h"
#include "subnet/routing/route.h"

/*
 * Minimal routing on dragonflies: at most one cable inside the group of the
 * source, one between the groups, one inside that of the destination. (In a
 * dragonfly+ these are leaf to spine, spine to spine, spine to leaf.)
 *
 * Cables inside a group are used before and after the global hop, which could
 * close circles; so packets from a global cable use the odd VL of a pair,
 * all others the even one. A switch knows which from (in, out)
 * alone. SLs spread over the pairs that the links have.
 *
 * Ways around, for switches that choose: one cable inside the group of the
 * source, one to a switch of a third group that has a cable to the target's
 * group, that cable in the odd VL, one inside the target's group. VLs are
 * then taken in the order local even, global even, global odd, local odd, which
 * closes no circle. A way through a local cable of the third group would come
 * to a global one like any that has just begun: there no table by (in, out)
 * could tell them apart, so there are none.
 */
struct dragonfly {
	const struct sw_graph *g;
	uint32_t *group;
	uint32_t n_groups;
	bool *global;       /* per edge */
	switch_id *queue;   /* space for searching groups */
	unsigned threshold; /* number of common neighbours that identifies a group */
	bool around;        /* ways that are not minimal, too */
};

/* State of one target: hops to it under the rule. */
struct aims {
	uint32_t group; /* the target's */
	uint16_t cost[];
};

/* Behind the costs, if ways around are permitted: */
enum crossing {
	CROSSES = 1,       /* all minimal ways begin by a global cable, */
	CROSSES_AROUND = 2 /* some way around does */
};

/* A multiple of what the group needs, so that views lie side by side. */
static size_t aims_size(const struct sw_graph *g)
{
	return sizeof(struct aims) + (g->n * 3u + 3) / 4 * sizeof(uint32_t);
}

static uint8_t *crossings(const struct dragonfly *f, struct aims *a)
{
	return (uint8_t *)&a->cost[f->g->n];
}

static const uint8_t *crossings_of(const struct dragonfly *f, const struct aims *a)
{
	return (const uint8_t *)&a->cost[f->g->n];
}

static bool is_global(const struct dragonfly *f, switch_id sw, edge_id e)
{
	return f->group[sw] != f->group[f->g->edges[e].to];
}

/* Costs inside the target's group: hops over local cables. */
static void spread_in_group(const struct dragonfly *f, switch_id target, uint16_t *cost,
			    switch_id *queue)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	memset(cost, 0xFF, g->n * sizeof(*cost));
	cost[target] = 0;
	queue[tail++] = target;
	while (head < tail) {
		switch_id sw = queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (f->global[e] || cost[to] != GRAPH_FAR)
				continue;
			cost[to] = (uint16_t)(cost[sw] + 1);
			queue[tail++] = to;
		}
	}
}

/* One round of relaxation over the switches outside the target's group. */
static bool relax(const struct dragonfly *f, struct aims *a)
{
	const struct sw_graph *g = f->g;
	uint16_t *cost = a->cost;
	bool changed = false;

	for (switch_id sw = 0; sw < g->n; sw++) {
		if (f->group[sw] == a->group)
			continue;
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (f->global[e] && f->group[to] != a->group)
				continue;
			if (cost[to] == GRAPH_FAR || cost[to] + 1u >= cost[sw])
				continue;
			cost[sw] = (uint16_t)(cost[to] + 1);
			changed = true;
		}
	}
	return changed;
}

/* ---- ways around ---- */

/* A global cable to a third group, whence another leads to the target's. */
static bool leads_around(const struct dragonfly *f, const struct aims *a, switch_id at, edge_id e)
{
	switch_id to = f->g->edges[e].to;

	return f->global[e] && f->group[at] != a->group && f->group[to] != a->group &&
	       crossings_of(f, a)[to] & CROSSES;
}

static bool is_minimal(const struct dragonfly *f, const struct aims *a, switch_id at, edge_id e)
{
	switch_id to = f->g->edges[e].to;

	if (f->global[e] && (f->group[at] == a->group || f->group[to] != a->group))
		return false;
	return a->cost[at] != GRAPH_FAR && a->cost[to] + 1u == a->cost[at];
}

/* Whether minimal ways begin by global cables, and by no others. */
static bool crosses_at_once(const struct dragonfly *f, const struct aims *a, switch_id at)
{
	const struct sw_graph *g = f->g;
	bool crosses = false;

	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		if (!is_minimal(f, a, at, e))
			continue;
		if (!f->global[e])
			return false;
		crosses = true;
	}
	return crosses;
}

static void find_crossings(const struct dragonfly *f, struct aims *a)
{
	const struct sw_graph *g = f->g;
	uint8_t *found = crossings(f, a);

	for (switch_id sw = 0; sw < g->n; sw++)
		found[sw] = crosses_at_once(f, a, sw) ? CROSSES : 0;
	for (switch_id sw = 0; sw < g->n; sw++) {
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			if (leads_around(f, a, sw, e))
				found[sw] |= CROSSES_AROUND;
		}
	}
}

static enum way_in dragonfly_way_in(const void *rule, switch_id at, unsigned port)
{
	const struct dragonfly *f = rule;
	edge_id e = edge_of(f->g, at, port);

	if (e == TOPO_NONE)
		return FROM_END;
	return f->global[e] ? FROM_BEYOND : FROM_GROUP;
}

/*
 * Whether a packet from this input may leave by e. After a local cable in a
 * group other than the target's, the next cable is a global one.
 */
static bool is_permitted(const struct dragonfly *f, const struct aims *a, switch_id at, edge_id e,
			 enum way_in from)
{
	return from != FROM_GROUP || f->group[at] == a->group || f->global[e];
}

static bool is_way_around(const struct dragonfly *f, const struct aims *a, switch_id at, edge_id e)
{
	if (f->global[e])
		return leads_around(f, a, at, e);
	return f->group[at] != a->group && !is_minimal(f, a, at, e) &&
	       crossings_of(f, a)[f->g->edges[e].to] & CROSSES_AROUND;
}

static unsigned dragonfly_detours(const void *rule, const void *view, switch_id at,
				  enum way_in from, bool around, uint8_t *out)
{
	const struct dragonfly *f = rule;
	const struct sw_graph *g = f->g;
	unsigned n = 0;

	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		if (is_permitted(f, view, at, e, from) &&
		    (around ? is_way_around(f, view, at, e) : is_minimal(f, view, at, e)))
			out[n++] = g->edges[e].out;
	}
	return n;
}

static void dragonfly_aim(const void *rule, switch_id target, void *view, switch_id *queue)
{
	const struct dragonfly *f = rule;
	struct aims *a = view;

	a->group = f->group[target];
	spread_in_group(f, target, a->cost, queue);
	while (relax(f, a))
		;
	if (f->around)
		find_crossings(f, a);
}

static unsigned dragonfly_ports(const void *rule, const void *view, switch_id at, uint8_t *out)
{
	return dragonfly_detours(rule, view, at, FROM_END, false, out);
}

/* ---- groups ---- */

typedef bool is_local(const struct dragonfly *f, switch_id sw, edge_id e);

static void flood_group(struct dragonfly *f, is_local *local, switch_id start)
{
	const struct sw_graph *g = f->g;
	uint32_t head = 0, tail = 0;

	f->group[start] = f->n_groups;
	f->queue[tail++] = start;
	while (head < tail) {
		switch_id sw = f->queue[head++];

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (f->group[to] != TOPO_NONE || !local(f, sw, e))
				continue;
			f->group[to] = f->n_groups;
			f->queue[tail++] = to;
		}
	}
}

/* Groups are what hangs together over cables that `local` permits. */
static void number_groups(struct dragonfly *f, is_local *local)
{
	f->n_groups = 0;
	memset(f->group, 0xFF, f->g->n * sizeof(*f->group));
	for (switch_id sw = 0; sw < f->g->n; sw++) {
		if (f->group[sw] != TOPO_NONE)
			continue;
		flood_group(f, local, sw);
		f->n_groups++;
	}
}

/* In a dragonfly+ only spines, which have no hosts, are joined globally. */
static bool touches_leaf(const struct dragonfly *f, switch_id sw, edge_id e)
{
	return f->g->n_ends[sw] || f->g->n_ends[f->g->edges[e].to];
}

static bool are_joined(const struct sw_graph *g, switch_id a, switch_id b)
{
	for (edge_id e = g->first[a]; e < g->first[a + 1]; e++) {
		if (g->edges[e].to == b)
			return true;
	}
	return false;
}

static unsigned n_shared(const struct sw_graph *g, switch_id a, switch_id b)
{
	unsigned n = 0;

	for (edge_id e = g->first[a]; e < g->first[a + 1]; e++)
		n += g->edges[e].to != b && are_joined(g, g->edges[e].to, b);
	return n;
}

/* In a dragonfly, neighbours in a group share all the others of the group. */
static bool share_neighbours(const struct dragonfly *f, switch_id sw, edge_id e)
{
	return n_shared(f->g, sw, f->g->edges[e].to) >= f->threshold;
}

static bool groups_are_joined(const struct dragonfly *f)
{
	const struct sw_graph *g = f->g;
	size_t n = f->n_groups;
	bool *joined = hd_alloc(n * n, sizeof(*joined));
	bool all = true;

	for (switch_id sw = 0; sw < g->n; sw++) {
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++)
			joined[f->group[sw] * n + f->group[g->edges[e].to]] = true;
	}
	for (size_t i = 0; i < n * n; i++)
		all &= joined[i] || i / n == i % n;
	free(joined);
	return all;
}

/* Three hops between hosts, two inside a group. */
static bool hops_fit(struct dragonfly *f)
{
	const struct sw_graph *g = f->g;
	struct aims *a = hd_alloc(1, aims_size(g));
	bool fit = true;

	for (switch_id target = 0; fit && target < g->n; target++) {
		if (g->n_ends[target] == 0)
			continue;
		dragonfly_aim(f, target, a, f->queue);
		for (switch_id sw = 0; fit && sw < g->n; sw++) {
			bool inside = f->group[sw] == a->group;

			fit = !g->n_ends[sw] || a->cost[sw] <= (inside ? 2u : 3u);
		}
	}
	free(a);
	return fit;
}

static void mark_global(struct dragonfly *f)
{
	for (switch_id sw = 0; sw < f->g->n; sw++) {
		for (edge_id e = f->g->first[sw]; e < f->g->first[sw + 1]; e++)
			f->global[e] = is_global(f, sw, e);
	}
}

static bool groups_fit(struct dragonfly *f)
{
	mark_global(f);
	return f->n_groups > 1 && groups_are_joined(f) && hops_fit(f);
}

static bool find_groups(struct dragonfly *f, const struct subnet *s)
{
	const struct topo *t = s->topo;

	if (t->family == FAMILY_DRAGONFLY || t->family == FAMILY_DRAGONFLY_PLUS) {
		f->n_groups = t->dims[0];
		for (switch_id sw = 0; sw < f->g->n; sw++)
			f->group[sw] = switch_node(s, sw)->coord[0];
		mark_global(f);
		return groups_are_joined(f) && hops_fit(f);
	}
	number_groups(f, touches_leaf);
	if (groups_fit(f))
		return true;
	for (f->threshold = TOPO_MAX_PORTS; f->threshold > 0; f->threshold--) {
		number_groups(f, share_neighbours);
		if (f->n_groups < f->g->n && groups_fit(f))
			return true;
	}
	return false;
}

/* Whether a packet from one cable to the other has crossed groups. */
static bool is_late(const struct dragonfly *f, edge_id from, edge_id to)
{
	return from != TOPO_NONE && f->global[from] && (f->around || !f->global[to]);
}

static void set_vls(struct subnet *s, const struct dragonfly *f, switch_id sw)
{
	const struct topo_node *v = switch_node(s, sw);
	unsigned n = v->n_ports + 1u;

	for (unsigned i = 0; i < n * n; i++) {
		unsigned in = i / n, out = i % n;
		unsigned pairs = s->vls_of_port[v->first_port + out] / 2;
		edge_id from = edge_of(f->g, sw, in);
		edge_id to = edge_of(f->g, sw, out);
		struct sl2vl table = sl2vl_default(s->vls_of_port[v->first_port + out]);

		/* VLs toward hosts cannot cause deadlocks. */
		for (unsigned sl = 0; to != TOPO_NONE && sl < N_SLS; sl++)
			table.vl[sl] = (uint8_t)(2 * (sl % pairs) + is_late(f, from, to));
		subnet_set_sl2vl(s, sw, in, out, &table);
	}
}

/* Rejects fabrics that look like a dragonfly but have cycles of channels. */
static enum hd_status verify(const struct subnet *s, struct diag *d)
{
	struct deadlock_check c;
	enum hd_status status = HD_OK;

	route_check_deadlock(s, DEADLOCK_PLAIN, &c);
	if (c.n_cycle > 0)
		status = diag_fail(d, HD_ERR_UNFIT,
				   "two VLs do not prevent deadlocks in this fabric");
	route_deadlock_fini(&c);
	return status;
}

static enum hd_status route_dragonfly(struct subnet *s, const struct sw_graph *g,
				      const struct route_options *o, struct diag *d)
{
	struct dragonfly f = {
		.g = g,
		.group = hd_alloc(g->n, sizeof(*f.group)),
		.global = hd_alloc(g->n_edges, sizeof(*f.global)),
		.queue = hd_alloc(g->n, sizeof(*f.queue)),
		.around = o->around && o->adaptive,
	};
	struct route_rule rule = { .aim = dragonfly_aim,
				   .ports = dragonfly_ports,
				   .state = &f,
				   .view_size = aims_size(g),
				   .adaptive = o->adaptive };
	enum hd_status status = HD_OK;

	if (f.around) {
		rule.way_in = dragonfly_way_in;
		rule.detours = dragonfly_detours;
	}
	if (!find_groups(&f, s))
		status = diag_fail(
			d, HD_ERR_UNFIT,
			"the fabric is not a dragonfly: groups that are complete inside (or leaves and spines) and each joined to all others");
	else if (layers_available(s, g, 0) < 2)
		status = diag_fail(d, HD_ERR_UNFIT,
				   "needs 2 VLs on every cable between switches, one has only 1");
	if (status == HD_OK) {
		balance_routes(s, g, &rule);
		for (switch_id sw = 0; sw < g->n; sw++)
			set_vls(s, &f, sw);
		s->vls_by_engine = true;
		s->vls_used = 2;
		status = verify(s, d);
	}
	free(f.group);
	free(f.global);
	free(f.queue);
	return status;
}

const struct route_engine engine_dragonfly = {
	.name = "dragonfly",
	.needs = "a dragonfly or dragonfly+, two VLs",
	.route = route_dragonfly,
};
