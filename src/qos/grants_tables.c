/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/grants.h"

static const struct column flow_columns[] = {
	{ "line", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "class", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "granted", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "promised", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "bound", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "reason", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column hop_columns[] = {
	{ "flow", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "link", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "published", "us", VALUE_REAL, ORIGIN_PUBLISHED, 3 },
	{ "bucket", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "grouped", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "periodic", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "buffer", "B", VALUE_REAL, ORIGIN_COMPUTED, 0 },
	{ "output", "B", VALUE_REAL, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_flow(struct table *t, const struct grants_answer *a)
{
	table_put_textf(t, "%s -> %s", a->request->source, a->to);
}

static void show_answers(const struct grants *g, struct results *r)
{
	struct table *t = results_table(r, "flows", "in the order of the file",
					flow_columns);

	for (size_t i = 0; i < g->n; i++) {
		const struct grants_answer *a = &g->answers[i];

		table_put_uint(t, a->request->line);
		put_flow(t, a);
		table_put_text(t, traffic_class_name(a->request->class));
		table_put_bool(t, !a->reason);
		if (a->reason) {
			table_put_none(t);
			table_put_none(t);
		} else {
			const struct blrm_flow *f = &g->blrm.flows[a->flow];

			table_put_real(t, f->promised * 1e6);
			table_put_real(t, f->bound * 1e6);
		}
		table_put_text(t, a->reason ? a->reason : "");
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

static void put_bytes(struct table *t, bool known, double bytes)
{
	if (known)
		table_put_real(t, ceil(bytes));
	else
		table_put_none(t);
}

/*
 * Last of all, what the next switch must hold, and the queue at this output; a
 * host holds nothing back, and what it sends waits in its memory.
 */
static void put_buffers(struct table *t, const struct grants *g,
			const struct path *path, uint32_t hop,
			const struct hops *h)
{
	port_id port = path->port[hop];
	bool crossbar = g->params.blrm.speedup.den > 0;

	put_bytes(t, hop + 1 < path->n_hops, h->buffer[BOUND_INPUT][port]);
	put_bytes(t, hop > 0 && crossbar, h->buffer[BOUND_OUTPUT][port]);
}

static void show_hops(const struct grants *g, struct results *r)
{
	const struct topo *topo = g->subnet->topo;
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

		for (uint32_t h = 0; h < path->n_hops; h++, k++) {
			port_id port = path->port[h];

			put_flow(t, a);
			table_put_textf(t, "%s[%u]",
					topo_node_of(topo, port)->name,
					topo->ports[port].number);
			for (unsigned m = 0; m < BOUND_MODES; m++)
				table_put_real(t, hops.delay[m][k] * 1e6);
			put_buffers(t, g, path, h, &hops);
		}
	}
	hops_fini(&hops);
}

void grants_show(const struct grants *g, struct results *r)
{
	show_answers(g, r);
	show_hops(g, r);
}
