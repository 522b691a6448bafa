/* SPDX-License-Identifier: BSD-2-Clause */
/* Dynamic connections: number of admitted ones, and over time. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/tables/classes.h"
#include "sim/report/report_internal.h"

#define MOST_STEPS 50 /* time steps of the series */

struct connection_row {
	const char *traffic, *kind, *refused_by, *refusal, *cause;
	double deadline, bound, worst; /* microseconds; NaN: none */
	struct fabric_loss loss;
	hd_time time; /* end of a step */
	uint64_t admitted;
	struct row_connections c;
};
static const struct column columns[] = {
	{ "traffic", NULL, CELL(connection_row, traffic) },
	{ "kind", NULL, CELL(connection_row, kind) },
	{ "asked", NULL, CELL(connection_row, c.asked), ORIGIN_SIMULATED },
	{ "admitted", NULL, CELL(connection_row, admitted), ORIGIN_SIMULATED },
	{ "blocked", NULL, CELL(connection_row, c.blocked), ORIGIN_SIMULATED },
	{ "blocking", "%", CELL_SHARE(connection_row, c.blocking.mean), ORIGIN_SIMULATED, 2 },
	{ "blocking +-", "%", CELL_SHARE(connection_row, c.blocking.half_width), ORIGIN_SIMULATED,
	  2 },
	{ "by formula", "%", CELL_SHARE(connection_row, loss.blocking), ORIGIN_COMPUTED, 2 },
	{ "formula", NULL, CELL(connection_row, loss.form), ORIGIN_COMPUTED },
	{ "held", NULL, CELL(connection_row, c.held), ORIGIN_SIMULATED, 2 },
	{ "reserved", "Gb/s", CELL_BITS(connection_row, c.reserved), ORIGIN_SIMULATED, 3 },
	{ "deadline", "us", CELL(connection_row, deadline), ORIGIN_GIVEN, 3 },
	{ "bound", "us", CELL(connection_row, bound), ORIGIN_COMPUTED, 3 },
	{ "worst", "us", CELL(connection_row, worst), ORIGIN_SIMULATED, 3 },
	{ "refused most by", NULL, CELL(connection_row, refused_by), ORIGIN_SIMULATED },
	{ "refusal", NULL, CELL(connection_row, refusal), ORIGIN_SIMULATED },
	{ "broken", NULL, CELL(connection_row, c.broken), ORIGIN_SIMULATED },
	{ "cause", NULL, CELL(connection_row, cause), ORIGIN_SIMULATED },
	{ NULL },
};
static const struct column step_columns[] = {
	{ "time", "us", CELL_TIME(connection_row, time), ORIGIN_GIVEN, 1 },
	{ "traffic", NULL, CELL(connection_row, traffic) },
	{ "asked", NULL, CELL(connection_row, c.asked), ORIGIN_SIMULATED },
	{ "admitted", NULL, CELL(connection_row, admitted), ORIGIN_SIMULATED },
	{ "blocked", NULL, CELL(connection_row, c.blocked), ORIGIN_SIMULATED },
	{ "blocking", "%", CELL_SHARE(connection_row, c.blocking.mean), ORIGIN_SIMULATED, 2 },
	{ "by formula", "%", CELL_SHARE(connection_row, loss.blocking), ORIGIN_COMPUTED, 2 },
	{ "held", NULL, CELL(connection_row, c.held), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

struct broken_row {
	const char *traffic, *source, *destination;
	hd_time from, until;
	const char *link, *cause;
};
static const struct column broken_columns[] = {
	{ "traffic", NULL, CELL(broken_row, traffic) },
	{ "source", NULL, CELL(broken_row, source) },
	{ "destination", NULL, CELL(broken_row, destination) },
	{ "from", "us", CELL_TIME(broken_row, from), ORIGIN_COMPUTED, 3 },
	{ "until", "us", CELL_TIME(broken_row, until), ORIGIN_COMPUTED, 3 },
	{ "link", NULL, CELL(broken_row, link), ORIGIN_COMPUTED },
	{ "cause", NULL, CELL(broken_row, cause), ORIGIN_COMPUTED },
	{ NULL },
};

/* Time in ps that a connection existed between two times. */
static double overlap(const struct fabric_request *q, hd_time from, hd_time to)
{
	hd_time begin = q->at > from ? q->at : from;
	hd_time end = q->until < to ? q->until : to;

	return end > begin ? (double)(end - begin) : 0;
}

/* A rejected job has no run. */
static bool is_refused(const struct fabric_request *q)
{
	return q->flow == SIM_NONE && q->row != SIM_NONE;
}

static void count(const struct fabric_request *q, hd_time from, hd_time to,
		  struct row_connections *out)
{
	double there = overlap(q, from, to);

	if (!is_refused(q) && to > from) {
		out->held += there / (double)(to - from);
		if (q->rate.num)
			out->reserved += there / (double)(to - from) * hd_rate_bps(q->rate);
	}
	if (q->at < from || q->at >= to)
		return;
	out->asked++;
	out->blocked += is_refused(q);
}

/* The row of a request; jobs follow the rows. */
static uint32_t owner_of(const struct fabric *fabric, const struct fabric_request *q)
{
	return q->row != SIM_NONE ? q->row : (uint32_t)fabric->scenario->n_traffic + q->job;
}

static port_id busiest_link(const struct fabric *fabric, uint32_t row, hd_time from, hd_time to)
{
	uint32_t *refused = hd_alloc(fabric->topo.n_ports, sizeof(*refused));
	port_id most = TOPO_NONE;

	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		const struct fabric_request *q = &fabric->requests[i];

		if (q->row == row && q->link != TOPO_NONE && q->at >= from && q->at < to)
			refused[q->link]++;
	}
	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		if (refused[p] && (most == TOPO_NONE || refused[p] > refused[most]))
			most = p;
	}
	free(refused);
	return most;
}

