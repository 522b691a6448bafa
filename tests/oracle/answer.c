/* SPDX-License-Identifier: BSD-2-Clause */
/* How destinations answer and what sources make of it: C5, C6. */
#include <string.h>

#include "base/alloc.h"
#include "state.h"

/* ---- sources (C6) ---- */

static void rate_answers(struct oracle *o, uint32_t flow, bool marked)
{
	uint32_t i = throttle_of(o, flow);
	const struct sim_throttle *is = &o->setup->control->throttles[i];

	o->stats->echoes += marked;
	if (is->algorithm)
		cc_on_ack(is->algorithm, &o->throttles[i].config, &o->throttles[i].state, marked,
			  o->now);
}

/* How many of the flow's packets have been granted that come after q. */
static uint32_t granted_after(const struct flow *f, uint32_t q)
{
	uint32_t n = 0;

	for (size_t i = 0; i < f->n_granted; i++)
		n += f->granted[i] > q;
	return n;
}

static void acknowledge(struct oracle *o, uint32_t flow, uint32_t sequence)
{
	struct flow *f = &o->flows[flow];

	if (o->mutation != MUT_TIMEOUT_FROM_GRANT)
		f->last = o->now;
	if (f->acknowledged && sequence < f->latest)
		return;
	f->acknowledged = true;
	f->latest = sequence;
	if (o->mutation == MUT_ACKS_NOT_CUMULATIVE)
		f->outstanding -= f->outstanding > 0;
	else
		f->outstanding = granted_after(f, sequence);
}

static void acknowledgement(struct oracle *o, uint32_t flow, uint32_t sequence, bool marked)
{
	if (!marked || o->mutation != MUT_MARKED_ACK_IGNORED)
		acknowledge(o, flow, sequence);
	rate_answers(o, flow, marked);
}

/* An answer has reached a port; who is not meant does not care. */
static void answer_heard(struct oracle *o, uint32_t port, const struct packet *answer)
{
	const struct sim_control *c = o->setup->control;
	uint32_t flow = answer->as.flow;

	if (c->throttles[throttle_of(o, flow)].node != o->setup->ports[port].node &&
	    o->mutation != MUT_WRONG_HOST_HEARS)
		return;
	if (answer->kind == SIM_ACK) {
		acknowledgement(o, flow, answer->as.sequence, answer->marked);
		return;
	}
	if (o->mutation == MUT_CNP_ACKNOWLEDGES)
		acknowledge(o, flow, answer->as.sequence);
	rate_answers(o, flow, true);
}

/* ---- destinations (C5) ---- */

static void answer_send(struct oracle *o, uint32_t port, const struct packet *data,
			enum sim_packet_kind kind, bool marked)
{
	const struct sim_setup *s = o->setup;
	uint32_t back = port_of_end(o, data->as.source);
	struct packet *p = packet_new(o, data);

	p->kind = kind;
	p->marked = marked;
	p->as.time = o->now;
	p->as.source = s->ports[port].node;
	p->as.dlid = s->subnet->lid_of_port[s->ports[back].origin];
	p->as.bytes = kind == SIM_ACK ? SIM_ACK_BYTES : SIM_CNP_BYTES;
	p->as.sender = 0;
	p->ends_reservation = false;
	if (o->mutation != MUT_ANSWERS_KEEP_KEY)
		p->as.pkey |= PKEY_FULL;
	if (o->mutation == MUT_ANSWERS_ON_SL0)
		p->as.sl = 0;
	o->stats->answers++;
	end_enter(o, port, p);
}

static void hearsay_add(struct oracle *o, const struct packet *data, bool marked)
{
	struct hearsay h = {
		.time = o->now + o->setup->control->ack_delay,
		.flow = data->as.flow,
		.sequence = data->as.sequence,
		.marked = marked,
	};

	if (o->mutation == MUT_HEARD_ON_DELIVERY)
		h.time = o->now;
	o->hearsay = hd_grow(o->hearsay, &o->hearsay_cap, o->n_hearsay + 1, sizeof(*o->hearsay));
	o->hearsay[o->n_hearsay++] = h;
}

