/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/qos/options.h"
#include "cli/scenario.h"
#include "qos/signal_play.h"

#define MAX_ROUNDS 1000
#define LONGEST    (24 * 3600 * HD_S)

struct values {
	struct common_options common;
	struct fabric_choice fabric;
	const char *requests;
	struct signal_play_params params;
	uint64_t payload, overhead;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	OPTION_REQUESTS(FIELD(requests), "flows"),
	OPTION_ENGINE(struct values, fabric),
	OPTION_SET(struct values, fabric),
	{ "lifetime", 0, OPT_TIME, FIELD(params.lifetime), "TIME", "30s",
	  "how long managers remember what is not repeated" },
	{ "repeat", 0, OPT_TIME, FIELD(params.repeat), "TIME", "10s",
	  "between two PATHs of a source" },
	{ "until", 0, OPT_TIME, FIELD(params.until), "TIME", "0s",
	  "when sources fall silent" },
	OPTION_PAYLOAD(
		FIELD(payload),
		"payload of packets; a burst that is not given is one packet"),
	OPTION_OVERHEAD(
		FIELD(overhead),
		"bytes of every packet beside it that are reserved too; of 26, a GRH more for flows that leave their subnet"),
	{ "tear", 0, OPT_FLAG, FIELD(params.tear), NULL, NULL,
	  "let sources end their flows then, not leave them to expire" },
	{ .name = NULL },
};

static int play(struct values *v, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct qos_requests flows = { 0 };
	struct signal_play p;
	struct fabric *f;
	int status;

	if (requests_and_fabric(v->requests, &v->fabric, path, &d, &flows,
				&f) != HD_OK)
		return command_refuse(&d);
	if (signal_play(&p, &f->subnet, &flows, &v->params, &d) != HD_OK) {
		status = command_refuse(&d);
	} else {
		struct results *r = results_new("qos signal");

		signal_play_show(&p, r);
		status = output_results(&v->common, r, p.unconfirmed == 0);
		signal_play_fini(&p);
	}
	qos_requests_fini(&flows);
	fabric_free(f);
	return status;
}

/* What the command line alone says; NULL if it makes sense. */
static const char *find_wrong(const struct values *v)
{
	const struct signal_play_params *p = &v->params;

	if (!v->requests)
		return "--requests?";
	if (p->lifetime == 0 || p->repeat == 0 || p->lifetime > LONGEST ||
	    p->until > LONGEST)
		return "--lifetime and --repeat are above 0; nothing takes more than a day";
	if (p->until / p->repeat >= MAX_ROUNDS)
		return "sources repeat themselves at most 1000 times";
	return NULL;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct values *v = values;
	const char *wrong = find_wrong(v);
	int status;

	(void)n;
	if (wrong)
		return command_usage(self, "%s", wrong);
	if (!packets_possible(self, v->payload, v->overhead, &v->params.packets,
			      &status) ||
	    !engine_known(self, &v->fabric, "engine", &status))
		return status;
	status = play(v, args[0]);
	fabric_choice_fini(&v->fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle topo gen routed --subnets 3 | heddle qos signal --requests flows.txt -",
	  "three subnets in a row: PATH there, RESV back, a reservation in each; after 30 s it has expired" },
	{ "heddle qos signal --requests flows.txt --until 60s --tear site.ibnet",
	  "sources repeat themselves for a minute, then end their flows" },
	{ NULL, NULL },
};

const struct command command_qos_signal = {
	.name = "qos signal",
	.summary = "reserve across subnets by messages between managers",
	.arguments = "FABRIC",
	.description =
		"Plays reservation signalling in the spirit of RSVP: one manager per\n"
		"subnet. A source's PATH goes from manager to manager and reserves\n"
		"nothing; the destination's RESV comes back and reserves each subnet's\n"
		"part of the way, or RESV_ERROR says which link of which subnet refused\n"
		"and gives back what was held behind it. State is soft: it expires\n"
		"unless it is repeated; TEAR ends it at once. DBTS is marked EF, DB\n"
		"AF41; each subnet maps the mark to an SL of its own. Exit status 1 if\n"
		"a flow was not confirmed.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct values, 1, 1),
};