/* Subtracts the time of broken promises from the time with reserved slots. */
static void count_breaks(const struct fabric *fabric, uint32_t owner, hd_time from, hd_time to,
			 struct row_connections *out)
{
	for (uint32_t i = 0; i < fabric->n_breaks; i++) {
		const struct fabric_break *k = &fabric->breaks[i];
		const struct fabric_request *q = &fabric->requests[k->request];
		const struct fabric_request gap = { .at = k->lost, .until = k->until };

		if (owner_of(fabric, q) != owner)
			continue;
		if (k->lost != HD_TIME_NEVER && to > from)
			out->reserved -= overlap(&gap, from, to) / (double)(to - from) *
					 hd_rate_bps(q->rate);
		if (k->from >= to)
			continue;
		if (!out->cause)
			out->cause = k->cause;
	}
}

static void count_all(const struct fabric *fabric, uint32_t owner, hd_time from, hd_time to,
		      struct row_connections *out)
{
	struct batch_means batches;

	*out = (struct row_connections){ 0 };
	batch_means_init(&batches);
	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		const struct fabric_request *q = &fabric->requests[i];

		if (owner_of(fabric, q) != owner)
			continue;
		count(q, from, to, out);
		out->broken += q->broken < to;
		if (q->at >= from && q->at < to)
			batch_means_add(&batches, is_refused(q));
	}
	out->blocking = batch_means_interval(&batches, 0.95);
	count_breaks(fabric, owner, from, to, out);
}

/* Flows that exist from the start requested admission before measuring. */
static hd_time asked_from(const struct report_input *f, uint32_t row)
{
	const struct scn_traffic *t = &f->fabric->scenario->traffic[row];

	return t->arrivals.gap ? f->metrics->from : 0;
}

/* Deadlines, bounds and latencies of a row's admitted connections. */
static void count_latencies(const struct report_input *f, uint32_t row, struct row_connections *out)
{
	const struct fabric *fabric = f->fabric;

	out->deadline = fabric->scenario->traffic[row].deadline;
	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		const struct fabric_request *q = &fabric->requests[i];

		if (q->row != row || q->at >= f->metrics->to)
			continue;
		if (!out->why)
			out->why = q->why;
		if (q->flow == SIM_NONE)
			continue;
		out->bound = fmax(out->bound, q->bound);
		hd_time worst = f->metrics->flows[q->flow].latency_max;

		if (q->broken != HD_TIME_NEVER)
			continue;
		out->worst = worst > out->worst ? worst : out->worst;
		out->late += out->deadline && worst > out->deadline;
	}
}

bool findings_row_connections(const struct report_input *f, uint32_t row,
			      struct row_connections *out)
{
	const struct scenario *s = f->fabric->scenario;
	const struct scn_traffic *t = &s->traffic[row];

	count_all(f->fabric, row, asked_from(f, row), f->metrics->to, out);
	count_latencies(f, row, out);
	return t->arrivals.gap || scenario_asks(s, t);
}

static const char *kind_of(const struct scenario *s, unsigned sl)
{
	for (size_t i = 0; i < s->qos.n_classes; i++) {
		if (s->qos.classes[i].sl == sl && s->qos.classes[i].kind != SCN_NO_KIND)
			return class_name(s->qos.classes[i].kind);
	}
	return "";
}

/* A row without requests has neither rejections nor admissions. */
static struct connection_row row_of(const struct fabric *fabric, uint32_t row,
				    const struct row_connections *c)
{
	struct connection_row made = {
		.traffic = fabric->scenario->traffic[row].name,
		.admitted = c->asked - c->blocked,
		.c = *c,
		.loss = fabric->losses ? fabric->losses[row] : (struct fabric_loss){ NAN, "" },
	};

	if (!c->asked)
		made.c.blocking.mean = NAN;
	return made;
}

static void put_row(const struct report_input *f, uint32_t row, const struct row_connections *c,
		    struct table *t)
{
	const struct fabric *fabric = f->fabric;
	const struct scenario *s = fabric->scenario;
	struct connection_row made = row_of(fabric, row, c);
	port_id link = busiest_link(fabric, row, asked_from(f, row), f->metrics->to);
	struct strbuf name = STRBUF_INIT;

