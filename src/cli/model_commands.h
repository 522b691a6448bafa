/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_COMMANDS_H
#define HD_CLI_MODEL_COMMANDS_H

/*
 * Commands of 'heddle model', one per cmd_model_<name>.c; ge, et and ajt are variants in one file.
 */

#include "cli/command.h"

extern const struct command command_model_credit;
extern const struct command command_model_ge;
extern const struct command command_model_et;
extern const struct command command_model_ajt;
extern const struct command command_model_queue;
extern const struct command command_model_loss;
extern const struct command command_model_fabric;

#endif
