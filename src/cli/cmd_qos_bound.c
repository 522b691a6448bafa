/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos/bound_options.h"
#include "cli/qos/options.h"

static int grant(struct bound_values *v, struct subnet *s,
		 const struct qos_requests *flows, struct diag *d)
{
	struct grants g;

	if (grants_run(&g, s, &v->params, flows, d) != HD_OK)
		return command_refuse(d);
	struct results *r = results_new("qos bound");

	if (v->params.blrm.mode == BOUND_PUBLISHED)
		results_remark(
			r,
			"the published rule is no bound: it forgets that a delayed burst catches up with the next one");
	grants_show(&g, r);
	int status = output_results(&v->common, r, g.refused == 0);

	grants_fini(&g);
	return status;
}

static int bound(struct bound_values *v, char **argv)
{
	struct diag d = { .status = HD_OK };
	struct qos_requests flows = { 0 };
	struct fabric *f;
	int status;

	if (requests_and_fabric(argv[1], &v->fabric, argv[0], &d, &flows, &f) !=
	    HD_OK)
		return command_refuse(&d);
	if (bound_switches(&f->setup, &d, &v->params.blrm) == HD_OK)
		status = grant(v, &f->subnet, &flows, &d);
	else
		status = command_refuse(&d);
	qos_requests_fini(&flows);
	fabric_free(f);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct bound_values *v = values;
	int status;

	(void)n;
	if (bound_options_take(self, v, &status))
		status = bound(v, args);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos bound site.ibnet flows.txt",
	  "grant flows and show the worst delay of each at each port" },
	{ "heddle qos bound --group video:shared=h1,h2 site.ibnet flows.txt",
	  "the same with flows to a group, such as 'h0 group:video DB 64Mb/s': a bound for each member" },
	{ "heddle qos bound --mode bucket --pick round-robin site.ibnet flows.txt",
	  "the same for switches that serve inputs in turn" },
	{ "heddle qos bound --queueing cioq --speedup 2 site.ibnet flows.txt",
	  "for switches with a crossbar between queues at inputs and outputs" },
	{ NULL, NULL },
};

const struct command command_qos_bound = {
	.name = "qos bound",
	.summary = "worst-case delays of reserved flows, port by port",
	.arguments = "FABRIC FLOWS",
	.description =
		"Grants the flows one after the other as the reservation manager of\n"
		"paper 003 would: DBTS flows ask for a latency, DB flows are told\n"
		"that of their class, and no earlier promise may break. Prints the delay bound of\n"
		"every flow at every port by the published rule (which is no bound)\n"
		"and by three that are, and the buffer per lane that the next switch\n"
		"needs for them to hold (by the bound of --mode); with --queueing cioq\n"
		"also the output queue, by lane. Flows are lines:\n"
		"source destination class rate [burst [latency]], with ends by name or\n"
		"GUID (0x...); one to a group counts once on each link and has a bound\n"
		"for each member. Rates and bursts are of payload; bounds count headers too, --overhead bytes of each packet.\n"
		"Exit status 1 if a flow was refused.\n",
	.options = bound_options,
	.examples = examples,
	COMMAND_CALL(run, struct bound_values, 2, 2),
};
