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
	{ "engine", 'e', OPT_TEXT, V(engine), "NAME", "minhop",
	  "how it routes: an engine of 'heddle route'", .words = route_engine_words },
	{ "priority", 'p', OPT_UINT, V(priority), "N", "0",
	  "among several managers the highest is master", NULL, 0, 15 },
	{ "tables", 0, OPT_INPUT, V(tables), "FILE", NULL,
	  "program the ports' VL arbitration tables and SL-to-VL maps of this file, as 'heddle qos reserve --tables' writes it" },
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
	{ "heddle live sm h0 --engine ftree", "route it as a fat tree" },
	{ "heddle live sm h7 --priority 5", "a standby manager" },
	{ "heddle live sm h0 --tables tables.txt",
	  "with the arbitration tables of 'heddle qos reserve --tables tables.txt'" },
	{ NULL, NULL },
};

const struct command command_live_sm = {
	.name = "live sm",
	.summary = "run a subnet manager on a host of a live fabric",
	.arguments = "HOST",
	.description = "Finds the fabric from HOST by MADs that say their own route, "
		       "gives it LIDs, routes it by an engine of 'heddle route', "
		       "programs all of it by MADs and brings links up; then it "
		       "answers questions (saquery), lets ports join multicast "
		       "groups, and sweeps again when a node says that a link has "
		       "changed. To a manager of higher priority it yields. It stays "
		       "until it is interrupted or the fabric ends, and says what "
		       "happens. 'heddle live up --sm ENGINE' starts one behind the "
		       "terminal.",
	.options = options,
	.examples = examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(run, struct live_sm_options, 1, 1),
};
