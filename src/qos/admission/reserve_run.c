/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/reserve_run.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "qos/opensm/port_conf.h"

static void note_message(struct reserve_run *p, hd_time now, const struct reserve_message *m)
{
	p->events = hd_grow(p->events, &p->events_cap, p->n_events + 1, sizeof(*p->events));
	p->events[p->n_events++] = (struct reserve_event){ now, *m };
}

static void note_states(struct reserve_run *p, hd_time now)
{
	const uint32_t n = p->subnet->n_subnets;

	p->states = hd_grow(p->states, &p->states_cap, p->n_states + n, sizeof(*p->states));
	for (uint32_t i = 0; i < n; i++) {
		const struct reserve_manager *m = &p->managers[i];
		struct reserve_state s = { now, i, m->n_sessions, 0 };

		for (uint32_t k = 0; k < m->n_sessions; k++)
			s.reserved += m->sessions[k].reserved;
		p->states[p->n_states++] = s;
	}
}

static void post(struct reserve_run *p, const struct reserve_message *m)
{
	struct reserve_outbox *box = &p->mail;

	box->items = hd_grow(box->items, &box->cap, box->n + 1, sizeof(*box->items));
	box->items[box->n++] = *m;
}

/* The destination answers PATH with RESV; RESV ends at the source. */
static void at_host(struct reserve_run *p, const struct reserve_message *in)
{
	struct reserve_outcome *o = &p->outcomes[in->session];
	struct reserve_message resv = *in;

	switch (in->kind) {
	case RESERVE_PATH:
		resv.kind = RESERVE_RESV;
		resv.to = in->from;
		resv.from = RESERVE_HOST;
		post(p, &resv);
		break;
	case RESERVE_RESV:
		o->confirmed = true;
		o->refused = false;
		break;
	case RESERVE_RESV_ERROR:
		o->confirmed = false;
		o->refused = true;
		o->where = in->where;
		break;
	case RESERVE_TEAR:
		break;
	}
}

static void carry(struct reserve_run *p, hd_time now)
{
	for (size_t i = 0; i < p->mail.n; i++) {
		struct reserve_message m = p->mail.items[i];

		note_message(p, now, &m);
		if (m.to == RESERVE_HOST)
			at_host(p, &m);
		else
			reserve_receive(&p->managers[m.to], now, &m, &p->mail);
	}
	p->mail.n = 0;
}

/* The next expiry at any manager. */
static hd_time next_due(const struct reserve_run *p)
{
	hd_time due = HD_TIME_NEVER;

	for (uint32_t i = 0; i < p->subnet->n_subnets; i++) {
		hd_time its = reserve_due(&p->managers[i]);

		due = its < due ? its : due;
	}
	return due;
}

static void expire_before(struct reserve_run *p, hd_time end)
{
	for (hd_time due = next_due(p); due < end; due = next_due(p)) {
		for (uint32_t i = 0; i < p->subnet->n_subnets; i++)
			reserve_expire(&p->managers[i], due);
		note_states(p, due);
	}
}

/* All sources send a message of this kind, one after the other. */
static void say_all(struct reserve_run *p, hd_time now, enum reserve_kind kind)
{
	expire_before(p, now);
	for (size_t i = 0; i < p->requests->n; i++) {
		struct reserve_message m = p->paths[i];

		m.kind = kind;
		post(p, &m);
		carry(p, now);
	}
	note_states(p, now);
}

/* The session of a flow at a manager that has reserved its part; NULL: none. */
static const struct reserve_session *part_of(const struct reserve_run *p, size_t request,
					     uint32_t segment)
{
	const struct broker_way *way = &p->paths[request].request.way;
	port_id source = way->segment[segment].source;
	const struct reserve_manager *m = &p->managers[p->subnet->topo->ports[source].subnet];

	for (uint32_t i = 0; i < m->n_sessions; i++) {
		if (m->sessions[i].path.session == request && m->sessions[i].reserved)
			return &m->sessions[i];
	}
	return NULL;
}

/* Records the current bounds of all parts, and the tables of all ports. */
static void note_reservations(struct reserve_run *p)
{
	struct latency l;

	latency_init(&l, &p->broker, NULL, false);
	for (size_t i = 0; i < p->requests->n; i++) {
		for (uint32_t k = 0; k < p->paths[i].request.way.n; k++) {
			const struct reserve_session *part = part_of(p, i, k);

			p->outcomes[i].bound[k] =
				part ? latency_part(&l, part->connection) : HUGE_VAL;
		}
	}
	latency_fini(&l);
	broker_all_tables(&p->broker, p->tables);
}

static void play(struct reserve_run *p)
{
	for (hd_time now = 0; now <= p->params.until; now += p->params.repeat)
		say_all(p, now, RESERVE_PATH);
	note_reservations(p);
	if (p->params.tear)
		say_all(p, p->params.until, RESERVE_TEAR);
	expire_before(p, HD_TIME_NEVER);
	for (size_t i = 0; i < p->requests->n; i++)
		p->unconfirmed += !p->outcomes[i].confirmed;
}

/* Creates the PATH message of each source. */
static enum hd_status make_paths(struct reserve_run *p, struct diag *d)
{
	d->file = p->requests->file;
	for (size_t i = 0; i < p->requests->n; i++) {
		struct qos_target to;

		if (qos_find_target(p->subnet, &p->params.terms, &p->requests->items[i], d, &to) !=
		    HD_OK)
			return d->status;
		p->paths[i] = (struct reserve_message){
			.kind = RESERVE_PATH,
			.from = RESERVE_HOST,
			.to = p->subnet->topo->ports[to.from].subnet,
			.session = (uint32_t)i,
			.request = to.request,
		};
	}
	return HD_OK;
}

enum hd_status reserve_run(struct reserve_run *p, struct subnet *s,
			   const struct qos_requests *requests,
			   const struct reserve_run_params *params, struct diag *d)
{
	uint32_t refused;

	*p = (struct reserve_run){ .subnet = s, .params = *params, .requests = requests };
	if (qos_requests_need_promises(requests, "it is not signalled", d) != HD_OK ||
	    broker_init(&p->broker, s, &params->broker, d) != HD_OK)
		return d->status;
	p->managers = hd_alloc(s->n_subnets, sizeof(*p->managers));
	for (uint32_t i = 0; i < s->n_subnets; i++)
		reserve_manager_init(&p->managers[i], &p->broker, i, params->lifetime);
	p->paths = hd_alloc(requests->n, sizeof(*p->paths));
	p->outcomes = hd_alloc(requests->n, sizeof(*p->outcomes));
	p->tables = hd_alloc(s->topo->n_ports, sizeof(*p->tables));
	enum hd_status status = broker_admit_standing(&p->broker, d, &refused);

	if (status == HD_OK)
		status = make_paths(p, d);

	if (status == HD_OK) {
		play(p);
		d->file = NULL; /* not an error in the requests file */
	}
	if (status == HD_OK && params->tables)
		status = port_conf_save(params->tables, s, p->tables, d);
	if (status != HD_OK)
		reserve_run_fini(p);
	return status;
}

void reserve_run_fini(struct reserve_run *p)
{
	for (uint32_t i = 0; i < p->subnet->n_subnets; i++)
		reserve_manager_fini(&p->managers[i]);
	free(p->managers);
	free(p->paths);
	free(p->outcomes);
	free(p->tables);
	free(p->events);
	free(p->states);
	reserve_outbox_fini(&p->mail);
	broker_fini(&p->broker);
}
