/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/failures_simulate.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenario.h"

struct cli_failures_options {
	struct common_options common;
	struct fabric_choice fabric;
	struct option_list fail;
	uint64_t pairs, permutations, worst, simulate;
	unsigned replan; /* enum replan_mode */
};

#define FIELD(name) offsetof(struct cli_failures_options, name)

static const struct option options[] = {
	OPTION_ENGINE(struct cli_failures_options, fabric),
	OPTIONS_OPENSM(struct cli_failures_options, fabric),
	OPTION_SET(struct cli_failures_options, fabric),
	{ "fail", 0, OPT_LIST, FIELD(fail), "KIND", NULL,
	  "what fails in turn: switches, links (cables between switches) or hosts (cables of adapters); all of them unless one is named" },
	{ "pairs", 0, OPT_UINT, FIELD(pairs), "N", "0",
	  "N pairs of links, drawn at random, fail as well; all of them if there are no more",
	  .low = 0, .high = 100000000 },
	{ "permutations", 0, OPT_UINT, FIELD(permutations), "N", "20",
	  "random permutations for the mean share of a sender; 0: none", .low = 0,
	  .high = 1000000 },
	{ "simulate", 0, OPT_UINT, FIELD(simulate), "N", "0",
	  "FABRIC is a scenario: run it without each of the N worst failures, on all cores, and rank them by what its traffic and jobs suffer",
	  .low = 0, .high = 100000 },
	{ "worst", 0, OPT_UINT, FIELD(worst), "N", "10",
	  "number of failures shown of each kind; 0: all", .low = 0 },
	{ "replan", 0, OPT_CHOICE, FIELD(replan), NULL, "opensm",
	  "how the subnet manager reroutes: opensm and keep keep working routes (minhop, updn), fresh computes all routes again",
	  replan_mode_names },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle failures 'fat-tree --radix 36 --levels 2' --engine ftree",
	  "each switch and each of the 1296 cables of 648 hosts" },
	{ "heddle failures site.ibnet --engine updn --fail links --worst 0 --csv",
	  "all cables between the switches of a site, the worst first" },
	{ "heddle failures examples/jobs.yaml --fail links --simulate 50",
	  "what its jobs suffer without each of the worst 50 cables" },
	{ "heddle failures 'torus --sizes=4x4x4' -e torus --fail links --pairs 500",
	  "which two cables together are one too many" },
	{ NULL, NULL },
};

static int analyse(struct fabric *fabric, const struct cli_failures_options *v, const char *path,
		   struct failure_options o, struct diag *d)
{
	struct results *r = results_new("failures");
	struct route_options route;
	struct progress progress;
	struct failure_analysis found;

	if (fabric_route_options(fabric, d, &route) != HD_OK) {
		results_free(r);
		return command_refuse(d);
	}
	o.replan = (struct replan_options){
		.engine = replan_engine(&fabric->subnet),
		.route = &route,
		.mode = (enum replan_mode)v->replan,
	};
	progress_begin(&progress, &v->common, "failures", 0);
	o.context = &progress;
	failure_run(&fabric->subnet, &o, &found);
	progress_end(&progress);
	failure_show(r, &found, v->worst);
	if (found.n_left)
		results_remark(r, "interrupted after %zu of %zu failures", found.n,
			       found.n + found.n_left);
	bool is_well = failure_is_well(&found);
	const struct failures_command runs = { .common = &v->common,
					       .path = path,
					       .overrides = &v->fabric.overrides,
					       .found = &found,
					       .most = v->simulate };
	enum hd_status status = cli_failures_simulate(&runs, d, r, &is_well);

	failure_fini(&found);
	if (status == HD_OK)
		return output_results(&v->common, r, is_well);
	results_free(r);
	return command_refuse(d);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct cli_failures_options *v = values;
	struct diag d = { .status = HD_OK };
	struct failure_options o = {
		.n_pairs = v->pairs,
		.n_permutations = v->permutations,
		.seed = v->common.seed,
		.tick = cli_failures_tick,
	};
	struct fabric *fabric;
	int status;

	(void)n;
	if (!cli_check_engine_option(self, &v->fabric, "engine", &status) ||
	    !cli_failures_kinds(self, &v->fail, &o, &status))
		return status;
	if (fabric_choice_open(&v->fabric, args[0], &d, &fabric) == HD_OK) {
		status = analyse(fabric, v, args[0], o, &d);
		fabric_free(fabric);
	} else {
		status = command_refuse(&d);
	}
	fabric_choice_fini(&v->fabric);
	return status;
}

const struct command command_failures = {
	.name = "failures",
	.summary = "rank the failures of single cables and switches",
	.arguments = "FABRIC",
	.description =
		"FABRIC is what 'heddle route' takes. Each switch and each "
		"cable fails in turn; the subnet manager routes around it, "
		"and the routes that are left are followed from every end port "
		"to every LID, checked for cycles of channels, and loaded with "
		"all pairs and with random permutations.\n\n"
		"A failure is, the worst first: refused by the routing engine; "
		"able to lock the fabric up; breaking paths between end ports "
		"that are left; cutting end ports off; making it slower (a "
		"link carries more flows, or senders get less); or harmless. "
		"The exit status is 1 if one is of the first three kinds.\n\n"
		"With --simulate the scenario runs once unchanged and once with each of the worst failures after rerouting. The tables show which jobs hang or slow down, which goals are missed and what is not delivered.\n\n"
		"The manager is where most end ports are. What is found does not depend on the number of threads.",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct cli_failures_options, 1, 1),
	.is_long = true,
};
