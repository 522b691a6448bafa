/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"
#include "subnet/routing/adaptive.h"
#include "subnet/routing/grid.h"
#include "subnet/routing/layers.h"
#include "subnet/routing/route.h"
#include "subnet/tables/paths.h"

/*
 * Routing on grids by coordinates: dimension order (xy, dor, ecube) and
 * negative first. Which directions are permitted follows from where the packet
 * is and where it goes; cables side by side share the load.
 */
struct dor {
	const struct sw_graph *g;
	struct grid grid;
	bool negative_first;
	bool all_ways; /* of negative first, not just the one to be taken */
};

/* A view is just the target. */
static void dor_aim(const void *rule, switch_id target, void *view,
		    /* NOLINTNEXTLINE(readability-non-const-parameter) */
		    switch_id *queue)
{
	(void)rule;
	(void)queue;
	*(switch_id *)view = target;
}

/* The way to go in one dimension: 0 up, 1 down; -1 if there. */
static int way(const struct grid *grid, unsigned k, unsigned at, unsigned to)
{
	if (at == to)
		return -1;
	if (!grid->wraps[k])
		return at > to;
	uint32_t up = (to + grid->size[k] - at) % grid->size[k];

	/* Half the switches go either way round to the opposite one. */
	if (up * 2 == grid->size[k])
		return at & 1;
	return up * 2 > grid->size[k];
}

/*
 * Down before up. Among several dimensions, the one with the longest remaining distance, so that a
 * path stays near the diagonal with more choices (zigzag); among equals, the first.
 */
static uint32_t negative_direction(const struct dor *r, const uint16_t *here, const uint16_t *there)
{
	unsigned far[2] = { 0, 0 };
	uint32_t best[2] = { 0, 0 }; /* up, down */

	for (unsigned k = 0; k < r->grid.n_dims; k++) {
		unsigned w = here[k] > there[k];
		unsigned left = w ? here[k] - there[k] : there[k] - here[k];

		if (left <= far[w])
			continue;
		far[w] = left;
		best[w] = 1u << (2 * k + w);
	}
	return best[1] ? best[1] : best[0];
}

/* All permitted directions: any down, or any up if none is left. */
static uint32_t negative_directions(const struct dor *r, const uint16_t *here,
				    const uint16_t *there)
{
	uint32_t up = 0, down = 0;

	for (unsigned k = 0; k < r->grid.n_dims; k++) {
		if (here[k] > there[k])
			down |= 2u << 2 * k;
		else if (here[k] < there[k])
			up |= 1u << 2 * k;
	}
	return down ? down : up;
}

/* The permitted directions as a set of bits, one per grid direction. */
static uint32_t directions(const struct dor *r, switch_id at, switch_id to)
{
	const uint16_t *here = grid_at(&r->grid, at);
	const uint16_t *there = grid_at(&r->grid, to);

	if (r->negative_first)
		return r->all_ways ? negative_directions(r, here, there)
				   : negative_direction(r, here, there);
	for (unsigned k = 0; k < r->grid.n_dims; k++) {
		int w = way(&r->grid, k, here[k], there[k]);

		if (w >= 0)
			return 1u << (2 * k + (unsigned)w);
	}
	return 0;
}

static unsigned dor_ports(const void *rule, const void *view, switch_id at, uint8_t *out)
{
	const struct dor *r = rule;
	const struct sw_graph *g = r->g;
	uint32_t permitted = directions(r, at, *(const switch_id *)view);
	unsigned n = 0;

	for (edge_id e = g->first[at]; e < g->first[at + 1]; e++) {
		if (permitted >> r->grid.direction[e] & 1)
			out[n++] = g->edges[e].out;
	}
	return n;
}

/* Conditions of an engine in addition to being a grid. */
struct grid_limits {
	unsigned min_dims, max_dims;
	bool may_wrap;
	uint32_t max_size; /* 0 = any */
};

