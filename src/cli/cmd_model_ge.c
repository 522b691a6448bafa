/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/commands.h"

#include "cli/model/ge.h"

#define FIELD(name) offsetof(struct ge_values, name)

static const struct option options[] = {
	{ .name = "lambda",
	  .kind = OPT_TEXT,
	  .offset = FIELD(lambda),
	  .value = "LIST",
	  .help = "arrival rates to go through (default 1..8)" },
	{ .name = "mu",
	  .kind = OPT_TEXT,
	  .offset = FIELD(mu),
	  .value = "R[,R...]",
	  .help = "service rate of each region (default 8; et 8,16; ajt 8,16,24)" },
	{ .name = "ca2",
	  .kind = OPT_TEXT,
	  .offset = FIELD(ca2),
	  .value = "LIST",
	  .help = "squared variability of the gaps between arrivals (default 5)" },
	{ .name = "cs2",
	  .kind = OPT_TEXT,
	  .offset = FIELD(cs2),
	  .value = "LIST",
	  .help = "squared variability of the service times (default 7)" },
	{ .name = "capacity",
	  .kind = OPT_TEXT,
	  .offset = FIELD(capacity),
	  .value = "N",
	  .help = "packets that fit, over all regions (default 8; et 16; ajt 24)" },
	{ .name = "threshold",
	  .kind = OPT_TEXT,
	  .offset = FIELD(threshold),
	  .value = "T[,T...]",
	  .help = "levels from which the next rate holds (default none; et 8; ajt 8,16)" },
	{ .name = "semantics",
	  .kind = OPT_CHOICE,
	  .offset = FIELD(semantics),
	  .initial = "s1",
	  .choices = ge_semantics,
	  .help = "s1: a batch may fill the whole capacity; s2: only the room of the region that it finds" },
	{ .name = "rooms",
	  .kind = OPT_TEXT,
	  .offset = FIELD(rooms),
	  .value = "N[,N...]",
	  .help = "s2: room of each region (default equal steps up to the capacity)" },
	{ .name = "class",
	  .kind = OPT_LIST,
	  .offset = FIELD(classes),
	  .value = "LAMBDA:CA2",
	  .help = "a traffic class that shares the queue, instead of --lambda and --ca2" },
	{ .name = "thesis",
	  .kind = OPT_FLAG,
	  .offset = FIELD(thesis),
	  .help = "the thesis' approximation beside it, with its error" },
	{ .name = "compare",
	  .kind = OPT_FLAG,
	  .offset = FIELD(compare),
	  .help = "the same queue without thresholds" },
	{ .name = "coefficients",
	  .kind = OPT_FLAG,
	  .offset = FIELD(coefficients),
	  .help = "g, x and y of the maximum-entropy form" },
	{ .name = "levels",
	  .kind = OPT_FLAG,
	  .offset = FIELD(levels),
	  .help = "the probability of every level" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static int run(const struct command *self, int argc, char **argv)
{
	struct ge_values values = { 0 };
	struct ge_sweep sweep = { .values = &values };
	int n_args, status = EXIT_DONE;

	if (!command_parse(self, &values, argc, argv, &n_args, &status))
		return status;
	if (n_args > 0)
		status = command_usage(self, "unexpected argument '%s'",
				       argv[0]);
	else if (ge_sweep_read(&sweep, self, &status))
		status = ge_sweep_run(&sweep);
	ge_sweep_fini(&sweep);
	option_list_fini(&values.classes);
	return status;
}

static const struct example ge_examples[] = {
	{ "heddle model ge --lambda 1..8 --mu 8 --ca2 5 --cs2 7 --capacity 8",
	  "a bursty queue at loads up to 1" },
	{ "heddle model ge --lambda 4 --coefficients --levels",
	  "the maximum-entropy form, and every level's probability" },
	{ "heddle model ge --class 3:1 --class 2:8 --simulate 1000000",
	  "two classes in one queue, computed and simulated" },
	{ NULL, NULL },
};

const struct command command_model_ge = {
	.name = "model ge",
	.summary = "GE/GE/1/N: a finite queue with bursts in and out",
	.arguments = "",
	.description =
		"Packets arrive in geometric batches and are served in geometric\n"
		"groups: the generalised exponential (GE) distribution with squared\n"
		"coefficients of variation ca2 and cs2. Solved exactly at any load.\n",
	.options = options,
	.examples = ge_examples,
	.run = run,
};

static const struct example et_examples[] = {
	{ "heddle model et --threshold 8 --compare",
	  "with and without the threshold (figures 5.3 to 5.5)" },
	{ "heddle model et --threshold 4 --thesis --simulate 1000000",
	  "how far the thesis' approximation is from simulation" },
	{ "heddle model et --lambda 4 --ca2 1..20 --csv",
	  "what burstiness does, for a spreadsheet" },
	{ NULL, NULL },
};

const struct command command_model_et = {
	.name = "model et",
	.summary = "entry threshold: a second lane from a level on",
	.arguments = "",
	.description =
		"A GE queue whose service rate rises from the first to the second\n"
		"--mu when --threshold packets are present, and falls back below.\n",
	.options = options,
	.examples = et_examples,
	.run = run,
};

static const struct example ajt_examples[] = {
	{ "heddle model ajt --threshold 8,16 --compare",
	  "two job thresholds beside the plain queue (figures 5.9 to 5.11)" },
	{ "heddle model ajt --mu 8,16,12 --threshold 4,12",
	  "the third rate as the thesis prints it" },
	{ "heddle model ajt --semantics s2 --threshold 4,12 --simulate 1000000",
	  "room fixed when a batch arrives, computed and simulated" },
	{ NULL, NULL },
};

const struct command command_model_ajt = {
	.name = "model ajt",
	.summary = "arrival job thresholds: more lanes from levels on",
	.arguments = "",
	.description =
		"A GE queue with a service rate per region: the next of --mu holds\n"
		"from each --threshold on, any number of them.\n",
	.options = options,
	.examples = ajt_examples,
	.run = run,
};
