/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/fit.h"
#include "bench/load.h"

#define LARGEST UINT64_C(8388608) /* bytes: perftest's -a goes so far */
#define LEAST   8                 /* points, half of them to fit */
#define MIB     1048576.0
#define MOST    1e15

static const struct bench_test *test_named(const char *name)
{
	for (const struct bench_test *t = bench_tests; t->name; t++) {
		if (strcmp(t->name, name) == 0)
			return t;
	}
	return NULL;
}

/* Whether sizes are all that varies in it. */
static bool is_curve(const struct bench_test *t)
{
	return t && t->axis == AXIS_NONE && t->metric != METRIC_COST;
}

/* The typical value does not depend on a single late message. */
static double value_of(const json_t *row, const struct bench_test *t)
{
	double typical = bench_number(row, "t_typical");

	if (t->metric == METRIC_BANDWIDTH)
		return bench_number(row, "BW average") * MIB / 1e6;
	return isnan(typical) ? bench_number(row, "t_avg") : typical;
}

static enum hd_status take_row(struct fit_points *p, const json_t *row, const struct bench_test *t,
			       struct diag *d)
{
	double size = bench_number(row, "#bytes"), value = value_of(row, t);

	if (!(size >= 1 && size <= MOST && value > 0 && value <= MOST))
		return diag_fail(d, HD_ERR_INPUT, "a row of %s has no size or no result", t->name);
	if (size > (double)LARGEST) {
		p->too_large++;
		return HD_OK;
	}
	p->items = hd_grow(p->items, &p->cap, p->n + 1, sizeof(*p->items));
	p->items[p->n++] =
		(struct fit_point){ .test = t, .size = (uint64_t)size, .measured = value };
	return HD_OK;
}

enum hd_status fit_points_load(struct fit_points *p, const char *path, struct diag *d)
{
	json_t *all, *table, *row;
	const char *name;
	size_t i, before = p->n;
	enum hd_status status = bench_load(path, d, &all);

	if (status != HD_OK)
		return status;
	json_object_foreach(json_object_get(all, "tables"), name, table)
	{
		const struct bench_test *t = test_named(name);

		json_array_foreach(json_object_get(table, "rows"), i, row)
		{
			/* cppcheck-suppress knownConditionTrueFalse; a loop */
			if (is_curve(t) && status == HD_OK)
				status = take_row(p, row, t, d);
		}
	}
	json_decref(all);
	if (status == HD_OK && p->n == before && !p->too_large)
		status = diag_fail(d, HD_ERR_INPUT, "'%s' has no latency or bandwidth by size",
				   path);
	return status;
}

static int by_test_and_size(const void *a, const void *b)
{
	const struct fit_point *x = a, *y = b;

	if (x->test != y->test)
		return x->test < y->test ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* Sizes that were measured twice are one, in their middle. */
static void join(struct fit_points *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n;) {
		struct fit_point one = p->items[i];
		double sum = 0;
		size_t k = i;

		while (k < p->n && by_test_and_size(&p->items[k], &one) == 0)
			sum += p->items[k++].measured;
		one.measured = sum / (double)(k - i);
		p->items[n++] = one;
		i = k;
	}
	p->n = n;
}

enum hd_status fit_points_divide(struct fit_points *p, struct diag *d)
{
	if (p->n)
		qsort(p->items, p->n, sizeof(*p->items), by_test_and_size);
	join(p);
	if (p->n < LEAST)
		return diag_fail(
			d, HD_ERR_INPUT,
			"a fit needs %d sizes up to 8 MiB or more, of all tests together; there are %zu",
			LEAST, p->n);
	/* The least size of a test is fitted: it says most. */
	p->items[0].left_out = false;
	for (size_t i = 1; i < p->n; i++)
		p->items[i].left_out =
			p->items[i].test == p->items[i - 1].test && !p->items[i - 1].left_out;
	return HD_OK;
}

void fit_points_fini(struct fit_points *p)
{
	free(p->items);
	*p = (struct fit_points){ 0 };
}
