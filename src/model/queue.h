/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_QUEUE_H
#define HD_MODEL_QUEUE_H

/*
 * Queues with closed-form solutions, the reference for the simulator and the
 * discrete-event counterparts. One server, Poisson arrivals; the unit of time
 * is that of the rates.
 */

#include <stddef.h>

#include "base/diag.h"

#define QUEUE_MAX_CLASSES 16

struct queue_result {
	double mean_queue;  /* L: customers present, including the one in service */
	double response;    /* W: from arrival to departure */
	double wait;        /* Wq: from arrival to the start of service */
	double utilisation; /* fraction of time that the server works */
	double blocking;    /* fraction of arrivals that are lost */
	double throughput;
};

/* Unlimited queue: M/M/1, M/D/1 and M/G/1 have cs2 = 1, 0, any. */
HD_MUST_CHECK enum hd_status queue_mg1(double lambda, double mu, double cs2, struct diag *d,
				       struct queue_result *out);
/* At most `capacity` present: M/M/1/N, at any load. */
HD_MUST_CHECK enum hd_status queue_mm1n(double lambda, double mu, size_t capacity, struct diag *d,
					struct queue_result *out);

struct queue_class {
	double lambda;
	double mu;
	double cs2; /* of its service times, at least 0 */
};

/*
 * Non-preemptive priority, classes in descending order of priority; one result
 * each. If the classes up to k overload the server, those before k are served
 * as if k took all the remaining capacity, the wait of k and of later classes
 * is infinite, and later classes are not served.
 */
HD_MUST_CHECK enum hd_status queue_priority(const struct queue_class *classes, size_t n,
					    struct diag *d, struct queue_result *out);

/*
 * The quantity that is invariant under the order of service, if the server
 * neither idles with work waiting nor interrupts a service: the sum over
 * classes of utilisation times wait. Infinite at a load of 1 and above.
 */
double queue_conserved(const struct queue_class *classes, size_t n);

/* A VL that shares a link with others by weight. */
struct share_class {
	double offered; /* load, in the unit of the link's rate */
	double quantum; /* amount that it may send per turn, in any unit */
};

/*
 * Long-run rates under weighted round robin: a VL whose load is below its share
 * gets its full load, and the others divide the rest in proportion to their
 * quanta.
 */
HD_MUST_CHECK enum hd_status queue_share(const struct share_class *classes, size_t n, double rate,
					 struct diag *d, double *got);

/*
 * Bytes that a VL arbitration entry sends per turn when its VL is never empty:
 * the weight counts blocks of 64 bytes, a packet uses whole blocks, and a
 * packet that exceeds the remaining weight is sent completely.
 */
double queue_share_quantum(unsigned weight, unsigned packet_bytes);

#endif
