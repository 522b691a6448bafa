/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/qos_classify.h"

#define FIELD(name) offsetof(struct qos_classify_options, name)

static const struct option options[] = {
	{ "service-id", 0, OPT_TEXT, FIELD(service_id), "ID", NULL, "service ID, 64 bits" },
	{ "pkey", 0, OPT_UINT, FIELD(pkey), "KEY", NULL, "P_Key; 0: none", .high = 0xffff },
	{ "class", 0, OPT_UINT, FIELD(class), "N", NULL, "QoS class; 0: none", .high = 255 },
	{ "fabric", 0, OPT_INPUT, FIELD(fabric), "FILE", NULL,
	  "fabric of --source and --destination" },
	OPTION_SET(struct qos_classify_options, choice),
	{ "partitions", 0, OPT_INPUT, FIELD(partitions), "FILE", NULL,
	  "partitions.conf: shows the P_Keys of ports and, without a policy, the SL of its partitions" },
	{ "source", 0, OPT_TEXT, FIELD(source), "NODE", NULL,
	  "source of the path, by name or GUID (0x...)" },
	{ "destination", 0, OPT_TEXT, FIELD(destination), "NODE", NULL, "destination of the path" },
	{ "manager", 0, OPT_TEXT, FIELD(manager), "NODE", NULL,
	  "node of the subnet manager, for groups with 'node-type: SELF'" },
	{ .name = NULL },
};

static bool read_id(const char *text, uint64_t *out)
{
	char *end;

	*out = strtoull(text, &end, 0);
	return end != text && *end == '\0';
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_classify_options *v = values;
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

	if (n == 0 && !v->partitions)
		return command_usage(self, "missing argument: expected POLICY");
	if ((v->source || v->destination || v->manager || v->partitions || v->choice.set.n) &&
	    !v->fabric)
		return command_usage(
			self,
			"--source, --destination, --manager, --partitions and --set require --fabric");
	if (v->service_id && !read_id(v->service_id, &q.service_id))
		return command_usage(self,
				     "invalid service ID '%.40s': expected a number such as 0x1000",
				     v->service_id);
	return cli_qos_classify_path(v, n ? args[0] : NULL, &q);
}

static const struct example examples[] = {
	{ "heddle qos classify --service-id 0x10648ca qos-policy.conf",
	  "show the SL of RDS by its service ID" },
	{ "heddle qos classify --fabric site.ibnet --source h0 --destination h5 qos-policy.conf",
	  "show the SL between two hosts, and the rule that decides" },
	{ NULL, NULL },
};

const struct command command_qos_classify = {
	.name = "qos classify",
	.summary = "find the SL that a QoS policy file gives a connection",
	.arguments = "[POLICY]",
	.description =
		"Reads an OpenSM policy file (qos-policy.conf) and shows the SL of a connection\n"
		"that requests none: by the first match rule whose criteria all fit, then by\n"
		"the short rules of qos-ulps, then by the level DEFAULT, or else the default of\n"
		"qos-ulps. Shows the line of the file that decides. All ports are in partition\n"
		"Default (0x7fff) and, without --partitions, in no other. Files that OpenSM\n"
		"discards are rejected.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_classify_options, 0, 1),
};
