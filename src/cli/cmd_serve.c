/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/scenario.h"
#include "cli/threads.h"
#include "serve/archive.h"
#include "serve/follow.h"

struct serve_options {
	struct common_options common;
	struct fabric_choice scenario;
	const char *from; /* instead of the common --db, which is written */
	const char *listen;
	const char *token; /* a file */
	bool paused;
	hd_time speed;
};

#define FIELD(name) offsetof(struct serve_options, name)

static const struct option options[] = {
	{ "db", 0, OPT_TEXT, FIELD(from), "FILE", NULL,
	  "show the runs of this database instead, anew whenever the page is loaded" },
	OPTION_SET(struct serve_options, scenario),
	{ "listen", 0, OPT_TEXT, FIELD(listen), "ADDRESS[:PORT]",
	  "127.0.0.1:8737",
	  "where to listen; beyond this machine (0.0.0.0) only with a token; port 0: any" },
	{ "port", .kind = OPT_RENAMED, .value = "listen" },
	{ "token", 0, OPT_TEXT, FIELD(token), "FILE", NULL,
	  "ask for the token in FILE; without this option one is drawn where one is needed" },
	{ "paused", 0, OPT_FLAG, FIELD(paused), NULL, NULL,
	  "wait for somebody to run it" },
	{ "speed", 0, OPT_TIME, FIELD(speed), "TIME", NULL,
	  "simulated time per second; 0s: as fast as it goes; without this option the run takes a minute" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle serve examples/quickstart.yaml",
	  "a run to look at and to change, at http://127.0.0.1:8737/" },
	{ "heddle serve examples/fat-tree-70.yaml --paused --speed 1us",
	  "slowly, and not before somebody is there" },
	{ "curl -s http://127.0.0.1:8737/metrics",
	  "its counters, as Prometheus collects them" },
	{ "heddle serve --db runs.db", "recorded runs" },
	{ NULL, NULL },
};

/* Listens, says where, and goes on with `serve` until it is interrupted. */
static int listen_with(const struct serve_options *o, server_answer_fn *answer,
		       void *context, void (*serve)(void *context))
{
	struct diag d = { .status = HD_OK };
	struct strbuf url = STRBUF_INIT;
	struct server_options where = { .answer = answer, .context = context };
	struct server *server;
	char *address = NULL, *token = NULL;

	if (server_place(o->listen, &d, &address, &where.port) != HD_OK)
		return command_refuse(&d);
	where.address = address;
	enum hd_status begun =
		server_choose_token(address, o->token, &d, &token);

	where.token = token;
	if (begun == HD_OK)
		begun = server_start(&where, &d, &server);
	if (begun != HD_OK) {
		free(address);
		free(token);
		return command_refuse(&d);
	}
	server_url(server, &url);
	puts(url.text);
	fflush(stdout);
	serve(context);
	server_stop(server);
	strbuf_fini(&url);
	free(address);
	free(token);
	return EXIT_DONE;
}

static void run_on(void *context)
{
	follow_run(context);
}

static int serve_scenario(struct serve_options *o, const char *path)
{
	const struct follow_options how = { o->paused, o->speed };
	struct diag d = { .status = HD_OK };
	struct follow *s;

	if (choice_overrides(&o->scenario, o->common.seed, &d) != HD_OK ||
	    follow_new(path, &o->scenario.overrides, &how, &d, &s) != HD_OK)
		return command_refuse(&d);
	int status = listen_with(o, follow_answer, s, run_on);

	follow_free(s);
	return status;
}

static int serve_archive(const struct serve_options *o)
{
	struct diag d = { .status = HD_OK };
	struct archive *a;

	if (archive_new(o->from, &d, &a) != HD_OK)
		return command_refuse(&d);
	int status = listen_with(o, archive_answer, a, archive_wait);

	archive_free(a);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct serve_options *o = values;

	if ((n == 1) == (o->from != NULL))
		return command_usage(self, "a SCENARIO, or --db FILE");
	int status = o->from ? serve_archive(o) : serve_scenario(o, args[0]);
	fabric_choice_fini(&o->scenario);
	return status;
}

static const struct serve_options initial = { .common.seed = SEED_OF_SCENARIO,
					      .speed = HD_TIME_NEVER };

const struct command command_serve = {
	.name = "serve",
	.summary = "follow and change a run in a browser",
	.arguments = "[SCENARIO]",
	.description =
		"Runs SCENARIO and shows it, while it goes on, as a page for a browser on this machine:\n"
		"the fabric with the use of its links, traffic, queues, goals. It can be paused, stepped\n"
		"and hastened; a cable is cut, a load or the weights of lanes are changed by a click.\n"
		"Every change is a field of the scenario from then on: what the page saves gives the\n"
		"same bytes with 'heddle sim'.\n\n"
		"/metrics has the counters of all ports for Prometheus, with the names of\n"
		"node_exporter's infiniband collector. docs/serve.md has all of it.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 0, 1),
};
