/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams with routes of their own, in addition to the rest that is drawn (A5). */
#include "base/alloc.h"
#include "random_parts.h"

enum { MOST_MADS = 60, MAD_FLOWS = 1 << 20 };

/* A data VL that the port has all the time. */
static uint8_t some_vl(const struct scenario *s, uint32_t port, struct rng *r)
{
	return s->n_plans > 0 ? 0 : (uint8_t)rng_below(r, s->fabric.setup.ports[port].vls);
}

/* An output of a switch with a cable. */
static uint32_t some_output(const struct sim_setup *t, const struct sim_node *n, struct rng *r)
{
	uint32_t port;

	do
		port = n->first_port + (uint32_t)rng_below(r, n->n_ports + 1);
	while (t->ports[port].peer == SIM_NONE);
	return port;
}

/* A walk from an end or a switch, which ends at a switch or at the first end. */
static void route_draw(const struct scenario *s, struct oracle_mad *m, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_node *at = &t->nodes[m->from];

	do {
		uint32_t out = at->kind == SIM_END ? at->first_port + 1 : some_output(t, at, r);

		m->route[m->n].out = out;
		m->route[m->n].vl = at->kind == SIM_END ? 0 : some_vl(s, out, r);
		m->n++;
		at = &t->nodes[t->ports[t->ports[out].peer].node];
	} while (at->kind == SIM_SWITCH && m->n < ORACLE_MOST_LINKS && rng_below(r, 4) > 0);
}

static uint32_t end_of_route(const struct sim_setup *t, const struct oracle_mad *m)
{
	return t->ports[t->ports[m->route[m->n - 1].out].peer].node;
}

static struct oracle_mad *mad_add(struct scenario *s, uint32_t from, struct rng *r)
{
	struct oracle_mad *m = &s->mads.list[s->mads.n];

	*m = (struct oracle_mad){
		.flow = MAD_FLOWS + s->mads.n++,
		.time = HD_TIME_NEVER,
		.from = from,
		.bytes = s->sizes[rng_below(r, s->n_sizes)],
		.management = rng_below(r, 2),
		.sl = (uint8_t)rng_below(r, N_SLS),
		.serves = rng_below(r, 3) ? s->tick * rng_below(r, 50) : 0,
		.answer = ORACLE_NO_MAD,
	};
	route_draw(s, m, r);
	return m;
}

/* Input 0 of switches is theirs. */
static bool is_fit(const struct scenario *s)
{
	const struct sim_setup *t = &s->fabric.setup;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].kind == SIM_ROUTER ||
		    (t->nodes[i].kind == SIM_SWITCH &&
		     t->ports[t->nodes[i].first_port].peer != SIM_NONE))
			return false;
	return t->sw.order == SIM_VOQ && !t->vl_sharing.on && !s->control;
}

void mads_draw(struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	uint32_t n = 1 + (uint32_t)rng_below(r, MOST_MADS / 2 - 1);

	if (!is_fit(s))
		return;
	for (size_t i = 0; i < s->n_arrivals; i++)
		s->arrivals[i].sender = 0;
	s->mads.list = hd_alloc(MOST_MADS, sizeof(*s->mads.list));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from;

		do
			from = (uint32_t)rng_below(r, t->n_nodes);
		while (t->nodes[from].kind != SIM_END ||
		       t->ports[t->nodes[from].first_port + 1].peer == SIM_NONE);
		struct oracle_mad *m = mad_add(s, from, r);

		m->time = s->tick * rng_below(r, s->horizon / s->tick / 2 + 1);
		if (rng_below(r, 3) == 0)
			continue;
		m->answer = (int)s->mads.n;
		mad_add(s, end_of_route(t, m), r);
	}
}
