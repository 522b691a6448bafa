/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_GE_H
#define HD_MODEL_GE_H

/*
 * The queue GE/GE/1/M with thresholds: bursty arrivals, bursty service, a
 * finite buffer, first come first served, and a service rate that depends on
 * how many customers are present.
 *
 * A GE gap with mean 1/r and squared coefficient of variation C2 >= 1 is zero
 * with probability 1 - q and exponential with rate q * r otherwise, where
 * q = 2 / (C2 + 1). So customers arrive in geometric batches (q is `sigma`),
 * and are served in geometric groups (q is `tau`).
 *
 * Regions: `mu[i]` holds while threshold[i-1] <= n < threshold[i]; the first
 * region starts at n = 1 and the last one ends at the capacity. No threshold
 * is the plain queue, one is the entry threshold (ET), two are the job
 * thresholds (AJT), and there may be more.
 *
 * A customer who arrives at a full buffer is lost. Times are in whatever unit
 * the rates are per. Nothing here needs load < 1.
 */

#include <stddef.h>

#include "base/diag.h"

#define GE_MAX_REGIONS  64
#define GE_MAX_CAPACITY 10000000

struct ge_queue {
	double lambda;
	double ca2; /* of the gaps between customers; at least 1 */
	double cs2; /* of the service times; at least 1 */
	size_t capacity;
	size_t n_regions; /* at least 1 */
	double mu[GE_MAX_REGIONS];
	size_t threshold[GE_MAX_REGIONS]; /* n_regions - 1 of them */
};

struct ge_result {
	double mean_queue;  /* L: customers present */
	double utilisation; /* U: share of time that any is present */
	double blocking;    /* share of arriving customers that are lost */
	double throughput;  /* customers served per unit of time */
	double response;    /* W: mean time in the system of who is accepted */
};

/* The rule that `q` breaks, in words, with HD_ERR_RANGE; or HD_OK. */
HD_MUST_CHECK enum hd_status ge_check(const struct ge_queue *q, struct diag *d);

/* What follows from the coefficients of variation. */
struct ge_law {
	double sigma;
	double tau;
	double s;      /* sigma + tau - sigma * tau */
	double delta0; /* an arrival at an empty queue stays: tau / s */
};
struct ge_law ge_law_of(const struct ge_queue *q);

/* The service rate with n > 0 present. */
double ge_rate(const struct ge_queue *q, size_t n);

/*
 * The exact solution by one pass over the levels, without subtraction: p gets
 * capacity + 1 probabilities. The queue must have passed ge_check.
 */
void ge_solve(const struct ge_queue *q, double *p);

/* The measures of any distribution p over 0..capacity for this queue. */
struct ge_result ge_des_measure(const struct ge_queue *q, const double *p);

#endif
