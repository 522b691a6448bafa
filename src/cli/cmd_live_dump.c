/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "cli/output.h"
#include "subnet/tables/tables.h"

struct live_dump_options {
	struct common_options common;
	const char *name;
	const char *format;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_dump_options),
	{ "to", 0, OPT_TEXT, offsetof(struct live_dump_options, format), "FORMAT", "fts",
	  "format: fts, lfts, opensm or fdbs (forwarding), mfts or mcfdbs (multicast), sl2vl (VLs) or json (all tables)",
	  NULL, 0, 0 },
	{ NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct live_dump_options *v = values;
	struct strbuf out = STRBUF_INIT;

	(void)n;
	(void)args;
	if (!tables_writer_find(v->format))
		return command_usage(self, "option --to: unknown table format '%s'", v->format);
	char *words[] = { (char *)v->format };
	int status = cli_live_request(v->name, "dump", words, 1, &out);

	if (status == EXIT_DONE)
		return output_text(&v->common, &out, true);
	strbuf_fini(&out);
	return status;
}

static const struct example examples[] = {
	{ "heddle live dump", "print forwarding tables as dump_fts does" },
	{ "heddle live dump --to json -o tables.json", "write all tables as JSON" },
	{ NULL, NULL },
};

const struct command command_live_dump = {
	.name = "live dump",
	.summary = "write the forwarding and QoS tables of a live fabric",
	.arguments = "",
	.description = "Writes the tables that a subnet manager has programmed, read from the\n"
		       "switches, in formats that 'heddle route --engine file' and OpenSM read.\n",
	.options = options,
	.examples = examples,
	.writes = WRITES_TEXT,
	COMMAND_CALL(run, struct live_dump_options, 0, 0),
};
