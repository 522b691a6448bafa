/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_parts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "subnet/routing/router.h"

#define CHANGES_PERCENT    20 /* of scenarios have tables that change */
#define SATURATING_PERCENT 15 /* of scenarios have flows that saturate */

/* ---- flows ---- */

struct traffic {
	bool management, multicast;
	uint32_t hot; /* destination that many send to */
	uint32_t n_sls;
	uint32_t per_flow;
};

static hd_time gap_draw(const struct scenario *s, uint32_t bytes, struct rng *r)
{
	static const uint32_t quarters[6] = { 0, 1, 2, 3, 4, 8 };
	hd_time d = s->d_max * bytes / s->sizes[0] / s->tick;

	if (s->controlled && chance(r, 50)) /* saturates */
		return d / 4;
	if (chance(r, s->lengthy ? 40 : 20)) /* one among many */
		return d * (8 + below(r, 30));
	return d * quarters[below(r, 6)] / 4;
}

#define CHATTER 150 /* packets, about one per tick */

static void flow_packets(struct scenario *s, struct sim_arrival a, uint32_t count, struct rng *r)
{
	hd_time gap = count == CHATTER ? 1 : gap_draw(s, a.bytes, r);
	bool periodic = chance(r, 50);
	bool sizes_vary = chance(r, 30);
	hd_time time = below(r, 60);

	for (uint32_t i = 0; i < count && time < 3000; i++) {
		a.time = time * s->tick;
		a.sequence = i;
		if (sizes_vary)
			a.bytes = s->sizes[below(r, s->n_sizes)];
		s->arrivals = hd_grow(s->arrivals, &s->arrivals_cap, s->n_arrivals + 1, sizeof(a));
		s->arrivals[s->n_arrivals++] = a;
		time += periodic ? gap : below(r, 2 * (uint32_t)gap + 1);
	}
}

/* R1: to another subnet by way of a router, and now and then as it must not. */
static void address_draw(const struct scenario *s, uint32_t from, uint32_t to,
			 struct sim_arrival *a, struct rng *r)
{
	const struct fabric *fabric = &s->fabric;
	bool plain = s->plain;
	port_id source = fabric->setup.ports[fabric_end_port(fabric, from)].origin;
	port_id target = fabric->setup.ports[fabric_end_port(fabric, to)].origin;

	if (fabric->topo.ports[source].subnet == fabric->topo.ports[target].subnet &&
	    (plain || !chance(r, 2)))
		return;
	a->dlid = route_dlid(&fabric->subnet, source, target);
	a->global = plain || !chance(r, 3);
	a->target = target;
	if (plain) {
		a->tclass = a->sl;
		a->hop_limit = 64;
		return;
	}
	uint32_t tclass = below(r, 400);

	/* Unmarked (R4m) more often than by chance. */
	a->tclass = tclass < 256 ? (uint8_t)tclass : 0;
	a->hop_limit = chance(r, 70) ? 64 : (uint8_t)below(r, 4);
}

/* R4: what each subnet makes of a TClass; none of them, or all. */
void tclasses_draw(struct scenario *s, struct rng *r)
{
	struct fabric *fabric = &s->fabric;
	uint32_t n = fabric->subnet.n_subnets;

	if (n < 2 || s->plain || chance(r, 30))
		return;
	fabric->sl_of_tclass = hd_alloc(n, sizeof(*fabric->sl_of_tclass));
	for (uint32_t i = 0; i < 256 * n; i++)
		fabric->sl_of_tclass[i / 256][i % 256] = (uint8_t)below(r, N_SLS);
	fabric->setup.sl_of_tclass = (const uint8_t(*)[256])fabric->sl_of_tclass;
}

/* R4m: what each subnet's first routers write for an SL; some write nothing. */
void marks_draw(struct scenario *s, struct rng *r)
{
	struct fabric *fabric = &s->fabric;
	uint32_t n = fabric->subnet.n_subnets;

	if (n < 2 || s->plain || chance(r, 30))
		return;
	fabric->tclass_of_sl = hd_alloc(n, sizeof(*fabric->tclass_of_sl));
	for (uint32_t i = 0; i < n; i++) {
		/* In half of the subnets routers mark nothing. */
		uint32_t percent = chance(r, 50) ? 80 : 0;

		for (unsigned sl = 0; sl < N_SLS; sl++)
			fabric->tclass_of_sl[i][sl] =
				chance(r, percent) ? (uint8_t)below(r, 256) : 0;
	}
	fabric->setup.tclass_of_sl = (const uint8_t(*)[N_SLS])fabric->tclass_of_sl;
}

