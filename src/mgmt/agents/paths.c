/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "subnet/subnet.h"

/*
 * The way of packets, by the tables as they are: over links that are open, by
 * forwarding and multicast tables, on lanes that carry data.
 */

enum { MFT_POSITION = 16 };

static bool is_open(const struct way *w, port_id p)
{
	const struct agents *a = w->agents;
	uint64_t state = info_get(a, a->ports[p].info, PORT_STATE);

	return w->management ? state >= LINK_INIT : state == LINK_ACTIVE;
}

static bool is_for(const struct way *w, port_id p)
{
	const struct agents *a = w->agents;
	const uint8_t *info = a->ports[agents_owner(a, p)].info;
	uint64_t base = info_get(a, info, PORT_LID);
	uint64_t n = UINT64_C(1) << info_get(a, info, PORT_LMC);

	return base != 0 && w->lid >= base && w->lid < base + n;
}

unsigned way_lane(const struct way *w, port_id at, port_id out)
{
	const struct topo *t = w->agents->topo;
	const struct agent_node *n = node_of(w->agents, out);
	const struct topo_node *of = topo_node_of(t, out);
	size_t row = t->ports[out].number;

	if (w->management)
		return VL_MANAGEMENT;
	if (!n->sl2vl)
		return 0;
	if (of->kind == NODE_SWITCH)
		row += (size_t)t->ports[at].number * (of->n_ports + 1U);
	return n->sl2vl[row][w->sl / 2] >> (w->sl % 2 ? 0 : 4) & 15;
}

bool way_crosses(const struct way *w, port_id out)
{
	port_id in = w->agents->topo->ports[out].peer;

	return in != TOPO_NONE && is_open(w, out) && is_open(w, in);
}

/* Whether it can go from `at` over the cable of `out`. */
static bool leads(const struct way *w, port_id at, port_id out)
{
	return way_crosses(w, out) && (w->management || way_lane(w, at, out) != VL_MANAGEMENT);
}

enum way_end way_next(const struct way *w, port_id at, bool begins, port_id *out)
{
	const struct topo_node *t = topo_node_of(w->agents->topo, at);
	const struct agent_node *n = node_of(w->agents, at);

	if (is_for(w, at))
		return WAY_HERE;
	if (t->kind == NODE_SWITCH) {
		unsigned to = w->lid < n->lft_size ? n->lft[w->lid] : LFT_NO_PORT;

		if (to == 0 || to > t->n_ports)
			return WAY_LOST;
		*out = t->first_port + to;
	} else if (begins) {
		*out = at;
	} else {
		return WAY_LOST; /* adapters pass nothing on */
	}
	return leads(w, at, *out) ? WAY_ON : WAY_LOST;
}

/* ---- data */

static void follow_one(const struct way *w, port_id at, const struct agents_way *tell)
{
	port_id out;
	enum way_end end;

	for (unsigned hops = 0;
	     (end = way_next(w, at, hops == 0, &out)) == WAY_ON && hops < WAY_MAX_HOPS; hops++) {
		at = w->agents->topo->ports[out].peer;
		if (tell->pass)
			tell->pass(tell->context, out, at);
	}
	if (end == WAY_HERE)
		tell->arrive(tell->context, agents_owner(w->agents, at));
}

/* A packet of a group, whose copies go several ways. */
struct group_walk {
	const struct way *way;
	const struct agents_way *tell;
	/*
	 * Ports that it has left by: a tree takes each but once, and in groups
	 * whose tables lead in circles it would multiply for ever.
	 */
	bool *left;
};

static void follow_group(const struct group_walk *g, port_id in);

static void cross_copy(const struct group_walk *g, port_id at, port_id out)
{
	port_id in = g->way->agents->topo->ports[out].peer;

	if (g->left[out] || !leads(g->way, at, out))
		return;
	g->left[out] = true;
	if (g->tell->pass)
		g->tell->pass(g->tell->context, out, in);
	follow_group(g, in);
}

/* From the port by which it came, out of all others of the group. */
static void follow_group(const struct group_walk *g, port_id in)
{
	const struct agents *a = g->way->agents;
	const struct topo_node *t = topo_node_of(a->topo, in);
	const struct agent_node *n = node_of(a, in);
	size_t positions = t->n_ports / MFT_POSITION + 1U;
	size_t group = g->way->lid - (size_t)LID_FIRST_MCAST;

	if (t->kind != NODE_SWITCH) {
		g->tell->arrive(g->tell->context, in);
		return;
	}
	for (unsigned out = 0; group < n->n_mlids && out <= t->n_ports; out++) {
		unsigned set = n->mft[group * positions + out / MFT_POSITION];

		if (out == a->topo->ports[in].number || !(set >> out % MFT_POSITION & 1))
			continue;
		if (out == 0)
			g->tell->arrive(g->tell->context, t->first_port);
		else
			cross_copy(g, in, t->first_port + out);
	}
}

void agents_follow(const struct agents *a, port_id from, uint16_t lid, unsigned sl,
		   const struct agents_way *way)
{
	const struct way w = { .agents = a, .lid = lid, .sl = sl & 15 };

	if (!is_open(&w, from))
		return;
	if (lid < LID_FIRST_MCAST) {
		follow_one(&w, from, way);
		return;
	}
	const struct group_walk g = { &w, way, hd_alloc(a->topo->n_ports, sizeof(*g.left)) };

	if (topo_node_of(a->topo, from)->kind == NODE_SWITCH)
		follow_group(&g, from);
	else
		cross_copy(&g, from, from);
	free(g.left);
}
