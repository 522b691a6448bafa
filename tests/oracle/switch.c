/* SPDX-License-Identifier: BSD-2-Clause */
/* What nodes do at an instant: T4, T6-T9, T12-T14, F4-F7. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

#define MAX_NODE_PORTS 256

/* One packet that an input may give to an output. */
struct offer {
	uint32_t in; /* sim port */
	struct slot *slot;
	struct copy *copy;
};

static const struct sim_node *node_of(const struct oracle *o, uint32_t port)
{
	return &o->setup->nodes[o->setup->ports[port].node];
}

/* A router is timed as a switch (R2). */
static bool is_switch_port(const struct oracle *o, uint32_t port)
{
	return node_of(o, port)->kind != SIM_END;
}

static bool is_cioq(const struct oracle *o)
{
	return o->setup->sw.queueing == SIM_CIOQ;
}

static bool is_fifo(const struct oracle *o)
{
	return o->setup->sw.order == SIM_FIFO;
}

/* ---- queues of outgoing packets (T9, T13) ---- */

void queue_push(struct oracle *o, struct queue *q, struct outgoing item)
{
	item.first = q->n == 0 ? o->now : NEVER;
	q->items = hd_grow(q->items, &q->cap, q->n + 1, sizeof(*q->items));
	q->items[q->n++] = item;
}

void queue_pop(struct oracle *o, struct queue *q)
{
	assert(q->n > 0);
	q->n--;
	memmove(q->items, q->items + 1, q->n * sizeof(*q->items));
	if (q->n > 0)
		q->items[0].first = o->now;
}

static void release_add(struct oracle *o, struct release r)
{
	o->releases = hd_grow(o->releases, &o->releases_cap, o->n_releases + 1,
			      sizeof(*o->releases));
	o->releases[o->n_releases++] = r;
}

/* ---- input buffers ---- */

static bool still_waits(const struct slot *slot)
{
	for (uint32_t i = 0; i < slot->n_copies; i++)
		if (!slot->copies[i].taken)
			return true;
	return false;
}

/* T6, T12: whether the slots behind this one, of its VL, are not first. */
static bool stands_before(const struct oracle *o, const struct slot *slot)
{
	if (slot->dropped)
		return false;
	if (o->mutation == MUT_FIRST_AT_GRANT)
		return still_waits(slot);
	return true;
}

void firsts_note(struct oracle *o, uint32_t in)
{
	struct port *p = &o->ports[in];
	uint32_t first_port = node_of(o, in)->first_port;
	bool seen_vl[ALL_VLS] = { false };
	uint16_t seen_output[MAX_NODE_PORTS] = { 0 };

	for (size_t i = 0; i < p->n_slots; i++) {
		struct slot *slot = p->slots[i];

		if (slot->dropped)
			continue;
		if (!seen_vl[slot->vl] && slot->first == NEVER)
			slot->first = o->now;
		seen_vl[slot->vl] |= stands_before(o, slot);
		for (uint32_t c = 0; c < slot->n_copies; c++) {
			struct copy *copy = &slot->copies[c];
			uint16_t *seen;

			/* One before it may still choose the same output. */
			if (copy->taken ||
			    (o->setup->adaptive && !copy->routed))
				continue;
			seen = &seen_output[copy->out - first_port];
			if (!(*seen >> copy->vl & 1) && copy->first == NEVER)
				copy->first = o->now;
			*seen |= (uint16_t)(1u << copy->vl);
		}
	}
}

static struct copy *copy_waiting(struct slot *slot, uint32_t out, uint8_t vl)
{
	for (uint32_t i = 0; i < slot->n_copies; i++) {
		struct copy *c = &slot->copies[i];

		if (c->out == out && c->vl == vl && !c->taken)
			return c;
	}
	return NULL;
}

