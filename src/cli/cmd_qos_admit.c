/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_options.h"
#include "qos/admission/admission.h"

struct qos_admit_options {
	struct common_options common;
	struct fabric_choice fabric;
	struct admission_params params;
	struct given_shares shares;
	const char *requests;
	uint64_t payload;
};

#define FIELD(name) offsetof(struct qos_admit_options, name)

static const struct option options[] = {
	OPTION_REQUESTS(FIELD(requests), "connections"),
	OPTION_GROUP(FIELD(params.terms.groups), "requests"),
	{ "random", 0, OPT_UINT, FIELD(params.random), "N", "0",
	  "request N random connections instead, as paper 000 does", .high = 1000000 },
	OPTION_ENGINE(struct qos_admit_options, fabric),
	OPTION_SET(struct qos_admit_options, fabric),
	OPTIONS_ADMISSION(FIELD(fabric.set)),
	OPTION_BEST_EFFORT_GIVEN(FIELD(shares.best_effort)),
	OPTION_PREFERRED_GIVEN(FIELD(shares.preferred)),
	{ "violations", 0, OPT_RATIO, FIELD(params.violations), "SHARE", "0",
	  "admit on-off sources (rate PEAK~MEAN) statistically: share of time in which demand may exceed the rate of a link" },
	{ "link", 0, OPT_SET, FIELD(fabric.set), "RATE", NULL,
	  "data rate of every link (default: the scenario's, or the fabric's own)",
	  .path = "fabric.link.rate", .as = OPT_RATE },
	OPTION_PAYLOAD(FIELD(payload), "payload of packets; the default burst is one packet"),
	OPTION_PACKET_OVERHEAD(FIELD(fabric.set)),
	{ "from", 0, OPT_INPUT, FIELD(params.load), "FILE", NULL, "start from saved reservations" },
	{ "save", 0, OPT_OUTPUT, FIELD(params.save), "FILE", NULL,
	  "save the reservations, with GUIDs and names of the ends", .replaces = "from" },
	OPTION_TABLES_OUT(FIELD(params.tables)),
	{ .name = NULL },
};

/* The usage error of the options, or NULL. */
static const char *find_wrong(const struct qos_admit_options *v)
{
	const struct admission_params *p = &v->params;

	if (!v->requests && !p->random && !p->load)
		return "one of --requests, --random or --from is required";
	if (p->violations.num >= p->violations.den)
		return "option --violations: the share must be below 100%";
	if (p->violations.num > 0 &&
	    (p->random || p->load || p->save || p->tables || p->terms.groups.n > 0))
		return "--violations requires --requests and cannot be used with --random, --from, --save, --tables or --group";
	return NULL;
}

static int show(const struct qos_admit_options *v, const struct fabric *fabric, struct admission *a)
{
	struct results *r = results_new("qos admit");

	admission_show(a, r);
	cli_qos_remark_classes(fabric, r);
	int status = output_results(&v->common, r, admission_met(a));

	admission_fini(a);
	return status;
}

static int admit(struct qos_admit_options *v, const char *path)
{
	const struct option_list groups = v->params.terms.groups;
	struct diag d = { .status = HD_OK };
	struct qos_requests requests = { 0 };
	struct admission a;
	struct fabric *fabric;
	int status;

	if (cli_qos_fabric_and_requests(v->requests, &v->fabric, path, &d, &requests, &fabric) !=
	    HD_OK)
		return command_refuse(&d);
	if (cli_qos_admission(fabric, (uint32_t)v->payload, &v->shares, &d, &v->params.broker,
			      &v->params.terms) == HD_OK) {
		v->params.terms.groups = groups;
		if (admission_run(&a, &fabric->subnet, &v->params, v->requests ? &requests : NULL,
				  &d) == HD_OK)
			status = show(v, fabric, &a);
		else
			status = command_refuse(&d);
	} else {
		status = command_refuse(&d);
	}
	qos_requests_fini(&requests);
	fabric_free(fabric);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_admit_options *v = values;
	int status;

	(void)n;
	if (find_wrong(v))
		return command_usage(self, "%s", find_wrong(v));
	if (!cli_qos_check_shares(self, &v->shares, &status) ||
	    !cli_qos_check_payload(self, v->payload, &status) ||
	    !cli_check_engine_option(self, &v->fabric, "engine", &status))
		return status;
	v->params.seed = v->common.seed;
	status = admit(v, args[0]);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos admit --requests flows.txt site.ibnet",
	  "show which connections the fabric can carry, and which links reject the others" },
	{ "heddle qos admit --group video:shared=h1,h2,h3 --requests flows.txt site.ibnet",
	  "with requests to a group, such as 'h0 group:video DB 64Mb/s'" },
	{ "heddle qos admit --violations 2% --requests flows.txt site.ibnet",
	  "admit on-off sources such as 'h0 h1 DB 400Mb/s~80Mb/s' statistically" },
	{ "heddle topo gen mesh --hosts 4 | heddle qos admit --engine xy --random 3000 --fill paper --link 2.5Gb/s -",
	  "establish connections as paper 000 does, on a 4 x 4 mesh" },
	{ NULL, NULL },
};

const struct command command_qos_admit = {
	.name = "qos admit",
	.summary = "admit reservations link by link on the routed paths",
	.arguments = "FABRIC",
	.description =
		"Reserves each connection on every link of its path or on none, and shows the\n"
		"link that rejected it and why. A connection to a multicast group is reserved\n"
		"once on every link of its tree. Reservations can be saved, loaded and are\n"
		"audited: every link holds the sum over its connections. Loading finds each end\n"
		"by its GUID and rejects a line whose end port is missing or ambiguous.\n\n"
		"The classes are those of the scenario, if they have kinds; requests give a\n"
		"name or a kind. Otherwise they are DBTS, DB and PBE on the SLs that 'heddle\n"
		"qos table' shows. Weights, VLs, margin, table filling, links and switches are\n"
		"those of the scenario, as in 'heddle sim'. A request with a latency is\n"
		"admitted if its bound ('heddle qos bound') and those of all earlier requests\n"
		"meet their latencies. Jobs with 'reserve' are counted before any request.\n\n"
		"Preferential best effort (class PBE) has the share of --preferred in every\n"
		"table. It has no guarantee; connections are admitted up to that share.\n\n"
		"Rates and bursts are of payload. A link reserves what arbiters charge: whole\n"
		"64-byte blocks of each packet with its headers, and the margin.\n\n"
		"With --violations sources are on-off: at their peak rate or idle. They are\n"
		"admitted as long as Chernoff's bound on the probability that the demand on a\n"
		"link exceeds its rate is at most SHARE. A column shows whether admission by\n"
		"peak rates would accept them. Then the admitted sources are simulated,\n"
		"switching on and off independently, and the share of time with excess demand\n"
		"is shown per link with a 95 % interval. Exit status 1 if a request was\n"
		"rejected, or if more violations were measured than SHARE.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_admit_options, 1, 1),
};
