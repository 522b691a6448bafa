/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes into buffers and leaves them: T4, T12, T13, F4-F7. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

/* ---- T2, phase 1: heads arrive ---- */

void slot_add(struct port *p, struct slot *slot)
{
	p->slots = hd_grow(p->slots, &p->slots_cap, p->n_slots + 1, sizeof(struct slot *));
	p->slots[p->n_slots++] = slot;
}

/* A2 */
static void slot_refuse(struct oracle *o, uint32_t port, struct slot *slot)
{
	slot->dropped = slot->refused = true;
	o->stats->refused++;
	o->out->counters[port].rcv_constraint_errors++;
	record_end(o, slot->packet, port, SIM_LOST_PARTITION);
}

static void head_arrive(struct oracle *o, const struct flight *f)
{
	struct sim_counters *counters = &o->out->counters[f->to];
	struct port *p = &o->ports[f->to];
	uint32_t blk = packet_blocks(f->packet);
	struct slot *slot;

	if (f->vl == VL_MANAGEMENT &&
	    p->occupied[VL_MANAGEMENT] + blk > o->setup->ports[f->to].vl15_blocks) {
		counters->vl15_dropped++; /* A4 */
		record_end(o, f->packet, f->to, SIM_LOST_VL15);
		return;
	}
	slot = hd_alloc(1, sizeof(*slot));
	slot->packet = f->packet;
	slot->vl = f->vl;
	slot->head = o->now;
	slot->d_in = duration_on(o, f->to, f->packet->as.bytes);
	slot->first = NEVER;
	slot_add(p, slot);
	p->occupied[f->vl] += blk; /* T4 */
	if (o->mutation != MUT_FILL_FROM_GRANT)
		p->fill[f->vl] += blk;
	p->received[f->vl] += blk; /* T5: of every packet that arrives */
	if (o->mutation == MUT_END_ASKS_BEFORE_ERRORS && !is_switch_port(o, f->to) &&
	    is_foreign(o, f->to, f->packet))
		slot_refuse(o, f->to, slot);
	if (f->corrupted) { /* F1 */
		slot->dropped = true;
		counters->rcv_errors++;
		record_end(o, f->packet, f->to, SIM_LOST_CORRUPT);
		return;
	}
	counters->rcv_packets++;
	counters->rcv_multicast += f->packet->as.dlid >= LID_FIRST_MCAST;
	counters->rcv_bytes += f->packet->as.bytes;
	counters->rcv_packets_vl[f->vl]++;
	counters->rcv_bytes_vl[f->vl] += f->packet->as.bytes;
	counters->rcv_packets_sl[f->packet->as.sl]++;
	counters->rcv_bytes_sl[f->packet->as.sl] += f->packet->as.bytes;
	int mad = mad_of(o, f->packet);

	if (mad != ORACLE_NO_MAD) {
		mad_arrive(o, mad, f->to, slot);
	} else if (is_switch_port(o, f->to)) {
		if (node_of(o, f->to)->kind == SIM_ROUTER)
			router_packet(o, f->to, slot);
		else
			route_packet(o, f->to, slot);
		firsts_note(o, f->to);
	} else if (!slot->refused && o->mutation != MUT_REFUSED_AT_TAIL &&
		   is_foreign(o, f->to, f->packet)) {
		slot_refuse(o, f->to, slot);
	}
}

void heads_arrive(struct oracle *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n_flights; i++) {
		if (o->flights[i].head > o->now)
			o->flights[kept++] = o->flights[i];
		else
			head_arrive(o, &o->flights[i]);
	}
	o->n_flights = kept;
}

/* ---- T2, phase 1: transfers end, space comes free ---- */

/* T4, A3: when the last of a switch's packet leaves its buffer. */
static hd_time slot_leaves(const struct oracle *o, const struct slot *slot)
{
	hd_time leaves = 0;

	if (slot->dropped)
		return o->mutation == MUT_DROPPED_FREED_AT_HEAD ? slot->head
								: slot->head + slot->d_in;
	for (uint32_t i = 0; i < slot->n_copies; i++)
		leaves = later(leaves, slot->copies[i].left);
	return leaves;
}

static void slot_free_space(struct oracle *o, uint32_t port, struct slot *slot)
{
	if (!slot->freed)
		link_space_freed(o, port, slot->vl, packet_blocks(slot->packet));
	if (!slot->freed)
		o->ports[port].leaving[slot->vl] += packet_blocks(slot->packet);
	slot->freed = true;
}

/* T12 told wrong. */
static void first_copy_frees(struct oracle *o, uint32_t port, struct slot *slot)
{
	for (uint32_t i = 0; i < slot->n_copies; i++)
		if (slot->copies[i].left <= o->now)
			slot_free_space(o, port, slot);
}

static void buffer_clear(struct oracle *o, uint32_t port)
{
	struct port *p = &o->ports[port];
	bool at_end = !is_switch_port(o, port);
	size_t kept = 0, before = p->n_slots;

	for (size_t i = 0; i < before; i++) {
		struct slot *slot = p->slots[i];
		bool delivers = at_end && !slot->dropped;

		if (o->mutation == MUT_SLOT_FREED_BY_FIRST_COPY)
			first_copy_frees(o, port, slot);
		if (delivers || slot->until > 0 || slot_leaves(o, slot) > o->now ||
		    (slot->refused && p->stuck && o->mutation == MUT_STUCK_HOLDS_REFUSED)) {
			p->slots[kept++] = slot;
			continue;
		}
		slot_free_space(o, port, slot);
		free(slot);
	}
	p->n_slots = kept;
	if (kept < before && !at_end)
		firsts_note(o, port);
}

