/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/bisection/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compare.h"

/* Beyond these sizes a bound takes too long to be of use. */
#define MAX_FLOW_STEPS  UINT64_C(1000000000)
#define MAX_SPECTRUM    1024
#define MAX_LAYER_STEPS 3e8

/* Rounds up so that rounding errors cannot invalidate a bound. */
static uint64_t rounded_up(double bound)
{
	double safe = ceil(bound * (1 - 1e-9) - 1e-6);

	return safe > 0 ? (uint64_t)safe : 0;
}

uint64_t bisect_most(const struct shape *g)
{
	uint32_t heaviest = 0;

	for (uint32_t v = 0; v < g->n; v++)
		heaviest = g->weight[v] > heaviest ? g->weight[v] : heaviest;
	return (g->total_weight + heaviest) / 2;
}

/* The least product of the hosts on both sides. */
static double least_product(const struct shape *g)
{
	double most = (double)bisect_most(g);

	return most * ((double)g->total_weight - most);
}

/* ---- flow ---- */

struct flow {
	const struct shape *g;
	uint32_t *distance, *order;
	double *ways;  /* shortest paths from the source */
	double *carry; /* flow through a vertex to those behind it */
	double *load;  /* [edge], one direction of each */
};

/* Visits the neighbours of v, the next vertex in order; returns the new tail. */
static uint32_t flow_step(struct flow *f, uint32_t v, uint32_t tail)
{
	const struct shape *g = f->g;

	for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
		uint32_t to = g->to[e];

		if (f->distance[to] == UINT32_MAX) {
			f->distance[to] = f->distance[v] + 1;
			f->order[tail++] = to;
		}
		if (f->distance[to] == f->distance[v] + 1)
			f->ways[to] += f->ways[v] * g->cables[e];
	}
	return tail;
}

/* Distances and numbers of shortest paths from s; returns how many it sees. */
static uint32_t flow_sweep(struct flow *f, uint32_t s)
{
	const struct shape *g = f->g;
	uint32_t head = 0, tail = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		f->distance[v] = UINT32_MAX;
		f->ways[v] = 0;
		f->carry[v] = g->weight[v];
	}
	f->distance[s] = 0;
	f->ways[s] = 1;
	f->order[tail++] = s;
	for (; head < tail; head++)
		tail = flow_step(f, f->order[head], tail);
	return tail;
}

/* A unit from each host of s to every host, spread over shortest paths. */
static void flow_send(struct flow *f, uint32_t s)
{
	const struct shape *g = f->g;

	for (uint32_t i = flow_sweep(f, s); i-- > 1;) {
		uint32_t v = f->order[i];

		for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
			uint32_t to = g->to[e];

			if (f->distance[to] + 1 != f->distance[v])
				continue;
			double part = f->carry[v] * f->ways[to] / f->ways[v];

			f->load[e] += part * g->weight[s];
			f->carry[to] += part * g->cables[e];
		}
	}
}

uint64_t bisect_by_flow(const struct shape *g)
{
	uint32_t m = g->start[g->n];
	double worst = 0;

	if ((uint64_t)g->n * m > MAX_FLOW_STEPS)
		return 0;
	struct flow f = {
		.g = g,
		.distance = hd_alloc(g->n, sizeof(*f.distance)),
		.order = hd_alloc(g->n, sizeof(*f.order)),
		.ways = hd_alloc(g->n, sizeof(*f.ways)),
		.carry = hd_alloc(g->n, sizeof(*f.carry)),
		.load = hd_alloc(m, sizeof(*f.load)),
	};

	for (uint32_t s = 0; s < g->n; s++) {
		if (g->weight[s])
			flow_send(&f, s);
	}
	/* load[e] is per cable, both ways together on either entry by half:
	 * what goes from s to v and back from v to s uses the same links. */
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
			uint32_t to = g->to[e], back = g->start[to];

			while (g->to[back] != v)
				back++;
			double both = (f.load[e] + f.load[back]) / 2;

			worst = both > worst ? both : worst;
		}
	}
	free(f.distance);
	free(f.order);
	free(f.ways);
	free(f.carry);
	free(f.load);
	return worst > 0 ? rounded_up(least_product(g) / worst) : 0;
}

/* ---- spectrum ---- */

