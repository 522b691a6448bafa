/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_CC_SESSION_H
#define HD_CLI_CC_SESSION_H

/*
 * A scenario under congestion control, read and built: what the subcommands
 * of 'heddle cc' that run one have in common.
 */

#include "cli/scenario.h"
#include "fabric/fabric.h"
#include "sim/congestion/flows.h"

struct cc_session {
	struct overrides overrides;
	struct fabric *build;
	struct congestion_flow *flows;
	struct congestion_params params;
};

/* Options that weigh more than the scenario; begin with cc_override_none. */
struct cc_override {
	unsigned marking; /* index into cc_marking_names */
	uint64_t depth, threshold, window, steps;
	hd_time ack_delay, warmup, measure;
	double m;
	struct option_list set;
};
extern const char *const cc_marking_names[];
extern const struct cc_override cc_override_none;

/*
 * Reads `path` and builds it. *seed is set to the scenario's if it is
 * SEED_OF_SCENARIO. Call cc_session_fini in any case.
 */
HD_MUST_CHECK enum hd_status cc_session_open(struct cc_session *s,
					     const char *path,
					     const struct cc_override *o,
					     uint64_t *seed, struct diag *d);
/*
 * The scenario of `from` with another seed, and all overrides: `from` outlives
 * it. Call cc_session_fini in any case.
 */
HD_MUST_CHECK enum hd_status cc_session_reseed(const struct cc_session *from,
					       uint64_t seed,
					       struct cc_session *s,
					       struct diag *d);
void cc_session_fini(struct cc_session *s);

#endif
