/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_GE_DES_H
#define HD_MODEL_DES_GE_DES_H

/*
 * Discrete-event counterpart of model/ge.h and model/batch.h. Customers arrive
 * individually with GE gaps (which may be zero) and are served in order. A
 * customer with zero service time leaves immediately. A change of level changes
 * the speed of the current service. A batch is the customers of one class that
 * arrive without a gap.
 */

#include "model/batch.h"
#include "model/des/des.h"

struct ge_des_result {
	struct interval mean_queue;
	struct interval utilisation;
	struct interval blocking; /* not sound below 100 losses */
	struct interval throughput;
	struct interval response;
	uint64_t lost;
};

/*
 * `all` receives the result of the whole queue, `classes` one result per class
 * unless it is NULL. The utilisation of a class is the fraction of time that it
 * is served.
 */
void ge_des_run(const struct batch_queue *q, const struct des_options *o, struct ge_des_result *all,
		struct ge_des_result *classes);

#endif
