/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * End ports with several senders, which are polled for their next packet (T13p). Sender 0 has
 * the injection queues of the VLs, as at every end port. Other senders offer one packet per VL;
 * a set per VL has the senders that offer one.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/engine.h"
#include "sim/core/numset.h"
#include "sim/core/vl_sharing.h"
#include "sim/injection/control.h"
#include "sim/injection/injection.h"
#include "sim/injection/source.h"

static struct pull *pull_at(struct sim *s, uint32_t port)
{
	return &s->pull.ports[s->pull.of_port[port]];
}

bool injection_port_pulls(const struct sim *s, uint32_t port)
{
	return s->pull.n_ports && s->pull.ports[s->pull.of_port[port]].port == port;
}

static struct injection_sender *sender_at(struct sim *s, const struct pull *u, uint32_t number)
{
	return &s->pull.senders[u->first + number - 1];
}

static uint64_t *offers_of(const struct pull *u, uint32_t vl_index)
{
	return &u->offers[vl_index * u->words];
}

/* ---- choice of the sender ---------------------------------------------- */

/* Updates the bit of sender 0, which offers the first packet of its queue. */
static void look_at_zero(const struct pull *u, uint32_t vl_index, const struct port_vl *zero)
{
	uint64_t *offers = offers_of(u, vl_index);

	offers[0] = (offers[0] & ~(uint64_t)1) | (zero->queue.first != NONE);
}

static uint32_t offered_by(struct sim *s, const struct pull *u, uint32_t number, uint32_t vl_index,
			   const struct port_vl *zero)
{
	if (number == 0)
		return zero->queue.first;
	const struct injection_sender *from = sender_at(s, u, number);

	if (from->throttle != NONE)
		return throttle_offer(s, from->throttle);
	return s->pull.queues[from->queues + vl_index].first;
}

/* `vl_index` is the index of `zero` among the VLs of its port. */
static inline uint32_t pick(struct sim *s, const struct pull *u, uint32_t vl_index,
			    const struct port_vl *zero, uint32_t credits)
{
	uint32_t turn = u->turns[vl_index];

	look_at_zero(u, vl_index, zero);
	uint32_t first = numset_after(offers_of(u, vl_index), u->words, turn);
	uint32_t number = first;

	if (likely(credits >= s->max_blk))
		return first;
	while (number != NONE) {
		uint32_t id = offered_by(s, u, number, vl_index, zero);

		if (blocks_of(packet_at(s, id)->bytes) <= credits)
			return number;
		number = numset_after(offers_of(u, vl_index), u->words, number);
		if (number == first)
			break;
	}
	return NONE;
}

uint32_t injection_pick(struct sim *s, uint32_t port, const struct port_vl *zero, uint32_t credits)
{
	uint32_t vl_index = (uint32_t)(zero - s->port_vls) - port * s->n_vls;

	return pick(s, pull_at(s, port), vl_index, zero, credits);
}

static uint32_t queue_pop(struct sim *s, struct packet_queue *q)
{
	uint32_t id = q->first;

	q->first = packet_at(s, id)->next;
	if (q->first == NONE)
		q->last = NONE;
	return id;
}

static void zero_pop(struct sim *s, struct port_vl *zero)
{
	const struct packet_record *p = packet_at(s, zero->queue.first);

	zero->queue.first = p->next;
	if (p->next == NONE)
		zero->queue.last = NONE;
}

struct packet_record *injection_take(struct sim *s, uint32_t port, struct port_vl *zero,
				     uint32_t credits)
{
	struct pull *u = pull_at(s, port);
	uint32_t vl_index = (uint32_t)(zero - s->port_vls) - port * s->n_vls;
	uint32_t number = pick(s, u, vl_index, zero, credits);
	uint32_t id = offered_by(s, u, number, vl_index, zero);
	uint64_t *offers = offers_of(u, vl_index);

	u->turns[vl_index] = u->granted = number;
	if (number == 0) {
		zero_pop(s, zero);
	} else if (sender_at(s, u, number)->throttle != NONE) {
		throttle_take(s, sender_at(s, u, number)->throttle);
		numset_remove(offers, number);
	} else {
		struct packet_queue *q =
			&s->pull.queues[sender_at(s, u, number)->queues + vl_index];

		queue_pop(s, q);
		if (q->first == NONE)
			numset_remove(offers, number);
	}
	look_at_zero(u, vl_index, zero);
	if (numset_is_empty(offers, u->words))
		s->links[port].requests &= (uint16_t) ~(1u << packet_at(s, id)->out_vl);
	if (s->ends.n && s->pool.extras) {
		u->endpoint = s->pool.extras[id].endpoint;
		u->cookie = s->pool.extras[id].cookie;
	}
	return packet_at(s, id);
}

void injection_granted(struct sim *s, uint32_t port)
{
	const struct pull *u = pull_at(s, port);
	uint32_t throttle = u->granted ? sender_at(s, u, u->granted)->throttle : NONE;

	if (throttle != NONE) {
		throttle_update(s, throttle);
	} else if (u->endpoint) {
		const struct sim_endpoint *e = &s->ends.all[u->endpoint - 1];

		if (e->granted)
			e->granted(e->context, s->now, s->links[port].busy_until,
				   s->setup->ports[port].node, u->cookie);
	}
}

