/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench.h"

#define MIB 1048576.0

/* The axis stands first if the test has one; its name goes in at [0]. */
#define AXIS_COLUMN                                \
	{                                          \
		"", NULL, VALUE_UINT, ORIGIN_GIVEN \
	}

static const struct column latency_columns[] = {
	AXIS_COLUMN,
	{ "#bytes", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "#iterations", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "t_min", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "t_max", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "t_typical", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "t_avg", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "t_stdev", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "90% percentile", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "99% percentile", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "99.9% percentile", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "99.99% percentile", "usec", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "outcome", NULL, VALUE_TEXT, ORIGIN_SIMULATED },
	{ NULL },
};

static const struct column bandwidth_columns[] = {
	AXIS_COLUMN,
	{ "#bytes", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "#iterations", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "BW peak", "MiB/sec", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "BW average", "MiB/sec", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "MsgRate", "Mpps", VALUE_REAL, ORIGIN_SIMULATED, 6 },
	{ "BW min window", "MiB/sec", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "BW", "MB/s", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "fairness", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "computing", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL },
};

/* The columns that this test shows: its axis if any, and its origin. */
static size_t choose(const struct bench_test *t, const struct nic_backend *b,
		     struct column out[16])
{
	bool bandwidth = t->metric == METRIC_BANDWIDTH;
	const struct column *from =
		bandwidth ? bandwidth_columns : latency_columns;
	size_t n = 0;

	for (; from->name; from++) {
		if (!*from->name && t->axis == AXIS_NONE)
			continue;
		if (strcmp(from->name, "computing") == 0 &&
		    t->core != CORE_COMPUTE)
			continue;
		if (strcmp(from->name, "outcome") == 0 &&
		    t->axis != AXIS_PARTITION)
			continue;
		out[n] = *from;
		if (!*from->name) {
			out[n].name = bench_axis_name(t->axis);
			out[n].unit = bench_axis_unit(t->axis);
		}
		if (out[n].origin == ORIGIN_SIMULATED)
			out[n].origin = b->origin;
		n++;
	}
	out[n] = (struct column){ .name = NULL };
	return n;
}

static void put_latency(struct table *t, const struct bench_row *row)
{
	const double values[] = { row->min,     row->max,       row->typical,
				  row->average, row->deviation, row->p90,
				  row->p99,     row->p999,      row->p9999 };

	table_put_uint(t, row->params.size);
	table_put_uint(t, row->iterations);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (row->iterations)
			table_put_real(t, values[i]);
		else
			table_put_none(t);
	}
	if (row->test->axis == AXIS_PARTITION)
		table_put_text(t, row->failed ? row->why.message : "delivered");
}

static void put_bandwidth(struct table *t, const struct bench_row *row)
{
	double to_mib = 1e6 / MIB;

	table_put_uint(t, row->params.size);
	table_put_uint(t, row->iterations);
	table_put_real(t, row->peak * to_mib);
	table_put_real(t, row->bandwidth * to_mib);
	table_put_real(t, row->rate);
	table_put_real(t, row->least * to_mib);
	table_put_real(t, row->bandwidth);
	table_put_real(t, row->fairness);
	if (row->test->core == CORE_COMPUTE)
		table_put_real(t, row->work);
}

static void show_test(const struct bench_rows *rows, size_t from, size_t to,
		      const struct nic_backend *b, struct results *r)
{
	const struct bench_test *test = rows->items[from].test;
	struct column columns[16];
	struct table *t;

	choose(test, b, columns);
	t = results_series(r, test->name, test->summary, columns);
	for (size_t i = from; i < to; i++) {
		const struct bench_row *row = &rows->items[i];

		if (test->axis != AXIS_NONE)
			table_put_uint(t, row->value);
		if (test->metric == METRIC_BANDWIDTH)
			put_bandwidth(t, row);
		else
			put_latency(t, row);
	}
}

static const struct column input_columns[] = {
	{ "test", NULL, VALUE_TEXT, ORIGIN_GIVEN },
	{ "connection", NULL, VALUE_TEXT, ORIGIN_GIVEN },
	{ "iterations", NULL, VALUE_TEXT, ORIGIN_GIVEN },
	{ "window", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "qps", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "segments", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "mtu", "B", VALUE_UINT, ORIGIN_GIVEN },
	{ "sl", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "wait", NULL, VALUE_TEXT, ORIGIN_GIVEN },
	{ "warm-up", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ NULL },
};

static void show_inputs(struct table *t, const struct bench_row *row)
{
	static const char *const kinds[] = { "RC", "UC", "UD" };
	const struct bench_params *p = &row->params;

	table_put_text(t, row->test->name);
	table_put_text(t, kinds[p->transport]);
	if (p->duration)
		table_put_textf(t, "%.3f ms", (double)p->duration / 1e9);
	else
		table_put_textf(t, "%llu", (unsigned long long)p->iterations);
	table_put_uint(t, p->window);
	table_put_uint(t, p->qps);
	table_put_uint(t, p->segments);
	table_put_uint(t, p->mtu);
	table_put_uint(t, p->sl);
	table_put_text(t, p->events ? "events" : "polling");
	table_put_uint(t, p->warmup);
}

void bench_show(const struct bench_rows *rows, const struct nic_backend *b,
		struct results *r)
{
	struct table *inputs = results_table(
		r, "inputs", "what was asked for: the first point of each test",
		input_columns);
	size_t from = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (i == 0 || rows->items[i].test != rows->items[i - 1].test)
			show_inputs(inputs, &rows->items[i]);
	}
	for (size_t i = 1; i <= rows->n; i++) {
		if (i < rows->n &&
		    rows->items[i].test == rows->items[from].test)
			continue;
		show_test(rows, from, i, b, r);
		from = i;
	}
}

void bench_show_host(struct results *r)
{
	static const struct column columns[] = {
		{ "system", NULL, VALUE_TEXT, ORIGIN_GIVEN },
		{ "release", NULL, VALUE_TEXT, ORIGIN_GIVEN },
		{ "machine", NULL, VALUE_TEXT, ORIGIN_GIVEN },
		{ "processors", NULL, VALUE_UINT, ORIGIN_GIVEN },
		{ "page", "B", VALUE_UINT, ORIGIN_GIVEN },
		{ NULL },
	};
	struct table *t = results_record(r, "host", "where this ran", columns);
	struct utsname name;

	if (uname(&name) != 0)
		memset(&name, 0, sizeof(name));
	table_put_text(t, name.sysname);
	table_put_text(t, name.release);
	table_put_text(t, name.machine);
	long n = sysconf(_SC_NPROCESSORS_ONLN), page = sysconf(_SC_PAGESIZE);

	table_put_uint(t, n > 0 ? (uint64_t)n : 0);
	table_put_uint(t, page > 0 ? (uint64_t)page : 0);
}
