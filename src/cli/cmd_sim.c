/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/sim_session.h"
#include "cli/simulation.h"
#include "cli/threads.h"

#define FIELD(name) offsetof(struct sim_session_options, name)

static const struct option options[] = {
	{ "live", 0, OPT_TEXT, FIELD(live), "NAME", NULL,
	  "run on the present tables, VLs and links of the live fabric NAME, and update its counters" },
	{ "pace", 0, OPT_DOUBLE, FIELD(pace), "FACTOR", "0",
	  "with --live: simulated seconds per second of wall-clock time; 0: unlimited" },
	{ "explain", 0, OPT_FLAG, FIELD(explain), NULL, NULL,
	  "print the scenario with all defaults, without a run" },
	OPTIONS_OPENSM(struct sim_session_options, scenario),
	OPTION_SET(struct sim_session_options, scenario),
	{ "all", 'a', OPT_FLAG, FIELD(all), NULL, NULL,
	  "show every port and flow, not only the busiest ports" },
	{ "counters", 0, OPT_FLAG, FIELD(counters), NULL, NULL,
	  "print the ports' counters as perfquery does, instead of results" },
	{ "checksum", 0, OPT_FLAG, FIELD(checksum), NULL, NULL,
	  "print a checksum over all deliveries and counters, instead of results" },
	OPTIONS_WATCH(struct sim_session_options, run),
	OPTIONS_CHECKPOINT(struct sim_session_options, run),
	OPTION_VERBOSE,
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle sim examples/quickstart.yaml", "three classes of traffic on a mesh" },
	{ "heddle sim examples/quickstart.yaml --seed 7 --set traffic.video.load=30% --json",
	  "with another seed and an overridden load, as JSON" },
	{ "heddle sim examples/quickstart.yaml --pcap run.pcap --port h0",
	  "what a cable carried, for Wireshark" },
	{ "heddle sim examples/quickstart.yaml --counters --port s-0-0:1",
	  "a port's counters, as perfquery shows them" },
	{ "heddle sim examples/quickstart.yaml --checkpoint run.ckpt --every 10min",
	  "save a checkpoint every 10 minutes; 'heddle sim examples/quickstart.yaml --restart run.ckpt' resumes from it" },
	{ "mpirun -n 4 heddle sim examples/fat-tree-70.yaml",
	  "by four processes, on one machine or several" },
	{ NULL, NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	struct sim_session_options *v = values;
	const struct output_own_format own[] = { { "--explain", v->explain },
						 { "--checksum", v->checksum },
						 { "--counters", v->counters },
						 { NULL, false } };
	int status = output_check_own_formats(self, &v->common, own);

	(void)n;
	if (status == EXIT_DONE && (!(v->pace >= 0) || (v->pace > 0 && !v->live)))
		status = command_usage(self, "option --pace: must be above 0, and requires --live");
	if (status == EXIT_DONE && v->live && (v->run.checkpoint || v->run.restart))
		status = command_usage(self,
				       "--checkpoint and --restart cannot be used with --live");
	if (status == EXIT_DONE && !v->run.checkpoint && (v->run.every || v->run.every_simulated))
		status = command_usage(self, "%s requires --checkpoint FILE",
				       v->run.every ? "--every" : "--every-simulated");
	if (!v->run.every)
		v->run.every = 10 * 60 * HD_S;
	if (status == EXIT_DONE)
		status = sim_session_run(v, args[0]);
	fabric_choice_fini(&v->scenario);
	return status;
}

static const struct sim_session_options initial = { .common.seed = SEED_OF_SCENARIO };

const struct command command_sim = {
	.name = "sim",
	.summary = "run a scenario on a simulated fabric",
	.arguments = "FILE",
	.description =
		"Simulates the scenario in FILE ('-': standard input), exact to the picosecond and the\n"
		"same on every machine, and shows what became of its traffic. heddle-scenario(5)\n"
		"describes the file.\n\n"
		"Started by mpirun or its like, all processes compute one run together, with the same\n"
		"results; the first one writes them.\n\n"
		"Results: the run as a whole, each traffic row with offered and delivered payload rates\n"
		"and latencies, the busiest ports. Ends with 1 if a goal of the scenario is missed, or\n"
		"if packets wait for each other in a cycle (a deadlock, which is shown).\n",
	.has_own_formats = true,
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 1, 1),
	.is_long = true,
};
