/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_QUEUE_DES_H
#define HD_MODEL_DES_QUEUE_DES_H

/*
 * Discrete-event counterpart of model/queue.h: one server, classes of Poisson
 * arrivals, each with its own queue, and a rule for the class to serve next.
 *
 * Only the first two moments of a service time matter to the formulas, so the
 * simulation uses the simplest distribution that has them: constant plus
 * exponential below a squared coefficient of variation of 1, GE from 1 on.
 */

#include "model/des/des.h"
#include "model/queue.h"

enum queue_order {
	QUEUE_PRIORITY, /* the first class with a waiting customer; one class: FCFS */
	QUEUE_TURNS,    /* weighted round robin, `turn` customers each */
};

struct queue_des {
	enum queue_order order;
	size_t n_classes;
	struct queue_class classes[QUEUE_MAX_CLASSES];
	unsigned turn[QUEUE_MAX_CLASSES]; /* QUEUE_TURNS only */
	size_t capacity;                  /* of all queues and the server; 0 = no limit */
};

struct queue_des_result {
	struct interval mean_queue;
	struct interval response;
	struct interval wait;
	struct interval utilisation;
	struct interval blocking; /* not sound below 100 losses */
	struct interval throughput;
	uint64_t lost;
};

/*
 * One result per class, and the mean of the work in all queues without current
 * services, the value of queue_conserved.
 */
void queue_des_run(const struct queue_des *q, const struct des_options *o,
		   struct queue_des_result *out, struct interval *conserved);

#endif
