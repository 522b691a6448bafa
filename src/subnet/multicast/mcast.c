/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/multicast/mcast.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast_rows.h"
#include "subnet/routing/graph.h"
#include "subnet/routing/order.h"

#define TREE_NAMES                                                                 \
	[MCAST_XY] = "xy", [MCAST_UNION] = "union", [MCAST_SHORTEST] = "shortest", \
	[MCAST_SHARED] = "shared"

const char *const mcast_tree_names[N_MCAST_TREES + 1] = { TREE_NAMES };

const char *const mcast_method_names[N_MCAST_METHODS + 1] = {
	TREE_NAMES,
	[MCAST_DUAL] = "dual-path",
	[MCAST_MULTI] = "multi-path",
	[MCAST_DOUBLE] = "double-xy",
	[MCAST_PATHS] = "paths",
	[MCAST_FILE] = "file",
};

/* A tree over switches in the making. */
struct tree {
	struct subnet *s;
	struct sw_graph g;
	const struct mcast_group *group;
	switch_id root;
	edge_id *from; /* the channel a switch is reached by; TOPO_NONE */
	bool *in_tree;
	uint16_t *dist; /* from the root */
	switch_id *queue;
	bool *again; /* MCAST_PATHS: channels to what is in it already */
};

static const char *port_name(const struct subnet *s, port_id p)
{
	return topo_node_of(s->topo, p)->name;
}

static void tree_init(struct tree *t, struct subnet *s, const struct mcast_group *group)
{
	*t = (struct tree){ .s = s, .group = group };
	graph_init(&t->g, s);
	t->from = hd_alloc(t->g.n, sizeof(*t->from));
	t->in_tree = hd_alloc(t->g.n, sizeof(*t->in_tree));
	t->dist = hd_alloc(t->g.n, sizeof(*t->dist));
	t->queue = hd_alloc(t->g.n, sizeof(*t->queue));
	t->again = hd_alloc(t->g.n_edges + 1, sizeof(*t->again));
}

static void tree_fini(struct tree *t)
{
	graph_fini(&t->g);
	free(t->from);
	free(t->in_tree);
	free(t->dist);
	free(t->queue);
	free(t->again);
}

static void plant(struct tree *t, switch_id root)
{
	t->root = root;
	t->in_tree[root] = true;
	t->from[root] = TOPO_NONE;
	graph_distances(&t->g, root, t->dist, t->queue);
}

static enum hd_status refuse_unreachable(const struct tree *t, port_id member, struct diag *d)
{
	return diag_fail(d, HD_ERR_UNFIT, "multicast: no path from '%s' to the member '%s'",
			 switch_node(t->s, t->root)->name, port_name(t->s, member));
}

/* Follows the forwarding tables to a member, adding what is new. */
static enum hd_status add_routed(struct tree *t, port_id member, struct diag *d)
{
	const struct sw_graph *g = &t->g;
	lid_t lid = t->s->lid_of_port[member];
	switch_id home = mcast_home(t->s, member), sw = t->root;

	for (uint32_t steps = 0; sw != home; steps++) {
		edge_id e = edge_of(g, sw, lft_get(t->s, sw, lid));

		if (e == TOPO_NONE || steps > g->n)
			return refuse_unreachable(t, member, d);
		switch_id to = g->edges[e].to;

		bool meets = t->in_tree[to] &&
			     (t->from[to] == TOPO_NONE || edge_from(g, t->from[to]) != sw);

		if (meets && t->group->method == MCAST_PATHS)
			t->again[e] = true;
		else if (meets)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"multicast: the paths from '%s' meet again at '%s'; their union is not a tree",
				switch_node(t->s, t->root)->name, switch_node(t->s, to)->name);
		if (!t->in_tree[to]) {
			t->in_tree[to] = true;
			t->from[to] = e;
		}
		sw = to;
	}
	return HD_OK;
}

/* Goes back from a member by shortest steps until it meets the tree. */
static enum hd_status add_shortest(struct tree *t, port_id member, struct diag *d)
{
	const struct sw_graph *g = &t->g;
	switch_id sw = mcast_home(t->s, member);

	if (t->dist[sw] == GRAPH_FAR)
		return refuse_unreachable(t, member, d);
	while (!t->in_tree[sw]) {
		edge_id best = TOPO_NONE; /* leading away from the tree */

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			if (t->dist[to] + 1u != t->dist[sw])
				continue;
			if (best == TOPO_NONE || t->in_tree[to])
				best = e;
			if (t->in_tree[to])
				break;
		}
		t->in_tree[sw] = true;
		t->from[sw] = g->reverse[best];
		sw = g->edges[best].to;
	}
	return HD_OK;
}

