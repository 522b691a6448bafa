/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "qos/plan.h"

struct values {
	struct common_options common;
	uint64_t vls;
	uint64_t entries;
	uint64_t mtu;
	uint64_t overhead;
	bool conf;
};

static const struct option options[] = {
	{ .name = "vls",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, vls),
	  .value = "N",
	  .initial = "8",
	  .low = 1,
	  .high = 15,
	  .help = "data lanes of the links: 1, 2, 4, 8 or 15" },
	{ .name = "entries",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, entries),
	  .value = "N",
	  .initial = "64",
	  .low = 1,
	  .high = 64,
	  .help = "that each of the ports' two arbitration tables has (VLArbHighCap and VLArbLowCap of 'smpquery portinfo')" },
	{ .name = "mtu",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, mtu),
	  .value = "SIZE",
	  .initial = "4096",
	  .help = "payload of packets, for classes that do not say" },
	{ .name = "overhead",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, overhead),
	  .value = "SIZE",
	  .initial = "26",
	  .help = "bytes that every packet has beside its payload" },
	{ .name = "conf",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, conf),
	  .help = "print the lines for opensm.conf instead" },
	{ .name = NULL },
};

static const struct column columns[] = {
	{ "class", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "vl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "table", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "weights", "64 B", VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "wanted", "%", VALUE_REAL, ORIGIN_GIVEN, 2 },
	{ "achieved", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "floor", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column limit_columns[] = {
	{ "vls", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "high limit", "4096 B", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

/* "name=share[,latency][,payload]"; cuts `word` up. */
static enum hd_status read_class(char *word, uint32_t mtu, struct diag *d,
				 struct plan_class *out)
{
	struct plan_class c = { .name = word, .payload = mtu };
	char *equals = strchr(word, '=');

	if (!equals || equals == word)
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is no class (expected name=share, e.g. mpi=70%%)",
			word);
	*equals = '\0';
	for (char *part = strtok(equals + 1, ","); part;
	     part = strtok(NULL, ",")) {
		uint64_t size = 0;
		enum hd_status status = HD_OK;

		if (strcmp(part, "latency") == 0)
			c.latency = true;
		else if (!c.share.den)
			status = hd_ratio_parse(part, d, &c.share);
		else
			status = hd_size_parse(part, d, &size);
		if (status != HD_OK)
			return status;
		if (size > 4096)
			return diag_fail(
				d, HD_ERR_RANGE,
				"class '%s': packets have at most 4096 bytes of payload",
				c.name);
		if (size)
			c.payload = (uint32_t)size;
	}
	*out = c;
	return HD_OK;
}

/* Class n is named like none before it; read_class() left the names. */
static enum hd_status check_name(char **names, int n, struct diag *d)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], names[n]) == 0)
			return diag_fail(d, HD_ERR_INPUT,
					 "class '%s' is given twice", names[n]);
	}
	return HD_OK;
}

static void print_weights(const struct plan *plan, bool high, unsigned vl,
			  struct strbuf *out)
{
	const struct vlarb *arb = &plan->tables.vlarb;
	const struct vlarb_entry *entry = high ? arb->high : arb->low;
	unsigned n = high ? arb->n_high : arb->n_low;

	for (unsigned i = 0; i < n; i++) {
		if (entry[i].vl == vl)
			strbuf_printf(out, "%s%u", out->len ? "+" : "",
				      entry[i].weight);
	}
}

static struct results *show(const struct plan_class *classes, unsigned n,
			    const struct plan *plan)
{
	struct results *r = results_new("qos plan");
	struct table *t = results_table(
		r, "classes", "what each class gets when the others are busy",
		columns);
	struct table *limit =
		results_record(r, "tables", "common to all", limit_columns);
	char *remarks = hd_strdup(plan->remarks.text);

	for (unsigned i = 0; i < n; i++) {
		const struct plan_outcome *o = &plan->outcome[i];
		struct strbuf weights = STRBUF_INIT;

		print_weights(plan, classes[i].latency, o->vl, &weights);
		table_put_text(t, classes[i].name);
		table_put_uint(t, o->sl);
		table_put_uint(t, o->vl);
		table_put_text(t, classes[i].latency ? "high" : "low");
		table_put_text(t, weights.text);
		table_put_real(t, 100 * o->wanted);
		table_put_real(t, 100 * o->achieved);
		table_put_real(t, 100 * o->floor);
		strbuf_fini(&weights);
	}
	table_put_uint(limit, plan->tables.vls);
	table_put_uint(limit, plan->tables.vlarb.high_limit);
	for (char *line = strtok(remarks, "\n"); line;
	     line = strtok(NULL, "\n"))
		results_remark(r, "%s", line);
	free(remarks);
	return r;
}

static int emit(const struct values *v, const struct plan_class *classes,
		unsigned n, struct plan *plan)
{
	int status;

	if (v->conf) {
		struct strbuf text = STRBUF_INIT;

		opensm_export(OPENSM_DEFAULT, &plan->tables, &text);
		status = output_bytes(&v->common, text.text, text.len, true);
		strbuf_fini(&text);
	} else {
		status = output_results(&v->common, show(classes, n, plan),
					true);
	}
	plan_fini(plan);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct plan_class classes[N_SLS] = { 0 };
	struct diag d = { .status = HD_OK };
	struct plan plan;
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		return status;
	if (v.conf && output_check_own(self, &v.common, "--conf") != EXIT_DONE)
		return EXIT_USAGE;
	if (n == 0)
		return command_usage(self, "which classes?");
	if (n > N_SLS - 1)
		return command_usage(self, "%d classes; SLs allow %d", n,
				     N_SLS - 1);
	if (v.vls != 1 && v.vls != 2 && v.vls != 4 && v.vls != 8 && v.vls != 15)
		return command_usage(self,
				     "a link has 1, 2, 4, 8 or 15 data lanes");
	if (v.mtu == 0 || v.mtu > 4096 || v.overhead > 1024)
		return command_usage(
			self,
			"packets have 1 to 4096 bytes of payload and 1024 of overhead");
	for (int i = 0; i < n; i++) {
		if (read_class(argv[i], (uint32_t)v.mtu, &d, &classes[i]) ||
		    check_name(argv, i, &d))
			return command_refuse(&d);
	}
	const struct plan_link link = { .vls = (unsigned)v.vls,
					.entries = (unsigned)v.entries,
					.overhead = (uint32_t)v.overhead };

	if (plan_make(classes, (unsigned)n, &link, &d, &plan) != HD_OK)
		return command_refuse(&d);
	return emit(&v, classes, (unsigned)n, &plan);
}

static const struct example examples[] = {
	{ "heddle qos plan mpi=70% ost=30%",
	  "two classes by share, packets of the MTU" },
	{ "heddle qos plan mds=10%,latency,256 mpi=60%,2KiB ost=30%,4KiB",
	  "metadata first, each class with packets of its own size" },
	{ "heddle qos plan --entries 8 --vls 4 mpi=70% ost=30%",
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
	.run = run,
};
