/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_VL_SHARING_MODEL_H
#define HD_STUDY_VL_SHARING_MODEL_H

/*
 * Predictions of the threshold models of chapter 5 (model/ge.h) for the VLs of
 * a scenario, for comparison with the simulator (sim_vl_use).
 *
 * The model is a single queue whose service rate increases with the number of
 * packets. The service rates come from running the port's own arbiter over VLs
 * that always have a packet: the VL itself, the acquired VLs of the level, and
 * the VLs of saturating traffic. Times are in microseconds.
 */

#include "fabric/fabric.h"
#include "model/ge.h"

struct vl_forecast {
	uint32_t port; /* port of a host */
	unsigned vl;
	uint32_t n_flows; /* flows that share the VL */
	unsigned rivals;  /* VLs of saturating traffic */
	unsigned ignored; /* VLs with other traffic, which the model omits */
	double cs2;       /* of the service time; may be below 1 */
	double ca2;       /* of the interarrival time; may be below 1 */
	bool exact_gaps;  /* one flow with generalised exponential gaps */
	/* C2 below 1 is raised to 1, as the model requires. */
	struct ge_queue with, without; /* without thresholds: one VL */
	struct ge_result with_result, without_result;
};

/*
 * Fills in the VLs of hosts with a capacity and paced traffic, up to `most`,
 * and returns their number. HD_ERR_RANGE in *d if a VL's queue is outside the
 * model.
 */
HD_MUST_CHECK enum hd_status study_vl_sharing_forecast(const struct fabric *fabric, size_t most,
						       struct diag *d, struct vl_forecast *out,
						       size_t *n);

#endif
