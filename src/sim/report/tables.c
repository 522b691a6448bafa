/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/report_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "fabric/flow.h"
#include "fabric/setup.h"
#include "measure/cell.h"
#include "measure/fairness.h"
#include "measure/histogram.h"
#include "measure/interval.h"
#include "measure/results.h"
#include "scenario/model.h"
#include "scenario/scenario.h"
#include "sim/metrics/record.h"
#include "sim/report/tables.h"
#include "sim/sim.h"
#include "subnet/subnet.h"
#include "topo/topo.h"

void findings_flow_name(const struct fabric *fabric, uint32_t flow, struct strbuf *out)
{
	const struct sim_flow *f = &fabric->flows[flow];
	uint32_t port = fabric->setup.nodes[f->source].first_port + 1;

	strbuf_printf(out, "%s ", fabric->scenario->traffic[f->row].name);
	fabric_port_name(fabric, port, out);
	if (fabric->flow_target[flow] != TOPO_NONE) {
		uint32_t to = fabric->end_of_origin[fabric->flow_target[flow]];

		strbuf_puts(out, " -> ");
		fabric_port_name(fabric, fabric->setup.nodes[to].first_port + 1, out);
	} else if (f->to.list && f->to.list[0].dlid >= LID_FIRST_MCAST) {
		strbuf_printf(out, " -> %s", fabric->scenario->traffic[f->row].group);
	}
}

static void count_flows(const struct fabric *fabric, const struct sim_metrics *m,
			struct report_row *rows)
{
	for (uint32_t i = 0; i < m->n_flows && i < fabric->n_flows; i++) {
		const struct sim_flow_counts *c = &m->flows[i];
		struct report_row *row = &rows[fabric->flows[i].row];
		uint64_t copies = fabric->flows[i].copies;

		row->n_flows++;
		row->made += c->made;
		row->expected += c->made * copies;
		row->delivered += c->delivered;
		row->lost += c->lost;
		row->made_payload += findings_made(fabric, c, i) * copies;
		row->delivered_payload += findings_delivered(fabric, c, i);
	}
}

/* Jain's index over the bytes that the flows of each row delivered. */
static void rate_fairness(const struct fabric *fabric, const struct sim_metrics *m,
			  struct report_row *rows)
{
	double *shares = hd_alloc(fabric->n_flows, sizeof(*shares));
	uint32_t most = m->n_flows < fabric->n_flows ? m->n_flows : fabric->n_flows;

	for (size_t r = 0; r < fabric->scenario->n_traffic; r++)
		rows[r].jain = measure_jain_index(shares, 0);
	/* The flows of a row follow each other. */
	for (uint32_t i = 0; i < most;) {
		uint32_t r = fabric->flows[i].row;
		size_t n = 0;

		for (; i < most && fabric->flows[i].row == r; i++)
			shares[n++] = (double)m->flows[i].delivered_bytes / fabric->flows[i].copies;
		rows[r].jain = measure_jain_index(shares, n);
	}
	free(shares);
}

struct report_row *report_rows(const struct fabric *fabric, const struct sim_metrics *m)
{
	size_t n = fabric->scenario->n_traffic;
	struct report_row *rows = hd_alloc(n, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		histogram_init(&rows[i].latency);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		if (m->groups[i].row < n)
			histogram_merge(&rows[m->groups[i].row].latency, &m->groups[i].latency);
	}
	count_flows(fabric, m, rows);
	rate_fairness(fabric, m, rows);
	return rows;
}

void report_rows_free(struct report_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		histogram_fini(&rows[i].latency);
	free(rows);
}

struct fabric_summary_row {
	uint64_t hosts, switches, cables;
	const char *routing;
	uint64_t vls, flows;
	/* Bytes; buffers are of one port and VL. */
	uint64_t mtu, switch_buffer, output_buffer, host_buffer;
};

static const struct column fabric_columns[] = {
	{ "hosts", NULL, CELL(fabric_summary_row, hosts) },
	{ "switches", NULL, CELL(fabric_summary_row, switches) },
	{ "cables", NULL, CELL(fabric_summary_row, cables) },
	{ "routing", NULL, CELL(fabric_summary_row, routing) },
	{ "VLs", NULL, CELL(fabric_summary_row, vls) },
	{ "flows", NULL, CELL(fabric_summary_row, flows) },
	{ "mtu", "B", CELL(fabric_summary_row, mtu) },
	{ "switch input buffer", "B", CELL(fabric_summary_row, switch_buffer) },
	{ "switch output buffer", "B", CELL(fabric_summary_row, output_buffer) },
	{ "host buffer", "B", CELL(fabric_summary_row, host_buffer) },
	{ NULL },
};

