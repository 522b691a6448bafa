/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/topo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/text.h"

void topo_init(struct topo *t)
{
	memory_for("nodes and cables");
	*t = (struct topo){ .n_subnets = 1 };
}

static void place_free(struct topo_place *p)
{
	if (!p)
		return;
	free(p->chassis_note);
	free(p->slot_note);
	free(p);
}

void topo_fini(struct topo *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		free(t->nodes[i].name);
		place_free(t->nodes[i].place);
	}
	for (uint32_t i = 0; i < t->n_chassis; i++)
		free(t->chassis[i].hostname);
	free(t->nodes);
	free(t->ports);
	free(t->chassis);
	free(t->as_read);
	free(t->source.date);
	free(t->recipe);
	topo_init(t);
}

node_id topo_add_node(struct topo *t, enum node_kind kind, unsigned n_ports, const char *name)
{
	assert(n_ports <= TOPO_MAX_PORTS);
	node_id id = t->n_nodes++;

	t->nodes = hd_grow(t->nodes, &t->nodes_cap, t->n_nodes, sizeof(*t->nodes));
	t->nodes[id] = (struct topo_node){
		.kind = kind,
		.name = text_inert(name, strlen(name)),
		.first_port = t->n_ports,
		.n_ports = (uint16_t)n_ports,
	};
	t->ports = hd_grow(t->ports, &t->ports_cap, (size_t)t->n_ports + n_ports + 1,
			   sizeof(*t->ports));
	for (unsigned n = 0; n <= n_ports; n++)
		t->ports[t->n_ports++] = (struct topo_port){
			.node = id,
			.peer = TOPO_NONE,
			.number = (uint8_t)n,
			.vls = TOPO_DEFAULT_VLS,
			.mtu = TOPO_DEFAULT_MTU,
		};
	return id;
}

void topo_copy(const struct topo *from, struct topo *to)
{
	*to = (struct topo){
		.family = from->family,
		.n_dims = from->n_dims,
		.n_nodes = from->n_nodes,
		.n_ports = from->n_ports,
		.n_subnets = from->n_subnets,
		.nodes = hd_alloc(from->n_nodes, sizeof(*to->nodes)),
		.ports = hd_alloc(from->n_ports, sizeof(*to->ports)),
		.nodes_cap = from->n_nodes,
		.ports_cap = from->n_ports,
		.source.from_node = from->source.from_node,
		.source.from_port = from->source.from_port,
	};
	memcpy(to->dims, from->dims, sizeof(to->dims));
	memcpy(to->ports, from->ports, from->n_ports * sizeof(*to->ports));
	for (node_id v = 0; v < from->n_nodes; v++) {
		to->nodes[v] = from->nodes[v];
		to->nodes[v].name = hd_strdup(from->nodes[v].name);
		to->nodes[v].place = NULL;
	}
}

void topo_unlink(struct topo *t, port_id port)
{
	port_id peer = t->ports[port].peer;

	if (peer == TOPO_NONE)
		return;
	t->ports[port].peer = TOPO_NONE;
	t->ports[peer].peer = TOPO_NONE;
}

void topo_link(struct topo *t, port_id a, port_id b)
{
	assert(a != b);
	assert(t->ports[a].peer == TOPO_NONE && t->ports[b].peer == TOPO_NONE);
	assert(t->ports[a].number > 0 && t->ports[b].number > 0);
	t->ports[a].peer = b;
	t->ports[b].peer = a;
}

/* Assigns the subnet number to all ports of the switches reachable from `from`. */
static void flood_subnet(struct topo *t, node_id from, uint16_t number, bool *seen, node_id *queue)
{
	size_t head = 0, tail = 0;

	queue[tail++] = from;
	seen[from] = true;
	while (head < tail) {
		const struct topo_node *v = &t->nodes[queue[head++]];

		for (unsigned n = 0; n <= v->n_ports; n++) {
			struct topo_port *p = &t->ports[v->first_port + n];

			p->subnet = number;
			if (p->peer == TOPO_NONE)
				continue;
			struct topo_port *q = &t->ports[p->peer];

			q->subnet = number;
			if (!topo_is_switch(t, q->node) || seen[q->node])
				continue;
			seen[q->node] = true;
			queue[tail++] = q->node;
		}
	}
}

#define SUBNET_UNKNOWN UINT16_MAX

/* A node and its name in files and generators. */
struct named {
	uint64_t guid;
	const char *name;
	node_id node;
};

static int by_guid(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	int names = strcmp(x->name, y->name);

	return names ? names : (x->node > y->node) - (x->node < y->node);
}

/* Nodes by GUID; nodes without a GUID by name, before all others. */
static struct named *nodes_by_guid(const struct topo *t)
{
	struct named *order = hd_alloc(t->n_nodes, sizeof(*order));

	for (node_id v = 0; v < t->n_nodes; v++)
		order[v] = (struct named){ t->nodes[v].guid, t->nodes[v].name, v };
	qsort(order, t->n_nodes, sizeof(*order), by_guid);
	return order;
}

/* Cables from an adapter to another are subnets without a switch. */
static uint32_t number_bare_cables(struct topo *t, node_id node, uint32_t n)
{
	const struct topo_node *v = &t->nodes[node];

	for (unsigned k = 1; v->kind != NODE_SWITCH && k <= v->n_ports; k++) {
		struct topo_port *p = &t->ports[v->first_port + k];

		if (p->peer == TOPO_NONE || topo_is_switch(t, t->ports[p->peer].node) ||
		    p->subnet != SUBNET_UNKNOWN || n >= SUBNET_UNKNOWN)
			continue;
		p->subnet = t->ports[p->peer].subnet = (uint16_t)n++;
	}
	return n;
}

