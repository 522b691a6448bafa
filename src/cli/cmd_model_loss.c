/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_commands.h"
#include "cli/model_loss.h"

#define FIELD(name) offsetof(struct cli_model_loss_options, name)

static const struct option options[] = {
	{ "places", 0, OPT_TEXT, FIELD(places), "LIST", "10",
	  "number of places: circuits, slots of a link" },
	{ "erlangs", 0, OPT_TEXT, FIELD(load), "LIST", "1",
	  "offered load; with --class: factor of their loads" },
	{ "class", 0, OPT_LIST, FIELD(classes), "SIZE:LOAD", NULL,
	  "class of connections with SIZE places each, and its load in erlangs" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle model loss --places 11 --erlangs 1..12", "compute the loss of eleven circuits" },
	{ "heddle model loss --places 11 --class 1:4 --class 4:1",
	  "with two classes, one with four circuits per connection" },
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
	.summary = "compute blocking: Erlang B, Kaufman-Roberts",
	.arguments = "",
	.description =
		"Connections arrive as Poisson streams and hold places for some time. A\n"
		"connection that finds too few free places is lost. The load is arrivals times\n"
		"mean holding time, in erlangs; the distribution of holding times has no\n"
		"effect. Computes the loss of each class, the carried load and the utilization\n"
		"of the places. 'heddle sim' prints the same values for connections that start\n"
		"and end, next to the measured ones.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct cli_model_loss_options, 0, 0),
};
