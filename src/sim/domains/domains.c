/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/domains.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/core/deadlock.h"
#include "sim/core/engine.h"
#include "sim/domains/remote.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"

#define LOOK_EVERY 65536 /* events between progress reports */

/* ---- a window ----------------------------------------------------------- */

uint64_t sim_alive(const struct sim *s)
{
	uint64_t alive = 0;

	for (uint32_t i = 0; i < sim_n_parts(s); i++)
		alive += sim_part(s, i)->pool.alive;
	return alive;
}

size_t sim_events(const struct sim *s)
{
	size_t n = eventq_count(&s->q);

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++) {
		const struct sim *part = s->parts->part[i];

		n += part->mail.is_elsewhere ? part->mail.n_queued : eventq_count(&part->q);
	}
	return n;
}

size_t sim_pending(const struct sim *s)
{
	size_t background = s->background;

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++)
		background += s->parts->part[i]->background;
	return sim_events(s) - background;
}

static void part_begin_window(struct domains *p, uint32_t i)
{
	struct sim *s = p->part[i];

	s->mail.told = NEVER;
	s->mail.window_n = s->mail.window_sum = 0;
	s->mail.stops_dry = p->stops_dry;
	s->mail.events_before = s->outcome.events;
	/* Set before reading, because dropping a packet sends an answer. */
	s->mail.boxes = &p->boxes[p->window & 1][(size_t)i * p->cut.n];
	mail_read(s, p->boxes[(p->window + 1) & 1]);
}

void domain_window(void *context, unsigned share)
{
	struct domains *p = context;

	for (uint32_t i = p->first + share; i < p->last; i += barrier_pool_size(p->pool)) {
		struct sim *s = p->part[i];

		if (p->goes_on)
			s->mail.stops_dry = false;
		else
			part_begin_window(p, i);
		if (s->mail.stops_dry && domain_is_dry(s))
			continue;
		do
			s->outcome.events_checked = UINT64_MAX;
		while (sim_run_instants(s, p->end));
	}
}

/* No domain has work left, and no mail is in flight. */
static bool is_all_dry(const struct domains *p)
{
	const struct mailbox *boxes = p->boxes[p->window & 1];

	for (uint32_t i = 0; i < p->cut.n; i++) {
		const struct sim *part = p->part[i];

		if (part->mail.is_elsewhere ? !part->mail.is_dry : !domain_is_dry(part))
			return false;
	}
	for (size_t i = 0; i < (size_t)p->cut.n * p->cut.n; i++) {
		if (mailbox_is_live(&boxes[i]))
			return false;
	}
	return true;
}

static void pool_run(struct domains *p)
{
	if (p->tempo.way == TEMPO_ALONE)
		barrier_pool_run_alone(p->pool);
	else
		barrier_pool_run(p->pool);
}

/*
 * Timers of flow control never end. If a run has no other work, they must not run beyond its end. A
 * domain without other work therefore pauses its timers until another domain is known to have work:
 * a domain with work at the end of a window had work during the whole window.
 */
static void window_turn(struct domains *p)
{
	p->goes_on = false;
	pool_run(p);
	if (!p->stops_dry)
		return;
	remote_exchange(p, false);
	if (is_all_dry(p))
		return;
	p->goes_on = true;
	pool_run(p);
}

static int late_order(const void *x, const void *y)
{
	const struct late *a = x, *b = y;

	return late_before(a, b) ? -1 : late_before(b, a);
}

static void deliveries_gather(struct domains *p)
{
	const struct mailbox *boxes = p->boxes[p->window & 1];

	p->n_all = 0;
	for (size_t i = (size_t)p->first * p->cut.n; i < (size_t)p->last * p->cut.n; i++) {
		const struct mailbox *m = &boxes[i];

		if (m->n_deliveries == 0)
			continue;
		p->all = hd_grow(p->all, &p->all_cap, p->n_all + m->n_deliveries, sizeof(*p->all));
		memcpy(p->all + p->n_all, m->deliveries, m->n_deliveries * sizeof(*p->all));
		p->n_all += m->n_deliveries;
	}
	remote_deliveries(p);
	if (p->n_all)
		qsort(p->all, p->n_all, sizeof(*p->all), late_order);
}

static void window_run(struct domains *p, hd_time end)
{
	struct sim *whole = p->whole;
	uint64_t n = 0, sum = 0, most = 0, all = 0;

	p->end = end;
	window_turn(p);
	remote_exchange(p, true);
	for (uint32_t i = 0; i < p->cut.n; i++) {
		const struct sim *part = p->part[i];
		uint64_t events = part->outcome.events - part->mail.events_before;

		n += part->mail.window_n;
		sum += part->mail.window_sum;
		most = events > most ? events : most;
		all += part->mail.is_elsewhere ? 0 : events;
	}
	p->busiest += most;
	if (barrier_pool_size(p->pool) > 1)
		tempo_add(&p->tempo, all);
	if (!metrics_mean_sums(whole, n))
		deliveries_gather(p);
	metrics_mean(whole, n, sum, p->all);
	remote_mail_sent(p);
	p->window++;
	whole->now = end;
	metrics_window(whole);
	/* Mail that is not read yet was sent after the window began. */
	observers_notify_until(whole, p->begin);
}

/* ---- what concerns all of them ------------------------------------------ */

