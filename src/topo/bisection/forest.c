/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topo/bisection/bound.h"

#define MAX_HOSTS 5000

/*
 * A fabric without cycles: from the leaves up, the minimum cut below a vertex for each number of
 * hosts on the vertex's side.
 */
struct forest {
	const struct shape *g;
	uint32_t *order;  /* roots first, each before what hangs on it */
	uint32_t *parent; /* UINT32_MAX for roots */
	uint32_t *cables; /* to the parent */
	uint64_t **least; /* [vertex][hosts on its side] */
	uint32_t *hosts;  /* below and at it */
};

/* Takes in what hangs on v; false if something is there already: a circle. */
static bool forest_reach(struct forest *f, uint32_t v, bool *seen, uint32_t *tail)
{
	const struct shape *g = f->g;

	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
		uint32_t to = g->to[e];

		if (to == f->parent[v])
			continue;
		if (seen[to])
			return false;
		seen[to] = true;
		f->parent[to] = v;
		f->cables[to] = g->cables[e];
		f->order[(*tail)++] = to;
	}
	return true;
}

/* False: the fabric has a cycle. */
static bool forest_grow(struct forest *f)
{
	const struct shape *g = f->g;
	bool *seen = hd_alloc(g->n, sizeof(*seen));
	uint32_t head = 0, tail = 0;
	bool good = true;

	for (uint32_t root = 0; root < g->n && good; root++) {
		if (seen[root])
			continue;
		seen[root] = true;
		f->parent[root] = UINT32_MAX;
		f->order[tail++] = root;
		for (; head < tail && good; head++)
			good = forest_reach(f, f->order[head], seen, &tail);
	}
	free(seen);
	return good;
}

/* Merges the result of `v` into `*table`, which has n + 1 entries. */
static void join(const struct forest *f, uint32_t v, uint64_t **table, uint32_t *n)
{
	uint32_t more = f->hosts[v], all = *n + more;
	uint64_t *sum = hd_alloc((size_t)all + 1, sizeof(*sum));

	for (uint32_t i = 0; i <= all; i++)
		sum[i] = UINT64_MAX;
	for (uint32_t i = 0; i <= *n; i++) {
		for (uint32_t j = 0; j <= more && (*table)[i] != UINT64_MAX; j++) {
			/* With its parent, or on the other side of it. */
			uint64_t with = f->least[v][j];
			uint64_t across = f->least[v][more - j];

			if (across != UINT64_MAX && across + f->cables[v] < with)
				with = across + f->cables[v];
			if (with != UINT64_MAX && (*table)[i] + with < sum[i + j])
				sum[i + j] = (*table)[i] + with;
		}
	}
	free(*table);
	*table = sum;
	*n = all;
}

static uint64_t forest_cut(struct forest *f)
{
	const struct shape *g = f->g;
	uint64_t *whole = hd_alloc(1, sizeof(*whole)), best = UINT64_MAX;
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		f->hosts[v] = g->weight[v];
		f->least[v] = hd_alloc(f->hosts[v] + 1u, sizeof(uint64_t));
		for (uint32_t i = 0; i < f->hosts[v]; i++)
			f->least[v][i] = UINT64_MAX; /* all are on its side */
	}
	for (uint32_t i = g->n; i-- > 0;) {
		uint32_t v = f->order[i], up = f->parent[v];

		if (up == UINT32_MAX)
			join(f, v, &whole, &n);
		else
			join(f, v, &f->least[up], &f->hosts[up]);
	}
	for (uint32_t i = 0; i <= n; i++) {
		if (i <= bisect_most(g) && n - i <= bisect_most(g) && whole[i] < best)
			best = whole[i];
	}
	free(whole);
	return best;
}

bool bisect_by_forest(const struct shape *g, uint64_t *cables)
{
	struct forest f = {
		.g = g,
		.order = hd_alloc(g->n, sizeof(*f.order)),
		.parent = hd_alloc(g->n, sizeof(*f.parent)),
		.cables = hd_alloc(g->n, sizeof(*f.cables)),
		.least = hd_alloc(g->n, sizeof(*f.least)),
		.hosts = hd_alloc(g->n, sizeof(*f.hosts)),
	};
	bool found = g->total_weight <= MAX_HOSTS && forest_grow(&f);

	if (found) {
		uint64_t cut = forest_cut(&f);

		found = cut != UINT64_MAX;
		*cables = found ? cut : *cables;
	}
	for (uint32_t v = 0; v < g->n; v++)
		free(f.least[v]);
	free(f.order);
	free(f.parent);
	free(f.cables);
	free(f.least);
	free(f.hosts);
	return found;
}
