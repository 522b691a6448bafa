/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

enum expect_unit { IN_TIME, IN_RATE, IN_NUMBER };

static const struct {
	const char *name;
	size_t offset; /* of a double in struct bench_row */
	enum expect_unit unit;
	bool bandwidth; /* of tests that have one */
} metrics[] = {
	{ "min", offsetof(struct bench_row, min), IN_TIME, false },
	{ "max", offsetof(struct bench_row, max), IN_TIME, false },
	{ "typical", offsetof(struct bench_row, typical), IN_TIME, false },
	{ "p50", offsetof(struct bench_row, typical), IN_TIME, false },
	{ "avg", offsetof(struct bench_row, average), IN_TIME, false },
	{ "stdev", offsetof(struct bench_row, deviation), IN_TIME, false },
	{ "p90", offsetof(struct bench_row, p90), IN_TIME, false },
	{ "p99", offsetof(struct bench_row, p99), IN_TIME, false },
	{ "p99.9", offsetof(struct bench_row, p999), IN_TIME, false },
	{ "p99.99", offsetof(struct bench_row, p9999), IN_TIME, false },
	{ "bw", offsetof(struct bench_row, bandwidth), IN_RATE, true },
	{ "bw_peak", offsetof(struct bench_row, peak), IN_RATE, true },
	{ "bw_min", offsetof(struct bench_row, least), IN_RATE, true },
	{ "rate", offsetof(struct bench_row, rate), IN_NUMBER, true },
	{ "fairness", offsetof(struct bench_row, fairness), IN_NUMBER, true },
};

#define N_METRICS (sizeof(metrics) / sizeof(*metrics))

static double value_of(const struct bench_row *row, size_t metric)
{
	double value;

	memcpy(&value, (const char *)row + metrics[metric].offset, sizeof(value));
	return value;
}

static enum hd_status parse_limit(const char *text, enum expect_unit unit, struct diag *d,
				  double *out)
{
	struct hd_rate rate;
	enum hd_status status;
	hd_time time;

	switch (unit) {
	case IN_TIME:
		status = hd_time_parse(text, d, &time);
		*out = status == HD_OK ? (double)time / 1e6 : 0;
		return status;
	case IN_RATE:
		status = hd_rate_parse(text, d, &rate);
		*out = status == HD_OK ? hd_rate_bps(rate) / 8e6 : 0;
		return status;
	default:
		return hd_double_parse(text, d, out);
	}
}

static enum hd_status find_metric(const char *name, size_t len, struct diag *d, size_t *out)
{
	for (size_t i = 0; i < N_METRICS; i++) {
		if (strlen(metrics[i].name) == len && strncmp(metrics[i].name, name, len) == 0) {
			*out = i;
			return HD_OK;
		}
	}
	return diag_fail(
		d, HD_ERR_INPUT,
		"'%.*s' is not a metric; expected min, max, typical, avg, stdev, p50, p90, p99, p99.9, p99.99, bw, bw_peak, bw_min, rate or fairness",
		(int)len, name);
}

enum hd_status bench_expect_parse(const char *text, struct diag *d, struct bench_expect *out)
{
	size_t name = strcspn(text, "@<>"), op = strcspn(text, "<>");
	struct bench_expect e = { .size = UINT64_MAX };

	if (!text[op])
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is not a condition; expected e.g. 'p99<5us' or 'bw>=900MB/s'", text);
	enum hd_status status = find_metric(text, name, d, &e.metric);

	if (status == HD_OK && text[name] == '@') {
		char number[24];

		snprintf(number, sizeof(number), "%.*s", (int)(op - name - 1), text + name + 1);
		status = hd_size_parse(number, d, &e.size);
	}
	if (status != HD_OK)
		return status;
	e.less = text[op] == '<';
	e.equal = text[op + 1] == '=';
	status = parse_limit(text + op + 1 + e.equal, metrics[e.metric].unit, d, &e.limit);
	if (status != HD_OK)
		return status;
	snprintf(e.text, sizeof(e.text), "%s", text);
	*out = e;
	return HD_OK;
}

static bool meets(const struct bench_expect *e, double value)
{
	if (e->equal && value >= e->limit && value <= e->limit)
		return true;
	return e->less ? value < e->limit : value > e->limit;
}

static bool concerns(const struct bench_expect *e, const struct bench_row *row)
{
	bool bandwidth = row->test->metric == METRIC_BANDWIDTH;

	return bandwidth == metrics[e->metric].bandwidth &&
	       (e->size == UINT64_MAX || e->size == row->params.size);
}

struct expect_row {
	const char *expected, *verdict, *worst_in;
	uint64_t bytes; /* UINT64_MAX if nothing was measured */
	double value;
};

/* The row furthest from meeting it. */
static bool check_one(const struct bench_expect *e, const struct bench_rows *rows, struct table *t)
{
	const struct bench_row *worst = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		const struct bench_row *row = &rows->items[i];

		if (!concerns(e, row))
			continue;
		double v = value_of(row, e->metric);

		if (!worst ||
		    (e->less ? v > value_of(worst, e->metric) : v < value_of(worst, e->metric)))
			worst = row;
	}
	bool met = worst && !worst->failed && meets(e, value_of(worst, e->metric));

	const struct expect_row shown = {
		.expected = e->text,
		.verdict = met ? "met" : "missed",
		.worst_in = worst ? worst->test->name : "nothing measured has it",
		.bytes = worst ? worst->params.size : UINT64_MAX,
		.value = worst ? value_of(worst, e->metric) : NAN,
	};

	table_put_row(t, &shown);
	return met;
}

bool bench_expect_check(const struct bench_expect *list, size_t n, const struct bench_rows *rows,
			struct results *r)
{
	static const struct column columns[] = {
		{ "expected", NULL, CELL(expect_row, expected) },
		{ "verdict", NULL, CELL(expect_row, verdict), ORIGIN_COMPUTED },
		{ "worst in", NULL, CELL(expect_row, worst_in), ORIGIN_COMPUTED },
		{ "#bytes", NULL, CELL_UNLESS(expect_row, bytes, UINT64_MAX) },
		{ "value", "us or MB/s", CELL(expect_row, value), ORIGIN_COMPUTED, 3 },
		{ NULL },
	};
	bool all = true;

	if (n == 0)
		return true;
	struct table *t =
		results_table(r, "expectations", "what was expected, and the worst case", columns);

	for (size_t i = 0; i < n; i++)
		all &= check_one(&list[i], rows, t);
	return all;
}
