/* SPDX-License-Identifier: BSD-2-Clause */
/* What end ports send: T13, T13p, and throttles (C1, C2). */
#include <stdlib.h>

#include "base/alloc.h"
#include "state.h"

/* ---- who is there ---- */

static bool is_end(const struct oracle *o, uint32_t port)
{
	return o->setup->nodes[o->setup->ports[port].node].kind == SIM_END;
}

uint32_t throttle_of(const struct oracle *o, uint32_t flow)
{
	const struct sim_control *c = o->setup->control;

	return c && flow < c->n_flows ? c->throttle_of_flow[flow] : SIM_NONE;
}

static void senders_need(struct oracle *o, uint32_t port, uint32_t number)
{
	struct port *p = &o->ports[port];

	if (number < p->n_senders)
		return;
	p->senders = hd_realloc(p->senders, number + (size_t)1, sizeof(*p->senders));
	for (; p->n_senders <= number; p->n_senders++)
		p->senders[p->n_senders] = (struct sender){ .throttle = SIM_NONE };
}

static void throttle_init(struct oracle *o, uint32_t i)
{
	const struct sim_throttle *is = &o->setup->control->throttles[i];
	uint32_t port = port_of_end(o, is->node);
	struct throttle *t = &o->throttles[i];

	senders_need(o, port, is->sender);
	o->ports[port].senders[is->sender].throttle = i;
	t->config = is->config;
	t->last_flow = SIM_NONE;
	t->state.due = NEVER;
	if (is->algorithm)
		cc_init(is->algorithm, &t->config, &t->state);
}

/* Q1, J14 */
static void adapters_init(struct oracle *o, struct adapter *adapters)
{
	for (uint32_t n = 0; n < o->setup->n_nodes; n++) {
		if (o->setup->nodes[n].kind != SIM_END)
			continue;
		adapters[n].sender = (uint16_t)o->ports[port_of_end(o, n)].n_senders;
		senders_need(o, port_of_end(o, n), adapters[n].sender);
	}
}

/* J1: after all others, in the order of the scenario. */
static void job_senders_init(struct oracle *o)
{
	for (uint32_t n = 0; o->jobs && n < o->setup->n_nodes; n++) {
		uint32_t port = port_of_end(o, n);

		if (o->setup->nodes[n].kind != SIM_END)
			continue;
		for (uint32_t j = 0; j < o->jobs->n; j++) {
			if (j == 0 || o->mutation != MUT_JOBS_SHARE_SENDER)
				senders_need(o, port, o->ports[port].n_senders);
			job_sender_set(o, j, n, (uint16_t)(o->ports[port].n_senders - 1));
		}
	}
}

void ends_init(struct oracle *o)
{
	const struct sim_control *c = o->setup->control;

	for (uint32_t i = 0; i < o->setup->n_ports; i++)
		if (is_end(o, i))
			senders_need(o, i, 0);
	for (size_t i = 0; i < o->n_arrivals; i++)
		senders_need(o, port_of_end(o, o->arrivals[i].source), o->arrivals[i].sender);
	if (c) {
		o->throttles = hd_alloc(c->n_throttles + (size_t)1, sizeof(*o->throttles));
		o->flows = hd_alloc(c->n_flows + (size_t)1, sizeof(*o->flows));
	}
	if (c)
		o->marking = c->marking;
	for (uint32_t i = 0; c && i < c->n_throttles; i++)
		throttle_init(o, i);
	if (o->pairs && o->pairs->n > 0)
		adapters_init(o, o->adapters);
	if (has_job_pairs(o))
		adapters_init(o, o->adapters + o->setup->n_nodes);
	job_senders_init(o);
	/* A5: behind all others. */
	for (uint32_t i = 0; o->mads && i < o->setup->n_ports; i++)
		if (is_end(o, i))
			senders_need(o, i, o->ports[i].n_senders);
}

void ends_fini(struct oracle *o)
{
	const struct sim_control *c = o->setup->control;

	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		struct port *p = &o->ports[i];

		for (uint32_t s = 0; s < p->n_senders; s++)
			for (int vl = 0; vl < ALL_VLS; vl++)
				free(p->senders[s].queues[vl].items);
		free(p->senders);
	}
	for (uint32_t f = 0; c && f < c->n_flows; f++) {
		free(o->flows[f].waiting.items);
		free(o->flows[f].granted);
	}
	free(o->flows);
	free(o->throttles);
}

