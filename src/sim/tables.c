/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "measure/fairness.h"

#define BUSIEST 10

static double seconds(const struct sim_metrics *m)
{
	return (double)(m->to - m->from) / (double)HD_S;
}

static double gbps(double bytes, double time)
{
	return time > 0 ? bytes * 8 / time / 1e9 : 0;
}

static uint64_t payload_of(uint64_t bytes, uint64_t packets, uint64_t overhead)
{
	return bytes - packets * overhead;
}

void sim_flow_name(const struct sim_build *b, uint32_t flow, struct strbuf *out)
{
	const struct sim_flow *f = &b->flows[flow];
	uint32_t port = b->setup.nodes[f->source].first_port + 1;

	strbuf_printf(out, "%s ", b->scenario->traffic[f->row].name);
	sim_build_port_name(b, port, out);
	if (b->flow_target[flow] != TOPO_NONE) {
		uint32_t to = b->end_of_origin[b->flow_target[flow]];

		strbuf_puts(out, " -> ");
		sim_build_port_name(b, b->setup.nodes[to].first_port + 1, out);
	} else if (f->to.list && f->to.list[0].dlid >= LID_FIRST_MCAST) {
		strbuf_printf(out, " -> %s",
			      b->scenario->traffic[f->row].group);
	}
}

static void count_flows(const struct sim_build *b, const struct sim_metrics *m,
			struct sim_row *rows)
{
	uint64_t overhead = b->scenario->fabric.overhead;

	for (uint32_t i = 0; i < m->n_flows && i < b->n_flows; i++) {
		const struct sim_flow_counts *c = &m->flows[i];
		struct sim_row *row = &rows[b->flows[i].row];
		uint64_t copies = b->flow_copies[i];

		row->n_flows++;
		row->made += c->made;
		row->expected += c->made * copies;
		row->delivered += c->delivered;
		row->lost += c->lost;
		row->made_payload +=
			payload_of(c->made_bytes, c->made, overhead) * copies;
		row->delivered_payload +=
			payload_of(c->delivered_bytes, c->delivered, overhead);
	}
}

/* Jain's index over the bytes that the flows of each row delivered. */
static void rate_fairness(const struct sim_build *b,
			  const struct sim_metrics *m, struct sim_row *rows)
{
	double *shares = hd_alloc(b->n_flows, sizeof(*shares));

	for (size_t r = 0; r < b->scenario->n_traffic; r++) {
		size_t n = 0;

		for (uint32_t i = 0; i < m->n_flows && i < b->n_flows; i++) {
			if (b->flows[i].row == r)
				shares[n++] =
					(double)m->flows[i].delivered_bytes /
					b->flow_copies[i];
		}
		rows[r].jain = jain_index(shares, n);
	}
	free(shares);
}

struct sim_row *sim_rows(const struct sim_build *b, const struct sim_metrics *m)
{
	size_t n = b->scenario->n_traffic;
	struct sim_row *rows = hd_alloc(n, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		histogram_init(&rows[i].latency);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		if (m->groups[i].row < n)
			histogram_merge(&rows[m->groups[i].row].latency,
					&m->groups[i].latency);
	}
	count_flows(b, m, rows);
	rate_fairness(b, m, rows);
	return rows;
}

void sim_rows_free(struct sim_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		histogram_fini(&rows[i].latency);
	free(rows);
}

/* A percentile, or nothing if there was no packet. */
static void put_percentile(struct table *t, const struct histogram *h,
			   double percent)
{
	if (h->n)
		table_put_time(t, histogram_percentile(h, percent));
	else
		table_put_none(t);
}

static void put_mean(struct table *t, const struct histogram *h)
{
	if (h->n)
		table_put_real(t, histogram_mean(h) / (double)HD_US);
	else
		table_put_none(t);
}

static const struct column fabric_columns[] = {
	{ "hosts", NULL, VALUE_UINT },
	{ "switches", NULL, VALUE_UINT },
	{ "cables", NULL, VALUE_UINT },
	{ "routing", NULL, VALUE_TEXT },
	{ "lanes", NULL, VALUE_UINT },
	{ "flows", NULL, VALUE_UINT },
	{ NULL },
};

