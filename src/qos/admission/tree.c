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

/* A walk: links are in the order in which they were found. */
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
	/* More links than ports have been taken: some of them twice. */
	if (t->ports[link->port].peer == TOPO_NONE || out->n > t->n_ports)
		return HD_ERR_NOT_FOUND;
	return link->vl < w->s->vls_of_port[link->port] ? HD_OK : HD_ERR_UNFIT;
}

/* Continues the walk at the node that a packet enters by port `in`. */
static enum hd_status fan_out(struct tree_walk *w, port_id in, uint32_t before)
{
	const struct subnet *s = w->s;
	const struct topo *t = s->topo;
	node_id node = t->ports[in].node;
	switch_id sw = s->switch_of_node[node];
	enum hd_status status = HD_OK;

	if (sw == TOPO_NONE)
		return HD_OK; /* a host: delivered */
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

enum hd_status tree_path_to(const struct tree_path *t, const struct subnet *s, port_id member,
			    struct path *out)
{
	const struct topo *topo = s->topo;
	node_id node = topo->ports[member].node;
	bool own = topo_is_switch(topo, node);
	uint32_t at = TREE_ROOT;

	out->n_hops = 0;
	for (uint32_t i = 0; i < t->n && at == TREE_ROOT; i++) {
		port_id to = topo->ports[t->links[i].port].peer;

		if (own ? topo->ports[to].node == node : to == member)
			at = i;
	}
	if (at == TREE_ROOT)
		return HD_ERR_NOT_FOUND;
	for (uint32_t i = at; i != TREE_ROOT; i = t->links[i].before)
		out->n_hops++;
	if (out->n_hops > PATH_MAX_HOPS)
		return HD_ERR_NOT_FOUND;
	for (uint32_t i = at, h = out->n_hops; h-- > 0; i = t->links[i].before) {
		out->port[h] = t->links[i].port;
		out->vl[h] = t->links[i].vl;
	}
	return HD_OK;
}

static uint32_t in_common(const struct path *a, const struct path *b)
{
	uint32_t n = 0;

	while (n < a->n_hops && n < b->n_hops && a->port[n] == b->port[n])
		n++;
	return n;
}

enum hd_status tree_flows(const struct tree_flow *f, struct path *paths, struct bound_flow *flows)
{
	for (uint32_t i = 0; i < f->n_members; i++) {
		enum hd_status status = tree_path_to(f->tree, f->subnet, f->members[i], &paths[i]);

		if (status != HD_OK)
			return status;
		flows[i] = f->like;
		flows[i].path = paths[i].port;
		flows[i].n_hops = paths[i].n_hops;
		flows[i].n_trunk = 0;
		for (uint32_t k = 0; k < i; k++) {
			uint32_t n = in_common(&paths[i], &paths[k]);

			if (n <= flows[i].n_trunk)
				continue;
			flows[i].n_trunk = n;
			flows[i].trunk = f->first + k;
		}
	}
	return HD_OK;
}
