/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/bisection/bisection.h"

#include <stdlib.h>
#include <string.h>

#include <metis.h>

#include "base/alloc.h"
#include "topo/bisection/bound.h"

const char *bisection_kind_text(enum bisection_kind kind)
{
	switch (kind) {
	case BISECTION_FORMULA:
		return "exact (closed form)";
	case BISECTION_SEARCH:
		return "exact (search)";
	case BISECTION_MET:
		return "exact (bounds meet)";
	case BISECTION_BOUND:
		return "upper bound (METIS)";
	case BISECTION_NONE:
		break;
	}
	return "none";
}

/* ---- closed forms ---- */

static int descending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x > y ? -1 : x < y;
}

/*
 * Azizoglu and Egecioglu: with sides k1 >= k2 >= .. and e the first of them
 * that is even (or the last), the sum over i <= e of k(i+1) k(i+2) .. kd; for
 * a torus twice that. Sides of 1 do not matter.
 */
static uint64_t of_array(const uint32_t *sides, unsigned n)
{
	uint32_t k[TOPO_MAX_DIMS] = { 0 };
	uint64_t sum = 0;
	unsigned d = 0;

	for (unsigned i = 0; i < n; i++) {
		if (sides[i] > 1)
			k[d++] = sides[i];
	}
	qsort(k, d, sizeof(*k), descending);
	for (unsigned i = 0; i < d; i++) {
		uint64_t product = 1;

		for (unsigned j = i + 1; j < d; j++)
			product *= k[j];
		sum += product;
		if (k[i] % 2 == 0)
			break;
	}
	return sum;
}

/*
 * A side of 2 has no way around. Joined with longer sides, of which k is the
 * longest: send a unit between every two of the N vertices, side after side,
 * both ways around where they are as long. A link then carries N k / 8 along an
 * even side k, N (k - 1/k) / 8 along an odd one and N / 2 along a side of 2, so
 * that no cut of N^2 / 4 pairs has fewer links than 2N / k if k is even, or
 * than N / 2 if k is 3; and straight cuts have no more.
 */
static bool of_mixed_torus(const struct topo *t, uint64_t *cables)
{
	uint64_t n = 1, longest = 2;

	for (unsigned i = 0; i < t->n_dims; i++) {
		n *= t->dims[i];
		longest = t->dims[i] > longest ? t->dims[i] : longest;
	}
	if (longest < 3 || (longest % 2 && longest != 3))
		return false;
	*cables = longest == 3 ? n / 2 : 2 * n / longest;
	return true;
}

static bool of_torus(const struct topo *t, uint64_t *cables)
{
	unsigned twos = 0, longer = 0;

	for (unsigned i = 0; i < t->n_dims; i++) {
		twos += t->dims[i] == 2;
		longer += t->dims[i] > 2;
	}
	if (twos && longer)
		return of_mixed_torus(t, cables);
	*cables = of_array(t->dims, t->n_dims) * (longer ? 2 : 1);
	return true;
}

/*
 * A tree with L(i) cables between levels i - 1 and i cannot be parted by
 * fewer than half of the least L(i): any pairing of leaves across the cut can
 * be routed over the top, each leaf's share spread evenly, with no cable full
 * below that. If that level's switches have an even number of children, half
 * of its cables do it.
 */
static bool of_tree(const struct topo *t, uint64_t *cables)
{
	unsigned h = t->n_dims;
	const uint32_t *m = t->dims, *w = m + h, *p = w + h;
	uint64_t least = UINT64_MAX;
	bool even = false;

	/* Cables of hosts count only if hosts have several switches. */
	for (unsigned i = w[0] > 1 ? 0 : 1; i < h; i++) {
		uint64_t level = p[i];

		for (unsigned j = 0; j < h; j++)
			level *= j <= i ? w[j] : m[j];
		level *= m[i];
		if (level < least) {
			least = level;
			even = false;
		}
		even |= level == least && m[i] % 2 == 0;
	}
	*cables = least / 2;
	return even;
}

bool bisect_by_formula(const struct topo *t, uint64_t *cables)
{
	switch (t->family) {
	case FAMILY_MESH:
	case FAMILY_NODE_MESH:
	case FAMILY_HYPERCUBE:
		*cables = of_array(t->dims, t->n_dims);
		return true;
	case FAMILY_TORUS:
	case FAMILY_RING:
		return of_torus(t, cables);
	case FAMILY_XGFT:
		return of_tree(t, cables);
	default:
		return false;
	}
}

/* ---- search ---- */

/*
 * Branch and bound: vertices go to one of two sides one after the other. A
 * partial split can be completed for no less than its own cut plus, over the
 * vertices left, what each would add by its cables to those placed, on its
 * cheaper side; of these as many must pay for the dearer side as the balance
 * demands, which is counted if all weights are equal.
 */
