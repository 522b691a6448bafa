/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "sim/tables_parts.h"

static const struct column deadline_columns[] = {
	{ "traffic", NULL, VALUE_TEXT },
	{ "SL", NULL, VALUE_UINT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "1/32", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "1/16", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "1/8", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "1/4", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "1/2", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "3/4", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "1", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ NULL },
};

/* Shares of packets within fractions of their flow's period. */
void findings_deadlines(const struct sim_findings *f, struct results *r)
{
	const struct scenario *s = f->build->scenario;
	const struct sim_metrics *m = f->metrics;
	struct table *t = NULL;

	for (size_t row = 0; row < s->n_traffic; row++) {
		uint64_t within[SIM_DEADLINES] = { 0 }, timed = 0;

		for (uint32_t g = 0; g < m->n_groups; g++) {
			if (m->groups[g].row != row)
				continue;
			timed += m->groups[g].timed;
			for (unsigned k = 0; k < SIM_DEADLINES; k++)
				within[k] += m->groups[g].within[k];
		}
		if (!timed)
			continue;
		if (!t)
			t = results_table(r, "deadlines",
					  "packets within a share of the gap "
					  "between a flow's packets",
					  deadline_columns);
		table_put_text(t, s->traffic[row].name);
		table_put_uint(t, scenario_sl(s, &s->traffic[row]));
		table_put_uint(t, timed);
		for (unsigned k = 0; k < SIM_DEADLINES; k++)
			table_put_real(t,
				       100 * (double)within[k] / (double)timed);
	}
}

static const struct column jitter_columns[] = {
	{ "traffic", NULL, VALUE_TEXT },
	{ "from", "IAT", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "to", "IAT", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "share", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ NULL },
};

/* Jitter bins are 1/8 of the gap wide, the outer ones have no end. */
static void put_jitter_bin(struct table *t, const char *row, unsigned bin,
			   uint64_t n, uint64_t all)
{
	bool first = bin == 0, last = bin == SIM_JITTER_BINS - 1;

	table_put_text(t, row);
	table_put_real(t, first ? NAN : ((double)bin - 9) / 8);
	table_put_real(t, last ? NAN : ((double)bin - 8) / 8);
	table_put_uint(t, n);
	table_put_real(t, 100 * (double)n / (double)all);
}

void findings_jitter(const struct sim_findings *f, struct results *r)
{
	const struct scenario *s = f->build->scenario;
	const struct sim_metrics *m = f->metrics;
	struct table *t = NULL;

	for (size_t row = 0; row < s->n_traffic; row++) {
		uint64_t bins[SIM_JITTER_BINS] = { 0 }, all = 0;

		for (uint32_t g = 0; g < m->n_groups; g++) {
			if (m->groups[g].row != row)
				continue;
			all += m->groups[g].jitter_n;
			for (unsigned k = 0; k < SIM_JITTER_BINS; k++)
				bins[k] += m->groups[g].jitter[k];
		}
		if (!all)
			continue;
		if (!t)
			t = results_table(r, "jitter",
					  "how far gaps between deliveries are "
					  "from those between packets (IAT)",
					  jitter_columns);
		for (unsigned k = 0; k < SIM_JITTER_BINS; k++)
			put_jitter_bin(t, s->traffic[row].name, k, bins[k],
				       all);
	}
}

static const struct column flow_columns[] = {
	{ "flow", NULL, VALUE_UINT },
	{ "traffic", NULL, VALUE_TEXT },
	{ "source", NULL, VALUE_TEXT },
	{ "destination", NULL, VALUE_TEXT },
	{ "SL", NULL, VALUE_UINT },
	{ "offered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "lost", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "mean", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "max", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void put_flow_ends(const struct fabric *b, uint32_t flow,
			  struct table *t)
{
	const struct sim_flow *f = &b->flows[flow];
	port_id target = b->flow_target[flow];

	table_put_text(t, b->scenario->traffic[f->row].name);
	findings_port_name(b, b->setup.nodes[f->source].first_port + 1, t);
	if (target == TOPO_NONE)
		table_put_none(t);
	else
		findings_port_name(
			b,
			b->setup.nodes[b->end_of_origin[target]].first_port + 1,
			t);
	table_put_uint(t, f->sl);
}

void findings_flows(const struct sim_findings *f, struct results *r)
{
	const struct fabric *b = f->build;
	const struct sim_metrics *m = f->metrics;
	struct table *t = results_table(r, "flows", "what became of each flow",
					flow_columns);

	for (uint32_t i = 0; i < m->n_flows && i < b->n_flows; i++) {
		const struct sim_flow_counts *c = &m->flows[i];
		const struct sim_group *g = &m->groups[c->group];

		table_put_uint(t, i);
		put_flow_ends(b, i, t);
		table_put_real(t, findings_gbps((double)findings_made(b, c, i) *
							b->flow_copies[i],
						findings_seconds(m)));
		table_put_real(
			t, findings_gbps((double)findings_delivered(b, c, i),
					 findings_seconds(m)));
		table_put_uint(t, c->delivered);
		table_put_uint(t, c->lost);
		table_put_real(t, c->delivered ? (double)c->latency_sum /
							 (double)c->delivered /
							 (double)HD_US
					       : NAN);
		if (g->flow == i)
			findings_percentile(t, &g->latency, 99);
		else
			table_put_none(t);
		if (c->delivered)
			table_put_time(t, c->latency_max);
		else
			table_put_none(t);
	}
}
