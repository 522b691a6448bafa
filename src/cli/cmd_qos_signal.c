/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/scenario.h"
#include "qos/requests.h"
#include "qos/signal.h"

#define MAX_ROUNDS 1000
#define LONGEST    (24 * 3600 * HD_S)

struct values {
	struct common_options common;
	struct fabric_choice fabric;
	const char *requests;
	hd_time lifetime, repeat, until;
	uint64_t payload, overhead;
	bool tear;
};

static const struct option options[] = {
	{ .name = "requests",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, requests),
	  .value = "FILE",
	  .help = "flows to ask for, one a line: source destination class rate [burst]; rate and burst are of payload" },
	OPTION_ENGINE(struct values, fabric.engine),
	OPTION_SET(struct values, fabric.set),
	{ .name = "lifetime",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, lifetime),
	  .value = "TIME",
	  .initial = "30s",
	  .help = "how long managers remember what is not repeated" },
	{ .name = "repeat",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, repeat),
	  .value = "TIME",
	  .initial = "10s",
	  .help = "between two PATHs of a source" },
	{ .name = "until",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, until),
	  .value = "TIME",
	  .initial = "0s",
	  .help = "when sources fall silent" },
	{ .name = "payload",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, payload),
	  .value = "SIZE",
	  .initial = "2048",
	  .help = "payload of packets; a burst that is not given is one packet" },
	{ .name = "overhead",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, overhead),
	  .value = "SIZE",
	  .initial = "26",
	  .help = "bytes of every packet beside it that are reserved too; of 26, a GRH more for flows that leave their subnet" },
	{ .name = "tear",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, tear),
	  .help = "let sources end their flows then, not leave them to expire" },
	{ .name = NULL },
};

