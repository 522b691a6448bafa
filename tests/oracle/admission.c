/* SPDX-License-Identifier: BSD-2-Clause */
/* Admission by probe: C8. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

#define MAX_DEVICES 16

/* A flow that asks, and the devices of its path. */
struct asker {
	const struct oracle_ask *is;
	struct sim_arrival packet; /* like all that it makes */
	uint32_t count;            /* of them */
	bool asked;
	uint32_t n;                /* devices; the last is the destination */
	uint32_t end[MAX_DEVICES]; /* their end ports */
	uint32_t out[MAX_DEVICES]; /* output ports of the flow */
};

struct admission {
	struct asker *askers;
	uint32_t n;
	struct sim_arrival *arrivals; /* the oracle's, during requests */
	uint64_t (*promised)[N_SLS];  /* by port, in bits per second */
};

/* ---- links (promises) ---- */

static uint64_t promised_in_all(const struct oracle *o, uint32_t port)
{
	uint64_t sum = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		sum += o->admission->promised[port][sl];
	return sum;
}

static uint64_t asks_for(const struct oracle *o, uint32_t flow)
{
	return o->setup->control->reserve[flow];
}

static bool is_below(const struct oracle *o, uint64_t sum, double limit)
{
	return (double)sum < limit ||
	       (o->mutation == MUT_SHARE_MAY_BE_REACHED && (double)sum <= limit);
}

/* Whether the link of `port` has room for it. */
static bool has_room(const struct oracle *o, uint32_t port, const struct asker *a)
{
	struct hd_rate r = o->setup->ports[port].rate;
	double rate = (double)r.num / (double)r.den;
	double share = o->setup->control->sl_share[a->packet.sl];
	uint64_t asked = asks_for(o, a->is->flow);
	uint64_t all = promised_in_all(o, port) + asked;
	uint64_t own = o->admission->promised[port][a->packet.sl] + asked;

	if (o->mutation == MUT_SHARES_ARE_ONE)
		own = all;
	if (o->mutation == MUT_RATE_NOT_ASKED)
		all = own;
	return is_below(o, own, share > 0 ? share * rate : rate) && is_below(o, all, rate);
}

static void promise_take_back(struct oracle *o, uint32_t port, uint32_t flow, uint8_t sl)
{
	o->admission->promised[port][sl] -= asks_for(o, flow);
}

/* ---- datagrams ---- */

/* From one device to another. */
static void datagram_send(struct oracle *o, const struct asker *a, enum sim_packet_kind kind,
			  uint32_t from, uint32_t to)
{
	const struct sim_setup *s = o->setup;
	struct packet made = { .as = a->packet, .kind = kind, .device = to };
	struct packet *p = packet_new(o, &made);

	p->as.time = o->now;
	p->as.sequence = 0;
	p->as.source = s->ports[a->end[from]].node;
	p->as.dlid = s->subnet->lid_of_port[s->ports[a->end[to]].origin];
	p->as.bytes = SIM_MAD_BYTES;
	p->as.management = o->mutation == MUT_PROBES_ON_VL15;
	if (kind != SIM_PROBE && o->mutation != MUT_ADMISSION_KEEPS_KEY)
		p->as.pkey |= PKEY_FULL;
	o->stats->probes++;
	end_enter(o, a->end[from], p);
}

static void reject(struct oracle *o, struct asker *a, uint32_t device)
{
	o->stats->rejected += device == 0;
	if (device > 0)
		datagram_send(o, a, SIM_REJECT, device, device - 1);
}

static void ask(struct oracle *o, struct asker *a, uint32_t device)
{
	if (device + 1 == a->n) {
		datagram_send(o, a, SIM_ACCEPT, device,
			      o->mutation == MUT_ACCEPT_GOES_BACK ? device - 1 : 0);
	} else if (has_room(o, a->out[device], a)) {
		o->admission->promised[a->out[device]][a->packet.sl] += asks_for(o, a->is->flow);
		datagram_send(o, a, SIM_PROBE, device, device + 1);
	} else {
		reject(o, a, device);
	}
}

/* ---- the flow, once it is admitted ---- */

static bool is_later(const struct sim_arrival *a, const struct sim_arrival *b)
{
	if (a->time != b->time)
		return a->time > b->time;
	return a->flow > b->flow || (a->flow == b->flow && a->sequence > b->sequence);
}

static void arrival_insert(struct oracle *o, const struct sim_arrival *a)
{
	struct admission *m = o->admission;
	size_t at = o->n_arrivals++;

	m->arrivals = hd_realloc(m->arrivals, o->n_arrivals, sizeof(*m->arrivals));
	for (; at > o->next_arrival && is_later(&m->arrivals[at - 1], a); at--)
		m->arrivals[at] = m->arrivals[at - 1];
	m->arrivals[at] = *a;
	o->arrivals = m->arrivals;
}

