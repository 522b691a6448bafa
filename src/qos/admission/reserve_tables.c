/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "qos/admission/admission.h"
#include "qos/admission/reserve_run.h"

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
	{ "flows known", NULL, CELL(manager_row, flows_known), ORIGIN_SIMULATED },
	{ "reserved", NULL, CELL(manager_row, reserved), ORIGIN_SIMULATED },
	{ NULL },
};

struct reserve_flow_row {
	uint64_t flow;
	const char *source, *destination;
	struct hd_rate rate;
	double deadline, bound;
	bool confirmed;
	const char *refused_by;
};

static const struct column flow_columns[] = {
	{ "flow", NULL, CELL(reserve_flow_row, flow) },
	{ "source", NULL, CELL(reserve_flow_row, source) },
	{ "destination", NULL, CELL(reserve_flow_row, destination) },
	{ "rate", "Mb/s", CELL(reserve_flow_row, rate), ORIGIN_GIVEN, 3 },
	{ "deadline", "us", CELL(reserve_flow_row, deadline), ORIGIN_GIVEN, 3 },
	{ "bound", "us", CELL(reserve_flow_row, bound), ORIGIN_COMPUTED, 3 },
	{ "confirmed", NULL, CELL(reserve_flow_row, confirmed), ORIGIN_SIMULATED },
	{ "refused by", NULL, CELL(reserve_flow_row, refused_by), ORIGIN_SIMULATED },
	{ NULL },
};

struct reserve_part_row {
	uint64_t flow, subnet, sl;
	const char *from, *to;
	double bound;
};

static const struct column part_columns[] = {
	{ "flow", NULL, CELL(reserve_part_row, flow) },
	{ "subnet", NULL, CELL(reserve_part_row, subnet) },
	{ "from", NULL, CELL(reserve_part_row, from), ORIGIN_COMPUTED },
	{ "to", NULL, CELL(reserve_part_row, to), ORIGIN_COMPUTED },
	{ "sl", NULL, CELL(reserve_part_row, sl), ORIGIN_COMPUTED },
	{ "bound", "us", CELL(reserve_part_row, bound), ORIGIN_COMPUTED, 3 },
	{ NULL },
};

static double in_us(double seconds)
{
	return seconds < HUGE_VAL ? seconds * 1e6 : (double)NAN;
}

static const char *party(struct table *t, uint32_t who, const char *host)
{
	return who == RESERVE_HOST ? host : table_text(t, "subnet %u", who);
}

/* Sources send PATH and TEAR to managers; destinations receive them and answer. */
static void put_message(struct table *t, const struct reserve_run *p, const struct reserve_event *e)
{
	static const char *const names[] = {
		[RESERVE_PATH] = "PATH",
		[RESERVE_RESV] = "RESV",
		[RESERVE_RESV_ERROR] = "RESV_ERROR",
		[RESERVE_TEAR] = "TEAR",
	};
	const struct reserve_message *m = &e->message;
	const struct qos_request *q = &p->requests->items[m->session];
	bool forward = m->kind != RESERVE_RESV;
	struct strbuf why = STRBUF_INIT;

	if (m->kind == RESERVE_RESV_ERROR)
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

static const char *refusal(struct table *t, const struct reserve_outcome *o)
{
	if (o->refused)
		return table_text(t, "subnet %u", o->where);
	return o->confirmed ? "" : "no way there";
}

static void put_flow(struct table *t, const struct reserve_run *p, size_t i)
{
	const struct qos_request *q = &p->requests->items[i];
	const struct reserve_outcome *o = &p->outcomes[i];
	double bound = 0;

	for (uint32_t k = 0; k < p->paths[i].request.way.n; k++)
		bound += o->bound[k];
	const struct reserve_flow_row row = {
		.flow = i + 1,
		.source = q->source,
		.destination = q->destination,
		.rate = q->rate,
		.deadline = q->latency ? (double)q->latency * 1e-6 : (double)NAN,
		.bound = in_us(bound),
		.confirmed = o->confirmed,
		.refused_by = refusal(t, o),
	};

	table_put_row(t, &row);
}

/* One row per subnet on the path of an admitted flow; none if the flow was refused. */
static void put_parts(struct table *t, const struct reserve_run *p, size_t i)
{
	const struct broker_way *way = &p->paths[i].request.way;
	const struct topo *topo = p->subnet->topo;

	for (uint32_t k = 0; k < way->n && p->outcomes[i].confirmed; k++) {
		const struct broker_segment *s = &way->segment[k];
		uint32_t subnet = topo->ports[s->source].subnet;
		port_id to = p->subnet->port_of_lid[subnet][s->dlid];
		const struct reserve_part_row row = {
			.flow = i + 1,
			.subnet = subnet,
			.from = topo_node_of(topo, s->source)->name,
			.to = topo_node_of(topo, to)->name,
			.sl = s->sl,
			.bound = in_us(p->outcomes[i].bound[k]),
		};

		table_put_row(t, &row);
	}
}

void reserve_run_show(const struct reserve_run *p, struct results *r)
{
	admission_show_jobs(&p->broker, r);
	struct table *t = results_table(r, "messages", "between hosts and the subnets' managers",
					message_columns);

	for (size_t i = 0; i < p->n_events; i++)
		put_message(t, p, &p->events[i]);
	t = results_table(r, "managers", "what they hold after each change", manager_columns);
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
	t = results_table(r, "parts", "what each subnet's manager reserves; bounds add up",
			  part_columns);
	for (size_t i = 0; i < p->requests->n; i++)
		put_parts(t, p, i);
}
