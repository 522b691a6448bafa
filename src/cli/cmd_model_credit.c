/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/commands.h"

#include "cli/model/credit.h"

#define FIELD(name) offsetof(struct credit_values, name)

static const struct option options[] = {
	{ .name = "lambda",
	  .kind = OPT_TEXT,
	  .offset = FIELD(text[CREDIT_LAMBDA]),
	  .value = "LIST",
	  .initial = "5",
	  .help = "arrival rate at node 1" },
	{ .name = "mu1",
	  .kind = OPT_TEXT,
	  .offset = FIELD(text[CREDIT_MU1]),
	  .value = "LIST",
	  .initial = "6",
	  .help = "service rate of node 1" },
	{ .name = "mu2",
	  .kind = OPT_TEXT,
	  .offset = FIELD(text[CREDIT_MU2]),
	  .value = "LIST",
	  .initial = "8",
	  .help = "service rate of node 2" },
	{ .name = "upstream",
	  .kind = OPT_TEXT,
	  .offset = FIELD(text[CREDIT_N]),
	  .value = "LIST",
	  .initial = "12",
	  .help = "packets that fit at node 1" },
	{ .name = "downstream",
	  .kind = OPT_TEXT,
	  .offset = FIELD(text[CREDIT_M]),
	  .value = "LIST",
	  .initial = "2..11",
	  .help = "packets that fit at node 2: its credits" },
	{ .name = "paired",
	  .kind = OPT_FLAG,
	  .offset = FIELD(paired),
	  .help = "take upstream and downstream in step, not all "
		  "combinations" },
	{ .name = "credit-delay",
	  .kind = OPT_TEXT,
	  .offset = FIELD(text[CREDIT_DELAY]),
	  .value = "LIST",
	  .initial = "0",
	  .help = "mean time that a credit takes to return" },
	{ .name = "phases",
	  .kind = OPT_TEXT,
	  .offset = FIELD(phases),
	  .value = "K|fixed",
	  .initial = "1",
	  .help = "law of that time: the sum of K exponential ones, or "
		  "constant (simulated only)" },
	{ .name = "levels",
	  .kind = OPT_FLAG,
	  .offset = FIELD(levels),
	  .help = "the probability of every state (i, j)" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model credit --upstream 12 --downstream 2..11",
	  "what more credits buy (figures 4.5 to 4.8)" },
	{ "heddle model credit --upstream 2..12:2 --downstream 2..12:2 "
	  "--paired",
	  "both buffers grow together (figures 4.9 to 4.12)" },
	{ "heddle model credit --downstream 5 --credit-delay 0..1:0.1 "
	  "--simulate 1000000",
	  "what a slow return of credits costs, computed and simulated" },
	{ "heddle model credit --upstream 1000 --downstream 1000",
	  "a million states, with the residual of the solution" },
	{ NULL, NULL },
};

static int run(const struct command *self, int argc, char **argv)
{
	struct credit_values values = { 0 };
	struct credit_sweep sweep = { .values = &values };
	int n_args, status = EXIT_DONE;

	if (!command_parse(self, &values, argc, argv, &n_args, &status))
		return status;
	if (n_args > 0)
		return command_usage(self, "unexpected argument '%s'", argv[0]);
	if (credit_sweep_read(&sweep, self, &status))
		status = credit_sweep_run(&sweep);
	credit_sweep_fini(&sweep);
	return status;
}

const struct command command_model_credit = {
	.name = "model credit",
	.summary = "two nodes and a link with credit-based flow control",
	.arguments = "",
	.description =
		"Packets arrive at node 1, cross to node 2 when it has room for\n"
		"them (a credit), and leave there. Gives the mean numbers at both\n"
		"nodes (L1, L2, L), the response time R, the throughput T and the\n"
		"share lost at node 1, from the stationary distribution.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