static void fabric_table(const struct sim_findings *f, struct results *r)
{
	const struct sim_build *b = f->build;
	uint64_t ends = 0, switches = 0, plugged = 0;

	for (uint32_t i = 0; i < b->setup.n_nodes; i++) {
		ends += b->setup.nodes[i].kind == SIM_END;
		switches += b->setup.nodes[i].kind == SIM_SWITCH;
	}
	for (port_id p = 0; p < b->topo.n_ports; p++)
		plugged += b->topo.ports[p].peer != TOPO_NONE;
	struct table *t = results_record(r, "fabric", "what was simulated",
					 fabric_columns);

	table_put_uint(t, ends);
	table_put_uint(t, switches);
	table_put_uint(t, plugged / 2);
	table_put_text(t, b->subnet.engine ? b->subnet.engine : "none");
	table_put_uint(t, b->scenario->qos.lanes);
	table_put_uint(t, b->n_flows);
}

static const struct column summary_columns[] = {
	{ "measured", "us", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "offered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "lost", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "latency mean", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "latency +-", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "latency p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "latency max", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "host links used", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "switch links used", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "busiest link used", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "packet-hops", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ NULL },
};

/* Mean use of what hosts send on and of links between switches, and most. */
struct link_use {
	double host, trunk, most;
};

static struct link_use measure_links(const struct sim_findings *f)
{
	const struct sim_setup *s = &f->build->setup;
	struct link_use use = { 0, 0, 0 };
	uint32_t hosts = 0, trunks = 0;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer == SIM_NONE)
			continue;
		double share = f->metrics->ports[i].utilisation;
		uint32_t far = s->ports[s->ports[i].peer].node;

		if (share > use.most)
			use.most = share;
		if (s->nodes[s->ports[i].node].kind == SIM_END) {
			use.host += share;
			hosts++;
		} else if (s->nodes[far].kind != SIM_END) {
			use.trunk += share;
			trunks++;
		}
	}
	use.host = hosts ? use.host / hosts : NAN;
	use.trunk = trunks ? use.trunk / trunks : NAN;
	return use;
}

static uint64_t all_lost(const struct sim_metrics *m)
{
	uint64_t lost = 0;

	for (unsigned i = SIM_DELIVERED + 1; i <= SIM_LOST_VL15; i++)
		lost += m->lost[i];
	return lost;
}

static void summary_table(const struct sim_findings *f,
			  const struct sim_row *rows, struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	struct table *t = results_record(r, "summary", "the run as a whole",
					 summary_columns);
	struct link_use use = measure_links(f);
	double offered = 0, delivered = 0;

	for (size_t i = 0; i < f->build->scenario->n_traffic; i++) {
		offered += (double)rows[i].made_payload;
		delivered += (double)rows[i].delivered_payload;
	}
	table_put_time(t, m->to - m->from);
	table_put_real(t, gbps(offered, seconds(m)));
	table_put_real(t, gbps(delivered, seconds(m)));
	table_put_uint(t, m->delivered);
	table_put_uint(t, all_lost(m));
	put_mean(t, &m->latency);
	if (m->latency.n && isfinite(m->mean_latency.half_width))
		table_put_real(t, m->mean_latency.half_width / (double)HD_US);
	else
		table_put_none(t);
	put_percentile(t, &m->latency, 99);
	put_percentile(t, &m->latency, 100);
	table_put_real(t, use.host * 100);
	table_put_real(t, use.trunk * 100);
	table_put_real(t, use.most * 100);
	table_put_uint(t, m->hops);
}

static const struct column traffic_columns[] = {
	{ "traffic", NULL, VALUE_TEXT },
	{ "SL", NULL, VALUE_UINT },
	{ "flows", NULL, VALUE_UINT },
	{ "offered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "lost", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "mean", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p50", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99.9", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "max", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "fairness", NULL, VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void traffic_table(const struct sim_findings *f,
			  const struct sim_row *rows, struct results *r)
{
	const struct scenario *s = f->build->scenario;
	double time = seconds(f->metrics);
	struct table *t = results_table(
		r, "traffic",
		"payload rates and latencies of the scenario's traffic",
		traffic_columns);

	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct sim_row *row = &rows[i];

		table_put_text(t, s->traffic[i].name);
		table_put_uint(t, scenario_sl(s, &s->traffic[i]));
		table_put_uint(t, row->n_flows);
		table_put_real(t, gbps((double)row->made_payload, time));
		table_put_real(t, gbps((double)row->delivered_payload, time));
		table_put_uint(t, row->delivered);
		table_put_uint(t, row->lost);
		put_mean(t, &row->latency);
		put_percentile(t, &row->latency, 50);
		put_percentile(t, &row->latency, 99);
		put_percentile(t, &row->latency, 99.9);
		put_percentile(t, &row->latency, 100);
		table_put_real(t, row->jain);
	}
}

