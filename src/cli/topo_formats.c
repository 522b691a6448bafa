/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/topo_formats.h"

#include <inttypes.h>
#include <math.h>

#include "cli/output.h"
#include "topo/write.h"

struct topo_node_row {
	const char *kind, *guid;
	struct topo_node node;
};
static const struct column node_columns[] = {
	{ "node", NULL, CELL(topo_node_row, node.name) },
	{ "kind", NULL, CELL(topo_node_row, kind) },
	{ "guid", NULL, CELL(topo_node_row, guid) },
	{ "ports", NULL, CELL(topo_node_row, node.n_ports) },
	{ "tier", NULL, CELL(topo_node_row, node.tier) },
	{ NULL },
};

/* A cable; without a width if its ends differ. */
struct topo_link_row {
	const char *node, *other_node, *guid, *other_guid, *link;
	struct topo_port port, other;
	struct topo_link_state state;
	double rate;
};
static const struct column link_columns[] = {
	{ "node", NULL, CELL(topo_link_row, node) },
	{ "port", NULL, CELL(topo_link_row, port.number) },
	{ "other node", NULL, CELL(topo_link_row, other_node) },
	{ "other port", NULL, CELL(topo_link_row, other.number) },
	{ "guid", NULL, CELL(topo_link_row, guid) },
	{ "other guid", NULL, CELL(topo_link_row, other_guid) },
	{ "link", NULL, CELL(topo_link_row, link), ORIGIN_COMPUTED },
	{ "rate", "Gb/s", CELL_BITS(topo_link_row, rate), ORIGIN_COMPUTED, 3 },
	{ "vls", NULL, CELL_UNLESS(topo_link_row, state.vls, 0), ORIGIN_COMPUTED },
	{ "mtu", "B", CELL_UNLESS(topo_link_row, state.mtu, 0), ORIGIN_COMPUTED },
	{ "subnet", NULL, CELL(topo_link_row, port.subnet), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *kind_name(const struct topo_node *v)
{
	if (v->kind == NODE_CA)
		return v->is_tca ? "target adapter" : "host";
	return v->kind == NODE_SWITCH ? "switch" : "router";
}

static const char *guid_of(struct table *out, const struct topo_node *v)
{
	return table_text(out, "0x%016" PRIx64, v->guid);
}

static void put_link(struct table *out, const struct topo *t, port_id port)
{
	const struct topo_port *p = &t->ports[port], *q = &t->ports[p->peer];
	const struct topo_node *v = &t->nodes[p->node], *u = &t->nodes[q->node];
	struct topo_link_row row = {
		.node = v->name,
		.other_node = u->name,
		.guid = guid_of(out, v),
		.other_guid = guid_of(out, u),
		.link = "mismatch",
		.port = *p,
		.other = *q,
		.rate = NAN,
	};

	if (topo_link_state(t, port, &row.state) == HD_OK) {
		row.link = table_text(out, "%ux %s", row.state.lanes,
				      hd_link_speed_name(row.state.speed));
		row.rate = hd_rate_bps(row.state.rate);
	}
	table_put_row(out, &row);
}

static struct results *make_tables(const struct command *self, const struct topo *t)
{
	struct results *r = results_new(self->name);
	struct table *nodes = results_table(r, "nodes", "switches and hosts", node_columns);
	struct table *links = results_table(r, "links", "cables", link_columns);

	for (node_id i = 0; i < t->n_nodes; i++) {
		const struct topo_node *v = &t->nodes[i];

		table_put_row(nodes,
			      &(struct topo_node_row){ kind_name(v), guid_of(nodes, v), *v });
	}
	for (port_id i = 0; i < t->n_ports; i++) {
		if (t->ports[i].peer != TOPO_NONE && t->ports[i].peer > i)
			put_link(links, t, i);
	}
	return r;
}

static int refuse(const struct command *self, const char *to)
{
	struct strbuf names = STRBUF_INIT;

	for (const struct topo_writer *w = topo_writers; w->name; w++)
		strbuf_printf(&names, "%s%s", w == topo_writers ? "" : ", ", w->name);
	int status = command_usage(self, "option --to: unknown format '%s' (expected one of %s)",
				   to, names.text);

	strbuf_fini(&names);
	return status;
}

int cli_topo_output_check(const struct command *self, const struct common_options *common,
			  const char *to)
{
	if (!to)
		return EXIT_DONE;
	return topo_writer_find(to) ? output_check_format(self, common, "--to") : refuse(self, to);
}

int cli_topo_output(const struct command *self, const struct common_options *common, const char *to,
		    const struct topo *t)
{
	const struct topo_writer *w = to ? topo_writer_find(to) : NULL;
	struct strbuf out = STRBUF_INIT;

	if (!w && (common->format || !output_is_text(common)))
		return output_results(common, make_tables(self, t), true);
	if (!w && common->output)
		w = topo_writer_of_path(common->output);
	if (!w)
		w = topo_writer_as_read(t);
	w->write(t, &out);
	int status = common->db || common->html
			     ? output_own_text(common, make_tables(self, t), &out, true)
			     : output_bytes(common, out.text, out.len, true);

	strbuf_fini(&out);
	return status;
}