/* T7: the one packet that input `in` offers to (out, vl), ready or not. */
static bool offer_find(const struct oracle *o, uint32_t in, uint32_t out,
		       uint8_t vl, struct offer *offer)
{
	const struct port *p = &o->ports[in];
	bool seen_vl[ALL_VLS] = { false };

	for (size_t i = 0; i < p->n_slots; i++) {
		struct slot *slot = p->slots[i];
		bool behind = is_fifo(o) && seen_vl[slot->vl];
		struct copy *copy;

		if (slot->dropped)
			continue;
		seen_vl[slot->vl] |= stands_before(o, slot);
		copy = behind ? NULL : copy_waiting(slot, out, vl);
		if (copy) {
			*offer = (struct offer){ in, slot, copy };
			return true;
		}
	}
	return false;
}

/* T6 */
hd_time ready_at(const struct oracle *o, const struct slot *slot,
		 const struct copy *copy)
{
	const struct sim_switch_model *sw = &o->setup->sw;
	hd_time through = slot->head + sw->routing + sw->arbitration;
	hd_time ready = through;

	if (is_fifo(o)) {
		if (slot->first == NEVER)
			return NEVER;
		ready = later(slot->head + sw->routing, slot->first) +
			sw->arbitration;
	}
	if (!is_cioq(o) && slot->d_in > copy->d_out &&
	    o->mutation != MUT_NO_UNDERRUN_RULE)
		ready = later(ready, through + slot->d_in - copy->d_out);
	return ready;
}

static bool is_moving(const struct oracle *o, const struct slot *slot)
{
	for (uint32_t i = 0; i < slot->n_copies; i++)
		if (slot->copies[i].granted && slot->copies[i].left > o->now)
			return true;
	return false;
}

/* T8 */
static bool is_readable(const struct oracle *o, uint32_t in,
			const struct slot *slot)
{
	const struct port *p = &o->ports[in];
	uint32_t held = 0;

	if (o->setup->sw.readers == 0 || o->mutation == MUT_READER_NOT_HELD)
		return true;
	if (is_moving(o, slot) && o->mutation != MUT_COPIES_DO_NOT_JOIN)
		return true;
	for (size_t i = 0; i < p->n_slots; i++)
		held += is_moving(o, p->slots[i]);
	return held < o->setup->sw.readers;
}

/* T7: credits of the link; T9: room in the output buffer. */
static bool offer_fits(const struct oracle *o, const struct offer *offer)
{
	const struct copy *c = offer->copy;
	uint32_t blk = blocks_of(offer->slot->packet);

	if (!is_cioq(o))
		return link_fits(o, c->out, c->vl, offer->slot->packet);
	return o->ports[c->out].out_occupied[c->vl] + blk <=
	       o->setup->ports[c->out].out_blocks;
}

static bool is_grantable(const struct oracle *o, const struct offer *offer)
{
	bool fits = offer_fits(o, offer);

	if (ready_at(o, offer->slot, offer->copy) > o->now)
		return false;
	if (o->mutation == MUT_CHOICE_BEFORE_CREDITS)
		fits = true;
	o->stats->full_crossbars += is_cioq(o) && !fits;
	if (!fits)
		return false;
	if (is_readable(o, offer->in, offer->slot))
		return true;
	o->stats->reader_stalls++;
	return false;
}

static int *pointer_of(struct oracle *o, uint32_t out, uint8_t vl)
{
	if (o->mutation == MUT_POINTER_PER_OUTPUT_ONLY)
		vl = 0;
	return &o->ports[out].last_input[vl];
}

/* T7, oldest: the least (ready, input port number). */
static bool is_older(const struct oracle *o, const struct offer *a,
		     const struct offer *b)
{
	hd_time ra = ready_at(o, a->slot, a->copy);
	hd_time rb = ready_at(o, b->slot, b->copy);

	if (o->mutation == MUT_OLDEST_BY_HEAD) {
		ra = a->slot->head;
		rb = b->slot->head;
	}
	return ra < rb || (ra == rb && a->in < b->in);
}

