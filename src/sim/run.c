/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "sim/saved.h"
#include "sim/tell.h"

#define LOOK_EVERY     65536 /* events between looks at progress */
#define STUCK_EVERY    256   /* M3: margins between looks for a deadlock */
#define MOST_ENDPOINTS 15    /* their number is part of an event's key */

struct sim *sim_new(const struct sim_setup *setup, const struct sim_flow *flows,
		    uint32_t n_flows, const struct sim_rules *rules)
{
	memory_for("queues and counters of the simulated fabric");
	return state_new(setup, flows, n_flows, rules);
}

void sim_observe(struct sim *s, const struct sim_observer *o)
{
	s->tell.observers =
		hd_realloc(s->tell.observers, (size_t)s->tell.n_observers + 1,
			   sizeof(*s->tell.observers));
	s->tell.observers[s->tell.n_observers++] = *o;
	s->tell.delivered |= o->delivered != NULL;
	s->tell.ended |= o->ended != NULL;
	s->tell.ends = s->tell.ended || s->tell.delivered;
	s->tell.granted |= o->granted != NULL;
	s->tell.updated |= o->updated != NULL;
	if (o->granted)
		s->way = WAY_GENERAL;
	for (uint32_t i = 0;
	     o->granted && s->run.has_rows && i < s->setup->n_ports; i++)
		s->links[i].flags |= L_CARE;
}

uint32_t sim_attach(struct sim *s, const struct sim_endpoint *e)
{
	assert(s->ends.n < MOST_ENDPOINTS);
	s->ends.all = hd_realloc(s->ends.all, (size_t)s->ends.n + 1,
				 sizeof(*s->ends.all));
	s->ends.all[s->ends.n++] = *e;
	s->tells_passing |= e->passes != NULL;
	if (e->made) {
		assert(!s->ends.poster);
		s->ends.poster = s->ends.n;
	}
	senders_init(s);
	return s->ends.n - 1;
}

const struct sim_endpoint *sim_attached(const struct sim *s, uint32_t number)
{
	assert(number < s->ends.n);
	return &s->ends.all[number];
}

const char *sim_sender_name(const struct sim *s, const struct sim_packet *p)
{
	return p->endpoint && p->endpoint <= s->ends.n
		       ? s->ends.all[p->endpoint - 1].name
		       : NULL;
}

void sim_timer(struct sim *s, uint32_t endpoint, uint32_t node, hd_time when,
	       uint32_t cookie)
{
	uint32_t port = s->nodes[node].first_port + 1;

	assert(cookie <= EV_ID_MAX && endpoint < s->ends.n);
	eventq_push(&s->q, when, event_key(EV_TIMER, port, endpoint, cookie));
}

hd_time sim_now(const struct sim *s)
{
	return s->now;
}

