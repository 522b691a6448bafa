/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/layout.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

#define TWO_PI 6.283185307179586

/* A vertex's share of a circle that has room for n at distance 1. */
static struct point on_circle(uint32_t i, uint32_t n, double spacing)
{
	double radius = n > 1 ? spacing / (2 * sin(TWO_PI / 2 / n)) : 0;
	double angle = TWO_PI / 4 - TWO_PI * i / n;

	struct point at = { .x = radius * cos(angle) };

	at.y = radius * sin(angle);
	return at;
}

/* ---- grids ---- */

/* The first two dimensions span a plane; more are planes side by side. */
static void place_grid(struct layout *l, const struct topo *t, const struct shape *s)
{
	double step[TOPO_MAX_DIMS], extent[2] = { 1, 1 };

	for (unsigned i = 0; i < t->n_dims; i++) {
		step[i] = extent[i % 2];
		extent[i % 2] *= t->dims[i] + (i >= 2 ? 0 : 1);
	}
	for (uint32_t v = 0; v < s->n; v++) {
		const struct topo_node *node = &t->nodes[s->node[v]];

		for (unsigned i = 0; i < t->n_dims; i++) {
			if (i % 2)
				l->at[v].y += step[i] * node->coord[i];
			else
				l->at[v].x += step[i] * node->coord[i];
		}
	}
	l->is_grid = true;
	l->has_wraps = t->family == FAMILY_TORUS;
}

/* ---- layers ---- */

struct layer_slot {
	double key;
	uint32_t vertex;
};

