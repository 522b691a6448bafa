/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_CC_VARIANTS_H
#define HD_CLI_CC_VARIANTS_H

/* Runs of one scenario with variants of its congestion control or its opensm.conf. */

#include "cli/scenario.h"
#include "study/compare.h"
#include "study/conf_change.h"
#include "study/tune.h"

/* --warmup and --measure: durations of the phases of a run. */
#define OPTION_CC_WINDOWS(set)                                                       \
	{ "warmup",                                                                  \
	  0,                                                                         \
	  OPT_SET,                                                                   \
	  set,                                                                       \
	  "TIME",                                                                    \
	  NULL,                                                                      \
	  "simulated time before measuring",                                         \
	  .path = "run.warmup",                                                      \
	  .as = OPT_TIME },                                                          \
	{                                                                            \
		"measure", 0, OPT_SET, set, "TIME", NULL, "simulated time measured", \
			.path = "run.measure", .as = OPT_TIME                        \
	}

/*
 * Fills field, label, values and n with the algorithms of `wanted` (none: all),
 * in the order of scn_algorithm_words. EXIT_DONE, or a usage error of `self`.
 * The caller frees c->values.
 */
int cli_cc_variants_read(const struct command *self, const struct option_list *wanted,
			 struct study_comparison *c);
/* comparison_run on all cores, with progress. */
HD_MUST_CHECK enum hd_status cli_cc_variants_run(struct study_comparison *c,
						 const struct common_options *common,
						 struct diag *d, struct results *r);
/* conf_change_run on all cores, with progress. */
HD_MUST_CHECK enum hd_status cli_change_run(struct study_comparison *c,
					    const struct common_options *common, struct diag *d,
					    struct results *r, bool *worse);
/* tune_search_parameters with an estimate of its duration and progress on stderr. */
HD_MUST_CHECK enum hd_status cli_cc_tune_run(struct tune_options *o,
					     const struct common_options *common, struct diag *d,
					     struct tune_result *out);

/* Returns `r`, or a copy without its series if `left_out`. */
struct results *cli_cc_variants_shown(struct results *r, bool left_out);

#endif
