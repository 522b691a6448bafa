/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_options.h"
#include "cli/scenario.h"
#include "qos/admission/reserve_run.h"

#define MAX_ROUNDS 1000
#define LONGEST    (24 * 3600 * HD_S)

struct qos_reserve_options {
	struct common_options common;
	struct fabric_choice fabric;
	const char *requests;
	struct reserve_run_params params;
	struct given_shares shares;
	uint64_t payload;
};

#define FIELD(name) offsetof(struct qos_reserve_options, name)

static const struct option options[] = {
	OPTION_REQUESTS(FIELD(requests), "flows"),
	OPTION_ENGINE(struct qos_reserve_options, fabric),
	OPTION_SET(struct qos_reserve_options, fabric),
	{ "lifetime", 0, OPT_TIME, FIELD(params.lifetime), "TIME", "30s",
	  "lifetime of state that is not refreshed" },
	{ "repeat", 0, OPT_TIME, FIELD(params.repeat), "TIME", "10s",
	  "interval between two PATHs of a source" },
	{ "until", 0, OPT_TIME, FIELD(params.until), "TIME", "0s",
	  "time at which sources stop sending" },
	OPTION_PAYLOAD(FIELD(payload),
		       "payload of packets; a burst that is not given is one packet"),
	OPTIONS_ADMISSION(FIELD(fabric.set)),
	OPTION_BEST_EFFORT_GIVEN(FIELD(shares.best_effort)),
	OPTION_PACKET_OVERHEAD(FIELD(fabric.set)),
	{ "tear", 0, OPT_FLAG, FIELD(params.tear), NULL, NULL,
	  "send TEAR at --until instead of letting the state expire" },
	OPTION_TABLES_OUT(FIELD(params.tables)),
	{ .name = NULL },
};

static int show(const struct qos_reserve_options *v, const struct fabric *fabric,
		struct reserve_run *p)
{
	struct results *r = results_new("qos reserve");

	reserve_run_show(p, r);
	cli_qos_remark_classes(fabric, r);
	int status = output_results(&v->common, r, p->unconfirmed == 0);

	reserve_run_fini(p);
	return status;
}

static int play(struct qos_reserve_options *v, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct qos_requests flows = { 0 };
	struct reserve_run p;
	struct fabric *fabric;
	int status;

	if (cli_qos_fabric_and_requests(v->requests, &v->fabric, path, &d, &flows, &fabric) !=
	    HD_OK)
		return command_refuse(&d);
	if (cli_qos_admission(fabric, (uint32_t)v->payload, &v->shares, &d, &v->params.broker,
			      &v->params.terms) == HD_OK &&
	    reserve_run(&p, &fabric->subnet, &flows, &v->params, &d) == HD_OK)
		status = show(v, fabric, &p);
	else
		status = command_refuse(&d);
	qos_requests_fini(&flows);
	fabric_free(fabric);
	return status;
}

/* The usage error of the options, or NULL. */
static const char *find_wrong(const struct qos_reserve_options *v)
{
	const struct reserve_run_params *p = &v->params;

	if (!v->requests)
		return "--requests is required";
	if (p->lifetime == 0 || p->repeat == 0 || p->lifetime > LONGEST || p->until > LONGEST)
		return "--lifetime and --repeat must be above 0; --lifetime and --until at most one day";
	if (p->until / p->repeat >= MAX_ROUNDS)
		return "option --repeat: too short, sources may repeat at most 1000 times until --until";
	return NULL;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_reserve_options *v = values;
	const char *wrong = find_wrong(v);
	int status;

	(void)n;
	if (wrong)
		return command_usage(self, "%s", wrong);
	if (!cli_qos_check_shares(self, &v->shares, &status) ||
	    !cli_qos_check_payload(self, v->payload, &status) ||
	    !cli_check_engine_option(self, &v->fabric, "engine", &status))
		return status;
	status = play(v, args[0]);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle topo gen routed --subnets 3 | heddle qos reserve --requests flows.txt -",
	  "reserve across three subnets in a row; the reservations expire after 30 s" },
	{ "heddle qos reserve --requests flows.txt --until 60s --tear site.ibnet",
	  "refresh for one minute, then end the flows" },
	{ "heddle qos reserve --requests flows.txt --tables tables.txt site.ibnet",
	  "also write the arbitration tables for a subnet manager" },
	{ NULL, NULL },
};

const struct command command_qos_reserve = {
	.name = "qos reserve",
	.summary = "reserve a path across subnets",
	.arguments = "FABRIC",
	.description =
		"Simulates reservation signalling similar to RSVP, with one manager per subnet.\n"
		"The PATH of a source passes from manager to manager and reserves nothing. The\n"
		"RESV of the destination returns and reserves each subnet's part of the path,\n"
		"or RESV_ERROR names the link and subnet that rejected it and releases the\n"
		"reservations behind it. State is soft: it expires unless it is refreshed; TEAR\n"
		"ends it at once. Each subnet has its own SL for the TClass of a flow.\n"
		"Bandwidth, tables and bounds are those of 'heddle qos admit'. The latency of a\n"
		"flow is compared with the sum of the bounds of its parts. Exit status 1 if a\n"
		"flow was not confirmed.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_reserve_options, 1, 1),
};
