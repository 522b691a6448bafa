/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/direction.h"

#include <string.h>

const struct direction_vls grid_vls_ne_sw = {
	"NE:VL0 SW:VL1",
	{ [DIR_EAST] = 0, [DIR_NORTH] = 0, [DIR_WEST] = 1, [DIR_SOUTH] = 1 },
};
const struct direction_vls grid_vls_e_n_w_s = {
	"E:VL0 N:VL1 W:VL2 S:VL3",
	{ [DIR_EAST] = 0, [DIR_NORTH] = 1, [DIR_WEST] = 2, [DIR_SOUTH] = 3 },
};
const struct direction_vls grid_vls_n_e_s_w = {
	"N:VL0 E:VL1 S:VL2 W:VL3",
	{ [DIR_EAST] = 1, [DIR_NORTH] = 0, [DIR_WEST] = 3, [DIR_SOUTH] = 2 },
};

/* One step up in a dimension of `size`, round the end too. */
static bool is_step(unsigned from, unsigned to, uint32_t size)
{
	return to == from + 1 || (from + 1 == size && to == 0 && size > 2);
}

/* False if the port leads to no neighbour in x or y. */
static bool direction_of(const struct topo *t, port_id port, enum direction *out)
{
	port_id peer = t->ports[port].peer;

	if (peer == TOPO_NONE || !topo_is_switch(t, t->ports[peer].node) ||
	    !topo_is_switch(t, t->ports[port].node))
		return false;
	const uint16_t *a = topo_node_of(t, port)->coord;
	const uint16_t *b = topo_node_of(t, peer)->coord;

	if (a[1] == b[1] && is_step(a[0], b[0], t->dims[0]))
		*out = DIR_EAST;
	else if (a[1] == b[1] && is_step(b[0], a[0], t->dims[0]))
		*out = DIR_WEST;
	else if (a[0] == b[0] && is_step(a[1], b[1], t->dims[1]))
		*out = DIR_NORTH;
	else if (a[0] == b[0] && is_step(b[1], a[1], t->dims[1]))
		*out = DIR_SOUTH;
	else
		return false;
	return true;
}

uint8_t grid_direction_vl(const struct direction_vls *l, const struct topo *t, port_id out)
{
	enum direction way;

	return direction_of(t, out, &way) ? l->vl[way] : 0;
}

static enum hd_status set_out(struct subnet *s, const struct direction_vls *l, switch_id sw,
			      unsigned out, struct diag *d)
{
	node_id v = s->node_of_switch[sw];
	port_id p = topo_port_of(s->topo, v, out);
	uint8_t vl = grid_direction_vl(l, s->topo, p);
	struct sl2vl table;

	if (out > 0 && s->topo->ports[p].peer == TOPO_NONE)
		return HD_OK;
	if (vl >= s->vls_of_port[p])
		return diag_fail(
			d, HD_ERR_UNFIT,
			"VLs by direction (%s) need VL %u, which port %u of '%s' does not have",
			l->name, vl, out, s->topo->nodes[v].name);
	memset(table.vl, vl, sizeof(table.vl));
	for (unsigned in = 0; in <= s->topo->nodes[v].n_ports; in++)
		subnet_set_sl2vl(s, sw, in, out, &table);
	return HD_OK;
}

enum hd_status direction_set_vls(struct subnet *s, const struct direction_vls *l, struct diag *d)
{
	const struct topo *t = s->topo;
	bool plane = t->n_dims == 2 && (t->family == FAMILY_MESH || t->family == FAMILY_TORUS ||
					t->family == FAMILY_NODE_MESH);
	const struct sl2vl first = { { 0 } };

	if (!plane)
		return diag_fail(d, HD_ERR_UNFIT,
				 "VLs by direction need a mesh or torus of two dimensions");
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		unsigned n = switch_node(s, sw)->n_ports;

		for (unsigned out = 0; out <= n; out++) {
			if (set_out(s, l, sw, out, d) != HD_OK)
				return d->status;
		}
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		if (topo_is_end_port(t, p))
			subnet_set_port_sl2vl(s, p, &first);
	}
	return HD_OK;
}