	if (link != TOPO_NONE)
		fabric_port_name(fabric, fabric->port_of_origin[link], &name);
	made.kind = kind_of(s, scenario_sl(s, &s->traffic[row]));
	made.refused_by = name.text ? table_take(t, &name) : "";
	made.cause = c->cause ? c->cause : "";
	made.refusal = c->why ? c->why : "";
	made.deadline = c->deadline ? (double)c->deadline * 1e-6 : (double)NAN;
	made.bound = c->bound > 0 && c->bound < HUGE_VAL ? c->bound * 1e6 : (double)NAN;
	made.worst = c->worst ? (double)c->worst * 1e-6 : (double)NAN;
	table_put_row(t, &made);
}

/* A job holds its reservation for the whole run. */
static void put_job(const struct report_input *f, uint32_t job, struct table *t)
{
	const struct scenario *s = f->fabric->scenario;
	struct connection_row made = {
		.traffic = s->jobs[job].name,
		.kind = kind_of(s, scenario_job_sl(s, &s->jobs[job])),
		.refused_by = "",
		.refusal = "",
		.deadline = NAN,
		.bound = NAN,
		.worst = NAN,
		.loss = { NAN, "" },
	};

	count_all(f->fabric, (uint32_t)s->n_traffic + job, 0, f->metrics->to, &made.c);
	made.admitted = made.c.asked - made.c.blocked;
	made.cause = made.c.cause ? made.c.cause : "";
	table_put_row(t, &made);
}

static struct table *connections_table(struct results *r, struct table *t)
{
	return t ? t
		 : results_table(r, "connections",
				 "those that came, or asked for bandwidth, and who was let in",
				 columns);
}

/* Steps of equal length over the whole run. */
static void series(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	const struct scenario *s = fabric->scenario;
	hd_time end = f->metrics->to, step = (end + MOST_STEPS - 1) / MOST_STEPS;
	struct table *t = results_series(r, "connections over time",
					 "who came and was let in, step by step", step_columns);

	for (hd_time from = 0; from < end; from += step) {
		hd_time to = from + step < end ? from + step : end;

		for (uint32_t row = 0; row < s->n_traffic; row++) {
			struct row_connections c;

			if (!s->traffic[row].arrivals.gap)
				continue;
			count_all(fabric, row, from, to, &c);
			struct connection_row made = row_of(fabric, row, &c);

			made.time = to;
			table_put_row(t, &made);
		}
	}
}

/* Name of a port in the form used for hosts and links, for a row of `t`. */
static const char *name_of(const struct fabric *fabric, port_id port, struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(fabric, fabric->port_of_origin[port], &name);
	return table_take(t, &name);
}

static const char *destination_of(const struct fabric *fabric, const struct fabric_request *q,
				  struct table *t)
{
	const struct scn_traffic *row = &fabric->scenario->traffic[q->row];
	port_id to = fabric->flow_target[q->flow];

	if (to != TOPO_NONE)
		return name_of(fabric, to, t);
	return row->group ? row->group : "";
}

/* A job has several sources and destinations. */
static struct broken_row broken_row_of(const struct fabric *fabric, const struct fabric_break *k,
				       struct table *t)
{
	const struct fabric_request *q = &fabric->requests[k->request];
	const struct scenario *s = fabric->scenario;
	struct broken_row row = {
		.source = "",
		.destination = "",
		.from = k->from,
		.until = k->until,
		.link = name_of(fabric, k->link, t),
		.cause = k->cause,
	};

	if (q->row == SIM_NONE) {
		row.traffic = s->jobs[q->job].name;
		return row;
	}
	const struct sim_node *node = &fabric->setup.nodes[fabric->flows[q->flow].source];

	row.traffic = s->traffic[q->row].name;
	row.source = name_of(fabric, fabric->setup.ports[node->first_port + 1].origin, t);
	row.destination = destination_of(fabric, q, t);
	return row;
}

/* Adds each broken promise, with a remark if there are any. */
static void findings_broken(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	uint32_t n = 0;

	while (n < fabric->n_breaks && fabric->breaks[n].from < f->metrics->to)
		n++;
	if (n == 0)
		return;
	struct table *t = results_table(r, "broken promises",
					"admitted connections that lost their path or their slots",
					broken_columns);

	for (uint32_t i = 0; i < n; i++) {
		const struct broken_row row = broken_row_of(fabric, &fabric->breaks[i], t);

		table_put_row(t, &row);
	}
	results_remark(
		r,
		"%u promises were broken: table 'broken promises' has the link, the cause and the time of each",
		n);
}

void findings_connections(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	struct table *t = NULL;
	bool any = false;

	for (uint32_t row = 0; row < fabric->scenario->n_traffic; row++) {
		struct row_connections c;

		if (!findings_row_connections(f, row, &c))
			continue;
		t = connections_table(r, t);
		put_row(f, row, &c, t);
		any |= fabric->scenario->traffic[row].arrivals.gap > 0;
	}
	for (uint32_t job = 0; job < fabric->scenario->n_jobs; job++) {
		if (!fabric->scenario->jobs[job].reserve.num)
			continue;
		t = connections_table(r, t);
		put_job(f, job, t);
	}
	findings_broken(f, r);
	if (any && f->all)
		series(f, r);
}