/*
 * OpenSM's algorithm: from the root on, each switch takes its first port toward the member. Two
 * such paths that part never meet again, because both would have taken the same first port.
 */
static enum hd_status add_first_ports(struct tree *t, port_id member, struct diag *d)
{
	const struct sw_graph *g = &t->g;
	switch_id sw = t->root, home = mcast_home(t->s, member);

	if (t->in_tree[home])
		return HD_OK;
	graph_distances(g, home, t->dist, t->queue);
	if (t->dist[sw] == GRAPH_FAR)
		return refuse_unreachable(t, member, d);
	while (sw != home) {
		edge_id e = g->first[sw];

		while (t->dist[g->edges[e].to] + 1u != t->dist[sw])
			e++;
		sw = g->edges[e].to;
		if (!t->in_tree[sw]) {
			t->in_tree[sw] = true;
			t->from[sw] = e;
		}
	}
	return HD_OK;
}

/* The largest number of hops from a switch to a member. */
static uint16_t reach(struct tree *t, switch_id sw)
{
	const struct mcast_group *m = t->group;
	uint16_t most = 0;

	graph_distances(&t->g, sw, t->dist, t->queue);
	for (uint32_t i = 0; i < m->n_members; i++) {
		switch_id home = mcast_home(t->s, m->members[i]);
		bool adapter = t->s->topo->ports[m->members[i]].number > 0;
		uint32_t hops = t->dist[home] + (adapter ? 1u : 0u);

		if (t->dist[home] == GRAPH_FAR)
			return GRAPH_FAR;
		most = hops > most ? (uint16_t)hops : most;
	}
	return most;
}

/* OpenSM's root: the switch with the smallest sum of distances, the first in OpenSM's order. */
static switch_id shared_root(struct tree *t)
{
	port_id *ports = hd_alloc(t->s->topo->n_ports, sizeof(*ports));
	uint32_t n = order_ports_by_guid(t->s, ports);
	switch_id best = TOPO_NONE;
	uint16_t least = GRAPH_FAR;

	for (uint32_t i = 0; i < n; i++) {
		switch_id sw = t->s->switch_of_node[t->s->topo->ports[ports[i]].node];

		if (sw == TOPO_NONE || t->s->topo->ports[ports[i]].subnet != t->group->subnet)
			continue;
		uint16_t hops = reach(t, sw);

		if (hops < least) {
			least = hops;
			best = sw;
		}
	}
	free(ports);
	return best;
}

static uint64_t *row_of(const struct tree *t, switch_id sw)
{
	struct mft *m = &t->s->mft[t->group->subnet];

	return &m->ports[((size_t)(m->n_mlids - 1) * t->g.n + sw) * m->words];
}

/* Writes the tree into a new MLID's rows. */
static void write_rows(struct tree *t, bool both_ways)
{
	const struct topo *topo = t->s->topo;

	mcast_make_room(t->s, t->group->subnet, t->s->mft[t->group->subnet].n_mlids + 1);
	for (switch_id sw = 0; sw < t->g.n; sw++) {
		edge_id e = t->in_tree[sw] ? t->from[sw] : TOPO_NONE;

		if (e == TOPO_NONE)
			continue;
		mcast_set_port(row_of(t, edge_from(&t->g, e)), t->g.edges[e].out);
		if (both_ways)
			mcast_set_port(row_of(t, sw), t->g.edges[e].in);
	}
	for (edge_id e = 0; e < t->g.n_edges; e++) {
		if (t->again[e])
			mcast_set_port(row_of(t, edge_from(&t->g, e)), t->g.edges[e].out);
	}
	for (uint32_t i = 0; i < t->group->n_members; i++) {
		port_id p = t->group->members[i];
		unsigned number =
			topo->ports[p].number == 0 ? 0 : topo->ports[topo->ports[p].peer].number;

		mcast_set_port(row_of(t, mcast_home(t->s, p)), number);
	}
}

/* Drops a top that leads to one branch only and has no member. */
static void prune_root(struct tree *t)
{
	for (;;) {
		switch_id only = TOPO_NONE;
		unsigned n = 0;

		for (switch_id sw = 0; sw < t->g.n; sw++) {
			if (!t->in_tree[sw] || t->from[sw] == TOPO_NONE ||
			    edge_from(&t->g, t->from[sw]) != t->root)
				continue;
			only = sw;
			n++;
		}
		for (uint32_t i = 0; i < t->group->n_members; i++)
			n += mcast_home(t->s, t->group->members[i]) == t->root;
		if (n != 1 || only == TOPO_NONE)
			return;
		t->in_tree[t->root] = false;
		t->root = only;
		t->from[only] = TOPO_NONE;
	}
}

