/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_TOPO_FORMATS_H
#define HD_CLI_TOPO_FORMATS_H

/* How commands write a topology: in a format of --to, or as tables. */

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
 * Whether --to names a format, and no other is asked for: EXIT_DONE, or a usage
 * error of `self`. To be asked before anything is read.
 */
int cli_topo_output_check(const struct command *self, const struct common_options *common,
			  const char *to);

/*
 * Writes `t` to standard output or -o. With --json, --csv, --format or an
 * extension of theirs it is two tables, nodes and links, and so it is recorded
 * with --db and --html. Returns the exit status.
 */
int cli_topo_output(const struct command *self, const struct common_options *common, const char *to,
		    const struct topo *t);

#endif
