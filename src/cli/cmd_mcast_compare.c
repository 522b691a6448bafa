/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/scenario.h"
#include "sim/collective/compare.h"
#include "subnet/packet.h"

#define MAX_SIZE ((uint64_t)1 << 30)
#define MTU      4096

struct values {
	struct common_options common;
	const char *topology;
	const char *routing;
	const char *sources, *members;
	const char *fail;
	hd_time fail_at;
	double ber;
	uint64_t size;
	uint64_t lanes;
	bool per_packet, dedicated, headers;
	struct option_list trees, set;
	uint64_t seeds;
};

static const struct option options[] = {
	{ .name = "topology",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, topology),
	  .value = "TEXT",
	  .help = "the fabric, as after 'topology:' in a scenario; instead of "
		  "a FILE" },
	{ .name = "routing",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, routing),
	  .value = "ENGINE",
	  .help = "minhop, or what the scenario says" },
	{ .name = "sources",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, sources),
	  .value = "HOSTS",
	  .initial = "one",
	  .help = "who sends: hosts as in a scenario (all, 40%, h0..h7), or "
		  "one drawn by the seed" },
	{ .name = "members",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, members),
	  .value = "HOSTS",
	  .initial = "all",
	  .help = "who receives" },
	{ .name = "size",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, size),
	  .value = "BYTES",
	  .initial = "2KiB",
	  .help = "of a message; in packets of at most 4 KiB" },
	{ .name = "tree",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, trees),
	  .value = "KIND",
	  .help = "xy, union, shortest, shared, dual-path, multi-path or "
		  "double-xy; all that the fabric allows if none is named" },
	{ .name = "lanes",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, lanes),
	  .value = "N",
	  .low = 1,
	  .high = 15,
	  .initial = "1",
	  .help = "SLs that messages are spread over, from 0" },
	{ .name = "per-packet",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, per_packet),
	  .help = "spread packets over them, not messages" },
	{ .name = "dedicated",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, dedicated),
	  .help = "lanes by direction (1, 2 or 4), on meshes and tori" },
	{ .name = "headers",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, headers),
	  .help = "add 26 bytes to a packet and 40 of a GRH to a multicast "
		  "one" },
	OPTION_SET(struct values, set),
	{ .name = "seeds",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, seeds),
	  .value = "N",
	  .low = 1,
	  .high = COMPARE_MAX_SEEDS,
	  .initial = "1",
	  .help = "draws of shares of hosts, for intervals" },
	{ .name = "ber",
	  .kind = OPT_DOUBLE,
	  .offset = offsetof(struct values, ber),
	  .value = "RATE",
	  .initial = "0",
	  .help = "bit errors on all links" },
	{ .name = "fail",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, fail),
	  .value = "SWITCH",
	  .help = "a switch that fails under way" },
	{ .name = "fail-at",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, fail_at),
	  .value = "TIME",
	  .initial = "1us",
	  .help = "when it fails" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle mcast compare --topology 'kind: fat-tree, radix: 8, levels: 2'",
	  "one source to all: trees of the source's own, and OpenSM's" },
	{ "heddle mcast compare --topology 'kind: mesh, columns: 8, rows: 8' "
	  "--routing xy --sources 40% --members 40% --seeds 10",
	  "many sources, with intervals over ten draws" },
	{ "heddle mcast compare --topology 'kind: ring, switches: 6, hosts: 1' "
	  "--fail s-2 --fail-at 300ns",
	  "who does not get the message when a switch fails" },
	{ NULL, NULL },
};

/* What is said of a fabric that is but a topology. */
static void topology_overrides(const struct values *v, struct overrides *o)
{
	overrides_put(o, "--topology", "fabric.topology", "{%s}", v->topology);
	if (v->headers)
		overrides_put(o, "--headers", "fabric.packet.overhead", "%u",
			      GRH_OVERHEAD);
	if (v->routing && strcmp(v->routing, "xy") == 0)
		overrides_put(o, "--routing", "fabric.routing.lids", "paper");
	overrides_put(o, "--lanes", "qos.lanes", "%u", v->lanes > 8 ? 15 : 8);
	overrides_put(o, "--size", "traffic.op.payload", "%uB",
		      (unsigned)(v->size < MTU ? v->size : MTU));
}

static enum hd_status make_overrides(const struct values *v,
				     struct overrides *o, struct diag *d)
{
	if (v->topology)
		topology_overrides(v, o);
	if (v->routing)
		overrides_put(o, "--routing", "fabric.routing.engine", "%s",
			      v->routing);
	if (v->ber > 0)
		overrides_put(o, "--ber", "faults.ber", "%.17g", v->ber);
	if (v->fail) {
		overrides_put(o, "--fail", "faults.events.+.kind",
			      "switch-down");
		overrides_put(o, "--fail", "faults.events.-.port", "%s",
			      v->fail);
		overrides_put(o, "--fail-at", "faults.events.-.at", "%llups",
			      (unsigned long long)v->fail_at);
	}
	return overrides_from_options(&v->set, SEED_OF_SCENARIO, o, d);
}