/* How far the rule that is furthest behind has come. */
void sim_progress(const struct sim *s, struct sim_progress *out)
{
	const struct sim_rules *r = &s->rules;
	uint64_t delivered = 0; /* while measuring */
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
		/* Not worth a pass over all flows: a mean stands for them. */
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

void stuck_expect(struct sim *s)
{
	eventq_push(&s->q, s->now + STUCK_EVERY * s->outcome.margin,
		    event_key(EV_STUCK, 0, 0, 0));
	s->background++;
}

void stuck_look(struct sim *s)
{
	uint64_t alive = sim_alive(s), hops = 0;

	s->background--;
	for (uint32_t i = 0; i < sim_n_parts(s); i++)
		hops += sim_part(s, i)->outcome.hops;
	bool moved = hops != s->outcome.hops_checked;

	s->outcome.hops_checked = hops;
	if (s->run.to_the_end || (alive == 0 && sim_pending(s) == 0))
		return;
	s->run.is_stuck = !moved && alive > 0 &&
			  (sim_events(s) == 0 || deadlock_exists(s));
	if (s->run.is_stuck)
		s->outcome.events_checked = 0; /* after this instant */
	else
		stuck_expect(s);
}

/* ---- running ----------------------------------------------------------- */

/* Nothing happens any more until `end`. */
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

static enum sim_state run_whole(struct sim *s, hd_time until,
				sim_progress_fn *progress, void *context)
{
	while (engine_run(s, until)) {
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
	}
	return run_out(s, until < s->horizon ? until : s->horizon);
}

enum sim_state sim_run(struct sim *s, hd_time until, sim_progress_fn *progress,
		       void *context)
{
	if (!s->run.has_begun)
		parts_begin(s);
	enum sim_state state = s->parts
				       ? parts_run(s, until, progress, context)
				       : run_whole(s, until, progress, context);

	if (!s->parts)
		metrics_end(s, state);
	tell_until(s, s->now);
	s->outcome.latest_moved = s->outcome.latest;
	if (state == SIM_ENDED || (state == SIM_PAUSED && s->now == until))
		s->outcome.latest =
			s->now > s->outcome.latest ? s->now : s->outcome.latest;
	return state;
}

void sim_pause(struct sim *s)
{
	assert(!s->parts);
	s->run.is_to_pause = true;
	s->outcome.events_checked = 0;
}

void sim_forget_pause(struct sim *s)
{
	s->outcome.latest = s->outcome.latest_moved;
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

static void arrivals_give(struct sim *s, const struct sim_arrival *arrivals,
			  size_t n)
{
	s->make.arrivals = arrivals;
	s->make.n_arrivals = n;
	if (n > 0)
		eventq_push(&s->q, arrivals[0].time,
			    event_key(EV_ARRIVAL, 0, 0, 0));
}

/* Each part has its own; returns all of them, for the caller to free. */
static struct sim_arrival *
arrivals_share(struct sim *s, const struct sim_arrival *arrivals, size_t n)
{
	struct sim_arrival *all = hd_alloc(n, sizeof(*all)), *mine = all;

	for (uint32_t i = 0; i < s->parts->cut.n; i++) {
		size_t n_mine = 0;

		for (size_t k = 0; k < n; k++) {
			if (s->parts->cut.part_of_node[arrivals[k].source] == i)
				mine[n_mine++] = arrivals[k];
		}
		arrivals_give(s->parts->part[i], mine, n_mine);
		mine += n_mine;
	}
	return all;
}

static struct sim *replay_new(const struct sim_setup *setup,
			      const struct sim_arrival *arrivals, size_t n,
			      struct sim_record *out)
{
	struct sim_observer observer = { .context = out, .ended = record_end };
	struct sim_rules rules;

	sim_rules_init(&rules);
	rules.injects = true;
	for (size_t i = 0; i < n; i++) {
		if (arrivals[i].bytes > rules.injects_bytes)
			rules.injects_bytes = arrivals[i].bytes;
		rules.injects_management |= arrivals[i].management;
	}
	struct sim *s = sim_new(setup, NULL, 0, &rules);

	sim_observe(s, &observer);
	s->run.to_the_end = true;
	s->run.has_begun = true;
	s->make.arrivals = arrivals;
	s->make.n_arrivals = n;
	senders_init(s);
	return s;
}

struct replay {
	struct sim *s;
	struct sim_arrival *shares; /* of parts; NULL: it is not cut */
};

/* In as many parts as asked for, if it can be cut. */
static struct replay replay_begin(const struct sim_replay *what,
				  struct sim_replay_cut cut,
				  struct sim_record *out)
{
	struct sim *s =
		replay_new(what->setup, what->arrivals, what->n_arrivals, out);
	struct replay r = { .s = s };
	uint16_t *parts = hd_alloc(what->setup->n_nodes, sizeof(*parts));
	uint32_t n = 1;

	s->horizon = what->horizon;
	s->rules.cut_seed = cut.seed;
	if (cut.parts > 1)
		n = partition(s, cut.parts, parts);
	if (n < 2 || partition_lookahead(s, parts) == 0) {
		arrivals_give(s, what->arrivals, what->n_arrivals);
		s->outcome.events_checked = UINT64_MAX;
	} else {
		parts_make(s, parts, n, 1 + n % 2);
		r.shares = arrivals_share(s, what->arrivals, what->n_arrivals);
	}
	free(parts);
	return r;
}

static void replay_run(struct replay *r, hd_time until)
{
	if (r->s->parts)
		parts_run(r->s, until, NULL, NULL);
	else
		engine_run(r->s, until);
	r->s->now = until;
	tell_until(r->s, until);
}

static void replay_end(struct replay *r)
{
	sim_free(r->s);
	free(r->shares);
}

static void replay_record(const struct sim *s, struct sim_record *out)
{
	uint32_t n = s->setup->n_ports;

	out->counters = hd_alloc(n, sizeof(*out->counters));
	for (uint32_t i = 0; i < n; i++)
		port_counters(s, i, &out->counters[i]);
}

uint32_t sim_replay_parts(const struct sim_setup *setup,
			  const struct sim_arrival *arrivals, size_t n_arrivals,
			  hd_time horizon, struct sim_replay_cut cut,
			  struct sim_record *out)
{
	const struct sim_replay what = { setup, arrivals, n_arrivals, horizon };

	*out = (struct sim_record){ 0 };
	struct replay r = replay_begin(&what, cut, out);
	uint32_t n = sim_n_parts(r.s);

	replay_run(&r, horizon);
	replay_record(r.s, out);
	replay_end(&r);
	return n;
}

void sim_replay(const struct sim_setup *setup,
		const struct sim_arrival *arrivals, size_t n_arrivals,
		hd_time horizon, struct sim_record *out)
{
	const struct sim_replay_cut whole = { .parts = 1 };

	sim_replay_parts(setup, arrivals, n_arrivals, horizon, whole, out);
}

/* A fresh one that has this state. */
static struct replay replay_load(const struct sim_replay *what,
				 struct sim_replay_cut cut,
				 const struct strbuf *state,
				 struct sim_record *out)
{
	struct replay r = replay_begin(what, cut, out);

	if (!saved_read(r.s, state->text, state->len)) {
		replay_end(&r);
		r.s = NULL;
	}
	return r;
}

bool sim_replay_restart(const struct sim_replay *what,
			const struct sim_restart *how, struct sim_record *out)
{
	struct strbuf state = STRBUF_INIT, again = STRBUF_INIT;

	*out = (struct sim_record){ 0 };
	struct replay r = replay_begin(what, how->before, out);

	replay_run(&r, how->at);
	sim_save(r.s, &state);
	replay_end(&r);
	r = replay_load(what, how->after, &state, out);
	bool same = r.s != NULL;

	if (r.s) {
		sim_save(r.s, &again);
		same = again.len == state.len &&
		       memcmp(again.text, state.text, state.len) == 0;
		replay_run(&r, what->horizon);
		replay_record(r.s, out);
		replay_end(&r);
	}
	strbuf_fini(&state);
	strbuf_fini(&again);
	return same;
}
