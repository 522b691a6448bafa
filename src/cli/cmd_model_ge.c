/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_commands.h"

#include "cli/model_ge.h"

#define FIELD(name) offsetof(struct ge_sweep_options, name)

static const struct option options[] = {
	{ "lambda", 0, OPT_TEXT, FIELD(lambda), "LIST", NULL, "arrival rates (default 1..8)" },
	{ "mu", 0, OPT_TEXT, FIELD(mu), "R[,R...]", NULL,
	  "service rate of each region (default 8; et 8,16; ajt 8,16,24)" },
	{ "ca2", 0, OPT_TEXT, FIELD(ca2), "LIST", NULL,
	  "squared variability of the gaps between arrivals (default 5)" },
	{ "cs2", 0, OPT_TEXT, FIELD(cs2), "LIST", NULL,
	  "squared variability of the service times (default 7)" },
	{ "capacity", 0, OPT_TEXT, FIELD(capacity), "N", NULL,
	  "maximum number of packets, over all regions (default 8; et 16; ajt 24)" },
	{ "threshold", 0, OPT_TEXT, FIELD(threshold), "T[,T...]", NULL,
	  "queue lengths from which the next rate applies (default none; et 8; ajt 8,16)" },
	{ "semantics", 0, OPT_CHOICE, FIELD(semantics), NULL, "s1",
	  "s1: a batch may fill the whole capacity; s2: only the rest of its region",
	  ge_sweep_semantics },
	{ "rooms", 0, OPT_TEXT, FIELD(rooms), "N[,N...]", NULL,
	  "s2: capacity of each region (default equal regions)" },
	{ "class", 0, OPT_LIST, FIELD(classes), "LAMBDA:CA2", NULL,
	  "traffic class that shares the queue, instead of --lambda and --ca2" },
	{ "form", 0, OPT_CHOICE, FIELD(form), NULL, "joined",
	  "maximum-entropy form: regions joined at the thresholds (exact) or separate (an approximation)",
	  maxent_reading_names },
	{ "compare", 0, OPT_FLAG, FIELD(compare), NULL, NULL, "the same queue without thresholds" },
	{ "coefficients", 0, OPT_FLAG, FIELD(coefficients), NULL, NULL,
	  "print g, x and y of the maximum-entropy form" },
	{ "levels", 0, OPT_FLAG, FIELD(levels), NULL, NULL, "the probability of every level" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	struct ge_sweep sweep = { .values = values };
	int status;

	(void)n;
	(void)args;
	if (ge_sweep_read(&sweep, self, &status))
		status = ge_sweep_run(&sweep);
	ge_sweep_fini(&sweep);
	return status;
}

static const struct example ge_examples[] = {
	{ "heddle model ge --lambda 1..8 --mu 8 --ca2 5 --cs2 7 --capacity 8",
	  "compute a bursty queue at loads up to 1" },
	{ "heddle model ge --lambda 4 --coefficients --levels",
	  "print the maximum-entropy form, and the probability of every level" },
	{ "heddle model ge --class 3:1 --class 2:8 --simulate 1000000",
	  "compute and simulate two classes in one queue" },
	{ NULL, NULL },
};

const struct command command_model_ge = {
	.name = "model ge",
	.summary = "compute GE/GE/1/N: a finite queue with bursty traffic",
	.arguments = "",
	.description = "Packets arrive in geometric batches and are served in geometric\n"
		       "groups: the generalised exponential (GE) distribution with squared\n"
		       "coefficients of variation ca2 and cs2. Solved exactly at any load.\n",
	.options = options,
	.examples = ge_examples,
	COMMAND_CALL(run, struct ge_sweep_options, 0, 0),
	.is_long = true,
};

static const struct example et_examples[] = {
	{ "heddle model et --threshold 8 --compare",
	  "compare with the plain queue (figures 5.3 to 5.5)" },
	{ "heddle model et --threshold 4 --form separate --simulate 1000000",
	  "compare the approximation by separate regions with simulation" },
	{ "heddle model et --lambda 4 --ca2 1..20 --csv",
	  "compute the effect of burstiness, as CSV" },
	{ NULL, NULL },
};

const struct command command_model_et = {
	.name = "model et",
	.summary = "compute an entry threshold: a second VL at a queue length",
	.arguments = "",
	.description = "A GE queue whose service rate rises from the first to the second\n"
		       "--mu when --threshold packets are present, and falls back below.\n",
	.options = options,
	.examples = et_examples,
	COMMAND_CALL(run, struct ge_sweep_options, 0, 0),
	.is_long = true,
};

static const struct example ajt_examples[] = {
	{ "heddle model ajt --threshold 8,16 --compare",
	  "compare two job thresholds with the plain queue (figures 5.9 to 5.11)" },
	{ "heddle model ajt --mu 8,16,12 --threshold 4,12",
	  "use the third rate that the thesis prints" },
	{ "heddle model ajt --semantics s2 --threshold 4,12 --simulate 1000000",
	  "compute and simulate semantics s2" },
	{ NULL, NULL },
};

const struct command command_model_ajt = {
	.name = "model ajt",
	.summary = "compute arrival-job thresholds: more VLs at queue lengths",
	.arguments = "",
	.description = "A GE queue with a service rate per region: the next of --mu holds\n"
		       "from each --threshold on, any number of them.\n",
	.options = options,
	.examples = ajt_examples,
	COMMAND_CALL(run, struct ge_sweep_options, 0, 0),
	.is_long = true,
};