/* T1: buffer sizes of all ports of a kind with a cable. */
static void put_buffers(const struct fabric *fabric, struct fabric_summary_row *row)
{
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		const struct sim_port *p = &fabric->setup.ports[i];
		bool end = fabric->setup.nodes[p->node].kind == SIM_END;

		if (p->peer == SIM_NONE)
			continue;
		*(end ? &row->host_buffer : &row->switch_buffer) =
			(uint64_t)p->in_blocks * BLOCK_BYTES;
		if (!end)
			row->output_buffer = (uint64_t)p->out_blocks * BLOCK_BYTES;
	}
}

static void fabric_table(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	uint64_t ends = 0, switches = 0, plugged = 0;

	for (uint32_t i = 0; i < fabric->setup.n_nodes; i++) {
		ends += fabric->setup.nodes[i].kind == SIM_END;
		switches += fabric->setup.nodes[i].kind == SIM_SWITCH;
	}
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		plugged += fabric->topo.ports[p].peer != TOPO_NONE;
	struct table *t = results_record(r, "fabric", "what was simulated", fabric_columns);

	struct fabric_summary_row row = {
		.hosts = ends,
		.switches = switches,
		.cables = plugged / 2,
		.routing = fabric->subnet.engine ? fabric->subnet.engine : "none",
		.vls = scenario_vls(fabric->scenario),
		.flows = fabric->n_flows,
		.mtu = fabric->scenario->fabric.mtu,
	};

	put_buffers(fabric, &row);
	table_put_row(t, &row);
}

struct run_summary_row {
	hd_time measured;
	double offered, delivered;
	uint64_t packets, lost;
	double latency_mean, latency_half_width;
	hd_time latency_p99, latency_max;
	double host_links_used, switch_links_used, busiest_link_used;
	uint64_t packet_hops;
	const char *checksum;
};

