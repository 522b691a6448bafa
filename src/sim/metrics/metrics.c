/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/eventq.h"
#include "base/map.h"
#include "base/units.h"
#include "fabric/flow.h"
#include "fabric/setup.h"
#include "measure/fairness.h"
#include "measure/histogram.h"
#include "measure/interval.h"
#include "scenario/model.h"
#include "sim/core/event.h"
#include "sim/core/sim_internal.h"
#include "sim/core/vl_sharing.h"
#include "sim/domains/domains.h"
#include "sim/injection/ack.h"
#include "sim/injection/control.h"
#include "sim/injection/probe.h"
#include "sim/metrics/flow_tally.h"
#include "sim/metrics/members.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"
#include "sim/metrics/record.h"
#include "sim/metrics/tally.h"
#include "sim/routing/choose.h"
#include "sim/sim.h"
#include "subnet/subnet.h"
#include "topo/topo.h"

const uint8_t sim_deadlines[SIM_DEADLINES] = { 1, 2, 4, 8, 16, 24, 32 };

void sim_rules_init(struct sim_rules *rules)
{
	*rules = (struct sim_rules){
		.level = 0.95,
		.flow_metrics = true,
		.port_metrics = true,
#ifdef HD_CHECKS
		.check_order = true,
#endif
	};
}

/* ---- setting up --------------------------------------------------------- */

#define MANY_GROUPS 64 /* from this number on, histograms of groups share pages */

static struct sim_group *group_add(struct metrics_tally *t, uint32_t row, uint8_t sl, bool many)
{
	struct sim_metrics *m = &t->m;

	m->groups = hd_grow_dense(m->groups, &t->groups_cap, (size_t)m->n_groups + 1,
				  sizeof(*m->groups));
	struct sim_group *g = &m->groups[m->n_groups++];

	*g = (struct sim_group){ .row = row, .sl = sl, .flow = SIM_NONE };
	histogram_init_in(&g->latency, many ? &t->rows : NULL);
	return g;
}

/* `seen` maps the existing groups. */
static uint32_t group_find(struct metrics_tally *t, struct map *seen, uint32_t row, uint8_t sl)
{
	uint32_t fresh = t->m.n_groups;
	uint32_t group = map_put(seen, (uint64_t)row << 8 | sl, fresh);

	if (group != MAP_NONE)
		return group;
	group_add(t, row, sl, false);
	return fresh;
}

static void groups_init(struct sim *s, struct metrics_tally *t)
{
	struct sim_metrics *m = &t->m;
	struct map seen = { 0 };

	m->n_flows = s->n_flows;
	m->flows = hd_alloc_dense(s->n_flows, sizeof(*m->flows));
	histogram_pool_init(&t->rows);
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct sim_flow *f = &s->flows[i];
		uint32_t group = m->n_groups;

		if (s->n_flows <= SIM_MAX_FLOWS)
			group_add(t, f->row, f->sl, s->n_flows >= MANY_GROUPS)->flow = i;
		else
			group = group_find(t, &seen, f->row, f->sl);
		m->groups[group].n_flows++;
		m->flows[i].group = group;
	}
	map_fini(&seen);
}

void metrics_init(struct sim *s)
{
	struct metrics_tally *t = hd_alloc(1, sizeof(*t));

	s->outcome.tally = t;
	s->outcome.metrics = &t->m;
	groups_init(s, t);
	histogram_init(&t->m.latency);
	for (unsigned i = 0; i < N_SLS; i++)
		histogram_init(&t->m.latency_sl[i]);
	flow_tallies_init(&t->flows, s->flows, &t->m, s->rules.flow_metrics);
	metrics_order_init(s);
	metrics_stop_rules_init(s);
	t->m.n_ports = s->setup->n_ports;
	t->m.ports = hd_alloc(t->m.n_ports, sizeof(*t->m.ports));

	if (s->rules.stop)
		s->horizon = s->rules.stop;
	s->from = s->rules.warmup_packets ? NEVER : s->rules.warmup;
	if (s->from > 0 && s->from != NEVER) {
		eventq_push(&s->q, s->from, event_key(EV_MEASURE, 0, 0, 0));
		s->background++;
	}
}

