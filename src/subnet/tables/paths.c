/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/tables/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Calls for each LID that leaves the fabric at a switch: counts or stores. */
static void each_dest(struct path_dests *p, const struct subnet *s, uint32_t *fill)
{
	for (unsigned sub = 0; sub < s->n_subnets; sub++) {
		for (uint32_t lid = 1; lid <= s->top_lid[sub]; lid++) {
			struct path_dest d = {
				.owner = s->port_of_lid[sub][lid],
				.lid = (lid_t)lid,
				.subnet = (uint16_t)sub,
			};
			switch_id sw;

			if (!subnet_target(s, sub, (lid_t)lid, &sw, &d.port))
				continue;
			if (fill)
				p->dests[fill[sw]++] = d;
			else
				p->first[sw + 1]++;
		}
	}
}

void path_dests_init(struct path_dests *p, const struct subnet *s, const struct sw_graph *g)
{
	uint32_t *fill = hd_alloc(g->n, sizeof(*fill));

	*p = (struct path_dests){ .first = hd_alloc(g->n + 1u, sizeof(*p->first)) };
	each_dest(p, s, NULL);
	for (switch_id sw = 0; sw < g->n; sw++) {
		fill[sw] = p->first[sw];
		p->first[sw + 1] += p->first[sw];
	}
	p->n = p->first[g->n];
	p->dests = hd_alloc(p->n, sizeof(*p->dests));
	each_dest(p, s, fill);
	free(fill);
}

void path_dests_fini(struct path_dests *p)
{
	free(p->first);
	free(p->dests);
	*p = (struct path_dests){ .n = 0 };
}

void path_column(const struct subnet *s, const struct sw_graph *g, const struct path_view *v,
		 edge_id *next)
{
	for (switch_id sw = 0; sw < g->n; sw++) {
		uint8_t port = v->ports[sw];
		edge_id e = edge_of(g, sw, port);

		if (port == LFT_NO_PORT ||
		    (s->n_subnets > 1 && subnet_of_switch(s, sw) != v->dest->subnet))
			e = PATH_NO_ENTRY;
		else if (sw == v->target && port == v->dest->port)
			e = PATH_ARRIVED;
		else if (e == TOPO_NONE)
			e = PATH_ASTRAY;
		next[sw] = e;
	}
}

void path_column_of(const struct subnet *s, const struct sw_graph *g, switch_id target,
		    const struct path_dest *d, edge_id *next)
{
	uint8_t *ports = hd_alloc(g->n, 1);

	for (switch_id sw = 0; sw < g->n; sw++)
		ports[sw] = lft_get(s, sw, d->lid);
	path_column(s, g, &(struct path_view){ target, d, 0, ports }, next);
	free(ports);
}

/* ---- all columns ------------------------------------------------------- */

#define COLUMNS_BYTES ((size_t)8 << 20) /* of columns at once, or one switch's */
#define TILE          64                /* number of switches per tile */

/* Columns of the destinations [first, end), which are those of switches. */
struct columns {
	const struct subnet *s;
	const struct sw_graph *g;
	const struct path_dests *p;
	uint32_t first, end;
	switch_id first_switch;
	uint8_t *ports; /* [destination - first][switch] */
	size_t cap;
	path_visit_fn *visit;
	void *context;
};

/*
 * A cache line of a row has entries of many destinations, one of a column those of many switches; a
 * tile uses both while they are cached.
 */
static void move_tile(void *context, unsigned member, size_t tile)
{
	struct columns *c = context;
	switch_id from = (switch_id)tile * TILE;
	switch_id to = from + TILE < c->g->n ? from + TILE : c->g->n;

	(void)member;
	for (switch_id sw = from; sw < to; sw++) {
		struct lft_row row = lft_row_of(c->s, sw);
		uint8_t *column = c->ports + sw;

		for (uint32_t i = c->first; i < c->end; i++, column += c->g->n)
			*column = lft_row_get(row, c->p->dests[i].lid);
	}
}

static void visit_switch(void *context, unsigned member, size_t piece)
{
	struct columns *c = context;
	switch_id sw = c->first_switch + (switch_id)piece;

	for (uint32_t i = c->p->first[sw]; i < c->p->first[sw + 1]; i++) {
		struct path_view v = {
			.target = sw,
			.dest = &c->p->dests[i],
			.number = i,
			.ports = c->ports + (size_t)(i - c->first) * c->g->n,
		};

		c->visit(c->context, member, &v);
	}
}

/* Takes the destinations of some more switches from `sw` on. */
static switch_id columns_take(struct columns *c, switch_id sw)
{
	const uint32_t *first = c->p->first;
	size_t most = COLUMNS_BYTES / c->g->n;

	c->first_switch = sw;
	c->first = first[sw++];
	while (sw < c->g->n && first[sw + 1] - c->first <= most)
		sw++;
	c->end = first[sw];
	size_t need = (size_t)(c->end - c->first) * c->g->n;

	if (need > c->cap) {
		free(c->ports);
		c->ports = hd_alloc(need, 1);
		c->cap = need;
	}
	return sw;
}

void path_visit(const struct subnet *s, const struct sw_graph *g, const struct path_dests *p,
		struct parallel_pool *pool, path_visit_fn *visit, void *context)
{
	struct columns c = { .s = s, .g = g, .p = p, .visit = visit, .context = context };

	for (switch_id sw = 0; sw < g->n;) {
		switch_id end = columns_take(&c, sw);

		parallel_for(pool, (g->n + TILE - 1) / TILE, move_tile, &c);
		parallel_for(pool, end - sw, visit_switch, &c);
		sw = end;
	}
	free(c.ports);
}

struct parallel_pool *path_pool(const struct sw_graph *g, const struct path_dests *p)
{
	enum { STEPS = 8 }; /* about this many for each switch of a column */

	return parallel_pool_new((uint64_t)p->n * g->n * STEPS);
}

#define UNKNOWN UINT16_MAX
#define WALKING PATH_NOT_ARRIVED

static uint16_t hops_of_end(edge_id next)
{
	switch (next) {
	case PATH_ARRIVED:
		return 0;
	case PATH_NO_ENTRY:
		return PATH_HOPS_NO_ENTRY;
	default:
		return PATH_HOPS_ASTRAY;
	}
}

/* Follows the column from `sw`; all switches passed learn their hops. */
static void walk(const struct sw_graph *g, const edge_id *next, uint16_t *hops, switch_id *stack,
		 switch_id sw)
{
	uint32_t depth = 0;

	while (hops[sw] == UNKNOWN && path_goes_on(next[sw])) {
		hops[sw] = WALKING;
		stack[depth++] = sw;
		sw = g->edges[next[sw]].to;
	}
	if (hops[sw] == WALKING)
		hops[sw] = PATH_HOPS_LOOP;
	else if (hops[sw] == UNKNOWN)
		hops[sw] = hops_of_end(next[sw]);
	uint16_t here = hops[sw];

	while (depth > 0) {
		if (here < PATH_NOT_ARRIVED)
			here++;
		hops[stack[--depth]] = here;
	}
}

void path_hops(const struct sw_graph *g, const edge_id *next, uint16_t *hops, switch_id *stack)
{
	memset(hops, 0xFF, g->n * sizeof(*hops));
	for (switch_id sw = 0; sw < g->n; sw++)
		walk(g, next, hops, stack, sw);
}