/* Dense Cholesky in place, lower half; false if not positive definite. */
static bool factor(double *a, uint32_t n)
{
	for (uint32_t j = 0; j < n; j++) {
		double *row = &a[(size_t)j * n];

		for (uint32_t k = 0; k <= j; k++) {
			const double *other = &a[(size_t)k * n];
			double sum = row[k];

			for (uint32_t i = 0; i < k; i++)
				sum -= row[i] * other[i];
			if (k < j)
				row[k] = sum / other[k];
			else if (sum <= 1e-12)
				return false;
			else
				row[k] = sqrt(sum);
		}
	}
	return true;
}

static void solve(const double *a, uint32_t n, double *x)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < i; k++)
			x[i] -= a[(size_t)i * n + k] * x[k];
		x[i] /= a[(size_t)i * n + i];
	}
	for (uint32_t i = n; i-- > 0;) {
		for (uint32_t k = i + 1; k < n; k++)
			x[i] -= a[(size_t)k * n + i] * x[k];
		x[i] /= a[(size_t)i * n + i];
	}
}

/* L - mu diag(w) + c w w', of the vertices from `from` on. */
static void fill(const struct shape *g, double *a, uint32_t from, double mu, double c)
{
	uint32_t n = g->n - from;

	for (uint32_t v = from; v < g->n; v++) {
		double *row = &a[(size_t)(v - from) * n], degree = 0;

		for (uint32_t u = from; u < g->n; u++)
			row[u - from] = c * g->weight[v] * g->weight[u];
		for (uint32_t e = g->start[v]; e < g->start[v + 1]; e++) {
			degree += g->cables[e];
			if (g->to[e] >= from)
				row[g->to[e] - from] -= g->cables[e];
		}
		row[v - from] += degree - mu * g->weight[v];
	}
}

/* About the least eigenvalue other than 0 of (L, diag(w)). */
static double estimate(const struct shape *g, double *a, double *x)
{
	double total = (double)g->total_weight, mu = 0;

	fill(g, a, 0, 0, 1 / total);
	if (!factor(a, g->n))
		return 0;
	for (uint32_t v = 0; v < g->n; v++)
		x[v] = sin(1.0 + 2.399963 * v); /* anything but constant */
	for (unsigned step = 0; step < 200; step++) {
		double mean = 0, norm = 0, length = 0;

		for (uint32_t v = 0; v < g->n; v++)
			mean += x[v] * g->weight[v] / total;
		for (uint32_t v = 0; v < g->n; v++) {
			x[v] -= mean;
			norm += x[v] * x[v] * g->weight[v];
		}
		if (norm <= 0)
			return 0;
		for (uint32_t v = 0; v < g->n; v++)
			x[v] *= g->weight[v] / sqrt(norm);
		solve(a, g->n, x);
		for (uint32_t v = 0; v < g->n; v++)
			length += x[v] * x[v] * g->weight[v];
		double next = 1 / sqrt(length);

		if (fabs(next - mu) < 1e-10 * next)
			return next;
		mu = next;
	}
	return mu;
}

uint64_t bisect_by_spectrum(const struct shape *g)
{
	double total = (double)g->total_weight, mu = 0;

	if (g->n > MAX_SPECTRUM || g->n < 3)
		return 0;
	double *a = hd_alloc((size_t)g->n * g->n, sizeof(*a));
	double *x = hd_alloc(g->n, sizeof(*x));

	mu = estimate(g, a, x);
	/* The estimate may be of another eigenvalue; the factor is proof. The
	 * matrix has the constant vector for a zero: one vertex is left out. */
	for (unsigned tries = 0; mu > 0; tries++) {
		double safe = mu * (1 - 1e-7);

		fill(g, a, 1, safe, safe / total);
		if (factor(a, g->n - 1)) {
			mu = safe;
			break;
		}
		mu = tries < 8 ? mu * 0.9 : 0;
	}
	free(a);
	free(x);
	return mu > 0 ? rounded_up(mu * least_product(g) / total) : 0;
}

/* ---- groups ---- */

/*
 * A dragonfly has g groups, every two joined by r cables. Call the side with
 * most of a group's switches (of its spines, in a dragonfly+) the group's side,
 * the others its strays; p groups are on one side, q on the other. If all
 * strays came home the cut would be r p q. A group with m strays cuts m (a - m)
 * cables inside; and only the strays' own global cables to groups of the other
 * side, of which there are at most h m and at most r q, are spared. Hence
 *
 *	cut >= r p q + sum over groups of m (a - m) - min(h m, r q),
 *
 * (with r p for groups on the other side), and the strays must make up for what
 * p groups are more than half of all switches. In a dragonfly+, x leaves and y
 * spines of a group astray cut x (s - y) + (l - x) y inside, the balance is of
 * leaves, and the spared cables are those of the y spines. Since all groups of
 * a side are alike, the least sum under a given total is no less than that of
 * the convex hull of the group's cost at the mean; where that is not enough,
 * the sum is found exactly.
 */
