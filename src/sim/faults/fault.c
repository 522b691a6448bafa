/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/domains.h"
#include "sim/routing/choose.h"

#include <math.h>

#include "base/alloc.h"
#include "sim/core/engine.h"
#include "sim/core/update.h"
#include "sim/core/vl_sharing.h"
#include "sim/faults/fault.h"
#include "sim/injection/mark.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"
#include "sim/routing/routes.h"

/* ---- what is known in advance ------------------------------------------ */

/* The first time, from fault `from` on, at which the link of `port` goes down. */
static hd_time next_down(const struct sim *s, uint32_t port, uint32_t from)
{
	const struct sim_setup *setup = s->setup;

	for (uint32_t i = from; i < setup->n_faults; i++) {
		const struct sim_fault *f = &setup->faults[i];

		if (f->kind == SIM_LINK_DOWN &&
		    (f->port == port || f->port == setup->ports[port].peer))
			return f->time;
	}
	return NEVER;
}

static hd_time sink_free_again(const struct sim *s, uint32_t fault)
{
	const struct sim_fault *f = s->setup->faults;

	for (uint32_t i = fault + 1; i < s->setup->n_faults; i++) {
		if (f[i].kind == SIM_SINK_FREE && f[i].port == f[fault].port)
			return f[i].time;
	}
	return NEVER;
}

/* Intervals per sink in which it is stuck, in order of time. */
static void stuck_init(struct sim *s)
{
	const struct sim_fault *f = s->setup->faults;

	s->fault.stuck = hd_alloc(s->setup->n_faults, sizeof(*s->fault.stuck));
	for (uint32_t i = s->setup->n_faults; i-- > 0;) {
		if (f[i].kind != SIM_SINK_STUCK)
			continue;
		struct rare_port *c = rare_at(s, f[i].port);

		s->fault.stuck[i] = (struct stuck){
			.from = f[i].time,
			.until = sink_free_again(s, i),
			.next = c->stuck,
		};
		c->stuck = i;
	}
}

void faults_init(struct sim *s)
{
	const struct sim_setup *setup = s->setup;

	for (uint32_t i = 0; i < setup->n_faults; i++) {
		eventq_push(&s->q, setup->faults[i].time, event_key(EV_FAULT, 0, 0, i));
		s->background++;
	}
	for (uint32_t port = 0; port < setup->n_ports; port++) {
		const struct sim_port *sp = &setup->ports[port];
		struct rare_port *c = rare_at(s, port);

		c->stuck = NONE;
		c->held = (struct packet_queue){ NONE, NONE };
		c->next_down = next_down(s, port, 0);
		rng_init(&c->errors, setup->seed, 0x10000000u + (uint64_t)port);
		rng_init(&c->losses, setup->seed, 0x20000000u + (uint64_t)port);
		c->log_ok = sp->ber > 0 ? log1p(-sp->ber) : 0;
		s->mode.hoq = s->mode.hoq || sp->hoq_life > 0;
	}
	stuck_init(s);
}

bool fault_affects_link(const struct sim *s, uint32_t port)
{
	const struct sim_port *sp = &s->setup->ports[port];
	const struct sim_port *far = &s->setup->ports[sp->peer];

	return sp->ber > 0 || rare_at(s, port)->next_down != NEVER ||
	       rare_at(s, sp->peer)->stuck != NONE ||
	       (s->setup->nodes[far->node].kind == SIM_END &&
		switch_tables_refuse_keys(s, sp->peer));
}

hd_time fault_sink_delivery(const struct sim *s, uint32_t port, hd_time tail)
{
	for (uint32_t i = rare_at(s, port)->stuck; i != NONE; i = s->fault.stuck[i].next) {
		if (tail >= s->fault.stuck[i].from && tail < s->fault.stuck[i].until)
			return s->fault.stuck[i].until;
	}
	return tail;
}

/* ---- F1, F3: packets on a link ------------------------------------------ */

bool fault_link_fate(struct sim *s, uint32_t port, struct packet_record *p)
{
	struct rare_port *c = rare_at(s, port);

	if (c->log_ok < 0) {
		double u = rng_uniform(&c->errors);

		if (u < -expm1(8.0 * p->bytes * c->log_ok))
			p->flags |= P_CORRUPT;
	}
	if (s->tell.granted)
		observers_granted(s, port, p, c->next_down <= p->head);
	if (c->next_down > p->head)
		return true;

	uint32_t where = s->links[port].peer;

	metrics_lost(s, p, (struct ending){ SIM_LOST_LINK, where, c->next_down },
		     &s->sums.rare[where].link_lost);
	metrics_packet_missed(s, port, p);
	if (p->vl != VL_MANAGEMENT) {
		struct flow_control *fc = &s->fc[port * s->n_vls + p->vl];

		fc->lost = (uint16_t)(fc->lost + blocks_of(p->bytes));
	}
	packet_free(s, p);
	return false;
}