void injection_packet_passes(struct sim *s, uint32_t port, const struct packet_record *p)
{
	struct packet_extra *x = &s->pool.extras[packet_id(s, p)];
	const struct sim_endpoint *e = x->endpoint ? &s->ends.all[x->endpoint - 1] : NULL;

	if (!e || !e->passes)
		return;
	bool is_first = s->links[port].flags & L_END;
	hd_time waited = s->now - (is_first ? p->born : p->ready);
	uint64_t wait = waited ? sim_wait_at(waited, port) : 0;
	const struct sim_passage passage = {
		.port = port,
		.bytes = p->bytes,
		.number = x->nth,
		.cookie = x->cookie,
		.waited = waited,
		.is_first = is_first,
		.is_measured = s->now >= s->from,
	};

	if (is_first)
		x->waits.held = waited;
	else if (wait > x->waits.longest)
		x->waits.longest = wait;
	e->passes(e->context, &passage);
}

/* ---- offers ---------------------------------------------------------- */

void sender_offer(struct sim *s, uint32_t port, uint32_t number, unsigned vl)
{
	const struct pull *u = pull_at(s, port);
	struct sim_output *l = &s->links[port];

	numset_add(offers_of(u, index_of_vl(s, vl)), number);
	if (!l->requests)
		l->since = s->now;
	l->requests |= (uint16_t)(1u << vl);
	link_request(s, port);
}

void sender_withdraw(struct sim *s, uint32_t port, uint32_t number, unsigned vl)
{
	const struct pull *u = pull_at(s, port);
	uint32_t vl_index = index_of_vl(s, vl);

	numset_remove(offers_of(u, vl_index), number);
	look_at_zero(u, vl_index, &s->port_vls[port * s->n_vls + vl_index]);
	if (numset_is_empty(offers_of(u, vl_index), u->words))
		outlet_unrequest(s, &s->links[port], vl);
	if (s->sharing)
		vl_sharing_withdrawn(s, port, vl);
}

/* ---- plain senders --------------------------------------------------- */

void sender_enter(struct sim *s, uint32_t number, uint32_t id)
{
	struct packet_record *p = packet_at(s, id);

	if (!source_packet_vl(s, p))
		return;
	const struct pull *u = pull_at(s, p->out);

	assert(number < u->n);
	if (s->sharing)
		vl_sharing_ready(s, p->out, p->out_vl);
	const struct injection_sender *to = sender_at(s, u, number);
	struct packet_queue *q = &s->pull.queues[to->queues + index_of_vl(s, p->out_vl)];

	p->next = NONE;
	if (q->first != NONE) {
		packet_at(s, q->last)->next = id;
		q->last = id;
		if (s->sharing)
			link_request(s, p->out); /* B9: the VL may acquire another one */
		return;
	}
	q->first = q->last = id;
	sender_offer(s, p->out, number, p->out_vl);
}

static uint32_t number_of(const struct sim *s, const struct pull *u, uint32_t endpoint)
{
	return u->n - s->ends.n + endpoint;
}

/* Order of two packets of an endpoint at one port; `b` was offered later. */
static bool comes_before(struct sim *s, uint32_t a, uint32_t b)
{
	hd_time first = packet_at(s, a)->born, second = packet_at(s, b)->born;

	return first < second ||
	       (first == second && s->pool.extras[a].turn <= s->pool.extras[b].turn);
}

void sender_expect(struct sim *s, uint32_t endpoint, uint32_t id)
{
	struct packet_record *p = packet_at(s, id);
	const struct pull *u = pull_at(s, p->out);
	uint32_t number = number_of(s, u, endpoint);
	struct injection_sender *from = sender_at(s, u, number);
	uint32_t *link = &from->coming.first;

	p->sequence = from->sequence++;
	if (from->coming.last != NONE && comes_before(s, from->coming.last, id))
		link = &packet_at(s, from->coming.last)->next;
	while (*link != NONE && comes_before(s, *link, id))
		link = &packet_at(s, *link)->next;
	p->next = *link;
	*link = id;
	if (p->next == NONE)
		from->coming.last = id;
	eventq_push(&s->q, p->born, event_key(EV_INJECT, p->out, 0, number));
}

void sender_arrives(struct sim *s, uint32_t port, uint32_t number)
{
	struct injection_sender *from = sender_at(s, pull_at(s, port), number);

	sender_enter(s, number, queue_pop(s, &from->coming));
}

/* ---- setup ----------------------------------------------------------- */

/* Number of senders per end port, without sender 0 and endpoints. */
static void count_senders(const struct sim *s, uint32_t *counts)
{
	const struct sim_control *c = s->setup->control;

	for (uint32_t i = 0; c && i < c->n_throttles; i++) {
		uint32_t *count = &counts[c->throttles[i].node];

		if (c->throttles[i].sender > *count)
			*count = c->throttles[i].sender;
	}
	for (size_t i = 0; i < s->make.n_arrivals; i++) {
		uint32_t *count = &counts[s->make.arrivals[i].source];

		if (s->make.arrivals[i].sender > *count)
			*count = s->make.arrivals[i].sender;
	}
}

