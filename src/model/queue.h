/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_QUEUE_H
#define HD_MODEL_QUEUE_H

/*
 * Queues whose answer is known in closed form: what the simulator and the
 * simulations are checked against. One server, Poisson arrivals; times are in the
 * unit that the rates are per.
 */

#include <stddef.h>

#include "base/diag.h"

#define QUEUE_MAX_CLASSES 16

struct queue_result {
	double mean_queue;  /* L: present, the one in service included */
	double response;    /* W: from arrival to departure */
	double wait;        /* Wq: from arrival to the start of service */
	double utilisation; /* share of time that the server works */
	double blocking;    /* share of arrivals that are lost */
	double throughput;
};

/* Any number may wait: M/M/1, M/D/1 and M/G/1 differ in cs2 = 1, 0, any. */
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
 * Non-preemptive priority, classes from the highest down; one result each. If
 * the classes down to k overload the server, those before k are served as if
 * k took all the rest, the wait of k and of those after it is infinite, and
 * those after it get nothing.
 */
HD_MUST_CHECK enum hd_status queue_priority(const struct queue_class *classes, size_t n,
					    struct diag *d, struct queue_result *out);

/*
 * What no order of service changes, as long as the server neither idles with
 * work waiting nor interrupts a service: the sum over classes of utilisation
 * times wait. Infinite at a load of 1 and above.
 */
double queue_conserved(const struct queue_class *classes, size_t n);

/* A VL that shares a link with others by weight. */
struct share_class {
	double offered; /* load, in the unit of the link's rate */
	double quantum; /* what it may send at its turn, in any unit */
};

/*
 * Long-run rates under weighted round robin: a VL whose load is below its
 * share gets all of it, and the others divide the rest by their quanta.
 */
HD_MUST_CHECK enum hd_status queue_share(const struct share_class *classes, size_t n, double rate,
					 struct diag *d, double *got);

/*
 * Bytes that a VL arbitration entry lets pass at its turn when its VL is
 * never empty: weight counts blocks of 64 bytes, a packet uses whole blocks,
 * and the packet that uses up the rest is sent whole.
 */
double queue_share_quantum(unsigned weight, unsigned packet_bytes);

#endif
