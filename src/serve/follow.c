/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/follow.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/page.h"
#include "serve/follow_parts.h"
#include "serve/prometheus.h"

#define SLICE   0.1  /* seconds of computing between requests */
#define TICK    0.02 /* seconds that a paced run waits for its time */
#define WATCHED 60   /* default duration of a run in seconds */

/*
 * A change or restart in progress. A thread builds a run of the fields `next` and advances it to
 * the current time of the old run, which waits and can be observed meanwhile.
 */
struct follow_change {
	struct follow *of;
	struct ask *ask;
	struct overrides next;
	struct strbuf words; /* description; "": a restart */
	hd_time at, now;     /* time of the change, and current time of the old run */
	struct run *run;
	struct diag d;
	pthread_t thread;
	bool is_done, is_given_up; /* shared by the threads */
};

/* ---- making a run -------------------------------------------------------- */

/*
 * Progress callback: continues until a request arrives or the time slice is over. The run of a
 * change continues to its end, in a thread of its own.
 */
static bool look_up(void *context, const struct sim_progress *p)
{
	const struct follow *s = context;

	(void)p;
	if (s->change)
		return !__atomic_load_n(&s->change->is_given_up, __ATOMIC_RELAXED);
	return !asks_wait(s->asks) && clock_seconds() < s->slice_ends;
}

/* Makes a run of the scenario with these fields. */
static enum hd_status make(struct follow *s, const struct overrides *o, struct diag *d,
			   struct run **out)
{
	const struct run_options options = { .sampled = true, .progress = look_up, .context = s };
	struct fabric *fabric;
	enum hd_status status = fabric_load(s->text.text, s->text.len, s->file, o, d, &fabric);

	if (status != HD_OK)
		return status;
	status = scenario_needs_traffic(fabric->scenario, d);
	if (status != HD_OK) {
		fabric_free(fabric);
		return status;
	}
	return run_open(fabric, &options, d, out);
}

static void take_over(struct follow *s, struct run *next)
{
	if (s->run)
		run_close(s->run);
	s->run = next;
	s->version++;
	const struct fabric *fabric = run_fabric(next);
	size_t n = fabric->setup.n_ports;

	free(s->links);
	free(s->down);
	s->links = hd_alloc(n + 1, sizeof(*s->links));
	s->down = hd_alloc(n + 1, sizeof(*s->down));
	s->looked_at = 0;
	s->looked_warm = false;
}

enum hd_status follow_new(const char *path, const struct overrides *overrides,
			  const struct follow_options *o, struct diag *d, struct follow **out)
{
	struct follow *s = hd_alloc(1, sizeof(*s));
	struct run *run = NULL;

	s->text = (struct strbuf)STRBUF_INIT;
	s->later_last = &s->later;
	s->file = path;
	s->is_paused = o->paused;
	overrides_copy(overrides, &s->overrides);
	enum hd_status status = file_read(path, SCENARIO_LIMIT, d, &s->text);

	if (status == HD_OK)
		status = make(s, &s->overrides, d, &run);
	if (status != HD_OK) {
		follow_free(s);
		return status;
	}
	take_over(s, run);
	hd_time whole = run_fabric(run)->rules.stop;

	s->speed = o->speed != HD_TIME_NEVER         ? o->speed
		   : whole && whole != HD_TIME_NEVER ? whole / WATCHED + 1
						     : 0;
	*out = s;
	return HD_OK;
}

void follow_free(struct follow *s)
{
	if (s->run)
		run_close(s->run);
	for (size_t i = 0; i < s->n_notes; i++)
		free(s->notes[i].words);
	free(s->notes);
	free(s->links);
	free(s->down);
	overrides_fini(&s->overrides);
	strbuf_fini(&s->text);
	free(s);
}

const struct run *follow_simulation(const struct follow *s)
{
	return s->run;
}

/* True if the simulated time is over; work on jobs may remain. */
static bool has_ended(const struct follow *s)
{
	return run_state(s->run) != SIM_PAUSED;
}

/* ---- changes ------------------------------------------------------------- */

