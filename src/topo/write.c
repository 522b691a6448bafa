/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const struct topo_writer topo_writers[] = {
	{ "ibnetdiscover", "ibnet", "ibnetdiscover's topology file", topo_write_ibnetdiscover },
	{ "ibnetdiscover-f", NULL, "the same with speed, width and VLs (-f)",
	  topo_write_ibnetdiscover_f },
	{ "ibnetdiscover-g", NULL, "the same grouped by chassis (-g)", topo_write_ibnetdiscover_g },
	{ "ibnetdiscover-fg", NULL, "both (-f -g)", topo_write_ibnetdiscover_fg },
	{ "ibsim", "net", "a net for ibsim", topo_write_ibsim },
	{ "links", "links", "a line for each cable, sorted by GUID", topo_write_links },
	{ "dot", "dot", "a graph for Graphviz", topo_write_dot },
	{ "graphml", "graphml", "a graph for Gephi, yEd or NetworkX", topo_write_graphml },
	{ "slurm", "conf", "topology.conf of Slurm, for topology/tree", topo_write_slurm },
	{ "svg", "svg", "a picture", topo_write_svg },
	{ .name = NULL },
};

const struct topo_writer *topo_writer_find(const char *name)
{
	for (const struct topo_writer *w = topo_writers; w->name; w++) {
		if (strcmp(w->name, name) == 0)
			return w;
	}
	return NULL;
}

const struct topo_writer *topo_writer_of_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	if (!dot || (slash && dot < slash))
		return NULL;
	for (const struct topo_writer *w = topo_writers; w->name; w++) {
		if (w->extension && strcmp(w->extension, dot + 1) == 0)
			return w;
	}
	return NULL;
}

const struct topo_writer *topo_writer_as_read(const struct topo *t)
{
	static const char *const names[2][2] = {
		{ "ibnetdiscover", "ibnetdiscover-g" },
		{ "ibnetdiscover-f", "ibnetdiscover-fg" },
	};

	return topo_writer_find(names[t->source.is_full][t->source.is_grouped]);
}

/* Whether port `a` is preferred to `b` as origin of discovery. */
static bool is_better_origin(const struct topo *t, port_id a, port_id b)
{
	bool a_switch = topo_is_switch(t, t->ports[a].node);
	bool b_switch = topo_is_switch(t, t->ports[b].node);

	return a_switch != b_switch ? b_switch : t->ports[a].guid < t->ports[b].guid;
}

port_id topo_origin(const struct topo *t)
{
	port_id best = TOPO_NONE;

	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];
		bool of_switch = topo_is_switch(t, p->node);

		if (of_switch ? p->number > 0 : p->peer == TOPO_NONE)
			continue;
		if (t->source.from_port && t->nodes[p->node].guid == t->source.from_node &&
		    p->guid == t->source.from_port)
			return i;
		if (best == TOPO_NONE || is_better_origin(t, i, best))
			best = i;
	}
	return best;
}

struct topo_discovery {
	const struct topo *t;
	uint32_t *rank; /* by node: when it was found; TOPO_NONE before */
	node_id *queue;
	uint32_t head, tail;
};

static void find(struct topo_discovery *d, node_id node)
{
	if (d->rank[node] != TOPO_NONE)
		return;
	d->rank[node] = d->tail;
	d->queue[d->tail++] = node;
}

/* Breadth-first search from port `from`, not through adapters. */
static void discover(struct topo_discovery *d, port_id from)
{
	const struct topo *t = d->t;
	const struct topo_port *p = &t->ports[from];

	find(d, p->node);
	if (!topo_is_switch(t, p->node) && p->peer != TOPO_NONE)
		find(d, t->ports[p->peer].node);
	for (; d->head < d->tail; d->head++) {
		const struct topo_node *v = &t->nodes[d->queue[d->head]];

		if (v->kind != NODE_SWITCH)
			continue;
		for (unsigned n = 1; n <= v->n_ports; n++) {
			port_id peer = t->ports[v->first_port + n].peer;

			if (peer != TOPO_NONE)
				find(d, t->ports[peer].node);
		}
	}
}

uint32_t *topo_discovery_rank(const struct topo *t)
{
	uint32_t *rank = hd_alloc(t->n_nodes, sizeof(*rank));
	struct topo_discovery d = {
		.t = t,
		.rank = rank,
		.queue = hd_alloc(t->n_nodes, sizeof(*d.queue)),
	};
	port_id origin = topo_origin(t);

	memset(rank, 0xff, t->n_nodes * sizeof(*rank));
	if (origin != TOPO_NONE)
		discover(&d, origin);
	for (port_id i = 0; i < t->n_ports; i++) {
		if (rank[t->ports[i].node] == TOPO_NONE &&
		    (topo_is_switch(t, t->ports[i].node) || t->ports[i].number > 0))
			discover(&d, i);
	}
	/* Nodes without ports, which only tests create. */
	for (node_id v = 0; v < t->n_nodes; v++)
		find(&d, v);
	for (node_id v = 0; v < t->n_nodes; v++)
		rank[v] = t->n_nodes - rank[v];
	free(d.queue);
	return rank;
}

struct place_in_file {
	enum node_kind kind;
	uint32_t rank;
	node_id node;
};

static int by_place(const void *a, const void *b)
{
	static const int kinds[] = { [NODE_SWITCH] = 0, [NODE_CA] = 1, [NODE_ROUTER] = 2 };
	const struct place_in_file *p = a, *q = b;

	if (p->kind != q->kind)
		return kinds[p->kind] - kinds[q->kind];
	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

node_id *topo_file_order(const struct topo *t, bool as_made)
{
	uint32_t *rank = topo_discovery_rank(t);
	struct place_in_file *places = hd_alloc(t->n_nodes, sizeof(*places));
	node_id *order = hd_alloc(t->n_nodes, sizeof(*order));
	bool from_file = true;

	for (node_id v = 0; v < t->n_nodes; v++)
		from_file = from_file && t->nodes[v].line;
	for (node_id v = 0; v < t->n_nodes && (from_file || as_made); v++)
		rank[v] = from_file ? t->nodes[v].line : v;
	for (node_id v = 0; v < t->n_nodes; v++)
		places[v] = (struct place_in_file){ t->nodes[v].kind, rank[v], v };
	qsort(places, t->n_nodes, sizeof(*places), by_place);
	for (node_id i = 0; i < t->n_nodes; i++)
		order[i] = places[i].node;
	free(rank);
	free(places);
	return order;
}
