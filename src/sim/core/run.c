/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/deadlock.h"
#include "sim/core/engine.h"
#include "sim/core/run.h"
#include "sim/injection/injection.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"

#define LOOK_EVERY     65536 /* events between progress checks */
#define STUCK_EVERY    256   /* M3: margins between deadlock checks */
#define MOST_ENDPOINTS 15    /* an event key has 4 bits for the endpoint */

struct sim *sim_new(const struct sim_setup *setup, const struct sim_flow *flows, uint32_t n_flows,
		    const struct sim_rules *rules)
{
	memory_for("queues and counters of the simulated fabric");
	return sim_state_new(setup, flows, n_flows, rules);
}

void sim_observe(struct sim *s, const struct sim_observer *o)
{
	s->tell.observers = hd_realloc(s->tell.observers, (size_t)s->tell.n_observers + 1,
				       sizeof(*s->tell.observers));
	s->tell.observers[s->tell.n_observers++] = *o;
	s->tell.delivered |= o->delivered != NULL;
	s->tell.ended |= o->ended != NULL;
	s->tell.ends = s->tell.ended || s->tell.delivered;
	s->tell.granted |= o->granted != NULL;
	s->tell.updated |= o->updated != NULL;
	if (o->granted)
		s->hop_variant = HOP_GENERAL;
	for (uint32_t i = 0; o->granted && s->run.has_rows && i < s->setup->n_ports; i++)
		s->links[i].flags |= L_SLOW_PATH;
}

bool sim_is_watched(const struct sim *s, uint32_t endpoints)
{
	return s->tell.n_observers > 0 || s->ends.n != endpoints;
}

uint32_t sim_attach(struct sim *s, const struct sim_endpoint *e)
{
	assert(s->ends.n < MOST_ENDPOINTS);
	s->ends.all = hd_realloc(s->ends.all, (size_t)s->ends.n + 1, sizeof(*s->ends.all));
	s->ends.all[s->ends.n++] = *e;
	s->notifies_passages |= e->passes != NULL;
	if (e->routes) {
		assert(s->rules.injects && !s->mode.fifo);
		s->asks_for_routes = true;
		if (!s->ends.next_at)
			s->ends.next_at = hd_alloc(s->setup->n_nodes, sizeof(*s->ends.next_at));
		s->hop_variant = HOP_GENERAL;
	}
	if (e->made) {
		assert(!s->ends.poster);
		s->ends.poster = s->ends.n;
	}
	injection_init(s);
	return s->ends.n - 1;
}

const struct sim_endpoint *sim_attached(const struct sim *s, uint32_t number)
{
	assert(number < s->ends.n);
	return &s->ends.all[number];
}

const char *sim_sender_name(const struct sim *s, const struct sim_packet *p)
{
	return p->endpoint && p->endpoint <= s->ends.n ? s->ends.all[p->endpoint - 1].name : NULL;
}

void sim_timer(struct sim *s, uint32_t endpoint, uint32_t node, hd_time when, uint32_t cookie)
{
	uint32_t port = s->nodes[node].first_port + 1;

	assert(cookie <= EV_ID_MAX && endpoint < s->ends.n);
	eventq_push(&s->q, when, event_key(EV_TIMER, port, endpoint, cookie));
}

hd_time sim_now(const struct sim *s)
{
	return s->now;
}

hd_time sim_next(struct sim *s)
{
	const struct event *e = eventq_first(&s->q);

	return e && !domain_is_dry(s) ? e->when : NEVER;
}

void sim_set_rate(struct sim *s, uint32_t port, struct hd_rate rate)
{
	assert(!s->mode.cioq);
	s->links[port].rate = sim_rate_number(s, rate);
	s->mode.one_rate = s->rate.n <= 1;
}

