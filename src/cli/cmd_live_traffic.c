/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/commands.h"
#include "cli/live.h"
#include "cli/scenario.h"

struct live_traffic_options {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	struct fabric_choice scenario;
	const char *name;
	const char *pace;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_traffic_options),
	OPTION_SET(struct live_traffic_options, scenario),
	{ "pace", 0, OPT_TEXT, offsetof(struct live_traffic_options, pace), "FACTOR", "0",
	  "simulated seconds per second of wall-clock time; 0: unlimited", NULL, 0, 0 },
	{ NULL },
};

/*
 * Waits for the end of attached traffic, prints its messages and returns its exit status. The
 * first signal detaches it; results are those until then.
 */
static int await_end(const char *name, char *serial)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	struct strbuf out = STRBUF_INIT;
	bool is_detached = false;
	int status;

	cleanup_defer_signals();
	while ((status = cli_live_request(name, "attached", &serial, 1, &out)) == EXIT_DONE &&
	       out.len == 0) {
		if (cleanup_signal_is_pending() && !is_detached) {
			struct strbuf none = STRBUF_INIT;

			is_detached = true;
			(void)!cli_live_request(name, "detach", NULL, 0, &none);
			strbuf_fini(&none);
		}
		nanosleep(&pause, NULL);
	}
	if (status == EXIT_DONE) {
		char *text;

		status = (int)strtol(out.text, &text, 10);
		fputs(*text ? text + 1 : text, stderr);
	}
	strbuf_fini(&out);
	cleanup_resume_signals();
	return status;
}

/* With the free clock: 'heddle sim' in this process. With the simulated clock: in the engine. */
static int send_words(const char *name, int n, char **words)
{
	struct strbuf out = STRBUF_INIT, pid = STRBUF_INIT;
	char *folder = getcwd(NULL, 0);
	char **all = hd_alloc((size_t)n + 2, sizeof(*all));

	strbuf_printf(&pid, "%d", (int)getpid());
	all[0] = pid.text;
	all[1] = folder ? folder : ".";
	memcpy(all + 2, words, (size_t)n * sizeof(*all));
	int status = cli_live_request_with_file(name, "attach", all, n + 2, STDOUT_FILENO, &out);

	if (status == EXIT_DONE)
		status = strcmp(out.text, "free") == 0 ? command_call(&command_sim, n, words)
						       : await_end(name, out.text);
	strbuf_fini(&out);
	strbuf_fini(&pid);
	free(all);
	free(folder);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct live_traffic_options *v = values;
	const struct option_settings *set = &v->scenario.set;
	char *const added[] = { "--live", (char *)v->name, "--pace", (char *)v->pace };
	enum { ADDED = sizeof(added) / sizeof(*added) };
	char **all = hd_alloc((size_t)n + ADDED + 2 * set->n, sizeof(*all));
	int n_all = ADDED;

	(void)self;
	memcpy(all, added, sizeof(added));
	for (size_t i = 0; i < set->n; i++) {
		all[n_all++] = "--set";
		all[n_all++] = (char *)set->items[i].text;
	}
	memcpy(all + n_all, args, (size_t)n * sizeof(*all));
	int status = send_words(v->name, n_all + n, all);

	free(all);
	return status;
}

static const struct example examples[] = {
	{ "heddle live traffic load.yaml", "run traffic on the tables that OpenSM programmed" },
	{ "heddle live traffic load.yaml --pace 1e-4",
	  "slow enough to take a link down during the run" },
	{ "heddle live traffic load.yaml -- --json --threads 2", "with options of 'heddle sim'" },
	{ NULL, NULL },
};

const struct command command_live_traffic = {
	.name = "live traffic",
	.summary = "run a scenario's traffic on a live fabric",
	.arguments = "FILE [-- OPTION...]",
	.description =
		"Runs 'heddle sim --live NAME': the traffic of the scenario FILE, whose fabric\n"
		"must be that of the live fabric, with the tables, VLs, weights and partitions\n"
		"that its subnet manager has programmed, over the active links. Changes of\n"
		"routes, groups, VLs, arbitration, partitions, congestion control and links\n"
		"take effect during the run. '--pace 1e-4' simulates 100 us per second of\n"
		"wall-clock time, which leaves a subnet manager time to react. The counters\n"
		"that perfquery reads include the traffic.\n",
	.options = options,
	.examples = examples,
	.writes = BECOMES_ANOTHER,
	COMMAND_CALL(run, struct live_traffic_options, 0, ANY_NUMBER),
};
