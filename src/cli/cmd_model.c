/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/model_commands.h"

static const struct command *const subcommands[] = {
	&command_model_credit, &command_model_ge,   &command_model_et,     &command_model_ajt,
	&command_model_queue,  &command_model_loss, &command_model_fabric, NULL,
};

static const struct example examples[] = {
	{ "heddle model credit --upstream 12 --downstream 2..11",
	  "compute the effect of credits (figures 4.5 to 4.8 of the thesis)" },
	{ "heddle model et --lambda 1..8 --simulate 1000000",
	  "compute and simulate an entry threshold" },
	{ "heddle model queue md1 --lambda 0.1..0.9:0.1 --mu 1", "compute a closed form" },
	{ "heddle model fabric examples/entry-threshold.yaml",
	  "compare an entry threshold in a simulated fabric with the model" },
	{ NULL, NULL },
};

const struct command command_model = {
	.name = "model",
	.summary = "compute queueing models: credits, bursty arrivals, thresholds",
	.arguments = "",
	.description =
		"Computes queues with exact solutions. --simulate simulates the same queue\n"
		"packet by packet on the simulator's event kernel and compares. Rates are per\n"
		"unit of time t; times are in t.\n",
	.examples = examples,
	.subcommands = subcommands,
};
