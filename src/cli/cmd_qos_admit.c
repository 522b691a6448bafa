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
	  "instead, try to establish N random connections as paper 000 does", .high = 1000000 },
	OPTION_ENGINE(struct qos_admit_options, fabric),
	OPTION_SET(struct qos_admit_options, fabric),
	OPTIONS_ADMISSION(FIELD(fabric.set)),
	OPTION_BEST_EFFORT_GIVEN(FIELD(shares.best_effort)),
	OPTION_PREFERRED_GIVEN(FIELD(shares.preferred)),
	{ "violations", 0, OPT_RATIO, FIELD(params.violations), "SHARE", "0",
	  "admit on-off sources (rate PEAK~MEAN) statistically: a link may be asked for too much in this part of the time" },
	{ "link", 0, OPT_SET, FIELD(fabric.set), "RATE", NULL,
	  "data rate of every link (default: the scenario's, or the fabric's own)",
	  .path = "fabric.link.rate", .as = OPT_RATE },
	OPTION_PAYLOAD(FIELD(payload),
		       "payload of packets; a burst that is not given is one packet"),
	OPTION_PACKET_OVERHEAD(FIELD(fabric.set)),
	{ "from", 0, OPT_INPUT, FIELD(params.load), "FILE", NULL,
	  "start from reservations saved before" },
	{ "save", 0, OPT_OUTPUT, FIELD(params.save), "FILE", NULL,
	  "save the reservations, by the ends' GUIDs and names", .replaces = "from" },
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
	  "which of these connections the fabric can carry, and what refuses the others" },
	{ "heddle qos admit --group video:shared=h1,h2,h3 --requests flows.txt site.ibnet",
	  "the same with requests to a group, such as 'h0 group:video DB 64Mb/s'" },
	{ "heddle qos admit --violations 2% --requests flows.txt site.ibnet",
	  "on-off sources such as 'h0 h1 DB 400Mb/s~80Mb/s', with the violations asked for and seen" },
	{ "heddle topo gen mesh --hosts 4 | heddle qos admit --engine xy --random 3000 --fill paper --link 2.5Gb/s -",
	  "paper 000's establishment on a 4 x 4 mesh" },
	{ NULL, NULL },
};

const struct command command_qos_admit = {
	.name = "qos admit",
	.summary = "admit reservations link by link on the routed paths",
	.arguments = "FABRIC",
	.description =
		"Reserves each connection on every link of its path, or on none, and says which link\n"
		"refused and why; one to a multicast group on every link of its tree, once.\n"
		"Reservations can be saved, loaded and are audited: the sum over connections is what\n"
		"every link holds. Loading finds each end by its GUID, whatever LID it has now, and\n"
		"refuses a line whose end port is missing or ambiguous.\n\n"
		"The classes are the scenario's, if they have kinds, and requests name them by name or\n"
		"kind. Otherwise they are DBTS, DB and PBE on the SLs that 'heddle qos table' shows.\n"
		"Weights, VLs, margin, table filling, links and switches are those of the scenario, as\n"
		"in 'heddle sim'. A request with a latency is admitted if its bound ('heddle qos bound')\n"
		"and those of all requests before it meet their latencies. Jobs with 'reserve' are\n"
		"counted before any request.\n\n"
		"Preferential best effort (class PBE) has the share of --preferred in every table. It\n"
		"is promised nothing; as many of its connections are admitted as that share is worth.\n\n"
		"Rates and bursts are of payload. A link reserves what arbiters charge: whole 64-byte\n"
		"blocks of each packet with its headers, and the margin.\n\n"
		"With --violations sources are on and off, at the peak of their rate or silent, and are\n"
		"admitted as long as Chernoff's bound on the chance that a link is asked for more than\n"
		"it has stays within SHARE; a column says whether admission by peak rates would accept\n"
		"them. Then the admitted ones are simulated, switching on and off independently, and the\n"
		"part of the time in which each link was asked for too much is shown with a 95 %\n"
		"interval. Exit status 1 if something was refused, or more violations were seen than\n"
		"asked for.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_admit_options, 1, 1),
};
