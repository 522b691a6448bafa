/* SPDX-License-Identifier: BSD-2-Clause */
/* Forwarding tables that change (T11r). */
#include "random_parts.h"

#include "base/alloc.h"

#define ROUTES_PERCENT 20 /* of scenarios have forwarding that changes */

static void route_add(struct scenario *s, const struct sim_route_change *c)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t at = t->n_routes++;

	t->routes = hd_realloc(t->routes, t->n_routes, sizeof(*t->routes));
	for (; at > 0 && t->routes[at - 1].time > c->time; at--)
		t->routes[at] = t->routes[at - 1];
	t->routes[at] = *c;
}

/* Any port, or none; or back to what the table began with. */
static uint8_t output_draw(const struct fabric *fabric, uint32_t sw, lid_t lid, struct rng *r)
{
	if (chance(r, 30))
		return lft_get(&fabric->subnet, sw, lid);
	if (chance(r, 10))
		return LFT_NO_PORT;
	return (uint8_t)below(r, fabric->setup.nodes[sw].n_ports + 1);
}

/*
 * Some of the ports that the set began with: then copies still go along a
 * tree, and do not multiply.
 */
static const uint64_t *set_draw(struct scenario *s, uint32_t sw, lid_t mlid, struct rng *r)
{
	const struct fabric *fabric = &s->fabric;
	uint64_t *set = hd_alloc(1, sizeof(*set));

	*set = *mft_get(fabric->subnet.mft, sw, fabric->subnet.n_switches, mlid);
	if (chance(r, 70))
		*set &= rng_next(r);
	s->sets = hd_grow(s->sets, &s->sets_cap, s->n_sets + 1, sizeof(uint64_t *));
	s->sets[s->n_sets++] = set;
	return set;
}

/*
 * When a packet is made, or when it may reach its first switch, or while it is
 * being routed there.
 */
static hd_time time_draw(const struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_arrival *a = &s->arrivals[below(r, (uint32_t)s->n_arrivals)];
	uint32_t port = t->nodes[a->source].first_port + 1;

	if (t->ports[port].peer == SIM_NONE || chance(r, 30))
		return a->time;
	if (!s->adaptive)
		return a->time + t->ports[port].propagation;
	return a->time + t->ports[port].propagation +
	       rng_below(r, t->sw.routing / s->tick + 1) * s->tick;
}

void reroutes_draw(struct scenario *s, struct rng *r)
{
	const struct fabric *fabric = &s->fabric;
	uint32_t n = 1 + below(r, chance(r, 50) ? 6 : 60);

	if (!chance(r, ROUTES_PERCENT) || s->plain)
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = below(r, fabric->subnet.n_switches);
		struct sim_route_change c = { .node = sw };

		c.time = time_draw(s, r);
		if (s->n_groups > 0 && chance(r, 30)) {
			c.lid = (lid_t)(LID_FIRST_MCAST + below(r, s->n_groups));
			c.ports = set_draw(s, sw, c.lid, r);
		} else {
			c.lid = (lid_t)(1 + below(r, fabric->n_ends + s->routed));
			c.port = output_draw(fabric, sw, c.lid, r);
		}
		route_add(s, &c);
	}
}
