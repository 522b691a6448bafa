/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/route/show.h"
#include "cli/route/sweeps.h"
#include "cli/scenario.h"
#include "subnet/check.h"
#include "subnet/deadlock.h"
#include "subnet/ends.h"
#include "subnet/lanes.h"
#include "subnet/mcast.h"
#include "subnet/path_sls.h"
#include "subnet/route.h"
#include "subnet/tables.h"
#include "topo/read.h"

static const char *const lid_names[] = { "opensm", "paper", "nodes",
					 "keep",   "auto",  NULL };
enum { LIDS_AUTO = LIDS_KEEP + 1 };

struct values {
	struct common_options common;
	struct fabric_choice fabric;
	const char *dump;
	const char *routes;
	const char *mcast_routes;
	const char *sl2vl;
	const char *path_sls;
	struct path_sls_found sls; /* in that file */
	const char *path;
	struct option_list roots;
	struct option_list groups;
	struct option_list sweep_texts;
	unsigned replan;
	struct sweeps sweeps;
	unsigned lids;
	uint64_t lmc, vls, load, mcast_sl;
	bool check, with_switches;
	struct mcast_choice choice; /* of trees, with --mcast auto */
};

static const struct option options[] = {
	OPTION_ENGINE(struct values, fabric.engine),
	OPTION_SET(struct values, fabric.set),
	{ .name = "check",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, check),
	  .help = "check that every pair is reached, hops, loops and deadlock" },
	{ .name = "with-switches",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, with_switches),
	  .help = "count traffic to and from the switches themselves as data "
		  "in the deadlock check" },
	{ .name = "load",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, load),
	  .value = "N",
	  .initial = "0",
	  .low = 0,
	  .high = 1000000,
	  .help = "count flows per link: all-to-all, and N random bisections, "
		  "permutations and shifts" },
	{ .name = "path",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, path),
	  .value = "FROM:TO",
	  .help = "show the way from one end port to another" },
	{ .name = "dump",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, dump),
	  .value = "FORMAT",
	  .help = "write the tables instead: fts, lfts, opensm, fdbs, mfts, "
		  "mcfdbs, sl2vl or json" },
	{ .name = "routes",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, routes),
	  .value = "FILE",
	  .help = "routes for the engine 'file': output of dump_fts, "
		  "opensm-lfts.dump or opensm.fdbs" },
	{ .name = "lids",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, lids),
	  .choices = lid_names,
	  .initial = "auto",
	  .help = "how LIDs are assigned; auto keeps those of the file, or "
		  "else assigns as OpenSM does" },
	{ .name = "lmc",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, lmc),
	  .value = "N",
	  .initial = "0",
	  .low = 0,
	  .high = 7,
	  .help = "2^N LIDs per end port" },
	{ .name = "root",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, roots),
	  .value = "SWITCH",
	  .help = "a root for updn, by name or GUID" },
	{ .name = "vls",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, vls),
	  .value = "N",
	  .low = 1,
	  .high = 15,
	  .help = "data VLs that links may use: 1, 2, 4, 8 or 15; 8, or what "
		  "the scenario says" },
	{ .name = "mcast",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, groups),
	  .value = "GROUP",
	  .help = "a multicast group: METHOD[@SOURCE]=MEMBER,... with METHOD "
		  "xy, union, shortest, shared, or auto for the one that "
		  "loads the busiest cable least" },
	{ .name = "mcast-routes",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, mcast_routes),
	  .value = "FILE",
	  .help = "multicast tables: output of dump_fts -M or opensm.mcfdbs" },
	{ .name = "sl2vl",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, sl2vl),
	  .value = "FILE",
	  .help = "lanes in force: opensm-sl2vl.dump" },
	{ .name = "path-sls",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, path_sls),
	  .value = "FILE",
	  .help = "the SL of each path: saquery's PathRecords or "
		  "opensm-path-records.dump" },
	{ .name = "sweep",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, sweep_texts),
	  .value = "CHANGES",
	  .help = "then cables fail or come back and the manager sweeps: "
		  "down=NODE/PORT,... or up=..., NODE alone for all of its "
		  "cables; all that follows is of the tables after the last" },
	{ .name = "replan",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, replan),
	  .choices = replan_mode_names,
	  .initial = "opensm",
	  .help = "how sweeps route: opensm keeps what still works unless a "
		  "cable is new (minhop, updn); keep does so always, fresh "
		  "never. Routes of --engine file are taken as minhop's" },
	{ .name = "mcast-sl",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, mcast_sl),
	  .value = "SL",
	  .initial = "0",
	  .low = 0,
	  .high = 15,
	  .help = "the SL of multicast groups" },
	{ .name = NULL },
};

