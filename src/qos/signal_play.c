/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/signal_play.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "qos/target.h"

static void note_message(struct signal_play *p, hd_time now,
			 const struct signal_message *m)
{
	p->events = hd_grow(p->events, &p->events_cap, p->n_events + 1,
			    sizeof(*p->events));
	p->events[p->n_events++] = (struct signal_event){ now, *m };
}

static void note_states(struct signal_play *p, hd_time now)
{
	const uint32_t n = p->subnet->n_subnets;

	p->states = hd_grow(p->states, &p->states_cap, p->n_states + n,
			    sizeof(*p->states));
	for (uint32_t i = 0; i < n; i++) {
		const struct signal_manager *m = &p->managers[i];
		struct signal_state s = { now, i, m->n_sessions, 0 };

		for (uint32_t k = 0; k < m->n_sessions; k++)
			s.reserved += m->sessions[k].reserved;
		p->states[p->n_states++] = s;
	}
}

static void post(struct signal_play *p, const struct signal_message *m)
{
	struct signal_outbox *box = &p->mail;

	box->items =
		hd_grow(box->items, &box->cap, box->n + 1, sizeof(*box->items));
	box->items[box->n++] = *m;
}

/* The destination answers PATH with RESV; the source hears RESV at last. */
static void at_host(struct signal_play *p, const struct signal_message *in)
{
	struct signal_outcome *o = &p->outcomes[in->session];
	struct signal_message resv = *in;

	switch (in->kind) {
	case SIGNAL_PATH:
		resv.kind = SIGNAL_RESV;
		resv.to = in->from;
		resv.from = SIGNAL_HOST;
		post(p, &resv);
		break;
	case SIGNAL_RESV:
		o->confirmed = true;
		o->refused = false;
		break;
	case SIGNAL_RESV_ERROR:
		o->confirmed = false;
		o->refused = true;
		o->where = in->where;
		break;
	case SIGNAL_TEAR:
		break;
	}
}

static void carry(struct signal_play *p, hd_time now)
{
	for (size_t i = 0; i < p->mail.n; i++) {
		struct signal_message m = p->mail.items[i];

		note_message(p, now, &m);
		if (m.to == SIGNAL_HOST)
			at_host(p, &m);
		else
			signal_receive(&p->managers[m.to], now, &m, &p->mail);
	}
	p->mail.n = 0;
}

/* The instant at which some manager next forgets something. */
static hd_time next_due(const struct signal_play *p)
{
	hd_time due = HD_TIME_NEVER;

	for (uint32_t i = 0; i < p->subnet->n_subnets; i++) {
		hd_time its = signal_due(&p->managers[i]);

		due = its < due ? its : due;
	}
	return due;
}

static void expire_before(struct signal_play *p, hd_time end)
{
	for (hd_time due = next_due(p); due < end; due = next_due(p)) {
		for (uint32_t i = 0; i < p->subnet->n_subnets; i++)
			signal_expire(&p->managers[i], due);
		note_states(p, due);
	}
}

/* All sources say the same, one after the other. */
static void say_all(struct signal_play *p, hd_time now, enum signal_kind kind)
{
	expire_before(p, now);
	for (size_t i = 0; i < p->requests->n; i++) {
		struct signal_message m = p->paths[i];

		m.kind = kind;
		post(p, &m);
		carry(p, now);
	}
	note_states(p, now);
}

static void play(struct signal_play *p)
{
	for (hd_time now = 0; now <= p->params.until; now += p->params.repeat)
		say_all(p, now, SIGNAL_PATH);
	if (p->params.tear)
		say_all(p, p->params.until, SIGNAL_TEAR);
	expire_before(p, HD_TIME_NEVER);
	for (size_t i = 0; i < p->requests->n; i++)
		p->unconfirmed += !p->outcomes[i].confirmed;
}

/* What each source says. */
static enum hd_status make_paths(struct signal_play *p, struct diag *d)
{
	const struct topo *t = p->subnet->topo;

	d->file = p->requests->file;
	for (size_t i = 0; i < p->requests->n; i++) {
		const struct qos_request *q = &p->requests->items[i];
		struct qos_packets packets = p->params.packets;
		port_id from = TOPO_NONE, to = TOPO_NONE;

		if (qos_find_ends(t, q, d, &from, &to) != HD_OK)
			return d->status;
		/* Whoever leaves its subnet has a GRH. */
		if (t->ports[from].subnet != t->ports[to].subnet)
			packets = qos_packets_global(packets);
		p->paths[i] = (struct signal_message){
			.kind = SIGNAL_PATH,
			.from = SIGNAL_HOST,
			.to = t->ports[from].subnet,
			.session = (uint32_t)i,
			.source = from,
			.destination = to,
			.tclass = (uint8_t)((q->class == TC_DBTS ? DSCP_EF
								 : DSCP_AF41)
					    << 2),
			.rate = qos_wire_rate(q, q->rate, &packets),
		};
	}
	return HD_OK;
}

/* Marks choose the SLs, so these are the ones that the tables know. */
static struct broker_params params_by_marks(void)
{
	struct diffserv_map map = diffserv_map_for(N_DATA_VLS);
	struct broker_params p = broker_params_default();

	p.be_sl = map.sl[DSCP_DEFAULT];
	p.ch_sl = map.sl[DSCP_LOWER_EFFORT];
	p.pbe_sl = BROKER_NO_SL;
	p.high_sls = (uint16_t)(1u << map.sl[DSCP_EF]);
	return p;
}

enum hd_status signal_play(struct signal_play *p, const struct subnet *s,
			   const struct qos_requests *requests,
			   const struct signal_play_params *params,
			   struct diag *d)
{
	const struct broker_params by_marks = params_by_marks();

	*p = (struct signal_play){ .subnet = s,
				   .params = *params,
				   .requests = requests };
	if (qos_requests_need_promises(requests, "it is not signalled", d) !=
		    HD_OK ||
	    broker_init(&p->broker, s, &by_marks, d) != HD_OK)
		return d->status;
	p->managers = hd_alloc(s->n_subnets, sizeof(*p->managers));
	for (uint32_t i = 0; i < s->n_subnets; i++)
		signal_manager_init(&p->managers[i], &p->broker, i,
				    params->lifetime);
	p->paths = hd_alloc(requests->n, sizeof(*p->paths));
	p->outcomes = hd_alloc(requests->n, sizeof(*p->outcomes));
	enum hd_status status = make_paths(p, d);

	if (status == HD_OK)
		play(p);
	else
		signal_play_fini(p);
	return status;
}

void signal_play_fini(struct signal_play *p)
{
	for (uint32_t i = 0; i < p->subnet->n_subnets; i++)
		signal_manager_fini(&p->managers[i]);
	free(p->managers);
	free(p->paths);
	free(p->outcomes);
	free(p->events);
	free(p->states);
	signal_outbox_fini(&p->mail);
	broker_fini(&p->broker);
}
