/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_LOSS_H
#define HD_CLI_MODEL_LOSS_H

/* What 'heddle model loss' does once options are read. */

#include "cli/model_args.h"

struct loss_values {
	struct common_options common;
	const char *places, *load;
	struct option_list classes;
};

/* The exit status. */
int loss_run(const struct command *self, const struct loss_values *values);

#endif
