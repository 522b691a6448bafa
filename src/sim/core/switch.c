/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/core/switch.h"
#include "base/eventq.h"
#include "base/units.h"
#include "fabric/setup.h"
#include "sim/core/engine.h"
#include "sim/core/event.h"
#include "sim/core/sim_internal.h"
#include "sim/core/voq.h"
#include "sim/faults/fault.h"
#include "sim/injection/mark.h"
#include "sim/metrics/members.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/record.h"
#include "sim/routing/choose.h"
#include "sim/routing/reduce.h"
#include "sim/routing/router.h"
#include "sim/routing/routes.h"
#include "subnet/routing/adaptive.h"
#include "subnet/subnet.h"

/* ---- drops ------------------------------------------------------------- */

void switch_head_lost(struct sim *s, const struct packet_record *p, enum sim_fate fate,
		      uint32_t where, uint64_t *counter)
{
	metrics_lost(s, p, (struct ending){ fate, where, p->head }, counter);
}

void switch_drop(struct sim *s, struct packet_record *p)
{
	hd_time tail = p->head;

	if (!is_made_here(p))
		tail += duration_of(s, s->links[p->up].rate, p->bytes);
	hop_return_space(s, p, tail);
	packet_free(s, p);
}

void switch_corrupt(struct sim *s, struct packet_record *p, uint32_t where)
{
	switch_head_lost(s, p, SIM_LOST_CORRUPT, where, &s->sums.rare[where].rcv_errors);
	if (p->head <= s->horizon)
		metrics_packet_missed(s, p->up, p);
	switch_drop(s, p);
}

/* ---- A1, A2 ------------------------------------------------------------ */

/* The tables in force when the head of p arrives, which may be in the future. */
static const struct pkey_table *pkeys_of(const struct sim *s, const struct packet_record *p,
					 uint32_t port)
{
	return &vls_at(s, p->head)->pkeys[s->setup->ports[port].origin];
}

static bool is_output(const struct sim *s, const struct node *n, unsigned out)
{
	return out < n->n_in && s->links[n->first_port + out].peer != NONE;
}

unsigned switch_output(struct sim *s, const struct node *n, const struct packet_record *p)
{
	if (p->dlid >= n->lft_len)
		return LFT_NO_PORT;
	return s->routes ? switch_tables_output(s, n, p) : *lft_entry(s, n, p->dlid);
}

uint8_t switch_vl(const struct sim *s, const struct node *n, const struct packet_record *p,
		  unsigned out)
{
	unsigned in = is_made_here(p) ? 0 : p->in;

	if (n->uniform && !is_made_here(p))
		return n->vl_of_sl[p->sl];
	return sl2vl_at(vls_at(s, p->head), n->switch_id, in, out)->vl[p->sl];
}

bool switch_permits_key(const struct sim *s, const struct node *n, const struct packet_record *p,
			uint32_t port)
{
	return !n->enforces || !pkeys_of(s, p, port)->enforce_out ||
	       pkey_passes(pkeys_of(s, p, port), p->pkey);
}

bool switch_permits(const struct sim *s, const struct node *n, const struct packet_record *p,
		    unsigned out)
{
	uint32_t port = n->first_port + out;

	return is_output(s, n, out) && switch_permits_key(s, n, p, port) &&
	       switch_vl(s, n, p, out) < vls_of(s, port, p->head);
}

/* Whether a copy of p may leave by `out`. Sets out and out_vl; reports a loss. */
static bool copy_allowed(struct sim *s, const struct node *n, struct packet_record *p, unsigned out)
{
	uint32_t port = n->first_port + out;

	p->out = port;
	p->out_vl = VL_MANAGEMENT;
	if (p->vl == VL_MANAGEMENT)
		return true;
	if (!switch_permits_key(s, n, p, port)) {
		switch_head_lost(s, p, SIM_LOST_PARTITION, port,
				 &s->sums.rare[port].xmit_constraint_errors);
		return false;
	}
	uint8_t vl = switch_vl(s, n, p, out);

	if (vl >= vls_of(s, port, p->head)) {
		switch_head_lost(s, p, SIM_LOST_DISCARD, port, &s->sums.rare[port].xmit_discards);
		return false;
	}
	p->out_vl = vl;
	return true;
}

