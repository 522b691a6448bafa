/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of adapters as bytes, adapter by adapter, independent of the partitioning into labs.
 * Packets in flight are numbered in the order of their first occurrence: first at adapters, then
 * in the fabric. Payload is not saved: rows of traffic send zeros.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/ring.h"
#include "hca/hca_internal.h"

struct slots_saved {
	struct map numbers; /* saving: number by slot */
	uint32_t *ids;      /* restoring: slot by number */
	uint32_t n;
	size_t cap;
};

static void saved_clear(struct slots_saved *v)
{
	map_fini(&v->numbers);
	free(v->ids);
	*v = (struct slots_saved){ .n = 0 };
}

void lab_saved_free(struct lab *lab)
{
	if (lab->saved)
		saved_clear(lab->saved);
	free(lab->saved);
}

/* ---- packets ------------------------------------------------------------ */

static const struct pack_member slot_members[] = {
	PACK(hca_slot, copies), PACK(hca_slot, vl), PACK(hca_slot, staged), PACK(hca_slot, tells),
	PACK(hca_slot, paced),  PACK(hca_slot, qp), PACK(hca_slot, birth),  PACK(hca_slot, when),
};

PACK_KNOWS(hca_slot, 256);

void hca_slot_pack_headers(struct pack *p, struct hca_slot *s)
{
	uint8_t bytes[PACKET_MAX];
	struct packet bare = s->packet;
	size_t size = 0, len = s->packet.payload_len;

	bare.payload_len = 0;
	if (!p->reads && packet_encode(&bare, bytes, sizeof(bytes), &size) != HD_OK)
		assert(false && "it was sent");
	size = pack_count(p, size);
	pack_size(p, &len);
	if (!pack_check(p, size <= sizeof(bytes) && len <= SLOT_DATA))
		return;
	pack_bytes(p, bytes, size);
	struct diag ignored = { .status = HD_OK };

	if (!p->reads || !pack_check(p, packet_decode(bytes, size, &ignored, &bare) == HD_OK))
		return;
	s->packet = bare;
	s->packet.payload = s->data;
	s->packet.payload_len = len;
}

/* Decodes a packet into a new slot of the sending adapter's lab; returns the slot's id. */
static uint32_t read_slot(struct lab *lab, struct pack *p)
{
	uint32_t node = 0;

	pack_u32(p, &node);
	if (!pack_check(p, node < lab->fabric->setup.n_nodes &&
				   lab->fabric->setup.nodes[node].kind == SIM_END))
		return QP_NONE;
	uint32_t id = hca_slot_new(lab->devices[lab->device_of_node[node]].lab);
	struct hca_slot *s = hca_slot_at(lab, id);

	s->node = node;
	PACK_STRUCT(p, slot_members, s);
	pack_check(p, s->vl < N_VLS);
	hca_slot_pack_headers(p, s);
	return id;
}

static void write_slot(struct lab *lab, struct pack *p, uint32_t id)
{
	struct hca_slot *s = hca_slot_at(lab, id);

	pack_u32(p, &s->node);
	PACK_STRUCT(p, slot_members, s);
	hca_slot_pack_headers(p, s);
}

static void write_reference(struct lab *lab, struct pack *p, uint32_t id)
{
	struct slots_saved *v = lab->saved;
	uint32_t fresh = v->n, number = map_put(&v->numbers, id, fresh);

	if (number == MAP_NONE)
		number = v->n++;
	pack_u32(p, &number);
	if (number == fresh)
		write_slot(lab, p, id);
}

/* QP_NONE if it is refused. */
static uint32_t read_reference(struct lab *lab, struct pack *p)
{
	struct slots_saved *v = lab->saved;
	uint32_t number = 0;

	pack_u32(p, &number);
	if (!pack_check(p, number <= v->n) || p->refused)
		return QP_NONE;
	if (number < v->n)
		return v->ids[number];
	v->ids = hd_grow(v->ids, &v->cap, (size_t)v->n + 1, sizeof(*v->ids));
	v->ids[v->n++] = read_slot(lab, p);
	return v->ids[number];
}

static void pack_slot(struct lab *lab, struct pack *p, uint32_t *id)
{
	if (p->reads)
		*id = read_reference(lab, p);
	else
		write_reference(lab, p, *id);
	pack_check(p, *id != QP_NONE);
}

void lab_pack_cookie(void *context, struct pack *p, uint32_t *cookie)
{
	pack_slot(context, p, cookie);
}

/* ---- an adapter's lists ------------------------------------------------- */

static void pack_arrived(struct lab *lab, struct pack *p, struct arrivals *a)
{
	size_t n = pack_count(p, a->tail - a->head);

	for (size_t i = 0; i < n && !p->refused; i++) {
		uint32_t number = a->head + (uint32_t)i;

		a->ring = ring_grow(a->ring, &a->size, a->head, number, sizeof(*a->ring));
		struct arrival *at = &a->ring[number % a->size];

		pack_slot(lab, p, &at->slot);
		pack_bool(p, &at->is_marked);
	}
	a->tail = p->refused ? a->head : a->head + (uint32_t)n;
}

