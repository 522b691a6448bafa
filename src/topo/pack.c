/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"

static const struct pack_member node_members[] = {
	PACK(topo_node, is_tca),      PACK(topo_node, enhanced_port0), PACK(topo_node, guid),
	PACK(topo_node, system_guid), PACK(topo_node, vendor),         PACK(topo_node, device),
	PACK(topo_node, tier),        PACK_EACH(topo_node, coord),
};
PACK_KNOWS(topo_node, 96);

static const struct pack_member port_members[] = {
	PACK(topo_port, guid), PACK(topo_port, speeds), PACK(topo_port, lid),
	PACK(topo_port, lmc),  PACK(topo_port, widths), PACK(topo_port, vls),
	PACK(topo_port, mtu),
};
PACK_KNOWS(topo_port, 32);

/* Reading allocates a copy; writing returns `name` itself. */
static char *pack_name(struct pack *p, char *name)
{
	size_t n = pack_count(p, name ? strlen(name) : 0);
	char *bytes = name ? name : hd_alloc(n + 1, 1);

	pack_bytes(p, bytes, n);
	return bytes;
}

static void pack_node(struct pack *p, struct topo *t, node_id v)
{
	uint8_t kind = p->reads ? 0 : (uint8_t)t->nodes[v].kind;
	uint16_t ports = p->reads ? 0 : t->nodes[v].n_ports;
	char *name = p->reads ? NULL : t->nodes[v].name;

	pack_u8(p, &kind);
	pack_u16(p, &ports);
	name = pack_name(p, name);
	if (p->reads && pack_check(p, kind <= NODE_ROUTER && ports <= TOPO_MAX_PORTS))
		topo_add_node(t, (enum node_kind)kind, ports, name);
	if (p->reads)
		free(name);
	if (!p->refused)
		PACK_STRUCT(p, node_members, &t->nodes[v]);
}

/* Packs each cable once, at its later port. */
static void pack_port(struct pack *p, struct topo *t, port_id i)
{
	const struct topo_port *port = &t->ports[i];
	uint32_t peer = p->reads ? TOPO_NONE : port->peer;

	PACK_STRUCT(p, port_members, &t->ports[i]);
	pack_check(p, are_vls(port->vls) && is_mtu(port->mtu));
	if (peer != TOPO_NONE && peer > i)
		peer = TOPO_NONE;
	pack_u32(p, &peer);
	if (!p->reads || peer == TOPO_NONE || p->refused)
		return;
	if (pack_check(p, peer < i && t->ports[i].number > 0 && t->ports[peer].number > 0 &&
				  t->ports[peer].peer == TOPO_NONE))
		topo_link(t, peer, i);
}

void topo_pack(struct pack *p, struct topo *t)
{
	size_t n = pack_count(p, p->reads ? 0 : t->n_nodes);

	if (p->reads)
		topo_init(t);
	for (node_id v = 0; v < n && !p->refused; v++)
		pack_node(p, t, v);
	for (port_id i = 0; i < t->n_ports && !p->refused; i++)
		pack_port(p, t, i);
	if (p->reads)
		topo_number_subnets(t);
	pack_check(p, t->n_subnets <= TOPO_MOST_SUBNETS);
}
