/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "live/daemon/daemon_internal.h"
#include "wire/cursor.h"

/*
 * Functions of the kernel's MAD layer: requests get TIDs that identify their responses,
 * unsolicited MADs go to the program that registered for their class and method, and a request
 * without a response returns to its sender after its timeout and retries.
 *
 * The upper half of a TID is the registration: its slot and generation.
 */

enum { VENDOR_OUI = 37 };

static uint32_t high_tid(const struct live *l, uint32_t slot)
{
	return (uint32_t)l->registrations[slot].generation << 16 | (slot & 0xFFFF);
}

/* The registration at `port` that has this TID; or NO_AGENT. */
static uint32_t by_tid(const struct live *l, port_id port, uint64_t tid)
{
	uint32_t slot = (uint32_t)(tid >> 32) & 0xFFFF;

	if (slot >= l->n_registrations || !l->registrations[slot].used ||
	    high_tid(l, slot) != (uint32_t)(tid >> 32) || l->registrations[slot].port != port)
		return NO_AGENT;
	return slot;
}

/* Vendor classes of the second range are distinguished by their OUI, too. */
static bool has_oui(uint8_t mgmt_class)
{
	return mgmt_class >= 0x30 && mgmt_class <= 0x4F;
}

static bool wants(const struct registration *r, const uint8_t *mad)
{
	const struct live_agent *a = &r->asked;
	uint8_t c = mad[MAD_CLASS], method = mad[MAD_METHOD] & 0x7F;

	if (a->mgmt_class != c)
		return false;
	if (has_oui(c) && memcmp(a->oui, mad + VENDOR_OUI, 3) != 0)
		return false;
	return a->methods[method / 32] >> (method % 32) & 1;
}

static uint32_t by_method(const struct live *l, port_id port, const uint8_t *mad)
{
	uint32_t slot = l->agents_of_port[port];

	while (slot != NO_AGENT && !wants(&l->registrations[slot], mad))
		slot = l->registrations[slot].next_of_port;
	return slot;
}

/* ---- registrations */

static bool clashes(const struct registration *r, const struct live_agent *a)
{
	if (r->asked.mgmt_class != a->mgmt_class ||
	    (has_oui(a->mgmt_class) && memcmp(r->asked.oui, a->oui, 3) != 0))
		return false;
	for (unsigned i = 0; i < 4; i++)
		if (r->asked.methods[i] & a->methods[i])
			return true;
	return false;
}

static uint32_t take_slot(struct live *l)
{
	uint32_t slot = l->free_registration;

	if (slot != NO_AGENT) {
		l->free_registration = l->registrations[slot].next_of_port;
		return slot;
	}
	if (l->n_registrations > 0xFFFF)
		return NO_AGENT;
	l->registrations = hd_grow(l->registrations, &l->registrations_cap, l->n_registrations + 1,
				   sizeof(*l->registrations));
	slot = (uint32_t)l->n_registrations++;
	l->registrations[slot] = (struct registration){ .generation = 1 };
	return slot;
}

/* The lowest ID that no registration of this client has. */
static uint32_t free_id(const struct live *l, const struct client *c)
{
	uint32_t id = 0, slot = c->agents;

	while (slot != NO_AGENT) {
		if (l->registrations[slot].id == id) {
			id++;
			slot = c->agents;
		} else {
			slot = l->registrations[slot].next_of_client;
		}
	}
	return id;
}

int frame_register(struct live *l, const struct live_agent *asked, uint32_t *id)
{
	enum { MOST_OF_A_CLIENT = 32 };
	uint32_t client = client_find(l, asked->connection, LIVE_UMAD);

	if (client == NO_CLIENT)
		return EBADF;
	struct client *c = &l->clients[client];

	for (uint32_t s = l->agents_of_port[c->port]; s != NO_AGENT;
	     s = l->registrations[s].next_of_port)
		if (clashes(&l->registrations[s], asked))
			return EINVAL;
	*id = free_id(l, c);
	if (*id >= MOST_OF_A_CLIENT)
		return ENOMEM;
	uint32_t slot = take_slot(l);

	if (slot == NO_AGENT)
		return ENOMEM;
	struct registration *r = &l->registrations[slot];

	*r = (struct registration){
		.used = true,
		.generation = r->generation,
		.client = client,
		.id = *id,
		.port = c->port,
		.asked = *asked,
		.next_of_client = c->agents,
		.next_of_port = l->agents_of_port[c->port],
	};
	c->agents = slot;
	l->agents_of_port[c->port] = slot;
	return 0;
}