struct dragonfly_bound {
	uint32_t g, size, spines, h; /* spines 0: a plain dragonfly */
	double r;
};

/* The least cost of a group with x of its hosts' switches astray. */
static double group_cost(const struct dragonfly_bound *s, uint32_t x, double others)
{
	double least = INFINITY;

	if (!s->spines) {
		double spared = fmin((double)s->h * x, s->r * others);

		return (double)x * (s->size - x) - spared;
	}
	/* Half of the spines each: the side is that of most leaves. */
	for (uint32_t y = 0; 2 * y <= s->spines; y++) {
		if (2 * y == s->spines && 2 * x > s->size)
			break;
		double inside = (double)x * (s->spines - y) + (double)(s->size - x) * y;

		least = fmin(least, inside - fmin((double)s->h * y, s->r * others));
	}
	return least;
}

/* The lower convex hull of points (x, y[x]), in place. */
static void make_convex(double *y, uint32_t n)
{
	uint32_t at = 0;

	while (at + 1 < n) {
		uint32_t next = at + 1;

		for (uint32_t i = at + 2; i < n; i++) {
			if ((y[i] - y[at]) * (next - at) < (y[next] - y[at]) * (i - at))
				next = i;
		}
		for (uint32_t i = at + 1; i < next; i++)
			y[i] = y[at] + (y[next] - y[at]) * (i - at) / (next - at);
		at = next;
	}
}

/* Total cost of k groups with `sum` strays, evaluated on the hull at their mean. */
static double all_groups(const double *hull, uint32_t n, uint32_t k, double sum)
{
	if (k == 0)
		return sum > 0 ? INFINITY : 0;
	double mean = sum / k;
	uint32_t low = (uint32_t)floor(mean);

	if (mean > n - 1)
		return INFINITY;
	if (low + 1 >= n)
		return k * hull[n - 1];
	return k * (hull[low] + (hull[low + 1] - hull[low]) * (mean - low));
}

/* A split into p and q groups, and its hulls or costs, `n` entries each. */
struct parting {
	const struct dragonfly_bound *s;
	uint32_t p, q, n;
	double surplus; /* hosts' switches that p groups are too many */
	double *cost[2], *hull[2];
};

static void parting_fill(struct parting *t, uint32_t p, double target)
{
	const struct dragonfly_bound *s = t->s;

	t->p = p;
	t->q = s->g - p;
	t->n = (s->spines ? s->size : s->size / 2) + 1;
	t->surplus = (double)s->size * p - target;
	for (uint32_t x = 0; x < t->n; x++) {
		t->cost[0][x] = t->hull[0][x] = group_cost(s, x, t->q);
		t->cost[1][x] = t->hull[1][x] = group_cost(s, x, t->p);
	}
	make_convex(t->hull[0], t->n);
	make_convex(t->hull[1], t->n);
}

/* By the hulls, with x strays on the second side. */
static double hulls_at(const struct parting *t, double x)
{
	return all_groups(t->hull[0], t->n, t->p, t->surplus + x) +
	       all_groups(t->hull[1], t->n, t->q, x);
}

static double parting_hull(const struct parting *t)
{
	double best = INFINITY, high = (double)(t->n - 1) * t->q;
	double low = t->surplus < 0 ? -t->surplus : 0;

	/* Convex in what strays on the other side: a ternary search. */
	while (high - low > 2) {
		double a = floor(low + (high - low) / 3);
		double b = ceil(high - (high - low) / 3);

		if (hulls_at(t, a) <= hulls_at(t, b))
			high = b;
		else
			low = a;
	}
	for (unsigned i = 0; low + i <= high; i++)
		best = fmin(best, hulls_at(t, low + i));
	return t->s->r * t->p * t->q + best;
}

/* out[m] = min over i of a[i] + b[m - i], up to `most`. */
static void fold(const double *a, const double *b, uint32_t most, double *out)
{
	for (uint32_t m = 0; m <= most; m++) {
		out[m] = INFINITY;
		for (uint32_t i = 0; i <= m; i++)
			out[m] = fmin(out[m], a[i] + b[m - i]);
	}
}