void metrics_fini(struct sim *s)
{
	struct metrics_tally *t = s->outcome.tally;

	for (uint32_t i = 0; i < t->m.n_groups; i++)
		histogram_fini(&t->m.groups[i].latency);
	histogram_fini(&t->m.latency);
	for (unsigned i = 0; i < N_SLS; i++)
		histogram_fini(&t->m.latency_sl[i]);
	histogram_pool_fini(&t->rows);
	free(t->m.groups);
	free(t->m.flows);
	free(t->m.ports);
	flow_tallies_fini(&t->flows);
	free(t->pairs);
	free(t->end_number);
	free(t->per_flow);
	free(t);
}

/* Zero pages take no memory until they are written. */
static void rows_clear(void *rows, size_t bytes)
{
	static const char zeros[4096];

	for (char *at = rows; bytes > 0;) {
		size_t n = bytes < sizeof(zeros) ? bytes : sizeof(zeros);

		if (memcmp(at, zeros, n) != 0)
			memset(at, 0, n);
		at += n;
		bytes -= n;
	}
}

/* Ends the warm-up: all counters start here. */
void metrics_start(struct sim *s)
{
	size_t n = s->setup->n_ports;

	if (s->sharing)
		vl_sharing_restart(s);
	if (s->control)
		control_restart(s);
	choice_restart(s);
	s->outcome.hops_before = s->outcome.hops;
	for (uint32_t i = 0; s->parts && i < s->parts->cut.n; i++)
		s->parts->part[i]->outcome.hops_before = s->parts->part[i]->outcome.hops;
	for (uint32_t i = 0; i < s->n_flows; i++)
		s->make.states[i].before = s->make.sources[i].sequence;
	for (uint32_t i = 0; i < n; i++) {
		if (has_row(s, i))
			metrics_port_restart(s, i);
	}
	rows_clear(s->sums.carries, n * s->n_vls * sizeof(*s->sums.carries));
	if (s->sums.by_sl)
		rows_clear(s->sums.by_sl, n * s->n_sls * sizeof(*s->sums.by_sl));
	rows_clear(s->sums.rare, n * sizeof(*s->sums.rare));
	rows_clear(s->sums.missed, n * missed_row(s) * sizeof(*s->sums.missed));
}

/* Whether EV_MEASURE, or an event before it, is still pending. */
static bool measure_is_left(struct sim *s)
{
	const struct event *next = eventq_first(&s->q);

	return next && (next->when < s->from ||
			(next->when == s->from && key_kind(next->key) <= EV_MEASURE));
}

void metrics_end(struct sim *s, enum sim_state state)
{
	hd_time now = s->now;

	if (state == SIM_PAUSED || state == SIM_BROKEN)
		return;
	/* An idle run decides at the arrival of its last packet and has no check in between. */
	if (now >= s->from && !measure_is_left(s))
		return;
	s->now = now < s->from ? now : s->from;
	metrics_start(s);
	s->now = now;
}

/* ---- counting ----------------------------------------------------------- */

static bool is_measured(const struct sim *s, hd_time when)
{
	return when >= s->from && when <= s->horizon;
}

void metrics_made(struct sim *s, uint32_t flow, uint32_t bytes)
{
	struct sim_metrics *m = s->outcome.metrics;

	if (!is_measured(s, s->now))
		return;
	m->made++;
	m->made_bytes += bytes;
	m->flows[flow].made++;
	m->flows[flow].made_bytes += bytes;
}

void metrics_made_planned(struct sim *s, uint32_t bytes)
{
	if (!is_measured(s, s->now))
		return;
	s->outcome.metrics->made++;
	s->outcome.metrics->made_bytes += bytes;
}

/* Flows with a plan: messages created since measuring began. */
static void report_made(const struct sim *s, struct sim_metrics *m)
{
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct source *src = &s->make.sources[i];

		if (src->plan == NONE)
			continue;
		m->flows[i].made = s->now < s->from ? 0 : src->sequence - s->make.states[i].before;
		m->flows[i].made_bytes = m->flows[i].made * s->make.plans[src->plan].bytes;
	}
}

void metrics_made_global(struct sim *s, uint32_t flow)
{
	if (is_measured(s, s->now))
		s->outcome.metrics->flows[flow].made_global++;
}

static enum sim_packet_kind packet_kind(const struct sim *s, const struct packet_record *p)
{
	return p->flags & P_OTHER ? s->pool.extras[packet_id(s, p)].kind : SIM_DATA;
}