static const struct column sl_columns[] = {
	{ "SL", NULL, VALUE_UINT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "mean", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p50", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99.9", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "max", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void sl_table(const struct sim_findings *f, struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	unsigned used = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		used += m->latency_sl[sl].n > 0;
	if (used == f->build->scenario->n_traffic && !f->all)
		return; /* it would say what the traffic table says */
	struct table *t = results_table(r, "service levels",
					"latencies of each SL", sl_columns);

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		const struct histogram *h = &m->latency_sl[sl];

		if (!h->n)
			continue;
		table_put_uint(t, sl);
		table_put_uint(t, h->n);
		put_mean(t, h);
		put_percentile(t, h, 50);
		put_percentile(t, h, 99);
		put_percentile(t, h, 99.9);
		put_percentile(t, h, 100);
	}
}

static const struct column port_columns[] = {
	{ "port", NULL, VALUE_TEXT },
	{ "to", NULL, VALUE_TEXT },
	{ "rate", "Gb/s", VALUE_REAL, ORIGIN_GIVEN, 1 },
	{ "used", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "far queue", "KiB", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "most", "KiB", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "discards", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ NULL },
};

static void put_port_name(const struct sim_build *b, uint32_t port,
			  struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	sim_build_port_name(b, port, &name);
	table_put_text(t, name.text);
	strbuf_fini(&name);
}

/* Ports that are plugged in, the busiest first, then by number. */
static uint32_t sort_ports(const struct sim_findings *f, uint32_t *order)
{
	const struct sim_setup *s = &f->build->setup;
	const struct sim_port_use *use = f->metrics->ports;
	uint32_t n = 0, most = f->all ? s->n_ports : BUSIEST;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer == SIM_NONE)
			continue;
		uint32_t k = n < most ? n++ : n;

		/* Insertion suffices for ten; all of them keep their order. */
		if (f->all) {
			order[k] = i;
			continue;
		}
		for (; k > 0 &&
		       use[order[k - 1]].utilisation < use[i].utilisation;
		     k--) {
			if (k < most)
				order[k] = order[k - 1];
		}
		if (k < most)
			order[k] = i;
	}
	return n;
}

static void port_table(const struct sim_findings *f, struct results *r)
{
	const struct sim_build *b = f->build;
	const struct sim_metrics *m = f->metrics;
	uint32_t *order = hd_alloc(b->setup.n_ports + 1, sizeof(*order));
	uint32_t n = sort_ports(f, order);
	struct table *t = results_table(
		r, "ports",
		f->all ? "all ports" : "the busiest ports; --all shows all",
		port_columns);

	for (uint32_t i = 0; i < n; i++) {
		const struct sim_port *p = &b->setup.ports[order[i]];
		const struct sim_port_use *use = &m->ports[order[i]];

		put_port_name(b, order[i], t);
		put_port_name(b, p->peer, t);
		table_put_rate(t, p->rate);
		table_put_real(t, use->utilisation * 100);
		table_put_real(t, use->wait * 100);
		table_put_uint(t, m->counters[order[i]].xmit_packets);
		/* What the link fills is the buffer at its far end. */
		table_put_real(t, m->ports[p->peer].depth * 64 / 1024);
		table_put_real(t, m->ports[p->peer].depth_max * 64.0 / 1024);
		table_put_uint(t, m->counters[order[i]].xmit_discards);
	}
	free(order);
}

static const struct column lane_columns[] = {
	{ "VL", NULL, VALUE_UINT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "bytes", "MB", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "share", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL },
};

