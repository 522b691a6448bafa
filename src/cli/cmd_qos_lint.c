/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_options.h"
#include "qos/opensm/explain.h"
#include "subnet/tables/packet.h"

struct qos_lint_options {
	struct common_options common;
	const char *policy;
	struct option_list classes;
	uint64_t vls, mtu, entries;
};

#define FIELD(name) offsetof(struct qos_lint_options, name)

static const struct option options[] = {
	{ "vls", 0, OPT_UINT, FIELD(vls), "N", "8",
	  "data VLs of the fabric's links: 1, 2, 4, 8 or 15", .low = 1, .high = 15 },
	{ "mtu", 0, OPT_SIZE, FIELD(mtu), "SIZE", "4096", "payload of the largest packets" },
	{ "entries", 0, OPT_UINT, FIELD(entries), "N", "64",
	  "entries in each of a port's arbitration tables", .low = 1, .high = 64 },
	{ "policy", 0, OPT_INPUT, FIELD(policy), "FILE", NULL,
	  "qos-policy.conf that classifies connections: finds rules without effect, and VLs that no rule selects" },
	{ "class", 0, OPT_LIST, FIELD(classes), "NAME=SL[,PAYLOAD]", NULL,
	  "class of the site: finds classes that share a VL, and what each loses" },
	{ .name = NULL },
};

static int lint(const struct qos_lint_options *v, const struct opensm_conf *conf,
		const struct policy *policy)
{
	const struct opensm_port port = { .scope = OPENSM_SWE,
					  .vls = (unsigned)v->vls,
					  .low_cap = (unsigned)v->entries,
					  .high_cap = (unsigned)v->entries };
	struct explain_view view = {
		.mtu = (uint32_t)v->mtu,
		.overhead = PLAIN_OVERHEAD,
		.entries = (unsigned)v->entries,
		.vls = (unsigned)v->vls,
		.rate = hd_rate_make(100000000000, 1),
	};
	struct diag d = { .status = HD_OK };

	if (explain_classes(&v->classes, &d, &view) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new("qos lint");
	bool clean = opensm_lint_show(conf, &port, &view, policy, r);

	return output_results(&v->common, r, clean);
}

/* Checks the file, and the policy if one is named. */
static int lint_both(const struct qos_lint_options *v, const struct opensm_conf *conf)
{
	struct diag d = { .status = HD_OK };
	struct policy policy;

	if (!v->policy)
		return lint(v, conf, NULL);
	if (policy_load(v->policy, &d, &policy) != HD_OK)
		return command_refuse(&d);
	int status = lint(v, conf, &policy);

	policy_fini(&policy);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct qos_lint_options *v = values;
	struct diag d = { .status = HD_OK };
	struct opensm_conf conf;
	int status;

	(void)n;
	if (!cli_qos_check_vls(self, v->vls, &status))
		return status;
	if (v->mtu == 0 || v->mtu > 4096)
		return command_usage(self, "option --mtu: expected 256, 512, 1024, 2048 or 4096");
	if (opensm_conf_load(args[0], &d, &conf) != HD_OK)
		return command_refuse(&d);
	status = lint_both(v, &conf);
	opensm_conf_fini(&conf);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos lint /etc/opensm/opensm.conf",
	  "check a configuration for links with 8 VLs and 4 KiB packets" },
	{ "heddle qos lint --vls 4 --mtu 2048 --entries 8 opensm.conf",
	  "for ports with fewer VLs and smaller tables" },
	{ "heddle qos lint opensm.conf --policy qos-policy.conf",
	  "with the file that classifies connections" },
	{ NULL, NULL },
};

const struct command command_qos_lint = {
	.name = "qos lint",
	.summary = "check how OpenSM interprets its configuration files",
	.arguments = "FILE",
	.description =
		"Reads the QoS options of an opensm.conf as OpenSM does and reports where the\n"
		"result differs from what the file suggests: weights below one packet, lists\n"
		"that are too short, VLs that the links do not have, keys without effect,\n"
		"truncated lines, classes that share a VL, SL 0 in the high-priority table, and\n"
		"congestion control that OpenSM ignores. Then shows the tables of switch ports.\n"
		"Exit status 1 if there is a finding.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_lint_options, 1, 1),
};
