/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphviz: a vertex per node, an edge per cable, tiers as ranks. */
#include "topo/write.h"

static void put_quoted(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '"');
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *c);
	}
	strbuf_putc(out, '"');
}

static void put_node(const struct topo *t, node_id node, struct strbuf *out)
{
	static const char *const shapes[] = {
		[NODE_CA] = "ellipse", [NODE_SWITCH] = "box", [NODE_ROUTER] = "diamond"
	};
	const struct topo_node *v = &t->nodes[node];

	strbuf_printf(out, "  n%u [shape=%s,label=", node, shapes[v->kind]);
	put_quoted(out, v->name);
	strbuf_puts(out, "];\n");
}

static void put_edge(const struct topo *t, port_id port, struct strbuf *out)
{
	const struct topo_port *p = &t->ports[port], *q = &t->ports[p->peer];
	struct topo_link_state state;

	strbuf_printf(out, "  n%u -- n%u [taillabel=\"%u\",headlabel=\"%u\"", p->node, q->node,
		      p->number, q->number);
	if (topo_link_state(t, port, &state) == HD_OK)
		strbuf_printf(out, ",tooltip=\"%ux %s\"];\n", state.lanes,
			      hd_link_speed_name(state.speed));
	else
		strbuf_puts(out, ",color=red,tooltip=\"mismatch\"];\n");
}

/* Switches of one tier on one line, where tiers are known. */
static void put_ranks(const struct topo *t, struct strbuf *out)
{
	unsigned top = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		top = t->nodes[v].tier > top ? t->nodes[v].tier : top;
	for (unsigned tier = 2; tier <= top; tier++) {
		strbuf_puts(out, "  { rank=same;");
		for (node_id v = 0; v < t->n_nodes; v++) {
			if (t->nodes[v].tier == tier)
				strbuf_printf(out, " n%u;", v);
		}
		strbuf_puts(out, " }\n");
	}
}

void topo_write_dot(const struct topo *t, struct strbuf *out)
{
	strbuf_puts(out, "graph fabric {\n"
			 "  node [fontsize=10];\n"
			 "  edge [fontsize=7];\n");
	for (node_id v = 0; v < t->n_nodes; v++)
		put_node(t, v, out);
	put_ranks(t, out);
	for (port_id i = 0; i < t->n_ports; i++) {
		if (t->ports[i].peer != TOPO_NONE && t->ports[i].peer > i)
			put_edge(t, i, out);
	}
	strbuf_puts(out, "}\n");
}
