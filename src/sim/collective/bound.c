/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/collective/collective.h"
#include "subnet/graph.h"
#include "subnet/mcast_load.h"

/* The bound in the making. */
struct limits {
	const struct coll_op *op;
	enum coll_scheme scheme;
	hd_time per_hop; /* routing, arbitration, propagation */
	hd_time prop;
	struct hd_rate rate;
	uint64_t message; /* bytes on the wire */
	uint32_t nearest; /* least hops of any pair */
	hd_time most;
};

static void at_least(struct limits *x, uint64_t messages, uint32_t hops)
{
	/* One cable more than switches, which are one more than hops. */
	hd_time t = hd_rate_duration(x->rate, messages * x->message) + x->prop +
		    (hops + 1u) * x->per_hop;

	if (t > x->most)
		x->most = t;
}

/* All of one source's messages; false if one leads nowhere. */
static bool add_source(struct limits *x, struct mcast_load *l, uint32_t i)
{
	const struct coll_op *op = x->op;
	port_id source = op->sources[i];
	const struct subnet *s = l->s;

	if (x->scheme == COLL_MULTICAST &&
	    (s->n_groups == 0 ||
	     !mcast_load_tree(l, source,
			      s->groups[i < s->n_groups ? i : 0].mlid)))
		return false;
	for (uint32_t k = 0; k < op->n_members; k++) {
		port_id member = op->members[k];

		if (member == source)
			continue;
		if (x->scheme == COLL_UNICAST &&
		    !mcast_load_unicast(l, source, member))
			return false;
		if (l->hops[member] == GRAPH_FAR)
			return false;
		at_least(x, 1, l->hops[member]);
		if (l->hops[member] < x->nearest)
			x->nearest = l->hops[member];
	}
	return true;
}

hd_time coll_bound(const struct sim_setup *setup, const struct subnet *subnet,
		   const struct coll_op *op, enum coll_scheme scheme)
{
	struct limits x = { .op = op,
			    .scheme = scheme,
			    .message = coll_wire_bytes(op, scheme),
			    .nearest = GRAPH_FAR };
	struct mcast_load l;
	bool reached = true;

	/* Where cables differ, the best of all is a bound still. */
	x.rate = (struct hd_rate){ 0, 1 };
	x.prop = HD_TIME_NEVER;
	for (uint32_t p = 0; p < setup->n_ports; p++) {
		const struct sim_port *port = &setup->ports[p];

		if (port->peer == SIM_NONE)
			continue;
		if (hd_rate_compare(port->rate, x.rate) > 0)
			x.rate = port->rate;
		if (port->propagation < x.prop)
			x.prop = port->propagation;
	}
	x.per_hop = x.prop + setup->sw.routing + setup->sw.arbitration;
	mcast_load_init(&l, subnet);
	for (uint32_t i = 0; i < op->n_sources && reached; i++)
		reached = add_source(&x, &l, i);
	struct mcast_peak peak = mcast_load_peak(&l);

	/* What the busiest carries, and the rest of the shortest way. */
	at_least(&x, peak.injection, x.nearest);
	at_least(&x, peak.ejection, x.nearest);
	if (peak.link)
		at_least(&x, peak.link, 1);
	mcast_load_fini(&l);
	return reached ? x.most : HD_TIME_NEVER;
}
