/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/congestion/summary.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "measure/fairness.h"

/* The goodput that counts as settled: this far from the mean at most. */
#define NEAR       0.25
#define SMOOTH     (CONGESTION_SAMPLES / 10)
#define N_INTERVAL (CONGESTION_SAMPLES)

uint32_t congestion_path(const struct sim_setup *s, const struct congestion_flow *flow,
			 uint32_t ports[CONGESTION_LONGEST])
{
	uint32_t port = s->nodes[flow->source].first_port + 1, n = 0;

	while (n < CONGESTION_LONGEST) {
		ports[n++] = port;
		const struct sim_node *node = &s->nodes[s->ports[s->ports[port].peer].node];

		if (node->kind != SIM_SWITCH)
			break;
		unsigned out = lft_get(s->subnet, node->sw, flow->dlid);

		if (out > node->n_ports || s->ports[node->first_port + out].peer == SIM_NONE)
			break;
		port = node->first_port + out;
	}
	return n;
}

static double bits_of(const struct congestion_flow *f, double packets)
{
	return packets * 8 * f->bytes;
}

/* What rows other than `row` send over each port, and how many of its own. */
struct loads {
	double *others;
	uint32_t *own;
};

static void load_ports(const struct fabric *b, const struct congestion_flow *flows,
		       const struct congestion_result *r, uint32_t row, struct loads *l)
{
	uint32_t path[CONGESTION_LONGEST];

	for (uint32_t i = 0; i < b->setup.n_ports; i++) {
		l->others[i] = 0;
		l->own[i] = 0;
	}
	for (uint32_t f = 0; f < r->n_flows; f++) {
		uint32_t n = congestion_path(&b->setup, &flows[f], path);

		for (uint32_t k = 0; k < n; k++) {
			if (flows[f].row == row)
				l->own[path[k]]++;
			else
				l->others[path[k]] += bits_of(&flows[f], r->flows[f].goodput);
		}
	}
}

static double possible_of(const struct fabric *b, const struct congestion_flow *flow,
			  const struct loads *l)
{
	uint32_t path[CONGESTION_LONGEST];
	uint32_t n = congestion_path(&b->setup, flow, path);
	double least = INFINITY;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t port = path[k];
		double left = hd_rate_bps(b->setup.ports[port].rate) - l->others[port];

		least = fmin(least, fmax(left, 0) / l->own[port]);
	}
	return least;
}

static void sum_flows(const struct fabric *b, const struct congestion_flow *flows,
		      const struct congestion_result *r, uint32_t row, struct congestion_row *out)
{
	struct loads l = {
		.others = hd_alloc(b->setup.n_ports, sizeof(double)),
		.own = hd_alloc(b->setup.n_ports, sizeof(uint32_t)),
	};
	double *goodput = hd_alloc(r->n_flows, sizeof(*goodput));

	load_ports(b, flows, r, row, &l);
	for (uint32_t f = 0; f < r->n_flows; f++) {
		const struct congestion_outcome *o = &r->flows[f];

		if (flows[f].row != row)
			continue;
		goodput[out->flows++] = bits_of(&flows[f], o->goodput);
		out->goodput += bits_of(&flows[f], o->goodput);
		out->rate += bits_of(&flows[f], o->rate);
		out->marks += o->marks;
		out->balance += o->marked_time < 0.5 ? o->marks / (1 - o->marked_time) : NAN;
		out->possible += possible_of(b, &flows[f], &l);
	}
	out->marks /= out->flows;
	out->balance /= out->flows;
	out->fairness = jain_index(goodput, out->flows);
	free(goodput);
	free(l.others);
	free(l.own);
}

/* ---- over time --------------------------------------------------------- */

/* Bits that a row had received by each sample. */
static uint32_t row_series(const struct congestion_flow *flows, const struct congestion_result *r,
			   uint32_t row, hd_time *times, double *bits)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct congestion_sample *s = &r->samples[i];

		if (s->flow == 0) {
			if (n > N_INTERVAL)
				break;
			times[n] = s->time;
			bits[n++] = 0;
		}
		if (n > 0 && flows[s->flow].row == row)
			bits[n - 1] += bits_of(&flows[s->flow], (double)s->delivered);
	}
	return n;
}

static double slope(const hd_time *times, const double *bits, uint32_t from, uint32_t to)
{
	return (bits[to] - bits[from]) / ((double)(times[to] - times[from]) / (double)HD_S);
}

static void over_time(const struct congestion_flow *flows, const struct congestion_params *params,
		      const struct congestion_result *r, uint32_t row, struct congestion_row *out)
{
	hd_time times[N_INTERVAL + 1];
	double bits[N_INTERVAL + 1] = { 0 };
	uint32_t n = row_series(flows, r, row, times, bits), settled = 0;
	double squares = 0, parts = 0;

	for (uint32_t i = 0; i + SMOOTH < n; i++) {
		double off = slope(times, bits, i, i + SMOOTH) - out->goodput;

		if (fabs(off) > NEAR * out->goodput)
			settled = i + 1;
	}
	out->settled = settled + SMOOTH < n ? (double)times[settled] / (double)HD_S : NAN;
	for (uint32_t i = 0; i + 1 < n; i++) {
		if (times[i] < params->warmup)
			continue;
		double off = slope(times, bits, i, i + 1) - out->goodput;

		squares += off * off;
		parts++;
	}
	out->oscillation =
		parts > 0 && out->goodput > 0 ? sqrt(squares / parts) / out->goodput : NAN;
}

void congestion_summarise(const struct fabric *b, const struct congestion_flow *flows,
			  const struct congestion_params *params, const struct congestion_result *r,
			  struct congestion_row **out)
{
	size_t n = b->scenario->n_traffic;
	struct congestion_row *rows = hd_alloc(n, sizeof(*rows));

	for (uint32_t i = 0; i < n; i++) {
		sum_flows(b, flows, r, i, &rows[i]);
		over_time(flows, params, r, i, &rows[i]);
	}
	*out = rows;
}
