/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "fabric/fabric.h"
#include "qos/policy.h"

struct values {
	struct common_options common;
	const char *fabric, *source, *destination, *manager;
	const char *service_id;
	uint64_t pkey, class;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ .name = "service-id",
	  .kind = OPT_TEXT,
	  .offset = FIELD(service_id),
	  .value = "ID",
	  .help = "the service asked for, 64 bits" },
	{ .name = "pkey",
	  .kind = OPT_UINT,
	  .offset = FIELD(pkey),
	  .value = "KEY",
	  .high = 0xffff,
	  .help = "partition; 0: not told" },
	{ .name = "class",
	  .kind = OPT_UINT,
	  .offset = FIELD(class),
	  .value = "N",
	  .high = 255,
	  .help = "QoS class; 0: not told" },
	{ .name = "fabric",
	  .kind = OPT_TEXT,
	  .offset = FIELD(fabric),
	  .value = "FILE",
	  .help = "where --source and --destination are" },
	{ .name = "source",
	  .kind = OPT_TEXT,
	  .offset = FIELD(source),
	  .value = "NODE",
	  .help = "who asks" },
	{ .name = "destination",
	  .kind = OPT_TEXT,
	  .offset = FIELD(destination),
	  .value = "NODE",
	  .help = "for a path to whom" },
	{ .name = "manager",
	  .kind = OPT_TEXT,
	  .offset = FIELD(manager),
	  .value = "NODE",
	  .help = "where the subnet manager runs, for groups with 'node-type: SELF'" },
	{ .name = NULL },
};

static const struct column columns[] = {
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "line", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "level", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static enum hd_status find(const struct fabric *f, const char *name,
			   struct diag *d, port_id *out)
{
	*out = name ? fabric_find_end(f, name) : TOPO_NONE;
	if (name && *out == TOPO_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "no end port is called '%.80s'", name);
	return HD_OK;
}

static int answer(const struct values *v, const struct policy *p,
		  const struct subnet *s, const struct policy_query *q)
{
	struct results *r = results_new("qos label");
	struct table *t = results_record(
		r, "label", "what the subnet manager answers", columns);
	struct policy_answer a = policy_match(p, s, q);

	table_put_uint(t, a.sl);
	if (a.line)
		table_put_uint(t, a.line);
	else
		table_put_none(t);
	if (a.level)
		table_put_text(t, a.level);
	else
		table_put_none(t);
	return output_results(&v->common, r, true);
}

/* With the ends looked up in a fabric, if one is given. */
static int label(const struct values *v, const struct policy *p,
		 struct policy_query *q, struct diag *d)
{
	struct fabric *f;
	int status;

	if (!v->fabric)
		return answer(v, p, NULL, q);
	if (fabric_open(v->fabric, NULL, d, &f) != HD_OK)
		return command_refuse(d);
	if (find(f, v->source, d, &q->source) != HD_OK ||
	    find(f, v->destination, d, &q->destination) != HD_OK ||
	    find(f, v->manager, d, &q->manager) != HD_OK)
		status = command_refuse(d);
	else
		status = answer(v, p, &f->subnet, q);
	fabric_free(f);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;
	struct policy p;
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		return status;
	if (n != 1)
		return command_usage(self, "which policy file?");
	if ((v.source || v.destination || v.manager) && !v.fabric)
		return command_usage(self, "--source, --destination and "
					   "--manager need a --fabric");
	struct policy_query q = {
		.source = TOPO_NONE,
		.destination = TOPO_NONE,
		.manager = TOPO_NONE,
		.has_service_id = v.service_id,
		.has_pkey = v.pkey != 0,
		.pkey = (uint16_t)v.pkey,
		.has_class = v.class != 0,
		.class = (uint8_t)v.class,
	};
	char *end = NULL;

	if (v.service_id)
		q.service_id = strtoull(v.service_id, &end, 0);
	if (end && (end == v.service_id || *end))
		return command_usage(self, "'%.40s' is no service id",
				     v.service_id);
	if (file_read(argv[0], FILE_LIMIT, &d, &text) != HD_OK)
		return command_refuse(&d);
	if (policy_read(text.text, &d, &p) != HD_OK)
		status = command_refuse(&d);
	else
		status = label(&v, &p, &q, &d);
	policy_fini(&p);
	strbuf_fini(&text);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos label --service-id 0x10648ca qos-policy.conf",
	  "the SL of RDS by its service id" },
	{ "heddle qos label --fabric site.ibnet --source h0 --destination h5 "
	  "qos-policy.conf",
	  "the SL between two hosts, and the rule that says so" },
	{ NULL, NULL },
};

const struct command command_qos_label = {
	.name = "qos label",
	.summary = "the SL that a policy file gives a connection",
	.arguments = "POLICY",
	.description =
		"Reads an OpenSM policy file (qos-policy.conf) and says which service\n"
		"level a connection is given that does not ask for one: by the first\n"
		"match rule whose criteria all fit, then by the short rules of\n"
		"qos-ulps, then by the level DEFAULT, or else the default of qos-ulps;\n"
		"and on which line that is written. All ports are in partition Default\n"
		"(0x7fff) and in no other. Files that OpenSM discards are refused.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
