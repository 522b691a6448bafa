/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/signal_play.h"

struct message_row {
	hd_time time;
	const char *message, *from, *to;
	uint64_t flow;
	const char *why;
};

static const struct column message_columns[] = {
	{ "time", "s", CELL_TIME(message_row, time), ORIGIN_SIMULATED, 3 },
	{ "message", NULL, CELL(message_row, message), ORIGIN_SIMULATED },
	{ "from", NULL, CELL(message_row, from), ORIGIN_SIMULATED },
	{ "to", NULL, CELL(message_row, to), ORIGIN_SIMULATED },
	{ "flow", NULL, CELL(message_row, flow) },
	{ "why", NULL, CELL(message_row, why), ORIGIN_COMPUTED },
	{ NULL },
};

struct manager_row {
	hd_time time;
	uint64_t subnet, flows_known, reserved;
};

static const struct column manager_columns[] = {
	{ "time", "s", CELL_TIME(manager_row, time), ORIGIN_SIMULATED, 3 },
	{ "subnet", NULL, CELL(manager_row, subnet) },
	{ "flows known", NULL, CELL(manager_row, flows_known),
	  ORIGIN_SIMULATED },
	{ "reserved", NULL, CELL(manager_row, reserved), ORIGIN_SIMULATED },
	{ NULL },
};

struct flow_row {
	uint64_t flow;
	const char *source, *destination, *mark;
	struct hd_rate rate;
	bool confirmed;
	const char *refused_by;
};

static const struct column flow_columns[] = {
	{ "flow", NULL, CELL(flow_row, flow) },
	{ "source", NULL, CELL(flow_row, source) },
	{ "destination", NULL, CELL(flow_row, destination) },
	{ "mark", NULL, CELL(flow_row, mark), ORIGIN_COMPUTED },
	{ "rate", "Mb/s", CELL(flow_row, rate), ORIGIN_GIVEN, 3 },
	{ "confirmed", NULL, CELL(flow_row, confirmed), ORIGIN_SIMULATED },
	{ "refused by", NULL, CELL(flow_row, refused_by), ORIGIN_SIMULATED },
	{ NULL },
};

static const char *party(struct table *t, uint32_t who, const char *host)
{
	return who == SIGNAL_HOST ? host : table_text(t, "subnet %u", who);
}

/* Sources speak PATH and TEAR to managers; destinations hear and answer. */
static void put_message(struct table *t, const struct signal_play *p,
			const struct signal_event *e)
{
	static const char *const names[] = {
		[SIGNAL_PATH] = "PATH",
		[SIGNAL_RESV] = "RESV",
		[SIGNAL_RESV_ERROR] = "RESV_ERROR",
		[SIGNAL_TEAR] = "TEAR",
	};
	const struct signal_message *m = &e->message;
	const struct qos_request *q = &p->requests->items[m->session];
	bool forward = m->kind != SIGNAL_RESV;
	struct strbuf why = STRBUF_INIT;

	if (m->kind == SIGNAL_RESV_ERROR)
		broker_refusal_print(&p->broker, &m->why, &why);
	const struct message_row row = {
		.time = e->time,
		.message = names[m->kind],
		.from = party(t, m->from, forward ? q->source : q->destination),
		.to = party(t, m->to, forward ? q->destination : q->source),
		.flow = m->session + 1,
		.why = table_take(t, &why),
	};

	table_put_row(t, &row);
}

static const char *refusal(struct table *t, const struct signal_outcome *o)
{
	if (o->refused)
		return table_text(t, "subnet %u", o->where);
	return o->confirmed ? "" : "no way there";
}

static void put_flow(struct table *t, const struct signal_play *p, size_t i)
{
	const struct qos_request *q = &p->requests->items[i];
	const struct signal_outcome *o = &p->outcomes[i];

	const struct flow_row row = {
		.flow = i + 1,
		.source = q->source,
		.destination = q->destination,
		.mark = q->class == TC_DBTS ? "EF" : "AF41",
		.rate = q->rate,
		.confirmed = o->confirmed,
		.refused_by = refusal(t, o),
	};

	table_put_row(t, &row);
}

void signal_play_show(const struct signal_play *p, struct results *r)
{
	struct table *t = results_table(
		r, "messages", "between hosts and the subnets' managers",
		message_columns);

	for (size_t i = 0; i < p->n_events; i++)
		put_message(t, p, &p->events[i]);
	t = results_table(r, "managers", "what they hold after each change",
			  manager_columns);
	for (size_t i = 0; i < p->n_states; i++) {
		const struct manager_row row = {
			.time = p->states[i].time,
			.subnet = p->states[i].subnet,
			.flows_known = p->states[i].known,
			.reserved = p->states[i].reserved,
		};

		table_put_row(t, &row);
	}
	t = results_table(r, "flows", "what came of them", flow_columns);
	for (size_t i = 0; i < p->requests->n; i++)
		put_flow(t, p, i);
}