/* ---- generation ---- */

int end_vl(struct oracle *o, uint32_t port, const struct packet *packet)
{
	const struct sim_port *s = &o->setup->ports[port];
	uint8_t vl;

	if (packet->as.management)
		return VL_MANAGEMENT;
	vl = sl2vl_of(vl_tables_at(o, o->now), s->origin)->vl[packet->as.sl];
	if (vl < vls_at(o, port, o->now))
		return vl;
	o->out->counters[port].xmit_discards++;
	record_end(o, packet, port, SIM_LOST_DISCARD);
	if (packet->is_pairs)
		pair_lost_unsent(o, packet);
	if (packet->message)
		job_lost_unsent(o, packet);
	return NO_VL;
}

/*
 * T13: of one instant and phase by flow and sequence, independent of the order
 * of deliveries (F7).
 */
static void answers_order(struct oracle *o, struct queue *q)
{
	for (size_t i = q->n - 1; i > 0; i--) {
		struct outgoing last = q->items[i], *before = &q->items[i - 1];
		const struct sim_arrival *a = &before->packet->as;
		const struct sim_arrival *b = &last.packet->as;

		if (before->ready < o->now || a->flow < b->flow ||
		    (a->flow == b->flow && a->sequence <= b->sequence))
			return;
		last.first = before->first;
		before->first = NEVER;
		q->items[i] = *before;
		*before = last;
	}
}

void end_enter(struct oracle *o, uint32_t port, const struct packet *packet)
{
	struct outgoing item = { .packet = packet, .ready = o->now };
	bool held = packet->kind == SIM_DATA && throttle_of(o, packet->as.flow) != SIM_NONE;
	int vl = end_vl(o, port, packet);
	struct queue *q;

	if (vl == NO_VL)
		return;
	if (held) {
		struct flow *f = &o->flows[packet->as.flow];

		item.vl = (uint8_t)vl;
		queue_push(o, &f->waiting, item);
		return;
	}
	q = &o->ports[port].senders[packet->as.sender].queues[vl];
	queue_push(o, q, item);
	o->ports[port].senders[packet->as.sender].waiting |= (uint16_t)(1u << vl);
	if (packet->kind != SIM_DATA && !packet->is_pairs && o->mutation != MUT_ANSWERS_BY_TAIL)
		answers_order(o, q);
	if (packet->kind == SIM_DATA && packet->as.sequence > 0 &&
	    o->mutation == MUT_SATURATED_BY_FLOW)
		answers_order(o, q);
}

/* ---- throttles (C2) ---- */

static hd_time gap_now(const struct oracle *o, uint32_t i, hd_time d)
{
	const struct cc_algorithm *a = o->setup->control->throttles[i].algorithm;
	const struct throttle *t = &o->throttles[i];

	return a ? cc_gap(a, &t->config, &t->state, d) : d;
}

static bool is_fixed(const struct oracle *o)
{
	if (o->mutation == MUT_GAP_ALWAYS_FIXED)
		return true;
	return o->setup->control->fixed_gap && o->mutation != MUT_GAP_NEVER_FIXED;
}

/* From when on what throttle i offers, `next`, is eligible. */
static hd_time eligible_from(const struct oracle *o, uint32_t i, uint32_t port,
			     const struct packet *next)
{
	const struct throttle *t = &o->throttles[i];
	hd_time from = t->last, d = t->d;

	if (!t->granted)
		return 0;
	if (o->mutation == MUT_GAP_FROM_GENERATION)
		from = t->made;
	if (o->mutation == MUT_GAP_OF_NEXT_PACKET)
		d = duration_on(o, port, next->as.bytes);
	return from + (is_fixed(o) || t->spared ? t->gap : gap_now(o, i, d));
}