/* T7: the candidate for (out, vl): all conditions first, then the choice. */
static bool candidate_find(struct oracle *o, uint32_t out, uint8_t vl,
			   struct offer *best)
{
	const struct sim_node *n = node_of(o, out);
	int *pointer = pointer_of(o, out, vl);
	int n_inputs = (int)n->n_ports + 1;
	bool found = false;

	for (int k = 1; k <= n_inputs; k++) {
		uint32_t in =
			n->first_port + (uint32_t)((*pointer + k) % n_inputs);
		struct offer offer;

		if (!offer_find(o, in, out, vl, &offer) ||
		    !is_grantable(o, &offer))
			continue;
		if (!found || is_older(o, &offer, best))
			*best = offer;
		found = true;
		if (o->setup->sw.pick == SIM_ROUND_ROBIN)
			break;
	}
	if (found && o->mutation == MUT_POINTER_MOVES_WITHOUT_GRANT)
		*pointer = (int)(best->in - n->first_port);
	return found && offer_fits(o, best);
}

/* Which VLs of an output some copy waits for, as bits. */
static unsigned vls_wanted(const struct oracle *o, uint32_t out)
{
	const struct sim_node *n = node_of(o, out);
	unsigned wanted = 0;

	for (uint32_t in = n->first_port; in <= n->first_port + n->n_ports;
	     in++) {
		const struct port *p = &o->ports[in];

		for (size_t i = 0; i < p->n_slots; i++) {
			const struct slot *s = p->slots[i];

			for (uint32_t c = 0; c < s->n_copies; c++)
				if (s->copies[c].out == out &&
				    !s->copies[c].taken)
					wanted |= 1u << s->copies[c].vl;
		}
	}
	return wanted;
}

/* A grant by a switch, of link or crossbar: what they have in common. */
static void offer_take(struct oracle *o, const struct offer *offer,
		       hd_time left)
{
	struct copy *c = offer->copy;
	struct port *p = &o->ports[c->out];
	const struct sim_node *n = node_of(o, offer->in);

	o->stats->queued += ready_at(o, offer->slot, c) < o->now;
	c->taken = true;
	c->granted = true;
	c->left = left;
	if (c->waiter)
		c->waiter->left_buffer = left;
	*pointer_of(o, c->out, c->vl) = (int)(offer->in - n->first_port);
	p->granted_before = true;
	p->last_grant = o->now;
	firsts_note(o, offer->in);
}

/* ---- T2, phase 1: heads arrive ---- */

static void slot_add(struct port *p, struct slot *slot)
{
	p->slots = hd_grow(p->slots, &p->slots_cap, p->n_slots + 1,
			   sizeof(struct slot *));
	p->slots[p->n_slots++] = slot;
}