static void flow_draw(struct scenario *s, const struct traffic *t, uint32_t flow, struct rng *r)
{
	const struct fabric *fabric = &s->fabric;
	/* So that something is generated when a packet is answered (C5). */
	bool chatter = s->controlled && chance(r, 8);
	uint32_t from = chatter ? t->hot : below(r, fabric->n_ends);
	uint32_t to = chance(r, s->controlled ? 75 : 50) ? t->hot : below(r, fabric->n_ends);
	struct sim_arrival a = { .flow = flow, .source = fabric->ends[from] };

	/* One draw per statement: the order in an initializer is the compiler's. */
	a.pkey = keys_known[below(r, 4)];
	a.bytes = s->sizes[below(r, s->n_sizes)];
	a.sl = (uint8_t)below(r, t->n_sls);
	a.management = t->management && chance(r, 20);
	if (to == from)
		to = (from + 1) % fabric->n_ends;
	a.dlid = (lid_t)(to + 1);
	if (fabric->subnet.n_subnets > 1)
		address_draw(s, from, to, &a, r);
	if (chance(r, 1)) { /* no port has it */
		a.dlid = (lid_t)(s->routed ? FABRIC_LIDS - 1 : fabric->n_ends + 1);
		a.global = false;
	}
	if (t->multicast && !a.management && chance(r, s->controlled ? 12 : 35))
		a.dlid = (lid_t)(LID_FIRST_MCAST + below(r, s->n_groups));
	flow_packets(s, a, chatter ? CHATTER : 1 + below(r, t->per_flow), r);
}

static int by_time_flow_sequence(const void *x, const void *y)
{
	const struct sim_arrival *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

void scenario_sort(struct scenario *s)
{
	qsort(s->arrivals, s->n_arrivals, sizeof(*s->arrivals), by_time_flow_sequence);
}

void flows_draw(struct scenario *s, struct rng *r)
{
	bool many = s->lengthy || s->controlled || s->around;
	uint32_t n_flows = (many ? 6 : 2) + below(r, 11);
	struct traffic t = {
		.management = chance(r, 40) && !s->plain,
		.multicast = s->n_groups > 0,
		.hot = below(r, s->fabric.n_ends),
		.n_sls = s->lengthy ? N_SLS : 1 + below(r, N_SLS),
		.per_flow = s->lengthy ? 300 : 4 + below(r, 36),
	};

	for (uint32_t i = 0; i < n_flows; i++)
		flow_draw(s, &t, i, r);
	scenario_sort(s);
}

/* ---- faults ---- */

void fault_add(struct scenario *s, hd_time ticks, enum sim_fault_kind kind, uint32_t port)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t at = t->n_faults++;

	t->faults = hd_realloc(t->faults, t->n_faults, sizeof(*t->faults));
	for (; at > 0 && t->faults[at - 1].time > ticks * s->tick; at--)
		t->faults[at] = t->faults[at - 1];
	t->faults[at] = (struct sim_fault){ ticks * s->tick, kind, port };
}

/* Any time, or one at which a packet may just reach its first switch. */
static hd_time outage_time(const struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_arrival *a =
		&s->arrivals[below(r, (uint32_t)(s->n_arrivals < 60 ? s->n_arrivals : 60))];
	uint32_t port = t->nodes[a->source].first_port + 1;

	if (chance(r, 50))
		return below(r, 300);
	return (a->time + t->ports[port].propagation) / s->tick;
}

/* Some cable or sink fails, and mostly recovers, once or twice. */
static void outage_draw(struct scenario *s, uint32_t port, enum sim_fault_kind fails,
			enum sim_fault_kind recovers, struct rng *r)
{
	hd_time t = outage_time(s, r);

	for (uint32_t i = 1 + below(r, 3); i > 0; i--) {
		fault_add(s, t, fails, port);
		if (chance(r, 20))
			return;
		t += below(r, chance(r, 50) ? 20 : 300);
		fault_add(s, t, recovers, port);
		t += below(r, 200);
	}
}

void outages_draw(struct scenario *s, struct rng *r)
{
	struct sim_setup *t = &s->fabric.setup;
	bool links = chance(r, s->adaptive ? 45 : 20);
	bool sinks = chance(r, s->controlled ? 40 : 15);

	for (uint32_t i = 0; links && i < t->n_ports; i++)
		if (is_cable(t, i) && chance(r, 40))
			outage_draw(s, chance(r, 50) ? i : t->ports[i].peer, SIM_LINK_DOWN,
				    SIM_LINK_UP, r);
	for (uint32_t e = 0; sinks && e < s->fabric.n_ends; e++)
		if (chance(r, 40))
			outage_draw(s, fabric_end_port(&s->fabric, e), SIM_SINK_STUCK,
				    SIM_SINK_FREE, r);
}

void port_faults_draw(struct scenario *s, struct rng *r)
{
	struct sim_setup *t = &s->fabric.setup;
	bool errors = chance(r, 15), losses = chance(r, 18);
	bool lives = chance(r, s->controlled ? 30 : 20);
	uint32_t d = (uint32_t)(s->d_max / s->tick);
	uint32_t most = (s->controlled ? 2 : 6) * d + 10;
	hd_time life = (1 + below(r, most)) * s->tick;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct sim_port *p = &t->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		if (errors && chance(r, 60))
			p->ber = (1 + below(r, 30)) / 100.0 / (8.0 * s->sizes[0]);
		if (losses && chance(r, 60))
			p->update_loss = chance(r, 5) ? 1 : (1 + below(r, 60)) / 100.0;
		if (lives && chance(r, 70) && t->nodes[p->node].kind != SIM_END)
			p->hoq_life = life;
	}
}

