/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_commands.h"

#include "cli/model_credit.h"

#define FIELD(name) offsetof(struct credit_sweep_options, name)

static const struct option options[] = {
	{ "lambda", 0, OPT_TEXT, FIELD(text[CREDIT_LAMBDA]), "LIST", "5",
	  "arrival rate at node 1" },
	{ "mu1", 0, OPT_TEXT, FIELD(text[CREDIT_MU1]), "LIST", "6", "service rate of node 1" },
	{ "mu2", 0, OPT_TEXT, FIELD(text[CREDIT_MU2]), "LIST", "8", "service rate of node 2" },
	{ "upstream", 0, OPT_TEXT, FIELD(text[CREDIT_N]), "LIST", "12",
	  "capacity of node 1, in packets" },
	{ "downstream", 0, OPT_TEXT, FIELD(text[CREDIT_M]), "LIST", "2..11",
	  "capacity of node 2, in packets: its credits" },
	{ "paired", 0, OPT_FLAG, FIELD(paired), NULL, NULL,
	  "vary upstream and downstream together, not in all combinations" },
	{ "credit-delay", 0, OPT_TEXT, FIELD(text[CREDIT_DELAY]), "LIST", "0",
	  "mean return time of a credit" },
	{ "phases", 0, OPT_TEXT, FIELD(phases), "K|fixed", "1",
	  "distribution of the return time: sum of K exponential times, or constant (simulated only)" },
	{ "levels", 0, OPT_FLAG, FIELD(levels), NULL, NULL,
	  "print the probability of every state (i, j)" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model credit --upstream 12 --downstream 2..11",
	  "compute the effect of credits (figures 4.5 to 4.8)" },
	{ "heddle model credit --upstream 2..12:2 --downstream 2..12:2 --paired",
	  "grow both buffers together (figures 4.9 to 4.12)" },
	{ "heddle model credit --downstream 5 --credit-delay 0..1:0.1 --simulate 1000000",
	  "compute and simulate the cost of a slow return of credits" },
	{ "heddle model credit --upstream 1000 --downstream 1000",
	  "solve a million states, with the residual" },
	{ NULL, NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	struct credit_sweep sweep = { .values = values };
	int status;

	(void)n;
	(void)args;
	if (credit_sweep_read(&sweep, self, &status))
		status = credit_sweep_run(&sweep);
	credit_sweep_fini(&sweep);
	return status;
}

const struct command command_model_credit = {
	.name = "model credit",
	.summary = "compute a link with credit-based flow control",
	.arguments = "",
	.description =
		"Packets arrive at node 1, are sent to node 2 when it has room for them (a\n"
		"credit), and leave there. Computes the mean numbers of packets at both nodes\n"
		"(L1, L2, L), the response time R, the throughput T and the loss at node 1,\n"
		"from the stationary distribution.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct credit_sweep_options, 0, 0),
	.is_long = true,
};
