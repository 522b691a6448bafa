/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"

void tree_path_fini(struct tree_path *t)
{
	free(t->links);
	*t = (struct tree_path){ .links = NULL };
}

/* State of a traversal: links are in the order of discovery. */
struct tree_walk {
	const struct subnet *s;
	struct tree_path *out;
	lid_t mlid;
	uint8_t sl;
};

static enum hd_status append(struct tree_walk *w, const struct tree_link *link)
{
	const struct topo *t = w->s->topo;
	struct tree_path *out = w->out;

	out->links = hd_grow(out->links, &out->cap, out->n + 1, sizeof(*out->links));
	out->links[out->n++] = *link;
	/* More links than ports: some were visited twice. */
	if (t->ports[link->port].peer == TOPO_NONE || out->n > t->n_ports)
		return HD_ERR_NOT_FOUND;
	return link->vl < w->s->vls_of_port[link->port] ? HD_OK : HD_ERR_UNFIT;
}

/* Continues the traversal at the node entered by port `in`. */
static enum hd_status fan_out(struct tree_walk *w, port_id in, uint32_t before)
{
	const struct subnet *s = w->s;
	const struct topo *t = s->topo;
	node_id node = t->ports[in].node;
	switch_id sw = s->switch_of_node[node];
	enum hd_status status = HD_OK;

	if (sw == TOPO_NONE)
		return HD_OK; /* an end port: delivered */
	const uint64_t *ports = mft_get(&s->mft[t->ports[in].subnet], sw, s->n_switches, w->mlid);

	if (!ports)
		return HD_ERR_NOT_FOUND;
	for (unsigned out = 1; out <= t->nodes[node].n_ports && status == HD_OK; out++) {
		if (out == t->ports[in].number || !mcast_has_port(ports, out))
			continue;
		const struct tree_link link = {
			.port = topo_port_of(t, node, out),
			.vl = sl2vl_at(s, sw, t->ports[in].number, out)->vl[w->sl],
			.before = before,
		};

		status = append(w, &link);
	}
	return status;
}

enum hd_status tree_walk(const struct subnet *s, port_id source, lid_t mlid, uint8_t sl,
			 struct tree_path *out)
{
	struct tree_walk w = { .s = s, .out = out, .mlid = mlid };
	enum hd_status status;

	w.sl = path_sl(s, source, mlid, sl);

	*out = (struct tree_path){ .links = NULL };
	if (topo_is_switch(s->topo, s->topo->ports[source].node))
		status = fan_out(&w, source, TREE_ROOT);
	else
		status = append(&w, &(struct tree_link){ .port = source,
							 .vl = sl2vl_of(s, source)->vl[w.sl],
							 .before = TREE_ROOT });
	for (uint32_t i = 0; i < out->n && status == HD_OK; i++)
		status = fan_out(&w, s->topo->ports[out->links[i].port].peer, i);
	return status;
}
