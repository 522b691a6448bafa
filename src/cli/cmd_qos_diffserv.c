/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/iba.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "qos/admission/diffserv.h"
#include "scenario/words.h"

struct qos_diffserv_options {
	struct common_options common;
	unsigned vls;
};

#define FIELD(name) offsetof(struct qos_diffserv_options, name)

static const struct option options[] = {
	{ "vls", 0, OPT_CHOICE, FIELD(vls), NULL, "8", "data VLs of the subnet's links",
	  scn_vl_words },
	{ .name = NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct qos_diffserv_options *v = values;
	unsigned vls = vls_of_code(v->vls + 1u);
	struct diffserv_map map = diffserv_map_for(vls);
	struct results *r = results_new(self->name);

	(void)n;
	(void)args;
	diffserv_tables(&map, r);
	results_remark(
		r,
		"AF's drop precedence has no counterpart: a lossless fabric drops nothing, so AF11, AF12 and AF13 are one");
	if (!map.separate_af)
		results_remark(r, "AF1 to AF4 share an SL: %u VLs do not allow one for each", vls);
	if (vls == 2)
		results_remark(r, "EF and AF share a VL, default and lower effort the other");
	if (vls == 1)
		results_remark(r, "one VL: classes share it");
	return output_results(&v->common, r, true);
}

static const struct example examples[] = {
	{ "heddle qos diffserv --vls 4", "print the map for four VLs" },
	{ NULL, NULL },
};

const struct command command_qos_diffserv = {
	.name = "qos diffserv",
	.summary = "map DSCP values to class, SL and VL, and back",
	.arguments = "",
	.description =
		"Prints how a subnet maps DiffServ code points: EF is DBTS, AF1x to AF4x are DB\n"
		"(one SL each if there are enough VLs), default is best effort, lower effort is\n"
		"challenged; all others are best effort. The TClass of the GRH carries the DS\n"
		"byte, 4 times the DSCP, across routers, which choose the SL in each subnet\n"
		"(qos.tclasses of a scenario). Also prints the TClass that the first router\n"
		"writes by the SL if the source has set none (qos.tclass_of_sl).\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_diffserv_options, 0, 0),
};
