/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "topo/check.h"
#include "topo/read.h"

static const struct column columns[] = {
	{ "line", NULL, CELL_UNLESS(topo_problem, line, 0) },
	{ "other line", NULL, CELL_UNLESS(topo_problem, other, 0) },
	{ "problem", NULL, CELL_NAME(topo_problem, kind, problem_names), ORIGIN_COMPUTED },
	{ "what", NULL, CELL(topo_problem, text), ORIGIN_COMPUTED },
	{ NULL },
};

static int report(const struct common_options *common, const struct topo *topo,
		  const struct topo_problems *found)
{
	struct results *r = results_new("topo check");
	struct table *t = results_table(r, "problems", "what is wrong with the fabric", columns);

	for (size_t i = 0; i < found->n; i++)
		table_put_row(t, &found->items[i]);
	results_remark(r, "%zu problems in a fabric of %u nodes", found->n, topo->n_nodes);
	return output_results(common, r, found->n == 0);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct common_options *common = values;
	struct diag d = { .status = HD_OK };
	struct topo_problems found = { 0 };
	struct topo t;

	(void)self;
	(void)n;
	if (topo_open(args[0], common->seed, &found, &d, &t) != HD_OK) {
		problems_fini(&found);
		return command_refuse(&d);
	}
	topo_check(&t, &found);
	int status = report(common, &t, &found);

	problems_fini(&found);
	topo_fini(&t);
	return status;
}

static const struct example examples[] = {
	{ "ibnetdiscover | heddle topo check -", "what is wrong with the cabling here" },
	{ "heddle topo check site.ibnet --json", "the same for a program to read" },
	{ NULL, NULL },
};

const struct command command_topo_check = {
	.name = "topo check",
	.summary = "check a topology for faults",
	.arguments = "FABRIC",
	.description = "Reports parts that nothing joins to the rest, cables that "
		       "only one end knows of, that are said twice, or that share a "
		       "port, ends that do not agree on width or speed, and GUIDs "
		       "and LIDs that are given twice; each with the lines of the "
		       "file. Exit status 1 if there is any. A file that cannot be "
		       "understood is refused with exit status 3.",
	.examples = examples,
	COMMAND_CALL(run, struct common_options, 1, 1),
};
