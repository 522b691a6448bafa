/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/reserve.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

void reserve_outbox_fini(struct reserve_outbox *box)
{
	free(box->items);
	*box = (struct reserve_outbox){ 0 };
}

void reserve_manager_init(struct reserve_manager *m, struct broker *broker, uint32_t subnet,
			  hd_time lifetime)
{
	*m = (struct reserve_manager){ .broker = broker, .subnet = subnet, .lifetime = lifetime };
}

void reserve_manager_fini(struct reserve_manager *m)
{
	free(m->sessions);
	m->sessions = NULL;
	m->n_sessions = 0;
	m->cap = 0;
}

/* Subnet of a segment of a path. */
static uint32_t subnet_of(const struct reserve_manager *m, const struct broker_way *way,
			  uint32_t segment)
{
	const struct topo *t = m->broker->subnet->topo;

	return t->ports[way->segment[segment].source].subnet;
}

/* The segment of a path in this manager's subnet; way->n: none. */
static uint32_t find_segment(const struct reserve_manager *m, const struct broker_way *way)
{
	uint32_t i = 0;

	while (i < way->n && subnet_of(m, way, i) != m->subnet)
		i++;
	return i;
}

static struct reserve_session *find(struct reserve_manager *m, uint32_t id)
{
	for (uint32_t i = 0; i < m->n_sessions; i++) {
		if (m->sessions[i].path.session == id)
			return &m->sessions[i];
	}
	return NULL;
}

static void send(struct reserve_manager *m, const struct reserve_message *like,
		 enum reserve_kind kind, uint32_t to, struct reserve_outbox *out)
{
	out->items = hd_grow(out->items, &out->cap, out->n + 1, sizeof(*out->items));
	struct reserve_message *message = &out->items[out->n++];

	*message = *like;
	message->kind = kind;
	message->from = m->subnet;
	message->to = to;
}

static void release(struct reserve_manager *m, struct reserve_session *s)
{
	if (!s->reserved)
		return;
	enum hd_status status = broker_release(m->broker, s->connection);

	assert(status == HD_OK);
	(void)status;
	s->reserved = false;
}

static void forget(struct reserve_manager *m, struct reserve_session *s)
{
	release(m, s);
	*s = m->sessions[--m->n_sessions];
}

static bool same_demand(const struct broker_request *a, const struct broker_request *b)
{
	bool same = a->way.n == b->way.n && a->reverse.n == b->reverse.n && a->burst == b->burst &&
		    a->largest == b->largest && a->smallest == b->smallest &&
		    a->deadline == b->deadline && hd_rate_compare(a->rate, b->rate) == 0;

	for (uint32_t i = 0; same && i < a->way.n; i++) {
		const struct broker_segment *x = &a->way.segment[i];
		const struct broker_segment *y = &b->way.segment[i];

		same = x->source == y->source && x->dlid == y->dlid && x->sl == y->sl;
	}
	return same;
}

static void on_path(struct reserve_manager *m, hd_time now, const struct reserve_message *in,
		    struct reserve_outbox *out)
{
	const struct broker_way *way = &in->request.way;
	struct reserve_session *s = find(m, in->session);
	uint32_t part = find_segment(m, way);

	if (part == way->n)
		return;
	if (!s) {
		m->sessions =
			hd_grow(m->sessions, &m->cap, m->n_sessions + 1, sizeof(*m->sessions));
		s = &m->sessions[m->n_sessions++];
		*s = (struct reserve_session){ 0 };
	} else if (!same_demand(&s->path.request, &in->request)) {
		release(m, s); /* the demand has changed: the next RESV reserves it */
	}
	s->path = *in;
	s->path_expires = now + m->lifetime;
	s->next = part + 1 < way->n ? subnet_of(m, way, part + 1) : RESERVE_HOST;
	s->previous = part > 0 ? subnet_of(m, way, part - 1) : RESERVE_HOST;
	send(m, in, RESERVE_PATH, s->next, out);
}

/* Reserves this subnet's part, before the part `then`; returns false with the reason. */
static bool reserve(struct reserve_manager *m, struct reserve_session *s, uint32_t then,
		    struct broker_refusal *why)
{
	const struct broker_way *way = &s->path.request.way;
	struct broker_request request = s->path.request;
	uint32_t part = find_segment(m, way);

	if (s->reserved && s->then == then)
		return true;
	release(m, s);
	request.way = (struct broker_way){ .segment = { way->segment[part] }, .n = 1 };
	/* Reservation for acknowledgements in this subnet. */
	part = find_segment(m, &s->path.request.reverse);
	request.reverse.n = part < s->path.request.reverse.n;
	if (request.reverse.n)
		request.reverse.segment[0] = s->path.request.reverse.segment[part];
	request.then = then;
	/* Only the manager of the source has the bounds of all parts. */
	if (s->previous != RESERVE_HOST)
		request.deadline = 0;
	s->then = then;
	s->reserved = broker_admit(m->broker, &request, &s->connection, why) == HD_OK;
	return s->reserved;
}

static void on_resv(struct reserve_manager *m, hd_time now, const struct reserve_message *in,
		    struct reserve_outbox *out)
{
	struct reserve_session *s = find(m, in->session);
	struct reserve_message answer;

	if (!s)
		return; /* no PATH state yet: the next PATH creates it */
	answer = s->path;
	if (!reserve(m, s, in->then, &answer.why)) {
		answer.where = m->subnet;
		send(m, &answer, RESERVE_RESV_ERROR, s->next, out);
		return;
	}
	s->resv_expires = now + m->lifetime;
	answer.then = s->connection + 1;
	send(m, &answer, RESERVE_RESV, s->previous, out);
}

/* A manager nearer to the source refused: releases this subnet's part. */
static void on_resv_error(struct reserve_manager *m, const struct reserve_message *in,
			  struct reserve_outbox *out)
{
	struct reserve_session *s = find(m, in->session);

	if (!s)
		return;
	release(m, s);
	send(m, in, RESERVE_RESV_ERROR, s->next, out);
}

static void on_tear(struct reserve_manager *m, const struct reserve_message *in,
		    struct reserve_outbox *out)
{
	struct reserve_session *s = find(m, in->session);

	if (!s)
		return;
	send(m, in, RESERVE_TEAR, s->next, out);
	forget(m, s);
}

void reserve_receive(struct reserve_manager *m, hd_time now, const struct reserve_message *in,
		     struct reserve_outbox *out)
{
	switch (in->kind) {
	case RESERVE_PATH:
		on_path(m, now, in, out);
		break;
	case RESERVE_RESV:
		on_resv(m, now, in, out);
		break;
	case RESERVE_RESV_ERROR:
		on_resv_error(m, in, out);
		break;
	case RESERVE_TEAR:
		on_tear(m, in, out);
		break;
	}
}

void reserve_expire(struct reserve_manager *m, hd_time now)
{
	for (uint32_t i = 0; i < m->n_sessions;) {
		struct reserve_session *s = &m->sessions[i];

		if (s->path_expires <= now) {
			forget(m, s);
			continue;
		}
		if (s->reserved && s->resv_expires <= now)
			release(m, s);
		i++;
	}
}

hd_time reserve_due(const struct reserve_manager *m)
{
	hd_time due = HD_TIME_NEVER;

	for (uint32_t i = 0; i < m->n_sessions; i++) {
		const struct reserve_session *s = &m->sessions[i];

		if (s->path_expires < due)
			due = s->path_expires;
		if (s->reserved && s->resv_expires < due)
			due = s->resv_expires;
	}
	return due;
}