struct bisection_search {
	const struct shape *g;
	uint32_t *order;   /* vertices, each near those before it */
	uint32_t *cost[2]; /* [side][vertex]: cables cut if put there */
	int8_t *side;      /* [vertex]: -1 while it is not placed */
	uint64_t weight[2];
	uint64_t most; /* weight that a side may have */
	uint64_t best;
	uint64_t budget;
	bool uniform;   /* every vertex has the same weight */
	int64_t *extra; /* scratch */
};

/* Appends the neighbours of `v` that are not in the order yet. */
static uint32_t append_near(struct bisection_search *s, uint32_t v, bool *seen, uint32_t tail)
{
	const struct shape *g = s->g;

	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
		if (!seen[g->to[e]])
			s->order[tail++] = g->to[e];
		seen[g->to[e]] = true;
	}
	return tail;
}

/* Breadth first. */
static void order_vertices(struct bisection_search *s)
{
	bool *seen = hd_alloc(s->g->n, sizeof(*seen));
	uint32_t head = 0, tail = 0;

	for (uint32_t v = 0; v < s->g->n; v++) {
		if (!seen[v])
			s->order[tail++] = v;
		seen[v] = true;
		for (; head < tail; head++)
			tail = append_near(s, s->order[head], seen, tail);
	}
	free(seen);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Lower bound on the cut added by the vertices from position `at`. */
static uint64_t least_to_come(struct bisection_search *s, uint32_t at)
{
	uint32_t left = s->g->n - at;
	uint64_t sum = 0;

	if (!s->uniform) {
		for (uint32_t i = at; i < s->g->n; i++) {
			uint32_t v = s->order[i];

			sum += s->cost[0][v] < s->cost[1][v] ? s->cost[0][v] : s->cost[1][v];
		}
		return sum;
	}
	/* All to side 0, then the cheapest to move go to side 1. */
	uint64_t each = s->g->weight[0] ? s->g->weight[0] : 1;
	uint64_t room = (s->most - s->weight[0]) / each;
	uint64_t needed = left > room ? left - room : 0;
	uint64_t may = (s->most - s->weight[1]) / each;

	for (uint32_t i = 0; i < left; i++) {
		uint32_t v = s->order[at + i];

		sum += s->cost[0][v];
		s->extra[i] = (int64_t)s->cost[1][v] - (int64_t)s->cost[0][v];
	}
	qsort(s->extra, left, sizeof(*s->extra), ascending);
	for (uint32_t i = 0; i < left && i < may; i++) {
		if (i >= needed && s->extra[i] >= 0)
			break;
		sum = (uint64_t)((int64_t)sum + s->extra[i]);
	}
	return sum;
}

static void place(struct bisection_search *s, uint32_t v, int side, int sign)
{
	const struct shape *g = s->g;

	s->side[v] = (int8_t)(sign > 0 ? side : -1);
	s->weight[side] += (uint64_t)(int64_t)sign * g->weight[v];
	/* A neighbour placed later on the other side cuts these. */
	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++)
		s->cost[!side][g->to[e]] += (uint32_t)sign * g->cables[e];
}

/* Tries both sides for the vertex at position `at`, the cheaper one first. */
static void branch(struct bisection_search *s, uint32_t at, uint64_t cut)
{
	if (s->budget == 0)
		return;
	s->budget--;
	if (at == s->g->n) {
		s->best = cut < s->best ? cut : s->best;
		return;
	}
	uint32_t v = s->order[at];
	int first = s->cost[1][v] < s->cost[0][v];

	for (int i = 0; i < 2; i++) {
		int side = i ? !first : first;
		uint64_t now = cut + s->cost[side][v];

		/* Which side the first one takes is of no account. */
		if (at == 0 && i == 1)
			break;
		if (s->weight[side] + s->g->weight[v] > s->most)
			continue;
		place(s, v, side, 1);
		if (now + least_to_come(s, at + 1) < s->best)
			branch(s, at + 1, now);
		place(s, v, side, -1);
	}
}

bool bisect_by_search(const struct shape *g, uint64_t budget, uint64_t *cables)
{
	struct bisection_search s = {
		.g = g,
		.order = hd_alloc(g->n, sizeof(*s.order)),
		.cost = { hd_alloc(g->n, sizeof(*s.cost[0])), hd_alloc(g->n, sizeof(*s.cost[1])) },
		.side = hd_alloc(g->n, sizeof(*s.side)),
		.most = bisect_most(g),
		.best = *cables,
		.budget = budget,
		.uniform = true,
		.extra = hd_alloc(g->n, sizeof(*s.extra)),
	};

	for (uint32_t v = 0; v < g->n; v++)
		s.uniform = s.uniform && g->weight[v] == g->weight[0];
	memset(s.side, -1, g->n);
	order_vertices(&s);
	branch(&s, 0, 0);
	*cables = s.best;
	free(s.order);
	free(s.cost[0]);
	free(s.cost[1]);
	free(s.side);
	free(s.extra);
	return s.budget > 0;
}

/* ---- METIS ---- */

