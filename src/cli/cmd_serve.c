/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "cli/commands.h"
#include "cli/live_serve.h"
#include "cli/scenario.h"
#include "cli/serve_listen.h"
#include "cli/threads.h"
#include "serve/archive.h"
#include "serve/follow.h"

struct serve_options {
	struct common_options common;
	struct fabric_choice scenario;
	const char *from; /* the database to read; replaces the common --db, which is written */
	const char *live; /* name of a running live fabric */
	struct listen_options listen;
	bool paused;
	hd_time speed;
};

#define FIELD(name) offsetof(struct serve_options, name)

static const struct option options[] = {
	{ "db", 0, OPT_INPUT, FIELD(from), "FILE", NULL,
	  "show the runs of this database instead; each load of the page reads it again" },
	{ "live", 0, OPT_TEXT, FIELD(live), "NAME", NULL,
	  "show the fabric that 'heddle live up --name NAME' runs instead" },
	OPTION_SET(struct serve_options, scenario),
	{ "listen", 0, OPT_TEXT, FIELD(listen.place), "ADDRESS[:PORT]", "127.0.0.1:8737",
	  "where to listen; beyond this machine (0.0.0.0) only with a token; port 0: any" },
	{ "token", 0, OPT_INPUT, FIELD(listen.token), "FILE", NULL,
	  "ask for the token in FILE; without this option one is drawn where one is needed" },
	{ "paused", 0, OPT_FLAG, FIELD(paused), NULL, NULL, "start paused" },
	{ "speed", 0, OPT_TIME, FIELD(speed), "TIME", NULL,
	  "simulated time per second; 0s: as fast as it goes; without this option the run takes a minute" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle serve examples/quickstart.yaml",
	  "a run to look at and to change, at http://127.0.0.1:8737/" },
	{ "heddle serve examples/fat-tree-70.yaml --paused --speed 1us",
	  "slowly, and only after the page starts it" },
	{ "curl -s http://127.0.0.1:8737/metrics", "its counters, as Prometheus collects them" },
	{ "heddle serve --db runs.db", "recorded runs" },
	{ "heddle serve --live fabric",
	  "the fabric of 'heddle live up', with what its ports count" },
	{ NULL, NULL },
};

static void serve_follow(void *context, struct asks *asks)
{
	follow_run(context, asks);
}

static void serve_runs(void *context, struct asks *asks)
{
	asks_serve(asks, archive_answer, context);
}

static int serve_scenario(struct serve_options *o, const char *path)
{
	const struct follow_options how = { o->paused, o->speed };
	struct diag d = { .status = HD_OK };
	struct follow *s;

	if (fabric_choice_overrides(&o->scenario, o->common.seed, &d) != HD_OK ||
	    follow_new(path, &o->scenario.overrides, &how, &d, &s) != HD_OK)
		return command_refuse(&d);
	int status = listen_with(&o->listen, true, serve_follow, s);

	follow_free(s);
	return status;
}

static int serve_archive(const struct serve_options *o)
{
	struct diag d = { .status = HD_OK };
	struct archive *a;

	if (archive_new(o->from, &d, &a) != HD_OK)
		return command_refuse(&d);
	int status = listen_with(&o->listen, false, serve_runs, a);

	archive_free(a);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct serve_options *o = values;

	if (n + (o->from != NULL) + (o->live != NULL) != 1)
		return command_usage(self,
				     "expected exactly one of SCENARIO, --db FILE and --live NAME");
	int status = listen_check(self, &o->listen);

	if (status == EXIT_DONE)
		status = o->from   ? serve_archive(o)
			 : o->live ? cli_live_serve(self, o->live, &o->listen)
				   : serve_scenario(o, args[0]);
	fabric_choice_fini(&o->scenario);
	return status;
}

static const struct serve_options initial = { .common.seed = SEED_OF_SCENARIO,
					      .speed = HD_TIME_NEVER };

const struct command command_serve = {
	.name = "serve",
	.summary = "watch and control a run in a browser",
	.arguments = "[SCENARIO]",
	.description =
		"Runs SCENARIO and shows its progress as a page for a browser on this machine:\n"
		"the fabric with the use of its links, traffic, queues, goals. It can be paused, stepped\n"
		"and hastened; a cable is cut, a load or the weights of VLs are changed by a click.\n"
		"Every change is a field of the scenario from then on: what the page saves gives the\n"
		"same bytes with 'heddle sim'.\n\n"
		"--live shows a fabric that runs by itself, as unmodified tools find it: what its\n"
		"subnet manager programmed, its links, errors, and the data that programs and\n"
		"'heddle live traffic' send; cables are pulled by a click.\n\n"
		"/metrics has the counters of all ports for Prometheus, with the names of\n"
		"node_exporter's infiniband collector. docs/serve.md has all of it.\n",
	.options = options,
	.examples = examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL_FROM(run, initial, 0, 1),
};