static void *compute_change(void *context)
{
	struct follow_change *c = context;
	struct run *run = NULL;
	enum hd_status status = make(c->of, &c->next, &c->d, &run);

	if (status == HD_OK && c->now)
		status = run_advance(run, c->now, &c->d);
	if (status == HD_OK && run_is_stopped(run))
		status = diag_fail(&c->d, HD_ERR_ENV, "the server is shutting down");
	if (status == HD_OK)
		c->run = run;
	else if (run)
		run_close(run);
	__atomic_store_n(&c->is_done, true, __ATOMIC_RELEASE);
	asks_wake(c->of->asks);
	return NULL;
}

static void note(struct follow *s, hd_time at, struct strbuf *words)
{
	s->notes = hd_grow(s->notes, &s->notes_cap, s->n_notes + 1, sizeof(*s->notes));
	s->notes[s->n_notes++] = (struct follow_note){ at, strbuf_detach(words) };
}

static void change_free(struct follow_change *c)
{
	overrides_fini(&c->next);
	strbuf_fini(&c->words);
	free(c);
}

/* The thread has ended: the new run replaces the old one, or the request is refused. */
static void change_end(struct follow *s)
{
	struct follow_change *c = s->change;
	bool is_change = c->words.len > 0;

	pthread_join(c->thread, NULL);
	s->change = NULL;
	if (c->run) {
		struct overrides old = s->overrides;

		take_over(s, c->run);
		s->overrides = c->next;
		c->next = old;
		if (is_change)
			note(s, c->at, &c->words);
	} else {
		/* The request is well-formed; the scenario refuses the change. */
		if (is_change && c->d.status != HD_ERR_ENV)
			c->d.status = HD_ERR_RANGE;
		serve_reply_refuse(&c->ask->reply, &c->d);
	}
	asks_answer(c->ask);
	change_free(c);
}

/* Prepares the fields of the change; on failure `d` has the reason. */
static enum hd_status change_prepare(struct follow *s, struct follow_change *c, struct diag *d)
{
	const struct http_request *r = &c->ask->request;

	overrides_copy(&s->overrides, &c->next);
	if (r->kind == REQUEST_RESTART)
		return HD_OK;
	if (has_ended(s))
		return diag_fail(d, HD_ERR_UNFIT,
				 "the run has ended; restart it before changing it");
	c->now = sim_now(run_sim(s->run));
	/* Events at `now` have been processed: the change applies from the next nanosecond on. */
	c->at = (c->now / HD_NS + 1) * HD_NS;
	return change_put(&r->change, run_fabric(s->run), c->at, &c->next, &c->words, d);
}

static void change_begin(struct follow *s, struct ask *a)
{
	struct follow_change *c = hd_alloc(1, sizeof(*c));
	struct diag d = { .status = HD_OK };

	c->of = s;
	c->ask = a;
	c->words = (struct strbuf)STRBUF_INIT;
	s->pace_from = 0;
	if (a->request.kind == REQUEST_RESTART)
		s->step_to = 0;
	enum hd_status status = change_prepare(s, c, &d);

	s->change = status == HD_OK ? c : NULL;
	if (status == HD_OK && pthread_create(&c->thread, NULL, compute_change, c) != 0) {
		s->change = NULL;
		status = diag_fail(&d, HD_ERR_ENV, "cannot create a thread");
	}
	if (status == HD_OK)
		return;
	serve_reply_refuse(&a->reply, &d);
	asks_answer(a);
	change_free(c);
}

/* Queues a change; changes are made in the order of their arrival. */
static void change_later(struct follow *s, struct ask *a)
{
	a->next = NULL;
	*s->later_last = a;
	s->later_last = &a->next;
}

static void changes_go_on(struct follow *s)
{
	if (s->change && __atomic_load_n(&s->change->is_done, __ATOMIC_ACQUIRE))
		change_end(s);
	while (!s->change && s->later) {
		struct ask *a = s->later;

		s->later = a->next;
		if (!s->later)
			s->later_last = &s->later;
		change_begin(s, a);
	}
}

/* ---- answers ------------------------------------------------------------- */

void follow_scenario(const struct follow *s, struct strbuf *out)
{
	scenario_explain(run_fabric(s->run)->scenario, out);
}

static enum hd_status put_report(const struct follow *s, struct strbuf *out, struct diag *d)
{
	struct results *r = run_record(s->run);
	const struct page_run part = { .results = r };
	enum hd_status status = page_write(&part, 1, out, d);

	results_free(r);
	return status;
}