/* The least cost of k groups alike for each number of strays in all. */
static double *fold_all(const struct parting *t, int which, uint32_t k, uint32_t most)
{
	size_t size = (size_t)most + 1;
	double *power = hd_alloc(size, sizeof(*power));
	double *sum = hd_alloc(size, sizeof(*sum));
	double *next = hd_alloc(size, sizeof(*next));

	for (uint32_t m = 0; m <= most; m++) {
		power[m] = m < t->n ? t->cost[which][m] : INFINITY;
		sum[m] = m ? INFINITY : 0;
	}
	for (; k; k /= 2) {
		if (k % 2) {
			fold(sum, power, most, next);
			memcpy(sum, next, size * sizeof(*sum));
		}
		fold(power, power, most, next);
		memcpy(power, next, size * sizeof(*power));
	}
	free(power);
	free(next);
	return sum;
}

/*
 * With whole strays. Only a few on the second side are tried; costs are not
 * negative, so that more cost no less than the hulls say for one more.
 */
static double parting_exact(const struct parting *t)
{
	uint32_t few = 2 * t->s->size;
	uint32_t low = t->surplus < 0 ? (uint32_t)-t->surplus : 0;
	uint32_t first = (uint32_t)(t->surplus + low);
	double best = hulls_at(t, (double)low + few + 1);

	if (t->hull[0][0] < 0 || t->hull[1][0] < 0 || first > 16 * few || low > 16 * few)
		return parting_hull(t);
	double *a = fold_all(t, 0, t->p, first + few);
	double *b = fold_all(t, 1, t->q, low + few);

	for (uint32_t i = 0; i <= few; i++)
		best = fmin(best, a[first + i] + b[low + i]);
	free(a);
	free(b);
	return t->s->r * t->p * t->q + best;
}

/* Whether all switches with hosts have the same number of hosts. */
static bool is_even(const struct shape *g)
{
	uint32_t weight = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		if (g->weight[v] && weight && g->weight[v] != weight)
			return false;
		weight = g->weight[v] ? g->weight[v] : weight;
	}
	return true;
}

static bool groups_of(const struct topo *t, struct dragonfly_bound *out)
{
	bool plus = t->family == FAMILY_DRAGONFLY_PLUS;

	if (t->family != FAMILY_DRAGONFLY && !plus)
		return false;
	*out = (struct dragonfly_bound){
		.g = t->dims[0],
		.size = t->dims[1],
		.spines = plus ? t->dims[2] : 0,
		.h = plus ? t->dims[3] : t->dims[2],
	};
	if (out->g < 2)
		return false;
	uint32_t globals = (plus ? out->spines : out->size) * out->h;

	out->r = floor((double)globals / (out->g - 1));
	return true;
}

/* Minimum over all partings; candidates are evaluated exactly. */
static double least_parting(struct parting *t, uint64_t switches)
{
	uint32_t n = 2 * (t->s->g + 1);
	double *bound = hd_alloc(n, sizeof(*bound));
	bool *close = hd_alloc(n, sizeof(*close));
	double target = floor((double)switches / 2);
	uint32_t best = 0;

	for (uint32_t i = 0; i < n; i++) {
		parting_fill(t, i / 2, target + i % 2);
		bound[i] = parting_hull(t);
		close[i] = i % 2 && switches % 2 == 0;
		if (close[i])
			bound[i] = INFINITY; /* halves are equal */
	}
	for (;;) {
		best = 0;
		for (uint32_t i = 1; i < n; i++)
			best = bound[i] < bound[best] ? i : best;
		if (close[best])
			break;
		parting_fill(t, best / 2, target + best % 2);
		bound[best] = parting_exact(t);
		close[best] = true;
	}
	double least = bound[best];

	free(bound);
	free(close);
	return least;
}

uint64_t bisect_by_groups(const struct topo *t, const struct shape *g)
{
	struct dragonfly_bound s;

	if (!groups_of(t, &s) || !is_even(g))
		return 0;
	struct parting p = { .s = &s };

	for (unsigned i = 0; i < 2; i++) {
		p.cost[i] = hd_alloc(s.size + 1u, sizeof(double));
		p.hull[i] = hd_alloc(s.size + 1u, sizeof(double));
	}
	double least = least_parting(&p, (uint64_t)s.g * s.size);

	for (unsigned i = 0; i < 2; i++) {
		free(p.cost[i]);
		free(p.hull[i]);
	}
	return least < INFINITY ? rounded_up(least) : 0;
}

