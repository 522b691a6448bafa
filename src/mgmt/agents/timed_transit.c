/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pack.h"
#include "fabric/fabric.h"
#include "mgmt/agents/agents_internal.h"
#include "run/run.h"
#include "sim/sim.h"
#include "subnet/tables/packet.h"
#include "wire/headers.h"

/*
 * MADs that take time are packets of the simulation engine, by docs/timing-rules.md: SMPs on VL15,
 * others on VL 0. The engine asks the agents for the route at each node (A5). An agent processes
 * one MAD at a time, for agents_timing.agent_delay, and the MAD stays in its buffer meanwhile. A
 * cookie of the engine is the index of a transit.
 */

enum {
	MAD_OVERHEAD = PLAIN_OVERHEAD + DETH_SIZE,
	DATA_BLOCKS = 2048, /* of an input buffer: the most that credits can advertise (T1) */
	VCRC_BYTES = 2,     /* which port counters leave out */
};

struct timed_transits {
	struct fabric *fabric;
	struct run *run;
	struct sim *sim; /* of the run */
	uint32_t endpoint;
	struct mad_transit *all; /* a free one has agents == NULL */
	size_t n, cap;
	uint32_t next; /* where the search for a free one begins */
};

/* ---- transits */

static uint32_t slot_take(struct timed_transits *m)
{
	for (size_t i = 0; i < m->n; i++) {
		uint32_t slot = (uint32_t)((m->next + i) % m->n);

		if (!m->all[slot].agents) {
			m->next = slot + 1;
			return slot;
		}
	}
	m->all = hd_grow(m->all, &m->cap, m->n + 1, sizeof(*m->all));
	return (uint32_t)m->n++;
}

static void release_message(struct mad_message *m)
{
	if (m && --m->users == 0)
		free(m);
}

static void slot_free(struct timed_transits *m, uint32_t slot)
{
	m->all[slot].agents = NULL;
	release_message(m->all[slot].message);
}

static uint32_t n_segments(const struct mad_transit *t)
{
	return (uint32_t)((t->size + MAD_SIZE - 1) / MAD_SIZE);
}

/* Copies the bytes of a message of several segments, which belong to the caller. */
static void keep_message(struct mad_transit *t)
{
	if (!t->bytes)
		return;
	t->message = hd_alloc(1, sizeof(*t->message) + t->size);
	t->message->users = 1;
	memcpy(t->message->bytes, t->bytes, t->size);
	t->bytes = t->message->bytes;
}

/* The agent of the node, or a program, has processed the MAD then. */
static hd_time serve(const struct mad_transit *t, hd_time tail)
{
	struct agent_node *n = &t->agents->nodes[t->agents->topo->ports[t->at].node];

	if (!agents_transit_is_for_agent(t))
		return tail;
	n->busy = (n->busy > tail ? n->busy : tail) + t->agents->options.times->agent_delay;
	return n->busy;
}

static bool is_from_switch(const struct mad_transit *t)
{
	return topo_node_of(t->agents->topo, t->source)->kind == NODE_SWITCH;
}

/* A MAD leaves its source. */
static void inject(const struct mad_transit *t, port_id out, uint32_t slot)
{
	const struct timed_transits *m = t->agents->timed;
	const struct sim_arrival a = {
		.time = t->now,
		.source = m->fabric->setup.ports[t->source].node,
		.bytes = MAD_SIZE + MAD_OVERHEAD,
		.management = t->path.management,
	};
	const struct sim_step step = { .kind = SIM_STEP_LEAVES, .out = out };

	if (is_from_switch(t))
		sim_inject_at_switch(m->sim, m->endpoint, &a, &step, slot);
	else
		sim_inject(m->sim, m->endpoint, &a, slot);
}

/* Starts a packet: a MAD or a segment of a message. False: the packet does not leave its source. */
static bool start_packet(struct mad_transit t)
{
	struct timed_transits *m = t.agents->timed;
	port_id out = TOPO_NONE;

	if (t.message)
		t.message->users++;
	enum path_step step = agents_transit_step(&t, &out);

	if (step == PATH_LOST) {
		release_message(t.message);
		return false;
	}
	uint32_t slot = slot_take(m);

	/* At its source a message arrives as a whole. */
	if (step == PATH_ARRIVED && t.message)
		t.message->arrived = n_segments(&t) - 1;
	m->all[slot] = t;
	if (step == PATH_FORWARD)
		inject(&t, out, slot);
	else
		sim_timer(m->sim, m->endpoint, m->fabric->setup.ports[t.at].node, serve(&t, t.now),
			  slot);
	return step == PATH_FORWARD;
}

/* The segment of a message that follows the one of `t`; false: no segment is left. */
static bool next_segment(const struct mad_transit *t, hd_time now, struct mad_transit *out)
{
	*out = *t;
	out->segment++;
	out->at = t->source;
	out->hops = 0;
	out->has_left = false;
	out->on_cable = false;
	out->now = now;
	return t->message && out->segment < n_segments(t);
}