/* Executes all global events of `now`, without other domains running. */
static void global_instant(struct domains *p, hd_time now)
{
	struct sim *s = p->whole;
	const struct event *next;
	struct event e;

	s->now = now;
	remote_faults(s, now);
	for (uint32_t i = 0; i < p->cut.n; i++)
		p->part[i]->now = p->part[i]->q.now = now;
	for (next = eventq_first(&s->q); next && next->when == now; next = eventq_first(&s->q)) {
		if (eventq_pop(&s->q, &e))
			event_global(s, e.key);
	}
	for (uint32_t i = 0; i < p->cut.n; i++) {
		p->part[i]->horizon = s->horizon;
		p->part[i]->from = s->from;
		p->part[i]->arb.tables = s->arb.tables;
	}
	remote_exchange(p, false);
}

/* ---- running ------------------------------------------------------------ */

struct domain_outlook {
	hd_time next;   /* next event of any domain; NEVER: none */
	hd_time global; /* next global event; NEVER: none */
	bool mail;      /* mail is not read yet */
};

static hd_time next_of(struct sim *part)
{
	const struct event *e = eventq_first(&part->q);

	if (part->mail.is_elsewhere)
		return part->mail.next_event;
	return e ? e->when : NEVER;
}

static struct domain_outlook outlook_of(struct domains *p)
{
	const struct event *e = eventq_first(&p->whole->q);
	struct domain_outlook o = { .next = NEVER, .global = e ? e->when : NEVER };

	for (uint32_t i = 0; i < p->cut.n; i++) {
		struct sim *s = p->part[i];

		hd_time next = next_of(s);

		o.next = next < o.next ? next : o.next;
		/* The mail was sent in a completed window. */
		if (s->mail.told != NEVER) {
			hd_time told = s->mail.told > p->end ? s->mail.told : p->end + 1;

			o.next = told < o.next ? told : o.next;
			o.mail = true;
		}
		o.mail = o.mail || s->mail.window_n;
	}
	return o;
}

/* The last instant of a window that begins at `from`. */
static hd_time window_end(const struct domains *p, hd_time from, const struct domain_outlook *o,
			  hd_time until)
{
	hd_time end = from + p->lookahead - 1;
	hd_time cell = metrics_cell(p->whole);

	if (end >= o->global)
		end = o->global - 1;
	if (end > until)
		end = until;
	if (cell && end >= (from / cell + 1) * cell)
		end = (from / cell + 1) * cell - 1;
	return end;
}

static bool is_full(const struct domains *p)
{
	for (uint32_t i = 0; i < p->cut.n; i++) {
		if (p->part[i]->run.full)
			return true;
	}
	return false;
}

/* False: the run pauses. */
static bool show_progress(struct domains *p, sim_progress_fn *progress, void *context)
{
	struct sim_progress now;
	uint64_t events = 0;

	for (uint32_t i = 0; i < p->cut.n; i++)
		events += p->part[i]->outcome.events;
	if (events - p->looked < LOOK_EVERY)
		return true;
	p->looked = events;
	sim_progress(p->whole, &now);
	/* The callback may pause the run. */
	bool goes_on = !progress || !is_first_rank(p->whole) || progress(context, &now);

	return remote_ask(p, goes_on);
}

/* Whether there are no packets, and no events that keep the run active. */
static bool is_empty(const struct sim *s)
{
	return sim_alive(s) == 0 && sim_pending(s) == 0;
}

/* No more events until `end`. */
static enum sim_state run_out(struct sim *s, const struct domain_outlook *o, hd_time end)
{
	bool ends = is_empty(s);

	metrics_collect(s);
	if (s->run.is_stuck)
		return SIM_DEADLOCK;
	if (ends) {
		s->now = s->outcome.latest;
		return SIM_IDLE;
	}
	if (o->next == NEVER && o->global == NEVER)
		return SIM_DEADLOCK;
	s->now = end;
	return end == s->horizon ? SIM_ENDED : SIM_PAUSED;
}

/* As in the engine, a plain run continues to the next global event. */
static bool is_idle(const struct sim *s, const struct domain_outlook *o)
{
	return !o->mail && !s->run.to_the_end &&
	       (s->hop_variant == HOP_GENERAL || o->global == NEVER) && is_empty(s);
}

static enum sim_state run_parts(struct sim *s, hd_time until, sim_progress_fn *progress,
				void *context)
{
	struct domains *p = s->parts;

	for (;;) {
		struct domain_outlook o = outlook_of(p);
		hd_time end = until < s->horizon ? until : s->horizon;

		end = s->run.pause_at < end ? s->run.pause_at : end;
		hd_time first = o.next < o.global ? o.next : o.global;

		if (s->run.is_stuck)
			end = s->now; /* the instant of the pause is completed */
		if (o.mail && (o.next >= o.global || first > end)) {
			window_run(p, p->end); /* reads the mail, executes nothing */
		} else if (first > end || is_idle(s, &o)) {
			return run_out(s, &o, end);
		} else if (o.global <= o.next) {
			global_instant(p, o.global);
		} else {
			p->begin = o.next;
			window_run(p, window_end(p, o.next, &o, end));
		}
		if (p->distant && p->distant->broken)
			return SIM_BROKEN;
		if (is_full(p))
			return SIM_FULL;
		if (!show_progress(p, progress, context))
			until = s->now; /* all mail is read before a pause */
	}
}

enum sim_state domains_run(struct sim *s, hd_time until, sim_progress_fn *progress, void *context)
{
	struct domains *p = s->parts;

	tempo_resume(&p->tempo, tempo_clock());
	remote_exchange(p, false);
	enum sim_state state = run_parts(s, until, progress, context);

	metrics_end(s, state);
	if (!p->distant || state == SIM_BROKEN)
		return state;
	remote_collect(s);
	if (state == SIM_DEADLOCK)
		deadlock_note(s);
	if (state == SIM_FULL)
		sim_backlog_note(s);
	return p->distant->broken ? SIM_BROKEN : state;
}