static void lane_table(const struct sim_findings *f, struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	uint64_t bytes[16] = { 0 }, packets[16] = { 0 }, all = 0;
	unsigned used = 0;

	for (uint32_t i = 0; i < m->n_ports; i++) {
		for (unsigned vl = 0; vl < 16; vl++) {
			bytes[vl] += m->counters[i].xmit_bytes_vl[vl];
			packets[vl] += m->counters[i].xmit_packets_vl[vl];
			all += m->counters[i].xmit_bytes_vl[vl];
		}
	}
	for (unsigned vl = 0; vl < 16; vl++)
		used += packets[vl] > 0;
	if (used < 2 && !f->all)
		return;
	struct table *t = results_table(
		r, "lanes", "what links carried on each VL", lane_columns);

	for (unsigned vl = 0; vl < 16; vl++) {
		if (!packets[vl])
			continue;
		table_put_uint(t, vl);
		table_put_uint(t, packets[vl]);
		table_put_real(t, (double)bytes[vl] / 1e6);
		table_put_real(t, 100 * (double)bytes[vl] / (double)all);
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

static void put_flow_ends(const struct sim_build *b, uint32_t flow,
			  struct table *t)
{
	const struct sim_flow *f = &b->flows[flow];
	port_id target = b->flow_target[flow];

	table_put_text(t, b->scenario->traffic[f->row].name);
	put_port_name(b, b->setup.nodes[f->source].first_port + 1, t);
	if (target == TOPO_NONE)
		table_put_none(t);
	else
		put_port_name(
			b,
			b->setup.nodes[b->end_of_origin[target]].first_port + 1,
			t);
	table_put_uint(t, f->sl);
}

static void flow_table(const struct sim_findings *f, struct results *r)
{
	const struct sim_build *b = f->build;
	const struct sim_metrics *m = f->metrics;
	uint64_t overhead = b->scenario->fabric.overhead;
	struct table *t = results_table(r, "flows", "what became of each flow",
					flow_columns);

	for (uint32_t i = 0; i < m->n_flows && i < b->n_flows; i++) {
		const struct sim_flow_counts *c = &m->flows[i];
		const struct sim_group *g = &m->groups[c->group];

		table_put_uint(t, i);
		put_flow_ends(b, i, t);
		table_put_real(t, gbps((double)payload_of(c->made_bytes,
							  c->made, overhead) *
					       b->flow_copies[i],
				       seconds(m)));
		table_put_real(t,
			       gbps((double)payload_of(c->delivered_bytes,
						       c->delivered, overhead),
				    seconds(m)));
		table_put_uint(t, c->delivered);
		table_put_uint(t, c->lost);
		table_put_real(t, c->delivered ? (double)c->latency_sum /
							 (double)c->delivered /
							 (double)HD_US
					       : NAN);
		if (g->flow == i)
			put_percentile(t, &g->latency, 99);
		else
			table_put_none(t);
		if (c->delivered)
			table_put_time(t, c->latency_max);
		else
			table_put_none(t);
	}
}

static const struct column loss_columns[] = {
	{ "reason", NULL, VALUE_TEXT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ NULL },
};

static void loss_table(const struct sim_findings *f, struct results *r)
{
	static const char *const reasons[] = {
		[SIM_LOST_CORRUPT] = "bit errors, caught by a CRC",
		[SIM_LOST_LINK] = "on a link that went down",
		[SIM_LOST_DISCARD] = "discarded by a switch",
		[SIM_LOST_NO_ROUTE] = "no route",
		[SIM_LOST_PARTITION] = "foreign partition",
		[SIM_LOST_VL15] = "no room on VL15",
	};
	struct table *t;

	if (!all_lost(f->metrics))
		return;
	t = results_table(r, "losses", "why packets were lost", loss_columns);
	for (unsigned i = SIM_DELIVERED + 1; i <= SIM_LOST_VL15; i++) {
		if (!f->metrics->lost[i])
			continue;
		table_put_text(t, reasons[i]);
		table_put_uint(t, f->metrics->lost[i]);
	}
}

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
static void deadline_table(const struct sim_findings *f, struct results *r)
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

bool sim_tables(const struct sim_findings *f, struct results *r)
{
	size_t n = f->build->scenario->n_traffic;
	struct sim_row *rows = sim_rows(f->build, f->metrics);

	summary_table(f, rows, r);
	bool met = sim_goals(f, rows, r);

	fabric_table(f, r);
	traffic_table(f, rows, r);
	sl_table(f, r);
	loss_table(f, r);
	port_table(f, r);
	lane_table(f, r);
	if (f->all) {
		deadline_table(f, r);
		flow_table(f, r);
	}
	if (f->metrics->checks.out_of_order || f->metrics->checks.duplicates)
		results_remark(
			r,
			"%llu packets out of order and %llu duplicates: "
			"the simulator or the routes are at fault",
			(unsigned long long)f->metrics->checks.out_of_order,
			(unsigned long long)f->metrics->checks.duplicates);
	sim_rows_free(rows, n);
	return met;
}