/* Out of memory ends the program: no error is possible. */
static void run_to(const struct timed_transits *m, hd_time when)
{
	struct diag d = { .status = HD_OK };

	(void)!run_until(m->run, when, &d);
}

/* A host sends a segment when the one before it is granted, a switch sends all of them at once. */
void agents_timed_start(const struct mad_transit *first)
{
	const struct timed_transits *m = first->agents->timed;
	struct mad_transit t = *first;

	/* After a pause the engine has nothing to do but to look for deadlocks. */
	if (t.now > sim_now(m->sim) && sim_next(m->sim) == HD_TIME_NEVER)
		run_to(m, t.now);
	t.now = t.now > sim_now(m->sim) ? t.now : sim_now(m->sim);
	keep_message(&t);
	while (start_packet(t) && is_from_switch(&t) && next_segment(&t, t.now, &t))
		;
	release_message(t.message);
}

/* ---- callbacks of the engine */

static void on_granted(void *context, hd_time now, hd_time end, uint32_t node, uint32_t cookie)
{
	struct timed_transits *m = context;
	struct mad_transit next;

	(void)end;
	(void)node;
	if (next_segment(&m->all[cookie], now, &next))
		(void)start_packet(next);
}

/* PortXmit and PortRcv of the ends of the cable that the MAD has crossed. */
static void count_on_cable(const struct mad_transit *t)
{
	struct agents *a = t->agents;
	const port_id in = t->at, out = a->topo->ports[in].peer;
	const unsigned words = (MAD_SIZE + MAD_OVERHEAD - VCRC_BYTES) / 4;

	agents_counter_add(a, out, COUNT_XMIT_DATA, words);
	agents_counter_add(a, out, COUNT_XMIT_PKTS, 1);
	agents_counter_add(a, out, COUNT_UNICAST_XMIT, 1);
	agents_counter_add(a, in, COUNT_RCV_DATA, words);
	agents_counter_add(a, in, COUNT_RCV_PKTS, 1);
	agents_counter_add(a, in, COUNT_UNICAST_RCV, 1);
	/* VL15 has no SL. */
	if (t->path.management)
		return;
	agents_counter_add(a, out, COUNT_SL_XMIT_DATA + t->path.sl, words);
	agents_counter_add(a, in, COUNT_SL_RCV_DATA + t->path.sl, words);
}

static void on_head(void *context, const struct sim_head *h, struct sim_step *out)
{
	struct timed_transits *m = context;
	struct mad_transit t = m->all[h->cookie];
	struct agents *a = t.agents;
	port_id port = TOPO_NONE;
	bool is_up = agents_path_open(&t.path, a->topo->ports[t.at].peer);
	enum path_step step = PATH_LOST;

	t.now = h->now;
	t.on_cable = false;
	if (is_up) {
		count_on_cable(&t);
		if (agents_transit_land(&t))
			step = agents_transit_step(&t, &port);
	}
	if (step == PATH_FORWARD)
		*out = (struct sim_step){ .kind = SIM_STEP_LEAVES, .out = port };
	else if (step == PATH_ARRIVED)
		*out = (struct sim_step){ .kind = SIM_STEP_ENDS, .until = serve(&t, h->tail) };
	m->all[h->cookie] = t;
}

static void on_lost(void *context, hd_time when, uint32_t cookie, bool was_sent)
{
	struct timed_transits *m = context;
	const struct mad_transit *t = &m->all[cookie];

	(void)when;
	(void)was_sent;
	/* Cables have no bit errors: the VL15 buffer was full (A4). */
	if (t->on_cable)
		agents_counter_add(t->agents, t->at, COUNT_VL15_DROPPED, 1);
	slot_free(m, cookie);
}

/* The agent has processed the MAD, or a program has received the packet. */
static void on_served(void *context, hd_time now, uint32_t cookie)
{
	struct timed_transits *m = context;
	struct mad_transit t = m->all[cookie];

	m->all[cookie].agents = NULL;
	t.now = now;
	if ((!t.message || ++t.message->arrived == n_segments(&t)) && agents_transit_receive(&t))
		agents_timed_start(&t);
	release_message(t.message);
}

static void on_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	(void)node;
	on_served(context, now, p->cookie);
}

/* ---- the run */

/* Rate of the link at port `p`. */
static struct hd_rate link_rate(const struct agents *a, port_id p)
{
	struct hd_rate configured = a->options.times->cables[p].rate;
	struct topo_link_state best;
	enum link_speed speed;
	unsigned lanes;

	if (configured.num)
		return configured;
	if (!agents_link_is_limited(a, p) && topo_link_state(a->topo, p, &best) == HD_OK)
		return best.rate;
	agents_link(a, p, &lanes, &speed);
	return hd_rate_of_link(lanes, speed);
}

