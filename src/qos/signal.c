/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/signal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "subnet/router.h"

void signal_outbox_fini(struct signal_outbox *box)
{
	free(box->items);
	*box = (struct signal_outbox){ 0 };
}

void signal_manager_init(struct signal_manager *m, struct broker *broker,
			 uint32_t subnet, hd_time lifetime)
{
	*m = (struct signal_manager){ .broker = broker,
				      .subnet = subnet,
				      .map = diffserv_map_for(15),
				      .lifetime = lifetime };
}

void signal_manager_fini(struct signal_manager *m)
{
	free(m->sessions);
	m->sessions = NULL;
	m->n_sessions = 0;
	m->cap = 0;
}

/* This subnet's part of a flow's way. */
struct segment {
	port_id entry; /* the source, or the router's port on this side */
	lid_t dlid;    /* the destination's, or the next router's */
	uint32_t next, previous; /* managers, or SIGNAL_HOST */
};

/* The node behind the LID that a packet is addressed to in this subnet. */
static const struct topo_port *owner(const struct subnet *s, uint32_t subnet,
				     lid_t lid, port_id *port)
{
	*port = s->port_of_lid[subnet][lid];
	return *port == TOPO_NONE ? NULL : &s->topo->ports[*port];
}

/*
 * Follows the flow from subnet to subnet until it reaches this manager's.
 * False if it never does, or there is no way.
 */
static bool find_segment(const struct signal_manager *m,
			 const struct signal_message *in, struct segment *out)
{
	const struct subnet *s = m->broker->subnet;
	port_id entry = in->source;
	lid_t dlid = route_dlid(s, in->source, in->destination);
	uint32_t previous = SIGNAL_HOST;

	for (uint32_t hops = 0; dlid && hops <= s->n_subnets; hops++) {
		uint32_t here = s->topo->ports[entry].subnet;
		port_id target, leave;
		const struct topo_port *at = owner(s, here, dlid, &target);
		bool last = target == in->destination;

		if (!at)
			return false;
		lid_t onward = 0;

		if (!last && !router_forward(s, at->node, in->destination,
					     &leave, &onward))
			return false;
		uint32_t next =
			last ? SIGNAL_HOST : s->topo->ports[leave].subnet;

		if (here == m->subnet) {
			*out = (struct segment){ entry, dlid, next, previous };
			return true;
		}
		if (last)
			return false;
		previous = here;
		entry = leave;
		dlid = onward;
	}
	return false;
}

static struct signal_session *find(struct signal_manager *m, uint32_t id)
{
	for (uint32_t i = 0; i < m->n_sessions; i++) {
		if (m->sessions[i].path.session == id)
			return &m->sessions[i];
	}
	return NULL;
}

static void send(struct signal_manager *m, const struct signal_message *like,
		 enum signal_kind kind, uint32_t to, struct signal_outbox *out)
{
	out->items =
		hd_grow(out->items, &out->cap, out->n + 1, sizeof(*out->items));
	struct signal_message *message = &out->items[out->n++];

	*message = *like;
	message->kind = kind;
	message->from = m->subnet;
	message->to = to;
}

static void release(struct signal_manager *m, struct signal_session *s)
{
	if (!s->reserved)
		return;
	enum hd_status status = broker_release(m->broker, s->connection);

	assert(status == HD_OK);
	(void)status;
	s->reserved = false;
}

static void forget(struct signal_manager *m, struct signal_session *s)
{
	release(m, s);
	*s = m->sessions[--m->n_sessions];
}

static bool same_demand(const struct signal_message *a,
			const struct signal_message *b)
{
	return a->source == b->source && a->destination == b->destination &&
	       a->tclass == b->tclass && hd_rate_compare(a->rate, b->rate) == 0;
}