static enum hd_status check_port(const struct subnet *s, port_id p, const char *what,
				 struct diag *d)
{
	if (p >= s->topo->n_ports || !topo_is_end_port(s->topo, p) || mcast_home(s, p) == TOPO_NONE)
		return diag_fail(d, HD_ERR_INPUT,
				 "multicast: %s '%s' is not an end port on a switch", what,
				 p < s->topo->n_ports ? port_name(s, p) : "?");
	return HD_OK;
}

static enum hd_status check_group(const struct subnet *s, const struct mcast_group *m,
				  struct diag *d)
{
	bool needs_source = m->method != MCAST_SHARED;

	if (mcast_has_parts(m->method))
		return diag_fail(d, HD_ERR_UNFIT,
				 "multicast: '%s' takes several MLIDs, and here a group has one",
				 mcast_method_names[m->method]);
	if (m->n_members == 0 || m->method >= MCAST_FILE)
		return diag_fail(d, HD_ERR_INPUT,
				 "multicast: a group needs members and a method to join them");
	if (needs_source && m->source == TOPO_NONE)
		return diag_fail(d, HD_ERR_INPUT, "multicast: method '%s' requires a source",
				 mcast_method_names[m->method]);
	if (needs_source && check_port(s, m->source, "source", d) != HD_OK)
		return d->status;
	for (uint32_t i = 0; i < m->n_members; i++) {
		if (check_port(s, m->members[i], "member", d) != HD_OK)
			return d->status;
		if (s->topo->ports[m->members[i]].subnet != m->subnet)
			return diag_fail(d, HD_ERR_UNFIT,
					 "multicast: the member '%s' is in another subnet",
					 port_name(s, m->members[i]));
	}
	if (needs_source && s->topo->ports[m->source].subnet != m->subnet)
		return diag_fail(d, HD_ERR_UNFIT, "multicast: the source '%s' is in another subnet",
				 port_name(s, m->source));
	if (m->method == MCAST_XY && (!s->engine || strcmp(s->engine, "xy") != 0))
		return diag_fail(
			d, HD_ERR_UNFIT,
			"multicast: XY trees need the routing engine 'xy', the routes are those of '%s'",
			s->engine ? s->engine : "none");
	if (mcast_mlids_left(s, m->subnet) == 0)
		return diag_fail(d, HD_ERR_FULL, "multicast: all %u MLIDs are in use",
				 LID_LAST_MCAST - LID_FIRST_MCAST + 1u);
	return HD_OK;
}

/* The group without members that occur twice. */
static struct mcast_group copy_group(const struct mcast_group *want)
{
	struct mcast_group m = *want;

	m.members = hd_alloc(want->n_members, sizeof(*m.members));
	m.n_members = 0;
	m.root = TOPO_NONE;
	m.senders = NULL;
	m.n_senders = 0;
	m.senders_cap = 0;
	for (uint32_t i = 0; i < want->n_members; i++) {
		uint32_t k = 0;

		while (k < m.n_members && m.members[k] != want->members[i])
			k++;
		if (k == m.n_members)
			m.members[m.n_members++] = want->members[i];
	}
	return m;
}

static enum hd_status grow(struct tree *t, struct diag *d)
{
	const struct mcast_group *m = t->group;
	enum hd_status (*add)(struct tree *, port_id, struct diag *) = add_routed;
	switch_id root = m->method == MCAST_SHARED ? shared_root(t) : mcast_home(t->s, m->source);

	if (root == TOPO_NONE) {
		t->root = mcast_home(t->s, m->members[0]);
		return refuse_unreachable(t, m->members[m->n_members - 1], d);
	}
	plant(t, root);
	if (m->method == MCAST_SHARED)
		add = add_first_ports;
	else if (m->method == MCAST_SHORTEST)
		add = add_shortest;
	for (uint32_t i = 0; i < m->n_members; i++) {
		enum hd_status status = add(t, m->members[i], d);

		if (status != HD_OK)
			return status;
	}
	if (m->method == MCAST_SHARED)
		prune_root(t);
	return HD_OK;
}

enum hd_status mcast_add(struct subnet *s, const struct mcast_group *want, struct diag *d)
{
	enum hd_status status = check_group(s, want, d);
	struct tree t;

	if (status != HD_OK)
		return status;
	struct mcast_group m = copy_group(want);

	tree_init(&t, s, &m);
	status = grow(&t, d);
	if (status == HD_OK) {
		write_rows(&t, m.method == MCAST_SHARED);
		if (m.method == MCAST_SHARED) {
			m.root = t.root;
			m.source = TOPO_NONE;
		}
		m.mlid = (lid_t)(LID_FIRST_MCAST + s->mft[m.subnet].n_mlids - 1);
		mcast_keep(s, &m);
	} else {
		free(m.members);
	}
	tree_fini(&t);
	return status;
}

