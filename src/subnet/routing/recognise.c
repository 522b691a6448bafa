/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/recognise.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/union_find.h"

/* The graph with parallel cables merged: one number per pair of neighbours. */
struct simple_graph {
	const struct sw_graph *g;
	uint32_t *first;   /* neighbours of sw: first[sw] .. first[sw + 1] */
	switch_id *to;     /* by the number of the lowest port */
	uint32_t *joined;  /* base/union_find.h: entries of one dimension */
	uint32_t *reverse; /* the same pair seen from the other switch */
};

static uint32_t find_entry(const struct simple_graph *p, switch_id a, switch_id b)
{
	for (uint32_t i = p->first[a]; i < p->first[a + 1]; i++) {
		if (p->to[i] == b)
			return i;
	}
	return TOPO_NONE;
}

static void plain_init(struct simple_graph *p, const struct sw_graph *g)
{
	uint32_t n = 0;

	*p = (struct simple_graph){
		.g = g,
		.first = hd_alloc(g->n + 1u, sizeof(*p->first)),
		.to = hd_alloc(g->n_edges, sizeof(*p->to)),
		.joined = union_find_new(g->n_edges),
		.reverse = hd_alloc(g->n_edges, sizeof(*p->reverse)),
	};
	for (switch_id sw = 0; sw < g->n; sw++) {
		p->first[sw] = n;
		p->first[sw + 1] = n;
		for (edge_id e = g->first[sw]; e < g->first[sw + 1]; e++) {
			p->first[sw + 1] = n;
			if (find_entry(p, sw, g->edges[e].to) == TOPO_NONE)
				p->to[n++] = g->edges[e].to;
		}
		p->first[sw + 1] = n;
	}
	for (switch_id sw = 0; sw < g->n; sw++) {
		for (uint32_t i = p->first[sw]; i < p->first[sw + 1]; i++)
			p->reverse[i] = find_entry(p, p->to[i], sw);
	}
}

static void plain_fini(struct simple_graph *p)
{
	free(p->first);
	free(p->to);
	free(p->joined);
	free(p->reverse);
}

/* The one switch other than `at` next to both a and b, or TOPO_NONE. */
static switch_id fourth_corner(const struct simple_graph *p, switch_id at, switch_id a, switch_id b)
{
	switch_id found = TOPO_NONE;

	if (find_entry(p, a, b) != TOPO_NONE)
		return TOPO_NONE;
	for (uint32_t i = p->first[a]; i < p->first[a + 1]; i++) {
		switch_id x = p->to[i];

		if (x == at || find_entry(p, x, b) == TOPO_NONE)
			continue;
		if (found != TOPO_NONE || find_entry(p, x, at) != TOPO_NONE)
			return TOPO_NONE;
		found = x;
	}
	return found;
}

/* Applies both rules to two cables of one switch. */
static void relate(struct simple_graph *p, switch_id at, uint32_t i, uint32_t k)
{
	switch_id a = p->to[i], b = p->to[k];
	switch_id x = fourth_corner(p, at, a, b);

	if (x == TOPO_NONE) {
		union_find_join(p->joined, i, k);
		return;
	}
	union_find_join(p->joined, i, find_entry(p, b, x));
	union_find_join(p->joined, k, find_entry(p, a, x));
}

static void relate_all(struct simple_graph *p)
{
	for (switch_id sw = 0; sw < p->g->n; sw++) {
		uint32_t end = p->first[sw + 1];

		for (uint32_t i = p->first[sw]; i < end; i++) {
			union_find_join(p->joined, i, p->reverse[i]);
			for (uint32_t k = i + 1; k < end; k++)
				relate(p, sw, i, k);
		}
	}
}

/* The slices that are left without the cables of one class. */
struct slices {
	uint32_t class;
	uint32_t n;
	uint32_t *of; /* number of a switch's slice */
	switch_id *queue;
};

static void flood_slice(struct simple_graph *p, struct slices *s, switch_id start)
{
	uint32_t head = 0, tail = 0;

	s->of[start] = s->n;
	s->queue[tail++] = start;
	while (head < tail) {
		switch_id sw = s->queue[head++];

		for (uint32_t i = p->first[sw]; i < p->first[sw + 1]; i++) {
			if (union_find_root(p->joined, i) == s->class ||
			    s->of[p->to[i]] != TOPO_NONE)
				continue;
			s->of[p->to[i]] = s->n;
			s->queue[tail++] = p->to[i];
		}
	}
}

