/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_BOUND_OPTIONS_H
#define HD_CLI_QOS_BOUND_OPTIONS_H

/*
 * The options of qos bound, and what they mean. Those of switches and cables
 * are short for --set of the scenario's field; what is not given stays as the
 * scenario says.
 */

#include "cli/scenario.h"
#include "qos/grants.h"

struct bound_values {
	struct common_options common;
	struct fabric_choice fabric;
	struct grants_params params;
	uint64_t payload, overhead, least, management;
};

extern const struct option bound_options[];

/* Whether they make sense together, and then all in place; else what to
 * return. */
bool bound_options_take(const struct command *self, struct bound_values *v,
			int *status);

/*
 * The delays, the crossbar and the order of service that bounds are to count
 * with, as the simulator would run them; HD_ERR_UNFIT if there is no bound.
 */
HD_MUST_CHECK enum hd_status bound_switches(const struct sim_setup *s,
					    struct diag *d,
					    struct blrm_params *out);

#endif
