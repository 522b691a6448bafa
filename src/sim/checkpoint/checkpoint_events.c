/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoint of the pending events, ordered by time and rule. */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/run.h"
#include "sim/routing/reduce.h"

static bool names_packet(uint64_t key)
{
	switch (key_kind(key)) {
	case EV_HEAD:
	case EV_CHOOSE:
	case EV_FIRST:
	case EV_READY:
	case EV_OUT:
	case EV_HOQ:
		return true;
	case EV_DELIVER:
		return key_vl(key) != 0;
	default:
		return false;
	}
}

/* Whether the packet of a lifetime event (F5) still waits at that output. */
static bool still_waits(const struct sim *s, const struct event *e)
{
	const struct packet_record *p = &s->pool.all[key_id(e->key)];
	uint32_t port = key_port(e->key);

	return (p->flags & P_WAITS) && p->out == port &&
	       s->pool.extras[key_id(e->key)].first + s->setup->ports[port].hoq_life == e->when;
}

static uint64_t with_id(uint64_t key, uint32_t id)
{
	return (key & ~(uint64_t)EV_ID_MAX) | id;
}

/*
 * Replaces the domain's packet ids by numbers of the checkpoint. A lifetime event that no longer
 * applies keeps its time and names no packet.
 */
static void events_number(const struct checkpoint_state *v, const struct sim *owner,
			  struct event *e, size_t n)
{
	const uint32_t *numbers = v->numbers[checkpoint_state_domain_number(owner)];

	for (size_t i = 0; i < n; i++) {
		if (!names_packet(e[i].key))
			continue;
		if (key_kind(e[i].key) == EV_HOQ && !still_waits(owner, &e[i]))
			e[i].key = with_id(e[i].key, EV_ID_MAX);
		else
			e[i].key = with_id(e[i].key, numbers[key_id(e[i].key)]);
	}
}

static int event_order(const void *x, const void *y)
{
	const struct event *a = x, *b = y;
	int order = checkpoint_state_compare(a->when, b->when);

	return order ? order : checkpoint_state_compare(a->key, b->key);
}

/* Adds the events of one queue except arrivals, which follow from the arrival list. */
static size_t events_add(const struct checkpoint_state *v, const struct sim *owner,
			 struct event *out)
{
	size_t n = eventq_count(&owner->q), kept = 0;

	eventq_list(&owner->q, out);
	for (size_t i = 0; i < n; i++) {
		if (key_kind(out[i].key) != EV_ARRIVAL &&
		    !(v->p->list && key_kind(out[i].key) == EV_STUCK))
			out[kept++] = out[i];
	}
	events_number(v, owner, out, kept);
	return kept;
}

/* Returns the events of all domains, ordered by time and rule; the caller frees them. */
static struct event *events_gather(const struct checkpoint_state *v, size_t *n)
{
	struct event *all = hd_alloc(sim_events(v->s), sizeof(*all));

	*n = checkpoint_state_has_sums(v) ? events_add(v, v->s, all) : 0;
	for (uint32_t i = 0; v->s->parts && i < v->s->parts->cut.n; i++)
		*n += events_add(v, v->s->parts->part[i], all + *n);
	if (*n)
		qsort(all, *n, sizeof(*all), event_order);
	return all;
}

/* Exclusive upper bound of the id in an event key. */
static uint64_t ids_of(const struct sim *s, uint64_t key)
{
	switch (key_kind(key)) {
	case EV_FAULT:
		return s->setup->n_faults;
	case EV_TABLE:
		return (uint64_t)1 + s->setup->n_settings;
	case EV_SOURCE:
	case EV_ASK:
		return s->n_flows;
	case EV_TIMEOUT:
		return s->control ? s->control->rules->n_flows : 0;
	case EV_RESPOND:
	case EV_PACE:
		return s->control ? s->control->rules->n_throttles : 0;
	case EV_REDUCED:
		return aggregator_count(s);
	case EV_HEAD:
		return s->links[key_port(key)].peer == NONE ? 0 : EV_ID_MAX;
	default:
		return EV_ID_MAX + (uint64_t)1;
	}
}

static uint32_t unused_packet(struct sim *s)
{
	uint32_t id = packet_new(s);

	packet_free(s, packet_at(s, id));
	return id;
}

/* Translates the event to ids of its owner; NULL: rejected. */
static struct sim *event_resolve(struct checkpoint_state *v, struct event *e)
{
	struct sim *s = v->s;

	if (!pack_check(v->p, e->when > s->now && key_kind(e->key) != EV_ARRIVAL &&
				      key_id(e->key) < ids_of(s, e->key)))
		return NULL;
	if (key_kind(e->key) == EV_TIMER && !pack_check(v->p, key_vl(e->key) < s->ends.n))
		return NULL;
	if (key_kind(e->key) == EV_TIMEOUT &&
	    !pack_check(v->p, s->control->flows[key_id(e->key)].throttle != NONE))
		return NULL;
	struct sim *owner = s->parts ? event_owner(s, e->key) : s;
	uint32_t number = key_id(e->key);

