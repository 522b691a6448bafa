/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_cc_curve,
	&command_cc_compare,
	&command_cc_tune,
	NULL,
};

static const struct example examples[] = {
	{ "heddle cc curve fimd --rmax 483559", "how FIMD rises and falls" },
	{ "heddle cc compare examples/two-switch-congestion.yaml",
	  "what control does for the victim of congestion" },
	{ "heddle cc tune examples/incast.yaml",
	  "parameters of InfiniBand's congestion control, for opensm.conf" },
	{ NULL, NULL },
};

const struct command command_cc = {
	.name = "cc",
	.summary = "congestion control: response curves, comparison, tuning",
	.arguments = "",
	.description = "Congestion control by marked packets: the response functions of the\n"
		       "thesis (FIMD, LIPD, PIPD), AIMD, and InfiniBand's own table.\n",
	.examples = examples,
	.subcommands = subcommands,
};