static void slices_init(struct slices *s, struct simple_graph *p, uint32_t class)
{
	*s = (struct slices){
		.class = class,
		.of = hd_alloc(p->g->n, sizeof(*s->of)),
		.queue = hd_alloc(p->g->n, sizeof(*s->queue)),
	};
	memset(s->of, 0xFF, p->g->n * sizeof(*s->of));
	for (switch_id sw = 0; sw < p->g->n; sw++) {
		if (s->of[sw] != TOPO_NONE)
			continue;
		flood_slice(p, s, sw);
		s->n++;
	}
}

static void slices_fini(struct slices *s)
{
	free(s->of);
	free(s->queue);
}

/* Slices as a line: each has at most two neighbours. */
struct switch_chain {
	uint32_t n;
	uint32_t (*next)[2]; /* TOPO_NONE at the ends */
};

static bool add_neighbour(struct switch_chain *l, uint32_t a, uint32_t b)
{
	for (unsigned i = 0; i < 2; i++) {
		if (l->next[a][i] == b)
			return true;
		if (l->next[a][i] == TOPO_NONE) {
			l->next[a][i] = b;
			return true;
		}
	}
	return false;
}

static bool line_init(struct switch_chain *l, struct simple_graph *p, const struct slices *s)
{
	l->n = s->n;
	l->next = hd_alloc(s->n, sizeof(*l->next));
	memset(l->next, 0xFF, s->n * sizeof(*l->next));
	for (switch_id sw = 0; sw < p->g->n; sw++) {
		for (uint32_t i = p->first[sw]; i < p->first[sw + 1]; i++) {
			uint32_t here = s->of[sw], there = s->of[p->to[i]];

			if (union_find_root(p->joined, i) == s->class &&
			    (here == there || !add_neighbour(l, here, there)))
				return false;
		}
	}
	return true;
}

/* Gives each slice its place on the line; false if it is not one line. */
static bool walk_line(const struct switch_chain *l, uint32_t *place, bool *wraps)
{
	uint32_t at = 0, from = TOPO_NONE, n = 0;

	/* Starts at an end of the line, or at the first slice of a ring. */
	for (uint32_t i = l->n; i-- > 0;) {
		if (l->next[i][1] == TOPO_NONE)
			at = i;
	}
	*wraps = l->next[at][1] != TOPO_NONE;
	memset(place, 0xFF, l->n * sizeof(*place));
	/* A ring continues to the neighbour with the lower number. */
	if (*wraps && l->next[at][0] < l->next[at][1])
		from = l->next[at][1];
	else if (*wraps)
		from = l->next[at][0];
	while (at != TOPO_NONE && place[at] == TOPO_NONE) {
		uint32_t to = l->next[at][0] == from ? l->next[at][1] : l->next[at][0];

		place[at] = n++;
		from = at;
		at = to;
	}
	return n == l->n && n <= UINT16_MAX;
}

/* Sets the coordinate of every switch in the next dimension. */
static bool add_dimension(struct grid *grid, struct simple_graph *p, uint32_t class)
{
	uint32_t *place = hd_alloc(p->g->n, sizeof(*place));
	unsigned k = grid->n_dims;
	struct slices s;
	struct switch_chain l = { .n = 0 };

	slices_init(&s, p, class);
	bool fits = k < TOPO_MAX_DIMS && s.n > 1 && line_init(&l, p, &s) &&
		    walk_line(&l, place, &grid->wraps[k]);

	if (fits) {
		grid->size[k] = s.n;
		grid->n_dims++;
		for (switch_id sw = 0; sw < p->g->n; sw++)
			grid->coord[(size_t)sw * TOPO_MAX_DIMS + k] = (uint16_t)place[s.of[sw]];
	}
	slices_fini(&s);
	free(l.next);
	free(place);
	return fits;
}

bool grid_recognise(struct grid *grid, const struct sw_graph *g)
{
	struct simple_graph p;
	uint64_t positions = 1;
	bool fits = graph_is_connected(g) && g->n > 1;

	if (!fits)
		return false;
	plain_init(&p, g);
	relate_all(&p);
	/*
	 * Each dimension has a cable at each switch, so the port order of the first switch is the
	 * order of dimensions.
	 */
	for (uint32_t i = 0; fits && i < p.first[1]; i++) {
		bool seen = false;

		for (uint32_t k = 0; k < i; k++)
			seen |= union_find_root(p.joined, k) == union_find_root(p.joined, i);
		if (seen)
			continue;
		fits = add_dimension(grid, &p, union_find_root(p.joined, i));
		if (fits)
			positions *= grid->size[grid->n_dims - 1];
		fits = fits && positions <= g->n;
	}
	plain_fini(&p);
	return fits && positions == g->n;
}
