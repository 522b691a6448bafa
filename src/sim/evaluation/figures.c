/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/evaluation/figures.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* ---- Table 1 ------------------------------------------------------------- */

static const struct column frame_columns[] = {
	{ "width", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "rate", "Gb/s", VALUE_REAL, ORIGIN_GIVEN, 1 },
	{ "frame", "ms", VALUE_REAL, ORIGIN_COMPUTED, 6 },
	{ "published", "ms", VALUE_REAL, ORIGIN_PUBLISHED, 6 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

void figures_frames(struct results *r)
{
	static const struct {
		uint32_t width;
		double published;
	} rows[] = { { 1, 3.342336 }, { 4, 0.835584 }, { 12, 0.278528 } };
	struct table *t = results_table(r, "frames",
					"how long 16,320 slots take (Table 1)",
					frame_columns);

	for (unsigned i = 0; i < 3; i++) {
		struct hd_rate rate =
			hd_rate_make(UINT64_C(2500000000) * rows[i].width, 1);

		table_put_textf(t, "%ux", rows[i].width);
		table_put_real(t, 2.5 * rows[i].width);
		table_put_time(t, slots_frame_time(rate));
		table_put_real(t, rows[i].published);
	}
}

/* ---- Tables 2, 3, 4 ------------------------------------------------------ */

/* Established: irregular 256, 4096; hypercube; mesh. */
struct tried_row {
	uint32_t tried;
	uint32_t established[2 * N_EVAL_SHAPES];
};

static const struct tried_row table2[] = {
	{ 256, { 256, 256, 256, 256, 256, 256 } },
	{ 512, { 512, 512, 512, 512, 512, 512 } },
	{ 1024, { 1024, 1024, 1024, 1024, 1024, 1024 } },
	{ 1536, { 1536, 1536, 1536, 1536, 1536, 1536 } },
	{ 2048, { 2048, 2048, 2048, 2048, 2048, 2048 } },
	{ 2560, { 2560, 2560, 2560, 2560, 2518, 2560 } },
	{ 2816, { 2623, 2631, 2598, 2679, 2518, 2598 } },
	{ 3072, { 2623, 2631, 2598, 2679, 2518, 2598 } },
};
static const struct tried_row table3[] = {
	{ 1500, { 1500, 1500, 1500, 1500, 1500, 1500 } },
	{ 3000, { 3000, 3000, 3000, 3000, 3000, 3000 } },
	{ 4500, { 4500, 4500, 4500, 4500, 4500, 4500 } },
	{ 6000, { 6000, 6000, 6000, 6000, 6000, 6000 } },
	{ 7500, { 7500, 7500, 7500, 7500, 7500, 7500 } },
	{ 9000, { 9000, 9000, 9000, 9000, 9000, 9000 } },
	{ 10500, { 10500, 10500, 10500, 10500, 10500, 10500 } },
	{ 12000, { 11005, 11103, 11024, 11134, 10968, 11064 } },
};
/* The last row is printed one column to the left of where it belongs. */
static const struct tried_row table4[] = {
	{ 5000, { 5000, 5000, 5000, 5000, 5000, 5000 } },
	{ 10000, { 10000, 10000, 10000, 10000, 10000, 10000 } },
	{ 15000, { 15000, 15000, 15000, 15000, 15000, 15000 } },
	{ 20000, { 20000, 20000, 20000, 20000, 20000, 20000 } },
	{ 25000, { 25000, 25000, 25000, 25000, 25000, 25000 } },
	{ 30000, { 30000, 30000, 30000, 30000, 30000, 30000 } },
	{ 35000, { 31567, 31664, 32371, 32476, 31347, 31694 } },
};

struct tried_table {
	const struct tried_row *rows;
	uint32_t n;
	unsigned number; /* in the paper */
};

static struct tried_table tried_table(uint32_t width)
{
	switch (width) {
	case 1:
		return (struct tried_table){ table2, 8, 2 };
	case 4:
		return (struct tried_table){ table3, 8, 3 };
	default:
		return (struct tried_table){ table4, 7, 4 };
	}
}

uint32_t figures_tried(uint32_t width, uint32_t out[FIGURES_MOST_TRIED])
{
	struct tried_table t = tried_table(width);

	for (uint32_t i = 0; i < t.n; i++)
		out[i] = t.rows[i].tried;
	return t.n;
}

static const struct column connection_columns[] = {
	{ "table", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "width", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "topology", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "size", "B", VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "tried", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "established", NULL, VALUE_REAL, ORIGIN_COMPUTED, 0 },
	{ "published", NULL, VALUE_UINT, ORIGIN_PUBLISHED, 0 },
	{ "deviation", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "strict", NULL, VALUE_REAL, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

/* The mean over seeds: a single fabric scatters by some percent. */
#define TABLE_SEEDS 4

static enum hd_status mean_established(struct eval_plan plan, struct diag *d,
				       double *mean)
{
	uint64_t first = plan.seed;

	plan.establish_only = true;
	*mean = 0;
	for (uint64_t i = 0; i < TABLE_SEEDS; i++) {
		struct eval_result one;

		plan.seed = first + i;
		enum hd_status status = eval_run(&plan, NULL, NULL, d, &one);

		if (status != HD_OK)
			return status;
		*mean += (double)one.established.established / TABLE_SEEDS;
		eval_result_fini(&one);
	}
	return HD_OK;
}

enum hd_status figures_connections_add(struct figures_connections *c,
				       struct results *r,
				       const struct eval_plan *like,
				       struct diag *d)
{
	struct tried_table rows = tried_table(like->width);
	unsigned column = 2 * like->shape + (like->payload != 256);
	enum hd_status status = HD_OK;

	if (!c->table)
		c->table = results_table(
			r, "connections",
			"established of those tried (Tables 2, 3, 4)",
			connection_columns);
	for (uint32_t i = 0; i < rows.n && status == HD_OK; i++) {
		struct eval_plan plan = *like, strict = *like;
		double ours, beside = 0;
		double theirs = rows.rows[i].established[column];

		plan.tried = strict.tried = rows.rows[i].tried;
		plan.fill = FILL_PAPER;
		strict.fill = FILL_STRICT;
		status = mean_established(plan, d, &ours);
		if (status == HD_OK)
			status = mean_established(strict, d, &beside);
		if (status != HD_OK)
			break;
		double off = ours / theirs - 1;

		table_put_uint(c->table, rows.number);
		table_put_textf(c->table, "%ux", like->width);
		table_put_text(c->table, eval_shape_names[like->shape]);
		table_put_uint(c->table, like->payload);
		table_put_uint(c->table, plan.tried);
		table_put_real(c->table, ours);
		table_put_uint(c->table, (uint64_t)theirs);
		table_put_real(c->table, 100 * off);
		table_put_real(c->table, beside);
		if (i + 1 == rows.n && fabs(off) > fabs(c->worst))
			c->worst = off;
	}
	return status;
}

/* ---- figures ------------------------------------------------------------- */

#define RUN_COLUMNS                                                \
	{ "width", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },            \
		{ "topology", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 }, \
		{ "switches", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 }, \
	{                                                          \
		"size", "B", VALUE_UINT, ORIGIN_GIVEN, 0           \
	}

static void put_run(struct table *t, const struct eval_result *r)
{
	table_put_textf(t, "%ux", r->plan.width);
	table_put_text(t, eval_shape_names[r->plan.shape]);
	table_put_uint(t, r->plan.switches);
	table_put_uint(t, r->plan.payload);
}

static const struct column run_columns[] = {
	RUN_COLUMNS,
	{ "tried", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "established", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "reserved", NULL, VALUE_REAL, ORIGIN_COMPUTED, 4 },
	{ "offered", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "delivered", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "published", NULL, VALUE_REAL, ORIGIN_PUBLISHED, 4 },
	{ "hosts use", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "switches use", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "most", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "latency", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "latency +-", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "measured", "ms", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "hops", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "complete", NULL, VALUE_BOOL, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_runs(struct results *r, const struct figures_runs *runs)
{
	struct table *t = results_table(
		r, "runs",
		"bytes per cycle and host, headers included (Figures 4, 13, 22)",
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
		table_put_real(t, x->reserved);
		table_put_real(t, x->offered);
		table_put_real(t, x->delivered);
		if (full && x->plan.width == 1)
			table_put_real(t,
				       x->plan.payload == 256 ? 0.769 : 0.757);
		else
			table_put_none(t);
		table_put_real(t, 100 * x->host_use);
		table_put_real(t, 100 * x->switch_use);
		table_put_real(t, 100 * x->most_use);
		table_put_real(t, 1e6 * x->latency.mean);
		table_put_real(t, 1e6 * x->latency.half_width);
		table_put_time(t, x->measured);
		table_put_uint(t, x->delivered_packets);
		table_put_uint(t, x->hops);
		table_put_bool(t, x->complete);
	}
}

static bool is_drawn(const struct eval_result *r)
{
	return r->plan.tried == UINT32_MAX && r->delivered_packets > 0;
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

static void put_ports(struct results *r, const struct figures_runs *runs)
{
	struct table *t = results_series(
		r, "ports",
		"use of adapters' and switches' ports (Figures 5-7, 14-16, 23-25)",
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

static void put_delay(struct results *r, const struct figures_runs *runs)
{
	struct table *t = results_series(
		r, "delay",
		"packets within a part of their IAT (Figures 8, 17, 26)",
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

static void put_jitter(struct results *r, const struct figures_runs *runs)
{
	struct table *t = results_series(
		r, "jitter", "jitter in eighths of the IAT (Figures 9, 18, 27)",
		jitter_columns);

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

static void put_extremes(struct results *r, const struct figures_runs *runs)
{
	struct table *t = results_series(
		r, "extremes",
		"best and worst connection at IAT/2 (Figures 10-12, 19-21, 28-30)",
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

/* ---- claims -------------------------------------------------------------- */

static const struct {
	const char *words, *judged;
} claims[N_FIGURES_CLAIMS] = {
	[CLAIM_SLOW_WITHIN_32ND] = { "SL 0 and 1 arrive within IAT/32",
				     "least share within, of 99.95 %" },
	[CLAIM_ALL_WITHIN_3_4] = { "all packets arrive within 3/4 IAT",
				   "least share within, of 99.95 %" },
	[CLAIM_SLOW_JITTER] = { "jitter of SL 0 and 1 within +-IAT/8",
				"least share within, of 99.95 %" },
	[CLAIM_FAST_JITTER_WITHIN] = { "jitter of SL 2 and 3 within +-IAT",
				       "least share within, of 99.95 %" },
	[CLAIM_FAST_JITTER_BELL] = { "jitter of SL 2 and 3 is bell-shaped",
				     "largest dent in deviations, at most 3" },
	[CLAIM_WORST_WITHIN_IAT] = { "even the worst connection stays under "
				     "one IAT",
				     "latest packet over its IAT" },
	[CLAIM_WORST_NEAR_BEST] = { "worst connection of an SL is close to the "
				    "best",
				    "largest gap at IAT/2, at most 0.10" },
	[CLAIM_LOAD] = { "0.769 (256 B) and 0.757 (4096 B) are delivered",
			 "largest deviation, at most 5 %" },
	[CLAIM_SMALL_ABOVE_LARGE] = { "small packets deliver more than large "
				      "ones",
				      "least difference in load" },
	[CLAIM_NOT_FLAT] = { "delivered load does not flatten",
			     "least delivered of reserved, of 0.98" },
	[CLAIM_USE_NEAR_80] = { "mean utilisation is near 80 %",
				"least mean, of 0.72" },
	[CLAIM_SOME_ABOVE_80] = { "some ports are used above 80 %",
				  "use of the busiest" },
	[CLAIM_SAME_TENDENCY] = { "other sizes show the same tendency as 16 "
				  "switches",
				  "claims judged otherwise, or load off by 5 "
				  "%" },
	[CLAIM_NOTHING_LOST] = { "a lossless fabric loses nothing",
				 "packets lost" },
};

static const struct column claim_columns[] = {
	{ "claim", NULL, VALUE_TEXT, ORIGIN_PUBLISHED, 0 },
	{ "cases", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "hold", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "judged by", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "worst", NULL, VALUE_REAL, ORIGIN_SIMULATED, 5 },
	{ "at", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "verdict", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_claim(struct table *t, const struct figures_verdict *v,
		      enum figures_claim claim)
{
	table_put_text(t, claims[claim].words);
	table_put_uint(t, v->cases);
	table_put_uint(t, v->holds);
	table_put_text(t, claims[claim].judged);
	if (v->at) {
		const struct eval_plan *p = &v->at->plan;

		table_put_real(t, v->worst);
		table_put_textf(t, "%s %u, %ux, %u B",
				eval_shape_names[p->shape], p->switches,
				p->width, p->payload);
	} else {
		table_put_none(t);
		table_put_none(t);
	}
	if (v->cases == 0)
		table_put_text(t, "not tried");
	else if (v->holds == v->cases)
		table_put_text(t, "holds");
	else
		table_put_text(t, v->holds ? "holds in some cases"
					   : "does not hold");
}

static void put_claims(struct results *r, const struct figures_runs *runs)
{
	struct table *t = results_table(
		r, "claims", "what the paper says, over all runs above",
		claim_columns);

	for (unsigned i = 0; i < N_FIGURES_CLAIMS; i++) {
		struct figures_verdict v =
			figures_judge(runs, (enum figures_claim)i);

		put_claim(t, &v, (enum figures_claim)i);
	}
}

void figures_add(struct results *r, const struct figures_runs *runs)
{
	put_runs(r, runs);
	put_claims(r, runs);
	put_delay(r, runs);
	put_extremes(r, runs);
	put_jitter(r, runs);
	put_ports(r, runs);
}
