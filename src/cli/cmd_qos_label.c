/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "fabric/fabric.h"
#include "qos/policy.h"
#include "subnet/ends.h"

struct values {
	struct common_options common;
	const char *fabric, *source, *destination, *manager, *service_id;
	uint64_t pkey, class;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "service-id", 0, OPT_TEXT, FIELD(service_id), "ID", NULL,
	  "the service asked for, 64 bits" },
	{ "pkey", 0, OPT_UINT, FIELD(pkey), "KEY", NULL,
	  "partition; 0: not told", .high = 0xffff },
	{ "class", 0, OPT_UINT, FIELD(class), "N", NULL,
	  "QoS class; 0: not told", .high = 255 },
	{ "fabric", 0, OPT_TEXT, FIELD(fabric), "FILE", NULL,
	  "where --source and --destination are" },
	{ "source", 0, OPT_TEXT, FIELD(source), "NODE", NULL, "who asks" },
	{ "destination", 0, OPT_TEXT, FIELD(destination), "NODE", NULL,
	  "for a path to whom" },
	{ "manager", 0, OPT_TEXT, FIELD(manager), "NODE", NULL,
	  "where the subnet manager runs, for groups with 'node-type: SELF'" },
	{ .name = NULL },
};

static enum hd_status find(const struct topo *t, const char *name,
			   struct diag *d, port_id *out)
{
	*out = name ? end_named(t, name) : TOPO_NONE;
	if (name && *out == TOPO_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "no end port is called '%.80s'", name);
	return HD_OK;
}

static int answer(const struct values *v, const struct policy *p,
		  const struct subnet *s, const struct policy_query *q)
{
	const struct policy_answer a = policy_match(p, s, q);
	struct results *r = results_new("qos label");

	policy_answer_show(&a, r);
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
	if (find(&f->topo, v->source, d, &q->source) != HD_OK ||
	    find(&f->topo, v->destination, d, &q->destination) != HD_OK ||
	    find(&f->topo, v->manager, d, &q->manager) != HD_OK)
		status = command_refuse(d);
	else
		status = answer(v, p, &f->subnet, q);
	fabric_free(f);
	return status;
}

static int read_and_label(const struct values *v, const char *path,
			  struct policy_query *q)
{
	struct diag d = { .status = HD_OK };
	struct policy p;

	if (policy_load(path, &d, &p) != HD_OK)
		return command_refuse(&d);
	int status = label(v, &p, q, &d);

	policy_fini(&p);
	return status;
}

static bool read_id(const char *text, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 0);
	return end != text && *end == '\0';
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct values *v = values;
	struct policy_query q = {
		.source = TOPO_NONE,
		.destination = TOPO_NONE,
		.manager = TOPO_NONE,
		.has_service_id = v->service_id,
		.has_pkey = v->pkey != 0,
		.pkey = (uint16_t)v->pkey,
		.has_class = v->class != 0,
		.class = (uint8_t)v->class,
	};

	(void)n;
	if ((v->source || v->destination || v->manager) && !v->fabric)
		return command_usage(
			self,
			"--source, --destination and --manager need a --fabric");
	if (v->service_id && !read_id(v->service_id, &q.service_id))
		return command_usage(self, "'%.40s' is no service id",
				     v->service_id);
	return read_and_label(v, args[0], &q);
}

static const struct example examples[] = {
	{ "heddle qos label --service-id 0x10648ca qos-policy.conf",
	  "the SL of RDS by its service id" },
	{ "heddle qos label --fabric site.ibnet --source h0 --destination h5 qos-policy.conf",
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
	COMMAND_CALL(run, struct values, 1, 1),
};
