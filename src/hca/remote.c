/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adapters computed by several processes. The sender of a packet sends its contents to the
 * process of the receiver, which stores a copy in the slot with the same number, so that slot
 * numbers are valid in all processes, and reports when the copy is no longer used. Creation
 * times of messages are sent likewise.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "hca/hca_internal.h"
#include "sim/domains/remote_messages.h"

#define LIDS 65536

enum {
	REMOTE_PACKET,   /* contents of a packet */
	REMOTE_RETURNED, /* the copy is no longer used */
	REMOTE_BORN,     /* creation of a message of this posting */
};

/* State shared by the labs of a process. */
struct lab_distant {
	const uint16_t *part_of_node;
	uint32_t *first; /* by LID: first device; QP_NONE: none */
	uint32_t *next;  /* by device: next device with that LID, in another subnet */
};

static void name_devices(struct lab_distant *x, const struct lab *lab)
{
	x->first = hd_alloc(LIDS, sizeof(*x->first));
	x->next = hd_alloc(lab->n_devices, sizeof(*x->next));
	for (uint32_t i = 0; i < LIDS; i++)
		x->first[i] = QP_NONE;
	for (uint32_t i = 0; i < lab->n_devices; i++) {
		uint32_t *first = &x->first[lab->devices[i].lid];

		x->next[i] = *first;
		*first = i;
	}
}

void lab_distant_cut(struct lab *lab, const struct sim_cut *how)
{
	if (how->last - how->first == how->n)
		return;
	struct lab_distant *x = hd_alloc(1, sizeof(*x));

	x->part_of_node = how->part_of_node;
	name_devices(x, lab);
	lab->distant = x;
	for (uint32_t i = 0; i < how->n; i++) {
		lab->pools[i].is_elsewhere = !part_is_here(how, i);
		lab->parts[i]->distant = x;
		lab->parts[i]->outgoing = hd_alloc(how->n, sizeof(struct remote_messages));
	}
}

void lab_distant_fini(struct lab *lab)
{
	if (!lab->distant)
		return;
	for (uint32_t i = 0; i < lab->n_parts; i++) {
		struct remote_messages *outgoing = lab->parts[i]->outgoing;

		for (uint32_t k = 0; k < lab->n_parts; k++)
			remote_messages_fini(&outgoing[k]);
		free(outgoing);
	}
	free(lab->distant->first);
	free(lab->distant->next);
	free(lab->distant);
}

/* ---- writing ------------------------------------------------------------ */

static void tell(struct lab *lab, uint32_t part, uint8_t what, uint32_t id, hd_time when)
{
	if (lab->pools[part].is_elsewhere)
		remote_messages_add(&lab->outgoing[part], what, id, when);
}

/* With an LMC, the first LID of the range is listed. */
static const struct v_device *device_at(const struct lab *lab, uint32_t i, lid_t dlid)
{
	const struct v_device *dev = &lab->devices[i];

	return dlid >= dev->lid && (dlid - dev->lid) >> dev->lmc == 0 ? dev : NULL;
}

void hca_slot_announce(struct lab *lab, uint32_t id)
{
	const struct lab_distant *x = lab->distant;
	lid_t dlid = hca_slot_at(lab, id)->packet.lrh.dlid;
	lid_t lid = dlid;

	if (!x)
		return;
	while (lid > 0 && x->first[lid] == QP_NONE)
		lid--;
	for (uint32_t i = x->first[lid]; i != QP_NONE; i = x->next[i]) {
		const struct v_device *dev = device_at(lab, i, dlid);

		if (dev)
			tell(lab, x->part_of_node[dev->node], REMOTE_PACKET, id, 0);
	}
}

void hca_slot_return(struct lab *lab, uint32_t id)
{
	if (hca_slot_is_here(lab, id))
		hca_slot_at(lab, id)->packet = (struct packet){ .payload = NULL };
	tell(lab, id >> SLOT_BITS, REMOTE_RETURNED, id, 0);
}

bool hca_born_is_told(const struct v_device *from, const struct v_device *to, uint32_t posting,
		      hd_time born)
{
	struct lab *lab = from->lab;

	if (!lab->distant || !lab->pools[lab->distant->part_of_node[to->node]].is_elsewhere)
		return false;
	tell(lab, lab->distant->part_of_node[to->node], REMOTE_BORN, posting, born);
	return true;
}

/* ---- reading ------------------------------------------------------------ */

struct hca_reading {
	struct lab *lab;
	uint32_t from, to;
};

/*
 * Whether the slot is valid: contents are of a slot of the sending process, returns of a used
 * slot of this one.
 */
static bool slot_is_sound(const struct hca_reading *r, const struct remote_message *x)
{
	const struct lab *lab = r->lab;

	if (x->what == REMOTE_PACKET)
		return x->id >> SLOT_BITS == r->from;
	return x->id >> SLOT_BITS == r->to && hca_slot_is_here(lab, x->id) &&
	       hca_slot_at(lab, x->id)->copies > 0;
}

static void pack_message(void *context, struct pack *k, const struct remote_message *x)
{
	const struct hca_reading *r = context;

	if (x->what == REMOTE_BORN) {
		if (k->reads &&
		    pack_check(k, r->lab->traffic && x->id < traffic_postings(r->lab->traffic)))
			traffic_born(r->lab->traffic, x->id, x->when);
		return;
	}
	if (k->reads && !pack_check(k, x->what <= REMOTE_RETURNED && slot_is_sound(r, x)))
		return;
	if (x->what == REMOTE_PACKET)
		hca_slot_pack_headers(k, k->reads ? hca_slot_mirror(r->lab, x->id)
						  : hca_slot_at(r->lab, x->id));
	else if (k->reads)
		hca_slot_release(r->lab->parts[r->to], x->id);
}

void lab_mail(void *context, struct pack *k, uint32_t from, uint32_t to)
{
	struct lab *lab = context;
	struct hca_reading r = { lab, from, to };

	remote_messages_pack(&lab->parts[from]->outgoing[to], k, pack_message, &r);
}

void lab_collect(void *context, struct pack *k, uint32_t part)
{
	struct lab *lab = context;

	pack_u64(k, &lab->parts[part]->lost);
	if (lab->channels)
		hca_channels_collect(lab->channels, k, part);
	if (lab->traffic)
		traffic_collect(lab->traffic, k, part);
}
