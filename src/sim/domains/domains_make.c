/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel_for.h"
#include "sim/domains/remote.h"
#include "sim/injection/control.h"
#include "sim/injection/mark.h"
#include "sim/metrics/members.h"
#include "sim/metrics/observers.h"

#define PORTS_WORTH 512   /* fewer ports do not justify a thread */
#define LEAST_AHEAD HD_NS /* shorter windows cost more than they save */

/* ---- who can be cut ----------------------------------------------------- */

/* Whether all flows end, so that a run with timers must detect its end. */
static bool may_run_dry(const struct sim *s)
{
	for (uint32_t i = 0; i < s->n_flows; i++) {
		if (!s->flows[i].count && !s->flows[i].stop && s->flows[i].kind != SIM_TRACE &&
		    s->flows[i].kind != SIM_BURST)
			return false;
	}
	return !s->run.to_the_end;
}

static bool has_timers(const struct sim *s)
{
	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		if (rare_at(s, i)->refresh)
			return true;
	}
	return false;
}

/* Reason why the run must stay in one domain; NULL: it can be partitioned. */
static const char *reason_not_to_cut(const struct sim *s)
{
	for (uint32_t i = 0; i < s->ends.n; i++) {
		if (!s->ends.all[i].cut)
			return s->ends.all[i].whole ? s->ends.all[i].whole
						    : "programs run on its adapters";
		if (s->rules.world && !s->ends.all[i].mail)
			return "its adapters hand packets to each other in memory that processes do not share";
	}
	if (s->pool.alive)
		return "packets were given to it before it began";
	return NULL;
}

/* Number of threads. *why is the reason for one thread if the number was not requested. */
static unsigned threads_for(const struct sim *s, const char **why)
{
	unsigned there = parallel_processors();
	unsigned worth = s->setup->n_ports / PORTS_WORTH;

	*why = NULL;
	if (s->rules.threads)
		return s->rules.threads;
	if (parallel_threads())
		return parallel_threads();
	/* The launcher has divided the processors among the ranks. */
	if (s->rules.world)
		return 1;
	if (there < 2)
		*why = "there is one processor";
	else if (worth < 2)
		*why = "more would not pay on so small a fabric";
	return *why ? 1 : worth < there ? worth : there;
}

uint32_t sim_is_cut(const struct sim *s, const char **why_not)
{
	*why_not = s->not_partitioned_because;
	return sim_n_parts(s);
}

void sim_cut_use(const struct sim *s, struct sim_cut_use *out)
{
	const size_t sizes[MAIL_KINDS] = {
		[MAIL_PACKETS] = sizeof(struct packet_record) +
				 (s->pool.extras ? sizeof(struct packet_extra) : 0),
		[MAIL_CREDITS] = sizeof(struct partition_credit),
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

		out->events += part->outcome.events;
		out->packets += part->mail.mailed[MAIL_PACKETS];
		out->credits += part->mail.mailed[MAIL_CREDITS];
		for (unsigned k = 0; k < MAIL_KINDS; k++)
			out->bytes += part->mail.mailed[k] * sizes[k];
	}
}

/* ---- making parts ------------------------------------------------------- */

/* Creates a domain's own part of the state of sim_state_new; rows are shared with the whole. */
static struct sim *part_new(const struct sim *whole, const struct domain_partition *cut,
			    uint32_t number)
{
	struct sim *p = hd_alloc_dense(1, sizeof(*p));
	size_t n = whole->setup->n_ports;

	*p = *whole;
	p->parts = NULL;
	p->cut = cut;
	p->part = number;
	p->mail.is_elsewhere = !cut_has(cut, number);
	p->hop_variant = (enum hop_variant)(whole->hop_variant | HOP_DOMAIN);
	p->mail.told = NEVER;
	eventq_init(&p->q);
	p->pool.all = NULL;
	p->pool.extras = whole->pool.extras ? hd_alloc(1, sizeof(*p->pool.extras)) : NULL;
	p->pool.free = p->spill.free = NONE;
	p->spill.all = NULL;
	p->spill.n = 0;
	if (!whole->mode.merges) /* otherwise every VL keeps its row */
		p->heads = (struct heads){ .row = whole->heads.row,
					   .mask = whole->heads.mask,
					   .free = NONE };
	p->spill.cap = p->pool.cap = 0;
	p->pool.n = 0;
	p->background = 0;
	p->outcome.events_checked = UINT64_MAX;
	p->instant.pending_links = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->instant.crossed = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->instant.downed = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->instant.updating = (struct port_list){ hd_alloc(n, sizeof(uint32_t)) };
	p->tell.queue = (struct observer_queue){ NULL };
	p->ends.all = hd_alloc(whole->ends.n, sizeof(*p->ends.all));
	if (whole->ends.n)
		memcpy(p->ends.all, whole->ends.all, whole->ends.n * sizeof(*p->ends.all));
	control_part_init(p, whole);
	marks_part_init(p, whole);
	metrics_members_domain_init(p, whole);
	metrics_part_init(p, whole);
	return p;
}

