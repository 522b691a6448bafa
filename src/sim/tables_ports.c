/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/tables_parts.h"

#define BUSIEST 10

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

void findings_port_name(const struct fabric *b, uint32_t port, struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(b, port, &name);
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
		struct sim_counters c;

		sim_port_counters(f->metrics, i, &c);
		if (s->ports[i].peer == SIM_NONE ||
		    (!f->all && !c.xmit_packets))
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

void findings_ports(const struct sim_findings *f, struct results *r)
{
	const struct fabric *b = f->build;
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
		struct sim_counters c;

		sim_port_counters(m, order[i], &c);
		findings_port_name(b, order[i], t);
		findings_port_name(b, p->peer, t);
		table_put_rate(t, p->rate);
		table_put_real(t, use->utilisation * 100);
		table_put_real(t, use->wait * 100);
		table_put_uint(t, c.xmit_packets);
		/* What the link fills is the buffer at its far end. */
		table_put_real(t, m->ports[p->peer].depth * 64 / 1024);
		table_put_real(t, m->ports[p->peer].depth_max * 64.0 / 1024);
		table_put_uint(t, c.xmit_discards);
	}
	free(order);
}

static const struct column downed_columns[] = {
	{ "port", NULL, VALUE_TEXT },
	{ "to", NULL, VALUE_TEXT },
	{ "LinkDowned", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "lost on the way", "packets", VALUE_UINT, ORIGIN_SIMULATED },
	{ NULL },
};

void findings_downed(const struct sim_findings *f, struct results *r)
{
	const struct sim_setup *s = &f->build->setup;
	struct table *t = NULL;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct sim_counters c;

		sim_port_counters(f->metrics, i, &c);
		if (c.link_downed == 0)
			continue;
		if (!t)
			t = results_table(r, "links-down",
					  "ports whose link went down",
					  downed_columns);
		findings_port_name(f->build, i, t);
		findings_port_name(f->build, s->ports[i].peer, t);
		table_put_uint(t, c.link_downed);
		/* What came towards this port when it happened. */
		table_put_uint(t, c.link_lost);
	}
}

static const struct column lane_columns[] = {
	{ "VL", NULL, VALUE_UINT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "bytes", "MB", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "share", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL },
};

void findings_lanes(const struct sim_findings *f, struct results *r)
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

static const struct column port_lane_columns[] = {
	{ "port", NULL, VALUE_TEXT },
	{ "VL", NULL, VALUE_UINT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "bytes", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ NULL },
};

void findings_port_lanes(const struct sim_findings *f, struct results *r)
{
	const struct sim_metrics *m = f->metrics;
	struct table *t =
		results_table(r, "port lanes", "what each port sent on each VL",
			      port_lane_columns);

	for (uint32_t i = 0; i < m->n_ports; i++) {
		struct sim_counters c;

		sim_port_counters(m, i, &c);
		for (unsigned vl = 0; vl < 16; vl++) {
			if (!c.xmit_packets_vl[vl])
				continue;
			findings_port_name(f->build, i, t);
			table_put_uint(t, vl);
			table_put_uint(t, c.xmit_packets_vl[vl]);
			table_put_uint(t, c.xmit_bytes_vl[vl]);
		}
	}
}
