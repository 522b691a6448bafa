/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_qos_plan,     &command_qos_table,    &command_qos_admit,   &command_qos_bound,
	&command_qos_explain,  &command_qos_lint,     &command_qos_verify,  &command_qos_evaluate,
	&command_qos_classify, &command_qos_diffserv, &command_qos_reserve, NULL,
};

static const struct example examples[] = {
	{ "heddle qos plan mpi=70% ost=30%", "compute SLs, VLs and weights for two classes" },
	{ "heddle qos bound site.ibnet flows.txt", "compute the worst-case delay of each flow" },
	{ "heddle qos lint /etc/opensm/opensm.conf",
	  "check how OpenSM interprets a configuration" },
	{ NULL, NULL },
};

const struct command command_qos = {
	.name = "qos",
	.summary = "plan, check and verify service classes and guarantees",
	.arguments = "",
	.description =
		"Plans SLs, VLs and arbitration tables for bandwidth and latency goals,\n"
		"computes what tables guarantee, and checks OpenSM configurations before they\n"
		"are used.\n",
	.examples = examples,
	.subcommands = subcommands,
};
