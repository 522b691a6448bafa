/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_MERGE_H
#define HD_STUDY_MERGE_H

/*
 * Reads the study that these shard databases belong to, from the last recorded
 * sweep of each. Databases of different studies are rejected. A sweep of the
 * study with the databases as sources (sweep.h) merges them. Call study_fini
 * even after an error.
 */

#include "study/study.h"

HD_MUST_CHECK enum hd_status merge_open(const char *const *paths, size_t n,
					study_options_fn *options_of, struct diag *d,
					struct study *out);

#endif
