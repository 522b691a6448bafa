/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_GRID_H
#define HD_SUBNET_ROUTING_GRID_H

/*
 * Coordinates of a fabric that is a grid: a product of paths and rings (mesh,
 * torus, hypercube, ring). Generated fabrics have coordinates; those of a
 * fabric read from a file are derived from the cables.
 *
 * In a grid every switch has a neighbour in both directions of every dimension,
 * except at the ends of a dimension that does not wrap. Cables may be parallel.
 */

#include "subnet/routing/graph.h"

struct grid {
	unsigned n_dims;
	uint32_t size[TOPO_MAX_DIMS];
	bool wraps[TOPO_MAX_DIMS]; /* a ring of 3 or more */
	uint16_t *coord;           /* [switch][TOPO_MAX_DIMS] */
	uint8_t *direction;        /* per edge: 2 * dimension, + 1 if downward */
};

/*
 * HD_ERR_UNFIT, with the reason, if the fabric is not a grid. The grid is valid
 * for grid_fini in any case.
 */
HD_MUST_CHECK enum hd_status grid_init(struct grid *grid, const struct subnet *s,
				       const struct sw_graph *g, struct diag *d);
void grid_fini(struct grid *grid);

static inline const uint16_t *grid_at(const struct grid *grid, switch_id sw)
{
	return &grid->coord[(size_t)sw * TOPO_MAX_DIMS];
}

/* Writes the ports that get LIDs: hosts column by column, then all others. */
uint32_t grid_column_order(const struct grid *grid, const struct subnet *s, port_id *out);

#endif
