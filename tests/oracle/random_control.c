/* SPDX-License-Identifier: BSD-2-Clause */
/* Senders (T13p) and congestion control (C1 to C6). */
#include "random_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

#define SENDERS_PERCENT 30 /* of scenarios have more than one per port */
#define MANAGED_PERCENT 30 /* of those with control have it changed (C9) */

/* The first packet of each flow, which is like all others of it. */
uint32_t flows_find(const struct scenario *s, const struct sim_arrival **of)
{
	uint32_t n = 0;

	for (size_t i = s->n_arrivals; i-- > 0;) {
		const struct sim_arrival *a = &s->arrivals[i];

		of[a->flow] = a;
		if (a->flow >= n)
			n = a->flow + 1;
	}
	return n;
}

/* Flows of one port that draw the same number share a sender. */
void senders_draw(struct scenario *s, struct rng *r)
{
	uint16_t of[MAX_FLOWS];
	uint32_t n = 2 + below(r, 4);

	if (!chance(r, SENDERS_PERCENT) || s->plain || s->paired || s->jobbed || s->asking)
		return;
	for (int i = 0; i < MAX_FLOWS; i++)
		of[i] = (uint16_t)below(r, n);
	for (size_t i = 0; i < s->n_arrivals; i++)
		s->arrivals[i].sender = of[s->arrivals[i].flow];
}

/* C1: what may be throttled. */
bool is_controllable(const struct scenario *s, const struct sim_arrival *a)
{
	const struct fabric *fabric = &s->fabric;
	const struct sim_setup *t = &fabric->setup;
	uint32_t from = t->nodes[a->source].first_port + 1;

	if (a->management || a->global || a->dlid >= LID_FIRST_MCAST)
		return false;
	if (fabric->subnet.n_subnets == 1)
		return true;
	if (a->dlid > fabric->n_ends)
		return false;
	return fabric->topo.ports[t->ports[from].origin].subnet ==
	       fabric->topo.ports[t->ports[fabric_end_port(fabric, a->dlid - 1u)].origin].subnet;
}

void free_sls_draw(struct scenario *s, struct rng *r)
{
	if (!s->controlled || chance(r, 50))
		return;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		if (chance(r, 35))
			s->pairs.free_sls |= (uint16_t)(1u << sl);
}

static bool is_free_sl(const struct scenario *s, uint8_t sl)
{
	return s->pairs.free_sls >> sl & 1;
}

static void marking_draw(const struct scenario *s, struct mark_config *m, struct rng *r)
{
	static const enum mark_rule rules[20] = {
		MARK_NONE,        MARK_TWO_COUNTER, MARK_TWO_COUNTER, MARK_TWO_COUNTER,
		MARK_TWO_COUNTER, MARK_TWO_COUNTER, MARK_TWO_COUNTER, MARK_TWO_COUNTER,
		MARK_THRESHOLD,   MARK_THRESHOLD,   MARK_THRESHOLD,   MARK_THRESHOLD,
		MARK_IBA,         MARK_IBA,         MARK_IBA,         MARK_IBA,
		MARK_IBA,         MARK_IBA,         MARK_IBA,         MARK_IBA
	};
	uint32_t packet = (s->sizes[0] + 63) / 64;

	m->rule = rules[below(r, 20)];
	m->guard = chance(r, 50);
	m->depth = 1 + below(r, 3 * packet);
	m->threshold = (uint8_t)(chance(r, 90) ? 4 + below(r, 12) : 0);
	m->mark_victims = chance(r, 35);
	m->min_bytes = chance(r, 40) ? s->sizes[below(r, s->n_sizes)] : 0;
	m->mark_every = chance(r, 60) ? 0 : below(r, 4);
}

/* Delays that grow with the index, some in fractions of a packet. */
static void table_fill(struct cc_config *c, struct rng *r)
{
	uint32_t shift = below(r, 4), slope = 1 + below(r, 4);

	c->ccti_limit = (uint16_t)(1 + below(r, 30));
	c->ccti_increase = (uint16_t)(1 + below(r, 4));
	c->ccti_min = (uint16_t)(chance(r, 80) ? 0 : below(r, 2));
	c->ccti_timer = (uint16_t)(chance(r, 10) ? 0 : 1 + below(r, 4));
	for (uint32_t i = 0; i < CCT_MAX_ENTRIES; i++)
		c->cct[i] = (uint16_t)(shift << 14 | i * slope);
}

/*
 * Rates are about those of the largest packet, and the lowest one is not so
 * low that nothing happens before the end.
 */
void response_draw(const struct scenario *s, struct sim_throttle *t, struct rng *r)
{
	static const double spreads[5] = { 1.5, 2, 4, 9, 20 };
	static const double roots[4] = { 1.3, 2, 3, 4 };
	struct diag d;

	t->algorithm = chance(r, 10) ? NULL : cc_algorithms[below(r, 5)];
	do {
		double rmax = (1 + below(r, 2)) * (double)HD_S / (double)s->d_max *
			      (1 + below(r, 100) / 300.0);

		t->config = cc_config_default(rmax / spreads[below(r, 5)], rmax);
		t->config.m = roots[below(r, 4)];
		t->config.add = t->config.rmin * (1 + below(r, 20)) / 10.0;
		t->config.cap_first_increase = chance(r, 50);
		table_fill(&t->config, r);
	} while (t->algorithm && cc_check(t->algorithm, &t->config, &d) != HD_OK);
}

