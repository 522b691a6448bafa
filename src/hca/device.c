/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/hca_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ring.h"

#define MIN_STAGED 64 /* staging bytes of a packet without payload */

void device_init(struct v_device *dev, struct lab *lab, uint32_t host, uint32_t node)
{
	const struct fabric *fabric = lab->fabric;
	const struct sim_port *port =
		&fabric->setup.ports[fabric->setup.nodes[node].first_port + 1];
	const struct sl2vl *vls = sl2vl_of(&fabric->subnet, port->origin);

	*dev = (struct v_device){
		.lab = lab,
		.host = host,
		.node = node,
		.port = fabric->setup.nodes[node].first_port + 1,
		.lid = fabric->subnet.lid_of_port[port->origin],
		.lmc = fabric->subnet.lmc_of_port[port->origin],
		.alarm = NEVER,
		.timer = NEVER,
		.timer_at = NEVER,
		.loop = { QP_NONE, QP_NONE },
		.leaving = { QP_NONE, QP_NONE },
		.mtu = 4096,
		/* The upper half identifies the host in captures. */
		.next_addr = ((uint64_t)host + 1) << 32,
	};
	memcpy(dev->vl_of_sl, vls->vl, sizeof(dev->vl_of_sl));
	dev->timer = device_follow(dev);
	tlb_init(&dev->tlb, (uint32_t)lab->profile->entries);
}

void device_fini(struct v_device *dev)
{
	for (uint32_t i = 0; i < dev->n_qps; i++) {
		if (!dev->qps[i])
			continue;
		qp_free(dev->qps[i]->qp);
		free(dev->qps[i]);
	}
	for (uint32_t i = 0; i < dev->n_mrs; i++)
		free(dev->mrs[i]);
	tlb_fini(&dev->tlb);
	free(dev->arrived.ring);
	free(dev->qps);
	free(dev->mrs);
	free(dev->members);
	free(dev->threads);
}

/* ---- who sends next --------------------------------------------------- */

void device_queue(struct v_device *dev, struct v_qp *qp)
{
	unsigned vl = device_vl(dev, qp->sl);
	struct qp_list *l = &dev->active[vl][qp->rank];

	qp->next = NULL;
	if (l->first)
		l->last->next = qp;
	else
		l->first = qp;
	l->last = qp;
	dev->active_vls |= 1u << vl;
	qp->is_queued = true;
}

/* Whether the rate lets the queue pair send. If not, its timer reactivates it. */
static bool may_send(struct v_device *dev, struct v_qp *qp)
{
	hd_time next = pace_next(qp);

	qp->is_held = next > dev->lab->now;
	if (qp->is_held) {
		pace_wait(qp);
		device_wake(dev, next);
	}
	return !qp->is_held;
}

static bool has_room(const struct v_device *dev, unsigned vl, uint32_t bytes)
{
	return dev->staged[vl] == 0 || dev->staged[vl] + bytes <= dev->lab->profile->staging;
}

void device_rest(struct v_device *dev, struct v_qp *qp)
{
	qp->is_held = false;
	if (pace_rest(qp))
		pace_wake(dev, pace_qp(qp), dev->lab->now);
}

void device_activate(struct v_device *dev, struct v_qp *qp)
{
	if (qp->is_queued)
		return;
	/* The packet held back may have been acknowledged since. */
	if (!qp_has_packet(qp->qp, dev->lab->now)) {
		device_rest(dev, qp);
		return;
	}
	if (!may_send(dev, qp))
		return;
	qp->burst = qp->weight;
	device_queue(dev, qp);
}

static struct qp_list *list_of(struct v_device *dev, unsigned vl)
{
	if (!(dev->active_vls >> vl & 1))
		return NULL;
	for (unsigned i = 0; i < N_PRIORITIES; i++) {
		if (dev->active[vl][i].first)
			return &dev->active[vl][i];
	}
	return NULL;
}

/* Removes the next queue pair to serve, VLs in turn; NULL: none may send. */
static struct v_qp *pick(struct v_device *dev)
{
	for (unsigned i = 0; i < N_VLS; i++) {
		unsigned vl = (dev->next_vl + i) % N_VLS;

		struct qp_list *l = list_of(dev, vl);

		if (!l || !has_room(dev, vl, l->first->mtu))
			continue;
		struct v_qp *qp = l->first;

		l->first = qp->next;
		qp->is_queued = false;
		if (!list_of(dev, vl))
			dev->active_vls &= ~(1u << vl);
		dev->next_vl = vl + 1;
		return qp;
	}
	return NULL;
}

