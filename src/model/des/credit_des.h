/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_CREDIT_DES_H
#define HD_MODEL_DES_CREDIT_DES_H

/*
 * Discrete-event counterpart of model/credit.h, with explicit credits. Node 1
 * consumes a credit to start a transmission. A packet that leaves node 2
 * returns a credit, which arrives immediately or after its delay.
 */

#include "model/credit.h"
#include "model/des/des.h"

struct credit_des_result {
	struct interval mean_upstream;
	struct interval mean_downstream;
	struct interval mean;
	struct interval response;
	struct interval throughput;
	struct interval loss; /* not sound below 100 losses */
	struct interval in_flight;
	uint64_t lost;
};

/* link->phases = 0: every credit takes exactly `delay`. */
void credit_des_run(const struct credit_link *link, const struct des_options *o,
		    struct credit_des_result *out);

#endif
