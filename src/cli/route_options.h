/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_ROUTE_OPTIONS_H
#define HD_CLI_ROUTE_OPTIONS_H

/* Options of 'heddle route'. */

#include "cli/scenario.h"
#include "subnet/check/inspect.h"

struct cli_route_options {
	struct common_options common;
	struct fabric_choice fabric;
	struct inspection_options look;
	const char *dump; /* format of tables that replace the results; or NULL */
	struct option_list roots;
	unsigned replan; /* enum replan_mode */
};

extern const struct option route_options_table[];

/*
 * Checks the combination of options and sets overrides for the fabric `name`; false with the exit
 * status if it is refused.
 */
bool route_options_take(const struct command *self, struct cli_route_options *v, const char *name,
			int *status);

#endif
