/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topo/bisection/bound.h"

#define MAX_REFINE 4096 /* vertices; a pass looks at each for each move */

/* ---- moving vertices ---- */

/*
 * Fiduccia and Mattheyses' way: in a pass every vertex moves once, the best
 * first, from the heavier side or wherever the hosts stay near a balance; the
 * best fair split on the way is kept, and passes repeat while they help.
 */
struct refine {
	const struct shape *g;
	int8_t *side;
	int64_t *gain; /* what the cut loses if the vertex moves */
	bool *moved;
	uint32_t *order;
	uint64_t weight[2];
	uint64_t most, slack; /* hosts on a side; and while moving */
};

static uint64_t cut_of(const struct shape *g, const int8_t *side)
{
	uint64_t cut = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++)
			cut += side[v] < side[g->to[e]] ? g->cables[e] : 0;
	}
	return cut;
}

static void move(struct refine *r, uint32_t v)
{
	const struct shape *g = r->g;
	bool from = r->side[v] == 1;

	r->side[v] = (int8_t)!from;
	r->weight[from] -= g->weight[v];
	r->weight[!from] += g->weight[v];
	r->gain[v] = -r->gain[v];
	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
		int64_t twice = 2 * (int64_t)g->cables[e];

		r->gain[g->to[e]] += r->side[g->to[e]] == from ? twice : -twice;
	}
}

static void refine_begin(struct refine *r)
{
	const struct shape *g = r->g;

	r->weight[0] = r->weight[1] = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		r->weight[(int)r->side[v]] += g->weight[v];
		r->moved[v] = false;
		r->gain[v] = 0;
		for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++)
			r->gain[v] += r->side[g->to[e]] == r->side[v] ? -(int64_t)g->cables[e]
								      : (int64_t)g->cables[e];
	}
}

static uint32_t best_move(const struct refine *r)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t v = 0; v < r->g->n; v++) {
		uint64_t after = r->weight[!r->side[v]] + r->g->weight[v];

		if (!r->moved[v] && after <= r->slack &&
		    (best == UINT32_MAX || r->gain[v] > r->gain[best]))
			best = v;
	}
	return best;
}

static bool is_fair(const struct refine *r)
{
	return r->weight[0] <= r->most && r->weight[1] <= r->most;
}

/* One pass; true: found a better split. */
static bool pass(struct refine *r)
{
	int64_t sum = 0, best = 0;
	uint32_t n = 0, kept = 0, v;

	refine_begin(r);
	while ((v = best_move(r)) != UINT32_MAX) {
		sum += r->gain[v];
		move(r, v);
		r->moved[v] = true;
		r->order[n++] = v;
		if (sum > best && is_fair(r)) {
			best = sum;
			kept = n;
		}
	}
	while (n > kept)
		move(r, r->order[--n]);
	return best > 0;
}

uint64_t bisect_refine(const struct shape *g, int8_t *side)
{
	struct refine r = {
		.g = g,
		.side = side,
		.gain = hd_alloc(g->n, sizeof(*r.gain)),
		.moved = hd_alloc(g->n, sizeof(*r.moved)),
		.order = hd_alloc(g->n, sizeof(*r.order)),
		.most = bisect_most(g),
	};
	uint64_t heaviest = 2 * r.most - g->total_weight;

	r.slack = r.most + (heaviest ? heaviest : 1);
	if (g->n <= MAX_REFINE) {
		while (pass(&r))
			;
	}
	free(r.gain);
	free(r.moved);
	free(r.order);
	return cut_of(g, side);
}

/* ---- splits of dragonflies ---- */

struct split {
	const struct topo *t;
	const struct shape *g;
	uint32_t groups, size, spines;
	int8_t *side; /* [vertex] */
};

static uint32_t group_of(const struct split *s, uint32_t v)
{
	return s->t->nodes[s->g->node[v]].coord[0];
}

static uint32_t place_of(const struct split *s, uint32_t v)
{
	return s->t->nodes[s->g->node[v]].coord[1];
}

static bool is_spine(const struct split *s, uint32_t v)
{
	return s->spines && s->t->nodes[s->g->node[v]].tier == 2;
}

/* Cables from what strays of group 0 (leaves below x, spines below y) to j. */
static uint64_t reach(const struct split *s, uint32_t x, uint32_t y, uint32_t j)
{
	uint64_t sum = 0;

	for (uint32_t v = 0; v < s->g->n; v++) {
		if (group_of(s, v) != 0 || place_of(s, v) >= (is_spine(s, v) ? y : x))
			continue;
		for (uint32_t e = s->g->start[v]; e < s->g->start[v + 1]; e++)
			sum += group_of(s, s->g->to[e]) == j ? s->g->cables[e] : 0;
	}
	return sum;
}