/* The link field used by a list. */
static uint32_t *link_of(struct hca_slot *s, bool leaves)
{
	return leaves ? &s->behind : &s->next;
}

static void pack_list(struct lab *lab, struct pack *p, struct slot_list *l, bool leaves)
{
	size_t n = 0;
	uint32_t id = p->reads ? QP_NONE : l->first;

	for (uint32_t i = id; i != QP_NONE; i = *link_of(hca_slot_at(lab, i), leaves))
		n++;
	n = pack_count(p, n);
	if (p->reads)
		*l = (struct slot_list){ QP_NONE, QP_NONE };
	for (; n > 0 && !p->refused; n--) {
		pack_slot(lab, p, &id);
		if (!p->reads) {
			id = *link_of(hca_slot_at(lab, id), leaves);
			continue;
		}
		if (p->refused)
			return;
		*link_of(hca_slot_at(lab, id), leaves) = QP_NONE;
		if (l->first == QP_NONE)
			l->first = id;
		else
			*link_of(hca_slot_at(lab, l->last), leaves) = id;
		l->last = id;
	}
}

/* Queue pairs with packets to send, in order of service. */
static void pack_active(struct v_device *dev, struct pack *p, struct qp_list *l)
{
	size_t n = 0;
	const struct v_qp *qp = p->reads ? NULL : l->first;

	for (const struct v_qp *x = qp; x; x = x->next)
		n++;
	n = pack_count(p, n);
	for (; n > 0 && !p->refused; n--) {
		uint32_t number = qp ? qp->number : 0;

		qp = qp ? qp->next : NULL;
		pack_u32(p, &number);
		if (!p->reads || !pack_check(p, number < dev->n_qps && dev->qps[number] &&
							!dev->qps[number]->is_queued))
			continue;
		struct v_qp *next = dev->qps[number];

		next->is_queued = true;
		next->next = NULL;
		if (l->first)
			l->last->next = next;
		else
			l->first = next;
		l->last = next;
	}
}

/* ---- adapters ----------------------------------------------------------- */

static const struct pack_member pace_members[] = {
	PACK(v_pace, state.rate), PACK(v_pace, state.ceiling),
	PACK(v_pace, state.ccti), PACK(v_pace, state.triggered),
	PACK(v_pace, state.due),  PACK(v_pace, last),
	PACK(v_pace, took),       PACK(v_pace, waiting),
	PACK(v_pace, turns),
};

static const struct pack_member qp_members[] = {
	PACK(v_qp, burst),        PACK(v_qp, sl),      PACK(v_qp, last_inject),
	PACK(v_qp, next_request), PACK(v_qp, is_held), PACK(v_qp, turn),
};

static const struct pack_member device_members[] = {
	PACK(v_device, alarm),         PACK(v_device, tx_free),    PACK(v_device, rx_free),
	PACK_EACH(v_device, bus_free), PACK(v_device, active_vls), PACK(v_device, next_vl),
	PACK_EACH(v_device, staged),   PACK(v_device, timer),      PACK(v_device, timer_at),
};

PACK_KNOWS(v_pace, 80);
PACK_KNOWS(v_qp, 312);
PACK_KNOWS(v_device, 2544);

static void pack_pace(const struct lab *lab, struct pack *p, struct v_pace *x)
{
	if (!lab->algorithm)
		return;
	PACK_STRUCT(p, pace_members, x);
	pack_check(p, x->state.ccti < CCT_MAX_ENTRIES);
}

/* The position in the queue of its rate follows from its turn. */
static void pack_turn(struct pack *p, struct v_qp *qp)
{
	pack_check(p, !qp->turn || (qp->sl < N_SLS && qp->dev->paces && pace_qp(qp)));
	if (p->reads && !p->refused && qp->turn)
		pace_line_up(qp);
}

static void pack_device(struct lab *lab, struct pack *p, struct v_device *dev)
{
	PACK_STRUCT(p, device_members, dev);
	pack_same(p, dev->n_qps);
	for (unsigned i = 0; lab->paces && i < N_SLS; i++)
		pack_pace(lab, p, &dev->paces[i]);
	for (uint32_t i = 0; i < dev->n_qps && !p->refused; i++) {
		struct v_qp *qp = dev->qps[i];

		PACK_STRUCT(p, qp_members, qp);
		pack_check(p, qp->sl < N_SLS);
		pack_turn(p, qp);
		pack_pace(lab, p, &qp->pace);
		qp_pack(qp->qp, p);
	}
	for (unsigned vl = 0; vl < N_VLS; vl++) {
		for (unsigned i = 0; i < N_PRIORITIES; i++)
			pack_active(dev, p, &dev->active[vl][i]);
	}
	pack_arrived(lab, p, &dev->arrived);
	pack_list(lab, p, &dev->loop, false);
	pack_list(lab, p, &dev->leaving, true);
}

