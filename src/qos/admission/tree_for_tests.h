/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_TREE_FOR_TESTS_H
#define HD_QOS_ADMISSION_TREE_FOR_TESTS_H

/* The links of a multicast tree as flows of a network, one for each member. */

#include "qos/admission/tree.h"

/* The way to a member; HD_ERR_NOT_FOUND if the tree does not reach it. */
static inline enum hd_status tree_path_to(const struct tree_path *t, const struct subnet *s,
					  port_id member, struct path *out)
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

static inline uint32_t in_common(const struct path *a, const struct path *b)
{
	uint32_t n = 0;

	while (n < a->n_hops && n < b->n_hops && a->port[n] == b->port[n])
		n++;
	return n;
}

/* What bounds are asked for: one multicast flow and its members. */
struct tree_flow {
	const struct tree_path *tree;
	const struct subnet *subnet;
	struct bound_flow like; /* class, burst, period */
	const port_id *members;
	uint32_t n_members;
	uint32_t first; /* flows of the network that come before these */
};

/*
 * One flow per member for bound_delays. What their ways have in common counts
 * once: a flow is a branch of an earlier one (bound_flow.trunk). Port k of
 * the network is port k of the topology. `paths` has room for each member's
 * and must live as long as the flows.
 */
static inline enum hd_status tree_flows(const struct tree_flow *f, struct path *paths,
					struct bound_flow *flows)
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

#endif
