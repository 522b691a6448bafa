/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/path.h"

static void append(struct path *path, port_id port, uint8_t vl)
{
	path->port[path->n_hops] = port;
	path->vl[path->n_hops] = vl;
	path->n_hops++;
}

enum hd_status path_walk(const struct subnet *s, port_id source, lid_t dlid, uint8_t sl,
			 struct path *path)
{
	const struct topo *t = s->topo;
	unsigned subnet = t->ports[source].subnet;
	port_id out = source;
	uint8_t vl;

	path->n_hops = 0;
	if (dlid == 0 || dlid > s->top_lid[subnet])
		return HD_ERR_NOT_FOUND;
	port_id target = s->port_of_lid[subnet][dlid];

	if (target == source)
		return HD_ERR_NOT_FOUND; /* a path to itself does not exist */
	sl = path_sl(s, source, dlid, sl);
	vl = sl2vl_of(s, source)->vl[sl];
	while (path->n_hops < PATH_MAX_HOPS) {
		if (t->ports[out].peer == TOPO_NONE)
			return HD_ERR_NOT_FOUND;
		append(path, out, vl);
		if (vl >= s->vls_of_port[out])
			return HD_ERR_UNFIT;
		port_id in = t->ports[out].peer;

		if (in == target)
			return HD_OK;
		switch_id sw = s->switch_of_node[t->ports[in].node];

		if (sw == TOPO_NONE)
			return HD_ERR_NOT_FOUND;
		uint8_t number = lft_get(s, sw, dlid);

		if (number == 0)
			return HD_OK; /* the switch itself, or its host */
		if (number == LFT_NO_PORT)
			return HD_ERR_NOT_FOUND;
		vl = sl2vl_at(s, sw, t->ports[in].number, number)->vl[sl];
		out = topo_port_of(t, t->ports[in].node, number);
	}
	return HD_ERR_NOT_FOUND;
}