void answer_delivery(struct oracle *o, uint32_t port, const struct packet *packet)
{
	const struct sim_control *c = o->setup->control;
	bool cnp, becn;

	if (packet->kind == SIM_RESULT) {
		result_delivered(o, port, packet);
		return;
	}
	if (packet->message) {
		job_delivered(o, port, packet);
		return;
	}
	if (packet->is_pairs) {
		pair_delivered(o, port, packet);
		return;
	}
	if (packet->kind == SIM_PROBE || packet->kind == SIM_ACCEPT || packet->kind == SIM_REJECT) {
		admission_heard(o, port, packet);
		return;
	}
	if (packet->kind != SIM_DATA) {
		answer_heard(o, port, packet);
		return;
	}
	if (throttle_of(o, packet->as.flow) == SIM_NONE)
		return;
	cnp = c->echo == SIM_ECHO_CNP && packet->marked;
	becn = c->echo == SIM_ECHO_ACK && packet->marked;
	if (o->mutation == MUT_ACK_REPEATS_CNP)
		becn = packet->marked;
	if (cnp && o->mutation != MUT_CNP_AFTER_ACK)
		answer_send(o, port, packet, SIM_CNP, true);
	if (c->ack_delay == 0)
		answer_send(o, port, packet, SIM_ACK, becn);
	else
		hearsay_add(o, packet, becn);
	if (cnp && o->mutation == MUT_CNP_AFTER_ACK)
		answer_send(o, port, packet, SIM_CNP, true);
}

/* ---- what comes without a packet ---- */

/* The least (flow, sequence) that is heard now; n_hearsay if none is. */
static size_t hearsay_next(const struct oracle *o)
{
	size_t best = o->n_hearsay;

	for (size_t i = 0; i < o->n_hearsay; i++) {
		const struct hearsay *h = &o->hearsay[i];
		const struct hearsay *b = &o->hearsay[best];

		if (h->time > o->now)
			continue;
		if (best == o->n_hearsay || h->flow < b->flow ||
		    (h->flow == b->flow && h->sequence < b->sequence))
			best = i;
	}
	return best;
}

static void hearsay_hear(struct oracle *o)
{
	for (size_t i = hearsay_next(o); i < o->n_hearsay; i = hearsay_next(o)) {
		struct hearsay h = o->hearsay[i];

		o->n_hearsay--;
		memmove(o->hearsay + i, o->hearsay + i + 1, (o->n_hearsay - i) * sizeof(h));
		acknowledgement(o, h.flow, h.sequence, h.marked);
	}
}

static void rate_timers_strike(struct oracle *o)
{
	const struct sim_control *c = o->setup->control;

	for (uint32_t i = 0; i < c->n_throttles; i++) {
		struct throttle *t = &o->throttles[i];
		const struct sim_throttle *is = &c->throttles[i];

		if (!is->algorithm || t->state.due > o->now)
			continue;
		o->stats->rate_timers++;
		cc_on_timer(is->algorithm, &t->config, &t->state, o->now);
	}
}

static void timeouts_strike(struct oracle *o)
{
	const struct sim_control *c = o->setup->control;

	for (uint32_t i = 0; c->timeout > 0 && i < c->n_flows; i++) {
		struct flow *f = &o->flows[i];

		if (f->outstanding == 0 || f->last + c->timeout > o->now)
			continue;
		o->stats->timeouts++;
		if (o->mutation == MUT_TIMEOUT_FORGETS_ONE) {
			f->outstanding--;
			f->last = o->now;
			continue;
		}
		acknowledge(o, i, f->granted[f->n_granted - 1]);
	}
}

/* T2, phase 2, after deliveries: the rest of C6. */
void sources_listen(struct oracle *o)
{
	if (!o->setup->control)
		return;
	hearsay_hear(o);
	rate_timers_strike(o);
	timeouts_strike(o);
}
