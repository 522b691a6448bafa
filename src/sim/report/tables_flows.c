/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "sim/report/report_internal.h"

struct deadline_row {
	const char *traffic;
	uint64_t sl, packets;
	double within[SIM_DEADLINES]; /* percent */
};

static const struct column deadline_columns[] = {
	{ "traffic", NULL, CELL(deadline_row, traffic) },
	{ "SL", NULL, CELL(deadline_row, sl) },
	{ "packets", NULL, CELL(deadline_row, packets), ORIGIN_SIMULATED },
	{ "1/32", "%", CELL(deadline_row, within[0]), ORIGIN_SIMULATED, 2 },
	{ "1/16", "%", CELL(deadline_row, within[1]), ORIGIN_SIMULATED, 2 },
	{ "1/8", "%", CELL(deadline_row, within[2]), ORIGIN_SIMULATED, 2 },
	{ "1/4", "%", CELL(deadline_row, within[3]), ORIGIN_SIMULATED, 2 },
	{ "1/2", "%", CELL(deadline_row, within[4]), ORIGIN_SIMULATED, 2 },
	{ "3/4", "%", CELL(deadline_row, within[5]), ORIGIN_SIMULATED, 2 },
	{ "1", "%", CELL(deadline_row, within[6]), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

/* Shares of packets that arrive within fractions of their flow's period. */
void findings_deadlines(const struct report_input *f, struct results *r)
{
	const struct scenario *s = f->fabric->scenario;
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
			t = results_table(
				r, "deadlines",
				"packets within a share of the gap between a flow's packets",
				deadline_columns);
		struct deadline_row shown = {
			.traffic = s->traffic[row].name,
			.sl = scenario_sl(s, &s->traffic[row]),
			.packets = timed,
		};

		for (unsigned k = 0; k < SIM_DEADLINES; k++)
			shown.within[k] = 100 * (double)within[k] / (double)timed;
		table_put_row(t, &shown);
	}
}

struct jitter_row {
	const char *traffic;
	double from, to;
	uint64_t packets;
	double share;
};

static const struct column jitter_columns[] = {
	{ "traffic", NULL, CELL(jitter_row, traffic) },
	{ "from", "IAT", CELL(jitter_row, from), ORIGIN_GIVEN, 3 },
	{ "to", "IAT", CELL(jitter_row, to), ORIGIN_GIVEN, 3 },
	{ "packets", NULL, CELL(jitter_row, packets), ORIGIN_SIMULATED },
	{ "share", "%", CELL(jitter_row, share), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

/* Jitter bins are 1/8 of the gap wide; the outer bins are unbounded. */
static void put_jitter_bin(struct table *t, const char *row, unsigned bin, uint64_t n, uint64_t all)
{
	bool first = bin == 0, last = bin == SIM_JITTER_BINS - 1;

	const struct jitter_row shown = {
		.traffic = row,
		.from = first ? NAN : ((double)bin - 9) / 8,
		.to = last ? NAN : ((double)bin - 8) / 8,
		.packets = n,
		.share = 100 * (double)n / (double)all,
	};

	table_put_row(t, &shown);
}

void findings_jitter(const struct report_input *f, struct results *r)
{
	const struct scenario *s = f->fabric->scenario;
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
			t = results_table(
				r, "jitter",
				"how far gaps between deliveries are from those between packets (IAT)",
				jitter_columns);
		for (unsigned k = 0; k < SIM_JITTER_BINS; k++)
			put_jitter_bin(t, s->traffic[row].name, k, bins[k], all);
	}
}

struct flow_total_row {
	uint64_t flow;
	const char *traffic, *source, *destination;
	uint64_t sl;
	double offered, delivered;
	uint64_t packets, lost;
	double mean;
	hd_time p99, max;
};

static const struct column flow_columns[] = {
	{ "flow", NULL, CELL(flow_total_row, flow) },
	{ "traffic", NULL, CELL(flow_total_row, traffic) },
	{ "source", NULL, CELL(flow_total_row, source) },
	{ "destination", NULL, CELL(flow_total_row, destination) },
	{ "SL", NULL, CELL(flow_total_row, sl) },
	{ "offered", "Gb/s", CELL(flow_total_row, offered), ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", CELL(flow_total_row, delivered), ORIGIN_SIMULATED, 3 },
	{ "packets", NULL, CELL(flow_total_row, packets), ORIGIN_SIMULATED },
	{ "lost", NULL, CELL(flow_total_row, lost), ORIGIN_SIMULATED },
	{ "mean", "us", CELL_TIME(flow_total_row, mean), ORIGIN_SIMULATED, 3 },
	{ "p99", "us", CELL_TIME(flow_total_row, p99), ORIGIN_SIMULATED, 3 },
	{ "max", "us", CELL_TIME(flow_total_row, max), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static const char *host_name(const struct fabric *fabric, uint32_t node, struct table *t)
{
	return findings_port_name(fabric, fabric->setup.nodes[node].first_port + 1, t);
}

static void put_flow(const struct report_input *f, uint32_t i, struct table *t)
{
	const struct fabric *fabric = f->fabric;
	const struct sim_metrics *m = f->metrics;
	const struct sim_flow *is = &fabric->flows[i];
	const struct sim_flow_counts *c = &m->flows[i];
	const struct sim_group *g = &m->groups[c->group];
	port_id to = fabric->flow_target[i];
	double time = findings_seconds(m);

	const struct flow_total_row row = {
		.flow = i,
		.traffic = fabric->scenario->traffic[is->row].name,
		.source = host_name(fabric, is->source, t),
		.destination =
			to == TOPO_NONE ? NULL : host_name(fabric, fabric->end_of_origin[to], t),
		.sl = is->sl,
		.offered = findings_gbps(
			(double)findings_made(fabric, c, i) * fabric->flows[i].copies, time),
		.delivered = findings_gbps((double)findings_delivered(fabric, c, i), time),
		.packets = c->delivered,
		.lost = c->lost,
		.mean = c->delivered ? (double)c->latency_sum / (double)c->delivered : NAN,
		.p99 = g->flow == i ? findings_percentile(&g->latency, 99) : HD_TIME_NEVER,
		.max = c->delivered ? c->latency_max : HD_TIME_NEVER,
	};

	table_put_row(t, &row);
}

void findings_flows(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	const struct sim_metrics *m = f->metrics;
	struct table *t = results_table(r, "flows", "what became of each flow", flow_columns);

	for (uint32_t i = 0; i < m->n_flows && i < fabric->n_flows; i++)
		put_flow(f, i, t);
}
