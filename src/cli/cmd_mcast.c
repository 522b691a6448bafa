/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_mcast_compare,
	NULL,
};

static const struct example examples[] = {
	{ "heddle mcast compare --topology 'kind: fat-tree, radix: 8, levels: 2'",
	  "the trees that there are, and unicast, side by side" },
	{ "heddle mcast compare --topology 'kind: node-mesh, columns: 8, rows: 8' --engine xy --sources 40%",
	  "what XY multicast gains on a mesh" },
	{ NULL, NULL },
};

const struct command command_mcast = {
	.name = "mcast",
	.summary = "compare multicast with equivalent unicast operations",
	.arguments = "",
	.description = "Sources send a message to a group, by hardware multicast along a\n"
		       "tree and as one copy per member through the same fabric: how long\n"
		       "it takes, what the cables carry, and who lacks what in the end.\n",
	.examples = examples,
	.subcommands = subcommands,
};