/* Appends the queue pair to its list, or puts it first if its turn continues. */
static void put_back(struct v_device *dev, struct v_qp *qp)
{
	unsigned vl = device_vl(dev, qp->sl);
	struct qp_list *l = &dev->active[vl][qp->rank];

	if (dev->lab->profile->schedule == SCHEDULE_WEIGHTED && qp->burst > 1 && l->first) {
		qp->burst--;
		qp->next = l->first;
		l->first = qp;
		dev->active_vls |= 1u << vl;
		qp->is_queued = true;
		return;
	}
	qp->burst = qp->weight;
	device_queue(dev, qp);
}

void device_forget(struct v_device *dev, struct v_qp *qp)
{
	device_rest(dev, qp);
	for (unsigned vl = 0; qp->is_queued && vl < N_VLS; vl++) {
		struct qp_list *l = &dev->active[vl][qp->rank];
		struct v_qp **at = &l->first;

		while (*at && *at != qp)
			at = &(*at)->next;
		if (!*at)
			continue;
		*at = qp->next;
		l->last = NULL;
		for (struct v_qp *q = l->first; q; q = q->next)
			l->last = q;
		qp->is_queued = false;
		if (!list_of(dev, vl))
			dev->active_vls &= ~(1u << vl);
	}
}

/* ---- sending ---------------------------------------------------------- */

static void watch_timer(struct v_device *dev, struct v_qp *qp)
{
	hd_time due = qp_due(qp->qp), paced = pace_due(qp);

	device_wake(dev, paced < due ? paced : due);
	if (qp->is_held)
		device_wake(dev, pace_next(qp));
}

/* Whether the opcode starts a work request of the requester. */
static bool begins_request(uint8_t opcode)
{
	unsigned flags = opcode_flags(opcode);

	return !(flags & (OPCODE_RESPONSE | OPCODE_MIDDLE | OPCODE_LAST)) && opcode != OPCODE_CNP;
}

/* ---- leaving: what UC and UD complete by --------------------------------- */

/* Keeps the packet until it has left, even if it arrives before. */
static void leave(struct v_device *dev, uint32_t id, hd_time when)
{
	struct lab *lab = dev->lab;
	struct hca_slot *s = hca_slot_at(lab, id);
	uint32_t *link = &dev->leaving.first;

	if (dev->leaving.first != QP_NONE && hca_slot_at(lab, dev->leaving.last)->when <= when)
		link = &hca_slot_at(lab, dev->leaving.last)->behind;
	while (*link != QP_NONE && hca_slot_at(lab, *link)->when <= when)
		link = &hca_slot_at(lab, *link)->behind;
	s->when = when;
	s->behind = *link;
	*link = id;
	if (s->behind == QP_NONE)
		dev->leaving.last = id;
}

static struct v_qp *sender_of(const struct v_device *dev, const struct hca_slot *s)
{
	struct v_qp *qp = s->qp < dev->n_qps ? dev->qps[s->qp] : NULL;

	return qp && qp->birth == s->birth ? qp : NULL;
}

struct v_qp *hca_slot_sender(const struct lab *lab, const struct hca_slot *s)
{
	return sender_of(&lab->devices[lab->device_of_node[s->node]], s);
}

static void tell_sent(struct v_device *dev, const struct hca_slot *s)
{
	struct v_qp *qp = sender_of(dev, s);

	if (!qp)
		return;
	dev->visible = dev->lab->now;
	dev->dma = (struct dma){ 0 };
	qp_sent(qp->qp, &s->packet);
	device_activate(dev, qp);
}

/* Releases the staging space when the port has granted or dropped the packet. */
static void unstage(struct v_device *dev, struct hca_slot *s)
{
	dev->staged[s->vl] -= s->staged;
	s->staged = 0;
}

static void tell_dropped(struct v_device *dev, struct hca_slot *s)
{
	const struct v_pace *p = pace_left(dev, sender_of(dev, s), s);

	unstage(dev, s);
	if (p)
		pace_wake(dev, p, dev->lab->now);
}

static void tell_all_sent(struct v_device *dev)
{
	struct lab *lab = dev->lab;
	uint32_t id;

	while ((id = dev->leaving.first) != QP_NONE && hca_slot_at(lab, id)->when <= lab->now) {
		struct hca_slot *s = hca_slot_at(lab, id);

		dev->leaving.first = s->behind;
		if (s->staged)
			tell_dropped(dev, s);
		if (s->tells)
			tell_sent(dev, s);
		hca_slot_release(lab, id);
	}
}