/* ---- tables that change (T11c) ---- */

static void change_add(struct scenario *s, const struct sim_table_change *c)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t at = t->n_changes++;

	t->changes = hd_realloc(t->changes, t->n_changes, sizeof(*t->changes));
	for (; at > 0 && t->changes[at - 1].time > c->time; at--)
		t->changes[at] = t->changes[at - 1];
	t->changes[at] = *c;
}

/*
 * Weights that a few packets do not use up, so that there is something left to
 * cut; some places fall off the end.
 */
static void weights_redraw(const struct scenario *s, struct vlarb *t, struct rng *r)
{
	uint32_t most = 6 * ((s->sizes[0] + 63) / 64);

	if (most > 255)
		most = 255;
	for (uint8_t i = 0; i < t->n_high; i++)
		t->high[i].weight = (uint8_t)(1 + below(r, most));
	for (uint8_t i = 0; i < t->n_low; i++)
		t->low[i].weight = (uint8_t)(1 + below(r, most));
	if (t->n_high > 1 && chance(r, 30))
		t->n_high = (uint8_t)(1 + below(r, t->n_high - 1u));
	if (chance(r, 40))
		t->high_limit = (uint8_t)below(r, 4);
}

/* `n_first` tables are those that a run begins with. */
static uint32_t change_draw(struct scenario *s, uint32_t n_first, struct rng *r)
{
	struct subnet *n = &s->fabric.subnet;
	struct vlarb t;

	if (chance(r, 40)) {
		table_draw(s, &t, most_vls(s), r);
	} else {
		t = n->vlarb_tables[below(r, n_first)];
		weights_redraw(s, &t, r);
	}
	return subnet_keep_vlarb(n, &t);
}

/* Of one port, one or many; now and then two at one instant. */
static void port_changes_draw(struct scenario *s, uint32_t port, uint32_t n_first, struct rng *r)
{
	struct sim_table_change c = { .port = port };
	hd_time ticks = outage_time(s, r);
	uint32_t gap = chance(r, 50) ? 30 : 200;

	for (uint32_t i = 1 + below(r, chance(r, 30) ? 3 : 20); i > 0; i--) {
		c.time = ticks * s->tick;
		c.table = change_draw(s, n_first, r);
		change_add(s, &c);
		if (!chance(r, 10))
			ticks += below(r, gap);
	}
}

void changes_draw(struct scenario *s, struct rng *r)
{
	const struct sim_setup *t = &s->fabric.setup;
	uint32_t n_first = s->fabric.subnet.n_vlarb_tables;

	if (!chance(r, CHANGES_PERCENT) || s->plain)
		return;
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (t->ports[i].peer != SIM_NONE && chance(r, 60))
			port_changes_draw(s, i, n_first, r);
}

/* ---- flows that saturate (T13) ---- */

/* All packets alike, by sender 0, to its own subnet, without leave. */
static bool may_saturate(const struct scenario *s, uint32_t flow)
{
	for (uint32_t i = 0; i < s->asks.n; i++)
		if (s->asks.list[i].flow == flow)
			return false;
	for (size_t i = 0; i < s->n_arrivals; i++)
		if (s->arrivals[i].flow == flow && s->arrivals[i].global)
			return false;
	return flow < 64 && !is_pairs_flow(s, flow);
}

static void flow_saturates(struct scenario *s, const struct sim_arrival *first, hd_time start)
{
	const struct sim_arrival like = *first;

	s->saturating |= UINT64_C(1) << like.flow;
	for (size_t i = 0; i < s->n_arrivals; i++) {
		struct sim_arrival *a = &s->arrivals[i];

		if (a->flow != like.flow)
			continue;
		a->bytes = like.bytes;
		a->time = start;
	}
}

/* Mostly flows of one host, so that several meet at one port. */
void saturating_draw(struct scenario *s, struct rng *r)
{
	const struct sim_arrival *of[MAX_FLOWS] = { NULL };
	struct sim_arrival first[MAX_FLOWS];
	uint32_t n_flows = flows_find(s, of);
	hd_time together = below(r, 60) * s->tick;

	if (!chance(r, SATURATING_PERCENT) || s->plain || n_flows == 0)
		return;
	for (size_t i = 0; i < s->n_arrivals; i++)
		if (s->arrivals[i].sender > 0)
			return;
	for (uint32_t i = 0; i < n_flows; i++)
		first[i] = of[i] ? *of[i] : (struct sim_arrival){ 0 };
	uint32_t host = first[below(r, n_flows)].source;

	for (uint32_t i = 0; i < n_flows; i++) {
		bool here = first[i].source == host;

		if (!of[i] || !may_saturate(s, i) || !chance(r, here ? 85 : 15))
			continue;
		flow_saturates(s, &first[i], chance(r, 70) ? together : first[i].time);
	}
	scenario_sort(s);
}
