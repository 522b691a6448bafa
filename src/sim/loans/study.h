/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_LOANS_STUDY_H
#define HD_SIM_LOANS_STUDY_H

/*
 * Thresholds in a simulated fabric beside their model: a scenario with
 * qos.thresholds runs once with one lane per VL and once as it says; queue
 * length, blocking and delay of each host's lanes stand beside what the model
 * says of them, and what the model assumes beside what the fabric has.
 */

#include "measure/results.h"
#include "scenario/override.h"
#include "sim/sim.h"

struct loan_study;

/* Reads and builds it. `path` and `overrides` outlive the study. */
HD_MUST_CHECK enum hd_status loan_study_new(const char *path, const struct overrides *overrides,
					    struct diag *d, struct loan_study **out);
/* Both runs, once; progress() may cut them. */
void loan_study_run(struct loan_study *s, sim_progress_fn *progress, void *context);
void loan_study_free(struct loan_study *s);

uint64_t loan_study_seed(const struct loan_study *s);
void loan_study_tables(const struct loan_study *s, struct results *r);

#endif
