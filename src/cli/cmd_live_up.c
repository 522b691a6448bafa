/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "cli/scenario.h"
#include "fabric/fabric.h"
#include "hca/profile.h"
#include "live/tables/tables.h"
#include "mgmt/agents/agents.h"

struct live_up_options {
	struct common_options common;
	struct fabric_choice fabric;
	const char *name;
	bool foreground;
	const char *engine;
	hd_time wait;
	const char *record;
	unsigned clock;
	double pace;
	const char *profile;
	const char *faults;
};

#define V(member) offsetof(struct live_up_options, member)

enum { CLOCK_FREE, CLOCK_SIMULATED };

static const char *const clocks[] = { "free", "simulated", NULL };

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_up_options),
	OPTION_SET(struct live_up_options, fabric),
	{ "foreground", 0, OPT_FLAG, V(foreground), NULL, NULL,
	  "run in the foreground; end the fabric when interrupted" },
	{ "sm", 0, OPT_TEXT, V(engine), "ENGINE", NULL,
	  "run 'heddle live sm --engine ENGINE' on the host with the lowest GUID" },
	{ "wait", 0, OPT_TIME, V(wait), "TIME", "60s",
	  "with --sm: time limit for the subnet to come up; after it, exit status 1 with a message, and the manager continues",
	  NULL, HD_MS, 0 },
	{ "record", 0, OPT_OUTPUT, V(record), "FILE", NULL,
	  "record all MADs and changes in FILE, for 'heddle live replay'" },
	{ "clock", 0, OPT_CHOICE, V(clock), "CLOCK", "free",
	  "free: MADs and messages arrive at once; simulated: they take the time of links, switches and agents of the scenario, and programs read the simulated time",
	  clocks, 0, 0 },
	{ "pace", 0, OPT_DOUBLE, V(pace), "FACTOR", "1",
	  "simulated seconds per second of wall-clock time" },
	{ "profile", 0, OPT_INPUT, V(profile), "NAME|FILE", "ideal",
	  "with '--clock simulated': adapter costs, see 'heddle bench'" },
	{ "faults", 0, OPT_INPUT, V(faults), "FILE", NULL,
	  "file of faults, one per line as of 'heddle live fault': HOST ACTION [WHICH...]; '#' starts a comment" },
	{ NULL },
};

static bool is_simulated(const struct live_up_options *v)
{
	return v->clock == CLOCK_SIMULATED;
}

static int bring_up(struct live_up_options *v, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct agents_timing times = { 0 };
	struct fabric *fabric;

	if (fabric_choice_overrides(&v->fabric, SEED_OF_SCENARIO, &d) != HD_OK ||
	    fabric_open_bare(path, &v->fabric.overrides, &d, &fabric) != HD_OK)
		return command_refuse(&d);
	if (is_simulated(v) && live_tables_timing(fabric, &d, &times) != HD_OK) {
		fabric_free(fabric);
		return command_refuse(&d);
	}
	const struct cli_live_start w = { .name = v->name,
					  .path = path,
					  .overrides = &v->fabric.overrides,
					  .engine = v->engine,
					  .patience = v->wait,
					  .profile = is_simulated(v) ? v->profile : NULL,
					  .faults = v->faults,
					  .stays = v->foreground,
					  .options = { .times = is_simulated(v) ? &times : NULL,
						       .pace = v->pace,
						       .record = v->record,
						       .times_data = is_simulated(v) } };

	bool up = cli_live_bring_up(&w, &fabric->topo, &d);
	int status = d.status != HD_OK ? command_refuse(&d) : up ? EXIT_DONE : EXIT_GOAL_MISSED;

	if (status == EXIT_DONE && !v->foreground && !v->common.quiet)
		cli_live_print_hints(&w, &fabric->topo);
	free(times.cables);
	fabric_free(fabric);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct live_up_options *v = values;
	struct diag d = { .status = HD_OK };
	int status;

	if (n != 1)
		return command_usage(self, "missing argument: expected SCENARIO or FABRIC");
	if (!cli_live_is_name(v->name))
		return command_usage(self,
				     "invalid fabric name '%s': use letters, digits, '-' and '_'",
				     v->name);
	if (v->faults && v->foreground)
		return command_usage(self, "--faults cannot be used with --foreground");
	if (v->engine && v->foreground)
		return command_usage(
			self,
			"--sm cannot be used with --foreground; run 'heddle live sm' in another terminal");
	if (!cli_check_engine(self, v->engine, &status))
		return status;
	if (!(v->pace > 0) || v->pace > 1e6)
		return command_usage(self, "option --pace: must be above 0 and at most 1e6");
	if (v->engine && strcmp(v->engine, "file") == 0)
		return command_usage(
			self,
			"engine 'file' cannot be used by a subnet manager: choose one that computes routes");
	if (is_simulated(v) && (v->foreground || strcmp(args[0], "-") == 0))
		return command_usage(
			self,
			"--clock simulated cannot be used with --foreground or with a scenario from standard input");
	if (profile_check(v->profile, &d) != HD_OK)
		return command_refuse(&d);
	status = bring_up(v, args[0]);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle live up site.ibnet", "start the fabric of a file" },
	{ "heddle live up 'fat-tree --radix 36 --levels 2' --name lab",
	  "start a generated fabric" },
	{ "heddle live up 'torus --sizes 4x4' --sm dfsssp",
	  "start a fabric with Heddle's subnet manager" },
	{ NULL, NULL },
};

const struct command command_live_up = {
	.name = "live up",
	.summary = "start a live fabric",
	.arguments = "SCENARIO|FABRIC",
	.description =
		"Starts the daemon of a fabric. All cables are plugged in, all links are\n"
		"trained, and no subnet manager has run yet. Programs attach with 'heddle live\n"
		"exec'; other users are rejected. The folder of the daemon is in\n"
		"$XDG_RUNTIME_DIR, or else in /tmp.\n",
	.options = options,
	.examples = examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(run, struct live_up_options, 0, ANY_NUMBER),
};