	if (!names_packet(e->key))
		return owner;
	if (key_kind(e->key) == EV_HOQ && number == EV_ID_MAX) {
		e->key = with_id(e->key, unused_packet(owner));
		return owner;
	}
	if (!pack_check(v->p, number < v->n_packets && v->packets[number].owner == owner))
		return NULL;
	e->key = with_id(e->key, v->packets[number].id);
	return owner;
}

static bool is_background(enum event_kind kind)
{
	return kind <= EV_STUCK || kind == EV_REFRESH;
}

static void queue_clear(struct sim *s)
{
	eventq_fini(&s->q);
	eventq_init(&s->q);
	s->q.now = s->now;
	s->background = 0;
}

static void arrivals_resume(struct sim *s)
{
	while (s->make.next_arrival < s->make.n_arrivals &&
	       s->make.arrivals[s->make.next_arrival].time <= s->now)
		s->make.next_arrival++;
	if (s->make.next_arrival < s->make.n_arrivals)
		eventq_push(&s->q, s->make.arrivals[s->make.next_arrival].time,
			    event_key(EV_ARRIVAL, 0, 0, 0));
}

/* Packs one event of the ordered list. */
static void pack_event(struct checkpoint_state *v, struct event *e)
{
	uint8_t kind = (uint8_t)key_kind(e->key);
	uint8_t vl = (uint8_t)key_vl(e->key);
	uint32_t port = key_port(e->key), id = key_id(e->key);

	pack_time(v->p, &e->when);
	pack_u8(v->p, &kind);
	pack_u32(v->p, &port);
	pack_u8(v->p, &vl);
	pack_u32(v->p, &id);
	if (pack_check(v->p, kind <= EV_WAKE && vl < 16 && id <= EV_ID_MAX &&
				     port < v->s->setup->n_ports))
		e->key = event_key((enum event_kind)kind, port, vl, id);
}

static void queues_clear(struct sim *s)
{
	queue_clear(s);
	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++)
		queue_clear(s->parts->part[i]);
}

static void read_event(struct checkpoint_state *v, struct event *e)
{
	struct sim *owner = v->p->refused ? NULL : event_resolve(v, e);

	if (!owner || owner->mail.is_elsewhere)
		return;
	v->coming = hd_grow(v->coming, &v->coming_cap, v->n_coming + 1, sizeof(*v->coming));
	v->coming[v->n_coming++] = (struct checkpoint_state_event){ owner, *e };
}

void checkpoint_state_events_begin(struct checkpoint_state *v)
{
	queues_clear(v->s);
	for (size_t i = 0; i < v->n_coming; i++) {
		struct sim *owner = v->coming[i].owner;
		const struct event *e = &v->coming[i].event;

		eventq_push(&owner->q, e->when, e->key);
		owner->background += is_background(key_kind(e->key));
	}
	for (uint32_t i = 0; i < sim_n_parts(v->s); i++)
		arrivals_resume(checkpoint_state_domain(v, i));
	free(v->coming);
}

/* The next deadlock check, which does not influence the run. */
static void pack_stuck(struct checkpoint_state *v)
{
	struct sim *s = v->s;
	struct checkpoint_state_event stuck = { s, { NEVER, event_key(EV_STUCK, 0, 0, 0) } };
	struct event *all = v->p->reads ? NULL : hd_alloc(eventq_count(&s->q), sizeof(*all));
	uint64_t interval = deadlock_interval(s);

	if (all)
		eventq_list(&s->q, all);
	for (size_t i = 0; all && i < eventq_count(&s->q); i++) {
		if (key_kind(all[i].key) == EV_STUCK)
			stuck.event.when = all[i].when;
	}
	free(all);
	v->p->role = ROLE_EVERY;
	pack_u64(v->p, &stuck.event.when);
	v->p->role = ROLE_STATE;
	pack_u64(v->p, &interval);
	if (!v->p->reads || stuck.event.when == NEVER)
		return;
	v->coming = hd_grow(v->coming, &v->coming_cap, v->n_coming + 1, sizeof(*v->coming));
	v->coming[v->n_coming++] = stuck;
}

void checkpoint_state_events(struct checkpoint_state *v)
{
	size_t n = 0;
	struct event *all = v->p->reads ? NULL : events_gather(v, &n);

	n = pack_count(v->p, n);
	for (size_t i = 0; i < n && !v->p->refused; i++) {
		struct event e = { 0 };

		if (all)
			e = all[i];
		pack_event(v, &e);
		if (!all)
			read_event(v, &e);
	}
	if (v->p->list)
		pack_stuck(v);
	free(all);
}
