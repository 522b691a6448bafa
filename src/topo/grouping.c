/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/grouping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "topo/write.h"

enum {
	VENDOR_MELLANOX = 0x2c9,
	VENDOR_TOPSPIN = 0x5ad,
	VENDOR_SILVERSTORM = 0x66a,
	VENDOR_VOLTAIRE = 0x8f1,
	DEVICE_IS4 = 0xbd36,
	MAX_LINES = 36,
	MAX_SPINES = 18,
	EXTERNAL_PORTS = 18, /* of a line switch */
};

/* A slot of a switch as its description has it. */
struct chassis_slot {
	int kind; /* SLOT_OTHER: unknown */
	unsigned number, chip;
	char type[64];
};

/* The part up to `stop`, and moves on behind it; 0 if it is not there. */
static size_t part(const char **at, char stop)
{
	const char *found = strchr(*at, stop);
	size_t len = found ? (size_t)(found - *at) : 0;

	*at = found ? found + 1 : *at;
	return len;
}

/* "MF0;<system>:<type>/<slot>[:<board>]/U<chip>". */
static struct chassis_slot slot_of(const struct topo_node *v)
{
	struct chassis_slot none = { .kind = SLOT_OTHER }, s = none;
	const char *at = v->name, *type, *where;

	if (v->kind != NODE_SWITCH || v->vendor != VENDOR_MELLANOX || v->device != DEVICE_IS4 ||
	    strncmp(at, "MF0;", 4) != 0 || !strchr(at, ':'))
		return none;
	(void)part(&at, ':');
	type = at;
	size_t len = part(&at, '/');

	if (at == type || len >= sizeof(s.type))
		return none;
	memcpy(s.type, type, len);
	where = at;
	(void)part(&at, '/');
	if (at == where || *at != 'U')
		return none;
	s.chip = (unsigned)strtoul(at + 1, NULL, 10) & 255;
	s.number = (unsigned)strtoul(where + 1, NULL, 10) & 255;
	s.kind = *where == 'L' ? SLOT_LINE : *where == 'S' ? SLOT_SPINE : SLOT_OTHER;
	if (s.number > (s.kind == SLOT_LINE ? MAX_LINES : MAX_SPINES))
		return none;
	return s;
}

/* 0 if the node is in no chassis that we could find. */
static uint64_t chassis_guid(const struct topo_node *v)
{
	if (v->vendor == VENDOR_VOLTAIRE)
		return 0;
	/* Theirs have the slot in one byte. */
	if (v->vendor == VENDOR_TOPSPIN || v->vendor == VENDOR_SILVERSTORM)
		return v->system_guid & UINT64_C(0xffffffff00ffffff);
	return v->system_guid;
}

/* A node on its way into a chassis; sorted as it will be printed. */
struct chassis_member {
	uint32_t chassis;
	int kind;
	unsigned number;
	uint32_t rank;
	node_id node;
};

static int by_place(const void *a, const void *b)
{
	const struct chassis_member *p = a, *q = b;

	if (p->chassis != q->chassis)
		return p->chassis < q->chassis ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->number != q->number)
		return p->number < q->number ? -1 : 1;
	/* Other nodes are ordered by discovery. */
	return p->rank > q->rank ? -1 : p->rank < q->rank;
}

static void settle(struct grouping *g, const struct topo *t, const struct chassis_member *m,
		   const struct chassis_slot *s)
{
	struct topo_place *p = &g->found_places[m->node];
	struct strbuf text = STRBUF_INIT;
	const struct topo_node *v = &t->nodes[m->node];

	p->chassis = g->found_chassis[m->chassis].number;
	strbuf_printf(&text, "Chassis %u", p->chassis);
	p->chassis_note = strbuf_detach(&text);
	g->place[m->node] = p;
	if (s->kind == SLOT_OTHER)
		return;
	p->slot = s->kind == SLOT_LINE ? SLOT_LINE : SLOT_SPINE;
	strbuf_printf(&text, "%s %s %u Chip %u", s->type, s->kind == SLOT_LINE ? "Line" : "Spine",
		      s->number, s->chip);
	p->slot_note = strbuf_detach(&text);
	for (unsigned n = 1; n <= v->n_ports && n <= EXTERNAL_PORTS; n++) {
		if (s->kind == SLOT_LINE)
			g->external[v->first_port + n] = (uint8_t)n;
	}
}