void topo_number_subnets(struct topo *t)
{
	bool *seen = hd_alloc(t->n_nodes, sizeof(*seen));
	node_id *queue = hd_alloc(t->n_nodes, sizeof(*queue));
	struct named *order = nodes_by_guid(t);
	uint32_t n = 0;

	for (port_id p = 0; p < t->n_ports; p++)
		t->ports[p].subnet = SUBNET_UNKNOWN;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		node_id v = order[i].node;

		if (topo_is_switch(t, v) && !seen[v] && n < SUBNET_UNKNOWN)
			flood_subnet(t, v, (uint16_t)n++, seen, queue);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++)
		n = number_bare_cables(t, order[i].node, n);
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].subnet == SUBNET_UNKNOWN)
			t->ports[p].subnet = 0;
	}
	t->n_subnets = n ? n : 1;
	free(order);
	free(seen);
	free(queue);
}

/* First ports of nodes after reordering. */
static port_id *first_ports(const struct topo *t, const node_id *place)
{
	port_id *first = hd_alloc(t->n_nodes, sizeof(*first));
	port_id next = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		first[place[v]] = t->nodes[v].n_ports + 1u;
	for (node_id v = 0; v < t->n_nodes; v++) {
		port_id n = first[v];

		first[v] = next;
		next += n;
	}
	return first;
}

void topo_reorder(struct topo *t, const node_id *place)
{
	struct topo_node *nodes = hd_alloc(t->n_nodes, sizeof(*nodes));
	struct topo_port *ports = hd_alloc(t->n_ports, sizeof(*ports));
	struct topo_as_read *as_read = t->as_read ? hd_alloc(t->n_ports, sizeof(*as_read)) : NULL;
	port_id *first = first_ports(t, place);

	for (port_id p = 0; p < t->n_ports; p++) {
		const struct topo_port *from = &t->ports[p];
		port_id at = first[place[from->node]] + from->number;
		struct topo_port *to = &ports[at];

		*to = *from;
		to->node = place[from->node];
		if (from->peer != TOPO_NONE) {
			const struct topo_port *peer = &t->ports[from->peer];

			to->peer = first[place[peer->node]] + peer->number;
		}
		if (as_read)
			as_read[at] = t->as_read[p];
	}
	for (node_id v = 0; v < t->n_nodes; v++) {
		nodes[place[v]] = t->nodes[v];
		nodes[place[v]].first_port = first[place[v]];
	}
	free(first);
	free(t->nodes);
	free(t->ports);
	free(t->as_read);
	t->nodes = nodes;
	t->ports = ports;
	t->as_read = as_read;
	t->nodes_cap = t->n_nodes;
	t->ports_cap = t->n_ports;
	topo_number_subnets(t);
}

void topo_sort(struct topo *t)
{
	struct named *order = nodes_by_guid(t);
	node_id *place = hd_alloc(t->n_nodes, sizeof(*place));

	for (uint32_t i = 0; i < t->n_nodes; i++)
		place[order[i].node] = i;
	topo_reorder(t, place);
	free(place);
	free(order);
}

/* Common members of both sets; an empty set is unspecified and excludes nothing. */
static unsigned in_common(unsigned a, unsigned b, unsigned mandatory)
{
	if (!a && !b)
		return mandatory;
	return a && b ? a & b : a | b;
}

unsigned topo_widest(unsigned widths)
{
	static const struct {
		unsigned bit, lanes;
	} widths_by_lanes[] = {
		{ WIDTH_12X, 12 }, { WIDTH_8X, 8 }, { WIDTH_4X, 4 },
		{ WIDTH_2X, 2 },   { WIDTH_1X, 1 },
	};

	for (size_t i = 0; i < 5; i++) {
		if (widths & widths_by_lanes[i].bit)
			return widths_by_lanes[i].lanes;
	}
	return 0;
}

enum hd_status topo_link_state(const struct topo *t, port_id port, struct topo_link_state *out)
{
	const struct topo_port *a = &t->ports[port];

	if (a->peer == TOPO_NONE)
		return HD_ERR_UNFIT;
	const struct topo_port *b = &t->ports[a->peer];
	unsigned lanes = topo_widest(in_common(a->widths, b->widths, WIDTH_1X));
	unsigned speeds = in_common(a->speeds, b->speeds, 1u << SPEED_SDR);
	unsigned speed = SPEED_COUNT;

	while (speed > 0 && !(speeds & 1u << (speed - 1)))
		speed--;
	if (!lanes || !speed)
		return HD_ERR_UNFIT;
	*out = (struct topo_link_state){
		.lanes = lanes,
		.speed = (enum link_speed)(speed - 1),
		.vls = a->vls < b->vls ? a->vls : b->vls,
		.mtu = a->mtu < b->mtu ? a->mtu : b->mtu,
	};
	out->rate = hd_rate_of_link(out->lanes, out->speed);
	return HD_OK;
}

bool topo_is_end_port(const struct topo *t, port_id port)
{
	const struct topo_port *p = &t->ports[port];
	const struct topo_node *v = &t->nodes[p->node];

	if (v->kind == NODE_SWITCH)
		return p->number == 0 && v->enhanced_port0;
	return p->number > 0 && p->peer != TOPO_NONE;
}

uint32_t topo_end_ports(const struct topo *t, port_id *out)
{
	uint32_t n = 0;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (topo_is_end_port(t, p))
			out[n++] = p;
	}
	return n;
}

bool topo_port_is_among(const port_id *ports, uint32_t n, port_id port)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ports[i] == port)
			return true;
	}
	return false;
}
