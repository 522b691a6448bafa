/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "subnet/subnet.h"

/*
 * Forwarding of packets by the programmed tables, over links that can carry them, on VLs for data.
 */

enum { MFT_POSITION = 16 };

static bool carries_on(const struct lid_path *w, port_id p)
{
	const struct agents *a = w->agents;
	uint64_t state = info_get(a, a->ports[p].info, PORT_STATE);

	return w->management ? state >= LINK_INIT : state == LINK_ACTIVE;
}

static bool is_destination(const struct lid_path *w, port_id p)
{
	const struct agents *a = w->agents;
	const uint8_t *info = a->ports[agents_owner(a, p)].info;
	uint64_t base = info_get(a, info, PORT_LID);
	uint64_t n = UINT64_C(1) << info_get(a, info, PORT_LMC);

	return base != 0 && w->lid >= base && w->lid < base + n;
}

unsigned agents_path_vl(const struct lid_path *w, port_id at, port_id out)
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

bool agents_path_open(const struct lid_path *w, port_id out)
{
	port_id in = w->agents->topo->ports[out].peer;

	return in != TOPO_NONE && carries_on(w, out) && carries_on(w, in);
}

/* True if the link of `out` and the VL there can carry the packet. */
static bool path_open_for(const struct lid_path *w, port_id at, port_id out)
{
	return agents_path_open(w, out) &&
	       (w->management || agents_path_vl(w, at, out) != VL_MANAGEMENT);
}

enum path_step agents_path_next(const struct lid_path *w, port_id at, bool is_source, port_id *out)
{
	const struct topo_node *t = topo_node_of(w->agents->topo, at);
	const struct agent_node *n = node_of(w->agents, at);

	if (is_destination(w, at))
		return PATH_ARRIVED;
	if (t->kind == NODE_SWITCH) {
		unsigned to = w->lid < n->lft_size ? n->lft[w->lid] : LFT_NO_PORT;

		if (to == 0 || to > t->n_ports)
			return PATH_LOST;
		*out = t->first_port + to;
	} else if (is_source) {
		*out = at;
	} else {
		return PATH_LOST; /* adapters do not forward */
	}
	return path_open_for(w, at, *out) ? PATH_FORWARD : PATH_LOST;
}

/* ---- data packets */

static void trace_unicast(const struct lid_path *w, port_id at,
			  const struct agents_path_observer *observer)
{
	port_id out;
	enum path_step end;

	for (unsigned hops = 0; (end = agents_path_next(w, at, hops == 0, &out)) == PATH_FORWARD &&
				hops < PATH_MAX_HOPS;
	     hops++) {
		at = w->agents->topo->ports[out].peer;
		if (observer->on_link)
			observer->on_link(observer->context, out, at);
	}
	if (end == PATH_ARRIVED)
		observer->on_arrival(observer->context, agents_owner(w->agents, at));
}

/* Copies of one multicast packet. */
struct multicast_trace {
	const struct lid_path *path;
	const struct agents_path_observer *observer;
	/*
	 * Output ports used so far: each sends at most one copy, so that a loop in the tables ends.
	 */
	bool *used;
};

static void trace_multicast(const struct multicast_trace *g, port_id in);

static void send_copy(const struct multicast_trace *g, port_id at, port_id out)
{
	port_id in = g->path->agents->topo->ports[out].peer;

	if (g->used[out] || !path_open_for(g->path, at, out))
		return;
	g->used[out] = true;
	if (g->observer->on_link)
		g->observer->on_link(g->observer->context, out, in);
	trace_multicast(g, in);
}

/* Sends copies from input port `in` to all other ports of the group. */
static void trace_multicast(const struct multicast_trace *g, port_id in)
{
	const struct agents *a = g->path->agents;
	const struct topo_node *t = topo_node_of(a->topo, in);
	const struct agent_node *n = node_of(a, in);
	size_t positions = t->n_ports / MFT_POSITION + 1U;
	size_t group = g->path->lid - (size_t)LID_FIRST_MCAST;

	if (t->kind != NODE_SWITCH) {
		g->observer->on_arrival(g->observer->context, in);
		return;
	}
	for (unsigned out = 0; group < n->n_mlids && out <= t->n_ports; out++) {
		unsigned set = n->mft[group * positions + out / MFT_POSITION];

		if (out == a->topo->ports[in].number || !(set >> out % MFT_POSITION & 1))
			continue;
		if (out == 0)
			g->observer->on_arrival(g->observer->context, t->first_port);
		else
			send_copy(g, in, t->first_port + out);
	}
}

void agents_trace(const struct agents *a, port_id from, uint16_t lid, unsigned sl,
		  const struct agents_path_observer *observer)
{
	const struct lid_path w = { .agents = a, .lid = lid, .sl = sl & 15 };

	if (!carries_on(&w, from))
		return;
	if (lid < LID_FIRST_MCAST) {
		trace_unicast(&w, from, observer);
		return;
	}
	const struct multicast_trace g = { &w, observer,
					   hd_alloc(a->topo->n_ports, sizeof(*g.used)) };

	if (topo_node_of(a->topo, from)->kind == NODE_SWITCH)
		trace_multicast(&g, from);
	else
		send_copy(&g, from, from);
	free(g.used);
}
