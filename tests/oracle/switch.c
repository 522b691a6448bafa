/* SPDX-License-Identifier: BSD-2-Clause */
/* Arbitration of outputs and times of grants: T6-T9, T14. */
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
	uint8_t on; /* the VL whose credits it needs (B8) */
};

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

void release_add(struct oracle *o, struct release r)
{
	o->releases =
		hd_grow(o->releases, &o->releases_cap, o->n_releases + 1, sizeof(*o->releases));
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
			if (copy->taken || (o->setup->adaptive && !copy->routed))
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
static bool offer_find(const struct oracle *o, uint32_t in, uint32_t out, uint8_t vl,
		       struct offer *offer)
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
			*offer = (struct offer){ in, slot, copy, vl };
			return true;
		}
	}
	return false;
}

/* T6 */
hd_time ready_at(const struct oracle *o, const struct slot *slot, const struct copy *copy)
{
	const struct sim_switch_model *sw = &o->setup->sw;
	hd_time through = slot->head + sw->routing + sw->arbitration;
	hd_time ready = through;

	if (is_fifo(o)) {
		if (slot->first == NEVER)
			return NEVER;
		ready = later(slot->head + sw->routing, slot->first) + sw->arbitration;
	}
	if (!is_cioq(o) && slot->d_in > copy->d_out && o->mutation != MUT_NO_UNDERRUN_RULE)
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
static bool is_readable(const struct oracle *o, uint32_t in, const struct slot *slot)
{
	const struct port *p = &o->ports[in];
	uint32_t held = 0;

	if (o->setup->sw.readers == 0 || is_results_input(o, in) || slot->made_here ||
	    o->mutation == MUT_READER_NOT_HELD)
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
	uint32_t blk = packet_blocks(offer->slot->packet);

	if (!is_cioq(o))
		return link_fits(o, c->out, offer->on, offer->slot->packet);
	return o->ports[c->out].out_occupied[c->vl] + blk <= o->setup->ports[c->out].out_blocks;
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
static bool is_older(const struct oracle *o, const struct offer *a, const struct offer *b)
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
static bool candidate_find(struct oracle *o, uint32_t out, uint8_t vl, uint8_t on,
			   struct offer *best)
{
	const struct sim_node *n = node_of(o, out);
	int *pointer = pointer_of(o, out, vl);
	int n_inputs = (int)n->n_ports + 2;
	bool found = false;

	for (int k = 1; k <= n_inputs; k++) {
		uint32_t in = input_at(o, n, (uint32_t)((*pointer + k) % n_inputs));
		struct offer offer;

		if (!offer_find(o, in, out, vl, &offer))
			continue;
		offer.on = on;
		if (!is_grantable(o, &offer))
			continue;
		if (!found || is_older(o, &offer, best))
			*best = offer;
		found = true;
		if (o->setup->sw.pick == SIM_ROUND_ROBIN)
			break;
	}
	if (found && o->mutation == MUT_POINTER_MOVES_WITHOUT_GRANT)
		*pointer = (int)input_number(o, best->in);
	return found && offer_fits(o, best);
}

/* Which VLs of an output some copy waits for, as bits. */
static unsigned vls_wanted(const struct oracle *o, uint32_t out)
{
	const struct sim_node *n = node_of(o, out);
	unsigned wanted = 0;

	for (uint32_t k = 0; k <= n->n_ports + 1; k++) {
		const struct port *p = &o->ports[input_at(o, n, k)];

		for (size_t i = 0; i < p->n_slots; i++) {
			const struct slot *s = p->slots[i];

			for (uint32_t c = 0; c < s->n_copies; c++)
				if (s->copies[c].out == out && !s->copies[c].taken)
					wanted |= 1u << s->copies[c].vl;
		}
	}
	return wanted;
}

static uint32_t ready_copies(const struct oracle *o, const struct slot *s, uint32_t out,
			     uint32_t *jobs)
{
	uint32_t all = 0;

	for (uint32_t c = 0; c < s->n_copies && !s->dropped; c++) {
		const struct copy *copy = &s->copies[c];

		if (copy->out != out || copy->taken || ready_at(o, s, copy) > o->now)
			continue;
		jobs[copy->vl]++;
		all++;
	}
	return all;
}

uint32_t ready_count(const struct oracle *o, uint32_t out, uint32_t *jobs)
{
	const struct sim_node *n = node_of(o, out);
	uint32_t all = 0;

	for (uint32_t k = 0; k <= n->n_ports + 1; k++) {
		const struct port *p = &o->ports[input_at(o, n, k)];

		for (size_t i = 0; i < p->n_slots; i++)
			all += ready_copies(o, p->slots[i], out, jobs);
	}
	return all;
}

/* A grant by a switch, of link or crossbar: what they have in common. */
static void offer_take(struct oracle *o, const struct offer *offer, hd_time left)
{
	struct copy *c = offer->copy;
	struct port *p = &o->ports[c->out];

	o->stats->queued += ready_at(o, offer->slot, c) < o->now;
	c->taken = true;
	c->granted = true;
	c->left = left;
	if (c->waiter)
		c->waiter->left_buffer = left;
	*pointer_of(o, c->out, c->vl) = (int)input_number(o, offer->in);
	p->granted_before = true;
	p->last_grant = o->now;
	firsts_note(o, offer->in);
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

static uint32_t outputs_in_order(const struct oracle *o, const struct sim_node *n, uint32_t *order)
{
	bool by_number = o->setup->sw.readers == 0 || o->mutation == MUT_OUTPUTS_BY_NUMBER;
	uint32_t count = 0;

	for (uint32_t i = n->first_port; i <= n->first_port + n->n_ports; i++) {
		uint32_t at = count++;

		for (; at > 0 && !by_number && comes_before(o, i, order[at - 1]); at--)
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
	uint32_t blk = packet_blocks(slot->packet);
	uint64_t quick = (c->d_out * sw->speedup.den + sw->speedup.num - 1) / sw->speedup.num;
	hd_time x1 = o->now + quick;
	hd_time ready;

	if (o->mutation != MUT_X1_WITHOUT_MAX)
		x1 = later(x1, slot->head + sw->routing + sw->arbitration + slot->d_in);
	ready = x1 > c->d_out ? later(o->now, x1 - c->d_out) : o->now;
	if (o->mutation == MUT_LINK_READY_AT_X1)
		ready = x1;
	p->crossbar_busy_until = x1;
	if (c->vl != VL_MANAGEMENT)
		p->last_crossbar_vl = c->vl;
	p->out_occupied[c->vl] += blk;
	queue_push(o, &p->queues[c->vl],
		   (struct outgoing){
			   .packet = c->packet, .ready = ready, .x1 = x1, .waiter = c->waiter });
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
	if (candidate_find(o, out, VL_MANAGEMENT, VL_MANAGEMENT, &offer)) {
		crossbar_take(o, &offer);
		return;
	}
	for (int k = 1; k <= N_DATA_VLS; k++) {
		int vl = (p->last_crossbar_vl + k) % N_DATA_VLS;

		if (o->mutation == MUT_CROSSBAR_FROM_VL0)
			vl = k - 1;
		if ((wanted >> vl & 1) &&
		    candidate_find(o, out, (uint8_t)vl, (uint8_t)vl, &offer)) {
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

static const struct packet *link_candidate(struct oracle *o, uint32_t port, uint8_t vl,
					   struct source *from)
{
	const struct queue *q = &o->ports[port].queues[vl];
	uint8_t of = share_source(o, port, vl);
	uint8_t on = o->mutation == MUT_SHARE_USERS_CREDITS ? of : vl;

	if (sends_from_inputs(o, port)) {
		return candidate_find(o, port, of, on, &from->offer) ? from->offer.copy->packet
								     : NULL;
	}
	if (!is_switch_port(o, port))
		return end_candidate(o, port, of, on, &from->pull) ? from->pull.packet : NULL;
	if (q->n > 0 && q->items[0].ready <= o->now && link_fits(o, port, vl, q->items[0].packet))
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
			       .blocks = packet_blocks(packet),
			       .time = gone,
		       });
	queue_pop(o, q);
	return waiter;
}

static void link_take(struct oracle *o, uint32_t port, uint8_t vl, const struct source *from,
		      const struct packet *packet)
{
	hd_time left = o->now + duration_on(o, port, packet->as.bytes);
	struct waiter *waiter = NULL;

	if (!is_switch_port(o, port)) {
		end_take(o, port, vl, &from->pull);
		if (packet->is_pairs)
			pair_granted(o, port, packet);
		if (packet->message)
			job_granted(o, port, packet);
		source_goes_on(o, port, packet);
	} else if (sends_from_inputs(o, port)) {
		waiter = from->offer.copy->waiter;
		offer_take(o, &from->offer, left);
	} else {
		waiter = queue_take(o, port, vl);
	}
	reservation_pass(o, port, packet);
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
	if (wanted == 0 && update == NO_VL)
		return;
	share_update(o, port);
	wanted = share_wanted(o, port, wanted);
	for (uint8_t v = 0; v < ALL_VLS; v++) {
		if (!(wanted >> v & 1))
			continue;
		packets[v] = link_candidate(o, port, v, &from[v]);
		blocks[v] = packets[v] ? packet_blocks(packets[v]) : 0;
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
		uint32_t count = outputs_in_order(o, &o->setup->nodes[i], order);

		for (uint32_t k = 0; k < count; k++)
			link_grant(o, order[k]);
	}
}

/* ---- T14: XmitWait ---- */

/* Whether something is first of its queue for (port, vl), and ready. */
static bool someone_waits(struct oracle *o, uint32_t port, uint8_t vl, bool *fits)
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
	for (uint32_t k = 0; k <= n->n_ports + 1; k++) {
		struct offer offer;

		if (!offer_find(o, input_at(o, n, k), port, vl, &offer) ||
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

			if (!(wanted >> vl & 1) || !someone_waits(o, i, vl, &fits))
				continue;
			stalls |= !fits;
			waits |= fits || o->mutation != MUT_WAIT_NEEDS_CREDITS;
		}
		o->stats->credit_stalls += stalls;
		if (waits)
			o->out->counters[i].xmit_wait += step;
	}
}