/* ---- F3: links down and up ---------------------------------------------- */

/* The link came up in this instant; a fault in the same instant prevents grants. */
static void port_untouch(struct sim *s, uint32_t port)
{
	struct port_list *list = &s->instant.pending_links;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		if (list->ports[i] == port)
			s->links[port].flags &= (uint8_t)~L_PENDING;
		else
			list->ports[kept++] = list->ports[i];
	}
	list->n = kept;
}

static void port_down(struct sim *s, uint32_t port)
{
	struct sim_output *l = &s->links[port];

	link_waited(s, l);
	/* counted by the owner of the port */
	s->sums.rare[port].link_downed += !s->mail.is_elsewhere;
	l->flags &= (uint8_t)~L_UP;
	if (s->choices)
		s->choices->ports[port].down = s->now;
	port_untouch(s, port);
	rare_at(s, port)->pending = 0;
	/* Where VLs merge, F4 applies to packets that request nothing. */
	if (l->requests || s->mode.merges)
		port_stir(s, port);
}

/* The credits of `port` become the free space at the far end of its link. */
static void credits_restart(struct sim *s, uint32_t port)
{
	struct credits credits = credits_of_link(s, port);
	const struct ring *r = credits.ring;
	uint32_t far = s->links[port].peer;

	if (r->mode == RING_PLAIN)
		/* Applies space freed before now; later credits arrive as usual. */
		credit_ring_apply(s, credits, s->now + r->delay - 1);
	for (uint32_t vl = 0; vl < switch_tables_max_vls(s, port); vl++) {
		struct flow_control *tx = &s->fc[port * s->n_vls + vl];
		struct flow_control *rx = &s->fc[far * s->n_vls + vl];

		if (r->mode == RING_PLAIN) {
			credits_set(s, credits, vl, (uint32_t)credits.of_vl[vl] + tx->lost);
			tx->lost = 0;
			continue;
		}
		if (r->mode == RING_EXACT)
			tx->limit = (uint16_t)(s->setup->ports[far].in_blocks - rx->held);
		else
			tx->limit = (rx->offer + tx->lost - tx->sent) & 4095;
		rx->offer = tx->limit;
		rx->abr = tx->sent = tx->lost = 0;
		update_credits(s, port, vl);
	}
}

static void port_up(struct sim *s, uint32_t port)
{
	struct sim_output *l = &s->links[port];

	credits_restart(s, port);
	l->flags |= L_UP;
	if (s->choices)
		s->choices->ports[port].down = NEVER;
	l->since = s->now;
	if (l->requests)
		port_stir(s, port);
}

void fault_strike(struct sim *s, uint32_t id)
{
	const struct sim_fault *f = &s->setup->faults[id];
	uint32_t peer = s->setup->ports[f->port].peer;

	s->background--;
	if (peer == NONE)
		return;
	if (f->kind == SIM_LINK_DOWN) {
		rare_at(s, f->port)->next_down = next_down(s, f->port, id + 1);
		rare_at(s, peer)->next_down = rare_at(s, f->port)->next_down;
	}
	if (!has_row(s, f->port))
		return; /* the peer port has none either */
	bool up = s->links[f->port].flags & L_UP;

	if (f->kind == SIM_LINK_DOWN && up) {
		port_down(sim_of_port(s, f->port), f->port);
		port_down(sim_of_port(s, peer), peer);
	} else if (f->kind == SIM_LINK_UP && !up) {
		port_up(sim_of_port(s, f->port), f->port);
		port_up(sim_of_port(s, peer), peer);
	}
}

/* ---- F4, F5, F6: discards ----------------------------------------------- */

/* Discards a copy that was removed from its queue at `port`. */
static void copy_discard(struct sim *s, uint32_t port, struct packet_record *p)
{
	hd_time gone = s->now;

	metrics_lost(s, p, (struct ending){ SIM_LOST_DISCARD, port, s->now },
		     &s->sums.rare[port].xmit_discards);
	if (s->sharing)
		vl_sharing_discarded(s, port, p->out_vl);
	if (s->marks)
		mark_discard(s, port, p);
	if (s->choices)
		choice_leaves(s, port, p);
	if (s->mode.cioq) {
		gone = p->head > gone ? p->head : gone;
		hop_leave_output(s, port, p->out_vl, blocks_of(p->bytes), gone);
	} else {
		hd_time tail = p->head;

		if (!is_made_here(p))
			tail += duration_of(s, s->links[p->up].rate, p->bytes);

		hop_leave_buffer(s, p, tail > gone ? tail : gone);
	}
	packet_free(s, p);
}

