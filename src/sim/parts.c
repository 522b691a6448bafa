/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/team.h"
#include "sim/tell.h"

#define LOOK_EVERY  65536 /* events between looks at progress */
#define PORTS_WORTH 512   /* fewer are not worth a thread */
#define LEAST_AHEAD HD_NS /* shorter windows cost more than they bring */

/* ---- who can be cut
 * ---------------------------------------------------------- */

/* Do all flows come to an end, so that a run with timers must notice it? */
static bool may_run_dry(const struct sim *s)
{
	for (uint32_t i = 0; i < s->n_flows; i++) {
		if (!s->flows[i].count && !s->flows[i].stop &&
		    s->flows[i].kind != SIM_TRACE &&
		    s->flows[i].kind != SIM_BURST)
			return false;
	}
	return !s->to_the_end;
}

static bool has_timers(const struct sim *s)
{
	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		if (cold_at(s, i)->refresh)
			return true;
	}
	return false;
}

/* Why a run must stay in one part, or NULL. */
static const char *reason_not_to_cut(const struct sim *s)
{
	for (uint32_t i = 0; i < s->n_endpoints; i++) {
		if (!s->endpoints[i].cut)
			return "programs run on its adapters";
	}
	if (s->alive)
		return "packets were given to it before it began";
	return NULL;
}

/* How many threads compute a run; if one without being asked, *why. */
static unsigned threads_for(const struct sim *s, const char **why)
{
	unsigned there = team_processors();
	unsigned worth = s->setup->n_ports / PORTS_WORTH;

	*why = NULL;
	if (s->rules.threads)
		return s->rules.threads;
	if (team_asked())
		return team_asked();
	if (there < 2)
		*why = "there is one processor";
	else if (worth < 2)
		*why = "more would not pay on so small a fabric";
	return *why ? 1 : worth < there ? worth : there;
}

uint32_t sim_is_cut(const struct sim *s, const char **why_not)
{
	*why_not = s->not_cut;
	return sim_n_parts(s);
}

void sim_cut_use(const struct sim *s, struct sim_cut_use *out)
{
	const size_t sizes[MAIL_KINDS] = {
		[MAIL_PACKETS] = sizeof(struct packet) +
				 (s->extras ? sizeof(struct packet_extra) : 0),
		[MAIL_CREDITS] = sizeof(struct cut_credit),
		[MAIL_EVENTS] = sizeof(struct event),
		[MAIL_ANSWERS] = sizeof(struct delayed),
		[MAIL_DELIVERIES] = sizeof(struct late),
	};

	*out = (struct sim_cut_use){ 0 };
	if (!s->parts)
		return;
	out->lookahead = s->parts->lookahead;
	out->windows = s->parts->window;
	out->busiest = s->parts->busiest;
	for (uint32_t i = 0; i < s->parts->cut.n; i++) {
		const struct sim *part = s->parts->part[i];

		out->events += part->events;
		out->packets += part->mailed[MAIL_PACKETS];
		out->credits += part->mailed[MAIL_CREDITS];
		for (unsigned k = 0; k < MAIL_KINDS; k++)
			out->bytes += part->mailed[k] * sizes[k];
	}
}

/* ---- making parts
 * -------------------------------------------------------------- */

/* A part's own share of what state_new makes; it has rows in common. */
static struct sim *part_new(const struct sim *whole, const struct cut *cut,
			    uint32_t number)
{
	struct sim *p = hd_alloc_dense(1, sizeof(*p));
	size_t n = whole->setup->n_ports;

	*p = *whole;
	p->parts = NULL;
	p->cut = cut;
	p->part = number;
	p->way = (enum way)(whole->way | WAY_CUT);
	p->told = NEVER;
	eventq_init(&p->q);
	p->packets = NULL;
	p->extras = whole->extras ? hd_alloc(1, sizeof(*p->extras)) : NULL;
	p->free_packet = p->free_spill = NONE;
	p->spills = NULL;
	p->n_spills = 0;
	if (!whole->merges) /* else all lanes have rows for ever */
		p->heads = (struct heads){ .row = whole->heads.row,
					   .mask = whole->heads.mask,
					   .free = NONE };
	p->spills_cap = p->packets_room = 0;
	p->n_packets = 0;
	p->background = 0;
	p->events_checked = UINT64_MAX;
	p->touched = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->crossed = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->downed = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->updating = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->tellings = (struct tellings){ NULL };
	p->endpoints = hd_alloc(whole->n_endpoints, sizeof(*p->endpoints));
	if (whole->n_endpoints)
		memcpy(p->endpoints, whole->endpoints,
		       whole->n_endpoints * sizeof(*p->endpoints));
	control_part_init(p, whole);
	marks_part_init(p, whole);
	metrics_part_init(p, whole);
	return p;
}

