/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_TOPO_FORMATS_H
#define HD_CLI_TOPO_FORMATS_H

/* Output of topologies, in a format of --to or as tables. */

#include "cli/command.h"
#include "topo/topo.h"

#define TOPO_TO_OPTION(type, field)                                                   \
	{                                                                             \
		.name = "to", .kind = OPT_TEXT, .offset = offsetof(type, field),      \
		.value = "FORMAT",                                                    \
		.help = "ibnetdiscover, ibnetdiscover-f, ibnetdiscover-g, "           \
			"ibnetdiscover-fg, ibsim, links, dot, graphml, slurm or svg " \
			"(default: by the extension of -o, or else as it was read)"   \
	}

/*
 * Checks that --to names a format and that no other format is selected: EXIT_DONE, or a usage
 * error of `self`. Called before input is read.
 */
int cli_topo_output_check(const struct command *self, const struct common_options *common,
			  const char *to);

/*
 * Writes `t` to standard output or -o. With --json, --csv, --format or one of their extensions, it
 * is written as two tables, nodes and links; these are also recorded with --db and --html. Returns
 * the exit status.
 */
int cli_topo_output(const struct command *self, const struct common_options *common, const char *to,
		    const struct topo *t);

#endif
