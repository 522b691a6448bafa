/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/report/report_internal.h"

#define BUSIEST 10

struct busy_port_row {
	const char *port, *to;
	struct hd_rate rate;
	double used, waiting;
	uint64_t packets;
	double far_queue, most;
	uint64_t discards;
};

static const struct column port_columns[] = {
	{ "port", NULL, CELL(busy_port_row, port) },
	{ "to", NULL, CELL(busy_port_row, to) },
	{ "rate", "Gb/s", CELL(busy_port_row, rate), ORIGIN_GIVEN, 1 },
	{ "used", "%", CELL(busy_port_row, used), ORIGIN_SIMULATED, 1 },
	{ "waiting", "%", CELL(busy_port_row, waiting), ORIGIN_SIMULATED, 1 },
	{ "packets", NULL, CELL(busy_port_row, packets), ORIGIN_SIMULATED },
	{ "far queue", "KiB", CELL(busy_port_row, far_queue), ORIGIN_SIMULATED, 2 },
	{ "most", "KiB", CELL(busy_port_row, most), ORIGIN_SIMULATED, 2 },
	{ "discards", NULL, CELL(busy_port_row, discards), ORIGIN_SIMULATED },
	{ NULL },
};

const char *findings_port_name(const struct fabric *fabric, uint32_t port, struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(fabric, port, &name);
	return table_take(t, &name);
}

/* Ports with a cable, the busiest first, then by number. */
static uint32_t sort_ports(const struct report_input *f, uint32_t *order)
{
	const struct sim_setup *s = &f->fabric->setup;
	const struct sim_port_use *use = f->metrics->ports;
	uint32_t n = 0, most = f->all ? s->n_ports : BUSIEST;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct sim_counters c;

		sim_port_counters(f->metrics, i, &c);
		if (s->ports[i].peer == SIM_NONE || (!f->all && !c.xmit_packets))
			continue;
		uint32_t k = n < most ? n++ : n;

		/* Insertion sort suffices for ten ports; with --all they keep their order. */
		if (f->all) {
			order[k] = i;
			continue;
		}
		for (; k > 0 && use[order[k - 1]].utilisation < use[i].utilisation; k--) {
			if (k < most)
				order[k] = order[k - 1];
		}
		if (k < most)
			order[k] = i;
	}
	return n;
}

void findings_ports(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	const struct sim_metrics *m = f->metrics;
	uint32_t *order = hd_alloc(fabric->setup.n_ports + 1, sizeof(*order));
	uint32_t n = sort_ports(f, order);
	struct table *t = results_table(r, "ports",
					f->all ? "all ports" : "the busiest ports; --all shows all",
					port_columns);

	for (uint32_t i = 0; i < n; i++) {
		const struct sim_port *p = &fabric->setup.ports[order[i]];
		const struct sim_port_use *use = &m->ports[order[i]];
		struct sim_counters c;

		sim_port_counters(m, order[i], &c);
		const struct busy_port_row row = {
			.port = findings_port_name(fabric, order[i], t),
			.to = findings_port_name(fabric, p->peer, t),
			.rate = p->rate,
			.used = use->utilisation * 100,
			.waiting = use->wait * 100,
			.packets = c.xmit_packets,
			/* The link fills the buffer at its far end. */
			.far_queue = m->ports[p->peer].depth * 64 / 1024,
			.most = m->ports[p->peer].depth_max * 64.0 / 1024,
			.discards = c.xmit_discards,
		};

		table_put_row(t, &row);
	}
	free(order);
}

struct downed_row {
	const char *port, *to;
	uint64_t linkdowned, lost_on_the_way;
};

static const struct column downed_columns[] = {
	{ "port", NULL, CELL(downed_row, port) },
	{ "to", NULL, CELL(downed_row, to) },
	{ "LinkDowned", NULL, CELL(downed_row, linkdowned), ORIGIN_SIMULATED },
	{ "lost on the way", "packets", CELL(downed_row, lost_on_the_way), ORIGIN_SIMULATED },
	{ NULL },
};

void findings_downed(const struct report_input *f, struct results *r)
{
	const struct sim_setup *s = &f->fabric->setup;
	struct table *t = NULL;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct sim_counters c;

		sim_port_counters(f->metrics, i, &c);
		if (c.link_downed == 0)
			continue;
		if (!t)
			t = results_table(r, "links-down", "ports whose link went down",
					  downed_columns);
		const struct downed_row row = {
			.port = findings_port_name(f->fabric, i, t),
			.to = findings_port_name(f->fabric, s->ports[i].peer, t),
			.linkdowned = c.link_downed,
			/* Packets toward this port that were on the link at a fault. */
			.lost_on_the_way = c.link_lost,
		};

		table_put_row(t, &row);
	}
}

struct vl_share_row {
	uint64_t vl, packets;
	double bytes, share;
};

static const struct column vl_columns[] = {
	{ "VL", NULL, CELL(vl_share_row, vl) },
	{ "packets", NULL, CELL(vl_share_row, packets), ORIGIN_SIMULATED },
	{ "bytes", "MB", CELL(vl_share_row, bytes), ORIGIN_SIMULATED, 3 },
	{ "share", "%", CELL(vl_share_row, share), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

void findings_vls(const struct report_input *f, struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	uint64_t bytes[16] = { 0 }, packets[16] = { 0 }, all = 0;
	unsigned used = 0;

	for (uint32_t i = 0; i < m->n_ports; i++) {
		struct sim_counters c;

		sim_port_counters(m, i, &c);
		for (unsigned vl = 0; vl < 16; vl++) {
			bytes[vl] += c.xmit_bytes_vl[vl];
			packets[vl] += c.xmit_packets_vl[vl];
			all += c.xmit_bytes_vl[vl];
		}
	}
	for (unsigned vl = 0; vl < 16; vl++)
		used += packets[vl] > 0;
	if (used < 2 && !f->all)
		return;
	struct table *t = results_table(r, "VLs", "what links carried on each VL", vl_columns);

	for (unsigned vl = 0; vl < 16; vl++) {
		if (!packets[vl])
			continue;
		const struct vl_share_row row = {
			.vl = vl,
			.packets = packets[vl],
			.bytes = (double)bytes[vl] / 1e6,
			.share = 100 * (double)bytes[vl] / (double)all,
		};

		table_put_row(t, &row);
	}
}

struct port_vl_row {
	const char *port;
	uint64_t vl, packets, bytes;
};

static const struct column port_vl_columns[] = {
	{ "port", NULL, CELL(port_vl_row, port) },
	{ "VL", NULL, CELL(port_vl_row, vl) },
	{ "packets", NULL, CELL(port_vl_row, packets), ORIGIN_SIMULATED },
	{ "bytes", NULL, CELL(port_vl_row, bytes), ORIGIN_SIMULATED },
	{ NULL },
};

void findings_port_vls(const struct report_input *f, struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	struct table *t =
		results_table(r, "port VLs", "what each port sent on each VL", port_vl_columns);

	for (uint32_t i = 0; i < m->n_ports; i++) {
		struct sim_counters c;

		sim_port_counters(m, i, &c);
		for (unsigned vl = 0; vl < 16; vl++) {
			if (!c.xmit_packets_vl[vl])
				continue;
			const struct port_vl_row row = {
				.port = findings_port_name(f->fabric, i, t),
				.vl = vl,
				.packets = c.xmit_packets_vl[vl],
				.bytes = c.xmit_bytes_vl[vl],
			};

			table_put_row(t, &row);
		}
	}
}