static void part_free(struct sim *p, const struct sim *whole)
{
	metrics_part_fini(p, whole);
	control_part_fini(p);
	marks_part_fini(p);
	eventq_fini(&p->q);
	for (uint32_t i = 0; i < p->n_spills; i++)
		free(p->spills[i].e);
	free(p->spills);
	if (!whole->merges)
		free(p->heads.slots);
	free(p->packets);
	free(p->extras);
	free(p->touched.ports);
	free(p->crossed.ports);
	free(p->downed.ports);
	free(p->updating.ports);
	tellings_fini(p);
	free(p->endpoints);
	free(p);
}

struct sim *event_owner(struct sim *s, uint64_t key)
{
	const struct cut *cut = &s->parts->cut;

	switch (key_kind(key)) {
	case EV_FAULT:
	case EV_TABLE:
	case EV_MEASURE:
	case EV_LOOK:
	case EV_STUCK:
		return s;
	case EV_SOURCE:
	case EV_ASK:
		return s->parts
			->part[cut->part_of_node[s->flows[key_id(key)].source]];
	case EV_HEAD:
		return sim_of_port(s, s->links[key_port(key)].peer);
	case EV_TIMEOUT:
		return sim_of_port(s, flow_port(s->control, key_id(key)));
	case EV_RESPOND:
	case EV_PACE:
		return sim_of_port(s, s->control->throttles[key_id(key)].port);
	default:
		return sim_of_port(s, key_port(key));
	}
}

/* Those that keep nothing going are counted where they are. */
static bool is_background(uint64_t key)
{
	return key_kind(key) == EV_REFRESH;
}

static void events_share(struct sim *s)
{
	struct eventq all = s->q;
	struct event e;

	eventq_init(&s->q);
	while (eventq_pop(&all, &e)) {
		struct sim *owner = event_owner(s, e.key);

		eventq_push(&owner->q, e.when, e.key);
		if (owner != s && is_background(e.key)) {
			owner->background++;
			s->background--;
		}
	}
	eventq_fini(&all);
}

/* Otherwise they are computed when somebody asks, by whichever part. */
static void durations_fill(struct sim *s)
{
	for (unsigned i = 0; i < s->n_rates; i++) {
		for (uint32_t bytes = 1; bytes <= s->max_bytes; bytes++)
			duration_of(s, i, bytes);
	}
}

static void part_window(void *context, unsigned member);

static void cut_init(struct cut *c, const struct sim *s,
		     const uint16_t *part_of_node, uint32_t n)
{
	const struct sim_setup *setup = s->setup;

	*c = (struct cut){
		.n = n,
		.part_of_node =
			hd_alloc(setup->n_nodes, sizeof(*c->part_of_node)),
		.part_of_port =
			hd_alloc(setup->n_ports, sizeof(*c->part_of_port)),
		.wires = hd_alloc_dense(setup->n_ports, sizeof(*c->wires)),
	};
	memcpy(c->part_of_node, part_of_node,
	       setup->n_nodes * sizeof(*part_of_node));
	memcpy(c->wires, s->links, setup->n_ports * sizeof(*c->wires));
	for (uint32_t i = 0; i < setup->n_ports; i++)
		c->part_of_port[i] = part_of_node[setup->ports[i].node];
}

