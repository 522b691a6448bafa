/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_BENCH_H
#define HD_BENCH_BENCH_H

/*
 * MIBA, the micro-benchmark suite: one table of tests, and one driver that runs
 * a test at all its points on any back-end (nic.h) and records the results. A
 * test is a measurement with one varied parameter (its axis) at each of several
 * message sizes.
 */

#include "bench/nic.h"
#include "bench/params.h"
#include "measure/results.h"

enum bench_axis {
	AXIS_NONE,
	AXIS_WINDOW,
	AXIS_REUSE, /* percent, by the test's scheme */
	AXIS_QPS,
	AXIS_SEGMENTS,
	AXIS_MTU,
	AXIS_SGE, /* scatter/gather entries that queue pairs are created for */
	AXIS_EVENTS,
	AXIS_CONTENDERS,
	AXIS_WORK,
	AXIS_ENTRIES,
	AXIS_LOADERS,
	AXIS_RECEIVERS,
	AXIS_THREADS,
	AXIS_PARTITION,
};

enum bench_group { GROUP_NON_DATA, GROUP_DATA, GROUP_BEYOND };
enum bench_metric { METRIC_LATENCY, METRIC_BANDWIDTH, METRIC_COST };

struct bench_test {
	const char *name;
	const char *summary; /* one line, lower case, no full stop */
	enum bench_group group;
	enum bench_metric metric;
	enum bench_core core;
	enum bench_verb verb;
	enum bench_cost cost;
	enum qp_kind transport;
	enum bench_axis axis;
	const uint32_t *values; /* of the axis, terminated by BENCH_END */
	/* Powers of two, both inclusive; 0 and 0: messages have 8 bytes. */
	uint64_t from, to;
	unsigned scheme;
	uint8_t load_sl;
	bool huge;
	bool weighted;
};

#define BENCH_END UINT32_MAX

extern const struct bench_test bench_tests[]; /* ends with a NULL name */
/* NULL if not found; the error suggests the nearest name. */
const struct bench_test *bench_find(const char *name, struct diag *d);
/* Name of the axis, "reuse", and its unit. */
const char *bench_axis_name(enum bench_axis axis);
const char *bench_axis_unit(enum bench_axis axis);
/* Whether `value` is valid for the axis on some back-end. */
bool bench_axis_has(enum bench_axis axis, uint64_t value);

/* User options; 0 (or NULL) keeps the test's default. */
struct bench_options {
	uint64_t from, to; /* sizes; 0, 0: the test's */
	uint64_t step;     /* sizes grow by this factor; 0: 2 */
	uint64_t iterations;
	hd_time duration;
	uint64_t window, qps, segments, mtu, sge, contenders;
	uint64_t sl;
	uint64_t values[32]; /* axis values that replace the test's */
	unsigned n_values;
	bool events;
};

/* Numeric results of a point. */
struct bench_row {
	const struct bench_test *test;
	uint32_t value; /* of the axis */
	struct bench_params params;
	uint64_t iterations;
	/* us */
	double min, max, typical, average, deviation, p90, p99, p999, p9999;
	/* MB/s; million messages per second */
	double bandwidth, peak, least, rate;
	double fairness; /* Jain's, over queue pairs by their weights */
	double work;     /* percent of the time spent computing */
	bool failed;
	struct diag why;
};

struct bench_rows {
	struct bench_row *items;
	size_t n, cap;
};

/* Called before each point; false ends the test with the rows so far. */
struct bench_watch {
	bool (*next)(void *context, const struct bench_row *row);
	void *context;
};

/*
 * Runs the test. Rows are appended as they complete, so they are available even
 * if the run is interrupted or fails.
 */
HD_MUST_CHECK enum hd_status bench_run(struct nic_backend *b, const struct bench_test *test,
				       const struct bench_options *o,
				       const struct bench_watch *watch, struct bench_rows *rows,
				       struct diag *d);
/* Executes a point requested by rank 0, in a listening process (device.h). */
HD_MUST_CHECK enum hd_status bench_serve_point(struct nic *nic, void *letter, struct diag *d);
void bench_rows_fini(struct bench_rows *rows);
size_t bench_points(const struct nic_backend *b, const struct bench_test *test,
		    const struct bench_options *o);

/* Adds one table per test with perftest's column names, and the inputs. */
void bench_show(const struct bench_rows *rows, const struct nic_backend *b, struct results *r);
/* Adds LogGP's parameters, if the rows suffice to compute them. */
void bench_show_loggp(const struct bench_rows *rows, struct results *r);
/* Adds a description of the host and its system. */
void bench_show_host(struct results *r);

/* ---- conditions: "p99<5us", "bw>=900MB/s", "avg@64<2us" ------------------ */

struct bench_expect {
	char text[64];
	size_t metric; /* index into a table */
	uint64_t size; /* applies to rows of this size; UINT64_MAX: all */
	bool less, equal;
	double limit; /* in the metric's unit */
};

HD_MUST_CHECK enum hd_status bench_expect_parse(const char *text, struct diag *d,
						struct bench_expect *out);
/* Whether all rows with the metric meet the condition; adds a table of the verdicts. */
bool bench_expect_check(const struct bench_expect *list, size_t n, const struct bench_rows *rows,
			struct results *r);

/* ---- two results --------------------------------------------------------- */

/* Compares two files of --json or perftest: the differences and their significance. */
HD_MUST_CHECK enum hd_status bench_compare(const char *a, const char *b, double level,
					   struct results *r, bool *differ, struct diag *d);

#endif
