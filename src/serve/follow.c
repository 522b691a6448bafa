/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/follow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/page.h"
#include "serve/follow_parts.h"
#include "serve/prometheus.h"

#define SLICE   0.1 /* seconds that it may compute before it looks up */
#define A_WHILE 120 /* seconds that somebody waits for an answer */
#define WATCHED 60  /* seconds that a run takes if nobody says otherwise */

/* One who waits for an answer. */
struct ask {
	const struct request *request;
	struct reply *reply;
	bool is_taken, is_done;
	struct ask *next;
};

/* ---- making a run -------------------------------------------------------- */

/* Runs on while nobody asks and the slice is not over. */
static bool look_up(void *context, const struct sim_progress *p)
{
	const struct follow *s = context;

	(void)p;
	return s->is_replaying ||
	       (!__atomic_load_n(&s->attention, __ATOMIC_RELAXED) &&
		clock_seconds() < s->slice_ends);
}

/* A run of the scenario with these fields, at its beginning. */
static enum hd_status make(struct follow *s, const struct overrides *o,
			   struct diag *d, struct simulation **out)
{
	const struct simulation_options options = { .sampled = true,
						    .progress = look_up,
						    .context = s };
	struct fabric *f;
	enum hd_status status =
		fabric_load(s->text.text, s->text.len, s->file, o, d, &f);

	if (status != HD_OK)
		return status;
	status = scenario_needs_traffic(f->scenario, d);
	if (status != HD_OK) {
		fabric_free(f);
		return status;
	}
	return simulation_new(f, &options, d, out);
}

static void take_over(struct follow *s, struct simulation *next)
{
	if (s->run)
		simulation_free(s->run);
	s->run = next;
	s->version++;
	const struct fabric *f = simulation_fabric(next);
	size_t n = f->setup.n_ports;

	free(s->links);
	free(s->down);
	s->links = hd_alloc(n + 1, sizeof(*s->links));
	s->down = hd_alloc(n + 1, sizeof(*s->down));
	s->looked_at = 0;
}

enum hd_status follow_new(const char *path, const struct overrides *overrides,
			  const struct follow_options *o, struct diag *d,
			  struct follow **out)
{
	struct follow *s = hd_alloc(1, sizeof(*s));
	struct simulation *run = NULL;

	s->text = (struct strbuf)STRBUF_INIT;
	s->state = (struct strbuf)STRBUF_INIT;
	s->file = path;
	s->is_paused = o->paused;
	overrides_copy(overrides, &s->overrides);
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->asked, &monotonic);
	pthread_cond_init(&s->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
	enum hd_status status = file_read(path, SCENARIO_LIMIT, d, &s->text);

	if (status == HD_OK)
		status = make(s, &s->overrides, d, &run);
	if (status != HD_OK) {
		follow_free(s);
		return status;
	}
	take_over(s, run);
	hd_time whole = simulation_fabric(run)->rules.stop;

	s->speed = o->speed != HD_TIME_NEVER         ? o->speed
		   : whole && whole != HD_TIME_NEVER ? whole / WATCHED + 1
						     : 0;
	*out = s;
	return HD_OK;
}

void follow_free(struct follow *s)
{
	if (s->run)
		simulation_free(s->run);
	for (size_t i = 0; i < s->n_notes; i++)
		free(s->notes[i].words);
	free(s->notes);
	free(s->links);
	free(s->down);
	overrides_fini(&s->overrides);
	strbuf_fini(&s->text);
	strbuf_fini(&s->state);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->asked);
	pthread_cond_destroy(&s->answered);
	free(s);
}

const struct simulation *follow_simulation(const struct follow *s)
{
	return s->run;
}

bool follow_has_ended(const struct follow *s)
{
	return s->has_begun && simulation_state(s->run) != SIM_PAUSED;
}

/* ---- changing it --------------------------------------------------------- */

/* The same as before up to `now`, whatever changes after it. */
static enum hd_status replay(struct follow *s, struct simulation *run,
			     hd_time now, struct diag *d)
{
	enum hd_status status = HD_OK;

	pthread_mutex_lock(&s->lock);
	s->is_replaying = true;
	pthread_mutex_unlock(&s->lock);
	if (now)
		status = simulation_advance(run, now, d);
	pthread_mutex_lock(&s->lock);
	s->is_replaying = false;
	pthread_mutex_unlock(&s->lock);
	return status;
}

