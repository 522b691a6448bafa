/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/order.h"
#include "subnet/routing/recognise.h"

#define NO_DIRECTION 0xFF

/* The direction of a cable along dimension k, or NO_DIRECTION. */
static uint8_t step_along(const struct grid *grid, unsigned k, unsigned from, unsigned to)
{
	uint32_t size = grid->size[k];
	bool up = to == from + 1 || (grid->wraps[k] && to + size == from + 1);
	bool down = from == to + 1 || (grid->wraps[k] && from + size == to + 1);

	if (up == down)
		return NO_DIRECTION;
	return (uint8_t)(2 * k + down);
}

/* Which way an edge leads; NO_DIRECTION if it is no step of the grid. */
static uint8_t direction_of(const struct grid *grid, const uint16_t *from, const uint16_t *to)
{
	uint8_t found = NO_DIRECTION;

	for (unsigned k = 0; k < grid->n_dims; k++) {
		if (from[k] == to[k])
			continue;
		if (found != NO_DIRECTION)
			return NO_DIRECTION;
		found = step_along(grid, k, from[k], to[k]);
	}
	return found;
}

static enum hd_status label_edges(struct grid *grid, const struct subnet *s,
				  const struct sw_graph *g, struct diag *d)
{
	grid->direction = hd_alloc(g->n_edges, 1);
	for (switch_id sw = 0; sw < g->n; sw++) {
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			switch_id to = g->edges[e].to;

			grid->direction[e] =
				direction_of(grid, grid_at(grid, sw), grid_at(grid, to));
			if (grid->direction[e] == NO_DIRECTION)
				return diag_fail(
					d, HD_ERR_UNFIT,
					"the cable from '%s' port %u to '%s' is not a step of a grid",
					switch_node(s, sw)->name, g->edges[e].out,
					switch_node(s, to)->name);
		}
	}
	return HD_OK;
}

/* Each switch must have a neighbour in each direction. */
static enum hd_status check_complete(const struct grid *grid, const struct subnet *s,
				     const struct sw_graph *g, struct diag *d)
{
	for (switch_id sw = 0; sw < g->n; sw++) {
		uint32_t there = 0;

		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++)
			there |= 1u << (grid->direction[e] & 31);
		for (unsigned k = 0; k < grid->n_dims; k++) {
			uint16_t at = grid_at(grid, sw)[k];
			bool up = grid->wraps[k] || at + 1u < grid->size[k];
			bool down = grid->wraps[k] || at > 0;

			if ((!up || there & 1u << (2 * k)) && (!down || there & 1u << (2 * k + 1)))
				continue;
			return diag_fail(
				d, HD_ERR_UNFIT,
				"'%s' has no cable to its neighbour in dimension %u of the grid",
				switch_node(s, sw)->name, k + 1);
		}
	}
	return HD_OK;
}

static bool family_has_coordinates(const struct topo *t)
{
	switch (t->family) {
	case FAMILY_MESH:
	case FAMILY_TORUS:
	case FAMILY_HYPERCUBE:
	case FAMILY_RING:
	case FAMILY_NODE_MESH:
		return t->n_dims > 0;
	default:
		return false;
	}
}

static void take_coordinates(struct grid *grid, const struct subnet *s)
{
	const struct topo *t = s->topo;
	bool rings = t->family == FAMILY_TORUS || t->family == FAMILY_RING;

	grid->n_dims = t->n_dims;
	for (unsigned k = 0; k < t->n_dims; k++) {
		grid->size[k] = t->dims[k];
		grid->wraps[k] = rings && t->dims[k] > 2;
	}
	for (switch_id sw = 0; sw < s->n_switches; sw++)
		memcpy(&grid->coord[(size_t)sw * TOPO_MAX_DIMS], switch_node(s, sw)->coord,
		       sizeof(t->nodes[0].coord));
}

enum hd_status grid_init(struct grid *grid, const struct subnet *s, const struct sw_graph *g,
			 struct diag *d)
{
	*grid = (struct grid){ .n_dims = 0 };
	if (g->n == 0)
		return diag_fail(d, HD_ERR_UNFIT, "a fabric without switches is not a grid");
	grid->coord = hd_alloc((size_t)g->n * TOPO_MAX_DIMS, sizeof(*grid->coord));
	if (family_has_coordinates(s->topo))
		take_coordinates(grid, s);
	else if (!grid_recognise(grid, g))
		return diag_fail(d, HD_ERR_UNFIT,
				 "the fabric is not a mesh, torus, hypercube or ring");
	if (label_edges(grid, s, g, d) != HD_OK)
		return d->status;
	return check_complete(grid, s, g, d);
}

void grid_fini(struct grid *grid)
{
	free(grid->coord);
	free(grid->direction);
	*grid = (struct grid){ .n_dims = 0 };
}

static switch_id switch_with(const struct grid *grid, const struct subnet *s, uint32_t x,
			     uint32_t y)
{
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		const uint16_t *c = grid_at(grid, sw);

		if (c[0] == x && c[1] == y)
			return sw;
	}
	return TOPO_NONE;
}

static uint32_t add_hosts(const struct subnet *s, switch_id sw, port_id *out)
{
	const struct topo *t = s->topo;
	const struct topo_node *v = switch_node(s, sw);
	uint32_t n = 0;

	if (topo_is_end_port(t, v->first_port))
		out[n++] = v->first_port;
	for (unsigned k = 1; k <= v->n_ports; k++) {
		port_id peer = t->ports[v->first_port + k].peer;

		if (peer != TOPO_NONE && topo_is_end_port(t, peer))
			out[n++] = peer;
	}
	return n;
}

uint32_t grid_column_order(const struct grid *grid, const struct subnet *s, port_id *out)
{
	uint32_t n = 0;

	for (uint32_t x = 0; x < grid->size[0]; x++) {
		for (uint32_t y = 0; y < grid->size[1]; y++) {
			switch_id sw = switch_with(grid, s, x, y);

			if (sw != TOPO_NONE)
				n += add_hosts(s, sw, &out[n]);
		}
	}
	/* Switches follow, because the paper assigns no addresses to them. */
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		port_id own = switch_node(s, sw)->first_port;

		if (!topo_is_end_port(s->topo, own))
			out[n++] = own;
	}
	return n;
}
