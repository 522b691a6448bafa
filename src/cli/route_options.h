/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_ROUTE_OPTIONS_H
#define HD_CLI_ROUTE_OPTIONS_H

/* The options of 'heddle route', and what they mean. */

#include "cli/scenario.h"
#include "subnet/check/inspect.h"

struct cli_route_options {
	struct common_options common;
	struct fabric_choice fabric;
	struct inspection_options look;
	const char *dump; /* a format of tables, instead of results */
	struct option_list roots;
	unsigned replan; /* enum replan_mode */
};

extern const struct option route_options_table[];

/*
 * Whether they make sense together, and then all that is asked of the fabric
 * `name` in place; else what to return.
 */
bool route_options_take(const struct command *self, struct cli_route_options *v, const char *name,
			int *status);

#endif