static enum hd_status check_shape(const struct grid *grid, const struct grid_limits *want,
				  struct diag *d)
{
	if (grid->n_dims < want->min_dims || grid->n_dims > want->max_dims)
		return diag_fail(d, HD_ERR_UNFIT, "needs %u%s dimensions, the fabric has %u",
				 want->min_dims, want->max_dims > want->min_dims ? " or more" : "",
				 grid->n_dims);
	for (unsigned k = 0; k < grid->n_dims; k++) {
		if (grid->wraps[k] && !want->may_wrap)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"needs a fabric without rings, but dimension %u wraps around",
				k + 1);
		if (want->max_size && grid->size[k] > want->max_size)
			return diag_fail(d, HD_ERR_UNFIT,
					 "needs a hypercube, but dimension %u has %u positions",
					 k + 1, grid->size[k]);
	}
	return HD_OK;
}

/*
 * Shorter rings need no VLs: in a ring of 3 paths have one hop, and in one of
 * 4 the two hops to the opposite switch start at every other switch only, so
 * that they never follow each other.
 */
#define RING_THAT_LOCKS 5

/* Which rings need a dateline: a bit of the SL for each, in order. */
static enum hd_status number_rings(const struct grid *grid, int *bit_of_dim, unsigned *n,
				   struct diag *d)
{
	*n = 0;
	for (unsigned k = 0; k < grid->n_dims; k++) {
		bool locks = grid->wraps[k] && grid->size[k] >= RING_THAT_LOCKS;

		bit_of_dim[k] = locks ? (int)(*n)++ : -1;
	}
	if (*n <= 4)
		return HD_OK;
	return diag_fail(
		d, HD_ERR_UNFIT,
		"%u dimensions are rings of %u or more; the 16 SLs can tell the ways around 4 of them apart",
		*n, RING_THAT_LOCKS);
}

/* The SL of a path: for each ring, whether it crosses between last and 0. */
static uint8_t crossings(const struct grid *grid, const int *bit_of_dim, switch_id from,
			 switch_id to)
{
	const uint16_t *a = grid_at(grid, from), *b = grid_at(grid, to);
	unsigned sl = 0;

	for (unsigned k = 0; k < grid->n_dims; k++) {
		int w = way(grid, k, a[k], b[k]);

		if (bit_of_dim[k] >= 0 && ((w == 0 && b[k] < a[k]) || (w == 1 && b[k] > a[k])))
			sl |= 1u << bit_of_dim[k];
	}
	return (uint8_t)sl;
}

/* On a ring, the VL is the ring's bit of the SL; elsewhere it is VL 0. */
static void set_torus_vls(struct subnet *s, const struct dor *r, const int *bit_of_dim,
			  switch_id sw)
{
	unsigned n = switch_node(s, sw)->n_ports + 1u;

	for (unsigned out = 0; out < n; out++) {
		edge_id e = edge_of(r->g, sw, out);
		int bit = e == TOPO_NONE ? -1 : bit_of_dim[r->grid.direction[e] / 2];
		struct sl2vl table;

		for (unsigned sl = 0; sl < N_SLS; sl++)
			table.vl[sl] = (uint8_t)(bit < 0 ? 0 : sl >> bit & 1);
		for (unsigned in = 0; in < n; in++)
			subnet_set_sl2vl(s, sw, in, out, &table);
	}
}

/*
 * Two VLs per ring, as torus-2QoS has them: paths that cross the dateline
 * keep to VL 1 all around their ring, the others to VL 0. On VL 0 nothing
 * crosses; on VL 1 every path does and none is longer than half the ring, so
 * one channel opposite the dateline is always left out. No circle closes.
 */
static void set_datelines(struct subnet *s, const struct dor *r, const int *bit_of_dim)
{
	struct path_dests dests;

	subnet_sls_by_switch(s);
	s->vls_by_engine = true;
	s->vls_used = 2;
	path_dests_init(&dests, s, r->g);
	for (switch_id sw = 0; sw < r->g->n; sw++) {
		set_torus_vls(s, r, bit_of_dim, sw);
		for (switch_id to = 0; to < r->g->n; to++) {
			uint8_t sl = crossings(&r->grid, bit_of_dim, sw, to);

			for (uint32_t i = dests.first[to]; i < dests.first[to + 1]; i++)
				s->sl_of_path[(size_t)sw * s->lft_stride + dests.dests[i].lid] = sl;
		}
	}
	path_dests_fini(&dests);
}

