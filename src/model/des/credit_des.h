/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_CREDIT_DES_H
#define HD_MODEL_DES_CREDIT_DES_H

/*
 * The discrete-event counterpart of model/credit.h, with an explicit count of credits: node 1 takes
 * one to start a transmission, and a packet that leaves node 2 sends one back,
 * which arrives at once or after its delay.
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