static void loop_back(struct v_device *dev, uint32_t id, hd_time when)
{
	struct lab *lab = dev->lab;

	hca_slot_at(lab, id)->when = when;
	hca_slot_append(lab, &dev->loop, id);
}

/* Delivers a copy to members on the same host. */
static void loop_copy(struct v_device *dev, const struct hca_slot *s, hd_time when)
{
	uint32_t id = hca_slot_new(dev->lab);
	struct hca_slot *copy = hca_slot_at(dev->lab, id);

	copy->packet = s->packet;
	copy->packet.payload = copy->data;
	copy->staged = 0;
	copy->node = s->node;
	copy->qp = s->qp;
	copy->birth = s->birth;
	memcpy(copy->data, s->data, s->packet.payload_len);
	loop_back(dev, id, when);
}

/* Switches mark data packets only (C4). */
static enum sim_packet_kind kind_of(uint8_t opcode)
{
	if (opcode == OPCODE_CNP)
		return SIM_CNP;
	bool is_ack = (opcode & OP_MASK) == OP_ACK || (opcode & OP_MASK) == OP_ATOMIC_ACK;

	return is_ack ? SIM_ACK : SIM_DATA;
}

/* Injects the packet into the fabric at `when`. */
static void launch(struct v_device *dev, struct v_qp *qp, uint32_t id, hd_time when)
{
	struct lab *lab = dev->lab;
	struct hca_slot *s = hca_slot_at(lab, id);
	const struct packet *p = &s->packet;
	bool multicast = p->lrh.dlid >= LID_FIRST_MCAST;

	s->node = dev->node;
	if (is_own(dev, p->lrh.dlid)) {
		loop_back(dev, id, when);
		return;
	}
	if (multicast) {
		uint32_t n = hca_group_ends(dev, p->lrh.dlid);
		bool is_here = hca_group_is_here(dev, p);

		if (n == 0 && is_here)
			loop_back(dev, id, when);
		else if (n == 0)
			leave(dev, id, when);
		else if (is_here)
			loop_copy(dev, s, when);
		if (n == 0)
			return;
		s->copies = n;
	}
	s->copies += s->tells;
	s->vl = device_vl(dev, p->lrh.sl);
	s->staged = p->payload_len > MIN_STAGED ? (uint32_t)p->payload_len : MIN_STAGED;
	dev->staged[s->vl] += s->staged;
	pace_launched(qp, s);
	const struct sim_arrival a = {
		.time = when,
		.source = dev->node,
		.dlid = p->lrh.dlid,
		.pkey = p->bth.pkey,
		.bytes = (uint32_t)packet_size(p),
		.sl = p->lrh.sl,
		.kind = kind_of(p->bth.opcode),
		.number = lab->names_channels ? channel_of_pair(qp) : 0,
	};

	hca_slot_announce(lab, id);
	sim_inject(lab->sim, lab->endpoint, &a, id);
}

/* Whether the processor wrote the request with its payload to the adapter. */
static bool is_inline(const struct hca_profile *cost, const struct packet *p)
{
	return cost->inline_bytes && (opcode_flags(p->bth.opcode) & OPCODE_ONLY) &&
	       p->payload_len <= cost->inline_bytes;
}

/* Sends one packet of the queue pair, if it has one. */
static void send_one(struct v_device *dev, struct v_qp *qp, hd_time earliest)
{
	struct lab *lab = dev->lab;
	const struct hca_profile *cost = lab->profile;
	uint32_t id = hca_slot_new(lab);
	struct hca_slot *s = hca_slot_at(lab, id);

	dev->dma = (struct dma){ 0 };
	dev->visible = lab->now;
	if (!qp_transmit(qp->qp, lab->now, &s->packet, s->data)) {
		/*
		 * A faulty request fails after the requests before it; an answer to one of these
		 * reactivates the queue pair.
		 */
		hca_slot_release(lab, id);
		return;
	}
	hd_time busy = cost->packet, extra = 0;
	bool begins = begins_request(s->packet.bth.opcode);

	if (begins) {
		earliest = later(earliest, qp->next_request);
		busy += qp_params(qp->qp)->kind == QP_UD ? cost->wqe_datagram : cost->wqe;
	}
	if (begins && is_inline(cost, &s->packet)) {
		dev->dma = (struct dma){ 0 };
	} else if (begins) {
		/* The request must have been read before its data are read. */
		if (dev->dma.transactions)
			extra = cost->bus_latency;
		dev->dma.transactions++;
		dev->dma.bytes += qp->wqe_bytes;
	}
	dev->tx_free = lab->now + busy;
	hd_time done = hca_bus_use(dev, false, lab->now, &dev->dma) + extra;

	dev->dma = (struct dma){ 0 };
	done = later(later(done, dev->tx_free), later(earliest, qp->last_inject));
	qp->last_inject = done;
	if (begins)
		qp->next_request = done + cost->queue_pair;
	s->qp = qp->number;
	s->birth = qp->birth;
	s->tells = qp_params(qp->qp)->kind != QP_RC;
	launch(dev, qp, id, done);
	if (qp_has_packet(qp->qp, lab->now) && !qp->is_queued && may_send(dev, qp))
		put_back(dev, qp);
	watch_timer(dev, qp);
}