static const struct column engine_columns[] = {
	{ "engine", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "needs", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static int list_engines(const struct values *v)
{
	struct results *r = results_new("route");
	struct table *t =
		results_table(r, "engines", "routing engines", engine_columns);

	for (unsigned i = 0; i < n_route_engines; i++) {
		table_put_text(t, route_engines[i].name);
		table_put_text(t, route_engines[i].needs);
	}
	return output_results(&v->common, r, true);
}

/* Options are short for --set. */
static void route_overrides(struct values *v, const char *name)
{
	struct overrides *o = &v->fabric.overrides;
	struct strbuf roots = STRBUF_INIT;

	if (v->lids != LIDS_AUTO)
		overrides_put(o, "--lids", "fabric.routing.lids", "%s",
			      lid_names[v->lids]);
	if (v->lmc)
		overrides_put(o, "--lmc", "fabric.routing.lmc", "%u",
			      (unsigned)v->lmc);
	if (v->vls)
		overrides_put(o, "--vls", "qos.lanes", "%u", (unsigned)v->vls);
	if (v->routes)
		overrides_put(o, "--routes", "fabric.routing.file", "%s",
			      v->routes);
	for (size_t i = 0; i < v->roots.n; i++)
		strbuf_printf(&roots, "%s%s", i ? "," : "", v->roots.items[i]);
	if (v->roots.n)
		overrides_put(o, "--root", "fabric.routing.roots", "%s",
			      roots.text);
	if (topo_is_words(name))
		overrides_put(o, "--seed", "fabric.topology.seed", "%llu",
			      (unsigned long long)v->common.seed);
	strbuf_fini(&roots);
}

/* The GUIDs of the switches that --root named, which are there. */
static uint64_t *root_guids(const struct topo *t, const struct values *v)
{
	uint64_t *roots = hd_alloc(v->roots.n, sizeof(*roots));

	for (size_t i = 0; i < v->roots.n; i++) {
		roots[i] = strtoull(v->roots.items[i], NULL, 16);
		for (node_id n = 0; n < t->n_nodes; n++) {
			if (strcmp(t->nodes[n].name, v->roots.items[i]) == 0)
				roots[i] = t->nodes[n].guid;
		}
	}
	return roots;
}

/* The sweeps that follow, from the routes at hand. */
static enum hd_status sweep(const struct subnet *s, struct values *v,
			    struct diag *d)
{
	if (v->sweep_texts.n == 0)
		return HD_OK;
	uint64_t *roots = root_guids(s->topo, v);
	struct route_options route = {
		.roots = roots,
		.n_roots = (unsigned)v->roots.n,
	};
	struct replan_options o = {
		.engine = strcmp(s->engine, "file") == 0 ? "minhop" : s->engine,
		.route = &route,
		.mode = (enum replan_mode)v->replan,
		.manager = lid_options_for(s->topo, 0).sm_port,
	};

	d->file = NULL;
	enum hd_status status =
		sweeps_plan(s, &v->sweep_texts, &o, d, &v->sweeps);

	free(roots);
	return status;
}

static enum hd_status add_groups(struct subnet *s, struct values *v,
				 struct diag *d)
{
	FILE *tables = NULL;
	struct group_list open = { .groups = NULL };
	struct tables_found found;
	enum hd_status status = HD_OK;

	if (v->mcast_routes) {
		status = file_open(v->mcast_routes, d, &tables);
		if (status == HD_OK)
			status = tables_read_stream(s, tables, d, &found);
		if (status == HD_OK && found.n_unicast > 0)
			status = diag_fail(d, HD_ERR_INPUT,
					   "the file has unicast tables too");
	}
	if (status == HD_OK)
		d->file = NULL;
	for (size_t i = 0; i < v->groups.n && status == HD_OK; i++)
		status = group_add(s, v->groups.items[i], (uint8_t)v->mcast_sl,
				   &open, d);
	if (status == HD_OK && open.n > 0)
		status = mcast_choose(s, open.groups, open.n, d, &v->choice);
	group_list_fini(&open);
	if (tables)
		file_close(tables);
	return status;
}

static enum hd_status load_lanes(struct subnet *s, const char *path,
				 struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, FILE_LIMIT, d, &text);

	if (status == HD_OK)
		status = sl2vl_read(s, text.text, text.len, d);
	strbuf_fini(&text);
	return status;
}

static enum hd_status load_path_sls(struct subnet *s, struct values *v,
				    struct diag *d)
{
	FILE *in = NULL;
	enum hd_status status = file_open(v->path_sls, d, &in);

	if (status != HD_OK)
		return status;
	status = path_sls_read(s, in, d, &v->sls);
	file_close(in);
	return status;
}

static enum hd_status add_path(struct results *r, const struct subnet *s,
			       const char *text, struct diag *d)
{
	char *copy = hd_strdup(text), *to = strchr(copy, ':');
	port_id a, b;
	enum hd_status status;

	assert(to); /* check_values() saw to it */
	*to++ = '\0';
	status = end_find(s, copy, d, &a);
	if (status == HD_OK)
		status = end_find(s, to, d, &b);
	if (status == HD_OK)
		show_path(r, s, a, b);
	free(copy);
	return status;
}

static int show(const struct subnet *s, const struct values *v, struct diag *d)
{
	struct results *r = results_new("route");
	bool met = true;

	show_routes(r, s);
	if (v->sweeps.n > 0)
		sweeps_show(r, &v->sweeps, &v->sweep_texts);
	if (s->n_subnets > 1)
		show_routers(r, s);
	if (v->check) {
		met &= show_check(r, s);
		met &= show_deadlock(r, s, v->with_switches);
	}
	if (v->sls.n_missing)
		results_remark(r,
			       "%" PRIu64 " pairs have no record in '%s': SL 0"
			       " was assumed",
			       v->sls.n_missing, v->path_sls);
	if (s->n_groups > 0)
		met &= show_groups(r, s);
	if (v->choice.n > 0)
		show_choice(r, s, &v->choice);
	if (v->load > 0)
		show_load(r, s, (unsigned)v->load, v->common.seed);
	if (v->path && add_path(r, s, v->path, d) != HD_OK) {
		results_free(r);
		return command_refuse(d);
	}
	return output_results(&v->common, r, met);
}

static bool is_clean(const struct subnet *s, const struct values *v)
{
	struct route_check c;
	struct deadlock_check lock;
	struct mcast_check m;

	check_routes(s, &c);
	check_deadlock(
		s, v->with_switches ? DEADLOCK_WITH_SWITCHES : DEADLOCK_PLAIN,
		&lock);
	check_mcast(s, &m);
	bool clean = check_is_clean(&c) && lock.n_cycle == 0 &&
		     lock.n_dropped == 0 && mcast_check_is_clean(&m);

	deadlock_check_fini(&lock);
	return clean;
}

static int dump(const struct subnet *s, const struct values *v, struct diag *d)
{
	const struct table_writer *w = table_writer_find(v->dump);
	struct output out;

	d->file = NULL;
	if (tables_check_export(s, w, d) != HD_OK)
		return command_refuse(d);
	bool clean = !v->check || is_clean(s, v);
	int status = output_open(&v->common, &out);

	if (status != EXIT_DONE)
		return status;
	w->write(s, &out.text);
	return output_close(&out, clean);
}

/* Lanes and groups are of the fabric as it is in the end. */
static enum hd_status complete(struct subnet *s, struct values *v,
			       struct diag *d)
{
	enum hd_status status = HD_OK;

	if (v->sl2vl)
		status = load_lanes(s, v->sl2vl, d);
	if (status == HD_OK && v->path_sls)
		status = load_path_sls(s, v, d);
	if (status != HD_OK)
		return status;
	d->file = NULL;
	return add_groups(s, v, d);
}

static int route_fabric(const char *name, struct values *v)
{
	struct diag d = { .status = HD_OK };
	struct fabric *f;

	route_overrides(v, name);
	if (fabric_choose(&v->fabric, name, &d, &f) != HD_OK)
		return command_refuse(&d);
	struct subnet *s = &f->subnet;
	enum hd_status done = sweep(s, v, &d);

	if (v->sweeps.n)
		s = &v->sweeps.done[v->sweeps.n - 1].subnet;
	if (done == HD_OK)
		done = complete(s, v, &d);
	int status = done != HD_OK ? command_refuse(&d)
		     : v->dump     ? dump(s, v, &d)
				   : show(s, v, &d);

	sweeps_fini(&v->sweeps);
	fabric_free(f);
	return status;
}

/* What the command line alone says; EXIT_DONE if it makes sense. */
static int check_values(const struct command *self, const struct values *v,
			int n_args)
{
	int status = EXIT_DONE;

	if (v->vls && v->vls != 1 && v->vls != 2 && v->vls != 4 &&
	    v->vls != 8 && v->vls != 15)
		return command_usage(self, "--vls must be 1, 2, 4, 8 or 15");
	if (n_args != 1)
		return command_usage(self, "which FABRIC?");
	if (!fabric_engine_known(self, v->fabric.engine, &status))
		return status;
	if ((v->routes != NULL) !=
	    (v->fabric.engine && strcmp(v->fabric.engine, "file") == 0))
		return command_usage(self, "--routes goes with --engine file");
	if (v->path_sls && !v->routes)
		return command_usage(self, "--path-sls goes with --engine "
					   "file: other engines give the SLs");
	if (v->path_sls && v->sweep_texts.n)
		return command_usage(self, "--path-sls tells nothing of the "
					   "paths after --sweep");
	if (v->path && !strchr(v->path, ':'))
		return command_usage(self, "'%s' is no path: write FROM:TO",
				     v->path);
	if (!v->dump)
		return EXIT_DONE;
	if (!table_writer_find(v->dump))
		return command_usage(self,
				     "'%s' is no format of tables: fts, lfts, "
				     "opensm, fdbs, mfts, mcfdbs, sl2vl or "
				     "json",
				     v->dump);
	return output_check_own(self, &v->common, "--dump");
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	int n_args, status;

	if (!command_parse(self, &v, argc, argv, &n_args, &status)) {
		; /* all is said */
	} else if (v.fabric.engine && strcmp(v.fabric.engine, "list") == 0) {
		status = list_engines(&v);
	} else {
		status = check_values(self, &v, n_args);
		if (status == EXIT_DONE)
			status = route_fabric(argv[0], &v);
	}
	fabric_choice_fini(&v.fabric);
	option_list_fini(&v.roots);
	option_list_fini(&v.groups);
	option_list_fini(&v.sweep_texts);
	mcast_choice_fini(&v.choice);
	return status;
}

static const struct example examples[] = {
	{ "heddle route 'torus --sizes=5x5' --engine minhop --check",
	  "shows the cycle of channels that can lock up" },
	{ "heddle route 'torus --sizes=5x5' --engine torus --check",
	  "two lanes per ring break it" },
	{ "heddle route 'fat-tree --radix 36 --levels 3' -e ftree --load 100",
	  "effective bisection bandwidth of 11664 hosts" },
	{ "heddle route site.ibnet -e file --routes opensm-lfts.dump --check",
	  "check the routes that a production fabric has" },
	{ "heddle route site.ibnet -e updn --root spine1 --dump opensm -o x",
	  "tables that OpenSM takes with -R file -U x" },
	{ "heddle route site.ibnet -e file --routes opensm-lfts.dump --sweep "
	  "down=leaf3/20 --check",
	  "what OpenSM changes when that cable fails, and what is left" },
	{ "heddle route 'node-mesh --columns=5 --rows=5' -e xy --lids paper "
	  "--mcast 'xy@13=4,5,19,21,23' --dump mfts",
	  "Fig. 9 of paper 002" },
	{ "heddle route 'mesh --columns=8 --rows=8' -e xy --mcast 'auto=*'",
	  "the trees that load the busiest cable least, and what they gain" },
	{ NULL, NULL },
};

const struct command command_route = {
	.name = "route",
	.summary = "assign LIDs, compute forwarding tables, prove them",
	.arguments = "FABRIC",
	.description =
		"FABRIC is a file of ibnetdiscover, ibsim or OpenSM, a "
		"scenario, '-', or the words of a generator ('mesh "
		"--columns=4 --rows=4'). Of a scenario, routes are those that "
		"'heddle sim' runs.\n\n"
		"An engine either does what its name says or refuses the "
		"fabric with the reason. '--engine list' tells what each "
		"needs.\n\n"
		"--check follows the tables from every end port to every LID "
		"and looks for cycles of channels that wait for each other, "
		"per VL and under the SL2VL tables in force; a cycle is named "
		"port by port. The exit status is 1 if a pair is not reached, "
		"a path loops, or the fabric can lock up.\n\n"
		"End ports are named by their node's name, by LID, or by port "
		"GUID (0x...).",
	.options = options,
	.examples = examples,
	.run = run,
};
