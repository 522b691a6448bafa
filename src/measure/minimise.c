/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/minimise.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Factors of reflection, expansion and contraction. */
#define REFLECT  1.0
#define EXPAND   2.0
#define CONTRACT 0.5

struct vertex {
	double x[MINIMISE_MOST];
	double value;
};

struct simplex {
	minimise_fn *f;
	void *context;
	size_t n;
	size_t calls;                       /* that are left */
	struct vertex v[MINIMISE_MOST + 1]; /* the best first */
};

static void judge(struct simplex *s, struct vertex *v)
{
	if (s->calls)
		s->calls--;
	v->value = s->f(s->context, v->x);
}

/* Puts the last vertex where it belongs. */
static void sort_last(struct simplex *s)
{
	struct vertex last = s->v[s->n];
	size_t i = s->n;

	for (; i > 0 && s->v[i - 1].value > last.value; i--)
		s->v[i] = s->v[i - 1];
	s->v[i] = last;
}

static void begin(struct simplex *s, const double *x, double step)
{
	struct vertex corners[MINIMISE_MOST + 1];
	size_t n = s->n;

	for (size_t i = 0; i <= n; i++) {
		memcpy(corners[i].x, x, n * sizeof(*x));
		if (i > 0)
			corners[i].x[i - 1] += step;
		judge(s, &corners[i]);
	}
	for (size_t i = 0; i <= n; i++) {
		s->n = i;
		s->v[i] = corners[i];
		sort_last(s);
	}
}

/* The worst, by `factor` beyond the middle of the others. */
static struct vertex moved(struct simplex *s, double factor)
{
	struct vertex v = { .value = 0 };

	for (size_t k = 0; k < s->n; k++) {
		double middle = 0;

		for (size_t i = 0; i < s->n; i++)
			middle += s->v[i].x[k] / (double)s->n;
		v.x[k] = middle + factor * (middle - s->v[s->n].x[k]);
	}
	judge(s, &v);
	return v;
}

static void shrink(struct simplex *s)
{
	size_t n = s->n;

	for (size_t i = 1; i <= n; i++) {
		for (size_t k = 0; k < n; k++)
			s->v[i].x[k] = (s->v[i].x[k] + s->v[0].x[k]) / 2;
		judge(s, &s->v[i]);
	}
	for (size_t i = 1; i <= n; i++) {
		s->n = i;
		sort_last(s);
	}
}

static void take_step(struct simplex *s)
{
	struct vertex *worst = &s->v[s->n];
	struct vertex next = moved(s, REFLECT);

	if (next.value < s->v[0].value) {
		struct vertex further = moved(s, EXPAND);

		*worst = further.value < next.value ? further : next;
	} else if (next.value < s->v[s->n - 1].value) {
		*worst = next;
	} else {
		bool beyond = next.value < worst->value;
		struct vertex nearer = moved(s, beyond ? CONTRACT : -CONTRACT);

		if (nearer.value >= (beyond ? next.value : worst->value)) {
			shrink(s);
			return;
		}
		*worst = nearer;
	}
	sort_last(s);
}

static bool is_small(const struct simplex *s, double tolerance)
{
	double best = s->v[0].value, worst = s->v[s->n].value;

	if (worst - best > tolerance * (fabs(best) + tolerance))
		return false;
	for (size_t i = 1; i <= s->n; i++) {
		for (size_t k = 0; k < s->n; k++) {
			if (fabs(s->v[i].x[k] - s->v[0].x[k]) > tolerance)
				return false;
		}
	}
	return true;
}

double measure_minimise(minimise_fn *f, void *context, size_t n, const struct minimise_options *o,
			double *x)
{
	struct simplex s = { .f = f, .context = context, .calls = o->calls };
	double before = INFINITY;

	assert(n > 0 && n <= MINIMISE_MOST);
	for (;;) {
		s.n = n;
		begin(&s, x, o->step);
		while (s.calls > 0 && !is_small(&s, o->tolerance))
			take_step(&s);
		memcpy(x, s.v[0].x, n * sizeof(*x));
		double best = s.v[0].value;

		if (s.calls == 0 || before - best <= o->tolerance * (fabs(best) + o->tolerance))
			return best;
		before = best;
	}
}