void hop_route_copy(struct sim *s, struct packet_record *p)
{
	const struct node *n = &s->nodes[s->setup->ports[p->out].node];

	if (!s->choices) {
		hop_place_copy(s, p);
		return;
	}
	eventq_push(&s->q, p->head + s->routing,
		    event_key(EV_CHOOSE, n->first_port + p->in, 0, packet_id(s, p)));
}

void switch_head_unrouted(struct sim *s, struct packet_record *p, uint32_t in_port)
{
	switch_head_lost(s, p, SIM_LOST_NO_ROUTE, in_port, &s->sums.rare[in_port].rcv_relay_errors);
	switch_drop(s, p);
}

/* ---- multicast (T12) --------------------------------------------------- */

/*
 * Turns p into the P_SHARED slot of its copies. The copies are linked from slot->out and not yet
 * placed. Takes an id because packet_new may move the records.
 */
static void copies_make(struct sim *s, const struct node *n, uint32_t id, const uint64_t *outs,
			unsigned words)
{
	uint32_t first = NONE, copy = NONE;
	bool shares = members_are_carried(s, &s->pool.all[id]);
	uint32_t members = shares ? s->pool.extras[id].nth : 0;
	unsigned made = 0;

	for (unsigned out = 0; out < n->n_in && out < 64 * words; out++) {
		if (!(outs[out / 64] >> (out % 64) & 1) || out == s->pool.all[id].in ||
		    !is_output(s, n, out))
			continue;
		if (unlikely(shares))
			members -= metrics_members_take(s, &s->pool.all[id], n->first_port + out,
							members);
		if (!copy_allowed(s, n, &s->pool.all[id], out))
			continue;
		uint32_t fresh = packet_new(s);
		s->pool.all[fresh] = s->pool.all[id];
		s->pool.all[fresh].slot = id;
		s->pool.all[fresh].next = NONE;
		if (s->pool.extras)
			s->pool.extras[fresh] = s->pool.extras[id];
		if (copy == NONE)
			first = fresh;
		else
			s->pool.all[copy].next = fresh;
		copy = fresh;
		made++;
	}
	struct packet_record *slot = &s->pool.all[id];

	if (unlikely(members > 0))
		metrics_members_missed(s, slot, members, slot->head);
	slot->flags |= P_SHARED;
	slot->left = made;
	slot->out = first;
	slot->ready = 0;
	slot->slot = NONE;
}

static bool has_output(const struct sim *s, const struct node *n, const struct packet_record *p,
		       const uint64_t *outs, unsigned words)
{
	for (unsigned out = 0; outs && out < n->n_in && out < 64 * words; out++) {
		if ((outs[out / 64] >> (out % 64) & 1) && out != p->in && is_output(s, n, out))
			return true;
	}
	return false;
}

/* Sends the copies of a packet; its record becomes their slot. */
static void copies_send(struct sim *s, const struct node *n, uint32_t id, const uint64_t *outs,
			unsigned words)
{
	copies_make(s, n, id, outs, words);
	struct packet_record *slot = &s->pool.all[id];

	if (slot->left == 0) {
		switch_drop(s, slot);
		return;
	}
	if (s->mode.fifo) {
		for (uint32_t c = slot->out; s->marks && c != NONE; c = s->pool.all[c].next)
			mark_expect(s, &s->pool.all[c], false);
		fifo_arrive(s, slot);
		return;
	}
	for (uint32_t copy = slot->out; copy != NONE;) {
		struct packet_record *c = &s->pool.all[copy];

		copy = c->next;
		hop_route_copy(s, c);
	}
}

