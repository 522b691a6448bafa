/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/commands.h"

#include "cli/model/queue.h"

#define FIELD(name) offsetof(struct queue_values, name)

static const struct option options[] = {
	{ .name = "lambda",
	  .kind = OPT_TEXT,
	  .offset = FIELD(lambda),
	  .value = "LIST",
	  .initial = "1",
	  .help = "arrival rates to go through" },
	{ .name = "mu",
	  .kind = OPT_TEXT,
	  .offset = FIELD(mu),
	  .value = "R",
	  .initial = "2",
	  .help = "service rate; sharing: the link's rate" },
	{ .name = "cs2",
	  .kind = OPT_TEXT,
	  .offset = FIELD(cs2),
	  .value = "LIST",
	  .initial = "1",
	  .help = "mg1: squared variability of the service times" },
	{ .name = "capacity",
	  .kind = OPT_TEXT,
	  .offset = FIELD(capacity),
	  .value = "LIST",
	  .initial = "10",
	  .help = "mm1n: packets that fit" },
	{ .name = "class",
	  .kind = OPT_LIST,
	  .offset = FIELD(classes),
	  .value = "A:B[:C]",
	  .help = "priority: LAMBDA:MU[:CS2], highest first; sharing: "
		  "OFFERED:WEIGHT[:BYTES]" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model queue mm1 --lambda 0.1..0.9:0.1 --mu 1",
	  "the simplest queue at loads up to 90 %" },
	{ "heddle model queue mm1n --lambda 1..8 --mu 4 --capacity 10",
	  "with ten places, below and above load 1" },
	{ "heddle model queue priority --class 1:4:0 --class 2:10 --simulate "
	  "1000000",
	  "two classes, the first served first" },
	{ "heddle model queue sharing --mu 10 --class 9:3:2048 --class "
	  "9:1:256",
	  "two saturated lanes: weights of 3 and 1 blocks of 64 bytes" },
	{ NULL, NULL },
};

static int run(const struct command *self, int argc, char **argv)
{
	struct queue_values values = { 0 };
	struct queue_sweep sweep = { .values = &values };
	int n_args, status = EXIT_DONE;

	if (!command_parse(self, &values, argc, argv, &n_args, &status))
		return status;
	if (n_args != 1)
		status = command_usage(self, "which queue?");
	else if (queue_sweep_read(&sweep, self, argv[0], &status))
		status = queue_sweep_run(&sweep);
	queue_sweep_fini(&sweep);
	option_list_fini(&values.classes);
	return status;
}

const struct command command_model_queue = {
	.name = "model queue",
	.summary = "queues with a closed form: M/M/1, M/G/1, priority, sharing",
	.arguments = "mm1|mm1n|md1|mg1|priority|sharing",
	.description =
		"mm1, md1, mg1: any number may wait; service times are exponential,\n"
		"constant, or of squared variability --cs2. mm1n: at most --capacity\n"
		"packets, the rest is lost; any load.\n\n"
		"priority: the first --class that waits is served next, a service\n"
		"under way is not interrupted. sharing: lanes take turns on a link\n"
		"of rate --mu, each by the weight of a VL arbitration entry.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
