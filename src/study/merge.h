/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_MERGE_H
#define HD_STUDY_MERGE_H

/*
 * The study whose shards these databases are, from the sweep that was recorded
 * last in each; refused if they are not of one study. Sweeping it with the
 * databases as sources (sweep.h) joins them. Free even after a refusal.
 */

#include "study/study.h"

HD_MUST_CHECK enum hd_status merge_open(const char *const *paths, size_t n,
					study_options_fn *options_of, struct diag *d,
					struct study *out);

#endif
