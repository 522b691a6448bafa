/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/collective.h"
#include "subnet/multicast/mcast_load.h"
#include "subnet/routing/graph.h"

/* Intermediate state of the bound. */
struct limits {
	const struct collective_op *op;
	enum collective_scheme scheme;
	hd_time per_hop; /* routing, arbitration and propagation delay */
	hd_time prop;
	struct hd_rate rate;
	uint64_t message; /* bytes on the wire */
	uint32_t nearest; /* minimum number of hops over all pairs */
	hd_time most;
};

static void at_least(struct limits *x, uint64_t messages, uint32_t hops)
{
	/* A path has one cable more than switches, and one switch more than hops. */
	hd_time t = hd_rate_duration(x->rate, messages * x->message) + x->prop +
		    (hops + 1u) * x->per_hop;

	if (t > x->most)
		x->most = t;
}

/* Adds one member at the distance of the load; false if it is unreachable. */
static bool add_member(struct limits *x, const struct mcast_load *l, port_id member)
{
	if (l->hops[member] == GRAPH_FAR)
		return false;
	at_least(x, 1, l->hops[member]);
	if (l->hops[member] < x->nearest)
		x->nearest = l->hops[member];
	return true;
}

/* Adds the messages of one source to groups; false if one is unreachable. */
static bool add_groups(struct limits *x, struct mcast_load *l, uint32_t i)
{
	port_id source = x->op->sources[i];
	uint32_t first, n = collective_groups(l->s, x->op, i, &first);

	for (uint32_t k = first; k < first + n; k++) {
		const struct mcast_group *g = &l->s->groups[k];

		if (!mcast_load_tree(l, source, g->mlid))
			return false;
		for (uint32_t m = 0; m < g->n_members; m++) {
			if (g->members[m] != source && !add_member(x, l, g->members[m]))
				return false;
		}
	}
	return n > 0;
}

/* Adds all messages of one source; false if one cannot be delivered. */
static bool add_source(struct limits *x, struct mcast_load *l, uint32_t i)
{
	const struct collective_op *op = x->op;

	if (x->scheme == COLLECTIVE_MULTICAST)
		return add_groups(x, l, i);
	for (uint32_t k = 0; k < op->n_members; k++) {
		port_id member = op->members[k];

		if (member != op->sources[i] &&
		    (!mcast_load_unicast(l, op->sources[i], member) || !add_member(x, l, member)))
			return false;
	}
	return true;
}

hd_time collective_bound(const struct sim_setup *setup, const struct subnet *subnet,
			 const struct collective_op *op, enum collective_scheme scheme)
{
	struct limits x = { .op = op,
			    .scheme = scheme,
			    .message = collective_wire_bytes(op, scheme),
			    .nearest = GRAPH_FAR };
	struct mcast_load l;
	bool reached = true;

	/* Where cables differ, the best values of all cables still give a bound. */
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

	/* Load of the busiest link, plus the rest of the shortest path. */
	at_least(&x, peak.injection, x.nearest);
	at_least(&x, peak.ejection, x.nearest);
	if (peak.link)
		at_least(&x, peak.link, 1);
	mcast_load_fini(&l);
	return reached ? x.most : HD_TIME_NEVER;
}
