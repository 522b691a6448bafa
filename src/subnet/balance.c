/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/balance.h"

#include <stdlib.h>

#include "base/alloc.h"

struct balancer {
	struct subnet *s;
	const struct sw_graph *g;
	uint32_t *load; /* destinations per switch port, at g->port_base */
};

/* The permitted ports of one switch toward one target. */
struct choice {
	switch_id at;
	unsigned n;
	uint8_t ports[TOPO_MAX_PORTS + 1];
};

static uint8_t least_loaded(const struct balancer *b, const struct choice *c)
{
	const uint32_t *load = &b->load[b->g->port_base[c->at]];
	uint8_t best = c->ports[0];

	for (unsigned i = 1; i < c->n; i++) {
		if (load[c->ports[i]] < load[best])
			best = c->ports[i];
	}
	return best;
}

static const struct topo_node *neighbour(const struct balancer *b, switch_id at,
					 uint8_t port)
{
	edge_id e = edge_of(b->g, at, port);

	return &b->s->topo->nodes[b->s->node_of_switch[b->g->edges[e].to]];
}

static uint64_t system_of(const struct topo_node *v)
{
	return v->system_guid ? v->system_guid : v->guid;
}

/* How near to `port` the earlier LIDs of the same destination already went. */
struct reuse {
	bool system, node;
	unsigned times;
};

static struct reuse reuse_of(const struct balancer *b, switch_id at, lid_t base,
			     unsigned earlier, uint8_t port)
{
	const struct topo_node *there = neighbour(b, at, port);
	struct reuse r = { false, false, 0 };

	for (unsigned i = 0; i < earlier; i++) {
		uint8_t used = lft_get(b->s, at, (lid_t)(base + i));
		const struct topo_node *v = neighbour(b, at, used);

		if (system_of(v) == system_of(there))
			r.system = true;
		if (v == there) {
			r.node = true;
			r.times++;
		}
	}
	return r;
}

/* The best port so far of three kinds; 0 = none yet. */
struct ranked {
	uint8_t other_system, other_node, any;
	unsigned any_times;
};

static void rank(struct ranked *r, const uint32_t *load, uint8_t port,
		 const struct reuse *used)
{
	if (!used->system &&
	    (!r->other_system || load[port] < load[r->other_system])) {
		r->other_system = port;
		r->any_times = 0;
	}
	if (used->system && !used->node &&
	    (!r->other_node || load[port] < load[r->other_node])) {
		r->other_node = port;
		r->any_times = 0;
	}
	if (!r->any || load[port] < load[r->any] ||
	    (used->node && load[port] == load[r->any] &&
	     used->times < r->any_times)) {
		r->any = port;
		if (used->node && used->times < r->any_times)
			r->any_times = used->times;
	}
}

/*
 * For the second and further LIDs of a port: a system, else a switch, that the
 * earlier ones do not pass, beginning after the port of the previous one.
 */
static uint8_t another_way(const struct balancer *b, const struct choice *c,
			   lid_t base, unsigned earlier)
{
	const uint32_t *load = &b->load[b->g->port_base[c->at]];
	uint8_t previous = lft_get(b->s, c->at, (lid_t)(base + earlier - 1));
	struct ranked best = { .any_times = UINT32_MAX };
	unsigned start = 0;

	while (start < c->n && c->ports[start] <= previous)
		start++;
	for (unsigned i = 0; i < c->n; i++) {
		uint8_t port = c->ports[(start + i) % c->n];
		struct reuse used = reuse_of(b, c->at, base, earlier, port);

		rank(&best, load, port, &used);
	}
	if (best.other_system)
		return best.other_system;
	return best.other_node ? best.other_node : best.any;
}

static void route_dest(struct balancer *b, const struct choice *c,
		       const struct dest *d, unsigned offset)
{
	lid_t base = b->s->lid_of_port[d->owner];
	uint8_t port;

	if (c->at == d->sw)
		port = d->port;
	else if (c->n == 0)
		return;
	else if (offset == 0)
		port = least_loaded(b, c);
	else
		port = another_way(b, c, base, offset);
	b->s->lft[(size_t)c->at * b->s->lft_stride + base + offset] = port;
	if (d->counts)
		b->load[b->g->port_base[c->at] + port]++;
}

/* Routes LID base + offset of the destinations [first, end), on one switch. */
static void route_group(struct balancer *b, const struct route_rule *rule,
			const struct dest *first, const struct dest *end,
			unsigned offset)
{
	struct choice c;

	rule->aim(rule->state, first->sw);
	for (c.at = 0; c.at < b->g->n; c.at++) {
		c.n = c.at == first->sw
			      ? 0
			      : rule->ports(rule->state, c.at, c.ports);
		if (c.n == 0 && c.at != first->sw)
			continue;
		for (const struct dest *d = first; d < end; d++) {
			if (offset < 1u << b->s->lmc_of_port[d->owner])
				route_dest(b, &c, d, offset);
		}
	}
}

/* The first destination after `i` that hangs on another switch. */
static uint32_t end_of_group(const struct dest_order *o, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < o->n && o->dests[end].sw == o->dests[i].sw)
		end++;
	return end;
}

void balance_routes(struct subnet *s, const struct sw_graph *g,
		    const struct route_rule *rule)
{
	struct balancer b = { .s = s, .g = g };
	struct dest_order o;

	b.load = hd_alloc(g->port_base[g->n], sizeof(*b.load));
	dest_order_init(&o, s, g);
	for (unsigned offset = 0; offset < 1u << o.max_lmc; offset++) {
		for (uint32_t i = 0, end; i < o.n; i = end) {
			end = end_of_group(&o, i);
			route_group(&b, rule, &o.dests[i], &o.dests[end],
				    offset);
		}
	}
	dest_order_fini(&o);
	free(b.load);
}