static void stop_waiting(struct live *l, size_t i)
{
	free(l->waiting[i].frame);
	l->waiting[i] = l->waiting[--l->n_waiting];
}

static void forget(struct live *l, uint32_t slot)
{
	struct registration *r = &l->registrations[slot];
	uint32_t *link = &l->agents_of_port[r->port];

	while (*link != slot)
		link = &l->registrations[*link].next_of_port;
	*link = r->next_of_port;
	for (size_t i = l->n_waiting; i-- > 0;)
		if (l->waiting[i].registration == slot)
			stop_waiting(l, i);
	r->used = false;
	/* Never 0: a TID of 0 is invalid. */
	r->generation = r->generation == UINT16_MAX ? 1 : r->generation + 1U;
	r->next_of_port = l->free_registration;
	l->free_registration = slot;
}

int frame_unregister(struct live *l, const struct live_agent *asked)
{
	uint32_t client = client_find(l, asked->connection, LIVE_UMAD);

	if (client == NO_CLIENT)
		return EBADF;
	uint32_t *link = &l->clients[client].agents;

	while (*link != NO_AGENT && l->registrations[*link].id != asked->id)
		link = &l->registrations[*link].next_of_client;
	if (*link == NO_AGENT)
		return EINVAL;
	uint32_t slot = *link;

	*link = l->registrations[slot].next_of_client;
	forget(l, slot);
	return 0;
}

void frames_forget(struct live *l, uint32_t slot)
{
	uint32_t a = l->clients[slot].agents;

	while (a != NO_AGENT) {
		uint32_t next = l->registrations[a].next_of_client;

		forget(l, a);
		a = next;
	}
	l->clients[slot].agents = NO_AGENT;
}

void frames_fini(struct live *l)
{
	while (l->n_waiting > 0)
		stop_waiting(l, l->n_waiting - 1);
	free(l->waiting);
	free(l->unheard);
	free(l->registrations);
	free(l->agents_of_port);
}

/* ---- RMPP messages */

/*
 * The kernel splits RMPP messages of programs into segments and reassembles them; here they travel
 * as a whole. The length fields that the kernel sets are set here, too: programs compute the size
 * of a single segment's data from them.
 */

static bool is_segmented(const struct registration *r, const uint8_t *mad)
{
	return r->asked.rmpp_version && mad[RMPP_FLAGS] & RMPP_ACTIVE;
}

static void say_length(uint8_t *mad, size_t size)
{
	mad[RMPP_VERSION] = 1;
	mad[RMPP_TYPE] = RMPP_DATA;
	mad[RMPP_FLAGS] |= size <= MAD_SIZE ? RMPP_FIRST | RMPP_LAST : RMPP_FIRST;
	store_be32(mad + RMPP_SEGMENT, 1);
	store_be32(mad + RMPP_PAYLOAD, (uint32_t)(size - RMPP_HEADER_END));
}

/* Number of bytes of a MAD that are delivered to a program. */
static size_t length_of(const struct registration *r, const uint8_t *mad, size_t size)
{
	uint32_t payload = load_be32(mad + RMPP_PAYLOAD);

	if (size != MAD_SIZE || !is_segmented(r, mad) || payload > MAD_SIZE - RMPP_HEADER_END)
		return size;
	return RMPP_HEADER_END + payload;
}

/* ---- frames to programs */

static void deliver(struct live *l, uint32_t slot, const struct umad_header *h, const uint8_t *mad,
		    size_t size)
{
	const struct registration *r = &l->registrations[slot];
	size_t total = sizeof(*h) + size;
	uint8_t small[UMAD_HEADER + MAD_SIZE];
	uint8_t *frame = total <= sizeof(small) ? small : hd_alloc(total, 1);
	struct umad_header mine = *h;

	mine.agent = r->id;
	mine.length = (uint32_t)total;
	memcpy(frame, &mine, sizeof(mine));
	memcpy(frame + sizeof(mine), mad, size);
	if (total <= LIVE_INLINE)
		client_send(l, r->client, frame, total, -1);
	else
		client_send(l, r->client, frame, UMAD_HEADER, live_file(frame, total));
	if (frame != small)
		free(frame);
}