static const struct pack_member entry_members[] = {
	PACK(hca_cq_entry, wc.id),        PACK(hca_cq_entry, wc.status),
	PACK(hca_cq_entry, wc.kind),      PACK(hca_cq_entry, wc.flags),
	PACK(hca_cq_entry, wc.solicited), PACK(hca_cq_entry, wc.qpn),
	PACK(hca_cq_entry, wc.byte_len),  PACK(hca_cq_entry, wc.imm),
	PACK(hca_cq_entry, wc.src_qp),    PACK(hca_cq_entry, wc.slid),
	PACK(hca_cq_entry, wc.sl),        PACK(hca_cq_entry, when),
};

void hca_cq_pack(struct v_cq *cq, struct pack *p)
{
	pack_u64(p, &cq->head);
	pack_u64(p, &cq->tail);
	if (!pack_check(p, cq->tail - cq->head <= cq->size))
		cq->head = cq->tail = 0;
	for (uint64_t i = cq->head; i != cq->tail; i++) {
		cq->ring = ring_grow(cq->ring, &cq->places, (uint32_t)cq->head, (uint32_t)i,
				     sizeof(*cq->ring));
		struct hca_cq_entry *e = cq_at(cq, i);

		PACK_STRUCT(p, entry_members, e);
		pack_check(p, e->wc.kind <= WC_RECV_WRITE_IMM);
	}
}

/* ---- several processes -------------------------------------------------- */

static void saved_begin(struct lab *lab)
{
	if (lab->saved)
		saved_clear(lab->saved);
	else
		lab->saved = hd_alloc(1, sizeof(*lab->saved));
}

/* The next used slot, from `id` on, that this process sent; QP_NONE: none. */
static uint32_t slot_next(const struct lab *lab, uint32_t id)
{
	for (uint32_t i = id >> SLOT_BITS; i < lab->n_pools; i++) {
		const struct slot_pool *pool = &lab->pools[i];
		uint32_t place = i == id >> SLOT_BITS ? id & ((1u << SLOT_BITS) - 1) : 0;

		for (; !pool->is_elsewhere && place < pool->n; place++) {
			if (hca_slot_at(lab, i << SLOT_BITS | place)->copies)
				return i << SLOT_BITS | place;
		}
	}
	return QP_NONE;
}

static size_t slots_count(const struct lab *lab)
{
	size_t n = 0;

	for (uint32_t id = slot_next(lab, 0); id != QP_NONE; id = slot_next(lab, id + 1))
		n++;
	return n;
}

/* Numbers the packets of all processes, process by process. */
void lab_list(void *context, struct pack *p)
{
	struct lab *lab = context;
	size_t n = pack_count(p, p->reads ? 0 : slots_count(lab));
	uint32_t id = 0;

	if (!p->reads)
		saved_begin(lab);
	for (; n > 0 && !p->refused; n--) {
		id = p->reads ? 0 : slot_next(lab, id);
		pack_u32(p, &id);
		if (p->reads)
			map_put(&lab->saved->numbers, id, lab->saved->n++);
		id++;
	}
}

/* Packets that already have numbers. */
static void pack_listed(struct lab *lab, struct pack *p, bool has_list)
{
	struct slots_saved *v = lab->saved;
	size_t n = pack_count(p, has_list ? slots_count(lab) : 0);
	uint32_t id = 0;

	for (; n > 0 && !p->refused; n--) {
		if (p->reads) {
			v->ids = hd_grow(v->ids, &v->cap, (size_t)v->n + 1, sizeof(*v->ids));
			v->ids[v->n++] = read_slot(lab, p);
			continue;
		}
		id = slot_next(lab, id);
		write_slot(lab, p, id++);
	}
}

void lab_pack(void *context, struct pack *p, const struct sim_section *section)
{
	struct lab *lab = context;
	uint64_t lost = lab_lost(lab);
	bool has_list = !p->reads && section->of_node;

	assert(lab->n_threads == 0 && lab->profile->entries == 0);
	if (!has_list && section->number == 0)
		saved_begin(lab);
	pack_listed(lab, p, has_list);
	if (section->number == 0)
		pack_u64(p, &lost);
	if (p->reads && section->number == 0)
		lab->lost = lost;
	for (uint32_t i = 0; i < lab->n_devices && !p->refused; i++) {
		if (section_has(section, lab->devices[i].node))
			pack_device(lab, p, &lab->devices[i]);
	}
	if (lab->channels && !p->refused)
		hca_channels_pack(lab->channels, p, section);
	if (lab->traffic && !p->refused)
		traffic_pack(lab->traffic, p, section);
}
