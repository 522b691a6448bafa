/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_GE_DES_H
#define HD_MODEL_DES_GE_DES_H

/*
 * The discrete-event counterpart of model/ge.h and model/batch.h: customers come one by one with GE
 * gaps (which may be zero) and are served in order. One whose service takes
 * no time leaves at once; a change of level changes the speed of the service
 * under way. A batch is the customers of one class that come without a gap.
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
 * `all` gets the whole queue. `classes` gets one result per class, or is NULL;
 * the utilisation of a class is the share of time that it is served.
 */
void ge_des_run(const struct batch_queue *q, const struct des_options *o, struct ge_des_result *all,
		struct ge_des_result *classes);

#endif