static bool is_on_tree(struct subnet *s, const struct mcast_group *m, switch_id sw)
{
	const uint64_t *row = mcast_row(s, m, sw);
	uint64_t any = 0;

	for (uint32_t i = 0; i < s->mft[m->subnet].words; i++)
		any |= row[i];
	return any != 0;
}

/* Path from `home` to the nearest switch of the tree; false if there is no path. */
static bool lead_to_tree(struct subnet *s, const struct mcast_group *m, switch_id home)
{
	struct sw_graph g;

	graph_init(&g, s);
	uint16_t *dist = hd_alloc(g.n, sizeof(*dist));
	switch_id *queue = hd_alloc(g.n, sizeof(*queue));
	uint32_t n = graph_distances(&g, home, dist, queue), i = 0;

	while (i < n && !is_on_tree(s, m, queue[i]))
		i++;
	bool found = i < n;
	switch_id sw = found ? queue[i] : home;

	/* Back from there; what is nearer is not on the tree. */
	while (sw != home) {
		edge_id e = g.first[sw];

		while (dist[g.edges[e].to] + 1u != dist[sw])
			e++;
		mcast_set_port(mcast_row(s, m, g.edges[e].to), g.edges[e].in);
		sw = g.edges[e].to;
	}
	free(dist);
	free(queue);
	graph_fini(&g);
	return found;
}

enum hd_status mcast_admit_sender(struct subnet *s, uint32_t group, port_id sender, struct diag *d)
{
	struct mcast_group *m = &s->groups[group];

	if (topo_port_is_among(m->members, m->n_members, sender) ||
	    topo_port_is_among(m->senders, m->n_senders, sender))
		return HD_OK;
	if (m->method != MCAST_SHARED)
		return diag_fail(d, HD_ERR_UNFIT, "multicast: method '%s' allows one sender",
				 mcast_method_names[m->method]);
	if (check_port(s, sender, "sender", d) != HD_OK)
		return d->status;
	if (s->topo->ports[sender].subnet != m->subnet ||
	    !lead_to_tree(s, m, mcast_home(s, sender)))
		return diag_fail(d, HD_ERR_UNFIT,
				 "multicast: no path from the sender '%s' to the tree",
				 port_name(s, sender));
	m->senders = hd_grow(m->senders, &m->senders_cap, m->n_senders + 1u, sizeof(*m->senders));
	m->senders[m->n_senders++] = sender;
	return HD_OK;
}

/* Writes the ports of `ports` that still have LIDs to `out`; returns their number. */
static uint32_t still_there(const struct subnet *s, const port_id *ports, uint32_t n, port_id *out)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (s->lid_of_port[ports[i]] && mcast_home(s, ports[i]) != TOPO_NONE)
			out[kept++] = ports[i];
	}
	return kept;
}

static enum hd_status replan_group(const struct mcast_group *old, struct subnet *s, port_id *room,
				   struct diag *d)
{
	struct mcast_group want = *old;
	uint32_t n = s->n_groups, mlid = old->mlid - LID_FIRST_MCAST;
	port_id source;
	bool served = old->method == MCAST_SHARED || still_there(s, &old->source, 1, &source) == 1;

	want.members = room;
	want.n_members = still_there(s, old->members, old->n_members, room);
	/* The next MLID that is assigned is the previous one of the group. */
	mcast_make_room(s, old->subnet, mlid);
	if (!served || want.n_members == 0) {
		mcast_make_room(s, old->subnet, mlid + 1);
		return HD_OK;
	}
	enum hd_status status = mcast_add(s, &want, d);

	for (uint32_t i = 0; i < old->n_senders && status == HD_OK; i++) {
		if (still_there(s, &old->senders[i], 1, &source))
			status = mcast_admit_sender(s, n, source, d);
	}
	return status;
}

enum hd_status mcast_replan(const struct subnet *whole, uint32_t first, struct subnet *s,
			    struct diag *d)
{
	port_id *room = hd_alloc(s->topo->n_ports, sizeof(*room));
	enum hd_status status = HD_OK;

	for (uint32_t i = first; i < whole->n_groups && status == HD_OK; i++)
		status = replan_group(&whole->groups[i], s, room, d);
	free(room);
	return status;
}

const struct mcast_group *mcast_group_of(const struct subnet *s, uint16_t subnet, lid_t mlid)
{
	for (uint32_t i = 0; i < s->n_groups; i++)
		if (s->groups[i].mlid == mlid && s->groups[i].subnet == subnet)
			return &s->groups[i];
	return NULL;
}