static enum hd_status route_torus(struct subnet *s, const struct sw_graph *g,
				  const struct route_options *o, struct diag *d)
{
	struct dor r = { .g = g };
	const struct route_rule rule = { .aim = dor_aim,
					 .ports = dor_ports,
					 .state = &r,
					 .view_size = sizeof(switch_id),
					 .adaptive = o->adaptive };
	int bit_of_dim[TOPO_MAX_DIMS] = { 0 };
	unsigned n_rings;
	enum hd_status status = grid_init(&r.grid, s, g, d);

	if (status == HD_OK)
		status = number_rings(&r.grid, bit_of_dim, &n_rings, d);
	if (status == HD_OK && n_rings > 0 && layers_available(s, g, 0) < 2)
		status = diag_fail(d, HD_ERR_UNFIT,
				   "needs 2 VLs on every cable between switches, one has only 1");
	if (status == HD_OK) {
		balance_routes(s, g, &rule);
		if (n_rings > 0)
			set_datelines(s, &r, bit_of_dim);
	}
	grid_fini(&r.grid);
	return status;
}

const struct route_engine engine_torus = {
	.name = "torus",
	.needs = "a torus or mesh with at most four rings of five or more, two VLs",
	.opensm = "torus-2QoS",
	.route = route_torus,
};

static enum hd_status route_grid(struct subnet *s, const struct sw_graph *g,
				 const struct grid_limits *shape, bool negative_first,
				 const struct route_options *o, struct diag *d)
{
	struct dor r = { .g = g, .negative_first = negative_first };
	const struct route_rule rule = {
		.aim = dor_aim, .ports = dor_ports, .state = &r, .view_size = sizeof(switch_id)
	};
	enum hd_status status = grid_init(&r.grid, s, g, d);

	if (status == HD_OK)
		status = check_shape(&r.grid, shape, d);
	if (status == HD_OK) {
		balance_routes(s, g, &rule);
		r.all_ways = true;
		if (o->adaptive)
			adaptive_gather(s, g, &rule, o->adaptive);
	}
	grid_fini(&r.grid);
	return status;
}

static enum hd_status route_dor(struct subnet *s, const struct sw_graph *g,
				const struct route_options *o, struct diag *d)
{
	static const struct grid_limits any = { 1, TOPO_MAX_DIMS, true, 0 };

	return route_grid(s, g, &any, false, o, d);
}

const struct route_engine engine_dor = {
	.name = "dor",
	.needs = "a mesh, torus, hypercube or ring",
	.route = route_dor,
};

static enum hd_status route_xy(struct subnet *s, const struct sw_graph *g,
			       const struct route_options *o, struct diag *d)
{
	static const struct grid_limits plane = { 2, 2, false, 0 };

	return route_grid(s, g, &plane, false, o, d);
}

const struct route_engine engine_xy = {
	.name = "xy",
	.needs = "a mesh of two dimensions",
	.route = route_xy,
};

static enum hd_status route_negative_first(struct subnet *s, const struct sw_graph *g,
					   const struct route_options *o, struct diag *d)
{
	static const struct grid_limits mesh = { 2, TOPO_MAX_DIMS, false, 0 };

	return route_grid(s, g, &mesh, true, o, d);
}

const struct route_engine engine_negative_first = {
	.name = "negative-first",
	.needs = "a mesh of two or more dimensions",
	.route = route_negative_first,
};

static enum hd_status route_ecube(struct subnet *s, const struct sw_graph *g,
				  const struct route_options *o, struct diag *d)
{
	static const struct grid_limits cube = { 1, TOPO_MAX_DIMS, false, 2 };

	return route_grid(s, g, &cube, false, o, d);
}

const struct route_engine engine_ecube = {
	.name = "ecube",
	.needs = "a hypercube",
	.route = route_ecube,
};
