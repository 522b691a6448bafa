/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/evaluation_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Columns that identify the run. */
struct run_key {
	char width[16];
	struct eval_plan plan;
};
#define RUN_COLUMNS(row)                                                                \
	{ "width", NULL, CELL(row, run.width) },                                        \
		{ "topology", NULL, CELL_NAME(row, run.plan.shape, eval_shape_names) }, \
		{ "switches", NULL, CELL(row, run.plan.switches) },                     \
		{ "size", "B", CELL(row, run.plan.payload) },                           \
	{                                                                               \
		"seed", NULL, CELL(row, run.plan.seed)                                  \
	}

static struct run_key key_of(const struct eval_result *r)
{
	struct run_key key;

	key.plan = r->plan;
	snprintf(key.width, sizeof(key.width), "%ux", r->plan.width);
	return key;
}

struct eval_run_row {
	struct run_key run;
	hd_time frame;
	struct eval_result r;
};
static const struct column run_columns[] = {
	RUN_COLUMNS(eval_run_row),
	{ "tried", NULL, CELL_UNLESS(eval_run_row, run.plan.tried, UINT32_MAX) },
	{ "established", NULL, CELL(eval_run_row, r.established.established), ORIGIN_COMPUTED },
	{ "frame", "ms", CELL_TIME(eval_run_row, frame), ORIGIN_COMPUTED, 6 },
	{ "reserved", NULL, CELL(eval_run_row, r.reserved), ORIGIN_COMPUTED, 4 },
	{ "offered", NULL, CELL(eval_run_row, r.offered), ORIGIN_SIMULATED, 4 },
	{ "delivered", NULL, CELL(eval_run_row, r.delivered), ORIGIN_SIMULATED, 4 },
	{ "hosts use", "%", CELL_SHARE(eval_run_row, r.host_use), ORIGIN_SIMULATED, 2 },
	{ "switches use", "%", CELL_SHARE(eval_run_row, r.switch_use), ORIGIN_SIMULATED, 2 },
	{ "most", "%", CELL_SHARE(eval_run_row, r.most_use), ORIGIN_SIMULATED, 2 },
	{ "latency", "us", CELL(eval_run_row, r.latency.mean), ORIGIN_SIMULATED, 3 },
	{ "latency +-", "us", CELL(eval_run_row, r.latency.half_width), ORIGIN_SIMULATED, 3 },
	{ "measured", "ms", CELL_TIME(eval_run_row, r.measured), ORIGIN_SIMULATED, 1 },
	{ "packets", NULL, CELL(eval_run_row, r.delivered_packets), ORIGIN_SIMULATED },
	{ "hops", NULL, CELL(eval_run_row, r.hops), ORIGIN_SIMULATED },
	{ "lost", NULL, CELL(eval_run_row, r.lost), ORIGIN_SIMULATED },
	{ "complete", NULL, CELL(eval_run_row, r.complete), ORIGIN_SIMULATED },
	{ NULL },
};

static void put_runs(struct results *r, const struct eval_runs *runs)
{
	struct table *t = results_table(
		r, "runs", "loads in shares of a host link, headers included", run_columns);

	for (uint32_t i = 0; i < runs->n; i++) {
		const struct eval_result *x = &runs->items[i];
		struct hd_rate rate = hd_rate_make(UINT64_C(2500000000) * x->plan.width, 1);
		struct eval_run_row row = { key_of(x), slots_frame_time(rate), *x };

		row.r.latency.mean *= 1e6; /* microseconds */
		row.r.latency.half_width *= 1e6;
		table_put_row(t, &row);
	}
}

static bool is_drawn(const struct eval_result *r)
{
	return r->delivered_packets > 0;
}

struct port_use {
	struct run_key run;
	uint32_t position, rank;
	const char *kind;
	struct eval_port port;
};
static const struct column port_columns[] = {
	RUN_COLUMNS(port_use),
	{ "position", NULL, CELL(port_use, position) },
	{ "kind", NULL, CELL(port_use, kind) },
	{ "node", NULL, CELL(port_use, port.node) },
	{ "port", NULL, CELL(port_use, port.number) },
	{ "use", "%", CELL_SHARE(port_use, port.utilisation), ORIGIN_SIMULATED, 2 },
	{ "rank", NULL, CELL(port_use, rank), ORIGIN_COMPUTED },
	{ NULL },
};

struct port_rank {
	double use;
	uint32_t position;
};

