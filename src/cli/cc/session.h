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
#include "sim/congestion/tune.h"

struct cc_session {
	const struct overrides *given; /* of the choice, which outlives it */
	struct overrides overrides;    /* of its own, with another seed */
	struct fabric *build;
	struct congestion_flow *flows;
	struct congestion_params params;
};

/*
 * Reads `path` and builds it, as scenario_choose does. Call cc_session_fini in
 * any case.
 */
HD_MUST_CHECK enum hd_status cc_session_open(struct cc_session *s, const char *path,
					     struct fabric_choice *choice, uint64_t *seed,
					     struct diag *d);
void cc_session_fini(struct cc_session *s);

/* What is tuned, and the same with seeds that the search does not see. */
struct tune_case cc_session_case(const struct cc_session *s);
struct cc_held_out {
	const struct cc_session *searched;
	struct cc_session current; /* zero at first; freed by the caller */
};
/* For tune_options.reseed; the context is a struct cc_held_out. */
HD_MUST_CHECK enum hd_status cc_reseed(void *held_out, uint64_t seed, struct diag *d,
				       struct tune_case *out);

#endif
