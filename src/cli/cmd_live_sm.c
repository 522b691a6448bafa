/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "cli/scenario.h"
#include "qos/opensm/port_conf.h"

struct live_sm_options {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	const char *name;
	const char *engine, *tables;
	uint64_t priority;
};

#define V(member) offsetof(struct live_sm_options, member)

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_sm_options),
	{ "engine", 'e', OPT_TEXT, V(engine), "NAME", "minhop", "routing engine of 'heddle route'",
	  .words = route_engine_words },
	{ "priority", 'p', OPT_UINT, V(priority), "N", "0",
	  "priority; the manager with the highest is master", NULL, 0, 15 },
	{ "tables", 0, OPT_INPUT, V(tables), "FILE", NULL,
	  "program the VL arbitration tables and SL-to-VL maps of this file, written by 'heddle qos reserve --tables'" },
	{ NULL },
};

static void print_line(void *context, const char *line)
{
	(void)context;
	puts(line);
	fflush(stdout);
}

static void be_ready(void *context)
{
	(void)context;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct live_sm_options *v = values;
	struct diag d = { .status = HD_OK };
	int status;

	(void)n;
	if (!cli_live_is_name(v->name))
		return command_usage(self,
				     "invalid fabric name '%s': use letters, digits, '-' and '_'",
				     v->name);
	if (!cli_check_engine(self, v->engine, &status))
		return status;
	if (strcmp(v->engine, "file") == 0)
		return command_usage(
			self,
			"engine 'file' cannot be used by a subnet manager: choose one that computes routes");
	struct port_tables tables = { 0 };
	struct live_manager o = {
		.host = args[0],
		.engine = v->engine,
		.priority = (unsigned)v->priority,
		.tables = v->tables ? &tables : NULL,
		.say = print_line,
		.ready = be_ready,
	};
	char *dir = live_folder(v->name);

	if (v->tables && port_conf_load(v->tables, &d, &tables) != HD_OK) {
		status = command_refuse(&d);
	} else {
		d.file = NULL;
		status = live_manage(dir, &o, &d) == HD_OK ? EXIT_DONE : command_refuse(&d);
	}
	port_tables_fini(&tables);
	free(dir);
	return status;
}

static const struct example examples[] = {
	{ "heddle live sm h0 --engine ftree", "route a fat tree" },
	{ "heddle live sm h7 --priority 5", "run a standby manager" },
	{ "heddle live sm h0 --tables tables.txt",
	  "program the tables of 'heddle qos reserve --tables tables.txt'" },
	{ NULL, NULL },
};

const struct command command_live_sm = {
	.name = "live sm",
	.summary = "run a subnet manager on a host of a live fabric",
	.arguments = "HOST",
	.description =
		"Discovers the fabric from HOST with directed-route MADs, assigns LIDs, routes\n"
		"by an engine of 'heddle route', programs all tables and brings links up. Then\n"
		"it answers SA queries (saquery), lets ports join multicast groups, and sweeps\n"
		"again when a trap reports a change. It yields to a manager of higher priority.\n"
		"It runs until it is interrupted or the fabric ends, and logs changes. 'heddle\n"
		"live up --sm ENGINE' starts one in the background.\n",
	.options = options,
	.examples = examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(run, struct live_sm_options, 1, 1),
};
