/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/balance.h"
#include "subnet/grid.h"
#include "subnet/route.h"

/*
 * Routing on grids by coordinates: dimension order (xy, dor, ecube) and
 * negative first. Which directions are permitted follows from where the packet
 * is and where it goes; cables side by side share the load.
 */
struct dor {
	const struct sw_graph *g;
	struct grid grid;
	switch_id target;
	bool negative_first;
};

static void dor_aim(void *rule, switch_id target)
{
	struct dor *r = rule;

	r->target = target;
}

/* The way to go in one dimension: 0 up, 1 down; -1 if there. */
static int way(const struct grid *grid, unsigned k, unsigned at, unsigned to)
{
	if (at == to)
		return -1;
	if (!grid->wraps[k])
		return at > to;
	uint32_t up = (to + grid->size[k] - at) % grid->size[k];

	return up * 2 > grid->size[k];
}

/* The permitted directions as a set of bits, one per grid direction. */
static uint32_t directions(const struct dor *r, switch_id at)
{
	const uint16_t *here = grid_at(&r->grid, at);
	const uint16_t *there = grid_at(&r->grid, r->target);
	uint32_t up = 0, down = 0;

	for (unsigned k = 0; k < r->grid.n_dims; k++) {
		int w = way(&r->grid, k, here[k], there[k]);

		if (w < 0)
			continue;
		if (!r->negative_first)
			return 1u << (2 * k + (unsigned)w);
		if (w)
			down |= 1u << (2 * k + 1);
		else
			up |= 1u << (2 * k);
	}
	return down ? down : up;
}

static unsigned dor_ports(void *rule, switch_id at, uint8_t *out)
{
	const struct dor *r = rule;
	const struct sw_graph *g = r->g;
	uint32_t permitted = directions(r, at);
	unsigned n = 0;

	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		if (permitted >> r->grid.direction[e] & 1)
			out[n++] = g->edges[e].out;
	}
	return n;
}

/* What an engine accepts beyond "is a grid". */
struct shape {
	unsigned min_dims, max_dims;
	bool may_wrap;
	uint32_t max_size; /* 0 = any */
};

static enum hd_status check_shape(const struct grid *grid,
				  const struct shape *want, struct diag *d)
{
	if (grid->n_dims < want->min_dims || grid->n_dims > want->max_dims)
		return diag_fail(d, HD_ERR_UNFIT,
				 "needs %u to %u dimensions, the fabric has %u",
				 want->min_dims, want->max_dims, grid->n_dims);
	for (unsigned k = 0; k < grid->n_dims; k++) {
		if (grid->wraps[k] && !want->may_wrap)
			return diag_fail(d, HD_ERR_UNFIT,
					 "needs a fabric without rings, but"
					 " dimension %u wraps around",
					 k + 1);
		if (want->max_size && grid->size[k] > want->max_size)
			return diag_fail(d, HD_ERR_UNFIT,
					 "needs a hypercube, but dimension %u"
					 " has %u positions",
					 k + 1, grid->size[k]);
	}
	return HD_OK;
}

static enum hd_status route_grid(struct subnet *s, const struct sw_graph *g,
				 const struct shape *shape, bool negative_first,
				 struct diag *d)
{
	struct dor r = { .g = g, .negative_first = negative_first };
	struct route_rule rule = { dor_aim, dor_ports, &r };
	enum hd_status status = grid_init(&r.grid, s, g, d);

	if (status == HD_OK)
		status = check_shape(&r.grid, shape, d);
	if (status == HD_OK)
		balance_routes(s, g, &rule);
	grid_fini(&r.grid);
	return status;
}

enum hd_status route_dor(struct subnet *s, const struct sw_graph *g,
			 const struct route_options *o, struct diag *d)
{
	static const struct shape any = { 1, TOPO_MAX_DIMS, true, 0 };

	(void)o;
	return route_grid(s, g, &any, false, d);
}

enum hd_status route_xy(struct subnet *s, const struct sw_graph *g,
			const struct route_options *o, struct diag *d)
{
	static const struct shape plane = { 2, 2, false, 0 };

	(void)o;
	return route_grid(s, g, &plane, false, d);
}

enum hd_status route_negative_first(struct subnet *s, const struct sw_graph *g,
				    const struct route_options *o,
				    struct diag *d)
{
	static const struct shape mesh = { 2, TOPO_MAX_DIMS, false, 0 };

	(void)o;
	return route_grid(s, g, &mesh, true, d);
}

enum hd_status route_ecube(struct subnet *s, const struct sw_graph *g,
			   const struct route_options *o, struct diag *d)
{
	static const struct shape cube = { 1, TOPO_MAX_DIMS, false, 2 };

	(void)o;
	return route_grid(s, g, &cube, false, d);
}