/* Progress of the stop rule that is furthest from its goal. */
void sim_progress(const struct sim *s, struct sim_progress *out)
{
	const struct sim_rules *r = &s->rules;
	uint64_t delivered = 0; /* since measuring began */
	double share = 1;
	bool counts = false;

	*out = (struct sim_progress){
		.now = s->now,
		.warm = s->now >= s->from,
		.from = s->from,
	};
	for (uint32_t i = 0; i < sim_n_parts(s); i++) {
		const struct sim *part = sim_part(s, i);

		out->delivered += part->outcome.delivered_all;
		out->hops += part->outcome.hops;
		delivered += part->outcome.metrics->delivered;
	}
	if (r->packets) {
		counts = true;
		share = (double)delivered / (double)r->packets;
	}
	if (r->packets_per_flow || r->packets_per_sl || r->precision > 0) {
		/* Estimated from the mean: a pass over all flows would cost too much. */
		double want = (double)r->packets_per_flow * s->n_flows;
		double done = want > 0 ? (double)delivered / want : 0;

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

/* ---- deadlocks (M3) ------------------------------------------------------ */

hd_time deadlock_interval(const struct sim *s)
{
	return STUCK_EVERY * s->outcome.margin;
}

void deadlock_expect(struct sim *s)
{
	eventq_push(&s->q, s->now + deadlock_interval(s), event_key(EV_STUCK, 0, 0, 0));
	s->background++;
}

void deadlock_look(struct sim *s)
{
	uint64_t alive = sim_alive(s), hops = 0;

	s->background--;
	for (uint32_t i = 0; i < sim_n_parts(s); i++)
		hops += sim_part(s, i)->outcome.hops;
	bool moved = hops != s->outcome.hops_checked;

	s->outcome.hops_checked = hops;
	if (s->run.to_the_end || (alive == 0 && sim_pending(s) == 0))
		return;
	s->run.is_stuck = !moved && alive > 0 && (sim_events(s) == 0 || deadlock_exists(s));
	if (s->run.is_stuck)
		s->outcome.events_checked = 0; /* check after this instant */
	else
		deadlock_expect(s);
}

/* ---- running ----------------------------------------------------------- */

/* No more events up to `end`. */
static enum sim_state run_out(struct sim *s, hd_time end)
{
	if (eventq_count(&s->q) <= s->background && s->pool.alive == 0) {
		s->now = s->outcome.latest;
		return SIM_IDLE;
	}
	if (eventq_count(&s->q) == 0)
		return SIM_DEADLOCK;
	s->now = end;
	return end == s->horizon ? SIM_ENDED : SIM_PAUSED;
}

static enum sim_state run_whole(struct sim *s, hd_time until, sim_progress_fn *progress,
				void *context)
{
	while (sim_run_instants(s, s->run.pause_at < until ? s->run.pause_at : until)) {
		struct sim_progress p;

		s->outcome.events_checked = s->outcome.events + LOOK_EVERY;
		if (s->run.full)
			return SIM_FULL;
		if (s->run.is_stuck)
			return SIM_DEADLOCK;
		sim_progress(s, &p);
		bool is_to_pause = s->run.is_to_pause;

		s->run.is_to_pause = false;
		if ((progress && !progress(context, &p)) || is_to_pause)
			return SIM_PAUSED;
		/* The engine stops for this check first, and then for being idle. */
		if (s->hop_variant == HOP_GENERAL && !s->run.to_the_end && domain_is_dry(s))
			break;
	}
	until = s->run.pause_at < until ? s->run.pause_at : until;
	return run_out(s, until < s->horizon ? until : s->horizon);
}

enum sim_state sim_run(struct sim *s, hd_time until, sim_progress_fn *progress, void *context)
{
	if (!s->run.has_begun)
		domains_begin(s);
	enum sim_state state = s->parts ? domains_run(s, until, progress, context)
					: run_whole(s, until, progress, context);

	s->run.has_paused = state == SIM_PAUSED && s->now == s->run.pause_at;
	if (s->now >= s->run.pause_at)
		s->run.pause_at = NEVER;
	if (!s->parts)
		metrics_end(s, state);
	observers_notify_until(s, s->now);
	s->outcome.latest_moved = s->outcome.latest;
	if (state == SIM_ENDED || (state == SIM_PAUSED && s->now == until))
		s->outcome.latest = s->now > s->outcome.latest ? s->now : s->outcome.latest;
	return state;
}

void sim_pause(struct sim *s)
{
	assert(!s->parts);
	s->run.is_to_pause = true;
	s->outcome.events_checked = 0;
}

void sim_pause_after(struct sim *s, hd_time when)
{
	hd_time none = NEVER;

	/* Other domains may process events of this window before that. */
	if (s->parts)
		when += s->parts->lookahead;
	else
		s->outcome.events_checked = 0;
	__atomic_compare_exchange_n(&s->run.pause_at, &none, when, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

bool sim_has_paused(const struct sim *s)
{
	return s->run.has_paused;
}

void sim_forget_pause(struct sim *s)
{
	s->outcome.latest = s->outcome.latest_moved;
}