/* Index of the MAD's P_Key in the port's table. */
static uint16_t key_index(const struct live *l, port_id port, uint16_t key)
{
	int i = agents_pkey_find(l->agents, port, key);

	return (uint16_t)(i < 0 ? 0 : i);
}

/*
 * Queues a request without a registered receiver: the node responds with an error after the
 * current MAD has been processed.
 */
static void refuse(struct live *l, port_id port, const struct mad_address *from, const uint8_t *mad)
{
	uint8_t method = mad[MAD_METHOD];

	if (method != MAD_GET && method != MAD_SET)
		return;
	l->unheard = hd_grow(l->unheard, &l->unheard_cap, l->n_unheard + 1, sizeof(*l->unheard));
	struct unheard *u = &l->unheard[l->n_unheard++];

	*u = (struct unheard){ .port = port, .from = *from };
	memcpy(u->mad, mad, MAD_SIZE);
	u->mad[MAD_METHOD] = MAD_GET_RESP;
	store_be16(u->mad + MAD_STATUS, mad[MAD_CLASS] == MAD_SMP_DIRECT
						? MAD_UNSUPPORTED | MAD_DIRECTION
						: MAD_UNSUPPORTED);
	u->from.pkey = agents_pkey(l->agents, port, key_index(l, port, from->pkey));
}

static void send_refusals(struct live *l)
{
	/* These MADs are responses, which are never refused. */
	for (size_t i = 0; i < l->n_unheard; i++)
		agents_send(l->agents, l->unheard[i].port, &l->unheard[i].from, l->unheard[i].mad,
			    MAD_SIZE, daemon_now(l));
	l->n_unheard = 0;
}

static uint32_t answer_for(struct live *l, port_id port, const uint8_t *mad)
{
	uint64_t tid = load_be64(mad + MAD_TID);
	uint32_t slot = by_tid(l, port, tid);

	if (slot == NO_AGENT)
		return NO_AGENT;
	if (tid != 0 && tid == l->answering && !l->answered) {
		l->answered = true;
		return slot;
	}
	for (size_t i = 0; i < l->n_waiting; i++) {
		if (l->waiting[i].tid != tid)
			continue;
		stop_waiting(l, i);
		return slot;
	}
	return NO_AGENT; /* after the timeout */
}

void frame_arrived(void *live, port_id port, const struct mad_address *from, const uint8_t *mad,
		   size_t size)
{
	struct live *l = live;

	if (l->replays)
		return;
	uint32_t slot = mad_is_response(mad) ? answer_for(l, port, mad) : by_method(l, port, mad);
	struct umad_header h = {
		.qp = htonl(from->qp),
		.qkey = htonl(from->qkey),
		.lid = htons(from->lid),
		.sl = from->sl,
		.pkey_index = key_index(l, port, from->pkey),
	};

	if (slot != NO_AGENT)
		deliver(l, slot, &h, mad, length_of(&l->registrations[slot], mad, size));
	else if (!cm_receive(l->cm, port, from, mad, daemon_now(l)) && !mad_is_response(mad))
		refuse(l, port, from, mad);
}

/* ---- frames from programs */

static uint32_t registration_of(const struct live *l, uint32_t client, uint32_t id)
{
	uint32_t slot = l->clients[client].agents;

	while (slot != NO_AGENT && l->registrations[slot].id != id)
		slot = l->registrations[slot].next_of_client;
	return slot;
}

/*
 * Passes a MAD to the agents; true if it is a request whose response has arrived already. A
 * response has the TID of its request.
 */