static void multicast(struct sim *s, const struct node *n, struct packet_record *p,
		      uint32_t in_port)
{
	const struct group_at at = { p->dlid, p->head };
	const uint64_t *outs = group_set(s, n, &at);
	unsigned words = s->setup->subnet->mft[n->subnet].words;

	if (!has_output(s, n, p, outs, words))
		switch_head_unrouted(s, p, in_port);
	else
		copies_send(s, n, packet_id(s, p), outs, words);
}

void switch_gives(struct sim *s, const struct node *n, uint32_t id, const struct port_set *to)
{
	if (to)
		copies_send(s, n, id, to->bits, 4);
	else
		multicast(s, n, packet_at(s, id), n->first_port);
}

void switch_slot_leave(struct sim *s, struct packet_record *p, hd_time when)
{
	uint32_t id = p->slot;
	struct packet_record *slot = &s->pool.all[id];

	if (when > slot->ready)
		slot->ready = when;
	if (--slot->left > 0)
		return;
	uint32_t in_port = is_made_here(slot) ? 0 : s->links[slot->up].peer;
	/*
	 * The reader may continue, but must not take a later packet with the same id for this
	 * one.
	 */
	for (uint32_t i = 0; i < s->n_readers; i++) {
		struct crossbar_reader *r = &s->cross.readers[in_port * s->n_readers + i];

		r->slot = r->slot == id ? NONE : r->slot;
	}
	if (s->mode.fifo)
		fifo_leave(s, slot->up, slot->vl, slot->ready);
	hop_return_space(s, slot, slot->ready);
	packet_free(s, slot);
}

static void head_foreign(struct sim *s, struct packet_record *p, uint32_t in_port)
{
	switch_head_lost(s, p, SIM_LOST_PARTITION, in_port,
			 &s->sums.rare[in_port].rcv_constraint_errors);
	switch_drop(s, p);
}

bool switch_end_refuses(struct sim *s, struct packet_record *p, uint32_t in_port)
{
	const struct pkey_table *keys = pkeys_of(s, p, in_port);

	if (!keys->enforce_in || p->vl == VL_MANAGEMENT || pkey_passes(keys, p->pkey))
		return false;
	head_foreign(s, p, in_port);
	return true;
}

void switch_arrive(struct sim *s, uint32_t port, struct packet_record *p)
{
	const struct sim_output *l = &s->links[port];
	const struct node *n = &s->nodes[l->far_node];
	uint32_t in_port = l->peer;

	p->in = (uint8_t)(in_port - n->first_port);
	if (p->flags & P_CORRUPT) {
		switch_corrupt(s, p, in_port);
		return;
	}
	if (n->enforces && p->vl != VL_MANAGEMENT && pkeys_of(s, p, in_port)->enforce_in &&
	    !pkey_enters(pkeys_of(s, p, in_port), p->pkey)) {
		head_foreign(s, p, in_port);
		return;
	}
	if (n->kind == SIM_ROUTER) {
		router_arrive(s, n, p, in_port);
		return;
	}
	if (p->dlid >= LID_FIRST_MCAST) {
		if (s->reductions && is_contribution(s, p))
			aggregator_receive(s, n, p, in_port);
		else
			multicast(s, n, p, in_port);
		return;
	}
	if (choice_defer(s, n, p)) {
		hop_route_copy(s, p);
		return;
	}
	unsigned out = switch_output(s, n, p);

	if (out == LFT_NO_PORT || !is_output(s, n, out))
		switch_head_unrouted(s, p, in_port);
	else if (!copy_allowed(s, n, p, out))
		switch_drop(s, p);
	else
		hop_route_copy(s, p);
}

/* ---- fifo -------------------------------------------------------------- */

static struct fifo *fifo_of(struct sim *s, uint32_t up, unsigned vl)
{
	return &s->fifos[s->links[up].peer * s->n_vls + index_of_vl(s, vl)];
}

