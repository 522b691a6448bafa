/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/evaluation/tables.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

#define RUN_COLUMNS                                                \
	{ "width", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },            \
		{ "topology", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 }, \
		{ "switches", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 }, \
		{ "size", "B", VALUE_UINT, ORIGIN_GIVEN, 0 },      \
	{                                                          \
		"seed", NULL, VALUE_UINT, ORIGIN_GIVEN, 0          \
	}

static void put_run(struct table *t, const struct eval_result *r)
{
	table_put_textf(t, "%ux", r->plan.width);
	table_put_text(t, eval_shape_names[r->plan.shape]);
	table_put_uint(t, r->plan.switches);
	table_put_uint(t, r->plan.payload);
	table_put_uint(t, r->plan.seed);
}

static const struct column run_columns[] = {
	RUN_COLUMNS,
	{ "tried", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "established", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "frame", "ms", VALUE_REAL, ORIGIN_COMPUTED, 6 },
	{ "reserved", NULL, VALUE_REAL, ORIGIN_COMPUTED, 4 },
	{ "offered", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "delivered", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "hosts use", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "switches use", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "most", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "latency", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "latency +-", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "measured", "ms", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "hops", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "lost", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "complete", NULL, VALUE_BOOL, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_runs(struct results *r, const struct eval_runs *runs)
{
	struct table *t = results_table(
		r, "runs", "loads in shares of a host link, headers included",
		run_columns);

	for (uint32_t i = 0; i < runs->n; i++) {
		const struct eval_result *x = &runs->items[i];
		bool full = x->plan.tried == UINT32_MAX;

		put_run(t, x);
		if (full)
			table_put_none(t);
		else
			table_put_uint(t, x->plan.tried);
		table_put_uint(t, x->established.established);
		table_put_time(
			t, slots_frame_time(hd_rate_make(
				   UINT64_C(2500000000) * x->plan.width, 1)));
		table_put_real(t, x->reserved);
		table_put_real(t, x->offered);
		table_put_real(t, x->delivered);
		table_put_real(t, 100 * x->host_use);
		table_put_real(t, 100 * x->switch_use);
		table_put_real(t, 100 * x->most_use);
		table_put_real(t, 1e6 * x->latency.mean);
		table_put_real(t, 1e6 * x->latency.half_width);
		table_put_time(t, x->measured);
		table_put_uint(t, x->delivered_packets);
		table_put_uint(t, x->hops);
		table_put_uint(t, x->lost);
		table_put_bool(t, x->complete);
	}
}

static bool is_drawn(const struct eval_result *r)
{
	return r->delivered_packets > 0;
}

static const struct column port_columns[] = {
	RUN_COLUMNS,
	{ "position", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "kind", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "node", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "port", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "use", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "rank", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

struct ranked {
	double use;
	uint32_t position;
};

static int by_use(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->use < y->use || x->use > y->use)
		return x->use < y->use ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

/* Where each port stands when they are sorted by use, as in (b) and (d). */
static uint32_t *ranks_of(const struct eval_result *x)
{
	struct ranked *order = hd_alloc(x->n_ports, sizeof(*order));
	uint32_t *rank = hd_alloc(x->n_ports, sizeof(*rank));

	for (uint32_t i = 0; i < x->n_ports; i++)
		order[i] = (struct ranked){ x->ports[i].utilisation, i };
	qsort(order, x->n_ports, sizeof(*order), by_use);
	for (uint32_t i = 0; i < x->n_ports; i++)
		rank[order[i].position] = i;
	free(order);
	return rank;
}

static void put_ports(struct results *r, const struct eval_runs *runs)
{
	struct table *t = results_series(r, "ports",
					 "use of adapters' and switches' ports",
					 port_columns);

	for (uint32_t k = 0; k < runs->n; k++) {
		const struct eval_result *x = &runs->items[k];

		if (!is_drawn(x))
			continue;
		uint32_t *rank = ranks_of(x);

		for (uint32_t i = 0; i < x->n_ports; i++) {
			put_run(t, x);
			table_put_uint(t, i);
			table_put_text(t, x->ports[i].host ? "host" : "switch");
			table_put_uint(t, x->ports[i].node);
			table_put_uint(t, x->ports[i].number);
			table_put_real(t, 100 * x->ports[i].utilisation);
			table_put_uint(t, rank[i]);
		}
		free(rank);
	}
}

static const struct column delay_columns[] = {
	RUN_COLUMNS,
	{ "sl", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "within", "IAT", VALUE_REAL, ORIGIN_GIVEN, 5 },
	{ "share", "%", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "share +-", "%", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

/* What the number of packets leaves open of a share, at 95 %. */
static double uncertainty(double share, uint64_t n)
{
	if (share <= 0 || share >= 1)
		return 3 / (double)n; /* the rule of three */
	return 1.96 * sqrt(share * (1 - share) / (double)n);
}

static void put_delay(struct results *r, const struct eval_runs *runs)
{
	struct table *t =
		results_series(r, "delay", "packets within a part of their IAT",
			       delay_columns);

	for (uint32_t k = 0; k < runs->n; k++) {
		const struct eval_result *x = &runs->items[k];

		for (unsigned i = 0; i < N_SLS * SIM_DEADLINES; i++) {
			unsigned sl = i / SIM_DEADLINES;
			unsigned at = i % SIM_DEADLINES;
			const struct eval_shares *s = &x->sl[sl].all;
			double share = eval_within(s, at);

			if (!is_drawn(x) || s->packets == 0)
				continue;
			put_run(t, x);
			table_put_uint(t, sl);
			table_put_real(t, sim_deadlines[at] / 32.0);
			table_put_real(t, 100 * share);
			table_put_real(t, 100 * uncertainty(share, s->packets));
			table_put_uint(t, s->packets);
		}
	}
}

static const struct column jitter_columns[] = {
	RUN_COLUMNS,
	{ "sl", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "from", "IAT", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "to", "IAT", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "share", "%", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_jitter(struct results *r, const struct eval_runs *runs)
{
	struct table *t = results_series(
		r, "jitter", "jitter in eighths of the IAT", jitter_columns);

	for (uint32_t k = 0; k < runs->n; k++) {
		const struct eval_result *x = &runs->items[k];

		for (unsigned i = 0; i < N_SLS * SIM_JITTER_BINS; i++) {
			const struct eval_sl *sl = &x->sl[i / SIM_JITTER_BINS];
			unsigned bin = i % SIM_JITTER_BINS;

			if (!is_drawn(x) || sl->jitter_n == 0)
				continue;
			put_run(t, x);
			table_put_uint(t, i / SIM_JITTER_BINS);
			if (bin > 0)
				table_put_real(t, ((double)bin - 9) / 8);
			else
				table_put_none(t);
			if (bin < SIM_JITTER_BINS - 1)
				table_put_real(t, ((double)bin - 8) / 8);
			else
				table_put_none(t);
			table_put_real(t, 100 * (double)sl->jitter[bin] /
						  (double)sl->jitter_n);
		}
	}
}

static const struct column extreme_columns[] = {
	RUN_COLUMNS,
	{ "sl", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "within", "IAT", VALUE_REAL, ORIGIN_GIVEN, 5 },
	{ "best", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "worst", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "best rate", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 4 },
	{ "worst rate", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 4 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_extremes(struct results *r, const struct eval_runs *runs)
{
	struct table *t = results_series(
		r, "extremes",
		"the connections with the most and the least within IAT/2",
		extreme_columns);

	for (uint32_t k = 0; k < runs->n; k++) {
		const struct eval_result *x = &runs->items[k];

		for (unsigned i = 0; i < N_SLS * SIM_DEADLINES; i++) {
			const struct eval_sl *sl = &x->sl[i / SIM_DEADLINES];
			unsigned at = i % SIM_DEADLINES;

			if (!is_drawn(x) || sl->best.packets == 0)
				continue;
			put_run(t, x);
			table_put_uint(t, i / SIM_DEADLINES);
			table_put_real(t, sim_deadlines[at] / 32.0);
			table_put_real(t, 100 * eval_within(&sl->best, at));
			table_put_real(t, 100 * eval_within(&sl->worst, at));
			table_put_real(t, sl->best_rate / 1e6);
			table_put_real(t, sl->worst_rate / 1e6);
		}
	}
}

static const struct column level_columns[] = {
	RUN_COLUMNS,
	{ "sl", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "connections", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "latency", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "latest", "IAT", VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_levels(struct results *r, const struct eval_runs *runs)
{
	struct table *t = results_table(
		r, "levels",
		"what each SL got; its latest packet, over its IAT",
		level_columns);

	for (uint32_t k = 0; k < runs->n; k++) {
		const struct eval_result *x = &runs->items[k];

		for (unsigned sl = 0; sl < N_SLS; sl++) {
			const struct eval_sl *s = &x->sl[sl];

			if (!is_drawn(x) || s->all.packets == 0)
				continue;
			put_run(t, x);
			table_put_uint(t, sl);
			table_put_uint(t, s->connections);
			table_put_uint(t, s->all.packets);
			table_put_real(t, 1e6 * s->mean_latency);
			table_put_real(t, s->latest);
		}
	}
}

void eval_tables(struct results *r, const struct eval_runs *runs)
{
	put_runs(r, runs);
	put_levels(r, runs);
	put_delay(r, runs);
	put_extremes(r, runs);
	put_jitter(r, runs);
	put_ports(r, runs);
}