/* Whether the packet is neither data nor a reduction. */
static bool is_of_control(const struct sim *s, const struct packet_record *p)
{
	return (p->flags & P_OTHER) && (!s->pool.extras || packet_kind(s, p) < SIM_CONTRIBUTION);
}

static bool is_at_home_here(const struct sim *s, uint32_t flow)
{
	if (!s->cut)
		return true;
	uint32_t home = flow_home(s, flow);

	return home >= s->cut->first && home < s->cut->last;
}

HOT void count_late(struct sim *s, struct metrics_tally *t, const struct late *l)
{
	if (s->cut)
		mail_delivery(s, l);
	else
		flow_tallies_add(&t->flows, l);
	/* Packets that are sent to another process are counted there. */
	if (unlikely(t->per_flow != NULL) && is_at_home_here(s, l->flow) &&
	    __atomic_add_fetch(&t->per_flow[l->flow], 1, __ATOMIC_RELAXED) ==
		    s->rules.packets_per_flow)
		t->flows_done++;
}

/* Counts a packet by SL. If all packets have the SL of their flow, the groups have these counts. */
static void count_sl(const struct sim *s, struct metrics_tally *t, unsigned sl, hd_time latency)
{
	if (unlikely(s->mode.sls_vary) && s->rules.flow_metrics)
		histogram_record(&t->m.latency_sl[sl], latency);
}

static void flow_delivered(struct sim *s, struct metrics_tally *t, const struct packet_record *p,
			   uint32_t where, hd_time latency)
{
	const struct late l = {
		.at = s->now,
		.latency = latency,
		.flow = p->flow,
		.bytes = p->bytes,
		.where = where,
		.turn = p->head > s->now   ? LATE_GRANT
			: p->head < s->now ? LATE_DELIVERY
					   : LATE_HEAD,
	};

	if (unlikely(s->mode.routers) && s->pool.extras[packet_id(s, p)].target != TOPO_NONE)
		count_one(&t->m.flows[p->flow].delivered_global);
	count_late(s, t, &l);
	count_sl(s, t, p->sl, latency);
}

/* SL of the traffic row; routes and routers may change it. */
static unsigned asked_sl(const struct sim *s, const struct packet_record *p)
{
	const struct sim_flow *f = &s->flows[p->flow];

	return f->kind == SIM_TRACE ? p->sl : f->sl & 15u;
}

/* ---- how packets end ---------------------------------------------------- */

/*
 * Linear in the times, with the same slope in every period of a repeating run, so that skipped
 * periods can be added (ROLE_SQUARE).
 */
static uint64_t checksum_of_endpoint(const struct packet_record *p, uint32_t where, hd_time when)
{
	uint64_t slope = mix_bits((uint64_t)where << 32 ^ (uint64_t)p->sl << 28 ^ p->bytes);

	return when * (slope | 1) + p->born * (mix_bits(slope) | 1);
}

void metrics_delivered(struct sim *s, const struct packet_record *p, uint32_t where, hd_time when)
{
	struct metrics_tally *t = s->outcome.tally;

	if (when > s->horizon)
		return;
	if (unlikely(s->tell.ends))
		observers_ended(s, p, &(struct ending){ SIM_DELIVERED, where, when });
	s->outcome.latest = when > s->outcome.latest ? when : s->outcome.latest;
	if (unlikely(s->choices != NULL) && t->pairs)
		metrics_order_check_endpoint(s, p, s->setup->ports[where].node);
	if (unlikely(is_of_control(s, p)))
		return;
	s->outcome.delivered_all++;
	if (t->pairs && p->flow < s->n_flows)
		metrics_order_check(s, p, s->setup->ports[where].node);
	if (members_are_carried(s, p) && !metrics_members_served(s, p, when))
		return;
	if (unlikely(when < s->from)) {
		t->warmed += when >= s->rules.warmup;
		if (!s->cut)
			metrics_check_warm(s);
		return;
	}
	hd_time latency = when - p->born;

	t->m.delivered++;
	t->m.delivered_bytes += p->bytes;
	if (likely(p->flow < s->n_flows)) {
		t->m.checksum += mix_bits(when ^ (uint64_t)p->flow << 40 ^ (uint64_t)where << 20 ^
					  p->sequence);
		flow_delivered(s, t, p, where, latency);
	} else {
		t->m.checksum += checksum_of_endpoint(p, where, when);
	}
	if (likely(!has_packet_rules(&s->rules)))
		return;
	if (p->flow < s->n_flows)
		t->per_sl[asked_sl(s, p)]++;
	if (!s->cut)
		metrics_check_stop(s);
}

