/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/congestion/run.h"

/* ---- throttles --------------------------------------------------------- */

void cc_sources_account(struct run *r, struct throttle *t, hd_time now)
{
	if (r->warm)
		t->rate_integral += t->state.rate *
				    (double)(now - t->rate_since) /
				    (double)HD_S;
	t->rate_since = now;
}

/* After a change: its extremes, and the timer that it wants. */
static void changed(struct run *r, uint32_t number, hd_time due)
{
	struct throttle *t = &r->throttles[number];

	if (t->state.rate < t->lowest)
		t->lowest = t->state.rate;
	if (t->state.rate > t->highest)
		t->highest = t->state.rate;
	if (t->state.due != due && t->state.due != HD_TIME_NEVER)
		sim_timer(r->sim, t->state.due,
			  cookie_of(TIMER_RESPONSE, number));
}

/* When the current rate allows the next packet. */
static hd_time next_start(const struct run *r, const struct throttle *t,
			  hd_time now)
{
	if (!t->sent_any)
		return now;
	if (r->params->fixed_gap)
		return t->next;
	if (!t->algorithm)
		return t->last + t->gap;
	return t->last + cc_gap(t->algorithm, &t->config, &t->state, t->gap);
}

/* One timer per throttle: a second would call for a third, and so on. */
static void arm(struct run *r, uint32_t number, hd_time when)
{
	struct throttle *t = &r->throttles[number];

	if (t->armed <= when)
		return;
	t->armed = when;
	sim_timer(r->sim, when, cookie_of(TIMER_PACE, number));
}

/* ---- sending ----------------------------------------------------------- */

/* Whether this is the last packet; one is sent for it even past the stop. */
static bool is_last(const struct run *r, uint32_t flow, hd_time now)
{
	const struct congestion_flow *f = &r->flows[flow];

	return (f->stop && now >= f->stop) ||
	       (f->count && r->sources[flow].sent + 1 >= f->count);
}

static bool is_over(const struct run *r, uint32_t flow, hd_time now)
{
	const struct congestion_flow *f = &r->flows[flow];
	const struct source *s = &r->sources[flow];

	if (f->reserve)
		return s->answer != ANSWER_ADMITTED || s->last_sent;
	return (f->stop && now >= f->stop) || (f->count && s->sent >= f->count);
}

/* The flow whose turn it is, or SIM_NONE; then *later may be a first start. */
static uint32_t next_ready(const struct run *r, const struct throttle *t,
			   hd_time now, hd_time *later)
{
	uint32_t flow = t->turn;

	*later = HD_TIME_NEVER;
	for (uint32_t i = 0; i < t->size; i++, flow = r->sources[flow].next) {
		hd_time start = r->flows[flow].start;

		if (is_over(r, flow, now) ||
		    r->sources[flow].out >= r->params->window)
			continue; /* the acknowledgement will ask again */
		if (start <= now)
			return flow;
		if (start < *later)
			*later = start;
	}
	return SIM_NONE;
}

/* One packet of the flow, and the turn goes on. */
static void send(struct run *r, struct throttle *t, uint32_t flow, hd_time now)
{
	const struct congestion_flow *f = &r->flows[flow];
	struct source *s = &r->sources[flow];
	uint32_t port = r->setup->nodes[f->source].first_port + 1;
	struct traveller packet = { .flow = flow,
				    .kind = TRAVEL_DATA,
				    .psn = (uint32_t)s->sent & 0xffffff };

	if (f->reserve)
		packet.last = s->last_sent = is_last(r, flow, now);
	s->out++;
	s->sent++;
	t->last = now;
	t->gap = hd_rate_duration(r->setup->ports[port].rate, f->bytes);
	t->next = now + (t->algorithm ? cc_gap(t->algorithm, &t->config,
					       &t->state, t->gap)
				      : t->gap);
	t->sent_any = true;
	t->turn = s->next;
	cc_run_inject(r, &packet, now);
}

static void try_send(struct run *r, uint32_t number, hd_time now)
{
	struct throttle *t = &r->throttles[number];
	hd_time later;

	for (;;) {
		uint32_t flow = next_ready(r, t, now, &later);
		hd_time next = next_start(r, t, now);

		if (flow == SIM_NONE && later == HD_TIME_NEVER)
			return;
		if (flow == SIM_NONE && next < later)
			next = later;
		if (next > now) {
			arm(r, number, next);
			return;
		}
		send(r, t, flow, now);
	}
}

void cc_sources_pace(struct run *r, uint32_t number, hd_time now)
{
	if (r->throttles[number].armed != now)
		return;
	r->throttles[number].armed = HD_TIME_NEVER;
	try_send(r, number, now);
}