static void pull_init(struct sim *s, uint32_t port, uint32_t n)
{
	struct pull *u = &s->pull.ports[s->pull.n_ports];

	*u = (struct pull){
		.first = s->pull.n_senders,
		.n = n + 1,
		.words = n / 64 + 1,
		.port = port,
	};
	u->offers = hd_alloc((size_t)s->n_vls * u->words, sizeof(*u->offers));
	u->turns = hd_alloc(s->n_vls, sizeof(*u->turns));
	/* The round robin starts with sender 0, as if the last sender had been granted. */
	for (uint32_t i = 0; i < s->n_vls; i++)
		u->turns[i] = n;
	for (uint32_t i = 0; i < n; i++) {
		s->pull.senders[s->pull.n_senders] = (struct injection_sender){
			.throttle = NONE,
			.queues = s->pull.n_senders * s->n_vls,
			.coming = { NONE, NONE },
		};
		s->pull.n_senders++;
	}
	if (s->run.has_rows)
		s->links[port].flags |= L_PULLS;
	s->pull.of_port[port] = s->pull.n_ports++;
}

static void place_throttles(struct sim *s)
{
	const struct sim_control *c = s->setup->control;

	for (uint32_t i = 0; c && i < c->n_throttles; i++) {
		const struct sim_throttle *t = &c->throttles[i];
		uint32_t port = s->nodes[t->node].first_port + 1;

		sender_at(s, pull_at(s, port), t->sender)->throttle = i;
	}
}

void injection_fini(struct sim *s)
{
	for (uint32_t i = 0; i < s->pull.n_ports; i++) {
		free(s->pull.ports[i].offers);
		free(s->pull.ports[i].turns);
	}
	free(s->pull.ports);
	free(s->pull.of_port);
	free(s->pull.senders);
	free(s->pull.queues);
	s->pull.n_ports = s->pull.n_senders = 0;
}

void injection_init(struct sim *s)
{
	const struct sim_setup *setup = s->setup;
	uint32_t *counts = hd_alloc(setup->n_nodes, sizeof(*counts));
	size_t total = 0;

	injection_fini(s);
	count_senders(s, counts);
	for (uint32_t i = 0; i < setup->n_nodes; i++) {
		if (s->nodes[i].kind == SIM_END)
			counts[i] += s->ends.n;
		total += counts[i];
	}
	s->pull.ports = hd_alloc(setup->n_nodes, sizeof(*s->pull.ports));
	s->pull.senders = hd_alloc(total, sizeof(*s->pull.senders));
	s->pull.queues = hd_alloc(total * s->n_vls, sizeof(*s->pull.queues));
	s->pull.of_port = hd_alloc(setup->n_ports, sizeof(*s->pull.of_port));
	for (size_t i = 0; i < total * s->n_vls; i++)
		s->pull.queues[i] = (struct packet_queue){ NONE, NONE };
	for (uint32_t i = 0; i < setup->n_nodes; i++) {
		if (counts[i])
			pull_init(s, s->nodes[i].first_port + 1, counts[i]);
	}
	place_throttles(s);
	free(counts);
	if (s->sharing && s->pull.n_ports)
		vl_sharing_with_senders(s);
	if (s->pull.n_ports && s->hop_variant == HOP_FAST)
		s->hop_variant = HOP_CONTROLLED;
}

/* ---- checkpoint --------------------------------------------------------- */

static void pack_sender(struct checkpoint_state *v, struct sim *owner, struct injection_sender *x)
{
	pack_sum_u32(v->p, &x->sequence);
	if (x->throttle != NONE)
		return;
	checkpoint_state_list(v, owner, &x->coming);
	for (uint32_t i = 0; i < v->s->n_vls; i++)
		checkpoint_state_list(v, owner, &v->s->pull.queues[x->queues + i]);
}

static void pack_pull(struct checkpoint_state *v, uint32_t port)
{
	struct sim *s = v->s;
	struct pull *u = pull_at(s, port);

	for (uint32_t i = 0; i < s->n_vls * u->words; i++) {
		uint32_t above = u->n - i % u->words * 64;

		pack_u64(v->p, &u->offers[i]);
		pack_check(v->p, above >= 64 || u->offers[i] >> above == 0);
	}
	for (uint32_t i = 0; i < s->n_vls; i++) {
		pack_u32(v->p, &u->turns[i]);
		pack_check(v->p, u->turns[i] < u->n);
	}
	for (uint32_t i = 1; i < u->n; i++)
		pack_sender(v, sim_of_port(s, port), sender_at(s, u, i));
}

void checkpoint_state_senders(struct checkpoint_state *v)
{
	for (uint32_t i = 0; i < v->s->setup->n_ports && !v->p->refused; i++) {
		if ((v->s->links[i].flags & L_PULLS) && checkpoint_state_has_port(v, i))
			pack_pull(v, i);
	}
}
