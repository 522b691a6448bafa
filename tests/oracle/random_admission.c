/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows that ask for leave to start (C8). */
#include "random_parts.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The end node that speaks for a switch. */
static uint32_t voice_of(const struct sim_setup *t, uint32_t sw)
{
	return t->ports[t->ports[t->nodes[sw].first_port].peer].node;
}

/* Whether the tables lead from device to device, and back. */
static bool is_askable(const struct scenario *s, const struct sim_arrival *a)
{
	const struct fabric *fabric = &s->fabric;
	const struct sim_setup *t = &fabric->setup;
	uint32_t from = a->source, to, port = t->nodes[from].first_port + 1;

	if (!is_controllable(s, a) || a->dlid > fabric->n_ends || from >= fabric->topo.n_nodes ||
	    fabric->ends[a->dlid - 1u] >= fabric->topo.n_nodes)
		return false;
	to = fabric->ends[a->dlid - 1u];
	if (!is_way(fabric, from, to) || !is_way(fabric, to, from))
		return false;
	for (uint32_t before = from; before != to;) {
		uint32_t node = t->ports[t->ports[port].peer].node, device = to;

		if (node != to) {
			device = voice_of(t, node);
			port = t->nodes[node].first_port +
			       lft_get(&fabric->subnet, t->nodes[node].sw, a->dlid);
		}
		if (!is_way(fabric, before, device) || !is_way(fabric, device, before))
			return false;
		before = device;
	}
	return true;
}

/* Eighths of a link, so that some fill it, or anything. */
static uint64_t reserve_draw(const struct sim_port *p, struct rng *r)
{
	uint64_t eighth = p->rate.num / p->rate.den / 8;
	uint32_t n = 1 + below(r, 5);

	if (p->rate.den == 1 && p->rate.num % 8 == 0 && !chance(r, 30))
		return eighth * n;
	return eighth * n - 1 - rng_below(r, eighth / 2 + 1);
}

static void ask_draw(struct scenario *s, uint32_t flow, const struct sim_arrival *first,
		     struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_arrival like = *first;
	uint32_t port = t->nodes[like.source].first_port + 1;
	struct oracle_ask *a = &s->asks.list[s->asks.n++];

	*a = (struct oracle_ask){ .flow = flow, .start = like.time };
	if (chance(r, 60)) /* when others have had their answers */
		a->start += rng_below(r, 100 * s->d_max);
	a->gap = chance(r, 10) ? 0 : rng_below(r, 2 * s->d_max + 1);
	s->reserve[flow] = reserve_draw(&t->ports[port], r);
	for (size_t i = 0; i < s->n_arrivals; i++) {
		struct sim_arrival *x = &s->arrivals[i];

		if (x->flow != flow)
			continue;
		x->bytes = like.bytes;
		x->time = a->start + x->sequence * a->gap;
	}
	if (a->gap > 0 && chance(r, 30))
		a->stop = a->start + 1 + rng_below(r, 30 * s->d_max);
}

void asks_draw(struct scenario *s, struct rng *r)
{
	const struct sim_arrival *of[MAX_FLOWS] = { NULL };
	uint32_t n_flows = flows_find(s, of);

	if (!s->asking || s->fabric.setup.n_routes > 0)
		return;
	s->asks.list = hd_alloc(MAX_FLOWS, sizeof(*s->asks.list));
	s->reserve = hd_alloc(MAX_FLOWS, sizeof(*s->reserve));
	for (uint32_t i = 0; i < n_flows; i++)
		if (of[i] && !is_pairs_flow(s, i) && is_askable(s, of[i]) && chance(r, 70))
			ask_draw(s, i, of[i], r);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		if (chance(r, 40))
			s->control->sl_share[sl] = (1 + below(r, 8)) / 8.0;
	s->control->reserve = s->reserve;
	scenario_sort(s);
}

void asks_drop(struct scenario *s)
{
	s->asks.n = 0;
	s->control->reserve = NULL;
}

void asks_keep(struct scenario *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->asks.n; i++) {
		const struct oracle_ask *a = &s->asks.list[i];
		bool sends = false;

		for (size_t k = 0; k < s->n_arrivals; k++) {
			struct sim_arrival *x = &s->arrivals[k];

			if (x->flow != a->flow)
				continue;
			x->time = a->start + x->sequence * a->gap;
			sends = true;
		}
		if (sends)
			s->asks.list[kept++] = *a;
		else
			s->reserve[a->flow] = 0;
	}
	s->asks.n = kept;
	scenario_sort(s);
}