static int by_use(const void *a, const void *b)
{
	const struct port_rank *x = a, *y = b;

	if (x->use < y->use || x->use > y->use)
		return x->use < y->use ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

/* Rank of each port when they are sorted by use, as in (b) and (d). */
static uint32_t *ranks_of(const struct eval_result *x)
{
	struct port_rank *order = hd_alloc(x->n_ports, sizeof(*order));
	uint32_t *rank = hd_alloc(x->n_ports, sizeof(*rank));

	for (uint32_t i = 0; i < x->n_ports; i++)
		order[i] = (struct port_rank){ x->ports[i].utilisation, i };
	qsort(order, x->n_ports, sizeof(*order), by_use);
	for (uint32_t i = 0; i < x->n_ports; i++)
		rank[order[i].position] = i;
	free(order);
	return rank;
}

static void put_ports(struct results *r, const struct eval_runs *runs)
{
	struct table *t =
		results_series(r, "ports", "use of adapters' and switches' ports", port_columns);

	for (uint32_t k = 0; k < runs->n; k++) {
		const struct eval_result *x = &runs->items[k];

		if (!is_drawn(x))
			continue;
		uint32_t *rank = ranks_of(x);

		for (uint32_t i = 0; i < x->n_ports; i++) {
			const struct eval_port *port = &x->ports[i];
			const char *kind = port->host ? "host" : "switch";

			table_put_row(t, &(struct port_use){ key_of(x), i, rank[i], kind, *port });
		}
		free(rank);
	}
}

/* Packets of an SL; each table shows some of the columns. */
struct eval_sl_row {
	struct run_key run;
	unsigned sl;
	struct eval_sl s;
	double latency;                    /* us */
	double within, share, uncertainty; /* of a deadline */
	double best, worst;                /* of connections, in it */
	double from, to, jitter;           /* of a bin */
};
#define LEVEL_COLUMNS                             \
	RUN_COLUMNS(eval_sl_row),                 \
	{                                         \
		"sl", NULL, CELL(eval_sl_row, sl) \
	}

static const struct column level_columns[] = {
	LEVEL_COLUMNS,
	{ "connections", NULL, CELL(eval_sl_row, s.connections), ORIGIN_COMPUTED },
	{ "packets", NULL, CELL(eval_sl_row, s.all.packets), ORIGIN_SIMULATED },
	{ "latency", "us", CELL(eval_sl_row, latency), ORIGIN_SIMULATED, 3 },
	{ "latest", "IAT", CELL(eval_sl_row, s.latest), ORIGIN_SIMULATED, 4 },
	{ NULL },
};
static const struct column delay_columns[] = {
	LEVEL_COLUMNS,
	{ "within", "IAT", CELL(eval_sl_row, within), ORIGIN_GIVEN, 5 },
	{ "share", "%", CELL_SHARE(eval_sl_row, share), ORIGIN_SIMULATED, 3 },
	{ "share +-", "%", CELL_SHARE(eval_sl_row, uncertainty), ORIGIN_COMPUTED, 3 },
	{ "packets", NULL, CELL(eval_sl_row, s.all.packets), ORIGIN_SIMULATED },
	{ NULL },
};
static const struct column extreme_columns[] = {
	LEVEL_COLUMNS,
	{ "within", "IAT", CELL(eval_sl_row, within), ORIGIN_GIVEN, 5 },
	{ "best", "%", CELL_SHARE(eval_sl_row, best), ORIGIN_SIMULATED, 2 },
	{ "worst", "%", CELL_SHARE(eval_sl_row, worst), ORIGIN_SIMULATED, 2 },
	{ "best rate", "Mb/s", CELL_BITS(eval_sl_row, s.best_rate), ORIGIN_GIVEN, 4 },
	{ "worst rate", "Mb/s", CELL_BITS(eval_sl_row, s.worst_rate), ORIGIN_GIVEN, 4 },
	{ NULL },
};
static const struct column jitter_columns[] = {
	LEVEL_COLUMNS,
	{ "from", "IAT", CELL(eval_sl_row, from), ORIGIN_GIVEN, 3 },
	{ "to", "IAT", CELL(eval_sl_row, to), ORIGIN_GIVEN, 3 },
	{ "share", "%", CELL(eval_sl_row, jitter), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

struct level_tables {
	struct table *levels, *delay, *extremes, *jitter;
};

/* Half-width of the 95 % interval of a share of n packets. */
static double uncertainty(double share, uint64_t n)
{
	if (share <= 0 || share >= 1)
		return 3 / (double)n; /* the rule of three */
	return 1.96 * sqrt(share * (1 - share) / (double)n);
}

static void put_deadline(const struct level_tables *t, struct eval_sl_row *row, unsigned at)
{
	const struct eval_sl *s = &row->s;

	row->within = sim_deadlines[at] / 32.0;
	row->share = eval_within(&s->all, at);
	row->uncertainty = uncertainty(row->share, s->all.packets);
	row->best = eval_within(&s->best, at);
	row->worst = eval_within(&s->worst, at);
	table_put_row(t->delay, row);
	if (s->best.packets)
		table_put_row(t->extremes, row);
}

static void put_level(const struct level_tables *t, const struct eval_result *x, unsigned sl)
{
	struct eval_sl_row row = { key_of(x), sl, .s = x->sl[sl] };
	unsigned bins = row.s.jitter_n ? SIM_JITTER_BINS : 0;

	row.latency = 1e6 * row.s.mean_latency;
	table_put_row(t->levels, &row);
	for (unsigned at = 0; at < SIM_DEADLINES; at++)
		put_deadline(t, &row, at);
	for (unsigned bin = 0; bin < bins; bin++) {
		row.from = bin > 0 ? ((double)bin - 9) / 8 : NAN;
		row.to = bin < bins - 1 ? ((double)bin - 8) / 8 : NAN;
		row.jitter = 100 * (double)row.s.jitter[bin] / (double)row.s.jitter_n;
		table_put_row(t->jitter, &row);
	}
}

static void put_levels(struct results *r, const struct eval_runs *runs)
{
	const struct level_tables t = {
		.levels = results_table(r, "levels",
					"what each SL got; its latest packet, over its IAT",
					level_columns),
		.delay = results_series(r, "delay", "packets within a part of their IAT",
					delay_columns),
		.extremes = results_series(
			r, "extremes", "the connections with the most and the least within IAT/2",
			extreme_columns),
		.jitter =
			results_series(r, "jitter", "jitter in eighths of the IAT", jitter_columns),
	};

	for (uint32_t k = 0; k < runs->n; k++) {
		const struct eval_result *x = &runs->items[k];

		for (unsigned sl = 0; sl < N_SLS; sl++) {
			if (is_drawn(x) && x->sl[sl].all.packets)
				put_level(&t, x, sl);
		}
	}
}

void eval_tables(struct results *r, const struct eval_runs *runs)
{
	put_runs(r, runs);
	put_levels(r, runs);
	put_ports(r, runs);
}
