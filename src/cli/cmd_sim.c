/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/live/live.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenario.h"
#include "cli/simulation.h"
#include "cli/threads.h"

struct values {
	struct common_options common;
	struct fabric_choice scenario;
	struct simulation_options run;
	const char *live; /* the name of a live fabric, or NULL */
	bool explain, all, counters, checksum;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "live", 0, OPT_TEXT, FIELD(live), "NAME", NULL,
	  "run on the tables, lanes and links of the live fabric NAME as they are now, and count there what the traffic does" },
	{ "explain", 0, OPT_FLAG, FIELD(explain), NULL, NULL,
	  "print the scenario with every default filled in, and run nothing" },
	OPTION_SET(struct values, scenario),
	{ "all", 'a', OPT_FLAG, FIELD(all), NULL, NULL,
	  "show every port and flow, not only the busiest ports" },
	{ "counters", 0, OPT_FLAG, FIELD(counters), NULL, NULL,
	  "print the ports' counters as perfquery does, instead of results" },
	{ "checksum", 0, OPT_FLAG, FIELD(checksum), NULL, NULL,
	  "print one number that all deliveries and counters enter, instead of results" },
	OPTIONS_WATCH(struct values, run),
	OPTIONS_CHECKPOINT(struct values, run),
	OPTION_VERBOSE,
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle sim examples/quickstart.yaml",
	  "three classes of traffic on a mesh" },
	{ "heddle sim examples/quickstart.yaml --seed 7 --set traffic.0.load=70% --json",
	  "with other dice and another value than the file's, for programs" },
	{ "heddle sim examples/quickstart.yaml --pcap run.pcap --port h0",
	  "what a cable carried, for Wireshark" },
	{ "heddle sim examples/quickstart.yaml --counters --port s-0-0:1",
	  "a port's counters, as perfquery shows them" },
	{ "heddle sim examples/quickstart.yaml --checkpoint run.ckpt --every 10min",
	  "what may be killed: 'heddle sim examples/quickstart.yaml --restart run.ckpt' goes on" },
	{ NULL, NULL },
};

static int show(const struct values *v, const struct simulation *s)
{
	struct strbuf out = STRBUF_INIT;
	bool met;

	if (v->checksum)
		simulation_checksum(s, &out);
	else if (v->counters)
		simulation_counters(s, &out);
	if (v->checksum || v->counters)
		return output_text(&v->common, &out,
				   simulation_state(s) != SIM_DEADLOCK);
	struct results *shown = simulation_results(s, v->all, &met);
	struct results *kept = v->run.sampled ? simulation_record(s) : shown;

	return output_kept(&v->common, shown, kept, met);
}

static int simulate(struct values *v, struct fabric *f)
{
	struct diag d = { .status = HD_OK };
	struct progress progress;
	struct simulation *s;
	int status = EXIT_DONE;

	v->run.sampled = output_is_kept(&v->common);
	v->run.progress = progress_packets;
	v->run.context = &progress;
	if (simulation_new(f, &v->run, &d, &s) != HD_OK)
		return command_refuse(&d);
	progress_begin(&progress, &v->common, "packets", 0);
	enum hd_status done = simulation_run(s, &d);

	progress_end(&progress);
	if (done == HD_OK && v->live)
		done = live_count(v->live, f, sim_metrics(simulation_sim(s)),
				  &d);
	/* What was measured until memory ran short is shown, and then said. */
	if (done == HD_OK || simulation_state(s) == SIM_FULL)
		status = show(v, s);
	simulation_free(s);
	return done == HD_OK ? status : command_refuse(&d);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct values *v = values;
	const struct own_format own[] = { { "--explain", v->explain },
					  { "--checksum", v->checksum },
					  { "--counters", v->counters },
					  { NULL, false } };
	struct diag d = { .status = HD_OK };
	struct fabric *f;
	int status = output_check_own(self, &v->common, own);

	(void)n;
	if (status != EXIT_DONE)
		return status;
	if (v->live && (v->run.checkpoint || v->run.restart))
		return command_usage(
			self,
			"a live fabric does not stay as it is: --checkpoint and --restart do not go with --live");
	if (v->explain)
		status = scenario_print(&v->scenario, &v->common, args[0]);
	else if (scenario_choose(&v->scenario, v->live, args[0],
				 &v->common.seed, &d, &f) == HD_OK)
		status = simulate(v, f);
	else
		status = command_refuse(&d);
	fabric_choice_fini(&v->scenario);
	return status;
}

static const struct values initial = { .common.seed = SEED_OF_SCENARIO };

const struct command command_sim = {
	.name = "sim",
	.summary = "run a scenario on a simulated fabric",
	.arguments = "FILE",
	.description =
		"Simulates the scenario in FILE ('-': standard input), exact to the picosecond and the\n"
		"same on every machine, and shows what became of its traffic. heddle-scenario(5)\n"
		"describes the file.\n\n"
		"Results: the run as a whole, each traffic row with offered and delivered payload rates\n"
		"and latencies, the busiest ports. Ends with 1 if a goal of the scenario is missed, or\n"
		"if packets wait for each other in a circle (a deadlock, which is shown).\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 1, 1),
};
