/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/state.h"
#include "subnet/subnet.h"

/*
 * The way of data packets, by the tables as they are: over links that are
 * active, by forwarding and multicast tables, on lanes that carry data.
 */

enum { MAX_HOPS = 63, MFT_POSITION = 16 };

struct walk {
	const struct agents *agents;
	uint16_t lid;
	unsigned sl;
	const struct agents_way *way;
	/* Cables it may still cross: a tree takes each but once, and groups
	 * whose tables lead in circles would multiply for ever. */
	uint32_t *left;
};

static void forward(const struct walk *w, port_id in, unsigned hops);

static bool is_active(const struct walk *w, port_id p)
{
	const struct agents *a = w->agents;

	return info_get(a, a->ports[p].info, PORT_STATE) == LINK_ACTIVE;
}

static bool is_for(const struct walk *w, port_id p)
{
	const struct agents *a = w->agents;
	const uint8_t *info = a->ports[agents_owner(a, p)].info;
	uint64_t base = info_get(a, info, PORT_LID);
	uint64_t n = UINT64_C(1) << info_get(a, info, PORT_LMC);

	return base != 0 && w->lid >= base && w->lid < base + n;
}

/* Whether the map of a node gives the service level a lane for data. */
static bool has_lane(const struct walk *w, const struct agent_node *n,
		     size_t row)
{
	if (!n->sl2vl)
		return true;
	unsigned vl = n->sl2vl[row][w->sl / 2] >> (w->sl % 2 ? 0 : 4) & 15;

	return vl != VL_MANAGEMENT;
}

/* Out of `out`, over its cable, and on from the other end. */
static void cross(const struct walk *w, port_id out, size_t row, unsigned hops)
{
	const struct topo *t = w->agents->topo;
	port_id in = t->ports[out].peer;

	if (in == TOPO_NONE || !is_active(w, out) || !is_active(w, in) ||
	    !has_lane(w, node_of(w->agents, out), row) || *w->left == 0)
		return;
	--*w->left;
	if (w->way->pass)
		w->way->pass(w->way->context, out, in);
	forward(w, in, hops + 1);
}

static void arrive(const struct walk *w, port_id p)
{
	w->way->arrive(w->way->context, p);
}

static void forward_group(const struct walk *w, port_id in, unsigned hops)
{
	const struct topo_node *t = topo_node_of(w->agents->topo, in);
	const struct agent_node *n = node_of(w->agents, in);
	unsigned from = w->agents->topo->ports[in].number;
	size_t positions = t->n_ports / MFT_POSITION + 1U;
	size_t group = w->lid - (size_t)LID_FIRST_MCAST;

	if (group >= n->n_mlids)
		return;
	for (unsigned out = 0; out <= t->n_ports; out++) {
		unsigned set = n->mft[group * positions + out / MFT_POSITION];

		if (out == from || !(set >> out % MFT_POSITION & 1))
			continue;
		if (out == 0)
			arrive(w, t->first_port);
		else
			cross(w, t->first_port + out,
			      (size_t)from * (t->n_ports + 1U) + out, hops);
	}
}

static void forward(const struct walk *w, port_id in, unsigned hops)
{
	const struct topo_node *t = topo_node_of(w->agents->topo, in);
	const struct agent_node *n = node_of(w->agents, in);
	bool is_group = w->lid >= LID_FIRST_MCAST;

	if (hops > MAX_HOPS)
		return;
	if (t->kind != NODE_SWITCH) {
		if (is_group || is_for(w, in))
			arrive(w, in);
		return;
	}
	if (is_group) {
		forward_group(w, in, hops);
		return;
	}
	if (is_for(w, in)) {
		arrive(w, t->first_port);
		return;
	}
	unsigned out = w->lid < n->lft_size ? n->lft[w->lid] : LFT_NO_PORT;

	if (out != 0 && out <= t->n_ports)
		cross(w, t->first_port + out,
		      (size_t)w->agents->topo->ports[in].number *
				      (t->n_ports + 1U) +
			      out,
		      hops);
}

void agents_follow(const struct agents *a, port_id from, uint16_t lid,
		   unsigned sl, const struct agents_way *way)
{
	uint32_t left = a->topo->n_ports;
	const struct walk w = { a, lid, sl & 15, way, &left };

	if (!is_active(&w, from))
		return;
	if (topo_node_of(a->topo, from)->kind == NODE_SWITCH)
		forward(&w, from, 0);
	else if (lid < LID_FIRST_MCAST && is_for(&w, from))
		arrive(&w, from);
	else
		cross(&w, from, a->topo->ports[from].number, 0);
}
