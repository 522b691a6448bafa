/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_VL_SHARING_H
#define HD_STUDY_VL_SHARING_H

/*
 * Compares simulation and model of VL sharing by thresholds. A scenario with
 * qos.thresholds is run twice: with one VL per class, and unchanged. The tables
 * compare queue length, blocking and delay of each host's VLs with the model,
 * and the assumptions of the model with the fabric.
 */

#include "measure/results.h"
#include "scenario/override.h"
#include "sim/sim.h"

struct study_vl_sharing;

/* Reads and builds the scenario. `path` and `overrides` must outlive the study. */
HD_MUST_CHECK enum hd_status study_vl_sharing_new(const char *path,
						  const struct overrides *overrides, struct diag *d,
						  struct study_vl_sharing **out);
/* Executes both runs once; progress() may end them. HD_ERR_ENV if packets exhaust the memory. */
HD_MUST_CHECK enum hd_status study_vl_sharing_run(struct study_vl_sharing *s,
						  sim_progress_fn *progress, void *context,
						  struct diag *d);
void study_vl_sharing_free(struct study_vl_sharing *s);

uint64_t study_vl_sharing_seed(const struct study_vl_sharing *s);
void study_vl_sharing_tables(const struct study_vl_sharing *s, struct results *r);

#endif
