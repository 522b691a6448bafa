/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_commands.h"

#include "cli/model_queue.h"

#define FIELD(name) offsetof(struct queue_sweep_options, name)

static const struct option options[] = {
	{ "lambda", 0, OPT_TEXT, FIELD(lambda), "LIST", "1", "arrival rates" },
	{ "mu", 0, OPT_TEXT, FIELD(mu), "R", "2", "service rate; sharing: the link's rate" },
	{ "cs2", 0, OPT_TEXT, FIELD(cs2), "LIST", "1",
	  "mg1: squared variability of the service times" },
	{ "capacity", 0, OPT_TEXT, FIELD(capacity), "LIST", "10",
	  "mm1n: maximum number of packets" },
	{ "class", 0, OPT_LIST, FIELD(classes), "A:B[:C]", NULL,
	  "priority: LAMBDA:MU[:CS2], highest first; sharing: OFFERED:WEIGHT[:BYTES]" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model queue mm1 --lambda 0.1..0.9:0.1 --mu 1",
	  "compute M/M/1 at loads up to 90 %" },
	{ "heddle model queue mm1n --lambda 1..8 --mu 4 --capacity 10",
	  "compute a queue of ten packets, below and above load 1" },
	{ "heddle model queue priority --class 1:4:0 --class 2:10 --simulate 1000000",
	  "compute and simulate two priority classes" },
	{ "heddle model queue sharing --mu 10 --class 9:3:2048 --class 9:1:256",
	  "compute the shares of two saturated VLs" },
	{ NULL, NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	struct queue_sweep sweep = { .values = values };
	int status;

	(void)n;
	if (queue_sweep_read(&sweep, self, args[0], &status))
		status = queue_sweep_run(&sweep);
	queue_sweep_fini(&sweep);
	return status;
}

const struct command command_model_queue = {
	.name = "model queue",
	.summary = "compute closed forms: M/M/1, M/G/1, priority, sharing",
	.arguments = "mm1|mm1n|md1|mg1|priority|sharing",
	.description =
		"mm1, md1, mg1: an unlimited queue with exponential service times, constant\n"
		"ones, or those of squared variability --cs2. mm1n: at most --capacity packets,\n"
		"the rest is lost; any load.\n\n"
		"priority: the first --class with packets is served next, without preemption.\n"
		"sharing: VLs share a link of rate --mu in turn, each with the weight of a VL\n"
		"arbitration entry.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct queue_sweep_options, 1, 1),
	.is_long = true,
};
