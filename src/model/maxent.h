/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_MAXENT_H
#define HD_MODEL_MAXENT_H

/*
 * The maximum-entropy form of the queues of ge.h:
 *
 *	P(n) = P(0) g_i x_i^n          n in region i, n < M
 *	P(M) = P(0) g_k x_k^M y        at the capacity
 *
 * The equations (5.7) to (5.22) of Yan's thesis are lost in the copy of its
 * text. There are two readings of what remains; both take x_i from an infinite
 * queue with the rate of region i, and y by flow balance:
 *
 *	joined      the regions meet at their thresholds:
 *	            P(T) = P(T-1) (g_2 / g_1) x_2 with the g of the infinite queues.
 *	            Equal to ge_solve (docs/queueing-models.md has the proof).
 *	separate    g_i of the infinite queue too: discontinuous at a threshold.
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

enum maxent_reading { MAXENT_JOINED, MAXENT_SEPARATE };
extern const char *const maxent_reading_names[]; /* ends with NULL */

void maxent_joined(const struct ge_queue *q, struct maxent *out);

/*
 * HD_ERR_UNFIT if a region's load lambda / mu[i] is 1 or more, because its
 * infinite queue then has no steady state, or if y is negative, which is
 * possible.
 */
HD_MUST_CHECK enum hd_status maxent_separate(const struct ge_queue *q, struct diag *d,
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