/* Makes the run of these fields, and brings it to where ours is. */
static enum hd_status remake(struct follow *s, const struct overrides *o,
			     hd_time now, struct diag *d)
{
	struct simulation *next;
	enum hd_status status = make(s, o, d, &next);

	if (status != HD_OK)
		return status;
	status = replay(s, next, now, d);
	if (status != HD_OK) {
		simulation_free(next);
		return status;
	}
	take_over(s, next);
	s->has_begun = now > 0;
	return HD_OK;
}

static void note(struct follow *s, hd_time at, struct strbuf *words)
{
	s->notes = hd_grow(s->notes, &s->notes_cap, s->n_notes + 1,
			   sizeof(*s->notes));
	s->notes[s->n_notes++] =
		(struct follow_note){ at, strbuf_detach(words) };
}

static enum hd_status change(struct follow *s, const struct change *c,
			     struct diag *d)
{
	hd_time now = sim_now(simulation_sim(s->run));
	/* What happens now has happened: from the next nanosecond on. */
	hd_time at = (now / HD_NS + 1) * HD_NS;
	struct overrides next = { .items = NULL };
	struct strbuf words = STRBUF_INIT;

	if (follow_has_ended(s))
		return diag_fail(d, HD_ERR_UNFIT,
				 "the run has ended: restart it to change it");
	overrides_copy(&s->overrides, &next);
	enum hd_status status =
		change_put(c, simulation_fabric(s->run), at, &next, &words, d);

	/* What the scenario refuses is well asked, and not possible. */
	if (status == HD_OK && remake(s, &next, now, d) != HD_OK)
		status = d->status = HD_ERR_RANGE;
	if (status == HD_OK) {
		struct overrides old = s->overrides;

		s->overrides = next;
		next = old;
		note(s, at, &words);
	}
	overrides_fini(&next);
	strbuf_fini(&words);
	return status;
}

/* ---- answers ------------------------------------------------------------- */

void follow_scenario(const struct follow *s, struct strbuf *out)
{
	scenario_explain(simulation_fabric(s->run)->scenario, out);
}

static enum hd_status put_report(const struct follow *s, struct strbuf *out,
				 struct diag *d)
{
	struct results *r = simulation_record(s->run);
	const struct page_run part = { .results = r };
	enum hd_status status = page_write(&part, 1, out, d);

	results_free(r);
	return status;
}

/* What something is sent as; NULL: it is done, and there is nothing to send. */
static const char *const types[] = {
	[REQUEST_PAGE] = "text/html; charset=utf-8",
	[REQUEST_FABRIC] = "application/json",
	[REQUEST_STATE] = "application/json",
	[REQUEST_METRICS] = "text/plain; version=0.0.4; charset=utf-8",
	[REQUEST_SCENARIO] = "text/plain; charset=utf-8",
	[REQUEST_REPORT] = "text/html; charset=utf-8",
	[REQUEST_CHANGE] = NULL,
};

static enum hd_status steer(struct follow *s, const struct request *r,
			    struct diag *d)
{
	hd_time now = sim_now(simulation_sim(s->run));

	s->pace_from = 0;
	switch (r->kind) {
	case REQUEST_STEP:
		s->is_paused = true;
		s->step_to = r->time < HD_TIME_NEVER - now ? now + r->time
							   : HD_TIME_NEVER;
		return HD_OK;
	case REQUEST_SPEED:
		s->speed = r->time;
		return HD_OK;
	case REQUEST_RESTART:
		s->step_to = 0;
		return remake(s, &s->overrides, 0, d);
	case REQUEST_CHANGE:
		return change(s, &r->change, d);
	default:
		s->is_paused = r->kind == REQUEST_PAUSE;
		s->step_to = 0;
		return HD_OK;
	}
}

/* Answers one request at once. */
static void follow_do(struct follow *s, const struct request *r,
		      struct reply *out)
{
	struct diag d = { .status = HD_OK };
	enum hd_status status = HD_OK;

	out->type = types[r->kind];
	if (r->kind == REQUEST_PAGE)
		status = reply_page(out, &d);
	else if (r->kind == REQUEST_FABRIC)
		follow_put_fabric(s, &out->body);
	else if (r->kind == REQUEST_STATE)
		follow_put_state(s, &out->body);
	else if (r->kind == REQUEST_METRICS)
		prometheus_print(s->run, follow_down(s), &out->body);
	else if (r->kind == REQUEST_SCENARIO)
		follow_scenario(s, &out->body);
	else if (r->kind == REQUEST_REPORT)
		status = put_report(s, &out->body, &d);
	else
		status = steer(s, r, &d);
	if (!out->type)
		out->type = "text/plain; charset=utf-8";
	if (status != HD_OK)
		reply_refuse(out, &d);
}