static bool transmit(struct live *l, uint32_t registration, const uint8_t *frame, size_t size)
{
	struct umad_header h;
	const uint8_t *mad = frame + sizeof(h);

	memcpy(&h, frame, sizeof(h));
	struct mad_address to = {
		.lid = ntohs(h.lid),
		.sl = h.sl & 15,
		.pkey = agents_pkey(l->agents, l->registrations[registration].port, h.pkey_index),
		.qp = ntohl(h.qp),
		.qkey = ntohl(h.qkey),
	};

	bool sets = mad[MAD_METHOD] == MAD_SET;

	/* Counts data packets first: they were sent under the current tables. */
	if (sets || mad[MAD_CLASS] == MAD_PERF)
		adapters_count(l);
	l->answering = mad_is_response(mad) ? 0 : load_be64(mad + MAD_TID);
	l->answered = false;
	agents_send(l->agents, l->registrations[registration].port, &to, mad, size - sizeof(h),
		    daemon_now(l));
	l->answering = 0;
	l->changed |= sets && mad[MAD_CLASS] != MAD_PERF;
	return l->answered;
}

static void wait_for_answer(struct live *l, uint32_t registration, const struct umad_header *h,
			    const uint8_t *frame, size_t size)
{
	l->waiting = hd_grow(l->waiting, &l->waiting_cap, l->n_waiting + 1, sizeof(*l->waiting));
	struct waiting *w = &l->waiting[l->n_waiting++];

	*w = (struct waiting){
		.tid = load_be64(frame + sizeof(*h) + MAD_TID),
		.registration = registration,
		.due = daemon_now(l) + h->timeout * HD_MS,
		.timeout = h->timeout,
		.retries = h->retries,
		.size = size,
		.frame = hd_alloc(size, 1),
	};
	memcpy(w->frame, frame, size);
}

void frame_from(struct live *l, uint32_t client, const uint8_t *frame, size_t size)
{
	struct umad_header h;
	uint8_t padded[UMAD_HEADER + MAD_SIZE] = { 0 };
	uint8_t *copy = padded;

	if (size < sizeof(h) + MAD_HEADER_SIZE)
		return;
	memcpy(&h, frame, sizeof(h));
	uint32_t r = registration_of(l, client, h.agent);

	if (r == NO_AGENT)
		return;
	/* A program may send less than MAD_SIZE bytes; the rest is zeros. */
	if (size > sizeof(padded))
		copy = hd_alloc(size, 1);
	memcpy(copy, frame, size);
	if (is_segmented(&l->registrations[r], copy + sizeof(h)) &&
	    size >= sizeof(h) + RMPP_HEADER_END)
		say_length(copy + sizeof(h), size - sizeof(h));
	if (size < sizeof(padded))
		size = sizeof(padded);
	l->mads++;
	bool asks = !mad_is_response(copy + sizeof(h));

	if (asks)
		store_be32(copy + sizeof(h) + MAD_TID, high_tid(l, r));
	if (!transmit(l, r, copy, size) && asks && h.timeout)
		wait_for_answer(l, r, &h, copy, size);
	if (copy != padded)
		free(copy);
}

/* ---- timeouts */

hd_time frames_next(const struct live *l)
{
	hd_time first = HD_TIME_NEVER;

	for (size_t i = 0; i < l->n_waiting; i++)
		if (l->waiting[i].due < first)
			first = l->waiting[i].due;
	return first;
}

static void give_up(struct live *l, size_t i)
{
	struct waiting w = l->waiting[i];
	struct umad_header h;

	l->waiting[i] = l->waiting[--l->n_waiting];
	memcpy(&h, w.frame, sizeof(h));
	h.status = ETIMEDOUT;
	deliver(l, w.registration, &h, w.frame + sizeof(h),
		w.size - sizeof(h) < MAD_SIZE ? w.size - sizeof(h) : MAD_SIZE);
	free(w.frame);
}

void frames_run(struct live *l, hd_time now)
{
	send_refusals(l);
	for (size_t i = l->n_waiting; i-- > 0;) {
		struct waiting *w = &l->waiting[i];

		if (i >= l->n_waiting || w->due > now)
			continue;
		if (w->retries == 0) {
			give_up(l, i);
			continue;
		}
		w->retries--;
		w->due = now + w->timeout * HD_MS;
		uint32_t r = w->registration;
		uint8_t *frame = w->frame;
		uint64_t tid = w->tid;

		if (!transmit(l, r, frame, w->size))
			continue;
		/* Searched again by its TID: other requests may have been removed meanwhile. */
		for (size_t k = 0; k < l->n_waiting; k++)
			if (l->waiting[k].tid == tid) {
				stop_waiting(l, k);
				break;
			}
	}
}
