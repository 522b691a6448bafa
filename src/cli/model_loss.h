/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_LOSS_H
#define HD_CLI_MODEL_LOSS_H

/* Sweep of 'heddle model loss'. */

#include "cli/model_args.h"

struct cli_model_loss_options {
	struct common_options common;
	const char *places, *load;
	struct option_list classes;
};

/* Returns the exit status. */
int cli_model_loss_run(const struct command *self, const struct cli_model_loss_options *values);

#endif