/* Each endpoint has a context of its own for every part. */
static void endpoints_cut(struct sim *s)
{
	const struct parts *p = s->parts;
	const struct sim_cut cut = {
		.n = p->cut.n,
		.parts = p->part,
		.part_of_node = p->cut.part_of_node,
	};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	void **contexts = hd_alloc(cut.n, sizeof(*contexts));

	for (uint32_t e = 0; e < s->n_endpoints; e++) {
		s->endpoints[e].cut(s->endpoints[e].context, &cut, contexts);
		for (uint32_t i = 0; i < cut.n; i++)
			p->part[i]->endpoints[e].context = contexts[i];
	}
	free(contexts);
}

void parts_make(struct sim *s, const uint16_t *part_of_node, uint32_t n,
		unsigned threads)
{
	struct parts *p = hd_alloc(1, sizeof(*p));

	p->whole = s;
	p->stops_dry = has_timers(s) && may_run_dry(s);
	p->lookahead = partition_lookahead(s, part_of_node);
	cut_init(&p->cut, s, part_of_node, n);
	durations_fill(s);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	p->part = hd_alloc(n, sizeof(*p->part));
	for (unsigned i = 0; i < 2; i++)
		p->boxes[i] =
			hd_alloc_dense((size_t)n * n, sizeof(*p->boxes[i]));
	for (uint32_t i = 0; i < n; i++)
		p->part[i] = part_new(s, &p->cut, i);
	s->parts = p;
	events_share(s);
	endpoints_cut(s);
	p->crew = crew_new(threads < n ? threads : n, part_window, p);
}

void parts_free(struct sim *s)
{
	struct parts *p = s->parts;

	if (!p)
		return;
	crew_free(p->crew);
	for (uint32_t i = 0; i < p->cut.n; i++)
		part_free(p->part[i], s);
	for (size_t i = 0; i < (size_t)p->cut.n * p->cut.n; i++) {
		mailbox_fini(&p->boxes[0][i]);
		mailbox_fini(&p->boxes[1][i]);
	}
	free(p->boxes[0]);
	free(p->boxes[1]);
	free(p->part);
	free(p->cut.part_of_node);
	free(p->cut.part_of_port);
	free(p->cut.wires);
	free(p->all);
	free(p);
}

/* Into n parts, if it can be done. */
static void parts_cut(struct sim *s, uint32_t n, unsigned threads)
{
	s->not_cut = reason_not_to_cut(s);
	if (s->not_cut)
		return;
	uint16_t *part_of_node =
		hd_alloc(s->setup->n_nodes, sizeof(*part_of_node));

	n = partition(s, n, part_of_node);
	if (n < 2)
		s->not_cut = "it has one switch";
	else if (!s->rules.parts &&
		 partition_lookahead(s, part_of_node) < LEAST_AHEAD)
		s->not_cut = "its links, switches or answers take less than "
			     "1 ns, so nothing can be computed ahead";
	else
		parts_make(s, part_of_node, n, threads);
	free(part_of_node);
}

void parts_begin(struct sim *s)
{
	unsigned threads = threads_for(s, &s->not_cut);
	uint32_t n = s->rules.parts ? s->rules.parts : threads;

	s->has_begun = true;
	if (n > 1)
		parts_cut(s, n, threads);
	const struct team_use use = {
		.parts = sim_n_parts(s),
		.threads = s->parts ? crew_size(s->parts->crew) : 1,
		.why = s->not_cut,
	};

	team_note(&use);
}

/* ---- a window
 * ------------------------------------------------------------------- */

uint64_t sim_alive(const struct sim *s)
{
	uint64_t alive = 0;

	for (uint32_t i = 0; i < sim_n_parts(s); i++)
		alive += sim_part(s, i)->alive;
	return alive;
}

size_t sim_events(const struct sim *s)
{
	size_t n = eventq_count(&s->q);

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++)
		n += eventq_count(&s->parts->part[i]->q);
	return n;
}

size_t sim_pending(const struct sim *s)
{
	size_t background = s->background;

	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++)
		background += s->parts->part[i]->background;
	return sim_events(s) - background;
}

/* Has it nothing to do, but for timers? */
static bool is_dry(const struct sim *part)
{
	return part->alive == 0 && eventq_count(&part->q) <= part->background;
}