/* Which trees are asked for; NULL, or the first one that there is not. */
static const char *find_trees(const struct option_list *l,
			      struct compare_options *o)
{
	o->any_tree = l->n == 0;
	for (size_t i = 0; i < l->n; i++) {
		bool known = false;

		for (unsigned m = 0; m < COMPARE_TREES; m++) {
			bool it =
				strcmp(l->items[i], mcast_method_names[m]) == 0;

			o->trees[m] |= it;
			known |= it;
		}
		if (!known)
			return l->items[i];
	}
	return NULL;
}

static int compare(const struct values *v, struct compare_options *o)
{
	struct diag d = { .status = HD_OK };
	struct overrides overrides = { 0 };
	struct strbuf text = STRBUF_INIT;
	bool all_well = false;
	enum hd_status status = make_overrides(v, &overrides, &d);

	if (status == HD_OK && o->file)
		status = file_read(o->file, SCENARIO_LIMIT, &d, &text);
	if (status != HD_OK) {
		overrides_fini(&overrides);
		return command_refuse(&d);
	}
	struct results *r = results_new("mcast compare");
	int code;

	o->text = o->file ? text.text : compare_fabric;
	o->overrides = &overrides;
	status = compare_run(o, r, &d, &all_well);
	if (status == HD_OK) {
		code = output_results(&v->common, r, all_well);
	} else {
		results_free(r);
		code = command_refuse(&d);
	}
	o->text = NULL;
	o->overrides = NULL;
	overrides_fini(&overrides);
	strbuf_fini(&text);
	return code;
}

/* What the command line alone says; EXIT_DONE if it makes sense. */
static int check_values(const struct command *self, const struct values *v,
			int n_args)
{
	int status = EXIT_DONE;

	if (n_args > 1 || (n_args == 1) == (v->topology != NULL))
		return command_usage(self, "give a scenario FILE or "
					   "--topology");
	if (v->size == 0 || v->size > MAX_SIZE)
		return command_usage(self, "a message has 1 byte to 1 GiB");
	if (!(v->ber >= 0 && v->ber < 1))
		return command_usage(self, "--ber is from 0 to below 1");
	if (v->dedicated && v->lanes != 1 && v->lanes != 2 && v->lanes != 4)
		return command_usage(self,
				     "--dedicated needs --lanes 1, 2 or 4");
	return fabric_engine_known(self, v->routing, &status) ? EXIT_DONE
							      : status;
}

static int run_checked(const struct command *self, const struct values *v,
		       const char *file)
{
	struct compare_options o = {
		.file = file,
		.sources = v->sources,
		.members = v->members,
		.size = v->size,
		.lanes = v->lanes,
		.per_packet = v->per_packet,
		.dedicated = v->dedicated,
		.headers = v->headers,
		.seed = v->common.seed,
		.seeds = v->seeds,
	};
	const char *unknown = find_trees(&v->trees, &o);

	return unknown ? command_usage(self,
				       "no tree '%s'; there are xy, "
				       "union, shortest, shared, dual-path, "
				       "multi-path, double-xy",
				       unknown)
		       : compare(v, &o);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	int n_args, status;

	if (command_parse(self, &v, argc, argv, &n_args, &status)) {
		status = check_values(self, &v, n_args);
		if (status == EXIT_DONE)
			status = run_checked(self, &v, n_args ? argv[0] : NULL);
	}
	option_list_fini(&v.trees);
	option_list_fini(&v.set);
	return status;
}

const struct command command_mcast_compare = {
	.name = "mcast compare",
	.summary = "trees of all kinds and unicast, on any fabric",
	.arguments = "[FILE]",
	.description =
		"Every source sends one message to every member, all at once: as one\n"
		"copy per member, and along multicast trees. 'xy' and 'union' are the\n"
		"unicast paths laid together, 'shortest' a shortest-path tree, each\n"
		"with an MLID per source; 'shared' is the one spanning tree per group\n"
		"that OpenSM builds. On a mesh 'dual-path' and 'multi-path' visit the\n"
		"members one after the other, up and down a Hamiltonian path, and\n"
		"'double-xy' has a tree for each quadrant, on two lanes.\n"
		"\n"
		"FILE is a scenario whose fabric is used and whose traffic is not.\n"
		"Completion is when the last member has everything, the bound what\n"
		"no run can beat, the cycle the channels that could lock up. Exit\n"
		"status 1 if a member lacks something in the end; the output says who.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