/* Puts half of the other groups on side 1, those that strays reach first. */
static void choose_groups(const struct split *s, uint32_t x, uint32_t y, bool *chosen)
{
	uint64_t *near = hd_alloc(s->groups, sizeof(*near));

	for (uint32_t j = 1; j < s->groups; j++) {
		near[j] = reach(s, x, y, j);
		chosen[j] = false;
	}
	chosen[0] = false;
	for (uint32_t i = 0; i < s->groups / 2; i++) {
		uint32_t best = 0;

		for (uint32_t j = 1; j < s->groups; j++) {
			if (!chosen[j] && (!best || near[j] > near[best]))
				best = j;
		}
		chosen[best] = true;
	}
	free(near);
}

/* Group 0 parted after x leaves (or routers) and y spines, others whole. */
static uint64_t part_groups(const struct split *s, uint32_t x, uint32_t y)
{
	bool *chosen = hd_alloc(s->groups, sizeof(*chosen));

	choose_groups(s, x, y, chosen);
	for (uint32_t v = 0; v < s->g->n; v++) {
		uint32_t group = group_of(s, v);
		bool stray = place_of(s, v) < (is_spine(s, v) ? y : x);

		s->side[v] = (int8_t)(group == 0 ? stray : chosen[group]);
	}
	free(chosen);
	return bisect_refine(s->g, s->side);
}

static uint64_t part_dragonfly(const struct topo *t, const struct shape *g)
{
	bool plus = t->family == FAMILY_DRAGONFLY_PLUS;
	uint64_t best = UINT64_MAX;
	struct split s = {
		.t = t,
		.g = g,
		.groups = t->dims[0],
		.size = t->dims[1],
		.spines = plus ? t->dims[2] : 0,
		.side = hd_alloc(g->n, sizeof(*s.side)),
	};
	/* With an even number of groups none has to be parted. */
	uint32_t x = s.groups % 2 ? s.size / 2 : 0;

	for (uint32_t y = 0; y <= s.spines / 2; y++) {
		uint64_t cut = part_groups(&s, x, y);

		best = cut < best ? cut : best;
	}
	free(s.side);
	return best;
}

/* ---- splits by level ---- */

/* Whether all that hangs below `v` is on side 1. */
static bool is_covered(const struct shape *g, const uint32_t *height, const int8_t *side,
		       uint32_t v)
{
	bool any = false;

	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
		if (height[g->to[e]] + 1 != height[v])
			continue;
		if (!side[g->to[e]])
			return false;
		any = true;
	}
	return any;
}

/*
 * Puts the first half of the hosts' switches on side 1, and switches up to height `top` with only
 * these below.
 */
static uint64_t part_levels(const struct shape *g, const uint32_t *height, uint32_t top,
			    int8_t *side)
{
	uint64_t weight = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		bool fits = weight + g->weight[v] <= g->total_weight / 2;

		side[v] = g->weight[v] && fits;
		weight += side[v] ? g->weight[v] : 0;
	}
	for (uint32_t level = 1; level <= top; level++) {
		for (uint32_t v = 0; v < g->n; v++) {
			if (height[v] == level)
				side[v] = is_covered(g, height, side, v);
		}
	}
	return bisect_refine(g, side);
}

static uint64_t part_tree(const struct shape *g)
{
	uint32_t *height = hd_alloc(g->n, sizeof(*height));
	int8_t *side = hd_alloc(g->n, sizeof(*side));
	uint64_t best = UINT64_MAX;
	uint32_t highest = 0;

	shape_heights(g, height);
	for (uint32_t v = 0; v < g->n; v++) {
		if (height[v] != UINT32_MAX && height[v] > highest)
			highest = height[v];
	}
	for (uint32_t top = 0; top <= highest; top++) {
		uint64_t cut = part_levels(g, height, top, side);

		best = cut < best ? cut : best;
	}
	free(height);
	free(side);
	return best;
}

bool bisect_by_family(const struct topo *t, const struct shape *g, uint64_t *cables)
{
	switch (t->family) {
	case FAMILY_DRAGONFLY:
	case FAMILY_DRAGONFLY_PLUS:
		if (t->dims[0] < 2)
			return false;
		*cables = part_dragonfly(t, g);
		return true;
	case FAMILY_XGFT:
		*cables = part_tree(g);
		return true;
	default:
		return false;
	}
}
