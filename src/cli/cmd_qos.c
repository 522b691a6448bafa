/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

static const struct command *const subcommands[] = {
	&command_qos_plan,     &command_qos_table,    &command_qos_admit,   &command_qos_bound,
	&command_qos_explain,  &command_qos_lint,     &command_qos_verify,  &command_qos_evaluate,
	&command_qos_classify, &command_qos_diffserv, &command_qos_reserve, NULL,
};

static const struct example examples[] = {
	{ "heddle qos plan mpi=70% ost=30%",
	  "weights that really give these shares, and the opensm.conf for them" },
	{ "heddle qos bound site.ibnet flows.txt", "how late each flow can be at worst" },
	{ "heddle qos lint /etc/opensm/opensm.conf", "what OpenSM will make of a configuration" },
	{ NULL, NULL },
};

const struct command command_qos = {
	.name = "qos",
	.summary = "plan, check and verify service classes and guarantees",
	.arguments = "",
	.description = "Turns goals into service levels, VLs and arbitration tables, says\n"
		       "what the tables are worth, and checks configurations before they\n"
		       "meet a fabric.\n",
	.examples = examples,
	.subcommands = subcommands,
};