/* The throttle of a flow: an old one if flows share, or a new one. */
static uint32_t throttle_find(const struct scenario *s, uint32_t n,
			      const struct sim_arrival *const *of, uint32_t flow)
{
	for (uint32_t i = 0; i < flow; i++) {
		uint32_t t = s->throttle_of_flow[i];

		if (t != SIM_NONE && of[i]->source == of[flow]->source && of[i]->sl == of[flow]->sl)
			return t;
	}
	return n;
}

/* Numbers that no plain sender of the port has: all odd, or beyond them. */
static uint32_t sender_number(const struct scenario *s, uint32_t n, uint32_t node, bool between)
{
	uint32_t number = between ? 1 : 6, step = between ? 2 : 1;

	for (uint32_t i = 0; i < n; i++)
		if (s->throttles[i].node == node)
			number += step;
	return number;
}

static void throttles_draw(struct scenario *s, struct rng *r)
{
	const struct sim_arrival *of[MAX_FLOWS] = { NULL };
	uint32_t n_flows = flows_find(s, of), n = 0;
	bool shared = chance(r, 40), alike = chance(r, 70);
	bool between = chance(r, 50);
	unsigned plain = chance(r, 40) ? 50 : 10;

	s->throttles = hd_alloc(MAX_FLOWS, sizeof(*s->throttles));
	s->throttle_of_flow = hd_alloc(MAX_FLOWS, sizeof(uint32_t));
	for (uint32_t i = 0; i < n_flows; i++) {
		struct sim_throttle *t;

		s->throttle_of_flow[i] = SIM_NONE;
		if (!of[i] || is_pairs_flow(s, i) || !is_controllable(s, of[i]) ||
		    is_free_sl(s, of[i]->sl) || chance(r, plain))
			continue;
		s->throttle_of_flow[i] = shared ? throttle_find(s, n, of, i) : n;
		if (s->throttle_of_flow[i] < n)
			continue;
		t = &s->throttles[n];
		t->node = of[i]->source;
		t->sender = sender_number(s, n, t->node, between);
		if (alike && n > 0) {
			t->algorithm = s->throttles[0].algorithm;
			t->config = s->throttles[0].config;
		} else {
			response_draw(s, t, r);
		}
		n++;
	}
	s->control->n_throttles = n;
	s->control->n_flows = n_flows;
	/* Throttles have the odd numbers: plain senders the even ones. */
	for (size_t i = 0; i < s->n_arrivals; i++) {
		struct sim_arrival *a = &s->arrivals[i];

		if (s->throttle_of_flow[a->flow] != SIM_NONE)
			a->sender = 0;
		else if (between)
			a->sender = (uint16_t)(2 * a->sender);
	}
}

void control_draw(struct scenario *s, struct rng *r)
{
	struct sim_control *c;
	hd_time d = s->d_max;

	if (!s->controlled)
		return;
	c = s->control = hd_alloc(1, sizeof(*c));
	marking_draw(s, &c->marking, r);
	c->echo = chance(r, 50) ? SIM_ECHO_ACK : SIM_ECHO_CNP;
	c->fixed_gap = chance(r, 50);
	c->window = chance(r, 85) ? 1 + below(r, 5) : 64;
	if (chance(r, 50))
		c->ack_delay = 1 + rng_below(r, 3 * d);
	if (chance(r, 60))
		c->timeout = 1 + rng_below(r, 30 * d);
	throttles_draw(s, r);
	c->throttles = s->throttles;
	c->throttle_of_flow = s->throttle_of_flow;
	s->fabric.setup.control = c;
}

/* For sources without control for a while: a table without delays. */
static void table_clear(struct cc_config *c)
{
	for (uint32_t i = 0; i < CCT_MAX_ENTRIES; i++)
		c->cct[i] = 0;
}

/* What every throttle has from then on, by the algorithm that it has. */
static const struct cc_config *configs_draw(struct scenario *s, struct rng *r)
{
	struct cc_config *made = hd_alloc(s->control->n_throttles + (size_t)1, sizeof(*made));

	for (uint32_t i = 0; i < s->control->n_throttles; i++) {
		struct sim_throttle t;
		struct diag d;

		do
			response_draw(s, &t, r);
		while (s->throttles[i].algorithm &&
		       cc_check(s->throttles[i].algorithm, &t.config, &d) != HD_OK);
		made[i] = chance(r, 30) ? s->throttles[i].config : t.config;
		if (chance(r, 15))
			table_clear(&made[i]);
	}
	s->configs =
		hd_grow(s->configs, &s->configs_cap, s->n_configs + 1, sizeof(struct cc_config *));
	return s->configs[s->n_configs++] = made;
}

void settings_draw(struct scenario *s, struct rng *r)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t n = 1 + below(r, chance(r, 60) ? 3 : 10);
	hd_time at = 0;

	if (!s->controlled || s->settled || !chance(r, MANAGED_PERCENT))
		return;
	t->settings = hd_alloc(n, sizeof(*t->settings));
	for (uint32_t i = 0; i < n; i++) {
		struct sim_control_change *c = &t->settings[t->n_settings++];

		at += rng_below(r, 40 * s->d_max);
		c->time = at;
		marking_draw(s, &c->marking, r);
		c->marking.rule = s->control->marking.rule;
		c->configs = configs_draw(s, r);
	}
}
