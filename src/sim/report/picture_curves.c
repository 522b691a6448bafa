/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/tables/shares.h"
#include "sim/report/picture.h"
#include "sim/report/report_internal.h"

#define BINS        40
#define SHARE_LINKS 6 /* number of busiest links with VL shares */

struct percentile_row {
	double percentile;
	const char *traffic;
	hd_time latency;
};

static const struct column percentile_columns[] = {
	{ "percentile", "%", CELL(percentile_row, percentile), ORIGIN_GIVEN, 3 },
	{ "traffic", NULL, CELL(percentile_row, traffic) },
	{ "latency", "us", CELL_TIME(percentile_row, latency), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

/* A row with too few packets for a percentile ends before it. */
static void percentiles(const struct report_input *f, struct results *r)
{
	static const double at[] = { 0,  1,  5,  10, 20,   30,   40,   50,    60,    70,     80,
				     90, 95, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.99, 99.999, 100 };
	const struct scenario *s = f->fabric->scenario;
	struct report_row *rows = report_rows(f->fabric, f->metrics);
	struct table *t = results_series(r, "latency percentiles",
					 "share of packets that are delivered within a latency",
					 percentile_columns);

	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct histogram *h = &rows[i].latency;

		for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
			if (h->n == 0 || (at[k] < 100 && (double)h->n * (100 - at[k]) < 100))
				continue;
			const struct percentile_row shown = {
				.percentile = at[k],
				.traffic = s->traffic[i].name,
				.latency = histogram_percentile(h, at[k]),
			};

			table_put_row(t, &shown);
		}
	}
	report_rows_free(rows, s->n_traffic);
}

struct delay_row {
	uint64_t sl;
	double from, to;
	uint64_t packets;
	double share;
};

