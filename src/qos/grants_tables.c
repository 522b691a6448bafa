/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/grants.h"

struct flow_row {
	uint64_t line;
	const char *flow, *class;
	bool granted;
	double promised, bound;
	const char *reason;
};

static const struct column flow_columns[] = {
	{ "line", NULL, CELL(flow_row, line) },
	{ "flow", NULL, CELL(flow_row, flow) },
	{ "class", NULL, CELL(flow_row, class) },
	{ "granted", NULL, CELL(flow_row, granted), ORIGIN_COMPUTED },
	{ "promised", "us", CELL(flow_row, promised), ORIGIN_COMPUTED, 3 },
	{ "bound", "us", CELL(flow_row, bound), ORIGIN_COMPUTED, 3 },
	{ "reason", NULL, CELL(flow_row, reason), ORIGIN_COMPUTED },
	{ NULL },
};

struct hop_row {
	const char *flow, *link;
	double delay[BOUND_MODES], buffer, output;
};

static const struct column hop_columns[] = {
	{ "flow", NULL, CELL(hop_row, flow) },
	{ "link", NULL, CELL(hop_row, link), ORIGIN_COMPUTED },
	{ "published", "us", CELL(hop_row, delay[BOUND_PUBLISHED]),
	  ORIGIN_PUBLISHED, 3 },
	{ "bucket", "us", CELL(hop_row, delay[BOUND_BUCKET]), ORIGIN_COMPUTED,
	  3 },
	{ "grouped", "us", CELL(hop_row, delay[BOUND_GROUPED]), ORIGIN_COMPUTED,
	  3 },
	{ "periodic", "us", CELL(hop_row, delay[BOUND_PERIODIC]),
	  ORIGIN_COMPUTED, 3 },
	{ "buffer", "B", CELL(hop_row, buffer), ORIGIN_COMPUTED },
	{ "output", "B", CELL(hop_row, output), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *flow_name(struct table *t, const struct grants_answer *a)
{
	return table_text(t, "%s -> %s", a->request->source, a->to);
}

static void show_answers(const struct grants *g, struct results *r)
{
	struct table *t = results_table(r, "flows", "in the order of the file",
					flow_columns);

	for (size_t i = 0; i < g->n; i++) {
		const struct grants_answer *a = &g->answers[i];
		const struct blrm_flow *f =
			a->reason ? NULL : &g->blrm.flows[a->flow];

		const struct flow_row row = {
			.line = a->request->line,
			.flow = flow_name(t, a),
			.class = traffic_class_name(a->request->class),
			.granted = !a->reason,
			.promised = f ? f->promised * 1e6 : NAN,
			.bound = f ? f->bound * 1e6 : NAN,
			.reason = a->reason ? a->reason : "",
		};

		table_put_row(t, &row);
	}
}

/* What can be said of every hop, in the order of flows and paths. */
struct hops {
	double *delay[BOUND_MODES];
	double *buffer[2]; /* by side and port */
};

static void hops_init(struct hops *h, const struct grants *g)
{
	const uint32_t n = blrm_hops(&g->blrm);

	for (unsigned m = 0; m < BOUND_MODES; m++)
		h->delay[m] = hd_alloc(n, sizeof(double));
	blrm_bounds(&g->blrm, h->delay);
	for (unsigned side = 0; side < 2; side++) {
		h->buffer[side] =
			hd_alloc(g->subnet->topo->n_ports, sizeof(double));
		blrm_buffers(&g->blrm, (enum bound_side)side,
			     h->delay[g->params.blrm.mode], h->buffer[side]);
	}
}

static void hops_fini(struct hops *h)
{
	for (unsigned m = 0; m < BOUND_MODES; m++)
		free(h->delay[m]);
	free(h->buffer[BOUND_INPUT]);
	free(h->buffer[BOUND_OUTPUT]);
}

/*
 * Hop `hop` of a flow, which is the `k`-th of all. Last what the next switch
 * must hold, and the queue at this output; a host holds nothing back, and what
 * it sends waits in its memory.
 */
static void put_hop(struct table *t, const struct grants *g,
		    const struct grants_answer *a, uint32_t hop,
		    const struct hops *h, uint32_t k)
{
	const struct topo *topo = g->subnet->topo;
	const struct path *path = &g->blrm.flows[a->flow].path;
	port_id port = path->port[hop];
	bool into_switch = hop + 1 < path->n_hops;
	bool queues = hop > 0 && g->params.blrm.speedup.den > 0;
	struct hop_row row = {
		.flow = flow_name(t, a),
		.link = table_text(t, "%s[%u]", topo_node_of(topo, port)->name,
				   topo->ports[port].number),
		.buffer =
			into_switch ? ceil(h->buffer[BOUND_INPUT][port]) : NAN,
		.output = queues ? ceil(h->buffer[BOUND_OUTPUT][port]) : NAN,
	};

	for (unsigned m = 0; m < BOUND_MODES; m++)
		row.delay[m] = h->delay[m][k] * 1e6;
	table_put_row(t, &row);
}

static void show_hops(const struct grants *g, struct results *r)
{
	struct table *t = results_table(
		r, "hops", "at most this long at each port", hop_columns);
	struct hops hops;
	uint32_t k = 0;

	hops_init(&hops, g);
	for (size_t i = 0; i < g->n; i++) {
		const struct grants_answer *a = &g->answers[i];

		if (a->reason)
			continue;
		const struct path *path = &g->blrm.flows[a->flow].path;

		for (uint32_t h = 0; h < path->n_hops; h++, k++)
			put_hop(t, g, a, h, &hops, k);
	}
	hops_fini(&hops);
}

void grants_show(const struct grants *g, struct results *r)
{
	show_answers(g, r);
	show_hops(g, r);
}
