/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_RECOGNISE_H
#define HD_SUBNET_ROUTING_RECOGNISE_H

/*
 * Finds the coordinates of a grid from its cables.
 *
 * A grid is a Cartesian product of paths and rings. In a product, two cables
 * of one switch that lie in different dimensions span exactly one square, and
 * opposite sides of a square lie in the same dimension. Joining cables by both
 * rules leaves one class per dimension; taking the cables of a class away
 * leaves the slices that share a coordinate. Whether the result really is a
 * grid is for the caller to verify, cable by cable.
 *
 * A ring of 4 is the same graph as a square of 2 x 2 and is found as that.
 */

#include "subnet/routing/grid.h"

/* Fills n_dims, size, wraps and coord (allocated); false if it is no grid. */
bool grid_recognise(struct grid *grid, const struct sw_graph *g);

#endif
