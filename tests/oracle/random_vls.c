/* SPDX-License-Identifier: BSD-2-Clause */
/* VLs and partitions that change during a run (T11l). */
#include "random_parts.h"

#include <stdlib.h>

#include "base/alloc.h"

#define VLS_PERCENT 20 /* of scenarios have such changes */

/* Like the scenario's subnet, with VLs and partitions of its own. */
static struct subnet *plan_new(struct scenario *s)
{
	const struct topo *t = &s->fabric.topo;
	struct subnet *n = hd_alloc(1, sizeof(*n));

	*n = s->fabric.subnet;
	n->groups = NULL; /* those of jobs come later */
	n->n_groups = 0;
	n->sl2vl_tables = hd_alloc(FABRIC_TABLES, sizeof(*n->sl2vl_tables));
	n->sl2vl_of_port = hd_alloc(t->n_ports, sizeof(*n->sl2vl_of_port));
	n->sl2vl_of_pair = hd_alloc(n->n_switches, sizeof(uint16_t *));
	for (switch_id w = 0; w < n->n_switches; w++) {
		size_t side = t->nodes[n->node_of_switch[w]].n_ports + (size_t)1;

		n->sl2vl_of_pair[w] = hd_alloc(side * side, sizeof(uint16_t));
	}
	n->vls_of_port = hd_alloc(t->n_ports, sizeof(*n->vls_of_port));
	n->pkeys = hd_alloc(t->n_ports, sizeof(*n->pkeys));
	for (port_id p = 0; p < t->n_ports; p++) {
		n->vls_of_port[p] = s->fabric.subnet.vls_of_port[p];
		n->pkeys[p].keys = hd_alloc(FABRIC_PKEYS, sizeof(uint16_t));
	}
	s->plans = hd_grow(s->plans, &s->plans_cap, s->n_plans + 1, sizeof(struct subnet *));
	s->plans[s->n_plans++] = n;
	return n;
}

static void plan_free(struct subnet *n)
{
	for (switch_id w = 0; w < n->n_switches; w++)
		free(n->sl2vl_of_pair[w]);
	for (port_id p = 0; p < n->topo->n_ports; p++)
		free(n->pkeys[p].keys);
	free(n->sl2vl_tables);
	free(n->sl2vl_of_port);
	free(n->sl2vl_of_pair);
	free(n->vls_of_port);
	free(n->pkeys);
	free(n);
}

void plans_free(struct scenario *s)
{
	for (size_t i = 0; i < s->n_plans; i++)
		plan_free(s->plans[i]);
	free(s->plans);
}

/* Some cables get fewer VLs or more; one VL stays one, as T10 says nothing
 * of tables that are ignored for a while. */
static void operation_draw(const struct scenario *s, struct subnet *n, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	unsigned share = chance(r, 50) ? 0 : 60;
	uint8_t most = most_vls(s);

	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct sim_port *p = &t->ports[i];

		if (p->peer == SIM_NONE || p->peer < i || p->vls < 2 || t->ports[p->peer].vls < 2 ||
		    !chance(r, share))
			continue;
		n->vls_of_port[p->origin] = (uint8_t)(2 + below(r, most - 1u));
		n->vls_of_port[t->ports[p->peer].origin] = n->vls_of_port[p->origin];
	}
}

static bool has_pairs(const struct scenario *s)
{
	for (uint32_t i = 0; i < s->jobs.n; i++)
		if (s->jobs.list[i].rc)
			return true;
	return s->pairs.n > 0;
}

/* Lines of queue pairs whose VLs change (Q2) are not drawn: end ports keep
 * theirs. */
static void end_vls_keep(const struct scenario *s, struct subnet *n)
{
	const struct subnet *first = &s->fabric.subnet;

	for (uint32_t i = 0; i < first->n_sl2vl_tables; i++)
		n->sl2vl_tables[n->n_sl2vl_tables + i] = first->sl2vl_tables[i];
	for (uint32_t e = 0; e < s->fabric.n_ends; e++) {
		uint32_t port = fabric_end_port(&s->fabric, e);
		port_id at = s->fabric.setup.ports[port].origin;

		n->sl2vl_of_port[at] = n->n_sl2vl_tables + first->sl2vl_of_port[at];
		n->vls_of_port[at] = first->vls_of_port[at];
	}
	n->n_sl2vl_tables += first->n_sl2vl_tables;
}

/* About the time when some head arrives at its switch. */
static hd_time time_draw(const struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_arrival *a = &s->arrivals[below(r, (uint32_t)s->n_arrivals)];
	uint32_t port = t->nodes[a->source].first_port + 1;

	if (t->ports[port].peer == SIM_NONE || chance(r, 30))
		return a->time;
	return a->time + t->ports[port].propagation +
	       rng_below(r, t->sw.routing / s->tick + 1) * s->tick;
}

static void path_add(struct scenario *s, struct sim_path_change c)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t at = t->n_paths;

	t->paths = hd_realloc(t->paths, t->n_paths + (size_t)1, sizeof(*t->paths));
	for (; at > 0 && t->paths[at - 1].time > c.time; at--)
		t->paths[at] = t->paths[at - 1];
	t->paths[at] = c;
	t->n_paths++;
}

/* What sources send has the keys that they have at first. */
static uint16_t own_key(const struct scenario *s, uint32_t node, uint16_t key)
{
	const struct sim_setup *t = &s->fabric.setup;
	port_id at = t->ports[t->nodes[node].first_port + 1].origin;

	return pkey_own(&s->fabric.subnet.pkeys[at], key);
}

static void own_keys_give(struct scenario *s)
{
	for (size_t i = 0; i < s->n_arrivals; i++)
		s->arrivals[i].pkey = own_key(s, s->arrivals[i].source, s->arrivals[i].pkey);
	for (uint32_t i = 0; i < s->pairs.n; i++)
		s->pairs.list[i].pkey = own_key(s, s->pairs.list[i].from, s->pairs.list[i].pkey);
}

void vl_changes_draw(struct scenario *s, struct rng *r)
{
	uint32_t n = 1 + below(r, chance(r, 60) ? 3 : 12);

	if (!chance(r, VLS_PERCENT) || s->plain || s->settled)
		return;
	own_keys_give(s);
	for (uint32_t i = 0; i < n; i++) {
		struct subnet *plan = plan_new(s);

		operation_draw(s, plan, r);
		vl_tables_draw(s, plan, r);
		if (has_pairs(s))
			end_vls_keep(s, plan);
		keys_draw(s, plan, r);
		end_keys_draw(s, plan, r);
		path_add(s, (struct sim_path_change){
				    .time = time_draw(s, r), .subnet = plan, .vls = true });
	}
}
