/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "sim/engine.h"

#define LOOK_EVERY     65536 /* events between looks at progress and deadlock */
#define MOST_ENDPOINTS 15    /* their number is part of an event's key */

struct sim *sim_new(const struct sim_setup *setup, const struct sim_flow *flows,
		    uint32_t n_flows, const struct sim_rules *rules)
{
	memory_for("queues and counters of the simulated fabric");
	return state_new(setup, flows, n_flows, rules);
}

void sim_observe(struct sim *s, const struct sim_observer *o)
{
	s->observers = hd_realloc(s->observers, (size_t)s->n_observers + 1,
				  sizeof(*s->observers));
	s->observers[s->n_observers++] = *o;
	s->tells_delivered |= o->delivered != NULL;
	s->tells_ended |= o->ended != NULL;
	s->tells_granted |= o->granted != NULL;
	s->tells_updated |= o->updated != NULL;
	if (o->delivered || o->granted)
		s->way = WAY_GENERAL;
	for (uint32_t i = 0; o->granted && i < s->setup->n_ports; i++)
		s->links[i].flags |= L_CARE;
}

uint32_t sim_attach(struct sim *s, const struct sim_endpoint *e)
{
	assert(s->n_endpoints < MOST_ENDPOINTS);
	s->endpoints = hd_realloc(s->endpoints, (size_t)s->n_endpoints + 1,
				  sizeof(*s->endpoints));
	s->endpoints[s->n_endpoints++] = *e;
	senders_init(s);
	return s->n_endpoints - 1;
}

void sim_set_vlarb(struct sim *s, uint32_t port, const struct vlarb *table)
{
	struct server *l = &s->links[port];
	struct arbiter_table fresh;
	uint32_t i = 0;

	arbiter_table_init(&fresh, table);
	while (i < s->n_tables && !arbiter_table_equal(&s->tables[i], &fresh))
		i++;
	if (i == s->n_tables) {
		s->tables = hd_grow(s->tables, &s->tables_cap, (size_t)i + 1,
				    sizeof(*s->tables));
		s->tables[s->n_tables++] = fresh;
	}
	assert(i < UINT16_MAX);
	l->table = (uint16_t)i;
	arbiter_adapt(&l->arb, &s->tables[i]);
	if (l->requests)
		link_request(s, port);
}

void table_change(struct sim *s, uint32_t id)
{
	const struct sim_table_change *c = &s->setup->changes[id];

	s->background--;
	sim_set_vlarb(s, c->port, &c->table);
}

void sim_timer(struct sim *s, uint32_t endpoint, hd_time when, uint32_t cookie)
{
	assert(cookie <= EV_ID_MAX && endpoint < s->n_endpoints);
	eventq_push(&s->q, when, event_key(EV_TIMER, 0, endpoint, cookie));
}

hd_time sim_now(const struct sim *s)
{
	return s->now;
}

/* How far the rule that is furthest behind has come. */
void sim_progress(const struct sim *s, struct sim_progress *out)
{
	const struct sim_rules *r = &s->rules;
	const struct sim_metrics *m = s->metrics;
	double share = 1;
	bool counts = false;

	*out = (struct sim_progress){
		.now = s->now,
		.delivered = s->delivered_all,
		.hops = s->hops,
		.warm = s->now >= s->from,
		.from = s->from,
	};
	if (r->packets) {
		counts = true;
		share = (double)m->delivered / (double)r->packets;
	}
	if (r->packets_per_flow || r->packets_per_sl || r->precision > 0) {
		/* Not worth a pass over all flows: a mean stands for them. */
		double want = (double)r->packets_per_flow * s->n_flows;
		double done = want > 0 ? (double)m->delivered / want : 0;

		counts = true;
		share = done < share ? done : share;
	}
	if (r->stop) {
		double time = (double)s->now / (double)r->stop;

		share = !counts || time > share ? time : share;
	} else if (!counts) {
		share = 0;
	}
	out->share = share < 1 ? share : 1;
}

/* Nothing has moved for long: is it for ever? */
static bool is_stuck(struct sim *s)
{
	bool moved = s->hops != s->hops_checked;

	s->hops_checked = s->hops;
	return !moved && s->alive > 0 && deadlock_exists(s);
}

/* Nothing happens any more until `end`. */
static enum sim_state run_out(struct sim *s, hd_time end)
{
	if (eventq_count(&s->q) <= s->background && s->alive == 0) {
		/* Deliveries were computed ahead. */
		if (s->latest > s->now)
			s->now = s->latest;
		return SIM_IDLE;
	}
	if (eventq_count(&s->q) == 0)
		return SIM_DEADLOCK;
	s->now = end;
	return end == s->horizon ? SIM_ENDED : SIM_PAUSED;
}

enum sim_state sim_run(struct sim *s, hd_time until, sim_progress_fn *progress,
		       void *context)
{
	while (engine_run(s, until)) {
		struct sim_progress p;

		s->events_checked = s->events + LOOK_EVERY;
		if (s->full)
			return SIM_FULL;
		if (is_stuck(s))
			return SIM_DEADLOCK;
		sim_progress(s, &p);
		if (progress && !progress(context, &p))
			return SIM_PAUSED;
	}
	return run_out(s, until < s->horizon ? until : s->horizon);
}

/* ---- replay ------------------------------------------------------------- */

static void record_end(void *context, const struct sim_event_record *e,
		       const struct sim_packet *p)
{
	struct sim_record *r = context;

	(void)p;
	r->events = hd_grow(r->events, &r->events_cap, r->n_events + 1,
			    sizeof(*r->events));
	r->events[r->n_events++] = *e;
}

void sim_record_fini(struct sim_record *record)
{
	free(record->events);
	free(record->counters);
}

void sim_replay(const struct sim_setup *setup,
		const struct sim_arrival *arrivals, size_t n_arrivals,
		hd_time horizon, struct sim_record *out)
{
	struct sim_rules rules;
	struct sim_observer observer = { .context = out, .ended = record_end };

	*out = (struct sim_record){ 0 };
	sim_rules_init(&rules);
	rules.injects = true;
	for (size_t i = 0; i < n_arrivals; i++) {
		if (arrivals[i].bytes > rules.injects_bytes)
			rules.injects_bytes = arrivals[i].bytes;
		rules.injects_management |= arrivals[i].management;
	}
	struct sim *s = sim_new(setup, NULL, 0, &rules);
	sim_observe(s, &observer);
	s->horizon = horizon;
	s->arrivals = arrivals;
	s->n_arrivals = n_arrivals;
	senders_init(s);
	if (n_arrivals > 0)
		eventq_push(&s->q, arrivals[0].time,
			    event_key(EV_ARRIVAL, 0, 0, 0));
	s->events_checked = UINT64_MAX;
	s->to_the_end = true;
	engine_run(s, horizon);
	s->now = horizon;
	out->counters = hd_alloc(setup->n_ports, sizeof(*out->counters));
	for (uint32_t i = 0; i < setup->n_ports; i++)
		port_counters(s, i, &out->counters[i]);
	sim_free(s);
}