static bool window_is_open(const struct oracle *o, const struct flow *f, uint32_t throttle)
{
	const struct sim_control *c = o->setup->control;
	uint32_t outstanding = f->outstanding, window = c->window;

	if (o->mutation == MUT_WINDOW_PER_THROTTLE) {
		outstanding = 0;
		for (uint32_t k = 0; k < c->n_flows; k++)
			if (throttle_of(o, k) == throttle)
				outstanding += o->flows[k].outstanding;
	}
	if (o->mutation == MUT_WINDOW_ONE_MORE)
		window++;
	return outstanding < window;
}

/* The flow whose turn it is, eligible or not; or NULL. */
static struct flow *throttle_flow(const struct oracle *o, uint32_t i)
{
	uint32_t n = o->setup->control->n_flows;
	uint32_t last = o->throttles[i].last_flow;
	uint32_t from = last == SIM_NONE ? 0 : last + 1;

	if (o->mutation == MUT_FLOWS_FROM_LOWEST)
		from = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t flow = (from + k) % n;
		struct flow *f = &o->flows[flow];

		if (throttle_of(o, flow) != i || f->waiting.n == 0)
			continue;
		if (window_is_open(o, f, i))
			return f;
		o->stats->full_windows++;
	}
	return NULL;
}

static void throttle_take(struct oracle *o, uint32_t i, uint32_t port, struct flow *f)
{
	struct throttle *t = &o->throttles[i];
	const struct packet *packet = f->waiting.items[0].packet;

	t->granted = true;
	t->last = o->now;
	t->made = packet->as.time;
	t->d = duration_on(o, port, packet->as.bytes);
	t->gap = gap_now(o, i, t->d);
	t->spared = false;
	t->last_flow = packet->as.flow;
	f->granted = hd_grow(f->granted, &f->granted_cap, f->n_granted + 1, sizeof(*f->granted));
	f->granted[f->n_granted++] = packet->as.sequence;
	if (o->mutation != MUT_TIMEOUT_FROM_FIRST || f->outstanding == 0)
		f->last = o->now;
	f->outstanding++;
	queue_pop(o, &f->waiting);
}

/* ---- what a sender offers (T13p) ---- */

/* Sender s's packet on this VL, if it has one; *held if it may not go yet. */
static bool offer_find(const struct oracle *o, uint32_t port, uint32_t s, uint8_t vl,
		       struct pull *pull, bool *held)
{
	const struct sender *sender = &o->ports[port].senders[s];
	const struct queue *q = &sender->queues[vl];
	struct flow *f;

	*held = false;
	*pull = (struct pull){ .sender = s, .vl = vl };
	if (sender->throttle == SIM_NONE) {
		if (q->n > 0)
			pull->packet = q->items[0].packet;
		return q->n > 0;
	}
	f = throttle_flow(o, sender->throttle);
	if (!f || f->waiting.items[0].vl != vl)
		return false;
	pull->flow = f;
	pull->packet = f->waiting.items[0].packet;
	*held = eligible_from(o, sender->throttle, port, pull->packet) > o->now;
	o->stats->held_back += *held;
	return true;
}

static int *pointer_of(struct oracle *o, uint32_t port, uint8_t vl)
{
	if (o->mutation == MUT_SENDER_POINTER_PER_PORT)
		vl = 0;
	return &o->ports[port].last_input[vl];
}

/* The first sender after `last` that has something which may go. */
static bool candidate_after(struct oracle *o, uint32_t port, uint8_t of, uint8_t on, int last,
			    struct pull *pull)
{
	uint32_t n = o->ports[port].n_senders;

	for (uint32_t k = 1; k <= n; k++) {
		uint32_t s = ((uint32_t)(last + 1) + k - 1) % n;
		bool held;

		if (!offer_find(o, port, s, of, pull, &held))
			continue;
		if (held && o->mutation == MUT_HELD_BACK_BLOCKS)
			return false;
		if (!held && (o->mutation == MUT_SENDER_BEFORE_CREDITS ||
			      link_fits(o, port, on, pull->packet)))
			return true;
	}
	return false;
}

bool end_candidate(struct oracle *o, uint32_t port, uint8_t of, uint8_t on, struct pull *pull)
{
	int *pointer = pointer_of(o, port, of);
	int last = o->mutation == MUT_SENDER_0_FIRST ? -1 : *pointer;

	if (!candidate_after(o, port, of, on, last, pull))
		return false;
	if (o->mutation == MUT_SENDER_POINTER_MOVES)
		*pointer = (int)pull->sender;
	return link_fits(o, port, on, pull->packet);
}

