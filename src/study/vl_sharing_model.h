/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_VL_SHARING_MODEL_H
#define HD_STUDY_VL_SHARING_MODEL_H

/*
 * What the threshold models of chapter 5 (model/ge.h) say of a VL of a
 * scenario, to be compared with what the simulator shows (sim_vl_use).
 *
 * The model is a single queue whose server speeds up with the number of
 * packets. Its speeds are found by letting the port's own arbiter choose among
 * VLs that always have a packet: the VL itself, as many borrowed ones as
 * the level allows, and the VLs of saturating traffic. Times are in
 * microseconds.
 */

#include "fabric/fabric.h"
#include "model/ge.h"

struct vl_forecast {
	uint32_t port; /* of a host */
	unsigned vl;
	uint32_t n_flows; /* that share the VL */
	unsigned rivals;  /* VLs of saturating traffic */
	unsigned ignored; /* VLs with other traffic, which the model omits */
	double cs2;       /* of the time for one packet; may be below 1 */
	double ca2;       /* of the gaps; may be below 1 */
	bool exact_gaps;  /* one flow whose gaps are generalised exponential */
	/* C2 raised to 1 where it was below, as the model asks. */
	struct ge_queue with, without; /* without thresholds: one VL */
	struct ge_result with_result, without_result;
};

/*
 * The VLs of hosts with a capacity and paced traffic, up to `most`; returns
 * how many were filled in. HD_ERR_RANGE in *d if a VL's queue is not one that
 * the model takes.
 */
HD_MUST_CHECK enum hd_status study_vl_sharing_forecast(const struct fabric *fabric, size_t most,
						       struct diag *d, struct vl_forecast *out,
						       size_t *n);

#endif
