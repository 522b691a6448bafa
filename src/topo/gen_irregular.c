/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Irregular fabrics: a random connected simple graph in which every switch
 * has the same number of neighbours.
 *
 * Steger and Wormald's way: each switch has `degree` loose ends; tie two at
 * random unless that makes a loop or a second cable between the same two, and
 * start again when only such ties are left. Nearly uniform over all regular
 * graphs, and fast as long as the degree is small against the number of
 * switches; above half of that number the cables that are not there are drawn
 * instead. A graph in several parts is thrown away too.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compare.h"
#include "base/rng.h"
#include "topo/builder.h"

#define MAX_TRIES 1000

struct random_graph {
	uint32_t n, degree;
	uint32_t *near;  /* [switch * degree + k]: its neighbours so far */
	uint32_t *count; /* how many it has */
	uint32_t *ends;  /* loose ends, named by their switch */
	uint32_t n_ends;
	struct rng rng;
};

static bool may_tie(const struct random_graph *g, uint32_t a, uint32_t b)
{
	if (a == b)
		return false;
	for (uint32_t k = 0; k < g->count[a]; k++) {
		if (g->near[(size_t)a * g->degree + k] == b)
			return false;
	}
	return true;
}

static bool any_tie(const struct random_graph *g)
{
	for (uint32_t i = 0; i < g->n_ends; i++) {
		for (uint32_t j = i + 1; j < g->n_ends; j++) {
			if (may_tie(g, g->ends[i], g->ends[j]))
				return true;
		}
	}
	return false;
}

static void drop_end(struct random_graph *g, uint32_t i)
{
	g->ends[i] = g->ends[--g->n_ends];
}

static void tie(struct random_graph *g, uint32_t i, uint32_t j)
{
	uint32_t a = g->ends[i], b = g->ends[j];

	g->near[(size_t)a * g->degree + g->count[a]++] = b;
	g->near[(size_t)b * g->degree + g->count[b]++] = a;
	drop_end(g, i > j ? i : j);
	drop_end(g, i > j ? j : i);
}

static bool tie_all(struct random_graph *g)
{
	unsigned misses = 0;

	g->n_ends = 0;
	for (uint32_t sw = 0; sw < g->n; sw++) {
		g->count[sw] = 0;
		for (uint32_t k = 0; k < g->degree; k++)
			g->ends[g->n_ends++] = sw;
	}
	while (g->n_ends) {
		uint32_t i = (uint32_t)rng_below(&g->rng, g->n_ends);
		uint32_t j = (uint32_t)rng_below(&g->rng, g->n_ends);

		if (may_tie(g, g->ends[i], g->ends[j])) {
			tie(g, i, j);
			misses = 0;
		} else if (++misses % 256 == 0 && !any_tie(g)) {
			return false;
		}
	}
	return true;
}

/* Connects a ring in random order: with degree 2, no other graph is connected. */
static void tie_ring(struct random_graph *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		g->ends[i] = i;
	rng_shuffle(&g->rng, g->ends, g->n);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t a = g->ends[i], b = g->ends[(i + 1) % g->n];

		g->near[(size_t)a * 2 + g->count[a]++] = b;
		g->near[(size_t)b * 2 + g->count[b]++] = a;
	}
}

static bool is_connected(const struct random_graph *g)
{
	uint32_t *queue = hd_alloc(g->n, sizeof(*queue)), head = 0, tail = 1;
	bool *seen = hd_alloc(g->n, sizeof(*seen));

	seen[0] = true;
	while (head < tail) {
		uint32_t sw = queue[head++];

		for (uint32_t k = 0; k < g->degree; k++) {
			uint32_t to = g->near[(size_t)sw * g->degree + k];

			if (!seen[to])
				queue[tail++] = to;
			seen[to] = true;
		}
	}
	free(queue);
	free(seen);
	return tail == g->n;
}

/* Replaces the graph by the one of all cables that it does not have. */
static void complement(struct random_graph *g)
{
	uint32_t degree = g->n - 1 - g->degree;
	uint32_t *near = hd_alloc((size_t)g->n * degree, sizeof(*near));

	for (uint32_t a = 0; a < g->n; a++) {
		uint32_t count = 0;

		for (uint32_t b = 0; b < g->n; b++) {
			if (may_tie(g, a, b))
				near[(size_t)a * degree + count++] = b;
		}
	}
	free(g->near);
	g->near = near;
	g->degree = degree;
}

static bool draw(struct random_graph *g)
{
	/* More than half of the others as neighbours: always connected. */
	bool dense = g->degree > g->n / 2;

	if (dense)
		g->degree = g->n - 1 - g->degree;
	if (g->degree == 2 && !dense) {
		tie_ring(g);
		return true;
	}
	for (unsigned i = 0; i < MAX_TRIES; i++) {
		if (!tie_all(g) || (!dense && !is_connected(g)))
			continue;
		if (dense)
			complement(g);
		return true;
	}
	return false;
}

/* Ports 1 .. degree lead to the neighbours in the order of their numbers. */
static void cable(const struct random_graph *g, struct topo *t)
{
	for (uint32_t sw = 0; sw < g->n; sw++)
		qsort(&g->near[(size_t)sw * g->degree], g->degree, sizeof(*g->near), compare_u32);
	for (uint32_t sw = 0; sw < g->n; sw++) {
		for (uint32_t k = 0; k < g->degree; k++) {
			uint32_t to = g->near[(size_t)sw * g->degree + k];
			const uint32_t *row = &g->near[(size_t)to * g->degree];

			if (to < sw)
				continue;
			const uint32_t *back =
				bsearch(&sw, row, g->degree, sizeof(*row), compare_u32);

			assert(back);
			build_cable(t, sw, k + 1, to, (unsigned)(back - row) + 1);
		}
	}
}

static enum hd_status check(const struct topo_params *p, struct diag *d)
{
	if (p->degree >= p->switches || p->degree * p->switches % 2 != 0 ||
	    (p->degree < 2 && p->switches > 2))
		return diag_fail(
			d, HD_ERR_RANGE,
			"no connected graph of %llu switches gives each %llu neighbours: the degree must be below the number of switches and one of the two even",
			(unsigned long long)p->switches, (unsigned long long)p->degree);
	if (build_check_ports(p->degree + build_host_ports(p), d) != HD_OK)
		return d->status;
	return build_check_size(p, p->switches, p->switches * p->hosts, d);
}

enum hd_status build_irregular(const struct topo_params *p, struct diag *d, struct topo *t)
{
	if (check(p, d) != HD_OK)
		return d->status;
	struct random_graph g = { .n = (uint32_t)p->switches, .degree = (uint32_t)p->degree };
	size_t ends = (size_t)g.n * g.degree;
	uint32_t n_hosts = 0;

	rng_init(&g.rng, p->seed, 0);
	g.near = hd_alloc(ends, sizeof(*g.near));
	g.ends = hd_alloc(ends, sizeof(*g.ends));
	g.count = hd_alloc(g.n, sizeof(*g.count));
	if (draw(&g)) {
		for (uint32_t i = 0; i < g.n; i++) {
			uint64_t ports = p->degree + build_host_ports(p);

			build_switch(t, (unsigned)ports, "s-%u", i);
			t->nodes[i].tier = 1;
		}
		cable(&g, t);
		for (uint32_t i = 0; i < g.n; i++)
			build_hosts(t, p, i, g.degree + 1, &n_hosts);
	} else {
		diag_fail(d, HD_ERR_UNFIT, "found no such graph in %u tries; try another seed",
			  MAX_TRIES);
	}
	free(g.near);
	free(g.ends);
	free(g.count);
	return d->status;
}