void end_take(struct oracle *o, uint32_t port, uint8_t vl, const struct pull *pull)
{
	struct sender *s = &o->ports[port].senders[pull->sender];
	uint8_t of = pull->vl;
	struct pull other;

	if (candidate_after(o, port, of, vl, (int)pull->sender, &other) &&
	    other.sender != pull->sender)
		o->stats->sender_turns++;
	*pointer_of(o, port, of) = (int)pull->sender;
	if (pull->flow) {
		throttle_take(o, s->throttle, port, pull->flow);
		return;
	}
	o->stats->queued += s->queues[of].items[0].ready < o->now;
	queue_pop(o, &s->queues[of]);
	if (s->queues[of].n == 0)
		s->waiting &= (uint16_t) ~(1u << of);
}

uint32_t end_ready_count(const struct oracle *o, uint32_t port, uint32_t *jobs)
{
	const struct port *p = &o->ports[port];
	uint32_t all = 0;

	for (uint32_t s = 0; s < p->n_senders; s++) {
		const struct queue *queues = p->senders[s].queues;
		uint32_t i = p->senders[s].throttle;
		const struct flow *f = i == SIM_NONE ? NULL : throttle_flow(o, i);

		for (int vl = 0; vl < ALL_VLS; vl++) {
			jobs[vl] += (uint32_t)queues[vl].n;
			all += (uint32_t)queues[vl].n;
		}
		if (!f)
			continue;
		bool held = eligible_from(o, i, port, f->waiting.items[0].packet) > o->now;

		held &= o->mutation != MUT_SHARE_HELD_BACK;
		jobs[f->waiting.items[0].vl] += !held;
		all += !held;
	}
	return all;
}

/* Set of VLs for which some sender has a packet. */
unsigned end_vls_wanted(const struct oracle *o, uint32_t port)
{
	unsigned wanted = 0;

	for (uint32_t s = 0; s < o->ports[port].n_senders; s++) {
		const struct sender *sender = &o->ports[port].senders[s];
		const struct flow *f = NULL;

		wanted |= sender->waiting;
		if (sender->throttle != SIM_NONE)
			f = throttle_flow(o, sender->throttle);
		if (f)
			wanted |= 1u << f->waiting.items[0].vl;
	}
	return wanted;
}

bool end_waits(struct oracle *o, uint32_t port, uint8_t vl, bool *fits)
{
	bool waits = false;

	*fits = false;
	for (uint32_t s = 0; s < o->ports[port].n_senders; s++) {
		struct pull pull;
		bool held;

		if (!offer_find(o, port, s, vl, &pull, &held) ||
		    (held && o->mutation != MUT_HELD_BACK_WAITS))
			continue;
		waits = true;
		*fits |= link_fits(o, port, vl, pull.packet);
	}
	return waits;
}

size_t end_packets(const struct oracle *o, uint32_t port)
{
	const struct port *p = &o->ports[port];
	uint32_t n_flows = o->setup->control ? o->setup->control->n_flows : 0;
	size_t n = 0;

	for (uint32_t s = 0; s < p->n_senders; s++) {
		for (int vl = 0; vl < ALL_VLS; vl++)
			n += p->senders[s].queues[vl].n;
		for (uint32_t f = 0; p->senders[s].throttle != SIM_NONE && f < n_flows; f++)
			if (throttle_of(o, f) == p->senders[s].throttle)
				n += o->flows[f].waiting.n;
	}
	return n;
}

/* When something held back becomes eligible, as things stand. */
hd_time end_next_due(const struct oracle *o, uint32_t port)
{
	const struct port *p = &o->ports[port];
	hd_time next = NEVER;

	for (uint32_t s = 0; s < p->n_senders; s++) {
		uint32_t i = p->senders[s].throttle;
		const struct flow *f = i == SIM_NONE ? NULL : throttle_flow(o, i);
		hd_time from;

		if (!f)
			continue;
		from = eligible_from(o, i, port, f->waiting.items[0].packet);
		if (from > o->now && from < next)
			next = from;
	}
	return next;
}
