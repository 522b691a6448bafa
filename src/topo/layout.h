/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_LAYOUT_H
#define HD_TOPO_LAYOUT_H

/*
 * Positions of the vertices of a fabric's shape for drawing: trees in layers
 * with hosts at the bottom; grids as grids; dragonflies as a circle of circles;
 * other fabrics by a spring layout. The layout is deterministic.
 */

#include "topo/shape.h"

struct point {
	double x, y; /* y grows upwards; neighbours are about 1 apart */
};

struct layout {
	struct point *at;       /* [vertex] */
	bool is_layered;        /* hosts are below their switch, not around it */
	bool is_grid;           /* neighbours lie along the axes */
	bool has_wraps;         /* wrap-around links exist and are drawn curved */
	struct point low, high; /* corners of the bounding box */
};

void layout_init(struct layout *l, const struct topo *t, const struct shape *s);
void layout_fini(struct layout *l);

#endif