static void pump(struct v_device *dev, hd_time earliest)
{
	struct v_qp *qp;

	while (dev->active_vls && dev->tx_free <= dev->lab->now && (qp = pick(dev))) {
		if (may_send(dev, qp))
			send_one(dev, qp, earliest);
	}
}

/* ---- receiving -------------------------------------------------------- */

static void settle_watches(struct v_device *dev)
{
	for (struct v_watch *w = dev->watches; w; w = w->next) {
		if (!w->fresh)
			continue;
		w->hits += w->fresh;
		w->fresh = 0;
		w->when = dev->visible;
		if (w->waiter && w->hits >= w->waits_for)
			hca_thread_wake(w->waiter, w->when);
	}
}

hd_time device_visible(struct v_device *dev)
{
	if (dev->dma.transactions) {
		dev->visible = hca_bus_use(dev, true, dev->visible, &dev->dma);
		dev->dma = (struct dma){ 0 };
	}
	return dev->visible;
}

static void hand_to(struct v_device *dev, struct v_qp *qp, const struct packet *p, uint32_t slot)
{
	struct lab *lab = dev->lab;
	unsigned flags = opcode_flags(p->bth.opcode);
	bool takes_request = !(flags & (OPCODE_RESPONSE | OPCODE_MIDDLE)) &&
			     (p->bth.opcode & OP_MASK) <= OP_SEND_ONLY_IMM &&
			     (flags & (OPCODE_FIRST | OPCODE_ONLY));

	if (takes_request)
		dev->dma = (struct dma){ qp->wqe_bytes, 1, 0 };
	uint32_t taken = qp_taken(qp->qp);

	qp_receive(qp->qp, p, lab->now);
	pace_heard(qp, p);
	pace_wake_sharers(dev, pace_qp(qp), lab->now);
	device_visible(dev);
	if (lab->follows && taken != qp_taken(qp->qp))
		external_qp_arrived(qp, hca_slot_at(lab, slot));
	if (dev->watches)
		settle_watches(dev);
	watch_timer(dev, qp);
	device_activate(dev, qp);
}

static void hand_to_members(struct v_device *dev, const struct packet *p, uint32_t slot)
{
	const struct v_qp *own =
		dev->lab->follows ? hca_slot_sender(dev->lab, hca_slot_at(dev->lab, slot)) : NULL;

	/* Other members do not receive their own packets. */
	for (size_t i = 0; i < dev->n_members; i++) {
		if (hca_group_has(&dev->members[i], p) && dev->members[i].qp != own)
			hand_to(dev, dev->members[i].qp, p, slot);
	}
}

static void arrivals_put(struct arrivals *a, uint32_t slot, bool is_marked)
{
	a->ring = ring_grow(a->ring, &a->size, a->head, a->tail, sizeof(*a->ring));
	a->ring[a->tail++ % a->size] = (struct arrival){ slot, is_marked };
}

static bool arrivals_any(const struct arrivals *a)
{
	return a->head != a->tail;
}

static void accept(struct v_device *dev, struct arrival what)
{
	static const struct packet unknown = { .payload = NULL };
	struct lab *lab = dev->lab;
	/* A stray packet from another process. */
	const struct packet *p =
		hca_slot_is_here(lab, what.slot) ? &hca_slot_at(lab, what.slot)->packet : &unknown;
	uint32_t number = p->bth.dest_qp - FIRST_QPN;
	struct packet marked;

	if (what.is_marked && pace_answers(lab, p->lrh.sl)) {
		marked = *p;
		marked.bth.fecn = true;
		p = &marked;
	}

	dev->rx_free = lab->now + lab->profile->packet;
	dev->visible = dev->rx_free;
	dev->dma = (struct dma){ 0 };
	if (p->bth.dest_qp == V_MULTICAST)
		hand_to_members(dev, p, what.slot);
	/* A wrong forwarding table may deliver packets for another port (Q5). */
	else if (is_own(dev, p->lrh.dlid) && number < dev->n_qps && dev->qps[number])
		hand_to(dev, dev->qps[number], p, what.slot);
	hca_bus_wait(dev);
	hca_slot_release(lab, what.slot);
}