void metrics_arrived(struct sim *s, const struct late *l, unsigned sl)
{
	struct metrics_tally *t = s->outcome.tally;

	if (!is_measured(s, s->now))
		return;
	count_late(s, t, l);
	count_sl(s, t, sl, l->latency);
	if (!has_packet_rules(&s->rules))
		return;
	t->per_sl[s->flows[l->flow].sl & 15u]++;
	if (!s->cut)
		metrics_check_stop(s);
}

void metrics_missed(struct sim *s, uint32_t flow, uint32_t packets)
{
	if (is_measured(s, s->now))
		count_add(&s->outcome.metrics->flows[flow].lost, packets);
}

static void endpoint_lost(struct sim *s, const struct packet_record *p, hd_time when)
{
	const struct packet_extra *x = &s->pool.extras[packet_id(s, p)];

	/* Packets created by switches are not reported: no endpoint sent them (S6). */
	if (x->endpoint == 0 || (s->nodes[x->source].kind != SIM_END && !packet_router(s, p)))
		return;
	const struct sim_endpoint *e = &s->ends.all[x->endpoint - 1];

	if (e->lost)
		e->lost(e->context, when, x->cookie, p->up != NONE);
}

void metrics_lost(struct sim *s, const struct packet_record *p, struct ending e, uint64_t *counter)
{
	struct sim_metrics *m = s->outcome.metrics;

	if (e.time > s->horizon)
		return;
	count_one(counter);
	s->outcome.latest = e.time > s->outcome.latest ? e.time : s->outcome.latest;
	if (s->tell.ends)
		observers_ended(s, p, &e);
	if (s->ends.n && s->pool.extras)
		endpoint_lost(s, p, e.time);
	if (e.time < s->from || is_of_control(s, p))
		return;
	uint32_t n = likely(!s->members) ? 1 : metrics_members_of(s, p, e.where);

	m->lost[e.fate] += n;
	m->checksum += mix_bits(e.time ^ (uint64_t)e.where << 20 ^ e.fate);
	if (p->flow < s->n_flows)
		count_add(&m->flows[p->flow].lost, n);
}

void metrics_packet_missed(struct sim *s, uint32_t port, const struct packet_record *p)
{
	struct count *row = &s->sums.missed[s->links[port].peer * missed_row(s)];
	struct count *vl = &row[index_of_vl(s, p->vl)];
	struct count *sl = &row[s->n_vls + s->sl_index[p->sl]];

	assert(s->sl_index[p->sl] < s->n_sls);
	count_add(&vl->bytes, p->bytes);
	count_one(&vl->packets);
	count_add(&sl->bytes, p->bytes);
	count_one(&sl->packets);
	if (p->dlid >= LID_FIRST_MCAST)
		count_one(&s->sums.rare[s->links[port].peer].missed_multicast);
}

void metrics_describe_packet(struct sim *s, const struct packet_record *p, struct sim_packet *out)
{
	*out = (struct sim_packet){
		.born = p->born,
		.flow = p->flow,
		.sequence = p->sequence,
		.kind = packet_kind(s, p),
		.marked = p->flags & P_MARKED,
		.last = p->flags & P_LAST,
		.source = SIM_NONE,
		.dlid = p->dlid,
		.pkey = p->pkey,
		.bytes = p->bytes,
		.sl = p->sl,
		.vl = p->vl,
		.target = TOPO_NONE,
	};
	if (flow_reserves(s, p->flow))
		out->reserve = s->setup->control->reserve[p->flow];
	if (s->pool.extras) {
		const struct packet_extra *x = &s->pool.extras[packet_id(s, p)];

		out->answered = s->control && (p->flags & P_TOLD) && !(p->flags & P_OTHER) &&
				x->endpoint == 0;
		out->source = x->source;
		out->cookie = x->cookie;
		out->endpoint = x->endpoint;
		out->waits = x->waits;
		out->target = x->target;
		out->tclass = x->tclass;
		out->hop_limit = x->hop_limit;
		out->slid = x->slid;
	} else if (p->flow < s->n_flows) {
		out->source = s->flows[p->flow].source;
	}
}

