/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "qos/admission/admission.h"

struct latency_flow_row {
	uint64_t line;
	const char *flow, *class;
	bool admitted;
	double deadline, bound;
	const char *reason;
};

static const struct column flow_columns[] = {
	{ "line", NULL, CELL(latency_flow_row, line) },
	{ "flow", NULL, CELL(latency_flow_row, flow) },
	{ "class", NULL, CELL(latency_flow_row, class) },
	{ "admitted", NULL, CELL(latency_flow_row, admitted), ORIGIN_COMPUTED },
	{ "deadline", "us", CELL(latency_flow_row, deadline), ORIGIN_GIVEN, 3 },
	{ "bound", "us", CELL(latency_flow_row, bound), ORIGIN_COMPUTED, 3 },
	{ "reason", NULL, CELL(latency_flow_row, reason), ORIGIN_COMPUTED },
	{ NULL },
};

struct hop_row {
	const char *flow, *link;
	uint64_t vl;
	double delay[BOUND_MODES], buffer, output;
};

static const struct column hop_columns[] = {
	{ "flow", NULL, CELL(hop_row, flow) },
	{ "link", NULL, CELL(hop_row, link), ORIGIN_COMPUTED },
	{ "vl", NULL, CELL(hop_row, vl), ORIGIN_COMPUTED },
	{ "published", "us", CELL(hop_row, delay[BOUND_PUBLISHED]), ORIGIN_PUBLISHED, 3 },
	{ "bucket", "us", CELL(hop_row, delay[BOUND_BUCKET]), ORIGIN_COMPUTED, 3 },
	{ "grouped", "us", CELL(hop_row, delay[BOUND_GROUPED]), ORIGIN_COMPUTED, 3 },
	{ "periodic", "us", CELL(hop_row, delay[BOUND_PERIODIC]), ORIGIN_COMPUTED, 3 },
	{ "buffer", "B", CELL(hop_row, buffer), ORIGIN_COMPUTED },
	{ "output", "B", CELL(hop_row, output), ORIGIN_COMPUTED },
	{ NULL },
};

struct latency_part_row {
	const char *flow;
	uint64_t subnet, sl, links;
	double bound;
};

static const struct column part_columns[] = {
	{ "flow", NULL, CELL(latency_part_row, flow) },
	{ "subnet", NULL, CELL(latency_part_row, subnet), ORIGIN_COMPUTED },
	{ "sl", NULL, CELL(latency_part_row, sl), ORIGIN_COMPUTED },
	{ "links", NULL, CELL(latency_part_row, links), ORIGIN_COMPUTED },
	{ "bound", "us", CELL(latency_part_row, bound), ORIGIN_COMPUTED, 3 },
	{ NULL },
};

static double in_us(double seconds)
{
	return seconds < HUGE_VAL ? seconds * 1e6 : (double)NAN;
}

/* The answers with bounds, and each flow of an admitted one. */
struct latency_walk {
	const struct admission *a;
	const struct latency *l;
	struct table *t;
};

static const char *flow_name(const struct latency_walk *w, const struct admission_answer *answer,
			     const struct latency_flow *f)
{
	const struct topo *t = w->a->subnet->topo;
	port_id last = w->l->hops[f->first + f->n_hops - 1].port;

	return table_text(w->t, "%s -> %s", answer->request->source,
			  topo_node_of(t, t->ports[last].peer)->name);
}

static bool is_of(const struct latency_flow *f, const struct admission_answer *answer)
{
	return answer->admitted && f->connection == answer->connection && !f->reverse;
}

static const char *why_none(const struct latency_walk *w, const struct latency_flow *f)
{
	const struct topo *t = w->a->subnet->topo;

	return f->none ? table_text(w->t, "no bound: %s, at %s[%u]", f->none,
				    topo_node_of(t, f->where)->name, t->ports[f->where].number)
		       : "";
}

static void put_flow(const struct latency_walk *w, const struct admission_answer *one,
		     const struct latency_flow *f)
{
	const struct latency_flow_row row = {
		.line = one->request->line,
		.flow = f ? flow_name(w, one, f)
			  : table_text(w->t, "%s -> %s", one->request->source,
				       one->request->destination),
		.class = class_name(one->request->class),
		.admitted = one->admitted,
		.deadline =
			one->request->latency ? (double)one->request->latency * 1e-6 : (double)NAN,
		.bound = f ? in_us(f->bound) : (double)NAN,
		.reason = f ? why_none(w, f) : one->reason,
	};

	table_put_row(w->t, &row);
}

