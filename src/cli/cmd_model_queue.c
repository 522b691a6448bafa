/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_commands.h"

#include "cli/model_queue.h"

#define FIELD(name) offsetof(struct queue_sweep_options, name)

static const struct option options[] = {
	{ "lambda", 0, OPT_TEXT, FIELD(lambda), "LIST", "1", "arrival rates to go through" },
	{ "mu", 0, OPT_TEXT, FIELD(mu), "R", "2", "service rate; sharing: the link's rate" },
	{ "cs2", 0, OPT_TEXT, FIELD(cs2), "LIST", "1",
	  "mg1: squared variability of the service times" },
	{ "capacity", 0, OPT_TEXT, FIELD(capacity), "LIST", "10", "mm1n: packets that fit" },
	{ "class", 0, OPT_LIST, FIELD(classes), "A:B[:C]", NULL,
	  "priority: LAMBDA:MU[:CS2], highest first; sharing: OFFERED:WEIGHT[:BYTES]" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model queue mm1 --lambda 0.1..0.9:0.1 --mu 1",
	  "the simplest queue at loads up to 90 %" },
	{ "heddle model queue mm1n --lambda 1..8 --mu 4 --capacity 10",
	  "with ten places, below and above load 1" },
	{ "heddle model queue priority --class 1:4:0 --class 2:10 --simulate 1000000",
	  "two classes, the first served first" },
	{ "heddle model queue sharing --mu 10 --class 9:3:2048 --class 9:1:256",
	  "two saturated VLs: weights of 3 and 1 blocks of 64 bytes" },
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
	.summary = "closed forms: M/M/1, M/G/1, priority, weighted sharing",
	.arguments = "mm1|mm1n|md1|mg1|priority|sharing",
	.description = "mm1, md1, mg1: any number may wait; service times are exponential,\n"
		       "constant, or of squared variability --cs2. mm1n: at most --capacity\n"
		       "packets, the rest is lost; any load.\n\n"
		       "priority: the first --class that waits is served next, a service\n"
		       "under way is not interrupted. sharing: VLs take turns on a link\n"
		       "of rate --mu, each by the weight of a VL arbitration entry.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct queue_sweep_options, 1, 1),
	.is_long = true,
};