static const struct column delay_columns[] = {
	{ "SL", NULL, CELL(delay_row, sl) },
	{ "from", "us", CELL(delay_row, from), ORIGIN_GIVEN, 3 },
	{ "to", "us", CELL(delay_row, to), ORIGIN_GIVEN, 3 },
	{ "packets", NULL, CELL(delay_row, packets), ORIGIN_SIMULATED },
	{ "share", "%", CELL(delay_row, share), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

/* Geometric bins that all SLs share. */
static void put_delays(struct table *t, unsigned sl, const struct histogram *h, double low,
		       double factor)
{
	uint64_t counts[BINS] = { 0 };
	struct histogram_bucket b;
	unsigned at = 0;

	while (histogram_next(h, &at, &b)) {
		double middle = ((double)b.low + (double)b.high) / 2;
		double bin = log(fmax(middle, low) / low) / log(factor);

		counts[bin < BINS - 1 ? (unsigned)bin : BINS - 1] += b.n;
	}
	for (unsigned i = 0; i < BINS; i++) {
		if (!counts[i])
			continue;
		const struct delay_row row = {
			.sl = sl,
			.from = low * pow(factor, i) / (double)HD_US,
			.to = low * pow(factor, i + 1) / (double)HD_US,
			.packets = counts[i],
			.share = 100 * (double)counts[i] / (double)h->n,
		};

		table_put_row(t, &row);
	}
}

static void delays(const struct report_input *f, struct results *r)
{
	const struct histogram *all = &f->metrics->latency;

	if (!all->n)
		return;
	double low = fmax((double)all->min, 1);
	double factor = pow(fmax((double)all->max / low, 1.01), 1.0 / BINS);
	struct table *t = results_table(r, "delay histogram", "latencies of the packets of each SL",
					delay_columns);

	for (unsigned sl = 0; sl < N_SLS; sl++)
		put_delays(t, sl, &f->metrics->latency_sl[sl], low, factor);
}

struct share_row {
	const char *port;
	uint64_t vl;
	double throughput, promised, share;
};

static const struct column share_columns[] = {
	{ "port", NULL, CELL(share_row, port) },
	{ "VL", NULL, CELL(share_row, vl) },
	{ "throughput", "Gb/s", CELL(share_row, throughput), ORIGIN_SIMULATED, 3 },
	{ "promised", "%", CELL(share_row, promised), ORIGIN_COMPUTED, 1 },
	{ "share", "%", CELL(share_row, share), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

/*
 * VLs with packets share by the low table what the high table leaves. A VL of the high table may
 * get all it requests.
 */
static void promise(const struct vlarb *arb, const struct sim_counters *c,
		    double promised[N_DATA_VLS])
{
	struct vlarb_entry low[VLARB_MAX];
	struct shares_vl vls[N_DATA_VLS];
	bool is_high[N_DATA_VLS] = { false };
	double left = 1;
	unsigned n = 0;

	for (unsigned i = 0; i < arb->n_high; i++) {
		if (arb->high[i].weight)
			is_high[arb->high[i].vl % N_DATA_VLS] = true;
	}
	for (unsigned i = 0; i < arb->n_low; i++) {
		unsigned vl = arb->low[i].vl % N_DATA_VLS;

		if (c->xmit_packets_vl[vl] && !is_high[vl])
			low[n++] = arb->low[i];
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		uint64_t packets = c->xmit_packets_vl[vl];

		vls[vl] = shares_vl_of(packets ? (uint32_t)(c->xmit_bytes_vl[vl] / packets) : 64);
		if (is_high[vl])
			left -= (double)c->xmit_bytes_vl[vl] / (double)c->xmit_bytes;
	}
	shares_achieved(low, n, vls, promised);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		promised[vl] = is_high[vl] ? NAN : left * promised[vl];
}

static void put_shares(const struct report_input *f, uint32_t port, struct table *t)
{
	const struct fabric *fabric = f->fabric;
	double promised[N_DATA_VLS];
	struct sim_counters c;

	sim_port_counters(f->metrics, port, &c);
	promise(vlarb_of(&fabric->subnet, fabric->setup.ports[port].origin), &c, promised);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (!c.xmit_packets_vl[vl])
			continue;
		const struct share_row row = {
			.port = findings_port_name(fabric, port, t),
			.vl = vl,
			.throughput = findings_gbps((double)c.xmit_bytes_vl[vl],
						    findings_seconds(f->metrics)),
			.promised = 100 * promised[vl],
			.share = 100 * (double)c.xmit_bytes_vl[vl] / (double)c.xmit_bytes,
		};

		table_put_row(t, &row);
	}
}

/* Whether more than one VL has traffic anywhere. */
static bool vls_compete(const struct sim_metrics *m)
{
	for (uint32_t i = 0; i < m->n_ports; i++) {
		struct sim_counters c;
		unsigned used = 0;

		sim_port_counters(m, i, &c);
		for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
			used += c.xmit_packets_vl[vl] > 0;
		if (used > 1)
			return true;
	}
	return false;
}

static void vl_shares(const struct report_input *f, struct results *r)
{
	const struct sim_setup *s = &f->fabric->setup;

	if (!vls_compete(f->metrics))
		return;
	bool *shown = hd_alloc(s->n_ports + 1, sizeof(*shown));
	struct table *t = results_table(
		r, "VL shares",
		"the busiest links: what each VL in use is promised under full load, and what it got",
		share_columns);

	for (unsigned k = 0; k < SHARE_LINKS; k++) {
		uint32_t best = SIM_NONE;

		for (uint32_t i = 0; i < s->n_ports; i++) {
			const struct sim_port_use *use = f->metrics->ports;
			struct sim_counters c;

			sim_port_counters(f->metrics, i, &c);
			if (s->ports[i].peer != SIM_NONE && !shown[i] && c.xmit_bytes &&
			    (best == SIM_NONE || use[i].utilisation > use[best].utilisation))
				best = i;
		}
		if (best == SIM_NONE)
			break;
		shown[best] = true;
		put_shares(f, best, t);
	}
	free(shown);
}

void report_picture_curves(const struct report_input *f, struct results *r)
{
	percentiles(f, r);
	delays(f, r);
	vl_shares(f, r);
}