static void head_arrive(struct oracle *o, const struct flight *f)
{
	struct sim_counters *counters = &o->out->counters[f->to];
	struct port *p = &o->ports[f->to];
	uint32_t blk = blocks_of(f->packet);
	struct slot *slot;

	if (f->vl == VL_MANAGEMENT &&
	    p->occupied[VL_MANAGEMENT] + blk >
		    o->setup->ports[f->to].vl15_blocks) {
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
	if (f->corrupted) {        /* F1 */
		slot->dropped = true;
		counters->rcv_errors++;
		record_end(o, f->packet, f->to, SIM_LOST_CORRUPT);
		return;
	}
	counters->rcv_packets++;
	counters->rcv_bytes += f->packet->as.bytes;
	counters->rcv_packets_vl[f->vl]++;
	counters->rcv_bytes_vl[f->vl] += f->packet->as.bytes;
	counters->rcv_packets_sl[f->packet->as.sl]++;
	counters->rcv_bytes_sl[f->packet->as.sl] += f->packet->as.bytes;
	if (is_switch_port(o, f->to)) {
		if (node_of(o, f->to)->kind == SIM_ROUTER)
			router_packet(o, f->to, slot);
		else
			route_packet(o, f->to, slot);
		firsts_note(o, f->to);
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
		return o->mutation == MUT_DROPPED_FREED_AT_HEAD
			       ? slot->head
			       : slot->head + slot->d_in;
	for (uint32_t i = 0; i < slot->n_copies; i++)
		leaves = later(leaves, slot->copies[i].left);
	return leaves;
}

static void slot_free_space(struct oracle *o, uint32_t port, struct slot *slot)
{
	if (!slot->freed)
		link_space_freed(o, port, slot->vl, blocks_of(slot->packet));
	if (!slot->freed)
		o->ports[port].leaving[slot->vl] += blocks_of(slot->packet);
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
		if (delivers || slot_leaves(o, slot) > o->now) {
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

	for (uint32_t i = 0; i < o->setup->n_ports; i++)
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
static bool is_due(const struct oracle *o, uint32_t out, uint8_t vl,
		   hd_time ready, hd_time first)
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

static void discard_count(struct oracle *o, const struct packet *packet,
			  uint32_t out)
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

	while (q->n > 0 &&
	       is_due(o, out, vl, q->items[0].ready, q->items[0].first)) {
		struct outgoing gone = q->items[0];
		bool at_once = o->mutation == MUT_DISCARD_FREES_AT_ONCE;

		release_add(o, (struct release){
				       .port = out,
				       .vl = vl,
				       .blocks = blocks_of(gone.packet),
				       .time = at_once ? o->now
						       : later(o->now, gone.x1),
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

	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		struct port *p = &o->ports[i];

		if (!is_switch_port(o, i))
			continue;
		for (uint8_t vl = 0; is_cioq(o) && vl < ALL_VLS; vl++)
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
		if (slot->dropped || !arrived || held) {
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

/* ---- T8: the order in which the outputs of a switch are visited ---- */

static bool comes_before(const struct oracle *o, uint32_t a, uint32_t b)
{
	const struct port *p = &o->ports[a], *q = &o->ports[b];

	if (p->granted_before != q->granted_before)
		return !p->granted_before;
	if (p->granted_before && p->last_grant != q->last_grant)
		return p->last_grant < q->last_grant;
	return a < b;
}

static uint32_t outputs_in_order(const struct oracle *o,
				 const struct sim_node *n, uint32_t *order)
{
	bool by_number = o->setup->sw.readers == 0 ||
			 o->mutation == MUT_OUTPUTS_BY_NUMBER;
	uint32_t count = 0;

	for (uint32_t i = n->first_port; i <= n->first_port + n->n_ports; i++) {
		uint32_t at = count++;

		for (;
		     at > 0 && !by_number && comes_before(o, i, order[at - 1]);
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return count;
}

/* ---- T2, phase 4: crossbar grants (T9) ---- */

static void crossbar_take(struct oracle *o, const struct offer *offer)
{
	const struct sim_switch_model *sw = &o->setup->sw;
	const struct slot *slot = offer->slot;
	const struct copy *c = offer->copy;
	struct port *p = &o->ports[c->out];
	uint32_t blk = blocks_of(slot->packet);
	uint64_t quick = (c->d_out * sw->speedup.den + sw->speedup.num - 1) /
			 sw->speedup.num;
	hd_time x1 = o->now + quick;
	hd_time ready;

	if (o->mutation != MUT_X1_WITHOUT_MAX)
		x1 = later(x1, slot->head + sw->routing + sw->arbitration +
				       slot->d_in);
	ready = x1 > c->d_out ? later(o->now, x1 - c->d_out) : o->now;
	if (o->mutation == MUT_LINK_READY_AT_X1)
		ready = x1;
	p->crossbar_busy_until = x1;
	if (c->vl != VL_MANAGEMENT)
		p->last_crossbar_vl = c->vl;
	p->out_occupied[c->vl] += blk;
	queue_push(o, &p->queues[c->vl],
		   (struct outgoing){ .packet = c->packet,
				      .ready = ready,
				      .x1 = x1,
				      .waiter = c->waiter });
	offer_take(o, offer, x1);
}

static void crossbar_grant(struct oracle *o, uint32_t out)
{
	struct port *p = &o->ports[out];
	unsigned wanted;
	struct offer offer;

	if (p->crossbar_busy_until > o->now)
		return;
	wanted = vls_wanted(o, out);
	if (wanted == 0)
		return;
	if (candidate_find(o, out, VL_MANAGEMENT, &offer)) {
		crossbar_take(o, &offer);
		return;
	}
	for (int k = 1; k <= N_DATA_VLS; k++) {
		int vl = (p->last_crossbar_vl + k) % N_DATA_VLS;

		if (o->mutation == MUT_CROSSBAR_FROM_VL0)
			vl = k - 1;
		if ((wanted >> vl & 1) &&
		    candidate_find(o, out, (uint8_t)vl, &offer)) {
			crossbar_take(o, &offer);
			return;
		}
	}
}

void crossbar_grants(struct oracle *o)
{
	uint32_t order[MAX_NODE_PORTS];

	for (uint32_t i = 0; is_cioq(o) && i < o->setup->n_nodes; i++) {
		const struct sim_node *n = &o->setup->nodes[i];
		uint32_t count = 0;

		if (n->kind != SIM_END)
			count = outputs_in_order(o, n, order);
		for (uint32_t k = 0; k < count; k++)
			crossbar_grant(o, order[k]);
	}
}

/* ---- T2, phase 5: link grants (T7, T9, T10, T13) ---- */

static bool sends_from_inputs(const struct oracle *o, uint32_t port)
{
	return is_switch_port(o, port) && !is_cioq(o);
}

/* Which VLs something waits for to be sent on the link, as bits. */
static unsigned link_vls_wanted(const struct oracle *o, uint32_t port)
{
	unsigned wanted = 0;

	if (sends_from_inputs(o, port))
		return vls_wanted(o, port);
	if (!is_switch_port(o, port))
		return end_vls_wanted(o, port);
	for (unsigned vl = 0; vl < ALL_VLS; vl++)
		if (o->ports[port].queues[vl].n > 0)
			wanted |= 1u << vl;
	return wanted;
}

/* Where the candidate of a VL comes from; a queue's is its first. */
struct source {
	struct offer offer; /* switches that send from their inputs */
	struct pull pull;   /* end ports */
};

static const struct packet *link_candidate(struct oracle *o, uint32_t port,
					   uint8_t vl, struct source *from)
{
	const struct queue *q = &o->ports[port].queues[vl];

	if (sends_from_inputs(o, port))
		return candidate_find(o, port, vl, &from->offer)
			       ? from->offer.copy->packet
			       : NULL;
	if (!is_switch_port(o, port))
		return end_candidate(o, port, vl, &from->pull)
			       ? from->pull.packet
			       : NULL;
	if (q->n > 0 && q->items[0].ready <= o->now &&
	    link_fits(o, port, vl, q->items[0].packet))
		return q->items[0].packet;
	return NULL;
}

/* Takes the first packet of an output queue. */
static struct waiter *queue_take(struct oracle *o, uint32_t port, uint8_t vl)
{
	struct queue *q = &o->ports[port].queues[vl];
	const struct packet *packet = q->items[0].packet;
	struct waiter *waiter = q->items[0].waiter;
	hd_time gone = o->now + duration_on(o, port, packet->as.bytes);

	o->stats->queued += q->items[0].ready < o->now;
	if (o->mutation == MUT_OUTPUT_SPACE_AT_GRANT)
		gone = o->now;
	release_add(o, (struct release){
			       .port = port,
			       .vl = vl,
			       .blocks = blocks_of(packet),
			       .time = gone,
		       });
	queue_pop(o, q);
	return waiter;
}

static void link_take(struct oracle *o, uint32_t port, uint8_t vl,
		      const struct source *from, const struct packet *packet)
{
	hd_time left = o->now + duration_on(o, port, packet->as.bytes);
	struct waiter *waiter = NULL;

	if (!is_switch_port(o, port)) {
		end_take(o, port, vl, &from->pull);
		if (packet->is_pairs)
			pair_granted(o, port, packet);
	} else if (sends_from_inputs(o, port)) {
		waiter = from->offer.copy->waiter;
		offer_take(o, &from->offer, left);
	} else {
		waiter = queue_take(o, port, vl);
	}
	if (waiter)
		packet = marks_decide(o, waiter, left);
	link_send(o, port, vl, packet);
}

static void link_grant(struct oracle *o, uint32_t port)
{
	const struct packet *packets[ALL_VLS] = { NULL };
	uint32_t blocks[ALL_VLS] = { 0 };
	struct source from[ALL_VLS];
	unsigned wanted;
	int update, vl;

	if (!o->ports[port].up || o->ports[port].busy_until > o->now)
		return;
	wanted = link_vls_wanted(o, port);
	update = link_next_update(o, port);
	for (uint8_t v = 0; v < ALL_VLS; v++) {
		if (!(wanted >> v & 1))
			continue;
		packets[v] = link_candidate(o, port, v, &from[v]);
		blocks[v] = packets[v] ? blocks_of(packets[v]) : 0;
	}
	if (packets[VL_MANAGEMENT]) {
		vl = VL_MANAGEMENT;
	} else if (update != NO_VL && o->mutation != MUT_UPDATE_AFTER_DATA) {
		link_send_update(o, port, (uint8_t)update);
		return;
	} else {
		vl = vlarb_take(o, port, blocks);
	}
	if (vl != NO_VL)
		link_take(o, port, (uint8_t)vl, &from[vl], packets[vl]);
	else if (update != NO_VL)
		link_send_update(o, port, (uint8_t)update);
}

void link_grants(struct oracle *o)
{
	uint32_t order[MAX_NODE_PORTS];

	for (uint32_t i = 0; i < o->setup->n_nodes; i++) {
		uint32_t count =
			outputs_in_order(o, &o->setup->nodes[i], order);

		for (uint32_t k = 0; k < count; k++)
			link_grant(o, order[k]);
	}
}

/* ---- T14: XmitWait ---- */

/* Whether something is first of its queue for (port, vl), and ready. */
static bool someone_waits(struct oracle *o, uint32_t port, uint8_t vl,
			  bool *fits)
{
	const struct sim_node *n = node_of(o, port);
	const struct queue *q = &o->ports[port].queues[vl];
	bool waits = false;

	*fits = false;
	if (!is_switch_port(o, port))
		return end_waits(o, port, vl, fits);
	if (!sends_from_inputs(o, port)) {
		waits = q->n > 0 && q->items[0].ready <= o->now;
		*fits = waits && link_fits(o, port, vl, q->items[0].packet);
		return waits;
	}
	for (uint32_t k = 0; k <= n->n_ports; k++) {
		struct offer offer;

		if (!offer_find(o, n->first_port + k, port, vl, &offer) ||
		    ready_at(o, offer.slot, offer.copy) > o->now)
			continue;
		waits = true;
		*fits |= offer_fits(o, &offer);
	}
	return waits;
}

void waits_count(struct oracle *o, hd_time step)
{
	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		unsigned wanted;
		bool waits = false, stalls = false;

		if (!o->ports[i].up || o->ports[i].busy_until > o->now)
			continue;
		wanted = link_vls_wanted(o, i);
		for (uint8_t vl = 0; vl < ALL_VLS; vl++) {
			bool fits;

			if (!(wanted >> vl & 1) ||
			    !someone_waits(o, i, vl, &fits))
				continue;
			stalls |= !fits;
			waits |= fits || o->mutation != MUT_WAIT_NEEDS_CREDITS;
		}
		o->stats->credit_stalls += stalls;
		if (waits)
			o->out->counters[i].xmit_wait += step;
	}
}