static struct fabric *make_fabric(const struct agents *a)
{
	const struct agents_timing *times = a->options.times;
	const struct sim_switch_model sw = { .speedup = { 1, 1 },
					     .routing = times->switch_delay,
					     .pick = times->oldest ? SIM_OLDEST : SIM_ROUND_ROBIN };
	struct sim_port *ports = hd_alloc(a->n_ports, sizeof(*ports));

	for (port_id p = 0; p < a->n_ports; p++)
		ports[p] = (struct sim_port){
			.rate = link_rate(a, p),
			.propagation = times->cables[p].propagation,
			.in_blocks = DATA_BLOCKS,
			.vl15_blocks = times->vl15_blocks,
		};
	struct fabric *fabric = fabric_unaddressed(a->topo, &sw, ports);

	free(ports);
	return fabric;
}

void agents_timed_init(struct agents *a)
{
	struct timed_transits *m = a->timed = hd_alloc(1, sizeof(*m));
	const struct sim_endpoint endpoint = {
		.context = m,
		.name = "management",
		.delivered = on_delivered,
		.timer = on_served,
		.granted = on_granted,
		.lost = on_lost,
		.routes = on_head,
	};
	struct run_load load = { .ends_without_memory = true };
	struct diag d = { .status = HD_OK };
	const struct run_options options = { .load = &load, .outside = &endpoint };
	struct sim_rules *rules = &load.rules;

	sim_rules_init(rules);
	rules->flow_metrics = rules->port_metrics = rules->check_order = false;
	rules->threads = 1;
	rules->injects = rules->injects_management = rules->injects_at_switches = true;
	rules->injects_bytes = MAD_SIZE + MAD_OVERHEAD;
	m->fabric = make_fabric(a);
	/* No file is opened and no job is built: nothing can fail. */
	(void)!run_open(m->fabric, &options, &d, &m->run);
	m->sim = run_sim(m->run);
	m->endpoint = run_outside(m->run);
}

void agents_timed_fini(struct agents *a)
{
	struct timed_transits *m = a->timed;

	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->all[i].agents)
			slot_free(m, i);
	free(m->all);
	run_close(m->run);
	fabric_free(m->fabric);
	free(m);
}

void agents_timed_retrain(struct agents *a, port_id p)
{
	port_id peer = a->topo->ports[p].peer;

	if (!a->timed)
		return;
	sim_set_rate(a->timed->sim, p, link_rate(a, p));
	sim_set_rate(a->timed->sim, peer, link_rate(a, peer));
}

hd_time agents_timed_next(const struct agents *a)
{
	return a->timed ? sim_next(a->timed->sim) : HD_TIME_NEVER;
}

void agents_timed_run(struct agents *a, hd_time now)
{
	while (agents_timed_next(a) <= now)
		run_to(a->timed, now);
}

/* ---- packing */

static const struct pack_member times_members[] = {
	PACK(agents_timing, switch_delay),
	PACK(agents_timing, agent_delay),
	PACK(agents_timing, vl15_blocks),
	PACK(agents_timing, oldest),
};
PACK_KNOWS(agents_timing, 32);

static const struct pack_member cable_members[] = {
	PACK(agents_cable_timing, propagation),
	PACK(agents_cable_timing, rate.num),
	PACK(agents_cable_timing, rate.den),
};
PACK_KNOWS(agents_cable_timing, 24);

/* Adds a rate to a set; false if the set is full or the rate is too low. */
static bool add_rate(struct hd_rate *set, unsigned *n, struct hd_rate rate)
{
	const struct hd_rate least = { 1000, 1 };

	if (rate.num == 0)
		return true;
	if (rate.den == 0 || hd_rate_compare(rate, least) < 0)
		return false;
	for (unsigned i = 0; i < *n; i++)
		if (hd_rate_compare(set[i], rate) == 0)
			return true;
	if (*n == AGENTS_MOST_RATES)
		return false;
	set[(*n)++] = rate;
	return true;
}

bool agents_timing_valid(const struct agents_timing *m, const struct topo *t)
{
	bool fit = m->switch_delay <= 2 * HD_S && m->agent_delay <= HD_S &&
		   m->vl15_blocks <= UINT16_MAX;
	struct hd_rate rates[AGENTS_MOST_RATES];
	unsigned n = 0;

	for (port_id i = 0; i < t->n_ports && fit; i++) {
		const struct agents_cable_timing *c = &m->cables[i];

		fit = c->propagation >= 1 && c->propagation <= HD_S && add_rate(rates, &n, c->rate);
	}
	return fit;
}

void agents_timing_pack(struct pack *p, const struct topo *t, struct agents_timing *m)
{
	PACK_STRUCT(p, times_members, m);
	if (p->reads)
		m->cables = hd_alloc(t->n_ports, sizeof(*m->cables));
	for (port_id i = 0; i < t->n_ports; i++)
		PACK_STRUCT(p, cable_members, &m->cables[i]);
	pack_check(p, agents_timing_valid(m, t));
}