/* ---- what comes back --------------------------------------------------- */

static void answer(struct run *r, uint32_t flow, bool marked, hd_time now)
{
	struct source *s = &r->sources[flow];
	struct throttle *t = &r->throttles[s->throttle];
	hd_time due = t->state.due;

	if (!t->algorithm)
		return;
	cc_sources_account(r, t, now);
	if (marked && r->warm)
		s->marked_time += 1 / t->state.rate;
	cc_on_ack(t->algorithm, &t->config, &t->state, marked, now);
	changed(r, s->throttle, due);
}

void cc_sources_acknowledge(struct run *r, uint32_t flow, bool marked,
			    hd_time now)
{
	struct source *s = &r->sources[flow];

	assert(s->out > 0);
	s->out--;
	s->marks += marked;
	answer(r, flow, marked, now);
	try_send(r, s->throttle, now);
}

void cc_sources_notify(struct run *r, uint32_t flow, hd_time now)
{
	r->sources[flow].marks++;
	answer(r, flow, true, now);
}

void cc_sources_respond(struct run *r, uint32_t number, hd_time now)
{
	struct throttle *t = &r->throttles[number];

	if (t->state.due != now)
		return;
	cc_sources_account(r, t, now);
	cc_on_timer(t->algorithm, &t->config, &t->state, now);
	changed(r, number, now);
	try_send(r, number, now);
}

/* ---- beginning and end ------------------------------------------------- */

static const struct cc_algorithm *algorithm_of(const struct run *r,
					       uint32_t flow)
{
	const struct cc_algorithm *own = r->flows[flow].algorithm;

	return r->params->algorithm && own ? own : r->params->algorithm;
}

static void new_throttle(struct run *r, uint32_t flow)
{
	const struct congestion_flow *f = &r->flows[flow];
	uint32_t number = r->n_throttles++;
	struct throttle *t = &r->throttles[number];

	t->algorithm = algorithm_of(r, flow);
	t->config = r->params->response;
	t->armed = HD_TIME_NEVER;
	t->turn = flow;
	t->size = 1;
	if (f->rmin > 0)
		t->config.rmin = f->rmin;
	if (f->rmax > 0)
		t->config.rmax = f->rmax;
	if (t->algorithm)
		cc_init(t->algorithm, &t->config, &t->state);
	else
		t->state = (struct cc_state){ .rate = t->config.rmax,
					      .due = HD_TIME_NEVER };
	t->lowest = t->highest = t->state.rate;
	r->sources[flow].throttle = number;
	r->sources[flow].next = flow;
}

/* An earlier flow of the same port and SL, or SIM_NONE. */
static uint32_t same_port_and_sl(const struct run *r, uint32_t flow)
{
	for (uint32_t i = 0; i < flow && r->params->per_sl; i++) {
		if (r->flows[i].source == r->flows[flow].source &&
		    r->flows[i].sl == r->flows[flow].sl)
			return i;
	}
	return SIM_NONE;
}

static void join_throttle(struct run *r, uint32_t flow, uint32_t other)
{
	struct source *s = &r->sources[flow], *o = &r->sources[other];

	s->throttle = o->throttle;
	s->next = o->next;
	o->next = flow;
	r->throttles[s->throttle].size++;
}

void cc_sources_init(struct run *r)
{
	r->sources = hd_alloc(r->n_flows, sizeof(*r->sources));
	r->throttles = hd_alloc(r->n_flows, sizeof(*r->throttles));
	for (uint32_t f = 0; f < r->n_flows; f++) {
		uint32_t other = same_port_and_sl(r, f);

		if (other == SIM_NONE)
			new_throttle(r, f);
		else
			join_throttle(r, f, other);
	}
}

void cc_sources_begin(struct run *r)
{
	for (uint32_t f = 0; f < r->n_flows; f++) {
		if (r->flows[f].reserve)
			sim_timer(r->sim, r->flows[f].start,
				  cookie_of(TIMER_ASK, f));
		else
			arm(r, r->sources[f].throttle, r->flows[f].start);
	}
}

void cc_sources_admit(struct run *r, uint32_t flow, hd_time now)
{
	try_send(r, r->sources[flow].throttle, now);
}

void cc_sources_begin_measuring(struct run *r)
{
	for (uint32_t f = 0; f < r->n_flows; f++) {
		r->sources[f].delivered_before = r->sources[f].delivered;
		r->sources[f].marks_before = r->sources[f].marks;
	}
	for (uint32_t i = 0; i < r->n_throttles; i++)
		r->throttles[i].rate_since = r->params->warmup;
}

void cc_sources_fini(struct run *r)
{
	free(r->sources);
	free(r->throttles);
}
