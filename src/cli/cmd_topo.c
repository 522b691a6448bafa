/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_topo_gen, &command_topo_show, &command_topo_check, &command_topo_convert, NULL,
};

static const struct example examples[] = {
	{ "heddle topo gen fat-tree --radix 36 --levels 3 -o big.ibnet",
	  "makes a fat tree of 11664 hosts" },
	{ "ibnetdiscover | heddle topo show -", "describes a live fabric" },
	{ "heddle topo show 'dragonfly --routers 8 --globals 4'",
	  "describes a fabric without making a file" },
	{ NULL, NULL },
};

const struct command command_topo = {
	.name = "topo",
	.summary = "generate, describe, check and convert topologies",
	.arguments = "",
	.description = "A FABRIC is a file, '-' for standard input, or the words of "
		       "'heddle topo gen' as one argument. Files are outputs of "
		       "ibnetdiscover (plain, -f, -g, -p) and iblinkinfo (plain, "
		       "-l), nets of ibsim, and OpenSM's opensm-subnet.lst and "
		       "neighbors; which one it is follows from the content.",
	.examples = examples,
	.subcommands = subcommands,
};
