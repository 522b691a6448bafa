/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_BATCH_H
#define HD_MODEL_BATCH_H

/*
 * Solves the queues of ge.h to which the one-pass recursion does not apply, from
 * the full generator over the levels:
 *
 * - several classes of GE arrivals, each with its own rate and variability, that
 *   share one buffer and one server. A mixture of geometric batches is not a GE
 *   stream, but the number present is still a Markov chain.
 * - buffer room that is fixed when a batch arrives: a batch that finds n in
 *   region i may occupy at most room[i] places, even if it crosses a threshold
 *   (semantics S2 of the job thresholds).
 */

#include "model/ge.h"

#define BATCH_MAX_CLASSES  16
#define BATCH_MAX_CAPACITY 1000

struct batch_class {
	double lambda;
	double ca2;
};

struct batch_queue {
	/* Service, capacity and thresholds; its lambda and ca2 are unused. */
	struct ge_queue service;
	size_t n_classes;
	struct batch_class classes[BATCH_MAX_CLASSES];
	size_t room[GE_MAX_REGIONS]; /* per region, at most the capacity */
};

/* One class; in every region, room for the whole capacity. */
struct batch_queue batch_queue_of(const struct ge_queue *q);

HD_MUST_CHECK enum hd_status batch_check(const struct batch_queue *q, struct diag *d);

/*
 * p receives capacity + 1 probabilities. The queue must have passed the check.
 * Rejects rates whose quotients overflow.
 */
HD_MUST_CHECK enum hd_status batch_solve(const struct batch_queue *q, struct diag *d, double *p);

/* All classes together. */
struct ge_result batch_measure(const struct batch_queue *q, const double *p);

/*
 * One class. Its mean queue and response time are exact if the service rate is
 * constant. Otherwise later arrivals change the speed for waiting customers,
 * which the distribution of levels does not contain, and both are NaN.
 * Utilisation is the fraction of time that the server works on this class, NaN
 * likewise.
 */
struct ge_result batch_measure_class(const struct batch_queue *q, const double *p,
				     size_t class_index);

#endif