/* ---- layers ---- */

/*
 * What parts of 0 .. n vertices of a graph cut at least, given the same of one
 * layer of it. `k` layers in a circle; 2 of them have one way only.
 */
struct profile {
	double *cut; /* [0 .. n] */
	uint32_t n;
};

/* Parts of sizes low .. high in each layer: `best` by their sum. */
static void stack(const struct profile *layer, uint32_t k, uint32_t low, uint32_t high,
		  double *best)
{
	uint32_t n = layer->n * k + 1;
	double *now = &best[n], *next = &best[2 * n];
	double steps = (k == 2 ? 1.0 : 2.0) * (high - low);

	for (uint32_t i = 0; i < n; i++)
		now[i] = INFINITY;
	/* One layer has the smallest part and one the largest. */
	now[low + high] = layer->cut[low] + layer->cut[high] + steps;
	for (uint32_t i = 2; i < k; i++) {
		double *swap = now;

		for (uint32_t a = 0; a < n; a++)
			next[a] = INFINITY;
		for (uint32_t a = i * low; a <= i * high; a++) {
			for (uint32_t x = low; x <= high; x++)
				next[a + x] = fmin(next[a + x], now[a] + layer->cut[x]);
		}
		now = next;
		next = swap;
	}
	for (uint32_t a = 0; a < n; a++)
		best[a] = fmin(best[a], now[a]);
}

static void pile(struct profile *p, uint32_t k)
{
	uint32_t n = p->n * k;
	double *best = hd_alloc(3 * ((size_t)n + 1), sizeof(*best));

	for (uint32_t a = 0; a <= n; a++)
		best[a] = INFINITY;
	for (uint32_t low = 0; low <= p->n; low++) {
		for (uint32_t high = low; high <= p->n; high++)
			stack(p, k, low, high, best);
	}
	free(p->cut);
	p->cut = best;
	p->n = n;
}

uint64_t bisect_by_layers(const struct topo *t)
{
	uint32_t sides[TOPO_MAX_DIMS];
	bool known = t->family == FAMILY_TORUS;

	if (!known)
		return 0;
	struct profile p = { hd_alloc(2, sizeof(double)), 1 };

	memcpy(sides, t->dims, t->n_dims * sizeof(*sides));
	qsort(sides, t->n_dims, sizeof(*sides), compare_u32);
	for (unsigned i = 0; i < t->n_dims && known; i++) {
		double k = sides[i], n = p.n;

		known = k * k * n * n * n * n / 6 <= MAX_LAYER_STEPS;
		if (known && sides[i] > 1)
			pile(&p, sides[i]);
	}
	double least = known ? fmin(p.cut[p.n / 2], p.cut[(p.n + 1) / 2]) : 0;

	free(p.cut);
	return rounded_up(least);
}

/* ---- trees ---- */

/*
 * A tree with L(i) cables between levels i - 1 and i: whatever pairing of hosts
 * across a cut can be routed over the top, each host's share spread evenly, so
 * that every host across takes its part of the least L(i).
 */
static uint64_t bisect_by_levels(const struct topo *t, const struct shape *g)
{
	unsigned h = t->n_dims;
	const uint32_t *m = t->dims, *w = m + h, *p = w + h;
	double least = INFINITY, total = (double)g->total_weight;

	if (t->family != FAMILY_XGFT)
		return 0;
	for (unsigned i = w[0] > 1 ? 0 : 1; i < h; i++) {
		double level = (double)p[i] * m[i];

		for (unsigned j = 0; j < h; j++)
			level *= j <= i ? w[j] : m[j];
		least = fmin(least, level);
	}
	if (least == INFINITY)
		return 0;
	return rounded_up(least * (total - (double)bisect_most(g)) / total);
}

/* ---- all together ---- */

uint64_t bisect_at_least(const struct topo *t, const struct shape *g, uint64_t enough)
{
	uint64_t best = bisect_by_groups(t, g), bound = bisect_by_layers(t);

	best = bound > best ? bound : best;
	bound = bisect_by_levels(t, g);
	best = bound > best ? bound : best;
	/* The expensive bounds are computed only if they may improve the result. */
	bound = best < enough ? bisect_by_flow(g) : 0;
	best = bound > best ? bound : best;
	bound = best < enough ? bisect_by_spectrum(g) : 0;
	return bound > best ? bound : best;
}
