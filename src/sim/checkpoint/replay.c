/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs with given arrivals and records all results, for comparison with the oracle and with times
 * calculated by hand.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/engine.h"
#include "sim/domains/domains.h"
#include "sim/injection/injection.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"

static void record_end(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct sim_record *r = context;

	(void)p;
	r->events = hd_grow(r->events, &r->events_cap, r->n_events + 1, sizeof(*r->events));
	r->events[r->n_events++] = *e;
}

void sim_record_fini(struct sim_record *record)
{
	free(record->events);
	free(record->counters);
}

static void arrivals_give(struct sim *s, const struct sim_arrival *arrivals, size_t n)
{
	s->make.arrivals = arrivals;
	s->make.n_arrivals = n;
	if (n > 0)
		eventq_push(&s->q, arrivals[0].time, event_key(EV_ARRIVAL, 0, 0, 0));
}

/* Distributes arrivals to domains; the caller frees the returned array. */
static struct sim_arrival *arrivals_share(struct sim *s, const struct sim_arrival *arrivals,
					  size_t n)
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

static struct sim *replay_new(const struct sim_setup *setup, const struct sim_arrival *arrivals,
			      size_t n, struct sim_record *out)
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
	injection_init(s);
	return s;
}

struct replay {
	struct sim *s;
	struct sim_arrival *shares; /* per domain; NULL: one domain */
};

/* Uses the requested number of domains if the setup can be partitioned. */
static struct replay replay_begin(const struct sim_replay *what, struct sim_replay_cut cut,
				  struct sim_record *out)
{
	struct sim *s = replay_new(what->setup, what->arrivals, what->n_arrivals, out);
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
		domains_make(s, parts, n, 1 + n % 2);
		r.shares = arrivals_share(s, what->arrivals, what->n_arrivals);
	}
	free(parts);
	return r;
}

static void replay_run(struct replay *r, hd_time until)
{
	if (r->s->parts)
		domains_run(r->s, until, NULL, NULL);
	else
		sim_run_instants(r->s, until);
	r->s->now = until;
	observers_notify_until(r->s, until);
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
		metrics_port_counters(s, i, &out->counters[i]);
}

uint32_t sim_replay_parts(const struct sim_setup *setup, const struct sim_arrival *arrivals,
			  size_t n_arrivals, hd_time horizon, struct sim_replay_cut cut,
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

void sim_replay(const struct sim_setup *setup, const struct sim_arrival *arrivals,
		size_t n_arrivals, hd_time horizon, struct sim_record *out)
{
	const struct sim_replay_cut whole = { .parts = 1 };

	sim_replay_parts(setup, arrivals, n_arrivals, horizon, whole, out);
}

/* Creates a simulation and loads this state. */
static struct replay replay_load(const struct sim_replay *what, struct sim_replay_cut cut,
				 const struct strbuf *state, struct sim_record *out)
{
	struct replay r = replay_begin(what, cut, out);

	if (!checkpoint_state_read(r.s, state->text, state->len)) {
		replay_end(&r);
		r.s = NULL;
	}
	return r;
}

bool sim_replay_restart(const struct sim_replay *what, const struct sim_restart *how,
			struct sim_record *out)
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
		same = again.len == state.len && memcmp(again.text, state.text, state.len) == 0;
		replay_run(&r, what->horizon);
		replay_record(r.s, out);
		replay_end(&r);
	}
	strbuf_fini(&state);
	strbuf_fini(&again);
	return same;
}
