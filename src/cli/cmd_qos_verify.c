/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_readings.h"
#include "cli/qos_verify_change.h"
#include "cli/qos_verify_plan.h"
#include "cli/scenario.h"
#include "qos/opensm/verify.h"

struct qos_verify_options {
	struct common_options common;
	struct fabric_choice fabric;
	const char *against;
	uint64_t seeds;
	struct cli_verify_plan plan;
};

static const struct option options[] = {
	{ "against", 0, OPT_INPUT, offsetof(struct qos_verify_options, against), "FOLDER|FILE",
	  NULL,
	  "folder with output of smpquery, saquery or OpenSM; or the opensm.conf that PLAN replaces" },
	{ "seeds", 0, OPT_UINT, offsetof(struct qos_verify_options, seeds), "N", "5",
	  "runs with each opensm.conf, with consecutive seeds from the scenario's on",
	  .low = CONF_CHANGE_LEAST_SEEDS, .high = 1000 },
	{ "tables", 0, OPT_INPUT, offsetof(struct qos_verify_options, plan.tables), "FILE", NULL,
	  "compare with the tables that 'heddle qos reserve --tables' wrote, instead of PLAN" },
	OPTION_SET(struct qos_verify_options, fabric),
	{ .name = NULL },
};

static enum hd_status compare(struct verify *v, const struct readings *read, const char *folder,
			      struct diag *d)
{
	size_t n = 0;

	for (size_t i = 0; i < read->n; i++)
		n += verify_read(v, read->items[i].text.text, read->items[i].path);
	return n ? HD_OK
		 : diag_fail(d, HD_ERR_INPUT,
			     "%s: no file contains output of smpquery, saquery or OpenSM", folder);
}

static int verify(const struct qos_verify_options *v, const struct readings *read,
		  const struct fabric *fabric)
{
	struct results *r = results_new("qos verify");
	struct diag d = { .status = HD_OK };
	struct verify state;

	verify_init(&state, &fabric->subnet, v->plan.tables ? &v->plan.ports : NULL, r);
	enum hd_status status = compare(&state, read, v->against, &d);
	bool same = verify_finish(&state);

	if (status == HD_OK)
		return output_results(&v->common, r, same);
	results_free(r);
	return command_refuse(&d);
}

static int verify_folder(struct qos_verify_options *v, const char *fabric)
{
	struct diag d = { .status = HD_OK };
	struct readings read;
	struct fabric *f;
	int status;

	if (readings_load(v->against, &d, &read) != HD_OK)
		return command_refuse(&d);
	if (!fabric)
		fabric = readings_topology(&read);
	if (!fabric)
		diag_fail(
			&d, HD_ERR_INPUT,
			"%s: no file contains output of ibnetdiscover; give the FABRIC as an argument",
			v->against);
	if (fabric && cli_verify_plan_open(&v->plan, &v->fabric, fabric, &d, &f) == HD_OK) {
		status = verify(v, &read, f);
		fabric_free(f);
	} else {
		status = command_refuse(&d);
	}
	readings_fini(&read);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_verify_options *v = values;
	bool is_change = v->against && cli_verify_change_is_file(v->against);

	if (!v->against)
		return command_usage(self, "--against FOLDER or FILE is required");
	if (is_change && (v->plan.tables || n != 2))
		return command_usage(
			self,
			"PLAN and SCENARIO are required to compare PLAN with the opensm.conf '%s'",
			v->against);
	if (!v->plan.tables && n == 0)
		return command_usage(self, "PLAN or --tables FILE is required");
	if (v->plan.tables && n == 2)
		return command_usage(self, "--tables replaces PLAN: at most FABRIC may follow");
	if (!v->plan.tables)
		v->plan.conf = *args++;
	const struct cli_verify_change change = { v->against, v->plan.conf, args[0], v->seeds };
	int status = is_change ? cli_verify_change_run(&change, &v->fabric, &v->common)
			       : verify_folder(v, n > !v->plan.tables ? args[0] : NULL);

	cli_verify_plan_fini(&v->plan);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct qos_verify_options initial = { .common.seed = SEED_OF_SCENARIO };

static const struct example examples[] = {
	{ "heddle qos verify new.conf site.yaml --against opensm.conf",
	  "compare two configurations by class, job and goal" },
	{ "heddle qos verify opensm.conf --against readings",
	  "compare a plan with a folder that has ibnetdiscover's output" },
	{ "saquery VLAR >readings/a; saquery SL2VL >readings/b; saquery PIR >readings/c",
	  "read all tables of a fabric from its subnet manager" },
	{ "for p in $(seq 36); do smpquery vlarb 5 $p; done >readings/leaf1",
	  "read the arbitration tables of a switch" },
	{ "heddle qos verify --tables tables.txt --against readings",
	  "compare with the tables of 'heddle qos reserve --tables'" },
	{ NULL, NULL },
};

const struct command command_qos_verify = {
	.name = "qos verify",
	.summary = "compare a plan with a fabric or the present opensm.conf",
	.arguments = "[PLAN] [FABRIC | SCENARIO]",
	.description =
		"Compares VLs, limits, arbitration tables and SL-to-VL maps of a fabric, entry\n"
		"by entry, with those that OpenSM programs by PLAN (an opensm.conf as 'heddle\n"
		"qos plan --conf' writes it) or that 'heddle live sm --tables' programs. Reads\n"
		"all files of the folder that smpquery (vlarb, sl2vl, portinfo), saquery (VLAR,\n"
		"SL2VL, PIR) or OpenSM (opensm-sl2vl.dump) wrote. FABRIC, or an output of\n"
		"ibnetdiscover in the folder, gives the names of LIDs. Exit status 1 if an\n"
		"entry differs.\n\n"
		"If --against is a file, the opensm.conf that PLAN replaces, SCENARIO is run\n"
		"with both configurations on several seeds, in pairs with the same traffic.\n"
		"Tables show the goals, and each class and job before and after, with 95 %\n"
		"intervals. Exit status 1 if a goal is worse: missed with PLAN, and either its\n"
		"value is worse or it is missed on more seeds than chance explains.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 0, 2),
	.is_long = true,
};
