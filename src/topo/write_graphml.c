/* SPDX-License-Identifier: BSD-2-Clause */
/* GraphML: an element for each node and each cable, with typed attributes. */
#include <inttypes.h>

#include "topo/write.h"

static const char header[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
	"<key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n"
	"<key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
	"<key id=\"guid\" for=\"node\" attr.name=\"guid\" attr.type=\"string\"/>\n"
	"<key id=\"ports\" for=\"node\" attr.name=\"ports\" attr.type=\"int\"/>\n"
	"<key id=\"source_port\" for=\"edge\" attr.name=\"source_port\" attr.type=\"int\"/>\n"
	"<key id=\"target_port\" for=\"edge\" attr.name=\"target_port\" attr.type=\"int\"/>\n"
	"<key id=\"width\" for=\"edge\" attr.name=\"width\" attr.type=\"int\"/>\n"
	"<key id=\"speed\" for=\"edge\" attr.name=\"speed\" attr.type=\"string\"/>\n"
	"<graph edgedefault=\"undirected\">\n";

static void put_node(const struct topo *t, node_id node, struct strbuf *out)
{
	static const char *const kinds[] = {
		[NODE_CA] = "host", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"
	};
	const struct topo_node *v = &t->nodes[node];

	strbuf_printf(out, "<node id=\"n%u\"><data key=\"label\">", node);
	topo_write_xml_text(v->name, out);
	strbuf_printf(out,
		      "</data><data key=\"kind\">%s</data><data key=\"guid\">0x%016" PRIx64
		      "</data><data key=\"ports\">%u</data></node>\n",
		      kinds[v->kind], v->guid, v->n_ports);
}

/* Width and speed are omitted if the ends disagree. */
static void put_edge(const struct topo *t, port_id port, struct strbuf *out)
{
	const struct topo_port *p = &t->ports[port], *q = &t->ports[p->peer];
	struct topo_link_state state;

	strbuf_printf(out,
		      "<edge source=\"n%u\" target=\"n%u\"><data key=\"source_port\">%u</data>"
		      "<data key=\"target_port\">%u</data>",
		      p->node, q->node, p->number, q->number);
	if (topo_link_state(t, port, &state) == HD_OK)
		strbuf_printf(out, "<data key=\"width\">%u</data><data key=\"speed\">%s</data>",
			      state.lanes, hd_link_speed_name(state.speed));
	strbuf_puts(out, "</edge>\n");
}

void topo_write_graphml(const struct topo *t, struct strbuf *out)
{
	strbuf_puts(out, header);
	for (node_id v = 0; v < t->n_nodes; v++)
		put_node(t, v, out);
	for (port_id i = 0; i < t->n_ports; i++) {
		if (t->ports[i].peer != TOPO_NONE && t->ports[i].peer > i)
			put_edge(t, i, out);
	}
	strbuf_puts(out, "</graph>\n</graphml>\n");
}
