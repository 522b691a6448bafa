/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/load.h"
#include "measure/student.h"

#define MAX_VALUE 1e15 /* of any number that is compared */

struct bench_pair_row {
	const char *test, *axis;
	uint64_t bytes;
	const char *metric;
	double a, b, change, p;
	const char *verdict;
};

static const struct column columns[] = {
	{ "test", NULL, CELL(bench_pair_row, test) },
	{ "axis", NULL, CELL(bench_pair_row, axis) },
	{ "#bytes", NULL, CELL(bench_pair_row, bytes) },
	{ "metric", NULL, CELL(bench_pair_row, metric) },
	{ "a", NULL, CELL(bench_pair_row, a), ORIGIN_GIVEN, 3 },
	{ "b", NULL, CELL(bench_pair_row, b), ORIGIN_GIVEN, 3 },
	{ "change", "%", CELL(bench_pair_row, change), ORIGIN_COMPUTED, 2 },
	{ "p", NULL, CELL(bench_pair_row, p), ORIGIN_COMPUTED },
	{ "verdict", NULL, CELL(bench_pair_row, verdict), ORIGIN_COMPUTED },
	{ NULL },
};

struct bench_comparison {
	const char *files[2];
	double level;
	struct table *table;
	bool differ;
	size_t pairs;
};

/*
 * Probability of a difference of this size by chance alone (Welch's test).
 * Without spread on either side, as in simulations, any difference counts.
 */
static double chance(double a, double b, double va, double vb, double na, double nb)
{
	double ea = va / fmax(na, 1), eb = vb / fmax(nb, 1), error = ea + eb;

	if (!(error > 0))
		return fabs(a - b) > 1e-9 * fabs(a) ? 0 : 1;
	/* By the parts of the error, as its square may vanish. */
	double pa = ea / error, pb = eb / error;
	double freedom = 1 / (pa * pa / fmax(na - 1, 1) + pb * pb / fmax(nb - 1, 1));

	return 2 * student_cdf(-fabs(a - b) / sqrt(error), freedom);
}

/* The row's first column is its axis, unless it is the size. */
static const char *axis_key(json_t *row)
{
	void *first = json_object_iter(row);
	const char *key = first ? json_object_iter_key(first) : "#bytes";

	return strcmp(key, "#bytes") == 0 ? NULL : key;
}

static json_t *partner(json_t *rows, json_t *of)
{
	const char *axis = axis_key(of);
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (json_equal(json_object_get(row, "#bytes"), json_object_get(of, "#bytes")) &&
		    (!axis || json_equal(json_object_get(row, axis), json_object_get(of, axis))))
			return row;
	}
	return NULL;
}

/* A file may have been edited: values used in computations must be valid. */
static enum hd_status check_row(const char *file, const char *test, const json_t *row,
				struct diag *d)
{
	static const char *const keys[] = { "#bytes", "#iterations", "t_avg", "t_stdev",
					    "BW average" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *there = json_object_get(row, keys[i]);
		double value = bench_number(row, keys[i]);

		/* A size is there; the others may be left open. */
		if (i > 0 && (!there || json_is_null(there)))
			continue;
		if (!(value >= 0 && value <= MAX_VALUE))
			return diag_fail(d, HD_ERR_INPUT,
					 "%s: a row of %s: '%s' is not a number in 0..%g", file,
					 test, keys[i], MAX_VALUE);
	}
	return HD_OK;
}

static void compare_rows(struct bench_comparison *c, const char *test, json_t *a, json_t *b)
{
	bool latency = json_object_get(a, "t_avg") != NULL;
	const char *metric = latency ? "t_avg" : "BW average";
	const char *axis = axis_key(a);
	double va = bench_number(a, metric), vb = bench_number(b, metric);
	double sa = latency ? bench_number(a, "t_stdev") : 0;
	double sb = latency ? bench_number(b, "t_stdev") : 0;
	double p = chance(va, vb, sa * sa, sb * sb, bench_number(a, "#iterations"),
			  bench_number(b, "#iterations"));
	bool differ = p < 1 - c->level;
	bool better = latency ? vb < va : vb > va;

	c->pairs++;
	c->differ |= differ;
	const struct bench_pair_row row = {
		.test = test,
		.axis = axis ? table_text(c->table, "%s %g", axis, bench_number(a, axis)) : "-",
		.bytes = (uint64_t)bench_number(a, "#bytes"),
		.metric = metric,
		.a = va,
		.b = vb,
		.change = 100 * (vb - va) / va,
		.p = p,
		.verdict = !differ  ? "same"
			   : better ? "better"
				    : "worse",
	};

	table_put_row(c->table, &row);
}

static enum hd_status compare_tables(struct bench_comparison *c, const char *test, json_t *a,
				     json_t *b, struct diag *d)
{
	json_t *rows = json_object_get(a, "rows");
	json_t *others = json_object_get(b, "rows");
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		json_t *other = partner(others, row);
		bool measured = json_object_get(row, "t_avg") || json_object_get(row, "BW average");

		if (!other || !measured)
			continue;
		if (check_row(c->files[0], test, row, d) != HD_OK ||
		    check_row(c->files[1], test, other, d) != HD_OK)
			return d->status;
		compare_rows(c, test, row, other);
	}
	return HD_OK;
}

enum hd_status bench_compare(const char *a, const char *b, double level, struct results *r,
			     bool *differ, struct diag *d)
{
	json_t *first, *second, *table;
	const char *test;
	enum hd_status status = bench_load(a, d, &first);

	if (status != HD_OK)
		return status;
	status = bench_load(b, d, &second);
	if (status != HD_OK) {
		json_decref(first);
		return status;
	}
	struct bench_comparison c = {
		.files = { a, b },
		.level = level,
		.table = results_table(r, "differences", "the second against the first", columns),
	};

	json_object_foreach(json_object_get(first, "tables"), test, table)
	{
		json_t *other = json_object_get(json_object_get(second, "tables"), test);

		/* cppcheck-suppress knownConditionTrueFalse; it is a loop */
		if (other && status == HD_OK)
			status = compare_tables(&c, test, table, other, d);
	}
	json_decref(first);
	json_decref(second);
	d->file = NULL;
	if (status != HD_OK)
		return status;
	if (c.pairs == 0)
		return diag_fail(d, HD_ERR_INPUT, "'%s' and '%s' have no measurement in common", a,
				 b);
	*differ = c.differ;
	return HD_OK;
}
