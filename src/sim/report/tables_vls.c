/* SPDX-License-Identifier: BSD-2-Clause */
/* SL2VL maps and VL arbitration tables of a run's ports. */
#include <string.h>

#include "sim/report/report_internal.h"

struct map_row {
	const char *port, *from, *sl2vl;
	uint64_t vls;
};

static const struct column map_columns[] = {
	{ "port", NULL, CELL(map_row, port) },
	{ "VLs", NULL, CELL(map_row, vls), ORIGIN_COMPUTED },
	{ "from", NULL, CELL(map_row, from) },
	{ "sl2vl", NULL, CELL(map_row, sl2vl), ORIGIN_COMPUTED },
	{ NULL },
};

struct port_arbitration_row {
	hd_time time;
	const char *port, *high, *low;
	uint64_t high_limit;
};

static const struct column arbitration_columns[] = {
	{ "time", "us", CELL_TIME(port_arbitration_row, time), ORIGIN_COMPUTED, 6 },
	{ "port", NULL, CELL(port_arbitration_row, port) },
	{ "high", NULL, CELL(port_arbitration_row, high), ORIGIN_COMPUTED },
	{ "low", NULL, CELL(port_arbitration_row, low), ORIGIN_COMPUTED },
	{ "high limit", NULL, CELL(port_arbitration_row, high_limit), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *print_map(struct table *t, const struct sl2vl *map)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(&text, "%s%u", sl ? "," : "", map->vl[sl]);
	return table_take(t, &text);
}

/* Entries in order; those without a weight send nothing. */
static const char *print_entries(struct table *t, const struct vlarb_entry *entries, unsigned n)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < n; i++) {
		if (entries[i].weight)
			strbuf_printf(&text, "%s%u:%u", text.len ? "," : "", entries[i].vl,
				      entries[i].weight);
	}
	return table_take(t, &text);
}

static void put_map(const struct fabric *fabric, struct table *t, uint32_t port, const char *from,
		    const struct sl2vl *map)
{
	const struct map_row row = {
		.port = findings_port_name(fabric, port, t),
		.from = from,
		.sl2vl = print_map(t, map),
		.vls = fabric->setup.ports[port].vls,
	};

	table_put_row(t, &row);
}

/* One row if all inputs have one map, else one for each input. */
static void put_maps(const struct fabric *fabric, struct table *t, uint32_t port)
{
	const struct subnet *s = &fabric->subnet;
	const struct topo_port *p = &fabric->topo.ports[fabric->setup.ports[port].origin];
	switch_id sw = s->switch_of_node[p->node];
	unsigned n = fabric->topo.nodes[p->node].n_ports, same = 1;

	if (sw == TOPO_NONE) {
		put_map(fabric, t, port, "", sl2vl_of(s, fabric->setup.ports[port].origin));
		return;
	}
	while (same <= n && memcmp(sl2vl_at(s, sw, 0, p->number), sl2vl_at(s, sw, same, p->number),
				   sizeof(struct sl2vl)) == 0)
		same++;
	if (same > n) {
		put_map(fabric, t, port, "all", sl2vl_at(s, sw, 0, p->number));
		return;
	}
	for (unsigned in = 0; in <= n; in++) {
		struct strbuf from = STRBUF_INIT;

		strbuf_printf(&from, "%u", in);
		put_map(fabric, t, port, table_take(t, &from), sl2vl_at(s, sw, in, p->number));
	}
}

static void put_tables(const struct fabric *fabric, struct table *t, hd_time time, uint32_t port,
		       const struct vlarb *tables)
{
	const struct port_arbitration_row row = {
		.time = time,
		.port = findings_port_name(fabric, port, t),
		.high = print_entries(t, tables->high, tables->n_high),
		.low = print_entries(t, tables->low, tables->n_low),
		.high_limit = tables->high_limit,
	};

	table_put_row(t, &row);
}

void findings_vl_tables(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	const struct sim_setup *s = &fabric->setup;
	struct table *maps = results_table(
		r, "sl2vl", "the VL of SL 0 to 15, by output port and input port", map_columns);

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer != SIM_NONE)
			put_maps(fabric, maps, i);
	}
	struct table *t = results_table(
		r, "vl arbitration",
		"VL:weight in the order of the tables, from the start and as they change",
		arbitration_columns);

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer != SIM_NONE)
			put_tables(fabric, t, 0, i, vlarb_of(&fabric->subnet, s->ports[i].origin));
	}
	for (uint32_t i = 0; i < s->n_changes; i++)
		put_tables(fabric, t, s->changes[i].time, s->changes[i].port,
			   &fabric->subnet.vlarb_tables[s->changes[i].table]);
}