static bool is_fair(const struct shape *g, const idx_t *part)
{
	uint64_t weight[2] = { 0, 0 }, most = bisect_most(g);

	for (uint32_t v = 0; v < g->n; v++)
		weight[part[v]] += g->weight[v];
	return weight[0] <= most && weight[1] <= most;
}

/* Change of the cut when `v` moves to the other side. */
static int64_t price(const struct shape *g, const idx_t *part, uint32_t v)
{
	int64_t sum = 0;

	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++)
		sum += part[g->to[e]] == part[v] ? (int64_t)g->cables[e] : -(int64_t)g->cables[e];
	return sum;
}

/* METIS allows some imbalance; moves what costs least until it is fair. */
static void make_fair(const struct shape *g, idx_t *part)
{
	for (uint32_t moves = 0; moves < g->n && !is_fair(g, part); moves++) {
		uint64_t weight[2] = { 0, 0 };
		int64_t least = INT64_MAX;
		uint32_t chosen = 0;

		for (uint32_t v = 0; v < g->n; v++)
			weight[part[v]] += g->weight[v];
		idx_t heavy = weight[1] > weight[0];

		for (uint32_t v = 0; v < g->n; v++) {
			if (part[v] != heavy || !g->weight[v] || price(g, part, v) >= least)
				continue;
			least = price(g, part, v);
			chosen = v;
		}
		part[chosen] = !heavy;
	}
}

/* The cut of a fair split, after moving what makes it better. */
static uint64_t refined(const struct shape *g, const idx_t *part)
{
	int8_t *side = hd_alloc(g->n, sizeof(*side));

	for (uint32_t v = 0; v < g->n; v++)
		side[v] = (int8_t)part[v];
	uint64_t cut = bisect_refine(g, side);

	free(side);
	return cut;
}

bool bisect_by_metis(const struct shape *g, uint64_t *cables)
{
	uint32_t m = g->start[g->n];
	idx_t n = (idx_t)g->n, one = 1, two = 2, cut;
	idx_t *start = hd_alloc((size_t)g->n + 1, sizeof(*start));
	idx_t *to = hd_alloc(m, sizeof(*to));
	idx_t *width = hd_alloc(m, sizeof(*width));
	idx_t *weight = hd_alloc(g->n, sizeof(*weight));
	idx_t *part = hd_alloc(g->n, sizeof(*part));
	idx_t options[METIS_NOPTIONS];
	bool found = false;

	for (uint32_t v = 0; v <= g->n; v++)
		start[v] = (idx_t)g->start[v];
	for (uint32_t e = 0; e < m; e++) {
		to[e] = (idx_t)g->to[e];
		width[e] = (idx_t)g->cables[e];
	}
	for (uint32_t v = 0; v < g->n; v++)
		weight[v] = (idx_t)g->weight[v];
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_UFACTOR] = 1;
	options[METIS_OPTION_NCUTS] = 8;
	options[METIS_OPTION_SEED] = 1;
	if (METIS_PartGraphRecursive(&n, &one, start, to, weight, NULL, width, &two, NULL, NULL,
				     options, &cut, part) == METIS_OK) {
		make_fair(g, part);
		found = is_fair(g, part);
		*cables = refined(g, part);
	}
	free(start);
	free(to);
	free(width);
	free(weight);
	free(part);
	return found;
}

/* ---- all together ---- */

/* About a second; more vertices than that are hopeless. */
#define USUAL_BUDGET 1000000
#define MAX_SEARCH   64

/* The best split found so far; false if no split was found. */
static bool found_above(const struct topo *t, const struct shape *g, uint64_t *cables)
{
	uint64_t other;
	bool found = bisect_by_metis(g, cables);

	if (bisect_by_family(t, g, &other) && (!found || other < *cables)) {
		*cables = other;
		found = true;
	}
	return found;
}

void topo_bisect(const struct topo *t, const struct shape *g, uint64_t budget,
		 struct bisection *out)
{
	uint32_t places = 0;
	uint64_t cables = g->n_cables;

	for (uint32_t v = 0; v < g->n; v++)
		places += g->weight[v] > 0;
	*out = (struct bisection){ .kind = BISECTION_NONE };
	if (places < 2)
		return;
	if (bisect_by_formula(t, &out->cables)) {
		out->kind = BISECTION_FORMULA;
		out->least = out->cables;
		return;
	}
	if (bisect_by_forest(g, &cables)) {
		*out = (struct bisection){ BISECTION_SEARCH, cables, cables };
		return;
	}
	bool bounded = found_above(t, g, &cables);

	out->least = bisect_at_least(t, g, cables);
	if (bounded && out->least == cables)
		out->kind = BISECTION_MET;
	else if (g->n <= MAX_SEARCH && bisect_by_search(g, budget ? budget : USUAL_BUDGET, &cables))
		out->kind = BISECTION_SEARCH;
	else if (bounded)
		out->kind = BISECTION_BOUND;
	if (out->kind != BISECTION_BOUND)
		out->least = cables;
	out->cables = cables;
}
