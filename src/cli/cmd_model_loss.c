/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_commands.h"
#include "cli/model_loss.h"

#define FIELD(name) offsetof(struct cli_model_loss_options, name)

static const struct option options[] = {
	{ "places", 0, OPT_TEXT, FIELD(places), "LIST", "10",
	  "how many fit at a time: circuits, slots of a link" },
	{ "erlangs", 0, OPT_TEXT, FIELD(load), "LIST", "1",
	  "offered load; with --class: what their loads are multiplied by" },
	{ "class", 0, OPT_LIST, FIELD(classes), "SIZE:LOAD", NULL,
	  "those who take SIZE places each, and their erlangs" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model loss --places 11 --erlangs 1..12",
	  "how many calls find none of eleven circuits free" },
	{ "heddle model loss --places 11 --class 1:4 --class 4:1",
	  "two kinds, one of which takes four circuits" },
	{ NULL, NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	(void)n;
	(void)args;
	return cli_model_loss_run(self, values);
}

const struct command command_model_loss = {
	.name = "model loss",
	.summary = "blocking probability: Erlang B, Kaufman-Roberts",
	.arguments = "",
	.description = "Customers come as Poisson streams, take their places for some time\n"
		       "or, if there are not enough, go away for good. The load is arrivals\n"
		       "in the mean time that one stays, in erlangs; the law of these times\n"
		       "does not matter. Gives the share that is lost of each class, what\n"
		       "is carried and the share of places in use. 'heddle sim' prints it next\n"
		       "to the measured values of connections that start and end.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct cli_model_loss_options, 0, 0),
};