static void part_free(struct sim *p, const struct sim *whole)
{
	metrics_part_fini(p, whole);
	control_part_fini(p);
	marks_part_fini(p);
	metrics_members_fini(p);
	eventq_fini(&p->q);
	for (uint32_t i = 0; i < p->spill.n; i++)
		free(p->spill.all[i].e);
	free(p->spill.all);
	if (!whole->mode.merges)
		free(p->heads.slots);
	free(p->pool.all);
	free(p->pool.extras);
	free(p->instant.pending_links.ports);
	free(p->instant.crossed.ports);
	free(p->instant.downed.ports);
	free(p->instant.updating.ports);
	observers_fini(p);
	free(p->ends.all);
	free(p);
}

struct sim *event_owner(struct sim *s, uint64_t key)
{
	const struct domain_partition *cut = &s->parts->cut;

	switch (key_kind(key)) {
	case EV_FAULT:
	case EV_TABLE:
	case EV_MEASURE:
	case EV_LOOK:
	case EV_STUCK:
		return s;
	case EV_SOURCE:
	case EV_ASK:
		return s->parts->part[cut->part_of_node[s->flows[key_id(key)].source]];
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

/* Events that do not keep the run active are counted in their own domain. */
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

		if (!owner->mail.is_elsewhere)
			eventq_push(&owner->q, e.when, e.key);
		if (owner != s && is_background(e.key)) {
			owner->background++;
			s->background--;
		}
	}
	eventq_fini(&all);
}

/* Without this table, any domain computes durations on demand. */
static void durations_fill(struct sim *s)
{
	for (unsigned i = 0; i < s->rate.n; i++) {
		for (uint32_t bytes = 1; bytes <= s->max_bytes; bytes++)
			duration_of(s, i, bytes);
	}
}

static void cut_init(struct domain_partition *c, const struct sim *s, const uint16_t *part_of_node,
		     uint32_t n)
{
	const struct sim_setup *setup = s->setup;

	*c = (struct domain_partition){
		.n = n,
		.last = n,
		.part_of_node = hd_alloc(setup->n_nodes, sizeof(*c->part_of_node)),
		.part_of_port = hd_alloc(setup->n_ports, sizeof(*c->part_of_port)),
		.wires = hd_alloc_sparse(setup->n_ports, sizeof(*c->wires)),
	};
	memcpy(c->part_of_node, part_of_node, setup->n_nodes * sizeof(*part_of_node));
	for (uint32_t i = 0; i < setup->n_ports; i++)
		c->part_of_port[i] = part_of_node[setup->ports[i].node];
}

static void wires_init(struct domain_partition *c, const struct sim *s)
{
	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		uint32_t peer = s->setup->ports[i].peer;

		if (peer != SIM_NONE && cut_has_row(c, s->setup, i) &&
		    c->part_of_port[i] != c->part_of_port[peer])
			c->wires[i] = s->links[i];
	}
}

/* Each endpoint has a separate context per domain. */
static void endpoints_cut(struct sim *s)
{
	const struct domains *p = s->parts;
	const struct sim_cut cut = {
		.n = p->cut.n,
		.first = p->first,
		.last = p->last,
		.parts = p->part,
		.part_of_node = p->cut.part_of_node,
	};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	void **contexts = hd_alloc(cut.n, sizeof(*contexts));

	for (uint32_t e = 0; e < s->ends.n; e++) {
		s->ends.all[e].cut(s->ends.all[e].context, &cut, contexts);
		for (uint32_t i = 0; i < cut.n; i++)
			p->part[i]->ends.all[e].context = contexts[i];
	}
	free(contexts);
}

