/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define MAX_LMC 7

struct balancer {
	struct subnet *s;
	const struct sw_graph *g;
	uint32_t *load;   /* destinations per switch port, at g->port_base */
	uint32_t *system; /* number of the system that a switch belongs to */
	const struct subnet *keep;
};

/* The permitted ports of one switch toward one target. */
struct choice {
	switch_id at;
	unsigned n;
	uint8_t ports[TOPO_MAX_PORTS + 1];
	/* Where the ports lead; only for the second and further LIDs. */
	switch_id to[TOPO_MAX_PORTS + 1];
	uint32_t system[TOPO_MAX_PORTS + 1];
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

static uint64_t system_of(const struct topo_node *v)
{
	return v->system_guid ? v->system_guid : v->guid;
}

static int compare_guids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Numbers the systems that switches belong to: the rank of their GUID. */
static void number_systems(struct balancer *b)
{
	uint32_t n = b->g->n;
	uint64_t *guids = hd_alloc(n, sizeof(*guids));

	b->system = hd_alloc(n, sizeof(*b->system));
	for (switch_id sw = 0; sw < n; sw++)
		guids[sw] =
			system_of(&b->s->topo->nodes[b->s->node_of_switch[sw]]);
	qsort(guids, n, sizeof(*guids), compare_guids);
	for (switch_id sw = 0; sw < n; sw++) {
		uint64_t key =
			system_of(&b->s->topo->nodes[b->s->node_of_switch[sw]]);
		const uint64_t *at =
			bsearch(&key, guids, n, sizeof(*guids), compare_guids);

		while (at > guids && at[-1] == key)
			at--;
		b->system[sw] = (uint32_t)(at - guids);
	}
	free(guids);
}

static switch_id neighbour(const struct balancer *b, switch_id at, uint8_t port)
{
	return b->g->edges[edge_of(b->g, at, port)].to;
}

/* How near to a port the earlier LIDs of the same destination already went. */
struct reuse {
	bool system, node;
	unsigned times;
};

/* Where the earlier LIDs of a destination go from one switch. */
struct earlier {
	unsigned n;
	switch_id ways[1u << MAX_LMC];
	uint32_t systems[1u << MAX_LMC];
};

static struct reuse reuse_of(const struct earlier *e, switch_id to,
			     uint32_t system)
{
	struct reuse r = { false, false, 0 };

	for (unsigned i = 0; i < e->n; i++) {
		r.system |= e->systems[i] == system;
		r.times += e->ways[i] == to;
	}
	r.node = r.times > 0;
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
	const uint8_t *row = &b->s->lft[(size_t)c->at * b->s->lft_stride];
	struct ranked best = { .any_times = UINT32_MAX };
	struct earlier ways = { .n = earlier };
	unsigned start = 0;

	for (unsigned i = 0; i < earlier; i++) {
		ways.ways[i] = neighbour(b, c->at, row[base + i]);
		ways.systems[i] = b->system[ways.ways[i]];
	}

	while (start < c->n && c->ports[start] <= row[base + earlier - 1])
		start++;
	for (unsigned i = 0; i < c->n; i++) {
		unsigned k = start + i < c->n ? start + i : start + i - c->n;
		struct reuse used = reuse_of(&ways, c->to[k], c->system[k]);

		rank(&best, load, c->ports[k], &used);
	}
	if (best.other_system)
		return best.other_system;
	return best.other_node ? best.other_node : best.any;
}

/* The port in force for a LID if it is permitted still, else LFT_NO_PORT. */
static uint8_t kept_port(const struct balancer *b, const struct choice *c,
			 lid_t lid)
{
	uint8_t port = b->keep ? lft_get(b->keep, c->at, lid) : LFT_NO_PORT;

	if (port == LFT_NO_PORT || !memchr(c->ports, port, c->n))
		return LFT_NO_PORT;
	return port;
}

static void route_dest(struct balancer *b, const struct choice *c,
		       const struct dest *d, unsigned offset)
{
	lid_t base = b->s->lid_of_port[d->owner];
	uint8_t port = kept_port(b, c, (lid_t)(base + offset));

	if (c->at == d->sw)
		port = d->port;
	else if (c->n == 0)
		return;
	else if (port != LFT_NO_PORT)
		; /* as it is */
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
		for (unsigned i = 0; offset > 0 && i < c.n; i++) {
			c.to[i] = neighbour(b, c.at, c.ports[i]);
			c.system[i] = b->system[c.to[i]];
		}
		for (const struct dest *d = first; d < end; d++) {
			if (offset < 1u << b->s->lmc_of_port[d->owner] &&
			    !(d->counts && rule->switches_only))
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
	struct balancer b = { .s = s, .g = g, .keep = rule->keep };
	struct dest_order o;

	b.load = hd_alloc(g->port_base[g->n], sizeof(*b.load));
	number_systems(&b);
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
	free(b.system);
}
