/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that came and went: how many were let in, and when. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/classes.h"
#include "sim/show/tables_parts.h"

#define MOST_STEPS 50 /* of time, in the series */

struct asked {
	const char *traffic, *kind, *refused_by;
	struct fabric_loss loss;
	hd_time time; /* the end of a step */
	uint64_t admitted;
	struct row_connections c;
};
static const struct column columns[] = {
	{ "traffic", NULL, CELL(asked, traffic) },
	{ "kind", NULL, CELL(asked, kind) },
	{ "asked", NULL, CELL(asked, c.asked), ORIGIN_SIMULATED },
	{ "admitted", NULL, CELL(asked, admitted), ORIGIN_SIMULATED },
	{ "blocked", NULL, CELL(asked, c.blocked), ORIGIN_SIMULATED },
	{ "blocking", "%", CELL_SHARE(asked, c.blocking.mean), ORIGIN_SIMULATED,
	  2 },
	{ "blocking +-", "%", CELL_SHARE(asked, c.blocking.half_width),
	  ORIGIN_SIMULATED, 2 },
	{ "by formula", "%", CELL_SHARE(asked, loss.blocking), ORIGIN_COMPUTED,
	  2 },
	{ "formula", NULL, CELL(asked, loss.form), ORIGIN_COMPUTED },
	{ "held", NULL, CELL(asked, c.held), ORIGIN_SIMULATED, 2 },
	{ "reserved", "Gb/s", CELL_BITS(asked, c.reserved), ORIGIN_SIMULATED,
	  3 },
	{ "refused most by", NULL, CELL(asked, refused_by), ORIGIN_SIMULATED },
	{ NULL },
};
static const struct column step_columns[] = {
	{ "time", "us", CELL_TIME(asked, time), ORIGIN_GIVEN, 1 },
	{ "traffic", NULL, CELL(asked, traffic) },
	{ "asked", NULL, CELL(asked, c.asked), ORIGIN_SIMULATED },
	{ "admitted", NULL, CELL(asked, admitted), ORIGIN_SIMULATED },
	{ "blocked", NULL, CELL(asked, c.blocked), ORIGIN_SIMULATED },
	{ "blocking", "%", CELL_SHARE(asked, c.blocking.mean), ORIGIN_SIMULATED,
	  2 },
	{ "by formula", "%", CELL_SHARE(asked, loss.blocking), ORIGIN_COMPUTED,
	  2 },
	{ "held", NULL, CELL(asked, c.held), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

/* How long a connection was there between two times, in ps. */
static double overlap(const struct fabric_request *q, hd_time from, hd_time to)
{
	hd_time begin = q->at > from ? q->at : from;
	hd_time end = q->until < to ? q->until : to;

	return end > begin ? (double)(end - begin) : 0;
}

static void count(const struct fabric_request *q, hd_time from, hd_time to,
		  struct row_connections *out)
{
	double there = overlap(q, from, to);

	if (q->flow != SIM_NONE && to > from) {
		out->held += there / (double)(to - from);
		if (q->rate.num)
			out->reserved += there / (double)(to - from) *
					 hd_rate_bps(q->rate);
	}
	if (q->at < from || q->at >= to)
		return;
	out->asked++;
	out->blocked += q->flow == SIM_NONE;
}

static port_id busiest_link(const struct fabric *b, uint32_t row, hd_time from,
			    hd_time to)
{
	uint32_t *refused = hd_alloc(b->topo.n_ports, sizeof(*refused));
	port_id most = TOPO_NONE;

	for (uint32_t i = 0; i < b->n_requests; i++) {
		const struct fabric_request *q = &b->requests[i];

		if (q->row == row && q->link != TOPO_NONE && q->at >= from &&
		    q->at < to)
			refused[q->link]++;
	}
	for (port_id p = 0; p < b->topo.n_ports; p++) {
		if (refused[p] &&
		    (most == TOPO_NONE || refused[p] > refused[most]))
			most = p;
	}
	free(refused);
	return most;
}

static void count_all(const struct fabric *b, uint32_t row, hd_time from,
		      hd_time to, struct row_connections *out)
{
	struct batch_means batches;

	*out = (struct row_connections){ 0 };
	batch_means_init(&batches);
	for (uint32_t i = 0; i < b->n_requests; i++) {
		const struct fabric_request *q = &b->requests[i];

		if (q->row != row)
			continue;
		count(q, from, to, out);
		if (q->at >= from && q->at < to)
			batch_means_add(&batches, q->flow == SIM_NONE);
	}
	out->blocking = batch_means_interval(&batches, 0.95);
}

/* Flows that are there from the start asked before anything was measured. */
static hd_time asked_from(const struct sim_findings *f, uint32_t row)
{
	const struct scn_traffic *t = &f->build->scenario->traffic[row];

	return t->arrivals.gap ? f->metrics->from : 0;
}

bool findings_row_connections(const struct sim_findings *f, uint32_t row,
			      struct row_connections *out)
{
	const struct scenario *s = f->build->scenario;
	const struct scn_traffic *t = &s->traffic[row];

	count_all(f->build, row, asked_from(f, row), f->metrics->to, out);
	return t->arrivals.gap || scenario_asks(s, t);
}

static const char *kind_of(const struct scenario *s, unsigned sl)
{
	for (size_t i = 0; i < s->qos.n_classes; i++) {
		if (s->qos.classes[i].sl == sl &&
		    s->qos.classes[i].kind != SCN_NO_KIND)
			return traffic_class_name(s->qos.classes[i].kind);
	}
	return "";
}

/* Without anybody who asked there is nobody who was refused, or was not. */
static struct asked row_of(const struct fabric *b, uint32_t row,
			   const struct row_connections *c)
{
	struct asked made = {
		.traffic = b->scenario->traffic[row].name,
		.admitted = c->asked - c->blocked,
		.c = *c,
		.loss = b->losses ? b->losses[row]
				  : (struct fabric_loss){ NAN, "" },
	};

	if (!c->asked)
		made.c.blocking.mean = NAN;
	return made;
}

static void put_row(const struct sim_findings *f, uint32_t row,
		    const struct row_connections *c, struct table *t)
{
	const struct fabric *b = f->build;
	const struct scenario *s = b->scenario;
	struct asked made = row_of(b, row, c);
	port_id link = busiest_link(b, row, asked_from(f, row), f->metrics->to);
	struct strbuf name = STRBUF_INIT;

	if (link != TOPO_NONE)
		fabric_port_name(b, b->port_of_origin[link], &name);
	made.kind = kind_of(s, scenario_sl(s, &s->traffic[row]));
	made.refused_by = name.text ? table_take(t, &name) : "";
	table_put_row(t, &made);
}

/* Steps of equal length through all of the run. */
static void series(const struct sim_findings *f, struct results *r)
{
	const struct fabric *b = f->build;
	const struct scenario *s = b->scenario;
	hd_time end = f->metrics->to,
		step = (end + MOST_STEPS - 1) / MOST_STEPS;
	struct table *t = results_series(
		r, "connections over time",
		"who came and was let in, step by step", step_columns);

	for (hd_time from = 0; from < end; from += step) {
		hd_time to = from + step < end ? from + step : end;

		for (uint32_t row = 0; row < s->n_traffic; row++) {
			struct row_connections c;

			if (!s->traffic[row].arrivals.gap)
				continue;
			count_all(b, row, from, to, &c);
			struct asked made = row_of(b, row, &c);

			made.time = to;
			table_put_row(t, &made);
		}
	}
}

void findings_connections(const struct sim_findings *f, struct results *r)
{
	const struct fabric *b = f->build;
	struct table *t = NULL;
	bool any = false;

	for (uint32_t row = 0; row < b->scenario->n_traffic; row++) {
		struct row_connections c;

		if (!findings_row_connections(f, row, &c))
			continue;
		if (!t)
			t = results_table(r, "connections",
					  "those that came, or asked for "
					  "bandwidth, and who was let in",
					  columns);
		put_row(f, row, &c, t);
		any |= b->scenario->traffic[row].arrivals.gap > 0;
	}
	if (any && f->all)
		series(f, r);
}
