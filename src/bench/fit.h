/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_FIT_H
#define HD_BENCH_FIT_H

/*
 * Fits the costs of an adapter to measurements: the simulated adapter's
 * latencies and bandwidths approximate the measured ones by least squares of
 * logarithms, over every other size. The remaining sizes validate the fit.
 *
 * Latency and bandwidth do not determine every cost. A cost that others can
 * compensate keeps its initial value. This always applies to the cost of a
 * packet, because a higher cost of a message and a lower cost of a packet have
 * the same effect.
 */

#include "bench/bench.h"
#include "hca/profile.h"

/* Measurement of a test at one size. */
struct fit_point {
	const struct bench_test *test;
	uint64_t size;
	double measured, fitted; /* us or MB/s */
	bool left_out;
};

struct fit_points {
	struct fit_point *items;
	size_t n, cap;
	size_t too_large; /* sizes that were ignored */
};

/*
 * Adds the known tests of a file with perftest's output or that of 'heddle
 * bench --json'.
 */
HD_MUST_CHECK enum hd_status fit_points_load(struct fit_points *p, const char *path,
					     struct diag *d);
/* Sorts by test and size, and reserves every other point for validation.
 * HD_ERR_INPUT if there are too few. */
HD_MUST_CHECK enum hd_status fit_points_divide(struct fit_points *p, struct diag *d);
void fit_points_fini(struct fit_points *p);

#define FIT_PARAMETERS 5

/* Initial and final value of a cost. */
struct fit_cost {
	const char *name;
	double start, value; /* ps or b/s */
	bool held;
	/*
	 * Fitted cost: relative standard error, provided that the held costs
	 * are right.
	 */
	double error;
	/* Held cost: another cost that compensates for it; NULL: none. */
	const char *like;
};

struct fit {
	struct fit_cost costs[FIT_PARAMETERS];
	double error, error_left_out; /* root mean squares, relative */
	size_t runs;
};

/*
 * Fits the profile of `b`, a simulated adapter, and leaves it fitted. `o` has
 * the conditions of the measurement; iterations 0: the fewest that give the
 * result of many. `watch` may end the fit like an interrupt.
 */
HD_MUST_CHECK enum hd_status fit_run(struct nic_backend *b, const struct bench_options *o,
				     struct fit_points *p, const struct bench_watch *watch,
				     struct diag *d, struct fit *out);

void fit_show(const struct fit *f, const struct fit_points *p, struct results *r);

#endif
