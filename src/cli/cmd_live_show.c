/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "cli/output.h"

static const struct column columns[] = {
	{ "node", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "port", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "state", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "LID", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "SM LID", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "downs", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "peer", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "peer port", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};
#define N_COLUMNS (sizeof(columns) / sizeof(*columns) - 1)

/* Adds a row per line; tabs separate the columns. */
static void put_lines(struct table *t, char *text)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) && *line) {
		struct value row[N_COLUMNS] = { 0 };

		for (size_t i = 0; i < N_COLUMNS && line; i++) {
			const char *word = strsep(&line, "\t");

			row[i] = columns[i].kind == VALUE_TEXT
					 ? value_of_text(word)
					 : value_of_uint(strtoull(word, NULL, 10));
		}
		table_put_values(t, row);
	}
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct cli_live_name *v = values;
	struct strbuf out = STRBUF_INIT;

	if (n > 0)
		return command_usage(self, "unexpected argument: select a fabric with --name %s",
				     args[0]);
	int status = cli_live_request(v->name, "show", NULL, 0, &out);

	if (status == EXIT_DONE) {
		struct results *r = results_new("live show");

		put_lines(results_table(r, "ports", "as they are now", columns), out.text);
		status = output_results(&v->common, r, true);
	}
	strbuf_fini(&out);
	return status;
}

static const struct example examples[] = {
	{ "heddle live show --csv", "print all ports as CSV" },
	{ NULL, NULL },
};

const struct command command_live_show = {
	.name = "live show",
	.summary = "show the ports of a live fabric",
	.arguments = "",
	.description =
		"Shows the ports of all nodes with their state, LIDs and peers, as the subnet\n"
		"manager has set them.\n",
	.options = cli_live_name_options,
	.examples = examples,
	COMMAND_CALL(run, struct cli_live_name, 0, ANY_NUMBER),
};
