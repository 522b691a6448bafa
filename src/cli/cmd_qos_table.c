/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_options.h"
#include "qos/tables/port_fill.h"

struct qos_table_options {
	struct common_options common;
	struct port_fill_params params;
	uint64_t vls;
};

#define FIELD(name) offsetof(struct qos_table_options, name)

static const struct option options[] = {
	{ "link", 0, OPT_RATE, FIELD(params.link), "RATE", "10Gb/s", "data rate of the link" },
	OPTION_FILL_MODE(FIELD(params.mode)),
	OPTION_FILL_PLACE(FIELD(params.place)),
	OPTION_BEST_EFFORT(FIELD(params.best_effort)),
	OPTION_PREFERRED(FIELD(params.preferred)),
	{ "vls", 0, OPT_UINT, FIELD(vls), "N", "15",
	  "data vls: 1, 2, 4, 8 or 15; classes fold onto fewer", .low = 1, .high = 15 },
	{ .name = NULL },
};

static int fill(const struct qos_table_options *v, char **words, unsigned n)
{
	struct results *r = results_new("qos table");
	struct strbuf lost = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct port_fill port;
	unsigned refused;

	enum hd_status status = fill_port_init(&port, &v->params, &lost, &d);

	if (lost.len)
		results_remark(r, "%u VL%s: %s", v->params.vls, v->params.vls == 1 ? "" : "s",
			       lost.text);
	strbuf_fini(&lost);
	if (status == HD_OK &&
	    fill_port_show(&port, (const char *const *)words, n, r, &d, &refused) == HD_OK)
		return output_results(&v->common, r, refused == 0);
	results_free(r);
	return command_refuse(&d);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_table_options *v = values;
	int status;

	if (!cli_qos_check_vls(self, v->vls, &status) ||
	    !cli_qos_check_best_effort(self, v->params.best_effort, v->params.preferred, &status))
		return status;
	v->params.vls = (unsigned)v->vls;
	return fill(v, args, (unsigned)n);
}

static const struct example examples[] = {
	{ "heddle qos table --link 2.5Gb/s DB:64Kb/s DB:64Mb/s DB:300Mb/s",
	  "show how three connections share entries" },
	{ "heddle qos table --place spread DBTS:1Gb/s DB:2Gb/s",
	  "spread the entries of each VL, for shorter waits" },
	{ NULL, NULL },
};

const struct command command_qos_table = {
	.name = "qos table",
	.summary = "fill the arbitration tables of one port",
	.arguments = "CLASS:RATE...",
	.description =
		"Counts each connection in slots of 64 bytes per frame of 64 entries times 255,\n"
		"groups the connections of an SL into entries, and prints the tables. Best\n"
		"effort always has its share, and challenged traffic one slot. Classes are DBTS\n"
		"(high-priority table), DB, whose rate selects the SL, and PBE, which is\n"
		"counted against the share of --preferred. Exit status 1 if a connection does\n"
		"not fit.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_table_options, 0, ANY_NUMBER),
};
