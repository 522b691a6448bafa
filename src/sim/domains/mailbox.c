/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/core/engine.h"
#include "sim/core/hop.h"
#include "sim/injection/control.h"

/* ---- sending ----------------------------------------------------------- */

static void told_at(struct sim *s, hd_time when)
{
	s->mail.told = when < s->mail.told ? when : s->mail.told;
}

void mail_packet(struct sim *s, uint32_t port, struct packet_record *p)
{
	uint32_t to = s->cut->part_of_node[s->links[port].far_node];
	struct mailbox *m = &s->mail.boxes[to];

	m->packets = hd_grow(m->packets, &m->packets_cap, m->n_packets + 1, sizeof(*m->packets));
	m->packets[m->n_packets] = *p;
	if (s->pool.extras) {
		m->extras =
			hd_grow(m->extras, &m->extras_cap, m->n_packets + 1, sizeof(*m->extras));
		m->extras[m->n_packets] = s->pool.extras[packet_id(s, p)];
	}
	m->n_packets++;
	told_at(s, p->head);
	packet_free(s, p);
}

void mail_credit(struct sim *s, const struct partition_credit *c)
{
	struct mailbox *m = &s->mail.boxes[s->cut->part_of_port[c->up]];

	m->credits = hd_grow(m->credits, &m->credits_cap, m->n_credits + 1, sizeof(*m->credits));
	m->credits[m->n_credits++] = *c;
	told_at(s, c->when);
}

void mail_event(struct sim *s, hd_time when, uint64_t key)
{
	struct mailbox *m = &s->mail.boxes[s->cut->part_of_port[key_port(key)]];

	m->events = hd_grow(m->events, &m->events_cap, m->n_events + 1, sizeof(*m->events));
	m->events[m->n_events++] = (struct event){ .when = when, .key = key };
	told_at(s, when);
}

void mail_answer(struct sim *s, uint32_t port, const struct delayed *d)
{
	struct mailbox *m = &s->mail.boxes[s->cut->part_of_port[port]];

	m->answers = hd_grow(m->answers, &m->answers_cap, m->n_answers + 1, sizeof(*m->answers));
	m->answers[m->n_answers++] = *d;
	told_at(s, d->when);
}

void mail_delivery(struct sim *s, const struct late *l)
{
	struct mailbox *m = &s->mail.boxes[flow_home(s, l->flow)];
	size_t n = m->n_deliveries++;

	m->deliveries = hd_grow(m->deliveries, &m->deliveries_cap, n + 1, sizeof(*m->deliveries));
	for (; n > 0 && late_before(l, &m->deliveries[n - 1]); n--)
		m->deliveries[n] = m->deliveries[n - 1];
	m->deliveries[n] = *l;
	s->mail.window_n++;
	s->mail.window_sum += l->latency;
}

/* ---- reading ----------------------------------------------------------- */

#define AHEAD 8 /* packets and credits prefetched ahead */

static void read_credits(struct sim *s, const struct mailbox *m)
{
	for (size_t i = 0; i < m->n_credits; i++) {
		const struct partition_credit *c = &m->credits[i];
		struct credits credits = credits_of_link(s, c->up);
		const struct sim_output *l = credits.output;
		unsigned vl = c->what >> RING_VL_SHIFT;
		hd_time when = c->when + credits.ring->delay;

		if (i + AHEAD < m->n_credits)
			__builtin_prefetch(&s->rings[c[AHEAD].up], 1);
		credits.ring->area += c->area;
		if (!(c->what & RING_BLOCKS))
			continue; /* the rest belongs to an event */
		credit_ring_push(s, credits, when, c->what);
		if (credits.ring->waiting_for_credit && (l->requests >> vl & 1) &&
		    when < l->wake_at)
			link_wake(s, c->up, when);
	}
}

/* A received packet continues as if it had been granted in this domain. */
static void read_packet(struct sim *s, const struct packet_record *from,
			const struct packet_extra *extra)
{
	const struct sim_output *l = &s->cut->wires[from->up];
	uint32_t id = packet_new(s);
	struct packet_record *p = packet_at(s, id);

	*p = *from;
	if (extra)
		s->pool.extras[id] = *extra;
	s->now = p->head - l->prop;
	if (s->hop_variant == HOP_DOMAIN_FAST)
		hop_travel(s, p->up, l, p, HOP_DOMAIN_FAST);
	else if (s->hop_variant == HOP_DOMAIN_CONTROLLED)
		hop_travel(s, p->up, l, p, HOP_DOMAIN_CONTROLLED);
	else
		hop_travel(s, p->up, l, p, HOP_DOMAIN);
}

static void read_packets(struct sim *s, const struct mailbox *m)
{
	hd_time now = s->now;

	for (size_t i = 0; i < m->n_packets; i++) {
		const struct packet_record *p = &m->packets[i];

		if (i + AHEAD < m->n_packets) {
			const struct packet_record *later = p + AHEAD;
			const struct sim_output *l = &s->cut->wires[later->up];

			__builtin_prefetch(lft_entry(s, &s->nodes[l->far_node], later->dlid));
		}
		read_packet(s, p, s->pool.extras ? &m->extras[i] : NULL);
	}
	s->now = now;
}

static void mail_count(struct sim *s, const struct mailbox *m)
{
	s->mail.mailed[MAIL_PACKETS] += m->n_packets;
	s->mail.mailed[MAIL_CREDITS] += m->n_credits;
	s->mail.mailed[MAIL_EVENTS] += m->n_events;
	s->mail.mailed[MAIL_ANSWERS] += m->n_answers;
	s->mail.mailed[MAIL_DELIVERIES] += m->n_deliveries;
}

void mail_read(struct sim *s, struct mailbox *from)
{
	for (uint32_t i = 0; i < s->cut->n; i++) {
		struct mailbox *m = &from[i * s->cut->n + s->part];

		if (!(m->n_packets | m->n_credits | m->n_events | m->n_answers | m->n_deliveries))
			continue;
		mail_count(s, m);
		for (size_t d = 0; d < m->n_deliveries; d++)
			metrics_late(s, &m->deliveries[d]);
		read_credits(s, m);
		for (size_t e = 0; e < m->n_events; e++)
			eventq_push(&s->q, m->events[e].when, m->events[e].key);
		for (size_t a = 0; a < m->n_answers; a++)
			ack_expect(s, &m->answers[a]);
		read_packets(s, m);
		m->n_packets = m->n_credits = 0;
		m->n_events = m->n_answers = m->n_deliveries = 0;
	}
}

void mailbox_fini(struct mailbox *m)
{
	free(m->packets);
	free(m->extras);
	free(m->credits);
	free(m->events);
	free(m->answers);
	free(m->deliveries);
}
