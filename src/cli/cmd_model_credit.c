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
	  "packets that fit at node 1" },
	{ "downstream", 0, OPT_TEXT, FIELD(text[CREDIT_M]), "LIST", "2..11",
	  "packets that fit at node 2: its credits" },
	{ "paired", 0, OPT_FLAG, FIELD(paired), NULL, NULL,
	  "take upstream and downstream in step, not all combinations" },
	{ "credit-delay", 0, OPT_TEXT, FIELD(text[CREDIT_DELAY]), "LIST", "0",
	  "mean time that a credit takes to return" },
	{ "phases", 0, OPT_TEXT, FIELD(phases), "K|fixed", "1",
	  "law of that time: the sum of K exponential ones, or constant (simulated only)" },
	{ "levels", 0, OPT_FLAG, FIELD(levels), NULL, NULL,
	  "the probability of every state (i, j)" },
	MODEL_SIMULATE_OPTION(FIELD(simulate)),
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model credit --upstream 12 --downstream 2..11",
	  "what more credits buy (figures 4.5 to 4.8)" },
	{ "heddle model credit --upstream 2..12:2 --downstream 2..12:2 --paired",
	  "both buffers grow together (figures 4.9 to 4.12)" },
	{ "heddle model credit --downstream 5 --credit-delay 0..1:0.1 --simulate 1000000",
	  "what a slow return of credits costs, computed and simulated" },
	{ "heddle model credit --upstream 1000 --downstream 1000",
	  "a million states, with the residual of the solution" },
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
	.summary = "two nodes and a link with credit-based flow control",
	.arguments = "",
	.description = "Packets arrive at node 1, cross to node 2 when it has room for\n"
		       "them (a credit), and leave there. Gives the mean numbers at both\n"
		       "nodes (L1, L2, L), the response time R, the throughput T and the\n"
		       "share lost at node 1, from the stationary distribution.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct credit_sweep_options, 0, 0),
	.is_long = true,
};