/* ---- between threads ----------------------------------------------------- */

static struct timespec in_a_while(double seconds)
{
	double until = clock_seconds() + seconds;
	struct timespec t = { .tv_sec = (time_t)until };

	t.tv_nsec = (long)((until - (double)t.tv_sec) * 1e9);
	return t;
}

/* The last one is not older than the run that is computed again. */
static bool answer_from_before(struct follow *s, const struct request *r,
			       struct reply *out)
{
	if (r->kind != REQUEST_STATE || !s->is_replaying || !s->state.len)
		return false;
	out->type = types[REQUEST_STATE];
	strbuf_add(&out->body, s->state.text, s->state.len);
	return true;
}

static void forget(struct follow *s, struct ask *a)
{
	struct ask **at = &s->asks;

	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
}

void follow_answer(void *context, const struct request *r, struct reply *out)
{
	struct follow *s = context;
	struct ask mine = { .request = r, .reply = out };
	const struct timespec until = in_a_while(A_WHILE);
	bool is_late = false;

	pthread_mutex_lock(&s->lock);
	if (answer_from_before(s, r, out)) {
		pthread_mutex_unlock(&s->lock);
		return;
	}
	struct ask **last = &s->asks;

	while (*last)
		last = &(*last)->next;
	*last = &mine;
	__atomic_store_n(&s->attention, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&s->asked);
	while (!mine.is_done && !(is_late && !mine.is_taken))
		is_late = pthread_cond_timedwait(&s->answered, &s->lock,
						 &until) != 0;
	if (!mine.is_done) {
		forget(s, &mine);
		out->status = 503;
		strbuf_puts(&out->body, "the run is busy\n");
	}
	pthread_mutex_unlock(&s->lock);
}

/* With the lock held. */
static void answer_all(struct follow *s)
{
	while (s->asks) {
		struct ask *a = s->asks;

		s->asks = a->next;
		a->is_taken = true;
		pthread_mutex_unlock(&s->lock);
		follow_do(s, a->request, a->reply);
		pthread_mutex_lock(&s->lock);
		if (a->request->kind == REQUEST_STATE) {
			strbuf_clear(&s->state);
			strbuf_add(&s->state, a->reply->body.text,
				   a->reply->body.len);
		}
		a->is_done = true;
		pthread_cond_broadcast(&s->answered);
	}
	__atomic_store_n(&s->attention, false, __ATOMIC_RELAXED);
}

/* Until when to compute now; not beyond `now`: there is nothing to do. */
static hd_time goal_of(struct follow *s, hd_time now)
{
	if (follow_has_ended(s))
		return now;
	if (s->step_to > now)
		return s->step_to;
	if (s->is_paused)
		return now;
	if (!s->speed)
		return HD_TIME_NEVER;
	if (s->pace_from == 0) {
		s->pace_from = clock_seconds();
		s->pace_now = now;
	}
	double due = (clock_seconds() - s->pace_from) * (double)s->speed;

	/* A machine that is slower than that does not hurry afterwards. */
	if (due > (double)(now - s->pace_now) + 2 * SLICE * (double)s->speed)
		s->pace_from = 0;
	return s->pace_now + (hd_time)due;
}

void follow_run(struct follow *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->is_over) {
		answer_all(s);
		hd_time now = sim_now(simulation_sim(s->run));
		hd_time until = goal_of(s, now);
		struct diag d = { .status = HD_OK };

		if (until <= now) {
			const struct timespec soon = in_a_while(0.02);

			pthread_cond_timedwait(&s->asked, &s->lock, &soon);
			continue;
		}
		s->slice_ends = clock_seconds() + SLICE;
		pthread_mutex_unlock(&s->lock);
		s->has_begun = true;
		if (simulation_advance(s->run, until, &d) != HD_OK)
			memcpy(s->failure, d.message, sizeof(s->failure));
		pthread_mutex_lock(&s->lock);
	}
	answer_all(s);
	pthread_mutex_unlock(&s->lock);
}

void follow_end(struct follow *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_over = true;
	__atomic_store_n(&s->attention, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&s->asked);
	pthread_mutex_unlock(&s->lock);
}
