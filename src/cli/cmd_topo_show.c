/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "topo/facts.h"
#include "topo/read.h"

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct common_options *common = values;
	struct diag d = { .status = HD_OK };
	struct topo_facts f;
	struct topo t;

	(void)n;
	if (topo_open(args[0], common->seed, NULL, &d, &t) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new(self->name);

	topo_facts_init(&f, &t);
	topo_facts_show(&f, &t, r);
	int status = output_results(common, r, true);

	topo_facts_fini(&f);
	topo_fini(&t);
	return status;
}

static const struct example examples[] = {
	{ "heddle topo show 'fat-tree --radix 36 --levels 3'", "the fat tree of 11664 hosts" },
	{ "ibnetdiscover | heddle topo show -", "the fabric here" },
	{ NULL, NULL },
};

const struct command command_topo_show = {
	.name = "topo show",
	.summary = "summarize a topology",
	.arguments = "FABRIC",
	.description =
		"Diameter and mean distance count links between the switches of two hosts. Tier 1 are switches with hosts, tier 2 those next to them, and so on.\n\n"
		"The bisection is the least number of links whose removal "
		"parts the hosts into halves, each host staying with its "
		"switch. It is exact for grids, hypercubes and trees, where a "
		"proven lower bound meets a split that was found (most "
		"dragonflies), and for any fabric that is small enough to "
		"search; else it is the best split found, an upper bound, and "
		"a lower bound is printed next to it. A full bisection has as many "
		"links as a half has hosts.",
	.examples = examples,
	COMMAND_CALL(run, struct common_options, 1, 1),
};