static void show_flows(const struct admission *a, const struct latency *l, struct results *r)
{
	const struct latency_walk w = {
		a, l, results_table(r, "flows", "in the order of the file", flow_columns)
	};

	for (size_t i = 0; i < a->n_answers; i++) {
		const struct admission_answer *one = &a->answers[i];

		if (!one->admitted)
			put_flow(&w, one, NULL);
		for (uint32_t f = 0; f < l->n_flows; f++) {
			if (is_of(&l->flows[f], one))
				put_flow(&w, one, &l->flows[f]);
		}
	}
}

/*
 * Last what the next switch must hold, and the queue at this output; a host
 * holds nothing back, and what it sends waits in its memory.
 */
static void put_hop(const struct latency_walk *w, const struct admission_answer *one,
		    const struct latency_flow *f, uint32_t hop)
{
	const struct topo *topo = w->a->subnet->topo;
	const struct latency_hop *at = &w->l->hops[f->first + hop];
	double in = at->needed[BOUND_INPUT], out = at->needed[BOUND_OUTPUT];
	struct hop_row row = {
		.flow = flow_name(w, one, f),
		.link = table_text(w->t, "%s[%u]", topo_node_of(topo, at->port)->name,
				   topo->ports[at->port].number),
		.vl = at->vl,
		.buffer = in > 0 ? ceil(in) : (double)NAN,
		.output = out > 0 ? ceil(out) : (double)NAN,
	};

	for (unsigned m = 0; m < BOUND_MODES; m++)
		row.delay[m] = in_us(at->delay[m]);
	table_put_row(w->t, &row);
}

static void show_hops(const struct admission *a, const struct latency *l, struct results *r)
{
	const struct latency_walk w = {
		a, l, results_table(r, "hops", "at most this long at each port", hop_columns)
	};

	for (size_t i = 0; i < a->n_answers; i++) {
		for (uint32_t f = 0; f < l->n_flows; f++) {
			if (!is_of(&l->flows[f], &a->answers[i]))
				continue;
			for (uint32_t h = 0; h < l->flows[f].n_hops; h++)
				put_hop(&w, &a->answers[i], &l->flows[f], h);
		}
	}
}

/* The hops of a flow from `first` on that are in one subnet. */
static uint32_t put_part(const struct latency_walk *w, const struct admission_answer *one,
			 const struct latency_flow *f, uint32_t first)
{
	const struct broker *b = &w->a->broker;
	const struct topo *topo = b->subnet->topo;
	const struct broker_way *way = &b->connections[f->connection].request.way;
	const struct latency_hop *hops = &w->l->hops[f->first];
	struct latency_part_row row = {
		.flow = flow_name(w, one, f),
		.subnet = topo->ports[hops[first].port].subnet,
	};
	double bound = 0;
	uint32_t h = first;

	for (uint32_t k = 0; k < way->n; k++) {
		if (topo->ports[way->segment[k].source].subnet == row.subnet)
			row.sl = way->segment[k].sl;
	}
	for (; h < f->n_hops && topo->ports[hops[h].port].subnet == row.subnet; h++, row.links++)
		bound += hops[h].delay[b->params.latency.mode];
	row.bound = in_us(bound);
	table_put_row(w->t, &row);
	return h;
}

/* What each subnet's manager reserves, where ways cross routers. */
static void show_parts(const struct admission *a, const struct latency *l, struct results *r)
{
	struct latency_walk w = { a, l, NULL };

	for (size_t i = 0; i < a->n_answers; i++) {
		const struct admission_answer *one = &a->answers[i];

		for (uint32_t f = 0; f < l->n_flows; f++) {
			if (!is_of(&l->flows[f], one) ||
			    a->broker.connections[one->connection].request.way.n < 2)
				continue;
			if (!w.t)
				w.t = results_table(r, "parts",
						    "of ways across subnets; their bounds add up",
						    part_columns);
			for (uint32_t h = 0; h < l->flows[f].n_hops;)
				h = put_part(&w, one, &l->flows[f], h);
		}
	}
}

void admission_show_bounds(const struct admission *a, struct results *r)
{
	struct latency l;

	latency_init(&l, &a->broker, NULL, true);
	admission_show_jobs(&a->broker, r);
	show_flows(a, &l, r);
	show_parts(a, &l, r);
	show_hops(a, &l, r);
	latency_fini(&l);
}