void domains_make(struct sim *s, const uint16_t *part_of_node, uint32_t n, unsigned threads)
{
	struct domains *p = hd_alloc(1, sizeof(*p));

	p->whole = s;
	p->stops_dry = has_timers(s) && may_run_dry(s);
	p->lookahead = partition_lookahead(s, part_of_node);
	cut_init(&p->cut, s, part_of_node, n);
	p->last = n;
	if (s->rules.world)
		remote_init(p);
	if (!s->run.has_rows)
		domain_init_ports(s, s->run.is_loaded ? NULL : &p->cut);
	wires_init(&p->cut, s);
	durations_fill(s);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	p->part = hd_alloc(n, sizeof(*p->part));
	for (unsigned i = 0; i < 2; i++)
		p->boxes[i] = hd_alloc_dense((size_t)n * n, sizeof(*p->boxes[i]));
	for (uint32_t i = 0; i < n; i++)
		p->part[i] = part_new(s, &p->cut, i);
	s->parts = p;
	events_share(s);
	endpoints_cut(s);
	n = p->last - p->first;
	p->pool = barrier_pool_new(threads < n ? threads : n, domain_window, p);
	tempo_init(&p->tempo);
}

void domains_free(struct sim *s)
{
	struct domains *p = s->parts;

	if (!p)
		return;
	barrier_pool_free(p->pool);
	remote_fini(p);
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
	free(p->waits);
	free(p);
}

/* Reason for fewer domains than processes, or for one. */
static const char *reason_for_few(const struct sim *s, uint32_t n)
{
	bool joined = false;

	for (uint32_t i = 0; i < s->ends.n; i++)
		joined |= s->ends.all[i].joined != NULL;
	if (joined)
		return n < 2 ? "links inside its hosts join all its switches"
			     : "it has fewer switches that links inside hosts do not join";
	return n < 2 ? "it has one switch" : "it has fewer switches";
}

/* Partitions into n domains if possible. */
static void parts_cut(struct sim *s, uint32_t n, unsigned threads)
{
	s->not_partitioned_because = reason_not_to_cut(s);
	if (s->not_partitioned_because)
		return;
	uint16_t *part_of_node = hd_alloc(s->setup->n_nodes, sizeof(*part_of_node));

	n = partition(s, n, part_of_node);
	if (s->rules.world)
		n = remote_partition(s, n, part_of_node);
	if (n == 0)
		s->not_partitioned_because = "they disagree on where to cut it";
	else if (n < 2 || (s->rules.world && n < s->rules.world->n))
		s->not_partitioned_because = reason_for_few(s, n);
	else if (!s->rules.parts && partition_lookahead(s, part_of_node) < LEAST_AHEAD)
		s->not_partitioned_because =
			"its links, switches or answers take less than 1 ns, so nothing can be computed ahead";
	else
		domains_make(s, part_of_node, n, threads);
	free(part_of_node);
}

/* Each process has as many domains as threads. */
static uint32_t parts_asked(const struct sim_rules *r, unsigned threads)
{
	uint32_t processes = r->world ? r->world->n : 1;

	if (r->parts)
		return r->parts > processes ? r->parts : processes;
	return processes * threads;
}

void domains_begin(struct sim *s)
{
	unsigned threads = threads_for(s, &s->not_partitioned_because);
	uint32_t n = parts_asked(&s->rules, threads);

	s->run.has_begun = true;
	if (n > 1)
		parts_cut(s, n, threads);
	if (!s->run.has_rows)
		domain_init_ports(s, NULL);
	const struct parallel_use use = {
		.parts = sim_n_parts(s),
		.threads = s->parts ? barrier_pool_size(s->parts->pool) : 1,
		.why = s->not_partitioned_because,
	};

	parallel_record_use(&use);
}

const char *sim_share(struct sim *s)
{
	if (!s->run.has_begun)
		domains_begin(s);
	return s->not_partitioned_because;
}

bool sim_ask_first(struct sim *s, bool says)
{
	return s->parts ? remote_ask(s->parts, says) : says;
}

unsigned sim_broken_by(const struct sim *s)
{
	return s->parts->distant->by;
}