void space_comes_free(struct oracle *o)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < o->setup->n_ports + o->setup->n_nodes; i++)
		if (o->ports[i].n_slots > 0)
			buffer_clear(o, i);
	for (size_t i = 0; i < o->n_releases; i++) {
		struct release r = o->releases[i];

		if (r.time > o->now)
			o->releases[kept++] = r;
		else
			o->ports[r.port].out_occupied[r.vl] -= r.blocks;
	}
	o->n_releases = kept;
}

/* ---- T2, phase 1: discards (F4, F5, F6) ---- */

/* Whether a copy that is first of its queue must go now. */
static bool is_due(const struct oracle *o, uint32_t out, uint8_t vl, hd_time ready, hd_time first)
{
	hd_time life = o->setup->ports[out].hoq_life;

	if (ready > o->now)
		return false;
	if (!o->ports[out].up && o->mutation != MUT_DOWN_KEEPS_QUEUES)
		return true;
	if (life == 0 || vl == VL_MANAGEMENT)
		return false;
	if (o->mutation == MUT_HOQ_FROM_READY)
		first = ready;
	return o->now >= later(ready, first) + life;
}

static void discard_count(struct oracle *o, const struct packet *packet, uint32_t out)
{
	o->out->counters[out].xmit_discards++;
	record_end(o, packet, out, SIM_LOST_DISCARD);
}

static bool slot_discards(struct oracle *o, uint32_t in, struct slot *slot)
{
	bool any = false;

	for (uint32_t i = 0; i < slot->n_copies; i++) {
		struct copy *c = &slot->copies[i];
		hd_time first = is_fifo(o) ? slot->first : c->first;

		if (c->taken || first == NEVER ||
		    !is_due(o, c->out, c->vl, ready_at(o, slot, c), first))
			continue;
		c->taken = true;
		c->left = later(o->now, slot->head + slot->d_in);
		if (o->mutation == MUT_DISCARD_FREES_AT_ONCE)
			c->left = o->now;
		if (c->waiter) {
			c->waiter->left_buffer = c->left;
			c->waiter->left_link = o->now;
		}
		discard_count(o, slot->packet, c->out);
		firsts_note(o, in);
		any = true;
	}
	return any;
}

static bool queue_discards(struct oracle *o, uint32_t out, uint8_t vl)
{
	struct queue *q = &o->ports[out].queues[vl];
	bool any = false;

	while (q->n > 0 && is_due(o, out, vl, q->items[0].ready, q->items[0].first)) {
		struct outgoing gone = q->items[0];
		bool at_once = o->mutation == MUT_DISCARD_FREES_AT_ONCE;

		release_add(o, (struct release){
				       .port = out,
				       .vl = vl,
				       .blocks = packet_blocks(gone.packet),
				       .time = at_once ? o->now : later(o->now, gone.x1),
			       });
		if (gone.waiter)
			gone.waiter->left_link = o->now;
		discard_count(o, gone.packet, out);
		queue_pop(o, q);
		any = true;
	}
	return any;
}

bool discards(struct oracle *o)
{
	bool any = false;

	for (uint32_t i = 0; i < o->setup->n_ports + o->setup->n_nodes; i++) {
		struct port *p = &o->ports[i];

		if (!is_switch_port(o, i))
			continue;
		for (uint8_t vl = 0; is_cioq(o) && vl < ALL_VLS; vl++)
			if (p->queues[vl].n > 0)
				any |= queue_discards(o, i, vl);
		for (size_t s = 0; !is_cioq(o) && s < p->n_slots; s++)
			any |= slot_discards(o, i, p->slots[s]);
	}
	return any;
}

/* ---- T2, phase 2: deliveries (T13, F7) ---- */

/* What a stuck sink has held is due now, even if it sticks again at once. */
void sink_release(struct oracle *o, uint32_t port)
{
	struct port *p = &o->ports[port];

	p->stuck = false;
	for (size_t i = 0; i < p->n_slots; i++)
		if (p->slots[i]->head + p->slots[i]->d_in < o->now)
			p->slots[i]->released = true;
}

static void sink_deliver(struct oracle *o, uint32_t port)
{
	struct port *p = &o->ports[port];
	size_t kept = 0;

	for (size_t i = 0; i < p->n_slots; i++) {
		struct slot *slot = p->slots[i];
		bool arrived = slot->head + slot->d_in <= o->now;
		bool held = p->stuck && !slot->released;

		if (arrived && held && o->mutation == MUT_STUCK_FREES_SPACE)
			slot_free_space(o, port, slot);
		if (slot->dropped || slot->until > 0 || !arrived || held) {
			p->slots[kept++] = slot;
			continue;
		}
		if (o->mutation == MUT_REFUSED_AT_TAIL && is_foreign(o, port, slot->packet)) {
			slot_refuse(o, port, slot);
			p->slots[kept++] = slot;
			continue;
		}
		o->stats->delivered++;
		record_end(o, slot->packet, port, SIM_DELIVERED);
		answer_delivery(o, port, slot->packet);
		slot_free_space(o, port, slot);
		free(slot);
	}
	p->n_slots = kept;
}

void deliveries(struct oracle *o)
{
	for (uint32_t i = 0; i < o->setup->n_ports; i++)
		if (o->ports[i].n_slots > 0 && !is_switch_port(o, i))
			sink_deliver(o, i);
}
