/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_MAXENT_H
#define HD_MODEL_MAXENT_H

/*
 * The maximum-entropy form of the queues of ge.h:
 *
 *	P(n) = P(0) g_i x_i^n          n in region i, n < M
 *	P(M) = P(0) g_k x_k^M y        at the capacity
 *
 * maxent_exact takes the coefficients from the true constraints, so the form
 * is not an approximation: it equals ge_solve. maxent_thesis is one reading
 * of Yan's thesis (5.10)-(5.22), whose printed equations are lost: g_i and x_i
 * of each region from an infinite queue of its own, y by flow balance. It is
 * kept to show what the exact coefficients improve.
 *
 * Coefficients are kept as logarithms too, because with many levels g_i and
 * x_i^n leave the range of a double long before their product does.
 */

#include "model/ge.h"

struct maxent {
	size_t n_regions;
	double x[GE_MAX_REGIONS];
	double log_x[GE_MAX_REGIONS];
	double log_g[GE_MAX_REGIONS];
	double y;
};

/* exp(log_g): 0 or infinite when it leaves the range of a double. */
double maxent_g(const struct maxent *m, size_t region);

void maxent_exact(const struct ge_queue *q, struct maxent *out);

/*
 * HD_ERR_UNFIT if a region's load lambda / mu[i] is 1 or more: its infinite
 * queue has no steady state then. A negative y, which happens, is refused in
 * the same way.
 */
HD_MUST_CHECK enum hd_status maxent_thesis(const struct ge_queue *q, struct diag *d,
					   struct maxent *out);

/* The capacity + 1 probabilities of the form. */
void maxent_evaluate(const struct ge_queue *q, const struct maxent *m, double *p);

/*
 * Kouvatsos' coefficients of an infinite GE/GE/1 with load rho = lambda / mu
 * other than 1, from its mean queue length.
 */
struct maxent_infinite {
	double mean_queue;
	double g;
	double x;
};
struct maxent_infinite maxent_infinite_of(double rho, double ca2, double cs2);

#endif