/* Its start is now. */
static void flow_start(struct oracle *o, const struct asker *a)
{
	struct sim_arrival p = a->packet;
	hd_time stop = a->is->stop ? a->is->stop : NEVER;

	o->stats->admitted++;
	for (p.sequence = 0; p.sequence < a->count; p.sequence++) {
		p.time = o->now + p.sequence * a->is->gap;
		arrival_insert(o, &p);
		if (p.time >= stop)
			return;
	}
}

static struct asker *asker_of(const struct oracle *o, uint32_t flow)
{
	for (uint32_t i = 0; o->admission && i < o->admission->n; i++)
		if (o->admission->askers[i].is->flow == flow)
			return &o->admission->askers[i];
	return NULL;
}

bool ends_reservation(const struct oracle *o, const struct sim_arrival *p)
{
	const struct asker *a = asker_of(o, p->flow);

	if (!a)
		return false;
	return p->sequence + 1 == a->count || (a->is->stop && p->time >= a->is->stop);
}

void reservation_pass(struct oracle *o, uint32_t port, const struct packet *p)
{
	const struct asker *a;

	if (!p->ends_reservation)
		return;
	a = asker_of(o, p->as.flow);
	if (o->mutation != MUT_LAST_FREES_ALL) {
		promise_take_back(o, port, p->as.flow, p->as.sl);
		return;
	}
	for (uint32_t k = 0; port == a->out[0] && k + 1 < a->n; k++)
		promise_take_back(o, a->out[k], p->as.flow, p->as.sl);
}

/* ---- what devices hear (phase 2) ---- */

void admission_heard(struct oracle *o, uint32_t port, const struct packet *p)
{
	struct asker *a = asker_of(o, p->as.flow);

	if (port != a->end[p->device])
		return;
	if (p->kind == SIM_PROBE) {
		ask(o, a, p->device);
		return;
	}
	if (p->kind == SIM_REJECT) {
		if (o->mutation != MUT_REJECT_KEEPS_PROMISES)
			promise_take_back(o, a->out[p->device], p->as.flow, p->as.sl);
		reject(o, a, p->device);
		return;
	}
	if (p->device == 0)
		flow_start(o, a);
	else
		datagram_send(o, a, SIM_ACCEPT, p->device, p->device - 1);
}

void askers_ask(struct oracle *o)
{
	for (uint32_t i = 0; o->admission && i < o->admission->n; i++) {
		struct asker *a = &o->admission->askers[i];

		if (a->asked || a->is->start > o->now)
			continue;
		a->asked = true;
		ask(o, a, 0);
	}
}

hd_time admission_next_due(const struct oracle *o)
{
	hd_time next = NEVER;

	for (uint32_t i = 0; o->admission && i < o->admission->n; i++) {
		const struct asker *a = &o->admission->askers[i];

		if (!a->asked && a->is->start < next)
			next = a->is->start;
	}
	return next;
}

/* ---- before the run ---- */

static void path_find(const struct oracle *o, struct asker *a)
{
	const struct sim_setup *s = o->setup;
	uint32_t port = port_of_end(o, a->packet.source);

	a->end[0] = a->out[0] = port;
	for (a->n = 1; is_switch_port(o, s->ports[port].peer); a->n++) {
		uint32_t node = s->ports[s->ports[port].peer].node;
		uint32_t first = s->nodes[node].first_port;

		assert(a->n + 1 < MAX_DEVICES);
		port = first + lft_now(o, node, a->packet.dlid);
		a->end[a->n] = s->ports[first].peer;
		a->out[a->n] = port;
	}
	a->end[a->n++] = s->ports[port].peer;
}

/* What those make who ask comes later, if at all. */
static void arrivals_part(struct oracle *o)
{
	struct admission *m = o->admission;
	size_t kept = 0;

	m->arrivals = hd_alloc(o->n_arrivals + 1, sizeof(*m->arrivals));
	for (size_t i = 0; i < o->n_arrivals; i++) {
		struct asker *a = asker_of(o, o->arrivals[i].flow);

		if (!a)
			m->arrivals[kept++] = o->arrivals[i];
		else if (a->count++ == 0)
			a->packet = o->arrivals[i];
	}
	o->arrivals = m->arrivals;
	o->n_arrivals = kept;
}

void admission_init(struct oracle *o, const struct oracle_asks *asks)
{
	struct admission *m;

	if (!asks || asks->n == 0)
		return;
	m = o->admission = hd_alloc(1, sizeof(*m));
	m->askers = hd_alloc(asks->n, sizeof(*m->askers));
	m->promised = hd_alloc(o->setup->n_ports, sizeof(*m->promised));
	m->n = asks->n;
	for (uint32_t i = 0; i < m->n; i++)
		m->askers[i].is = &asks->list[i];
	arrivals_part(o);
	for (uint32_t i = 0; i < m->n; i++)
		path_find(o, &m->askers[i]);
}

void admission_fini(struct oracle *o)
{
	if (!o->admission)
		return;
	free(o->admission->askers);
	free(o->admission->arrivals);
	free(o->admission->promised);
	free(o->admission);
}