static const struct column summary_columns[] = {
	{ "measured", "us", CELL_TIME(run_summary_row, measured), ORIGIN_SIMULATED, 1 },
	{ "offered", "Gb/s", CELL(run_summary_row, offered), ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", CELL(run_summary_row, delivered), ORIGIN_SIMULATED, 3 },
	{ "packets", NULL, CELL(run_summary_row, packets), ORIGIN_SIMULATED },
	{ "lost", NULL, CELL(run_summary_row, lost), ORIGIN_SIMULATED },
	{ "latency mean", "us", CELL_TIME(run_summary_row, latency_mean), ORIGIN_SIMULATED, 3 },
	{ "latency +-", "us", CELL_TIME(run_summary_row, latency_half_width), ORIGIN_SIMULATED, 3 },
	{ "latency p99", "us", CELL_TIME(run_summary_row, latency_p99), ORIGIN_SIMULATED, 3 },
	{ "latency max", "us", CELL_TIME(run_summary_row, latency_max), ORIGIN_SIMULATED, 3 },
	{ "host links used", "%", CELL(run_summary_row, host_links_used), ORIGIN_SIMULATED, 1 },
	{ "switch links used", "%", CELL(run_summary_row, switch_links_used), ORIGIN_SIMULATED, 1 },
	{ "busiest link used", "%", CELL(run_summary_row, busiest_link_used), ORIGIN_SIMULATED, 1 },
	{ "packet-hops", NULL, CELL(run_summary_row, packet_hops), ORIGIN_SIMULATED },
	{ "checksum", NULL, CELL(run_summary_row, checksum), ORIGIN_SIMULATED },
	{ NULL },
};

/* Mean and maximum utilization of the links of sending hosts and of links between switches. */
struct mean_link_use {
	double host, trunk, most;
};

static struct mean_link_use measure_links(const struct report_input *f)
{
	const struct sim_setup *s = &f->fabric->setup;
	struct mean_link_use use = { 0, 0, 0 };
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

	for (unsigned i = SIM_DELIVERED + 1; i < SIM_FATES; i++)
		lost += m->lost[i];
	return lost;
}

static void summary_table(const struct report_input *f, const struct report_row *rows,
			  struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	const char *title = f->fabric->scenario->title;
	struct table *t =
		results_record(r, "summary", title ? title : "the run as a whole", summary_columns);
	struct mean_link_use use = measure_links(f);
	/* Without traffic rows there is no offered load. */
	double offered = f->fabric->scenario->n_traffic ? 0 : NAN;
	double delivered = offered;

	for (size_t i = 0; i < f->fabric->scenario->n_traffic; i++) {
		offered += (double)rows[i].made_payload;
		delivered += (double)rows[i].delivered_payload;
	}
	const struct run_summary_row row = {
		.measured = m->to - m->from,
		.offered = findings_gbps(offered, findings_seconds(m)),
		.delivered = findings_gbps(delivered, findings_seconds(m)),
		.packets = m->delivered,
		.lost = all_lost(m),
		.latency_mean = findings_mean(&m->latency),
		.latency_half_width = m->latency.n && isfinite(m->mean_latency.half_width)
					      ? m->mean_latency.half_width
					      : NAN,
		.latency_p99 = findings_percentile(&m->latency, 99),
		.latency_max = findings_percentile(&m->latency, 100),
		.host_links_used = use.host * 100,
		.switch_links_used = use.trunk * 100,
		.busiest_link_used = use.most * 100,
		.packet_hops = m->hops,
		.checksum = table_text(t, "%016llx", (unsigned long long)sim_checksum(m)),
	};

	table_put_row(t, &row);
}

struct traffic_total_row {
	const char *traffic;
	uint64_t sl, flows;
	double offered, delivered;
	uint64_t packets, lost;
	double mean;
	hd_time p50, p99, p999, max;
	double fairness;
};

static const struct column traffic_columns[] = {
	{ "traffic", NULL, CELL(traffic_total_row, traffic) },
	{ "SL", NULL, CELL(traffic_total_row, sl) },
	{ "flows", NULL, CELL(traffic_total_row, flows) },
	{ "offered", "Gb/s", CELL(traffic_total_row, offered), ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", CELL(traffic_total_row, delivered), ORIGIN_SIMULATED, 3 },
	{ "packets", NULL, CELL(traffic_total_row, packets), ORIGIN_SIMULATED },
	{ "lost", NULL, CELL(traffic_total_row, lost), ORIGIN_SIMULATED },
	{ "mean", "us", CELL_TIME(traffic_total_row, mean), ORIGIN_SIMULATED, 3 },
	{ "p50", "us", CELL_TIME(traffic_total_row, p50), ORIGIN_SIMULATED, 3 },
	{ "p99", "us", CELL_TIME(traffic_total_row, p99), ORIGIN_SIMULATED, 3 },
	{ "p99.9", "us", CELL_TIME(traffic_total_row, p999), ORIGIN_SIMULATED, 3 },
	{ "max", "us", CELL_TIME(traffic_total_row, max), ORIGIN_SIMULATED, 3 },
	{ "fairness", NULL, CELL(traffic_total_row, fairness), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void traffic_table(const struct report_input *f, const struct report_row *rows,
			  struct results *r)
{
	const struct scenario *s = f->fabric->scenario;
	double time = findings_seconds(f->metrics);
	struct table *t =
		results_table(r, "traffic", "payload rates and latencies of the scenario's traffic",
			      traffic_columns);

	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct report_row *row = &rows[i];

		const struct traffic_total_row shown = {
			.traffic = s->traffic[i].name,
			.sl = scenario_sl(s, &s->traffic[i]),
			.flows = row->n_flows,
			.offered = findings_gbps((double)row->made_payload, time),
			.delivered = findings_gbps((double)row->delivered_payload, time),
			.packets = row->delivered,
			.lost = row->lost,
			.mean = findings_mean(&row->latency),
			.p50 = findings_percentile(&row->latency, 50),
			.p99 = findings_percentile(&row->latency, 99),
			.p999 = findings_percentile(&row->latency, 99.9),
			.max = findings_percentile(&row->latency, 100),
			.fairness = row->jain,
		};

		table_put_row(t, &shown);
	}
}

struct sl_row {
	uint64_t sl, packets;
	double mean;
	hd_time p50, p99, p999, max;
};

static const struct column sl_columns[] = {
	{ "SL", NULL, CELL(sl_row, sl) },
	{ "packets", NULL, CELL(sl_row, packets), ORIGIN_SIMULATED },
	{ "mean", "us", CELL_TIME(sl_row, mean), ORIGIN_SIMULATED, 3 },
	{ "p50", "us", CELL_TIME(sl_row, p50), ORIGIN_SIMULATED, 3 },
	{ "p99", "us", CELL_TIME(sl_row, p99), ORIGIN_SIMULATED, 3 },
	{ "p99.9", "us", CELL_TIME(sl_row, p999), ORIGIN_SIMULATED, 3 },
	{ "max", "us", CELL_TIME(sl_row, max), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void sl_table(const struct report_input *f, struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	unsigned used = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		used += m->latency_sl[sl].n > 0;
	if (used == f->fabric->scenario->n_traffic && !f->all)
		return; /* the traffic table has it */
	struct table *t = results_table(r, "service levels", "latencies of each SL", sl_columns);

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		const struct histogram *h = &m->latency_sl[sl];

		if (!h->n)
			continue;
		const struct sl_row row = {
			.sl = sl,
			.packets = h->n,
			.mean = findings_mean(h),
			.p50 = findings_percentile(h, 50),
			.p99 = findings_percentile(h, 99),
			.p999 = findings_percentile(h, 99.9),
			.max = findings_percentile(h, 100),
		};

		table_put_row(t, &row);
	}
}

struct loss_reason_row {
	const char *reason;
	uint64_t packets;
};

static const struct column loss_columns[] = {
	{ "reason", NULL, CELL(loss_reason_row, reason) },
	{ "packets", NULL, CELL(loss_reason_row, packets), ORIGIN_SIMULATED },
	{ NULL },
};

static void loss_table(const struct report_input *f, struct results *r)
{
	static const char *const reasons[] = {
		[SIM_LOST_CORRUPT] = "bit errors, caught by a CRC",
		[SIM_LOST_LINK] = "on a link that went down",
		[SIM_LOST_DISCARD] = "discarded by a switch",
		[SIM_LOST_NO_ROUTE] = "no route",
		[SIM_LOST_PARTITION] = "foreign partition",
		[SIM_LOST_VL15] = "no room on VL15",
		[SIM_LOST_HOPS] = "hop limit exceeded at a router",
		[SIM_LOST_FULL] = "blocked: the sender's VLs were full",
	};
	struct table *t;

	if (!all_lost(f->metrics))
		return;
	t = results_table(r, "losses", "why packets were lost", loss_columns);
	for (unsigned i = SIM_DELIVERED + 1; i < SIM_FATES; i++) {
		if (!f->metrics->lost[i])
			continue;
		const struct loss_reason_row row = {
			.reason = reasons[i],
			.packets = f->metrics->lost[i],
		};

		table_put_row(t, &row);
	}
}

/* Remarks on results that need an explanation. */
static void add_remarks(const struct report_input *f, const struct report_row *rows,
			struct results *r)
{
	const struct scenario *s = f->fabric->scenario;
	const struct sim_checks *c = &f->metrics->checks;
	struct strbuf notes = STRBUF_INIT;

	fabric_print_notes(f->fabric, &notes);
	for (char *line, *rest = notes.text; notes.len && (line = strtok_r(rest, "\n", &rest));)
		results_remark(r, "%s", line);
	strbuf_fini(&notes);
	if (f->fabric->circle)
		results_remark(
			r,
			"multicast may lock the fabric up, which unicast alone never does: %s wait for each other",
			f->fabric->circle);
	if (f->metrics->to == f->metrics->from)
		results_remark(r,
			       "nothing was measured: the run ended in its warm-up (run.warmup)");
	for (size_t i = 0; i < s->n_traffic; i++) {
		bool open = s->traffic[i].kind <= SIM_PARETO &&
			    s->traffic[i].stop == HD_TIME_NEVER &&
			    s->traffic[i].count == SCN_UNLIMITED;
		uint64_t missing = rows[i].expected - rows[i].lost;

		if (open && f->state != SIM_DEADLOCK && rows[i].delivered < missing / 100 * 97)
			results_remark(
				r,
				"'%s' is offered more than it gets: its queues, and with them its latencies, grow until the run ends",
				s->traffic[i].name);
	}
	if (c->out_of_order && f->fabric->setup.vl_sharing.on)
		results_remark(
			r,
			"%llu packets arrived before an older one of theirs: packets on acquired VLs overtake each other",
			(unsigned long long)c->out_of_order);
	else if (c->out_of_order && f->fabric->n_sweeps)
		results_remark(
			r,
			"%llu packets arrived before an older one of theirs, which had gone another way: routes changed",
			(unsigned long long)c->out_of_order);
	else if (c->out_of_order && f->fabric->setup.adaptive)
		results_remark(
			r,
			"%llu packets arrived before an older one of theirs, for which a switch had chosen another way",
			(unsigned long long)c->out_of_order);
	else if (c->out_of_order || c->duplicates)
		results_remark(
			r,
			"%llu packets out of order and %llu duplicates: the simulator or the routes are at fault",
			(unsigned long long)c->out_of_order, (unsigned long long)c->duplicates);
}

bool report_tables(const struct report_input *f, struct results *r)
{
	size_t n = f->fabric->scenario->n_traffic;
	struct report_row *rows = report_rows(f->fabric, f->metrics);

	if (f->state == SIM_DEADLOCK)
		findings_deadlock(f, r);
	summary_table(f, rows, r);
	bool met = findings_goals(f, rows, r);

	fabric_table(f, r);
	if (n)
		traffic_table(f, rows, r);
	sl_table(f, r);
	findings_connections(f, r);
	loss_table(f, r);
	findings_ports(f, r);
	findings_downed(f, r);
	findings_manager(f, r);
	findings_choices(f, r);
	findings_vls(f, r);
	if (f->all) {
		findings_vl_tables(f, r);
		findings_deadlines(f, r);
		findings_jitter(f, r);
		findings_port_vls(f, r);
		findings_flows(f, r);
	}
	add_remarks(f, rows, r);
	report_rows_free(rows, n);
	return met && f->state != SIM_DEADLOCK;
}