static void on_path(struct signal_manager *m, hd_time now,
		    const struct signal_message *in, struct signal_outbox *out)
{
	struct signal_session *s = find(m, in->session);
	struct segment segment;

	if (!find_segment(m, in, &segment))
		return;
	if (!s) {
		m->sessions = hd_grow(m->sessions, &m->cap, m->n_sessions + 1,
				      sizeof(*m->sessions));
		s = &m->sessions[m->n_sessions++];
		*s = (struct signal_session){ 0 };
	} else if (!same_demand(&s->path, in)) {
		release(m, s); /* another demand: the next RESV renews it */
	}
	s->path = *in;
	s->path_expires = now + m->lifetime;
	s->next = segment.next;
	s->previous = segment.previous;
	send(m, in, SIGNAL_PATH, segment.next, out);
}

/* Reserves this subnet's part; false and why. */
static bool reserve(struct signal_manager *m, struct signal_session *s,
		    struct broker_refusal *why)
{
	struct segment segment;

	if (s->reserved)
		return true;
	if (!find_segment(m, &s->path, &segment)) {
		*why = (struct broker_refusal){ .reason = BROKER_NO_PATH,
						.link = s->path.source };
		return false;
	}
	struct broker_request request = {
		.source = segment.entry,
		.dlid = segment.dlid,
		.sl = diffserv_sl(&m->map, s->path.tclass),
		.rate = s->path.rate,
	};

	s->reserved =
		broker_admit(m->broker, &request, &s->connection, why) == HD_OK;
	return s->reserved;
}

static void on_resv(struct signal_manager *m, hd_time now,
		    const struct signal_message *in, struct signal_outbox *out)
{
	struct signal_session *s = find(m, in->session);
	struct signal_message answer;

	if (!s)
		return; /* no trail (yet): the next PATH lays one */
	answer = s->path;
	if (!reserve(m, s, &answer.why)) {
		answer.where = m->subnet;
		send(m, &answer, SIGNAL_RESV_ERROR, s->next, out);
		return;
	}
	s->resv_expires = now + m->lifetime;
	send(m, &answer, SIGNAL_RESV, s->previous, out);
}

/* Something nearer the source refused: what is held here is of no use. */
static void on_resv_error(struct signal_manager *m,
			  const struct signal_message *in,
			  struct signal_outbox *out)
{
	struct signal_session *s = find(m, in->session);

	if (!s)
		return;
	release(m, s);
	send(m, in, SIGNAL_RESV_ERROR, s->next, out);
}

static void on_tear(struct signal_manager *m, const struct signal_message *in,
		    struct signal_outbox *out)
{
	struct signal_session *s = find(m, in->session);

	if (!s)
		return;
	send(m, in, SIGNAL_TEAR, s->next, out);
	forget(m, s);
}

void signal_receive(struct signal_manager *m, hd_time now,
		    const struct signal_message *in, struct signal_outbox *out)
{
	switch (in->kind) {
	case SIGNAL_PATH:
		on_path(m, now, in, out);
		break;
	case SIGNAL_RESV:
		on_resv(m, now, in, out);
		break;
	case SIGNAL_RESV_ERROR:
		on_resv_error(m, in, out);
		break;
	case SIGNAL_TEAR:
		on_tear(m, in, out);
		break;
	}
}

void signal_expire(struct signal_manager *m, hd_time now)
{
	for (uint32_t i = 0; i < m->n_sessions;) {
		struct signal_session *s = &m->sessions[i];

		if (s->path_expires <= now) {
			forget(m, s);
			continue;
		}
		if (s->reserved && s->resv_expires <= now)
			release(m, s);
		i++;
	}
}

hd_time signal_due(const struct signal_manager *m)
{
	hd_time due = HD_TIME_NEVER;

	for (uint32_t i = 0; i < m->n_sessions; i++) {
		const struct signal_session *s = &m->sessions[i];

		if (s->path_expires < due)
			due = s->path_expires;
		if (s->reserved && s->resv_expires < due)
			due = s->resv_expires;
	}
	return due;
}