static struct port_vl *vl_at(struct sim *s, uint32_t port, unsigned vl)
{
	return &s->port_vls[port * s->n_vls + index_of_vl(s, vl)];
}

/* Discards the first packet of an output queue. */
static void queue_discard(struct sim *s, uint32_t port, unsigned vl)
{
	struct sim_output *l = &s->links[port];
	struct port_vl *port_vl = vl_at(s, port, vl);
	struct packet_record *p = packet_at(s, port_vl->queue.first);

	port_vl->queue.first = p->next;
	if (p->next == NONE)
		port_vl->queue.last = NONE;
	if (p->next == NONE || packet_at(s, p->next)->ready > s->now)
		outlet_unrequest(s, l, vl);
	else
		fault_hoq_start(s, packet_at(s, p->next));
	copy_discard(s, port, p);
}

/* Discards a ready packet of a virtual output queue. */
static void voq_discard(struct sim *s, uint32_t port, struct packet_record *p)
{
	struct port_vl *port_vl = vl_at(s, port, p->out_vl);

	if (voq_first(s, port_vl, p->in) != packet_id(s, p)) {
		voq_unlink(s, port_vl, p);
		copy_discard(s, port, p);
		return;
	}
	voq_pop(s, port_vl, p->in, false);
	if (!port_vl->inputs)
		outlet_unrequest(s, &s->links[port], p->out_vl);
	else if (!s->mode.merges && inputs_has(s, port_vl, p->in, false))
		fault_hoq_start(s, packet_at(s, voq_first(s, port_vl, p->in)));
	copy_discard(s, port, p);
}

/*
 * Where VLs merge, a packet that is first and not ready may precede a ready one, so all packets are
 * examined.
 */
static void merged_discard(struct sim *s, uint32_t port)
{
	const struct node *n = &s->nodes[s->setup->ports[port].node];
	uint32_t inputs = n->n_in - n->low;

	for (uint32_t i = 0; i < s->n_vls * inputs; i++) {
		const struct port_vl *port_vl = &s->port_vls[port * s->n_vls + i / inputs];
		uint32_t id = *voq_slot(s, port_vl, n->low + i % inputs);

		while (id != NONE) {
			struct packet_record *p = packet_at(s, id);

			id = p->next;
			if (p->ready <= s->now)
				voq_discard(s, port, p);
		}
	}
}

void fault_discard(struct sim *s, uint32_t port)
{
	struct sim_output *l = &s->links[port];

	if (l->flags & L_UP) {
		link_request(s, port);
		return;
	}
	if (s->mode.merges && !s->mode.cioq)
		merged_discard(s, port);
	while (l->requests) {
		unsigned vl = (unsigned)__builtin_ctz(l->requests);
		struct port_vl *port_vl = vl_at(s, port, vl);

		if (s->mode.cioq) {
			queue_discard(s, port, vl);
		} else {
			if (s->sharing)
				port_vl = vl_sharing_queue(s, port, port_vl, vl);
			unsigned in = inputs_lowest(s, port, port_vl);

			voq_discard(s, port, packet_at(s, voq_first(s, port_vl, in)));
		}
	}
}

void fault_hoq_start(struct sim *s, struct packet_record *p)
{
	hd_time life = s->setup->ports[p->out].hoq_life;

	if (life == 0 || p->out_vl == VL_MANAGEMENT)
		return;
	s->pool.extras[packet_id(s, p)].first = s->now;
	p->flags |= P_WAITS;
	eventq_push(&s->q, s->now + life, event_key(EV_HOQ, p->out, p->out_vl, packet_id(s, p)));
}

void fault_hoq_expire(struct sim *s, uint32_t port, uint32_t id)
{
	struct packet_record *p = packet_at(s, id);
	hd_time life = s->setup->ports[port].hoq_life;

	/* The packet may have left, and its record may be reused. */
	if (!(p->flags & P_WAITS) || p->out != port || s->pool.extras[id].first + life != s->now)
		return;
	if (s->mode.cioq)
		queue_discard(s, port, p->out_vl);
	else
		voq_discard(s, port, p);
	if (s->links[port].requests)
		link_request(s, port);
}
