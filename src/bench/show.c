/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench.h"

#define MIB 1048576.0

/* A row of the suite's table; numbers without a measurement are NaN. */
struct shown_row {
	uint64_t axis, bytes, iterations;
	double min, max, typical, average, deviation, p90, p99, p999, p9999;
	double peak_mib, average_mib, least_mib;
	double rate, bandwidth, fairness, computing;
	const char *outcome;
};

/* The axis is the first column if the test has one; its name is set at [0]. */
#define FIRST_COLUMNS                                                                    \
	{ "", NULL, CELL(shown_row, axis) }, { "#bytes", NULL, CELL(shown_row, bytes) }, \
	{                                                                                \
		"#iterations", NULL, CELL(shown_row, iterations)                         \
	}
#define MEASURED(name, unit, member, places)                                  \
	{                                                                     \
		name, unit, CELL(shown_row, member), ORIGIN_SIMULATED, places \
	}

static const struct column latency_columns[] = {
	FIRST_COLUMNS,
	MEASURED("t_min", "usec", min, 3),
	MEASURED("t_max", "usec", max, 3),
	MEASURED("t_typical", "usec", typical, 3),
	MEASURED("t_avg", "usec", average, 3),
	MEASURED("t_stdev", "usec", deviation, 3),
	MEASURED("90% percentile", "usec", p90, 3),
	MEASURED("99% percentile", "usec", p99, 3),
	MEASURED("99.9% percentile", "usec", p999, 3),
	MEASURED("99.99% percentile", "usec", p9999, 3),
	MEASURED("outcome", NULL, outcome, 0),
	{ NULL },
};

static const struct column bandwidth_columns[] = {
	FIRST_COLUMNS,
	MEASURED("BW peak", "MiB/sec", peak_mib, 2),
	MEASURED("BW average", "MiB/sec", average_mib, 2),
	MEASURED("MsgRate", "Mpps", rate, 6),
	MEASURED("BW min window", "MiB/sec", least_mib, 2),
	MEASURED("BW", "MB/s", bandwidth, 2),
	MEASURED("fairness", NULL, fairness, 4),
	MEASURED("computing", "%", computing, 1),
	{ NULL },
};

/* The columns that this test shows: its axis if any, and its origin. */
static size_t choose(const struct bench_test *t, const struct nic_backend *b, struct column out[16])
{
	bool bandwidth = t->metric == METRIC_BANDWIDTH;
	const struct column *from = bandwidth ? bandwidth_columns : latency_columns;
	size_t n = 0;

	for (; from->name; from++) {
		if (!*from->name && t->axis == AXIS_NONE)
			continue;
		if (strcmp(from->name, "computing") == 0 && t->core != CORE_COMPUTE)
			continue;
		if (strcmp(from->name, "outcome") == 0 && t->axis != AXIS_PARTITION)
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

static struct shown_row show_row(const struct bench_row *row)
{
	const double to_mib = 1e6 / MIB;
	const bool timed = row->iterations > 0;

	return (struct shown_row){
		.axis = row->value,
		.bytes = row->params.size,
		.iterations = row->iterations,
		.min = timed ? row->min : NAN,
		.max = timed ? row->max : NAN,
		.typical = timed ? row->typical : NAN,
		.average = timed ? row->average : NAN,
		.deviation = timed ? row->deviation : NAN,
		.p90 = timed ? row->p90 : NAN,
		.p99 = timed ? row->p99 : NAN,
		.p999 = timed ? row->p999 : NAN,
		.p9999 = timed ? row->p9999 : NAN,
		.peak_mib = row->peak * to_mib,
		.average_mib = row->bandwidth * to_mib,
		.least_mib = row->least * to_mib,
		.rate = row->rate,
		.bandwidth = row->bandwidth,
		.fairness = row->fairness,
		.computing = row->work,
		.outcome = row->failed ? row->why.message : "delivered",
	};
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
		const struct shown_row row = show_row(&rows->items[i]);

		table_put_row(t, &row);
	}
}

struct input_row {
	const char *test, *connection, *iterations;
	uint64_t window, qps, segments, mtu, sl;
	const char *wait;
	uint64_t warm_up;
};

static const struct column input_columns[] = {
	{ "test", NULL, CELL(input_row, test) },
	{ "connection", NULL, CELL(input_row, connection) },
	{ "iterations", NULL, CELL(input_row, iterations) },
	{ "window", NULL, CELL(input_row, window) },
	{ "qps", NULL, CELL(input_row, qps) },
	{ "segments", NULL, CELL(input_row, segments) },
	{ "mtu", "B", CELL(input_row, mtu) },
	{ "sl", NULL, CELL(input_row, sl) },
	{ "wait", NULL, CELL(input_row, wait) },
	{ "warm-up", NULL, CELL(input_row, warm_up) },
	{ NULL },
};

static void show_inputs(struct table *t, const struct bench_row *row)
{
	static const char *const kinds[] = { "RC", "UC", "UD" };
	const struct bench_params *p = &row->params;

	const struct input_row shown = {
		.test = row->test->name,
		.connection = kinds[p->transport],
		.iterations = p->duration
				      ? table_text(t, "%.3f ms", (double)p->duration / 1e9)
				      : table_text(t, "%llu", (unsigned long long)p->iterations),
		.window = p->window,
		.qps = p->qps,
		.segments = p->segments,
		.mtu = p->mtu,
		.sl = p->sl,
		.wait = p->events ? "events" : "polling",
		.warm_up = p->warmup,
	};

	table_put_row(t, &shown);
}

void bench_show(const struct bench_rows *rows, const struct nic_backend *b, struct results *r)
{
	struct table *inputs = results_table(
		r, "inputs", "what was asked for: the first point of each test", input_columns);
	size_t from = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (i == 0 || rows->items[i].test != rows->items[i - 1].test)
			show_inputs(inputs, &rows->items[i]);
	}
	for (size_t i = 1; i <= rows->n; i++) {
		if (i < rows->n && rows->items[i].test == rows->items[from].test)
			continue;
		show_test(rows, from, i, b, r);
		from = i;
	}
}

void bench_show_host(struct results *r)
{
	struct host_row {
		const char *system, *release, *machine;
		uint64_t processors, page;
	};

	static const struct column columns[] = {
		{ "system", NULL, CELL(host_row, system) },
		{ "release", NULL, CELL(host_row, release) },
		{ "machine", NULL, CELL(host_row, machine) },
		{ "processors", NULL, CELL(host_row, processors) },
		{ "page", "B", CELL(host_row, page) },
		{ NULL },
	};
	struct table *t = results_record(r, "host", "where this ran", columns);
	struct utsname name;

	if (uname(&name) != 0)
		memset(&name, 0, sizeof(name));
	long n = sysconf(_SC_NPROCESSORS_ONLN), page = sysconf(_SC_PAGESIZE);

	const struct host_row row = {
		.system = name.sysname,
		.release = name.release,
		.machine = name.machine,
		.processors = n > 0 ? (uint64_t)n : 0,
		.page = page > 0 ? (uint64_t)page : 0,
	};

	table_put_row(t, &row);
}