/* T6: the copy belongs to the first packet of its buffer from time `first` on. */
static void copy_becomes_first(struct sim *s, struct packet_record *p, hd_time first)
{
	hd_time routed = p->head + s->routing;

	p->ready = (routed > first ? routed : first) + s->arbitration;
	if (!s->mode.cioq) {
		hd_time d_in = duration_of(s, s->links[p->up].rate, p->bytes);
		hd_time d_out = duration_of(s, s->links[p->out].rate, p->bytes);
		hd_time least = p->head + s->delay + (d_in > d_out ? d_in - d_out : 0);

		p->ready = p->ready > least ? p->ready : least;
	}
	if (s->mode.merges)
		eventq_push(&s->q, first, event_key(EV_FIRST, p->out, p->out_vl, packet_id(s, p)));
	eventq_push(&s->q, p->ready, event_key(EV_READY, p->out, p->out_vl, packet_id(s, p)));
}

static void becomes_first(struct sim *s, struct packet_record *p, hd_time first)
{
	if (!(p->flags & P_SHARED)) {
		copy_becomes_first(s, p, first);
		return;
	}
	for (uint32_t copy = p->out; copy != NONE;) {
		struct packet_record *c = &s->pool.all[copy];

		copy = c->next;
		copy_becomes_first(s, c, first);
	}
}

void fifo_arrive(struct sim *s, struct packet_record *p)
{
	struct fifo *f = fifo_of(s, p->up, p->vl);
	uint32_t id = packet_id(s, p);

	if (!f->has_first) {
		f->has_first = true;
		becomes_first(s, p, p->head > f->free_at ? p->head : f->free_at);
		return;
	}
	p->next = NONE;
	if (f->last == NONE)
		f->next = id;
	else
		s->pool.all[f->last].next = id;
	f->last = id;
}

void fifo_leave(struct sim *s, uint32_t up, unsigned vl, hd_time when)
{
	struct fifo *f = fifo_of(s, up, vl);
	uint32_t id = f->next;

	f->free_at = when;
	if (id == NONE) {
		f->has_first = false;
		return;
	}
	struct packet_record *p = &s->pool.all[id];

	f->next = p->next;
	if (f->next == NONE)
		f->last = NONE;
	becomes_first(s, p, p->head > when ? p->head : when);
}

/*
 * fifo with merged VLs: queues the packet among the first packets of other buffers of its input
 * with the same output VL, by arrival (T7), ready or not.
 */
void fifo_first(struct sim *s, struct packet_record *p)
{
	struct port_vl *port_vl = &s->outlet_vls[p->out * s->n_vls + index_of_vl(s, p->out_vl)];
	uint32_t *head = voq_slot(s, port_vl, p->in);
	uint32_t id = packet_id(s, p);

	if (*head == NONE) {
		*head = p->tail = id;
		p->next = NONE;
		return;
	}
	struct packet_record *first = packet_at(s, *head);
	if (p->head < first->head) {
		p->next = *head;
		p->tail = first->tail;
		*head = id;
		if (!inputs_has(s, port_vl, p->in, false))
			return;
		inputs_remove(s, port_vl, p->in, false);
		if (!port_vl->inputs)
			outlet_unrequest(s, &s->outlets[p->out], p->out_vl);
		return;
	}
	struct packet_record *before = first;
	while (before->next != NONE && packet_at(s, before->next)->head < p->head)
		before = packet_at(s, before->next);
	p->next = before->next;
	before->next = id;
	if (p->next == NONE)
		first->tail = id;
}

/* The packet has been in its queue since it became first. */
void fifo_ready(struct sim *s, struct port_vl *port_vl, struct packet_record *p)
{
	if (*voq_slot(s, port_vl, p->in) == packet_id(s, p)) {
		inputs_add(s, port_vl, p->in, false);
		outlet_request(s, p->out, p->out_vl);
	} else if (!s->mode.cioq && !(s->links[p->out].flags & L_UP)) {
		link_request(s, p->out); /* F4 requires only that its buffer is served */
	}
	if (s->mode.hoq && !s->mode.cioq)
		fault_hoq_start(s, p);
}
