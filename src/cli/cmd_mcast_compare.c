/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenario.h"
#include "cli/threads.h"
#include "study/mcast_compare.h"

struct cli_mcast_compare_options {
	struct common_options common;
	struct fabric_choice fabric;
	struct mcast_compare_options how;
	const char *fail;
	hd_time fail_at;
	struct progress bar;
	bool begun;
};

#define FIELD(name) offsetof(struct cli_mcast_compare_options, name)

static const struct option options[] = {
	{ "topology", 0, OPT_TEXT, FIELD(how.topology), "TEXT", NULL,
	  "the fabric, as after 'topology:' in a scenario; instead of a FILE" },
	{ "engine", 0, OPT_SET, FIELD(fabric.set), "NAME", NULL,
	  "routing engine (default: the scenario's, or minhop)", .path = "fabric.routing.engine",
	  .words = route_engine_words },
	{ "sources", 0, OPT_TEXT, FIELD(how.sources), "HOSTS", "one",
	  "who sends: hosts as in a scenario (all, 40%, h0..h7), or one drawn by the seed" },
	{ "members", 0, OPT_TEXT, FIELD(how.members), "HOSTS", "all", "who receives" },
	{ "size", 0, OPT_SIZE, FIELD(how.size), "SIZE", "2KiB",
	  "bytes of a message, sent in packets of at most 4 KiB" },
	{ "buffer", 0, OPT_UINT, FIELD(how.buffer), "N", "0",
	  "packets of the message that an input buffer (of a port and VL) holds; 0: as the fabric has it",
	  .high = 2048 },
	{ "tree", 0, OPT_LIST, FIELD(how.trees), "KIND", NULL,
	  "xy, union, shortest, shared, dual-path, multi-path or double-xy; all that the fabric allows if none is named",
	  .words = mcast_compare_tree_words },
	{ "sl", 0, OPT_UINT, FIELD(how.sl), "SL", "0", "the first SL of the messages", .high = 15 },
	{ "vls", 0, OPT_UINT, FIELD(how.vls), "N", "1",
	  "SLs that messages are spread over, from --sl", .low = 1, .high = 15 },
	{ "per-packet", 0, OPT_FLAG, FIELD(how.per_packet), NULL, NULL,
	  "spread packets over them, not messages" },
	{ "headers", 0, OPT_FLAG, FIELD(how.headers), NULL, NULL,
	  "add 26 bytes to a packet and 40 of a GRH to a multicast one" },
	OPTION_SET(struct cli_mcast_compare_options, fabric),
	{ "seeds", 0, OPT_UINT, FIELD(how.seeds), "N", "1",
	  "draws of shares of hosts, for intervals", .low = 1, .high = MCAST_COMPARE_MAX_SEEDS },
	{ "ber", 0, OPT_SET, FIELD(fabric.set), "RATE", NULL, "bit errors on all links",
	  .path = "faults.ber", .as = OPT_DOUBLE },
	{ "fail", 0, OPT_TEXT, FIELD(fail), "SWITCH", NULL, "a switch that fails under way" },
	{ "fail-at", 0, OPT_TIME, FIELD(fail_at), "TIME", "1us", "when it fails" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle mcast compare --topology 'kind: fat-tree, radix: 8, levels: 2'",
	  "one source to all: trees of the source's own, and OpenSM's" },
	{ "heddle mcast compare --topology 'kind: mesh, columns: 8, rows: 8' --engine xy --sources 40% --members 40% --seeds 10",
	  "many sources, with intervals over ten draws" },
	{ "heddle mcast compare --topology 'kind: ring, switches: 6, hosts: 1' --fail s-2 --fail-at 300ns",
	  "who does not get the message when a switch fails" },
	{ NULL, NULL },
};

static void put_failure(const struct cli_mcast_compare_options *v, struct overrides *out)
{
	overrides_put(out, "--fail", "faults.events.+.kind", "switch-down");
	overrides_put(out, "--fail", "faults.events.-.port", "%s", v->fail);
	overrides_put(out, "--fail-at", "faults.events.-.at", "%llups",
		      (unsigned long long)v->fail_at);
}

/* Progress begins once a fabric has been accepted. */
static bool show(void *context, double runs)
{
	struct cli_mcast_compare_options *v = context;

	if (!v->begun)
		progress_begin(&v->bar, &v->common, "runs", mcast_compare_count(&v->how));
	v->begun = true;
	return progress_show(&v->bar, runs);
}

static int compare(struct cli_mcast_compare_options *v)
{
	struct diag d = { .status = HD_OK };
	struct results *r = results_new("mcast compare");
	bool all_well;

	if (v->fail)
		put_failure(v, &v->fabric.overrides);
	v->how.overrides = &v->fabric.overrides;
	v->how.progress = show;
	v->how.context = v;
	if (fabric_choice_overrides(&v->fabric, SEED_OF_SCENARIO, &d) == HD_OK &&
	    mcast_compare_run(&v->how, r, &d, &all_well) == HD_OK) {
		progress_end(&v->bar);
		return output_results(&v->common, r, all_well);
	}
	results_free(r);
	return command_refuse(&d);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct cli_mcast_compare_options *v = values;
	struct mcast_compare_options *o = &v->how;
	int status;

	if ((n == 1) == (o->topology != NULL))
		return command_usage(self, "expected either a scenario FILE or --topology");
	if (!cli_check_engine_option(self, &v->fabric, "engine", &status))
		return status;
	o->file = n ? args[0] : NULL;
	o->routing = fabric_choice_option(&v->fabric, "engine");
	o->seed = v->common.seed;
	status = compare(v);
	fabric_choice_fini(&v->fabric);
	return status;
}

const struct command command_mcast_compare = {
	.name = "mcast compare",
	.summary = "compare multicast trees with unicast on one fabric",
	.arguments = "[FILE]",
	.description =
		"Every source sends one message to every member, all at once: as one\n"
		"copy per member, and along multicast trees. 'xy' and 'union' are the\n"
		"unicast paths laid together, 'shortest' a shortest-path tree, each\n"
		"with an MLID per source; 'shared' is the one spanning tree per group\n"
		"that OpenSM builds. On a mesh 'dual-path' and 'multi-path' visit the\n"
		"members one after the other, up and down a Hamiltonian path, and\n"
		"'double-xy' has a tree for each quadrant, on two VLs.\n"
		"\n"
		"FILE is a scenario whose fabric is used and whose traffic is not. Completion is\n"
		"when the last member has everything, the bound what no run can beat, the cycle the\n"
		"channels that could lock up. Exit status 1 if a member lacks something; it says who.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct cli_mcast_compare_options, 0, 1),
	.is_long = true,
};
