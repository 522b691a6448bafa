/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/signal_play.h"

static const struct column message_columns[] = {
	{ "time", "s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "message", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "from", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "to", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "flow", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "why", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column manager_columns[] = {
	{ "time", "s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "subnet", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "flows known", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "reserved", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
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
	table_put_real(t, seconds(e->time));
	table_put_text(t, names[m->kind]);
	put_party(t, m->from, forward ? q->source : q->destination);
	put_party(t, m->to, forward ? q->destination : q->source);
	table_put_uint(t, m->session + 1);
	table_put_text(t, why.text);
	strbuf_fini(&why);
}

static void put_flow(struct table *t, const struct qos_request *q,
		     const struct signal_outcome *o)
{
	table_put_text(t, q->source);
	table_put_text(t, q->destination);
	table_put_text(t, q->class == TC_DBTS ? "EF" : "AF41");
	table_put_rate(t, q->rate);
	table_put_bool(t, o->confirmed);
	if (o->refused)
		table_put_textf(t, "subnet %u", o->where);
	else
		table_put_text(t, o->confirmed ? "" : "no way there");
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
		table_put_real(t, seconds(p->states[i].time));
		table_put_uint(t, p->states[i].subnet);
		table_put_uint(t, p->states[i].known);
		table_put_uint(t, p->states[i].reserved);
	}
	t = results_table(r, "flows", "what came of them", flow_columns);
	for (size_t i = 0; i < p->requests->n; i++) {
		table_put_uint(t, i + 1);
		put_flow(t, &p->requests->items[i], &p->outcomes[i]);
	}
}
