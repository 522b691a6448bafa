/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_LAYOUT_H
#define HD_TOPO_LAYOUT_H

/*
 * Where to draw the vertices of a fabric's shape: trees in layers, hosts at
 * the bottom; grids as grids; dragonflies as a circle of circles; anything
 * else where springs between neighbours put it. The same fabric is drawn the
 * same way every time.
 */

#include "topo/shape.h"

struct point {
	double x, y; /* y grows upwards; neighbours are about 1 apart */
};

struct layout {
	struct point *at;       /* [vertex] */
	bool is_layered;        /* hosts go below their switch, not around it */
	bool is_grid;           /* neighbours lie along the axes */
	bool has_wraps;         /* some links lead around and must be bent */
	struct point low, high; /* corners of all that is drawn */
};

void layout_init(struct layout *l, const struct topo *t, const struct shape *s);
void layout_fini(struct layout *l);

#endif
