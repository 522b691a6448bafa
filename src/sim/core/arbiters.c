/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiled VL arbitration table of each link. Ports with equal tables share one. When tables
 * change (T11c), unused places are reused, so the number of places is bounded by the number of
 * different tables in use at one time.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/arbiters.h"

/* A place of sim.arb.tables. */
struct arbiter_place {
	uint32_t users; /* number of links; 0: free */
	uint32_t table; /* table number in the subnet; if free: next free place */
};

struct arbiter_places {
	struct arbiter_place *place;
	size_t cap;
	uint32_t *of_table;  /* place by table number of the subnet; NONE: not compiled */
	uint32_t first_free; /* or NONE */
};

/* Returns a place for one more table. */
static uint32_t place_find(struct sim *s)
{
	struct arbiter_places *p = s->arb.places;
	uint32_t i = p->first_free;

	if (i != NONE) {
		p->first_free = p->place[i].table;
		return i;
	}
	assert(s->arb.n_tables < SIM_MOST_TABLES); /* fabric/ checks this limit */
	s->arb.tables = hd_grow(s->arb.tables, &s->arb.tables_cap, s->arb.n_tables + 1u,
				sizeof(*s->arb.tables));
	p->place = hd_grow(p->place, &p->cap, s->arb.n_tables + 1u, sizeof(*p->place));
	return s->arb.n_tables++;
}

static void place_leave(struct sim *s, uint32_t i)
{
	struct arbiter_places *p = s->arb.places;

	if (--p->place[i].users)
		return;
	p->of_table[p->place[i].table] = NONE;
	p->place[i].table = p->first_free;
	p->first_free = i;
}

static uint16_t place_take(struct sim *s, uint32_t table)
{
	struct arbiter_places *p = s->arb.places;
	uint32_t i = p->of_table[table];

	if (i == NONE) {
		i = place_find(s);
		p->place[i] = (struct arbiter_place){ .table = table };
		p->of_table[table] = i;
		arbiter_table_init(&s->arb.tables[i], &s->setup->subnet->vlarb_tables[table]);
	}
	p->place[i].users++;
	return (uint16_t)i;
}

/* Only the next change is an event; handling it schedules the one after. */
static void change_expect(struct sim *s, uint32_t id)
{
	if (id == s->setup->n_changes)
		return;
	eventq_push(&s->q, s->setup->changes[id].time, event_key(EV_TABLE, 0, 0, 0));
	s->arb.next_change = id;
	s->background++;
}

void arbiters_init(struct sim *s)
{
	const struct subnet *sub = s->setup->subnet;
	struct arbiter_places *p = hd_alloc(1, sizeof(*p));

	s->arb.places = p;
	p->first_free = NONE;
	p->of_table = hd_alloc(sub->n_vlarb_tables, sizeof(*p->of_table));
	for (uint32_t i = 0; i < sub->n_vlarb_tables; i++)
		p->of_table[i] = NONE;
	change_expect(s, 0);
}

void arbiters_begin(struct sim *s, uint32_t port)
{
	port_id origin = s->setup->ports[port].origin;
	struct sim_output *l = &s->links[port];

	l->table = place_take(s, s->setup->subnet->vlarb_of_port[origin]);
	arbiter_init(&l->arb, &s->arb.tables[l->table]);
}

void arbiters_fini(struct sim *s)
{
	free(s->arb.tables);
	free(s->arb.places->place);
	free(s->arb.places->of_table);
	free(s->arb.places);
}

static void exchange(struct sim *s, const struct sim_table_change *c)
{
	struct sim_output *l = &s->links[c->port];
	uint16_t before = l->table;

	if (!has_row(s, c->port))
		return;
	l->table = place_take(s, c->table);
	place_leave(s, before);
	arbiter_adapt(&l->arb, &s->arb.tables[l->table]);
	if (l->requests)
		port_stir(sim_of_port(s, c->port), c->port);
}

void arbiters_change(struct sim *s)
{
	const struct sim_setup *setup = s->setup;
	uint32_t id = s->arb.next_change;
	hd_time now = setup->changes[id].time;

	s->background--;
	for (; id < setup->n_changes && setup->changes[id].time == now; id++)
		exchange(s, &setup->changes[id]);
	change_expect(s, id);
}

/* ---- checkpoint --------------------------------------------------------- */

void checkpoint_state_table(struct checkpoint_state *v, uint32_t port)
{
	struct sim *s = v->s;
	struct sim_output *l = &s->links[port];
	uint32_t before = l->table, table = s->arb.places->place[before].table;

	pack_u32(v->p, &table);
	if (!v->p->reads || !pack_check(v->p, table < s->setup->subnet->n_vlarb_tables))
		return;
	l->table = place_take(s, table);
	place_leave(s, before);
}