/* Content types; NULL: plain text. */
static const char *const types[] = {
	[REQUEST_FABRIC] = "application/json",
	[REQUEST_STATE] = "application/json",
	[REQUEST_METRICS] = "text/plain; version=0.0.4; charset=utf-8",
	[REQUEST_SCENARIO] = "text/plain; charset=utf-8",
	[REQUEST_REPORT] = "text/html; charset=utf-8",
	[REQUEST_CHANGE] = NULL,
};

static void steer(struct follow *s, const struct http_request *r)
{
	hd_time now = sim_now(run_sim(s->run));

	s->pace_from = 0;
	switch (r->kind) {
	case REQUEST_STEP:
		s->is_paused = true;
		s->step_to = r->time < HD_TIME_NEVER - now ? now + r->time : HD_TIME_NEVER;
		break;
	case REQUEST_SPEED:
		s->speed = r->time;
		break;
	default:
		s->is_paused = r->kind == REQUEST_PAUSE;
		s->step_to = 0;
	}
}

static void answer_now(struct follow *s, const struct http_request *r, struct reply *out)
{
	struct diag d = { .status = HD_OK };

	if (types[r->kind])
		out->type = types[r->kind];
	if (r->kind == REQUEST_FABRIC)
		follow_put_fabric(s, &out->body);
	else if (r->kind == REQUEST_STATE)
		follow_put_state(s, &out->body);
	else if (r->kind == REQUEST_METRICS)
		prometheus_print(s->run, follow_down(s), &out->body);
	else if (r->kind == REQUEST_SCENARIO)
		follow_scenario(s, &out->body);
	else if (r->kind != REQUEST_REPORT)
		steer(s, r);
	else if (put_report(s, &out->body, &d) != HD_OK)
		serve_reply_refuse(out, &d);
}

/* Changes are deferred to a thread; all other requests are answered at once. */
static void answer(struct follow *s, struct ask *a)
{
	if (a->request.kind == REQUEST_CHANGE || a->request.kind == REQUEST_RESTART) {
		change_later(s, a);
		changes_go_on(s);
		return;
	}
	answer_now(s, &a->request, &a->reply);
	asks_answer(a);
}

/* ---- running ------------------------------------------------------------- */

/* Time to compute to; `now` if there is nothing to compute. */
static hd_time goal_of(struct follow *s, hd_time now)
{
	if (run_is_over(s->run) || s->change)
		return now;
	if (s->step_to > now)
		return s->step_to;
	if (s->is_paused)
		return now;
	/* The durations of jobs alone are computed after the simulated time, without a pace. */
	if (!s->speed || has_ended(s))
		return HD_TIME_NEVER;
	if (s->pace_from == 0) {
		s->pace_from = clock_seconds();
		s->pace_now = now;
	}
	double due = (clock_seconds() - s->pace_from) * (double)s->speed;

	/*
	 * If the machine is slower than the pace, the pace restarts here; the run does not catch
	 * up.
	 */
	if (due > (double)(now - s->pace_now) + 2 * SLICE * (double)s->speed)
		s->pace_from = 0;
	return s->pace_now + (hd_time)due;
}

/* True if work becomes due by the passage of time. */
static bool is_paced(const struct follow *s)
{
	return !run_is_over(s->run) && !s->change && !s->is_paused;
}

static void compute(struct follow *s)
{
	hd_time now = sim_now(run_sim(s->run));
	hd_time until = goal_of(s, now);
	struct diag d = { .status = HD_OK };

	if (until <= now) {
		struct ask *a = asks_take(s->asks, is_paced(s) ? TICK : HUGE_VAL);

		if (a)
			answer(s, a);
		return;
	}
	s->slice_ends = clock_seconds() + SLICE;
	if (run_advance(s->run, until, &d) != HD_OK)
		memcpy(s->failure, d.message, sizeof(s->failure));
}

void follow_run(struct follow *s, struct asks *asks)
{
	s->asks = asks;
	while (!asks_are_closed(asks)) {
		for (struct ask *a = asks_take(asks, 0); a; a = asks_take(asks, 0))
			answer(s, a);
		changes_go_on(s);
		compute(s);
	}
	/* A pending change request gets an answer. */
	if (s->change) {
		__atomic_store_n(&s->change->is_given_up, true, __ATOMIC_RELAXED);
		change_end(s);
	}
	for (struct ask *a = s->later; a; a = s->later) {
		s->later = a->next;
		asks_put(asks, a);
	}
	s->later_last = &s->later;
}