static void part_begin_window(struct parts *p, uint32_t i)
{
	struct sim *s = p->part[i];

	s->told = NEVER;
	s->window_n = s->window_sum = 0;
	s->stops_dry = p->stops_dry;
	s->events_before = s->events;
	/* Before it reads: a packet that is dropped has an answer. */
	s->boxes = &p->boxes[p->window & 1][(size_t)i * p->cut.n];
	mail_read(s, p->boxes[(p->window + 1) & 1]);
}

/* What one member of the crew does: its parts' window. */
static void part_window(void *context, unsigned member)
{
	struct parts *p = context;

	for (uint32_t i = member; i < p->cut.n; i += crew_size(p->crew)) {
		struct sim *s = p->part[i];

		if (p->goes_on)
			s->stops_dry = false;
		else
			part_begin_window(p, i);
		if (s->stops_dry && is_dry(s))
			continue;
		while (engine_run(s, p->end))
			s->events_checked = UINT64_MAX;
	}
}

static bool is_live(const struct mailbox *m)
{
	return m->n_packets || m->n_events || m->n_answers;
}

/* Nobody has anything left to do, nor is anything on its way. */
static bool is_all_dry(const struct parts *p)
{
	const struct mailbox *boxes = p->boxes[p->window & 1];

	for (uint32_t i = 0; i < p->cut.n; i++) {
		if (!is_dry(p->part[i]))
			return false;
	}
	for (size_t i = 0; i < (size_t)p->cut.n * p->cut.n; i++) {
		if (is_live(&boxes[i]))
			return false;
	}
	return true;
}

/*
 * Timers of flow control go on for ever, but not beyond the end of a run that
 * has nothing else to do. A part that finds itself dry waits with them until it
 * is known that others are not: who still has something to do at the end of a
 * window had it all the time.
 */
static void window_turn(struct parts *p)
{
	p->goes_on = false;
	crew_turn(p->crew);
	if (!p->stops_dry || is_all_dry(p))
		return;
	p->goes_on = true;
	crew_turn(p->crew);
}

static int late_order(const void *x, const void *y)
{
	const struct late *a = x, *b = y;

	return late_before(a, b) ? -1 : late_before(b, a);
}

static void deliveries_gather(struct parts *p)
{
	const struct mailbox *boxes = p->boxes[p->window & 1];

	p->n_all = 0;
	for (size_t i = 0; i < (size_t)p->cut.n * p->cut.n; i++) {
		const struct mailbox *m = &boxes[i];

		if (m->n_deliveries == 0)
			continue;
		p->all = hd_grow(p->all, &p->all_cap,
				 p->n_all + m->n_deliveries, sizeof(*p->all));
		memcpy(p->all + p->n_all, m->deliveries,
		       m->n_deliveries * sizeof(*p->all));
		p->n_all += m->n_deliveries;
	}
	if (p->n_all)
		qsort(p->all, p->n_all, sizeof(*p->all), late_order);
}

static void window_run(struct parts *p, hd_time end)
{
	struct sim *whole = p->whole;
	uint64_t n = 0, sum = 0, most = 0;

	p->end = end;
	window_turn(p);
	for (uint32_t i = 0; i < p->cut.n; i++) {
		const struct sim *part = p->part[i];
		uint64_t events = part->events - part->events_before;

		n += part->window_n;
		sum += part->window_sum;
		most = events > most ? events : most;
	}
	p->busiest += most;
	if (!metrics_mean_sums(whole, n))
		deliveries_gather(p);
	metrics_mean(whole, n, sum, p->all);
	p->window++;
	whole->now = end;
	metrics_window(whole);
	/* What is still to be read was sent since it began. */
	tell_until(whole, p->begin);
}

/* ---- what concerns all of them
 * ----------------------------------------------------- */

