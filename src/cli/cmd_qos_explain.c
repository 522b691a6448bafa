/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_conf_files.h"
#include "cli/qos_options.h"
#include "qos/opensm/explain.h"

struct qos_explain_options {
	struct common_options common;
	struct fabric_choice fabric;
	struct option_list classes;
	const char *against;
	uint64_t vls, mtu, overhead, entries;
	struct hd_rate rate;
};

#define FIELD(name) offsetof(struct qos_explain_options, name)

static const struct option options[] = {
	{ "against", 0, OPT_INPUT, FIELD(against), "FILE", NULL,
	  "compare with this opensm.conf; the most important change first" },
	{ "class", 0, OPT_LIST, FIELD(classes), "NAME=SL[,PAYLOAD]", NULL,
	  "competing traffic: its SL and payload; default: every SL with packets of the MTU" },
	{ "vls", 0, OPT_UINT, FIELD(vls), "N", "8",
	  "data VLs of the links: 1, 2, 4, 8 or 15; with a FABRIC an upper limit", .low = 1,
	  .high = 15 },
	{ "entries", 0, OPT_UINT, FIELD(entries), "N", "64",
	  "entries in each of a port's arbitration tables", .low = 1, .high = 64 },
	{ "mtu", 0, OPT_SIZE, FIELD(mtu), "SIZE", "4096",
	  "payload of the largest packets, and of classes without a payload" },
	OPTION_OVERHEAD(FIELD(overhead), "bytes of every packet in addition to its payload"),
	{ "rate", 0, OPT_RATE, FIELD(rate), "RATE", "100Gb/s",
	  "rate of the links, without a FABRIC" },
	OPTION_SET(struct qos_explain_options, fabric),
	{ .name = NULL },
};

static int show(const struct qos_explain_options *v, const struct explain_view *view,
		const struct cli_conf_files *files, const struct subnet *s)
{
	struct results *r = results_new("qos explain");
	struct explain first, second;

	explain_make(&files->conf[0], view, s, &first);
	if (files->n > 1) {
		explain_make(&files->conf[1], view, s, &second);
		explain_compare(&first, &second, r);
		explain_show(&second, r);
		explain_fini(&second);
	} else {
		explain_show(&first, r);
	}
	explain_fini(&first);
	return output_results(&v->common, r, true);
}

/*
 * Prints the error. A second opensm.conf in place of the fabric is a common mistake, so a hint is
 * added.
 */
static int refuse_fabric(const struct qos_explain_options *v, const struct diag *d)
{
	struct strbuf message = STRBUF_INIT;
	struct diag hint = *d;

	strbuf_printf(&message, "%s; a second opensm.conf goes with --against", d->message);
	hint.status = HD_OK;
	diag_fail(&hint, d->status, "%s", message.text);
	strbuf_fini(&message);
	return command_refuse(v->against ? d : &hint);
}

static int explain(struct qos_explain_options *v, const struct explain_view *view,
		   const struct cli_conf_files *files, const char *fabric)
{
	struct diag d = { .status = HD_OK };
	struct fabric *f;

	if (!fabric)
		return show(v, view, files, NULL);
	if (fabric_choice_overrides(&v->fabric, SEED_OF_SCENARIO, &d) != HD_OK)
		return command_refuse(&d);
	overrides_put(&v->fabric.overrides, "--vls", "qos.vls", "%u", view->vls);
	if (fabric_open(fabric, &v->fabric.overrides, &d, &f) != HD_OK)
		return refuse_fabric(v, &d);
	int status = show(v, view, files, &f->subnet);

	fabric_free(f);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_explain_options *v = values;
	struct diag d = { .status = HD_OK };
	struct qos_packets largest;
	struct cli_conf_files files;
	int status;

	if (!cli_qos_check_vls(self, v->vls, &status) ||
	    !cli_qos_check_packets(self, v->mtu, v->overhead, &largest, &status))
		return status;
	struct explain_view view = { .mtu = (uint32_t)v->mtu,
				     .overhead = largest.overhead,
				     .entries = (unsigned)v->entries,
				     .vls = (unsigned)v->vls,
				     .rate = v->rate };

	if (explain_classes(&v->classes, &d, &view) != HD_OK ||
	    !cli_conf_files_read(args[0], v->against, &d, &files))
		return command_refuse(&d);
	status = explain(v, &view, &files, n > 1 ? args[1] : NULL);
	cli_conf_files_fini(&files);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos explain /etc/opensm/opensm.conf site.ibnet",
	  "show what every SL gets on the links of a site" },
	{ "heddle qos explain opensm.conf --class mpi=0,2KiB --class mds=1,256 --class ost=2",
	  "show the shares of three classes with packets of different sizes" },
	{ "heddle qos explain opensm.conf --against new.conf site.ibnet",
	  "show the effect of a change" },
	{ NULL, NULL },
};

const struct command command_qos_explain = {
	.name = "qos explain",
	.summary = "show what an opensm.conf gives each service level",
	.arguments = "FILE [--against FILE] [FABRIC]",
	.description =
		"Reads the QoS options of an opensm.conf as OpenSM does. Shows the tables that\n"
		"each kind of port gets, with VLs folded and lists padded and cut, and their\n"
		"effect: the share of a link when all classes always send, the guaranteed\n"
		"share, and the longest wait of the first packet of a VL. Shares count bytes on\n"
		"the wire, in whole packets.\n\n"
		"FABRIC is an argument of 'heddle route'. It gives the kinds of ports, their\n"
		"VLs and rates.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_explain_options, 1, 2),
};
