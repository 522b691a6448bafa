/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_FIT_H
#define HD_BENCH_FIT_H

/*
 * Fits the costs of an adapter to measurements: the simulated adapter's
 * latencies and bandwidths come closest to the measured ones, in the least
 * squares of their logarithms, over every other size. The sizes between are
 * left out and judge the fit.
 *
 * Latency and bandwidth do not determine every cost. A cost that others can
 * compensate keeps its initial value. The cost of a packet always does, because
 * a higher cost of a message and a lower cost of a packet look the same.
 */

#include "bench/bench.h"
#include "hca/profile.h"

/* A size of a test, as it was measured. */
struct fit_point {
	const struct bench_test *test;
	uint64_t size;
	double measured, fitted; /* us or MB/s */
	bool left_out;
};

struct fit_points {
	struct fit_point *items;
	size_t n, cap;
	size_t too_large; /* sizes that were not taken */
};

/*
 * Adds what the file has of tests that we have; of perftest's output or that
 * of 'heddle bench --json'.
 */
HD_MUST_CHECK enum hd_status fit_points_load(struct fit_points *p, const char *path,
					     struct diag *d);
/* By test and size, every other one left out. HD_ERR_INPUT if too few. */
HD_MUST_CHECK enum hd_status fit_points_divide(struct fit_points *p, struct diag *d);
void fit_points_fini(struct fit_points *p);

#define FIT_PARAMETERS 5

/* A cost as it was, and came out. */
struct fit_cost {
	const char *name;
	double start, value; /* ps or b/s */
	bool held;
	/*
	 * Of one that was fitted: standard error, relative, if what is held is
	 * right.
	 */
	double error;
	/* Of one that was held: which other makes up for it; NULL: none. */
	const char *like;
};

struct fit {
	struct fit_cost costs[FIT_PARAMETERS];
	double error, error_left_out; /* root mean squares, relative */
	size_t runs;
};

/*
 * Fits the profile of `b`, a simulated adapter, and leaves it fitted. `o` says
 * how it was measured; iterations 0: as few as tell what many would. `watch`
 * may end it, as an interrupt does.
 */
HD_MUST_CHECK enum hd_status fit_run(struct nic_backend *b, const struct bench_options *o,
				     struct fit_points *p, const struct bench_watch *watch,
				     struct diag *d, struct fit *out);

void fit_show(const struct fit *f, const struct fit_points *p, struct results *r);

#endif
