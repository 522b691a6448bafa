/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_GE_H
#define HD_MODEL_GE_H

/*
 * The queue GE/GE/1/M with thresholds: bursty arrivals, bursty service, a
 * finite buffer, first come first served, and a service rate that depends on
 * the number of customers present.
 *
 * A GE gap with mean 1/r and squared coefficient of variation C2 >= 1 is zero
 * with probability 1 - q and exponential with rate q * r otherwise, where q = 2
 * / (C2 + 1). Customers therefore arrive in geometric batches (q is `sigma`)
 * and are served in geometric groups (q is `tau`).
 *
 * Regions: `mu[i]` applies while threshold[i-1] <= n < threshold[i]; the first
 * region starts at n = 1 and the last one ends at the capacity. No threshold is
 * the plain queue, one is the entry threshold (ET), two are the job thresholds
 * (AJT); more are permitted.
 *
 * A customer that arrives at a full buffer is lost. The unit of time is that of
 * the rates. The load may be 1 or more.
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
	double utilisation; /* fraction of time with at least one customer */
	double blocking;    /* fraction of arriving customers that are lost */
	double throughput;  /* customers served per unit of time */
	double response;    /* W: mean time in the system of accepted customers */
};

/* HD_ERR_RANGE with the rule that `q` violates; or HD_OK. */
HD_MUST_CHECK enum hd_status ge_check(const struct ge_queue *q, struct diag *d);

/* Quantities derived from the coefficients of variation. */
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
 * The exact solution in one pass over the levels, without subtraction. p
 * receives capacity + 1 probabilities. The queue must have passed ge_check.
 */
void ge_solve(const struct ge_queue *q, double *p);

/* The measures of any distribution p over 0..capacity for this queue. */
struct ge_result ge_des_measure(const struct ge_queue *q, const double *p);

#endif