static int by_key(const void *a, const void *b)
{
	const struct layer_slot *p = a, *q = b;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

/* Mean position of the neighbours in the layer `below`, or the vertex's own. */
static double barycentre(const struct layout *l, const struct shape *s, const uint32_t *height,
			 uint32_t v, uint32_t below)
{
	double sum = 0, n = 0;

	for (uint32_t e = s->start[v]; e < s->start[v + 1]; e++) {
		if (height[s->to[e]] != below)
			continue;
		sum += l->at[s->to[e]].x;
		n += 1;
	}
	return n > 0 ? sum / n : l->at[v].x;
}

/* Spreads the vertices of one layer over `width`, ordered by their keys. */
static void spread(struct layout *l, struct layer_slot *slots, uint32_t n, double width)
{
	qsort(slots, n, sizeof(*slots), by_key);
	for (uint32_t i = 0; i < n; i++)
		l->at[slots[i].vertex].x = (i + 0.5) * width / n;
}

static void place_layers(struct layout *l, const struct shape *s, const uint32_t *height)
{
	struct layer_slot *slots = hd_alloc(s->n, sizeof(*slots));
	uint32_t top = 0, widest = 1;

	l->is_layered = true;
	for (uint32_t v = 0; v < s->n; v++)
		top = height[v] != UINT32_MAX && height[v] > top ? height[v] : top;
	for (uint32_t tier = 0; tier <= top; tier++) {
		uint32_t n = 0;

		for (uint32_t v = 0; v < s->n; v++)
			n += height[v] == tier;
		widest = n > widest ? n : widest;
	}
	/* Leaves in order, other switches above their neighbours. */
	for (uint32_t tier = 0; tier <= top; tier++) {
		uint32_t n = 0;

		for (uint32_t v = 0; v < s->n; v++) {
			/* Vertices that no host reaches are at the bottom. */
			if (height[v] != tier && !(tier == 0 && height[v] == UINT32_MAX))
				continue;
			l->at[v].y = tier * (1.5 + widest / 12.0);
			slots[n].key = tier ? barycentre(l, s, height, v, tier - 1) : v;
			slots[n++].vertex = v;
		}
		spread(l, slots, n, widest);
	}
	free(slots);
}

/* ---- circles ---- */

static void place_groups(struct layout *l, const struct topo *t, const struct shape *s)
{
	uint32_t groups = t->dims[0], size = t->dims[1];

	if (t->family == FAMILY_DRAGONFLY_PLUS)
		size += t->dims[2];
	/* Circles of groups must not touch. */
	double inner = hypot(on_circle(0, size, 1).x, on_circle(0, size, 1).y);

	for (uint32_t v = 0; v < s->n; v++) {
		const struct topo_node *node = &t->nodes[s->node[v]];
		uint32_t i = node->coord[1];

		if (t->family == FAMILY_DRAGONFLY_PLUS && node->tier == 2)
			i += t->dims[1];
		struct point group = on_circle(node->coord[0], groups, 2 * inner + 2);
		struct point own = on_circle(i, size, 1);

		l->at[v] = (struct point){ group.x + own.x, group.y + own.y };
	}
}

static void place_circle(struct layout *l, const struct shape *s)
{
	for (uint32_t v = 0; v < s->n; v++)
		l->at[v] = on_circle(v, s->n, 1.2);
}

/* ---- springs ---- */

/*
 * Fruchterman and Reingold: all vertices repel each other by 1/d, neighbours attract by d^2, with
 * decreasing steps. The start is a circle, so the result is deterministic.
 */
static void push_and_pull(const struct layout *l, const struct shape *s, struct point *force)
{
	for (uint32_t v = 0; v < s->n; v++) {
		force[v] = (struct point){ 0, 0 };
		for (uint32_t u = 0; u < s->n; u++) {
			double dx = l->at[v].x - l->at[u].x;
			double dy = l->at[v].y - l->at[u].y;
			double square = dx * dx + dy * dy;

			if (u == v || square == 0)
				continue;
			force[v].x += dx / square;
			force[v].y += dy / square;
		}
		for (uint32_t e = s->start[v]; e < s->start[v + 1]; e++) {
			double dx = l->at[s->to[e]].x - l->at[v].x;
			double dy = l->at[s->to[e]].y - l->at[v].y;
			double length = hypot(dx, dy);

			force[v].x += dx * length;
			force[v].y += dy * length;
		}
	}
}

static void place_by_springs(struct layout *l, const struct shape *s)
{
	enum { STEPS = 300 };
	struct point *force = hd_alloc(s->n, sizeof(*force));

	place_circle(l, s);
	for (unsigned step = 0; step < STEPS; step++) {
		double most = 0.5 * (STEPS - step) / STEPS;

		push_and_pull(l, s, force);
		for (uint32_t v = 0; v < s->n; v++) {
			double length = hypot(force[v].x, force[v].y);
			double move = length < most ? length : most;

			if (length == 0)
				continue;
			l->at[v].x += force[v].x / length * move;
			l->at[v].y += force[v].y / length * move;
		}
	}
	/* Springs settle at about 1 apart, which is tight for labels. */
	for (uint32_t v = 0; v < s->n; v++) {
		l->at[v].x *= 1.8;
		l->at[v].y *= 1.8;
	}
	free(force);
}

/* ---- which ---- */

#define MAX_SPRINGS 400

static void place(struct layout *l, const struct topo *t, const struct shape *s)
{
	uint32_t *height = hd_alloc(s->n, sizeof(*height));
	bool layers = false;

	shape_heights(s, height);
	for (uint32_t v = 0; v < s->n; v++)
		layers |= height[v] != UINT32_MAX && height[v] > 0;
	switch (t->family) {
	case FAMILY_MESH:
	case FAMILY_NODE_MESH:
	case FAMILY_TORUS:
		place_grid(l, t, s);
		break;
	case FAMILY_DRAGONFLY:
	case FAMILY_DRAGONFLY_PLUS:
		place_groups(l, t, s);
		break;
	case FAMILY_RING:
		place_circle(l, s);
		break;
	default:
		if (layers)
			place_layers(l, s, height);
		else if (s->n <= MAX_SPRINGS)
			place_by_springs(l, s);
		else
			place_circle(l, s);
	}
	free(height);
}

void layout_init(struct layout *l, const struct topo *t, const struct shape *s)
{
	*l = (struct layout){ .at = hd_alloc(s->n, sizeof(*l->at)) };
	place(l, t, s);
	for (uint32_t v = 0; v < s->n; v++) {
		struct point p = l->at[v];

		if (v == 0)
			l->low = l->high = p;
		l->low.x = fmin(l->low.x, p.x);
		l->low.y = fmin(l->low.y, p.y);
		l->high.x = fmax(l->high.x, p.x);
		l->high.y = fmax(l->high.y, p.y);
	}
}

void layout_fini(struct layout *l)
{
	free(l->at);
	*l = (struct layout){ .at = NULL };
}