/* F7: inserts the packet into the sink's held packets, ordered by tail. */
static void hold(struct sim *s, uint32_t port, struct packet_record *p, hd_time tail)
{
	struct packet_queue *held = &rare_at(s, port)->held;
	uint32_t *link = &held->first;

	p->ready = tail;
	while (*link != NONE && packet_at(s, *link)->ready <= tail)
		link = &packet_at(s, *link)->next;
	p->next = *link;
	*link = packet_id(s, p);
}

void metrics_schedule_delivery(struct sim *s, uint32_t port, struct packet_record *p, hd_time tail,
			       hd_time when)
{
	uint32_t id = packet_id(s, p);

	if (likely(when == tail)) {
		eventq_push(&s->q, when, event_key(EV_DELIVER, port, 1, id));
	} else if (when != NEVER) {
		hold(s, port, p, tail);
		eventq_push(&s->q, when, event_key(EV_DELIVER, port, 0, 0));
	}
}

static struct arrived arrived_of(const struct sim *s, const struct packet_record *p)
{
	const struct packet_extra *x = &s->pool.extras[packet_id(s, p)];

	return (struct arrived){
		.flow = p->flow,
		.sequence = p->sequence,
		.nth = x->nth,
		.source = x->source,
		.device = x->cookie,
		.pkey = p->pkey,
		.sl = p->sl,
		.kind = x->kind,
		.marked = p->flags & P_MARKED,
	};
}

static void hand_to_endpoint(struct sim *s, uint32_t port, struct packet_record *p, unsigned number)
{
	const struct sim_endpoint *e = &s->ends.all[number - 1];
	struct sim_packet view;

	metrics_describe_packet(s, p, &view);
	packet_free(s, p);
	if (e->delivered)
		e->delivered(e->context, s->now, s->setup->ports[port].node, &view);
}

void metrics_deliver(struct sim *s, uint32_t port, unsigned vl, uint32_t id)
{
	struct packet_queue *held = &rare_at(s, port)->held;

	if (unlikely(vl == 0)) {
		id = held->first;
		held->first = packet_at(s, id)->next;
	}
	struct packet_record *p = packet_at(s, id);

	metrics_delivered(s, p, port, s->now);
	if (s->pool.extras[id].endpoint) {
		hand_to_endpoint(s, port, p, s->pool.extras[id].endpoint);
		return;
	}
	struct arrived what = arrived_of(s, p);

	packet_free(s, p);
	ack_delivered(s, port, &what);
}

/* ---- results ------------------------------------------------------------ */

static double fairness(const struct sim_metrics *m)
{
	double *shares = hd_alloc(m->n_flows, sizeof(*shares));

	for (uint32_t i = 0; i < m->n_flows; i++)
		shares[i] = (double)m->flows[i].delivered_bytes;
	double jain = measure_jain_index(shares, m->n_flows);

	free(shares);
	return jain;
}

/* ---- all of it --------------------------------------------------------- */

const struct sim_metrics *sim_metrics(struct sim *s)
{
	struct sim_metrics *m = s->outcome.metrics;

	if (s->parts)
		metrics_collect(s);
	m->to = s->now < s->horizon ? s->now : s->horizon;
	m->from = s->from < m->to ? s->from : m->to;
	m->hops = s->outcome.hops - s->outcome.hops_before;
	m->events = s->outcome.events;
	flow_tallies_report(&s->outcome.tally->flows, m);
	report_made(s, m);
	histogram_clear(&m->latency);
	for (unsigned i = 0; i < N_SLS && !s->mode.sls_vary; i++)
		histogram_clear(&m->latency_sl[i]);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct sim_group *g = &m->groups[i];

		histogram_merge(&m->latency, &g->latency);
		if (!s->mode.sls_vary)
			histogram_merge(&m->latency_sl[g->sl & 15], &g->latency);
	}
	m->mean_latency = batch_counts_interval(&s->outcome.tally->flows.mean,
						s->rules.level > 0 ? s->rules.level : 0.95);
	m->sim = s;
	for (uint32_t i = 0; i < m->n_ports; i++)
		metrics_port_use(s, i, &m->ports[i]);
	m->jain = fairness(m);
	return m;
}