/* All global events of `now`, alone. */
static void global_instant(struct parts *p, hd_time now)
{
	struct sim *s = p->whole;
	const struct event *next;
	struct event e;

	s->now = now;
	for (uint32_t i = 0; i < p->cut.n; i++)
		p->part[i]->now = p->part[i]->q.now = now;
	for (next = eventq_first(&s->q); next && next->when == now;
	     next = eventq_first(&s->q)) {
		if (eventq_pop(&s->q, &e))
			event_global(s, e.key);
	}
	for (uint32_t i = 0; i < p->cut.n; i++) {
		p->part[i]->horizon = s->horizon;
		p->part[i]->from = s->from;
		p->part[i]->tables = s->tables;
	}
}

/* ---- running
 * ------------------------------------------------------------------------ */

struct outlook {
	hd_time next;   /* event of any part; NEVER */
	hd_time global; /* event of the whole; NEVER */
	bool mail;      /* has not been read yet */
	size_t pending; /* events that keep something going */
	uint64_t alive; /* packets */
};

static struct outlook outlook_of(struct parts *p)
{
	const struct event *e = eventq_first(&p->whole->q);
	struct outlook o = { .next = NEVER, .global = e ? e->when : NEVER };

	for (uint32_t i = 0; i < p->cut.n; i++) {
		struct sim *s = p->part[i];

		e = eventq_first(&s->q);
		if (e && e->when < o.next)
			o.next = e->when;
		/* It was sent in a window that is over. */
		if (s->told != NEVER) {
			hd_time told = s->told > p->end ? s->told : p->end + 1;

			o.next = told < o.next ? told : o.next;
			o.mail = true;
		}
		o.mail = o.mail || s->window_n;
	}
	o.pending = sim_pending(p->whole);
	o.alive = sim_alive(p->whole);
	return o;
}

/* The last instant of a window that begins at `from`. */
static hd_time window_end(const struct parts *p, hd_time from,
			  const struct outlook *o, hd_time until)
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

static bool is_full(const struct parts *p)
{
	for (uint32_t i = 0; i < p->cut.n; i++) {
		if (p->part[i]->full)
			return true;
	}
	return false;
}

/* False if the run is to pause. */
static bool show_progress(struct parts *p, sim_progress_fn *progress,
			  void *context)
{
	struct sim_progress now;
	uint64_t events = 0;

	for (uint32_t i = 0; i < p->cut.n; i++)
		events += p->part[i]->events;
	if (events - p->looked < LOOK_EVERY)
		return true;
	p->looked = events;
	sim_progress(p->whole, &now);
	return !progress || progress(context, &now);
}

/* Nothing happens any more until `end`. */
static enum sim_state run_out(struct sim *s, const struct outlook *o,
			      hd_time end)
{
	metrics_collect(s);
	if (s->is_stuck)
		return SIM_DEADLOCK;
	if (o->pending == 0 && o->alive == 0) {
		s->now = s->latest;
		return SIM_IDLE;
	}
	if (o->next == NEVER && o->global == NEVER)
		return SIM_DEADLOCK;
	s->now = end;
	return end == s->horizon ? SIM_ENDED : SIM_PAUSED;
}

/* As the engine does it: plain runs go on to what is due for all. */
static bool is_idle(const struct sim *s, const struct outlook *o)
{
	return !o->mail && o->pending == 0 && o->alive == 0 && !s->to_the_end &&
	       (s->way == WAY_GENERAL || o->global == NEVER);
}

enum sim_state parts_run(struct sim *s, hd_time until,
			 sim_progress_fn *progress, void *context)
{
	struct parts *p = s->parts;

	for (;;) {
		struct outlook o = outlook_of(p);
		hd_time end = until < s->horizon ? until : s->horizon;
		hd_time first = o.next < o.global ? o.next : o.global;

		if (s->is_stuck)
			end = s->now; /* but that instant is completed */
		if (o.mail && (o.next >= o.global || first > end)) {
			window_run(p, p->end); /* only to read it */
		} else if (first > end || is_idle(s, &o)) {
			return run_out(s, &o, end);
		} else if (o.global <= o.next) {
			global_instant(p, o.global);
		} else {
			p->begin = o.next;
			window_run(p, window_end(p, o.next, &o, end));
		}
		if (is_full(p))
			return SIM_FULL;
		if (!show_progress(p, progress, context))
			until = s->now; /* all mail is read before a pause */
	}
}
