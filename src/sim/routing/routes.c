/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * T11l: VLs and partitions that change are looked up by time. T11r: forwarding tables that change.
 * A switch uses the row of the subnet until its first change, then its own copy with all changes so
 * far. A head is routed when it is granted upstream, so a change during its transmission applies.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/core/sim_internal.h"
#include "sim/routing/routes.h"

/* Changes of one switch: first .. end - 1; those before `next` are applied. */
struct rerouted {
	uint8_t *row; /* NULL: unchanged */
	uint32_t first, next, end;
};

struct switch_tables {
	struct sim_route_change *changes; /* ordered by node, then time */
	struct rerouted nodes[];
};

void switch_tables_init(struct sim *s)
{
	const struct sim_setup *u = s->setup;
	uint32_t n = 0;

	if (u->n_routes == 0)
		return;
	struct switch_tables *r = hd_alloc(1, sizeof(*r) + u->n_nodes * sizeof(*r->nodes));

	r->changes = hd_alloc(u->n_routes, sizeof(*r->changes));
	for (uint32_t i = 0; i < u->n_routes; i++)
		r->nodes[u->routes[i].node].end++;
	for (uint32_t v = 0; v < u->n_nodes; v++) {
		struct rerouted *x = &r->nodes[v];

		if (x->end)
			s->nodes[v].plain = false;
		x->first = x->next = n;
		n += x->end;
		x->end = x->first;
	}
	for (uint32_t i = 0; i < u->n_routes; i++)
		r->changes[r->nodes[u->routes[i].node].end++] = u->routes[i];
	s->routes = r;
}

void switch_tables_fini(struct sim *s)
{
	if (!s->routes)
		return;
	for (uint32_t v = 0; v < s->setup->n_nodes; v++)
		free(s->routes->nodes[v].row);
	free(s->routes->changes);
	free(s->routes);
}

/* Applies the changes up to now to the row. */
static void row_advance(struct sim *s, uint32_t node, struct rerouted *x)
{
	const struct node *n = &s->nodes[node];

	for (; x->next < x->end; x->next++) {
		const struct sim_route_change *c = &s->routes->changes[x->next];

		if (c->time > s->now)
			return;
		if (c->ports)
			continue;
		if (!x->row) {
			x->row = hd_alloc_dense(n->lft_len, 1);
			for (uint32_t lid = 0; lid < n->lft_len; lid++)
				x->row[lid] = *lft_entry(s, n, (lid_t)lid);
		}
		x->row[c->lid] = c->port;
	}
}

unsigned switch_tables_output(struct sim *s, const struct node *n, const struct packet_record *p)
{
	uint32_t node = (uint32_t)(n - s->nodes);
	struct rerouted *x = &s->routes->nodes[node];

	row_advance(s, node, x);
	unsigned out = x->row ? x->row[p->dlid] : *lft_entry(s, n, p->dlid);

	for (uint32_t i = x->next; i < x->end; i++) {
		const struct sim_route_change *c = &s->routes->changes[i];

		if (c->time > p->head)
			break;
		if (c->lid == p->dlid)
			out = c->port;
	}
	return out;
}

const uint64_t *switch_tables_set(const struct sim *s, const struct node *n,
				  const struct group_at *at, const uint64_t *first)
{
	const struct rerouted *x = &s->routes->nodes[n - s->nodes];

	for (uint32_t i = x->end; i-- > x->first;) {
		const struct sim_route_change *c = &s->routes->changes[i];

		if (c->time <= at->when && c->lid == at->mlid)
			return c->ports;
	}
	return first;
}

const struct subnet *switch_tables_vls_at(const struct sim *s, hd_time when)
{
	const struct sim_setup *u = s->setup;

	for (uint32_t i = u->n_paths; i-- > 0;) {
		if (u->paths[i].vls && u->paths[i].time <= when)
			return u->paths[i].subnet;
	}
	return u->subnet;
}

unsigned switch_tables_max_vls(const struct sim *s, uint32_t port)
{
	const struct sim_setup *u = s->setup;
	port_id origin = u->ports[port].origin;
	unsigned most = u->ports[port].vls;

	for (uint32_t i = 0; s->mode.vls_change && i < u->n_paths; i++) {
		const struct subnet *sub = u->paths[i].subnet;

		if (u->paths[i].vls && sub->vls_of_port[origin] > most)
			most = sub->vls_of_port[origin];
	}
	return most;
}

bool switch_tables_refuse_keys(const struct sim *s, uint32_t port)
{
	const struct sim_setup *u = s->setup;
	port_id origin = u->ports[port].origin;
	const struct pkey_table *first = &u->subnet->pkeys[origin];
	bool any = first->enforce_in || first->enforce_out;

	for (uint32_t i = 0; s->mode.vls_change && i < u->n_paths; i++) {
		const struct pkey_table *t = &u->paths[i].subnet->pkeys[origin];

		any = any || (u->paths[i].vls && (t->enforce_in || t->enforce_out));
	}
	return any;
}

const struct subnet *switch_tables_paths_now(const struct sim *s)
{
	const struct sim_setup *u = s->setup;

	for (uint32_t i = u->n_paths; i-- > 0;) {
		if (u->paths[i].time <= s->now)
			return u->paths[i].subnet;
	}
	return u->subnet;
}
