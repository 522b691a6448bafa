/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_SUMMARY_H
#define HD_SIM_CONGESTION_SUMMARY_H

/*
 * What a run under congestion control meant for each row of traffic.
 *
 * What a flow could have is what the others left it: on each link of its way
 * the link's rate less the goodput of other rows there, shared equally with
 * the flows of its own row; the least of these counts.
 *
 * A row has settled at the first sample from which on its goodput, between
 * that sample and the end, stays within a quarter of its measured mean over
 * each tenth of the run. Oscillation is the standard deviation of the goodput
 * over a hundredth of the run, as a share of its mean, while measuring.
 */

#include "fabric/fabric.h"
#include "sim/congestion/congestion.h"

/* Samples that the times below need. */
#define CONGESTION_SAMPLES 100

struct congestion_row {
	uint32_t flows;
	double goodput;  /* bits per second, headers included */
	double possible; /* the same, of what its flows could have */
	double rate;     /* of the rate variables */
	double marks;    /* per second and flow */
	/* Per second in which a flow could speed up; NAN if that is less than
	 * half of the time, and the law of no use. */
	double balance;
	double settled; /* seconds; NAN if it did not */
	double oscillation;
	double fairness; /* Jain's index over its flows */
};

/*
 * One per traffic row of the scenario. The run must have been sampled every
 * stop/CONGESTION_SAMPLES. The caller frees *out.
 */
void congestion_summarise(const struct fabric *b, const struct congestion_flow *flows,
			  const struct congestion_params *params, const struct congestion_result *r,
			  struct congestion_row **out);

/* The sim ports that send on the way of a flow, in order; returns how many. */
#define CONGESTION_LONGEST 64
uint32_t congestion_path(const struct sim_setup *s, const struct congestion_flow *flow,
			 uint32_t ports[CONGESTION_LONGEST]);

#endif
