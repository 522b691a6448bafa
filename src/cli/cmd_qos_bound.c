/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos_options.h"
#include "qos/admission/admission.h"
#include "scenario/words.h"

struct qos_bound_options {
	struct common_options common;
	struct fabric_choice fabric;
	struct admission_params params;
	struct given_shares shares;
	enum bound_mode mode;
	uint64_t payload, management;
};

#define FIELD(name) offsetof(struct qos_bound_options, name)

/* Options of switches and cables are shorthands for --set of the scenario's field. */
static const struct option options[] = {
	OPTION_GROUP(FIELD(params.terms.groups), "flows"),
	{ "mode", 0, OPT_CHOICE, FIELD(mode), NULL, "grouped",
	  "bound that admission uses; all are shown", bound_mode_names },
	OPTION_ENGINE(struct qos_bound_options, fabric),
	OPTION_SET(struct qos_bound_options, fabric),
	OPTIONS_ADMISSION(FIELD(fabric.set)),
	OPTION_BEST_EFFORT_GIVEN(FIELD(shares.best_effort)),
	OPTION_PREFERRED_GIVEN(FIELD(shares.preferred)),
	{ "queueing", 0, OPT_SET, FIELD(fabric.set), NULL, NULL,
	  "where switches queue packets: at inputs, or at inputs and outputs with a crossbar between",
	  scn_queueing_words, .path = "fabric.switch.queueing", .as = OPT_CHOICE },
	{ "speedup", 0, OPT_SET, FIELD(fabric.set), "N", NULL,
	  "how many times faster the crossbar is than an output's link",
	  .path = "fabric.switch.speedup", .as = OPT_RATIO },
	{ "order", 0, OPT_SET, FIELD(fabric.set), NULL, NULL,
	  "input queues of the switches; for fifo there is no bound", scn_order_words,
	  .path = "fabric.switch.order", .as = OPT_CHOICE },
	{ "arbitration", 0, OPT_SET, FIELD(fabric.set), NULL, NULL,
	  "how an output chooses among inputs", scn_arbitration_words,
	  .path = "fabric.switch.arbitration", .as = OPT_CHOICE },
	OPTION_PAYLOAD(
		FIELD(payload),
		"payload of the flows' largest packets, and of all others where the scenario has no traffic; a burst that is not given is one of them"),
	OPTION_PACKET_OVERHEAD(FIELD(fabric.set)),
	{ "management", 0, OPT_SIZE, FIELD(management), "SIZE", "0",
	  "what VL15 may send at once, before everything else, on the wire" },
	{ "propagation", 0, OPT_SET, FIELD(fabric.set), "TIME", NULL, "delay of each cable",
	  .path = "fabric.link.propagation", .as = OPT_TIME },
	{ "routing-delay", 0, OPT_SET, FIELD(fabric.set), "TIME", NULL, "delay of a switch",
	  .path = "fabric.switch.routing_delay", .as = OPT_TIME },
	{ "arbitration-delay", 0, OPT_SET, FIELD(fabric.set), "TIME", NULL,
	  "delay of a switch output", .path = "fabric.switch.arbitration_delay", .as = OPT_TIME },
	{ .name = NULL },
};

static int show(const struct qos_bound_options *v, const struct fabric *fabric, struct admission *a)
{
	struct results *r = results_new("qos bound");

	if (v->mode == BOUND_PUBLISHED)
		results_remark(
			r,
			"the published rule is no bound: it forgets that a delayed burst catches up with the next one");
	admission_show_bounds(a, r);
	cli_qos_remark_classes(fabric, r);
	int status = output_results(&v->common, r, admission_met(a));

	admission_fini(a);
	return status;
}

static enum hd_status admit(struct qos_bound_options *v, struct fabric *fabric,
			    const struct qos_requests *flows, struct diag *d, struct admission *a)
{
	const struct option_list groups = v->params.terms.groups;

	if (qos_requests_need_promises(flows, "it has no bound", d) != HD_OK ||
	    cli_qos_admission(fabric, (uint32_t)v->payload, &v->shares, d, &v->params.broker,
			      &v->params.terms) != HD_OK)
		return d->status;
	v->params.terms.groups = groups;
	v->params.broker.latency.mode = v->mode;
	v->params.broker.latency.management = (uint32_t)v->management;
	return admission_run(a, &fabric->subnet, &v->params, flows, d);
}

static int bound(struct qos_bound_options *v, char **argv)
{
	struct diag d = { .status = HD_OK };
	struct qos_requests flows = { 0 };
	struct admission a;
	struct fabric *fabric;

	if (cli_qos_fabric_and_requests(argv[1], &v->fabric, argv[0], &d, &flows, &fabric) != HD_OK)
		return command_refuse(&d);
	int status = admit(v, fabric, &flows, &d, &a) == HD_OK ? show(v, fabric, &a)
							       : command_refuse(&d);

	qos_requests_fini(&flows);
	fabric_free(fabric);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct qos_bound_options *v = values;
	int status;

	(void)n;
	if (v->management > UINT32_MAX)
		return command_usage(self, "option --management: must be below 4 GiB");
	if (!cli_qos_check_shares(self, &v->shares, &status) ||
	    !cli_qos_check_payload(self, v->payload, &status) ||
	    !cli_check_engine_option(self, &v->fabric, "engine", &status))
		return status;
	status = bound(v, args);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos bound site.ibnet flows.txt",
	  "admit flows and show the worst-case delay of each at each port" },
	{ "heddle qos bound --group video:shared=h1,h2 site.ibnet flows.txt",
	  "the same with flows to a group, such as 'h0 group:video DB 64Mb/s': a bound for each member" },
	{ "heddle qos bound --mode bucket --arbitration round-robin site.ibnet flows.txt",
	  "the same for switches that serve inputs in turn" },
	{ "heddle qos bound --queueing cioq --speedup 2 site.ibnet flows.txt",
	  "for switches with a crossbar between queues at inputs and outputs" },
	{ NULL, NULL },
};

const struct command command_qos_bound = {
	.name = "qos bound",
	.summary = "compute worst-case delays of reserved flows",
	.arguments = "FABRIC FLOWS",
	.description =
		"Admits the flows one after the other as 'heddle qos admit' does, and prints\n"
		"the delay bound of every flow and port for the resulting tables: by the\n"
		"published rule of paper 003, which is no bound, and by three that are bounds.\n"
		"A flow with a latency is admitted if its bound by --mode and those of all\n"
		"earlier flows meet their latencies. 'buffer' is the buffer that the next\n"
		"switch needs per VL for the bound, 'output' the output buffer with --queueing\n"
		"cioq. In a scenario with traffic, a flow through a smaller buffer has no\n"
		"bound.\n\n"
		"FLOWS has one flow per line: source destination class rate [burst [latency]]\n"
		"[rc]. Ends are names or GUIDs (0x...). Rates and bursts are of payload. A flow\n"
		"to a multicast group counts once on each link and has a bound for each member.\n"
		"A flow to another subnet has a bound in each subnet, and their sum. Exit\n"
		"status 1 if a flow was rejected.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct qos_bound_options, 2, 2),
};
