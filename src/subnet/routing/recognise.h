/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_RECOGNISE_H
#define HD_SUBNET_ROUTING_RECOGNISE_H

/*
 * Derives the coordinates of a grid from its cables.
 *
 * A grid is a Cartesian product of paths and rings. In a product, two cables of
 * one switch that are in different dimensions span exactly one square, and
 * opposite sides of a square are in the same dimension. Merging cables by both
 * rules gives one class per dimension; removing the cables of a class separates
 * the slices that share a coordinate. The caller must verify the result cable
 * by cable.
 *
 * A ring of 4 is the same graph as a square of 2 x 2 and is recognised as the
 * latter.
 */

#include "subnet/routing/grid.h"

/* Fills n_dims, size, wraps and coord (allocated); false if the graph is not a grid. */
bool grid_recognise(struct grid *grid, const struct sw_graph *g);

#endif
