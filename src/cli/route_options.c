/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/route_options.h"

#include <string.h>

#include "cli/output.h"
#include "scenario/words.h"
#include "subnet/tables/tables.h"
#include "topo/read.h"

#define FIELD(name) offsetof(struct cli_route_options, name)

const struct option route_options_table[] = {
	OPTION_ENGINE(struct cli_route_options, fabric),
	OPTIONS_OPENSM(struct cli_route_options, fabric),
	OPTION_SET(struct cli_route_options, fabric),
	{ "check", 0, OPT_FLAG, FIELD(look.check), NULL, NULL,
	  "check that every pair is reached, hops, loops and deadlock" },
	{ "with-switches", 0, OPT_FLAG, FIELD(look.with_switches), NULL, NULL,
	  "count traffic to and from the switches themselves as data in the deadlock check" },
	{ "load", 0, OPT_UINT, FIELD(look.load), "N", "0",
	  "count flows per link: all-to-all, N random bisections, permutations and shifts, and the traffic of a scenario",
	  .low = 0, .high = 1000000 },
	{ "all", 'a', OPT_FLAG, FIELD(look.all), NULL, NULL,
	  "with --load, every channel between switches, not only the busiest" },
	{ "path", 0, OPT_TEXT, FIELD(look.path), "FROM:TO", NULL,
	  "show the way from one end port to another" },
	{ "dump", 0, OPT_TEXT, FIELD(dump), "FORMAT", NULL,
	  "write the tables instead: fts, lfts, opensm, fdbs, mfts, mcfdbs, sl2vl or json" },
	{ "routes", 0, OPT_SET, FIELD(fabric.set), "FILE", NULL,
	  "routes for the engine 'file': output of dump_fts, opensm-lfts.dump or opensm.fdbs",
	  .path = "fabric.routing.file", .as = OPT_INPUT },
	{ "lids", 0, OPT_SET, FIELD(fabric.set), NULL, NULL,
	  "how LIDs are assigned; auto keeps those of the file, or else assigns as OpenSM does",
	  scn_lid_words, .path = "fabric.routing.lids", .as = OPT_CHOICE },
	{ "lmc", 0, OPT_SET, FIELD(fabric.set), "N", NULL, "2^N LIDs per end port", .low = 0,
	  .high = 7, .path = "fabric.routing.lmc", .as = OPT_UINT },
	{ "root", 0, OPT_LIST, FIELD(roots), "SWITCH", NULL, "a root for updn, by name or GUID" },
	{ "vls", 0, OPT_SET, FIELD(fabric.set), "N", NULL,
	  "data VLs that links may use: 1, 2, 4, 8 or 15 (default: the scenario's, or 8)", .low = 1,
	  .high = 15, .path = "qos.vls", .as = OPT_UINT },
	{ "mcast", 0, OPT_LIST, FIELD(look.groups), "GROUP", NULL,
	  "a multicast group: METHOD[@SOURCE]=MEMBER,... with METHOD xy, union, shortest, shared, or auto for the one that loads the busiest cable least" },
	{ "mcast-routes", 0, OPT_INPUT, FIELD(look.mcast_routes), "FILE", NULL,
	  "multicast tables: output of dump_fts -M or opensm.mcfdbs" },
	{ "sl2vl", 0, OPT_INPUT, FIELD(look.sl2vl), "FILE", NULL,
	  "VLs in force: opensm-sl2vl.dump" },
	{ "path-sls", 0, OPT_INPUT, FIELD(look.path_sls), "FILE", NULL,
	  "the SL of each path: saquery's PathRecords or opensm-path-records.dump" },
	{ "sweep", 0, OPT_LIST, FIELD(look.sweeps), "CHANGES", NULL,
	  "then cables fail or come back and the manager sweeps: down=NODE/PORT,... or up=..., NODE alone for all of its cables; all that follows is of the tables after the last" },
	{ "replan", 0, OPT_CHOICE, FIELD(replan), NULL, "opensm",
	  "how sweeps route: opensm keeps what still works unless a cable is new (minhop, updn); keep does so always, fresh never. Routes of --engine file are taken as minhop's",
	  replan_mode_names },
	{ "mcast-sl", 0, OPT_UINT, FIELD(look.mcast_sl), "SL", "0", "the SL of multicast groups",
	  .low = 0, .high = 15 },
	{ .name = NULL },
};

/* Adds overrides for options that no row of the table describes. */
static void put_overrides(struct cli_route_options *v, const char *name)
{
	struct overrides *o = &v->fabric.overrides;
	struct strbuf roots = STRBUF_INIT;

	for (size_t i = 0; i < v->roots.n; i++)
		strbuf_printf(&roots, "%s%s", i ? "," : "", v->roots.items[i]);
	if (v->roots.n)
		overrides_put(o, "--root", "fabric.routing.roots", "%s", roots.text);
	if (topo_is_words(name))
		overrides_put(o, "--seed", "fabric.topology.seed", "%llu",
			      (unsigned long long)v->common.seed);
	strbuf_fini(&roots);
}

/* The usage error of contradicting options, or NULL. */
static const char *find_wrong(const struct cli_route_options *v)
{
	const char *engine = fabric_choice_option(&v->fabric, "engine");
	bool by_file = engine && strcmp(engine, "file") == 0;

	if ((fabric_choice_option(&v->fabric, "routes") != NULL) != by_file)
		return "--routes and --engine file require each other";
	if (v->look.path_sls && !by_file)
		return "--path-sls requires --engine file: other engines compute the SLs";
	if (v->look.path_sls && v->look.sweeps.n)
		return "--path-sls cannot be used with --sweep";
	return NULL;
}

bool route_options_take(const struct command *self, struct cli_route_options *v, const char *name,
			int *status)
{
	const struct output_own_format own[] = { { "--dump", v->dump != NULL }, { NULL, false } };
	const char *wrong = find_wrong(v);

	if (!cli_check_engine_option(self, &v->fabric, "engine", status))
		return false;
	if (v->dump && !tables_writer_find(v->dump))
		*status = command_usage(
			self,
			"option --dump: unknown format '%s' (expected fts, lfts, opensm, fdbs, mfts, mcfdbs, sl2vl or json)",
			v->dump);
	else
		*status = wrong ? command_usage(self, "%s", wrong)
				: output_check_own_formats(self, &v->common, own);
	if (*status != EXIT_DONE)
		return false;
	put_overrides(v, name);
	v->look.replan = (enum replan_mode)v->replan;
	v->look.seed = v->common.seed;
	return true;
}