/* Nodes in the order of ibnetdiscover's list. */
static node_id *by_discovery(const struct topo *t, const uint32_t *rank)
{
	node_id *nodes = hd_alloc(t->n_nodes, sizeof(*nodes));

	/* Ranks are 1 .. n, each once. */
	for (node_id v = 0; v < t->n_nodes; v++)
		nodes[rank[v] - 1] = v;
	return nodes;
}

/* Numbers the system GUIDs that several nodes have, in the order met. */
static void number_chassis(struct grouping *g, const struct topo *t, const node_id *nodes,
			   struct map *chassis)
{
	struct map seen = { 0 };
	uint32_t *count = hd_alloc(t->n_nodes, sizeof(*count));

	for (node_id i = 0; i < t->n_nodes; i++) {
		uint64_t guid = chassis_guid(&t->nodes[nodes[i]]);

		if (!guid)
			continue;
		uint32_t first = map_put(&seen, guid, i);

		count[first == MAP_NONE ? i : first]++;
	}
	for (node_id i = 0; i < t->n_nodes; i++) {
		uint64_t guid = chassis_guid(&t->nodes[nodes[i]]);

		if (count[i] < 2)
			continue;
		(void)map_put(chassis, guid, g->n_chassis);
		g->found_chassis[g->n_chassis] = (struct topo_chassis){
			.number = (uint16_t)(g->n_chassis + 1),
			.guid = guid,
		};
		g->n_chassis++;
	}
	free(count);
	map_fini(&seen);
}

static void find_out(struct grouping *g, const struct topo *t)
{
	uint32_t *rank = topo_discovery_rank(t), n = 0;
	node_id *nodes = by_discovery(t, rank);
	struct chassis_member *members = hd_alloc(t->n_nodes, sizeof(*members));
	struct map chassis = { 0 };

	number_chassis(g, t, nodes, &chassis);
	for (node_id v = 0; v < t->n_nodes; v++) {
		struct chassis_slot s = slot_of(&t->nodes[v]);
		uint32_t number = map_get(&chassis, chassis_guid(&t->nodes[v]));

		if (number == MAP_NONE)
			continue;
		members[n] = (struct chassis_member){ number, s.kind, s.number, rank[v], v };
		settle(g, t, &members[n++], &s);
	}
	qsort(members, n, sizeof(*members), by_place);
	for (uint32_t i = 0; i < n; i++)
		g->order[i] = members[i].node;
	g->n_order = n;
	free(rank);
	free(nodes);
	free(members);
	map_fini(&chassis);
}

void grouping_init(struct grouping *g, const struct topo *t, const node_id *file_order)
{
	*g = (struct grouping){
		.place = hd_alloc(t->n_nodes, sizeof(const struct topo_place *)),
		.external = hd_alloc(t->n_ports, sizeof(*g->external)),
		.order = hd_alloc(t->n_nodes, sizeof(*g->order)),
	};
	if (!t->source.is_grouped) {
		g->found_places = hd_alloc(t->n_nodes, sizeof(*g->found_places));
		g->found_chassis = hd_alloc(t->n_nodes, sizeof(*g->found_chassis));
		find_out(g, t);
		g->chassis = g->found_chassis;
		return;
	}
	g->chassis = t->chassis;
	g->n_chassis = t->n_chassis;
	memcpy(g->order, file_order, t->n_nodes * sizeof(*g->order));
	g->n_order = t->n_nodes;
	for (node_id v = 0; v < t->n_nodes; v++)
		g->place[v] = t->nodes[v].place;
	for (port_id i = 0; i < t->n_ports && t->as_read; i++)
		g->external[i] = t->as_read[i].external;
}

void grouping_fini(struct grouping *g, const struct topo *t)
{
	for (node_id v = 0; v < t->n_nodes && g->found_places; v++) {
		free(g->found_places[v].chassis_note);
		free(g->found_places[v].slot_note);
	}
	free(g->found_places);
	free(g->found_chassis);
	free(g->place);
	free(g->external);
	free(g->order);
	*g = (struct grouping){ .n_chassis = 0 };
}
