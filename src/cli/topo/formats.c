/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/topo/formats.h"

#include <inttypes.h>

#include "cli/output.h"
#include "topo/write.h"

static const struct column node_columns[] = {
	{ "node", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "kind", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "guid", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "ports", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "tier", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column link_columns[] = {
	{ "node", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "port", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "other node", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "other port", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "guid", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "other guid", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "link", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "rate", "Gb/s", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "vls", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "mtu", "B", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "subnet", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const char *kind_name(const struct topo_node *v)
{
	if (v->kind == NODE_CA)
		return v->is_tca ? "target adapter" : "host";
	return v->kind == NODE_SWITCH ? "switch" : "router";
}

static void put_link(struct table *out, const struct topo *t, port_id port)
{
	const struct topo_port *p = &t->ports[port], *q = &t->ports[p->peer];
	const struct topo_node *v = &t->nodes[p->node], *u = &t->nodes[q->node];
	struct topo_link_state state;

	table_put_text(out, v->name);
	table_put_uint(out, p->number);
	table_put_text(out, u->name);
	table_put_uint(out, q->number);
	table_put_textf(out, "0x%016" PRIx64, v->guid);
	table_put_textf(out, "0x%016" PRIx64, u->guid);
	if (topo_link_state(t, port, &state) == HD_OK) {
		table_put_textf(out, "%ux %s", state.lanes,
				link_speed_name(state.speed));
		table_put_rate(out, state.rate);
		table_put_uint(out, state.vls);
		table_put_uint(out, state.mtu);
	} else {
		table_put_text(out, "mismatch");
		table_put_none(out);
		table_put_none(out);
		table_put_none(out);
	}
	table_put_uint(out, p->subnet);
}

static struct results *make_tables(const struct command *self,
				   const struct topo *t)
{
	struct results *r = results_new(self->name);
	struct table *nodes =
		results_table(r, "nodes", "switches and hosts", node_columns);
	struct table *links = results_table(r, "links", "cables", link_columns);

	for (node_id i = 0; i < t->n_nodes; i++) {
		const struct topo_node *v = &t->nodes[i];

		table_put_text(nodes, v->name);
		table_put_text(nodes, kind_name(v));
		table_put_textf(nodes, "0x%016" PRIx64, v->guid);
		table_put_uint(nodes, v->n_ports);
		table_put_uint(nodes, v->tier);
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
		strbuf_printf(&names, "%s%s", w == topo_writers ? "" : ", ",
			      w->name);
	int status = command_usage(self, "format '%s' is none of %s", to,
				   names.text);

	strbuf_fini(&names);
	return status;
}

int topo_output_check(const struct command *self,
		      const struct common_options *common, const char *to)
{
	if (!to)
		return EXIT_DONE;
	return topo_writer_find(to) ? output_check_format(self, common, "--to")
				    : refuse(self, to);
}

int topo_output(const struct command *self, const struct common_options *common,
		const char *to, const struct topo *t)
{
	const struct topo_writer *w = to ? topo_writer_find(to) : NULL;
	struct strbuf out = STRBUF_INIT;

	if (!w && (common->json || common->csv || common->format))
		return output_results(common, make_tables(self, t), true);
	if (!w && common->output)
		w = topo_writer_of_path(common->output);
	if (!w)
		w = topo_writer_as_read(t);
	w->write(t, &out);
	int status = common->db || common->html
			     ? output_shaped(common, make_tables(self, t), &out,
					     true)
			     : output_bytes(common, out.text, out.len, true);

	strbuf_fini(&out);
	return status;
}
