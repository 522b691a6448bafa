/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos/options.h"
#include "qos/plan.h"

struct values {
	struct common_options common;
	uint64_t vls, entries, mtu, overhead;
	bool conf;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "lanes", 0, OPT_UINT, FIELD(vls), "N", "8",
	  "data lanes of the links: 1, 2, 4, 8 or 15", .low = 1, .high = 15 },
	{ "entries", 0, OPT_UINT, FIELD(entries), "N", "64",
	  "that each of the ports' two arbitration tables has (VLArbHighCap and VLArbLowCap of 'smpquery portinfo')",
	  .low = 1, .high = 64 },
	{ "mtu", 0, OPT_SIZE, FIELD(mtu), "SIZE", "4096",
	  "payload of packets, for classes that do not say" },
	OPTION_OVERHEAD(FIELD(overhead),
			"bytes that every packet has beside its payload"),
	{ "conf", 0, OPT_FLAG, FIELD(conf), NULL, NULL,
	  "print the lines for opensm.conf instead" },
	{ "vls", .kind = OPT_RENAMED, .value = "lanes" },
	{ .name = NULL },
};

static int emit(const struct values *v, const struct plan_class *classes,
		unsigned n, const struct plan *plan)
{
	if (!v->conf) {
		struct results *r = results_new("qos plan");

		plan_show(plan, classes, n, r);
		return output_results(&v->common, r, true);
	}
	struct strbuf text = STRBUF_INIT;

	opensm_export(OPENSM_DEFAULT, &plan->tables, &text);
	return output_text(&v->common, &text, true);
}

static int make(const struct values *v, char **words, unsigned n,
		const struct plan_link *link)
{
	struct plan_class classes[N_SLS] = { 0 };
	struct diag d = { .status = HD_OK };
	struct plan plan;

	if (plan_classes_read(words, n, (uint32_t)v->mtu, &d, classes) !=
		    HD_OK ||
	    plan_make(classes, n, link, &d, &plan) != HD_OK)
		return command_refuse(&d);
	int status = emit(v, classes, n, &plan);

	plan_fini(&plan);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct values *v = values;
	const struct own_format own[] = { { "--conf", v->conf },
					  { NULL, false } };
	struct qos_packets largest;
	int status = output_check_own(self, &v->common, own);

	if (status != EXIT_DONE)
		return status;
	if (n > N_SLS - 1)
		return command_usage(self, "%d classes; SLs allow %d", n,
				     N_SLS - 1);
	if (v->vls != 1 && v->vls != 2 && v->vls != 4 && v->vls != 8 &&
	    v->vls != 15)
		return command_usage(self,
				     "a link has 1, 2, 4, 8 or 15 data lanes");
	if (!packets_possible(self, v->mtu, v->overhead, &largest, &status))
		return status;
	const struct plan_link link = { .vls = (unsigned)v->vls,
					.entries = (unsigned)v->entries,
					.overhead = largest.overhead };

	return make(v, args, (unsigned)n, &link);
}

static const struct example examples[] = {
	{ "heddle qos plan mpi=70% ost=30%",
	  "two classes by share, packets of the MTU" },
	{ "heddle qos plan mds=10%,latency,256 mpi=60%,2KiB ost=30%,4KiB",
	  "metadata first, each class with packets of its own size" },
	{ "heddle qos plan --entries 8 --lanes 4 mpi=70% ost=30%",
	  "for ports with small tables" },
	{ "heddle qos plan --conf mpi=70% ost=30% -o qos.conf",
	  "the lines for opensm.conf" },
	{ NULL, NULL },
};

const struct command command_qos_plan = {
	.name = "qos plan",
	.summary = "goals to service levels, lanes and weights",
	.arguments = "NAME=SHARE[,latency][,PAYLOAD]...",
	.description =
		"Gives each class a service level and a lane, and chooses weights as\n"
		"whole packets, since the arbiter rounds up to whole packets. Shows\n"
		"what each class achieves when all others always have packets to\n"
		"send and latency classes, which go into the high-priority table and\n"
		"are served first, send their share. 'floor' is what a class can\n"
		"count on whichever others send without end, latency classes too.\n"
		"Shares are of the link's data rate, in bytes on the wire. SLs\n"
		"without a class go with the least one. Goals that no tables of\n"
		"--entries reach within half a point are refused with the reason.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct values, 1, ANY_NUMBER),
};
