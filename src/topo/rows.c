/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void rows_add(struct rows *rows, struct topo_port_row row)
{
	rows->items = hd_grow(rows->items, &rows->cap, rows->n + 1, sizeof(*rows->items));
	rows->items[rows->n++] = row;
}

void rows_fini(struct rows *rows)
{
	free(rows->items);
	*rows = (struct rows){ .n = 0 };
}

/* Sorts by GUID, so that the rows of a switch are consecutive. */
static int by_guid(const void *a, const void *b)
{
	const struct topo_port_row *p = a, *q = b;

	if (p->guid != q->guid)
		return p->guid < q->guid ? -1 : 1;
	return p->line < q->line ? -1 : p->line > q->line;
}

void rows_sort(struct rows *rows)
{
	if (rows->n > 1)
		qsort(rows->items, rows->n, sizeof(*rows->items), by_guid);
}

void rows_find_switches(struct rows *rows)
{
	struct map seen = { 0 };

	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t first = map_put(&seen, rows->items[i].guid, i);

		if (first == MAP_NONE)
			continue;
		rows->items[first].is_switch = true;
		rows->items[i].is_switch = true;
	}
	map_fini(&seen);
}

static bool same_node(const struct topo_port_row *a, const struct topo_port_row *b)
{
	if (a->is_switch || b->is_switch)
		return a->is_switch && b->is_switch && a->guid == b->guid;
	return a->is_router == b->is_router && a->number != b->number &&
	       a->guid - a->number == b->guid - b->number && a->name_len == b->name_len &&
	       memcmp(a->name, b->name, a->name_len) == 0;
}

static uint64_t guess_guid(const struct topo_port_row *row, const struct map *taken)
{
	uint64_t guess = row->guid - row->number;

	return row->is_switch || map_get(taken, guess) != MAP_NONE ? row->guid : guess;
}

/* Adds the node of rows [0, n). */
static enum hd_status add_node(struct topo_reader *r, const struct topo_port_row *rows, size_t n,
			       const struct map *taken, struct map *ports)
{
	uint64_t most = 0;
	node_id node;

	for (size_t i = 0; i < n; i++)
		most = rows[i].number > most ? rows[i].number : most;
	r->line = rows[0].line;
	r->at = r->line_start;
	enum node_kind kind = rows[0].is_switch   ? NODE_SWITCH
			      : rows[0].is_router ? NODE_ROUTER
						  : NODE_CA;

	uint64_t guid = guess_guid(rows, taken);
	const char *name = rows[0].name;
	size_t name_len = rows[0].name_len;
	char called[32];

	/* Some reports have no names. */
	if (name_len == 0) {
		name_len = (size_t)snprintf(called, sizeof(called), "0x%016" PRIx64, guid);
		name = called;
	}
	if (reader_add_node(r, kind, most, name, name_len, &node) != HD_OK ||
	    reader_set_guid(r, node, guid) != HD_OK)
		return r->d->status;
	struct topo_node *v = &r->t.nodes[node];

	for (size_t i = 0; i < n; i++) {
		struct topo_port *p = &r->t.ports[v->first_port + rows[i].number];

		p->line = rows[i].line;
		p->widths = rows[i].is_cabled ? rows[i].widths : 0;
		p->speeds = rows[i].is_cabled ? rows[i].speeds : 0;
		p = rows[i].is_switch ? &r->t.ports[v->first_port] : p;
		p->lid = (uint16_t)rows[i].lid;
		(void)map_put(ports, rows[i].guid, node);
	}
	return HD_OK;
}

static void add_claims(struct topo_reader *r, const struct rows *rows, const struct map *ports)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct topo_port_row *row = &rows->items[i];

		if (!row->is_cabled)
			continue;
		node_id node = map_get(ports, row->guid);

		r->line = row->line;
		struct cable_claim *c =
			reader_claim(r, topo_port_of(&r->t, node, (unsigned)row->number));

		c->node = map_get(ports, row->peer_guid);
		c->id = row->peer_text;
		c->id_len = (uint32_t)row->peer_len;
		c->number = (uint16_t)row->peer_number;
	}
}

enum hd_status rows_build(const struct rows *rows, struct topo_reader *r)
{
	struct map ports = { 0 }; /* node by port GUID */
	struct map taken = { 0 }; /* set of all port GUIDs */
	enum hd_status status = HD_OK;
	size_t n;

	for (size_t i = 0; i < rows->n; i++)
		(void)map_put(&taken, rows->items[i].guid, 0);
	for (size_t i = 0; i < rows->n && status == HD_OK; i += n) {
		n = 1;
		while (i + n < rows->n && same_node(&rows->items[i], &rows->items[i + n]))
			n++;
		status = add_node(r, &rows->items[i], n, &taken, &ports);
	}
	if (status == HD_OK)
		add_claims(r, rows, &ports);
	map_fini(&ports);
	map_fini(&taken);
	return status;
}