static void receive_waiting(struct v_device *dev)
{
	struct arrivals *a = &dev->arrived;

	while (arrivals_any(a) && dev->rx_free <= dev->lab->now)
		accept(dev, a->ring[a->head++ % a->size]);
}

/* ---- time ------------------------------------------------------------- */

static void take_looped(struct v_device *dev)
{
	struct lab *lab = dev->lab;

	while (dev->loop.first != QP_NONE && hca_slot_at(lab, dev->loop.first)->when <= lab->now) {
		uint32_t id = hca_slot_first(lab, &dev->loop);

		if (hca_slot_at(lab, id)->tells)
			tell_sent(dev, hca_slot_at(lab, id));
		arrivals_put(&dev->arrived, id, false);
	}
}

/* Scans the timers only when the earliest known one may have expired. */
static void run_timers(struct v_device *dev)
{
	hd_time now = dev->lab->now;

	if (now < dev->timer)
		return;
	dev->timer = device_follow(dev);
	dev->visible = now;
	for (uint32_t i = 0; i < dev->n_qps; i++) {
		struct v_qp *qp = dev->qps[i];

		if (!qp)
			continue;
		pace_timer(qp);
		if (qp_due(qp->qp) <= now)
			qp_timer(qp->qp, now);
		device_activate(dev, qp);
		watch_timer(dev, qp);
	}
}

static void arm(struct v_device *dev)
{
	struct lab *lab = dev->lab;
	hd_time next = hca_requests_next(dev);

	if (dev->active_vls && dev->tx_free > lab->now && dev->tx_free < next)
		next = dev->tx_free;
	if (arrivals_any(&dev->arrived) && dev->rx_free < next)
		next = dev->rx_free;
	if (dev->loop.first != QP_NONE && hca_slot_at(lab, dev->loop.first)->when < next)
		next = hca_slot_at(lab, dev->loop.first)->when;
	if (dev->leaving.first != QP_NONE && hca_slot_at(lab, dev->leaving.first)->when < next)
		next = hca_slot_at(lab, dev->leaving.first)->when;
	if (next != NEVER)
		lab_alarm(lab, dev, next);
	if (lab->n_live || lab->external)
		lab_timer(lab, dev);
}

/* Sends as much as allowed, and schedules the next wake-up. */
void device_send(struct v_device *dev)
{
	pump(dev, dev->lab->now);
	arm(dev);
}

static void step(struct v_device *dev)
{
	hca_requests_take(dev);
	tell_all_sent(dev);
	take_looped(dev);
	receive_waiting(dev);
	run_timers(dev);
	device_send(dev);
}

/* Q2: all deliveries of an instant precede the departures at it. */
void device_receive(struct v_device *dev, uint32_t id, bool is_marked)
{
	arrivals_put(&dev->arrived, id, is_marked);
	hca_requests_take(dev);
	receive_waiting(dev);
	device_send(dev);
}

void device_timer(struct v_device *dev)
{
	if (dev->timer_at == dev->lab->now)
		dev->timer_at = NEVER;
	step(dev);
}

void device_ring(struct v_device *dev)
{
	dev->alarm = NEVER;
	step(dev);
}

void device_sent(struct v_device *dev, uint32_t id, hd_time end)
{
	struct hca_slot *s = hca_slot_at(dev->lab, id);
	struct v_qp *qp = sender_of(dev, s);

	unstage(dev, s);
	if (s->tells)
		leave(dev, id, end);
	const struct v_pace *p = pace_left(dev, qp, s);

	if (p && qp)
		device_activate(dev, qp);
	pace_wake_sharers(dev, p, dev->lab->now + 1);
	bool gives = dev->active_vls != 0;

	/* Link grants of this instant are already decided. */
	if (gives)
		pump(dev, dev->lab->now + 1);
	/* Sending may have started a timer. */
	if (gives || dev->leaving.first != QP_NONE || dev->lab->algorithm)
		arm(dev);
}

/* The port drops the packet; the effect is seen at the next instant, like a grant. */
void device_lost(struct v_device *dev, uint32_t id, hd_time when)
{
	if (hca_slot_at(dev->lab, id)->tells)
		hca_slot_release(dev->lab, id); /* no further copies */
	leave(dev, id, when + 1);
	lab_alarm(dev->lab, dev, when + 1);
}
