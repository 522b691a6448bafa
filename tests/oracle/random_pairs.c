/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows whose messages go over queue pairs (Q1 to Q7). */
#include "random_parts.h"

#include "base/alloc.h"

#define MAX_FLOWS 64

bool is_pairs_flow(const struct scenario *s, uint32_t flow)
{
	for (uint32_t i = 0; i < s->pairs.n; i++)
		if (s->pairs.list[i].flow == flow)
			return true;
	return false;
}

uint32_t mtu_draw(const struct scenario *s, struct rng *r)
{
	uint32_t mtu = 256;

	while (mtu < 4096 && 2 * mtu + PAIR_HEADERS <= s->sizes[0] && !chance(r, 20))
		mtu *= 2;
	return mtu;
}

bool is_way(const struct fabric *fabric, uint32_t from, uint32_t to)
{
	const struct sim_setup *t = &fabric->setup;
	uint32_t at = t->ports[t->nodes[from].first_port + 1].peer;
	lid_t lid = fabric->subnet.lid_of_port[t->ports[t->nodes[to].first_port + 1].origin];

	for (uint32_t hops = 0; hops < 2 * MAX_SWITCHES; hops++) {
		const struct sim_node *n;
		uint8_t out;

		if (at == SIM_NONE)
			return false;
		n = &t->nodes[t->ports[at].node];
		if (n->kind != SIM_SWITCH)
			return t->ports[at].node == to;
		out = lft_get(&fabric->subnet, n->sw, lid);
		if (out == LFT_NO_PORT || out > n->n_ports)
			return false;
		at = t->ports[n->first_port + out].peer;
	}
	return false;
}

static bool is_pairable(const struct scenario *s, const struct sim_arrival *a)
{
	const struct fabric *fabric = &s->fabric;

	return is_controllable(s, a) && a->dlid <= fabric->n_ends &&
	       is_way(fabric, a->source, fabric->ends[a->dlid - 1]) &&
	       is_way(fabric, fabric->ends[a->dlid - 1], a->source);
}

static uint32_t length_draw(const struct oracle_pair *p, uint32_t mtu, struct rng *r)
{
	static const uint32_t packets[8] = { 1, 1, 1, 2, 3, 4, 17, 40 };

	if (p->transport == ORACLE_UD)
		return 1 + below(r, mtu);
	if (chance(r, 20))
		return mtu * packets[below(r, 8)];
	return 1 + below(r, mtu * packets[below(r, 8)]);
}

hd_time pair_time(const struct oracle_pair *p, uint32_t sequence)
{
	return p->start + p->gap * sequence;
}

/* Messages at equal gaps, or all at once. */
static void posts_draw(struct scenario *s, struct oracle_pair *p, struct rng *r)
{
	hd_time d = s->d_max * (1 + p->length / s->pairs.mtu);

	p->gap = chance(r, 20) ? 0 : rng_below(r, chance(r, 50) ? d : 4 * d);
	for (size_t i = 0; i < s->n_arrivals; i++)
		if (s->arrivals[i].flow == p->flow)
			s->arrivals[i].time = pair_time(p, s->arrivals[i].sequence);
}

/* How they answer to marks, all in the same way; rates are shares of links. */
static void answers_draw(struct scenario *s, struct rng *r)
{
	struct oracle_pairs *p = &s->pairs;
	struct sim_throttle t;

	if (!s->controlled || chance(r, 20))
		return;
	response_draw(s, &t, r);
	p->rate_steps = 2 + below(r, 20);
	p->algorithm = t.algorithm;
	p->config = t.config;
	p->config.rmax = 1;
	p->config.rmin = p->config.add = 1 / (double)p->rate_steps;
	p->config.unit = p->config.rmin / 2;
	p->per_sl = chance(r, 30);
}

void pairs_draw(struct scenario *s, struct rng *r)
{
	const struct sim_arrival *of[MAX_FLOWS] = { NULL };
	uint32_t n_flows = flows_find(s, of);
	unsigned share = chance(r, 50) ? 40 : 80;

	if (!s->paired)
		return;
	s->pairs.mtu = mtu_draw(s, r);
	s->pairs.list = hd_alloc(MAX_FLOWS, sizeof(*s->pairs.list));
	for (uint32_t i = 0; i < n_flows; i++) {
		struct oracle_pair *p = &s->pairs.list[s->pairs.n];

		if (!of[i] || !is_pairable(s, of[i]) || !chance(r, share))
			continue;
		*p = (struct oracle_pair){
			.flow = i,
			.transport = chance(r, 60)   ? ORACLE_RC
				     : chance(r, 50) ? ORACLE_UC
						     : ORACLE_UD,
			.from = of[i]->source,
			.to = s->fabric.ends[of[i]->dlid - 1],
			.dlid = of[i]->dlid,
			.sl = of[i]->sl,
			.pkey = of[i]->pkey,
			.start = of[i]->time,
			.timeout = (uint8_t)(1 + below(r, 3)),
		};
		p->length = length_draw(p, s->pairs.mtu, r);
		posts_draw(s, p, r);
		s->pairs.n++;
	}
	answers_draw(s, r);
	scenario_sort(s);
}

void early_draw(struct scenario *s, struct rng *r)
{
	static const uint32_t most[8] = { 1, 1, 2, 3, 5, 8, 20, 65536 };

	if (s->settled || chance(r, s->spread ? 0 : 60))
		return;
	s->pairs.out_of_order = most[below(r, 8)];
	if (s->choice && (s->paired || s->jobbed) && chance(r, 70))
		s->choice->per = SIM_AR_PACKET;
}

uint32_t pairs_packets(const struct scenario *s, uint32_t flow)
{
	for (uint32_t i = 0; i < s->pairs.n; i++)
		if (s->pairs.list[i].flow == flow)
			return s->pairs.list[i].length / s->pairs.mtu;
	return 0;
}