static const struct column message_columns[] = {
	{ "time", "s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "message", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "from", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "to", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "flow", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "why", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column flow_columns[] = {
	{ "flow", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "source", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "destination", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "mark", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "rate", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "confirmed", NULL, VALUE_BOOL, ORIGIN_SIMULATED, 0 },
	{ "refused by", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column manager_columns[] = {
	{ "time", "s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "subnet", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "flows known", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "reserved", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

struct run {
	struct values v;
	struct fabric *fabric;
	struct broker broker;
	struct signal_manager *managers; /* by subnet */
	struct qos_requests list;
	struct signal_message *paths; /* by request; session is its number */
	struct outcome {
		bool confirmed, refused;
		uint32_t where;
	} * outcomes;
	struct signal_outbox mail;
	struct results *results;
	struct table *messages, *states;
};

static double seconds(hd_time t)
{
	return (double)t / (double)HD_S;
}

static void put_party(struct table *t, uint32_t who, const char *host)
{
	if (who == SIGNAL_HOST)
		table_put_text(t, host);
	else
		table_put_textf(t, "subnet %u", who);
}

/* Sources speak PATH and TEAR to managers; destinations hear and answer. */
static void note(struct run *r, hd_time now, const struct signal_message *m)
{
	static const char *const names[] = {
		[SIGNAL_PATH] = "PATH",
		[SIGNAL_RESV] = "RESV",
		[SIGNAL_RESV_ERROR] = "RESV_ERROR",
		[SIGNAL_TEAR] = "TEAR",
	};
	const struct qos_request *q = &r->list.items[m->session];
	bool forward = m->kind != SIGNAL_RESV;
	struct strbuf why = STRBUF_INIT;

	if (m->kind == SIGNAL_RESV_ERROR)
		broker_refusal_print(&r->broker, &m->why, &why);
	table_put_real(r->messages, seconds(now));
	table_put_text(r->messages, names[m->kind]);
	put_party(r->messages, m->from, forward ? q->source : q->destination);
	put_party(r->messages, m->to, forward ? q->destination : q->source);
	table_put_uint(r->messages, m->session + 1);
	table_put_text(r->messages, why.text);
	strbuf_fini(&why);
}

static void post(struct run *r, const struct signal_message *m)
{
	struct signal_outbox *box = &r->mail;

	box->items =
		hd_grow(box->items, &box->cap, box->n + 1, sizeof(*box->items));
	box->items[box->n++] = *m;
}

/* The destination answers PATH with RESV; the source hears RESV at last. */
static void at_host(struct run *r, const struct signal_message *in)
{
	struct outcome *o = &r->outcomes[in->session];
	struct signal_message resv = *in;

	switch (in->kind) {
	case SIGNAL_PATH:
		resv.kind = SIGNAL_RESV;
		resv.to = in->from;
		resv.from = SIGNAL_HOST;
		post(r, &resv);
		break;
	case SIGNAL_RESV:
		o->confirmed = true;
		o->refused = false;
		break;
	case SIGNAL_RESV_ERROR:
		o->confirmed = false;
		o->refused = true;
		o->where = in->where;
		break;
	case SIGNAL_TEAR:
		break;
	}
}

static void carry(struct run *r, hd_time now)
{
	for (size_t i = 0; i < r->mail.n; i++) {
		struct signal_message m = r->mail.items[i];

		note(r, now, &m);
		if (m.to == SIGNAL_HOST)
			at_host(r, &m);
		else
			signal_receive(&r->managers[m.to], now, &m, &r->mail);
	}
	r->mail.n = 0;
}

static void note_states(struct run *r, hd_time now)
{
	for (uint32_t i = 0; i < r->fabric->subnet.n_subnets; i++) {
		const struct signal_manager *m = &r->managers[i];
		unsigned reserved = 0;

		for (uint32_t k = 0; k < m->n_sessions; k++)
			reserved += m->sessions[k].reserved;
		table_put_real(r->states, seconds(now));
		table_put_uint(r->states, i);
		table_put_uint(r->states, m->n_sessions);
		table_put_uint(r->states, reserved);
	}
}

/* The instant at which some manager next forgets something. */
static hd_time next_due(const struct run *r)
{
	hd_time due = HD_TIME_NEVER;

	for (uint32_t i = 0; i < r->fabric->subnet.n_subnets; i++) {
		hd_time its = signal_due(&r->managers[i]);

		due = its < due ? its : due;
	}
	return due;
}

static void expire_before(struct run *r, hd_time end)
{
	for (hd_time due = next_due(r); due < end; due = next_due(r)) {
		for (uint32_t i = 0; i < r->fabric->subnet.n_subnets; i++)
			signal_expire(&r->managers[i], due);
		note_states(r, due);
	}
}

/* All sources say the same, one after the other. */
static void say_all(struct run *r, hd_time now, enum signal_kind kind)
{
	for (size_t i = 0; i < r->list.n; i++) {
		struct signal_message m = r->paths[i];

		m.kind = kind;
		post(r, &m);
		carry(r, now);
	}
	note_states(r, now);
}

static void play(struct run *r)
{
	for (hd_time now = 0; now <= r->v.until; now += r->v.repeat) {
		expire_before(r, now);
		say_all(r, now, SIGNAL_PATH);
	}
	if (r->v.tear) {
		expire_before(r, r->v.until);
		say_all(r, r->v.until, SIGNAL_TEAR);
	}
	expire_before(r, HD_TIME_NEVER);
}

static enum hd_status find_ends(struct run *r, struct diag *d)
{
	r->paths = hd_alloc(r->list.n, sizeof(*r->paths));
	r->outcomes = hd_alloc(r->list.n, sizeof(*r->outcomes));
	for (size_t i = 0; i < r->list.n; i++) {
		const struct qos_request *q = &r->list.items[i];
		port_id from = fabric_find_end(r->fabric, q->source);
		port_id to = fabric_find_end(r->fabric, q->destination);

		if (from == TOPO_NONE || to == TOPO_NONE)
			return diag_fail_at(d, HD_ERR_NOT_FOUND, q->line, 0,
					    "no end port is called '%.80s'",
					    from == TOPO_NONE ? q->source
							      : q->destination);
		struct qos_packets packets = { (uint32_t)r->v.payload,
					       (uint32_t)r->v.overhead };

		/* Whoever leaves its subnet has a GRH. */
		if (r->fabric->topo.ports[from].subnet !=
		    r->fabric->topo.ports[to].subnet)
			packets = qos_packets_global(packets);
		r->paths[i] = (struct signal_message){
			.kind = SIGNAL_PATH,
			.from = SIGNAL_HOST,
			.to = r->fabric->topo.ports[from].subnet,
			.session = (uint32_t)i,
			.source = from,
			.destination = to,
			.tclass = (q->class == TC_DBTS ? DSCP_EF : DSCP_AF41)
				  << 2,
			.rate = qos_wire_rate(q, q->rate, &packets),
		};
	}
	return HD_OK;
}

static void show_flows(struct run *r, unsigned *refused)
{
	struct table *t = results_table(r->results, "flows",
					"what came of them", flow_columns);

	for (size_t i = 0; i < r->list.n; i++) {
		const struct qos_request *q = &r->list.items[i];
		const struct outcome *o = &r->outcomes[i];

		table_put_uint(t, i + 1);
		table_put_text(t, q->source);
		table_put_text(t, q->destination);
		table_put_text(t, q->class == TC_DBTS ? "EF" : "AF41");
		table_put_rate(t, q->rate);
		table_put_bool(t, o->confirmed);
		if (o->refused)
			table_put_textf(t, "subnet %u", o->where);
		else
			table_put_text(t, o->confirmed ? "" : "no way there");
		*refused += !o->confirmed;
	}
}

static enum hd_status work(struct run *r, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(r->v.requests, FILE_LIMIT, d, &text);

	if (status == HD_OK)
		status = qos_requests_read(text.text, d, &r->list);
	strbuf_fini(&text);
	return status == HD_OK ? find_ends(r, d) : status;
}

static int finish(struct run *r)
{
	unsigned refused = 0;

	r->results = results_new("qos signal");
	r->messages = results_table(r->results, "messages",
				    "between hosts and the subnets' managers",
				    message_columns);
	r->states = results_table(r->results, "managers",
				  "what they hold after each change",
				  manager_columns);
	play(r);
	show_flows(r, &refused);
	return output_results(&r->v.common, r->results, refused == 0);
}

/* Marks choose the SLs, so these are the ones that the tables know. */
static struct broker_params params_by_marks(void)
{
	struct diffserv_map map = diffserv_map_for(N_DATA_VLS);
	struct broker_params p = broker_params_default();

	p.be_sl = map.sl[DSCP_DEFAULT];
	p.ch_sl = map.sl[DSCP_LOWER_EFFORT];
	p.high_sls = (uint16_t)(1u << map.sl[DSCP_EF]);
	return p;
}

static int signal_all(struct run *r, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct broker_params params = params_by_marks();
	int exit_status;

	if (fabric_choose(&r->v.fabric, path, &d, &r->fabric) != HD_OK)
		return command_refuse(&d);
	uint32_t n = r->fabric->subnet.n_subnets;

	d.file = NULL;
	if (broker_init(&r->broker, &r->fabric->subnet, &params, &d) != HD_OK) {
		exit_status = command_refuse(&d);
	} else {
		r->managers = hd_alloc(n, sizeof(*r->managers));
		for (uint32_t i = 0; i < n; i++)
			signal_manager_init(&r->managers[i], &r->broker, i,
					    r->v.lifetime);
		exit_status =
			work(r, &d) == HD_OK ? finish(r) : command_refuse(&d);
		for (uint32_t i = 0; i < n; i++)
			signal_manager_fini(&r->managers[i]);
		free(r->managers);
		broker_fini(&r->broker);
	}
	qos_requests_fini(&r->list);
	signal_outbox_fini(&r->mail);
	free(r->paths);
	free(r->outcomes);
	fabric_free(r->fabric);
	return exit_status;
}

/* What the command line alone says; EXIT_DONE if it makes sense. */
static int check_values(const struct command *self, const struct values *v,
			int n)
{
	int status;

	if (n != 1)
		return command_usage(self, "which fabric?");
	if (!v->requests)
		return command_usage(self, "--requests?");
	if (v->payload == 0 || v->payload > 4096 || v->overhead > 1024)
		return command_usage(
			self,
			"packets have 1 to 4096 bytes of payload and up to 1024 of overhead");
	if (!fabric_engine_known(self, v->fabric.engine, &status))
		return status;
	if (v->lifetime == 0 || v->repeat == 0 || v->lifetime > LONGEST ||
	    v->until > LONGEST)
		return command_usage(
			self,
			"--lifetime and --repeat are above 0; nothing takes more than a day");
	if (v->until / v->repeat >= MAX_ROUNDS)
		return command_usage(
			self, "sources repeat themselves at most %d times",
			MAX_ROUNDS);
	return EXIT_DONE;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct run r = { 0 };
	int n, status;

	if (command_parse(self, &r.v, argc, argv, &n, &status)) {
		status = check_values(self, &r.v, n);
		if (status == EXIT_DONE)
			status = signal_all(&r, argv[0]);
	}
	fabric_choice_fini(&r.v.fabric);
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
	.run = run,
};
