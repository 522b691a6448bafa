/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/injection/source.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/engine.h"
#include "sim/core/vl_sharing.h"
#include "sim/injection/control.h"
#include "sim/injection/probe.h"
#include "sim/metrics/metrics.h"
#include "sim/routing/routes.h"

#include <math.h>

#include "base/alloc.h"

/* ---- destinations ------------------------------------------------------- */

/* Draws from list[0 .. n) without `self`, which may lie outside. */
static uint32_t draw_other(struct rng *r, uint32_t n, uint32_t self)
{
	if (self >= n)
		return (uint32_t)rng_below(r, n);
	uint32_t i = (uint32_t)rng_below(r, n - 1);

	return i < self ? i : i + 1;
}

static struct sim_address destination(const struct sim_flow *f, struct source *src,
				      struct source_state *state)
{
	const struct sim_destinations *to = &f->to;
	uint32_t i = 0, hot = to->n_hot;

	switch (to->choice) {
	case SIM_TO_FIXED:
		break;
	case SIM_TO_UNIFORM:
		i = draw_other(&src->rng, to->n, to->self);
		break;
	case SIM_TO_HOTSPOT:
		if (rng_uniform(&src->rng) < to->hot_share && hot > (to->self < hot))
			i = draw_other(&src->rng, hot, to->self);
		else
			i = draw_other(&src->rng, to->n, to->self);
		break;
	case SIM_TO_CYCLE:
		i = state->place < to->n ? state->place : 0;
		if (i == to->self)
			i = i + 1 < to->n ? i + 1 : 0;
		state->place = i + 1;
		break;
	}
	return to->list[i];
}

/* ---- times -------------------------------------------------------------- */

static double mean_gap(const struct sim_flow *f)
{
	return (double)f->interval.num / (double)f->interval.den;
}

/* Advances by a gap that is not a whole number of ps; the fraction is carried over. */
static void advance(struct source *src, double gap)
{
	double sum = gap + src->fraction;

	if (likely(sum < 0x1p62)) {
		/* Truncation equals floor: the sum is not negative. */
		int64_t whole = (int64_t)sum;

		src->fraction = sum - (double)whole;
		src->at += (hd_time)whole;
		return;
	}
	double whole = floor(sum);

	src->fraction = sum - whole;
	src->at += (hd_time)whole;
}

static void advance_exact(struct source *src, const struct sim_interval *by)
{
	src->at += by->num / by->den;
	src->part += by->num % by->den;
	if (src->part >= by->den) {
		src->part -= by->den;
		src->at++;
	}
}

static double draw_period(struct source *src, const struct sim_flow *f, hd_time mean)
{
	if (f->kind == SIM_ON_OFF)
		return rng_exponential(&src->rng, (double)mean);
	double least = (double)mean * (f->shape - 1) / f->shape;

	return least / pow(1 - rng_uniform(&src->rng), 1 / f->shape);
}

/*
 * On-off sources: messages are spaced by the interval measured in on-time only, so that the mean
 * rate is exact for bursts of any length.
 */
static void advance_bursts(struct source *src, struct source_state *state, const struct sim_flow *f)
{
	hd_time from = src->at;

	advance_exact(src, &f->interval);
	hd_time left = src->at - from;
	while (from + left >= state->turn) {
		left -= state->turn > from ? state->turn - from : 0;
		from = state->turn + (hd_time)draw_period(src, f, f->mean_off);
		state->turn = from + (hd_time)draw_period(src, f, f->mean_on) + 1;
	}
	src->at = from + left;
}

static void source_advance(struct source *src, struct source_state *state, const struct sim_flow *f)
{
	switch (f->kind) {
	case SIM_CBR:
		advance_exact(src, &f->interval);
		break;
	case SIM_POISSON:
		advance(src, rng_exponential(&src->rng, mean_gap(f)));
		break;
	case SIM_GE:
		advance(src, rng_ge(&src->rng, mean_gap(f), f->scv));
		break;
	case SIM_ON_OFF:
	case SIM_PARETO:
		advance_bursts(src, state, f);
		break;
	case SIM_TRACE:
		state->place++;
		src->at = state->place < f->n_trace ? f->trace[state->place].time : NEVER;
		break;
	case SIM_SATURATING:
	case SIM_BURST:
		src->at = NEVER;
		break;
	}
}

static void source_start(struct source *src, struct source_state *state, const struct sim_flow *f,
			 hd_time start)
{
	double on = (double)f->mean_on, off = (double)f->mean_off;

	src->at = start;
	switch (f->kind) {
	case SIM_CBR:
		if (f->random_phase)
			src->at += rng_below(&src->rng, f->interval.num / f->interval.den + 1);
		break;
	case SIM_POISSON:
	case SIM_GE:
		source_advance(src, state, f);
		break;
	case SIM_ON_OFF:
	case SIM_PARETO:
		state->turn = start;
		if (rng_uniform(&src->rng) * (on + off) < on)
			state->turn += (hd_time)draw_period(src, f, f->mean_on);
		advance_bursts(src, state, f);
		break;
	case SIM_TRACE:
		src->at = f->n_trace > 0 ? f->trace[0].time : NEVER;
		break;
	case SIM_SATURATING:
	case SIM_BURST:
		break;
	}
}

/* Whether the flow creates no more messages from `when` on. */
static bool is_over(const struct sim *s, uint32_t flow, hd_time when)
{
	const struct sim_flow *f = &s->flows[flow];
	const struct source_state *state = &s->make.states[flow];

	if (f->count && state->made >= f->count && state->sent_of_message == 0)
		return true;
	if (!f->stop || when < f->stop)
		return false;
	/* C8: from `stop` on, a flow with a reservation creates one packet, which releases it. */
	return state->release_made || !flow_reserves(s, flow);
}

static void source_schedule(struct sim *s, uint32_t flow)
{
	const struct source *src = &s->make.sources[flow];

	if (src->at != NEVER && !is_over(s, flow, src->at))
		eventq_push(&s->q, src->at, event_key(EV_SOURCE, 0, 0, flow));
}

void source_begin(struct sim *s, uint32_t flow, hd_time start)
{
	source_start(&s->make.sources[flow], &s->make.states[flow], &s->flows[flow], start);
	source_schedule(s, flow);
}

/* ---- plans --------------------------------------------------------------- */

#define PLANS_MOST 64 /* compared linearly */

static bool plan_equal(const struct source_plan *a, const struct source_plan *b)
{
	return a->list == b->list && a->n == b->n && a->bytes == b->bytes &&
	       a->interval.num == b->interval.num && a->interval.den == b->interval.den &&
	       a->pkey == b->pkey && a->sl == b->sl && a->vl == b->vl && a->kind == b->kind &&
	       a->is_uniform == b->is_uniform;
}

/* Whether the flow is an endless stream of single packets on an existing VL. */
static bool flow_is_plain(const struct sim *s, const struct sim_flow *f)
{
	const struct node *n = &s->nodes[f->source];
	const struct sim_port *sp = &s->setup->ports[n->first_port + 1];
	bool uniform = f->to.choice == SIM_TO_UNIFORM;

	return (f->kind == SIM_POISSON || f->kind == SIM_CBR) &&
	       (uniform || f->to.choice == SIM_TO_FIXED) && f->packets <= 1 && !f->last_bytes &&
	       !(f->size_scv > 0) && !f->management && !f->posted && !f->stop && !f->count &&
	       n->vl_of_sl[f->sl & 15] < sp->vls;
}

/* The index of the flow's plan, or NONE for the general case. */
static uint32_t plan_find(struct sim *s, const struct sim_flow *f)
{
	if (s->pool.extras || s->sharing || s->mode.routers || s->control ||
	    s->setup->subnet->sl_of_path || s->setup->n_paths || !flow_is_plain(s, f))
		return NONE;
	struct source_plan plan = {
		.list = f->to.list,
		.n = f->to.n,
		.bytes = f->bytes,
		.gap = mean_gap(f),
		.interval = f->interval,
		.pkey = f->pkey,
		.sl = f->sl & 15,
		.vl = s->nodes[f->source].vl_of_sl[f->sl & 15],
		.kind = (uint8_t)f->kind,
		.is_uniform = f->to.choice == SIM_TO_UNIFORM,
	};

	for (uint32_t i = s->make.n_plans; i-- > 0;) {
		if (plan_equal(&s->make.plans[i], &plan))
			return i;
	}
	if (s->make.n_plans == PLANS_MOST)
		return NONE;
	s->make.plans = hd_grow(s->make.plans, &s->make.plans_cap, (size_t)s->make.n_plans + 1,
				sizeof(*s->make.plans));
	s->make.plans[s->make.n_plans] = plan;
	return s->make.n_plans++;
}

void sources_init(struct sim *s)
{
	s->make.sources = hd_alloc_dense(s->n_flows, sizeof(*s->make.sources));
	s->make.states = hd_alloc(s->n_flows, sizeof(*s->make.states));
	for (uint32_t i = 0; i < s->n_flows; i++) {
		struct source *src = &s->make.sources[i];
		struct source_state *state = &s->make.states[i];
		const struct sim_flow *f = &s->flows[i];

		rng_init(&src->rng, s->setup->seed, f->stream ? f->stream : i);
		src->plan = plan_find(s, f);
		src->self = f->to.self;
		src->out = s->nodes[f->source].first_port + 1;
		if (f->to.choice == SIM_TO_CYCLE)
			state->place = src->self == SIM_NONE ? 0 : src->self + 1;
		if (f->start > s->horizon)
			continue; /* M3: the flow has no work left */
		if (flow_reserves(s, i))
			eventq_push(&s->q, f->start, event_key(EV_ASK, 0, 0, i));
		else
			source_begin(s, i, f->start);
	}
}

/* ---- injection ---------------------------------------------------------- */

/* Created at the grant of the previous packet, in phase 5 of its instant. */
static bool is_made_at_grant(const struct packet_record *p)
{
	return (p->flags & P_SOURCE) && p->sequence > 0;
}

static bool enters_before(const struct packet_record *a, const struct packet_record *b)
{
	if (a->born != b->born)
		return a->born < b->born;
	if ((a->flags ^ b->flags) & P_OTHER)
		return a->flags & P_OTHER;
	if (is_made_at_grant(a) != is_made_at_grant(b))
		return is_made_at_grant(b);
	if (a->flow != b->flow)
		return a->flow < b->flow;
	/* <= keeps a CNP and its ACK in the order of their creation. */
	return a->sequence <= b->sequence;
}

/* Inserts into the injection queue, ordered by (time, phase, flow, sequence): T13. */
static void injection_push(struct sim *s, struct port_vl *port_vl, struct packet_record *p)
{
	uint32_t id = packet_id(s, p);
	uint32_t *link = &port_vl->queue.first;

	p->next = NONE;
	if (port_vl->queue.last == NONE) {
		port_vl->queue.first = port_vl->queue.last = id;
		return;
	}
	struct packet_record *last = packet_at(s, port_vl->queue.last);
	if (enters_before(last, p)) {
		last->next = id;
		port_vl->queue.last = id;
		return;
	}
	/* An answer: packets of this instant may already be queued (F7). */
	while (enters_before(packet_at(s, *link), p))
		link = &packet_at(s, *link)->next;
	p->next = *link;
	*link = id;
}

bool source_packet_vl(struct sim *s, struct packet_record *p)
{
	const struct node *n = &s->nodes[s->setup->ports[p->out].node];

	if (p->out_vl == VL_MANAGEMENT)
		return true;
	p->out_vl =
		likely(!s->mode.vls_change)
			? n->vl_of_sl[p->sl]
			: sl2vl_of(vls_at(s, s->now), s->setup->ports[p->out].origin)->vl[p->sl];
	if (likely(p->out_vl < vls_of(s, p->out, s->now)))
		return true;
	metrics_lost(s, p, (struct ending){ SIM_LOST_DISCARD, p->out, s->now },
		     &s->sums.rare[p->out].xmit_discards);
	packet_free(s, p);
	return false;
}

void source_packet_enter(struct sim *s, uint32_t id)
{
	struct packet_record *p = packet_at(s, id);
	struct sim_output *l = &s->links[p->out];

	if (!source_packet_vl(s, p))
		return;
	if (unlikely(s->control != NULL) && throttle_enter(s, p))
		return;
	if (unlikely(s->sharing != NULL) && !vl_sharing_admit(s, p))
		return;
	injection_push(s, &s->port_vls[p->out * s->n_vls + index_of_vl(s, p->out_vl)], p);
	if (!l->requests)
		l->since = s->now;
	l->requests |= (uint16_t)(1u << p->out_vl);
	link_request(s, p->out);
}

/* Wire size of a packet that has `bytes` within its subnet (R1). */
static inline uint32_t global_bytes(const struct sim_flow *f, const struct sim_address *to,
				    uint32_t bytes)
{
	return to->target == TOPO_NONE ? bytes : bytes + f->grh_bytes;
}

/* Fields that only some runs need; each packet of a trace has its own TClass. */
static void extra_init(struct sim *s, uint32_t id, const struct sim_flow *f, uint32_t flow,
		       port_id target)
{
	const struct sim_arrival *a =
		f->kind == SIM_TRACE ? &f->trace[s->make.states[flow].place] : NULL;

	s->pool.extras[id] = (struct packet_extra){
		.source = f->source,
		.target = target,
		.tclass = a ? a->tclass : f->tclass,
		.hop_limit = a ? a->hop_limit : f->hop_limit,
		.nth = f->copies,
	};
	if (target != TOPO_NONE)
		metrics_made_global(s, flow);
}

/* C8: whether the packet created now is the last one of an admitted flow. */
static bool ends_reservation(struct sim *s, uint32_t flow)
{
	const struct sim_flow *f = &s->flows[flow];
	struct source_state *state = &s->make.states[flow];

	if (state->release_made || !flow_reserves(s, flow))
		return false;
	state->release_made = (f->stop && s->now >= f->stop) ||
			      (f->count && state->made >= f->count && state->sent_of_message == 0);
	return state->release_made;
}

/* T11l: the P_Key that the source uses now. */
static uint16_t key_now(const struct sim *s, const struct sim_flow *f, port_id origin)
{
	return likely(!s->mode.vls_change) ? f->pkey
					   : pkey_own(&vls_at(s, s->now)->pkeys[origin], f->pkey);
}

static void packet_emit(struct sim *s, uint32_t flow, uint32_t bytes, struct sim_address to,
			unsigned sl)
{
	const struct sim_flow *f = &s->flows[flow];
	port_id origin = s->setup->ports[s->nodes[f->source].first_port + 1].origin;
	unsigned flags = f->kind == SIM_SATURATING ? P_SOURCE : 0;

	if (unlikely(s->probes != NULL) && ends_reservation(s, flow))
		flags |= P_LAST;
	/* Some routing algorithms need the SL to separate paths. */
	if (unlikely(switch_tables_paths_now(s)->sl_of_path != NULL))
		sl = path_sl(switch_tables_paths_now(s), origin, to.dlid, (uint8_t)sl);
	uint32_t id = packet_new(s);

	s->pool.all[id] = (struct packet_record){
		.born = s->now,
		.ready = s->now,
		.next = NONE,
		.flow = flow,
		.sequence = s->make.sources[flow].sequence++,
		.out = s->make.sources[flow].out,
		.up = NONE,
		.slot = NONE,
		.bytes = bytes & PACKET_BYTES,
		.dlid = to.dlid,
		.pkey = key_now(s, f, origin),
		.out_vl = f->management ? VL_MANAGEMENT : 0,
		.sl = sl & 15u,
		.flags = flags & 0xff,
	};
	if (s->pool.extras)
		extra_init(s, id, f, flow, to.target);
	metrics_made(s, flow, bytes);
	source_packet_enter(s, id);
}

static uint32_t draw_size(const struct sim_flow *f, struct rng *rng)
{
	double payload = ceil(rng_ge(rng, f->size_mean, f->size_scv));
	double most = f->bytes - f->size_overhead;

	payload = payload < 1 ? 1 : payload > most ? most : payload;
	return (uint32_t)payload + f->size_overhead;
}

/* ---- messages that an endpoint posts ---------------------------------- */

static bool is_posted(const struct sim *s, uint32_t flow)
{
	return unlikely(s->flows[flow].posted) && s->ends.poster;
}

/* Bytes of packet i of a message. */
static uint32_t bytes_of(const struct sim_flow *f, uint32_t i)
{
	return i + 1 >= f->packets && f->last_bytes ? f->last_bytes : f->bytes;
}

bool sim_message_make(struct sim *s, uint32_t flow)
{
	const struct sim_flow *f = &s->flows[flow];

	if (is_over(s, flow, s->now))
		return false;
	s->make.states[flow].made++;
	for (uint32_t i = 0; i < f->packets; i++)
		metrics_made(s, flow, bytes_of(f, i));
	return true;
}

/* The SL of a message's packets to this end node. */
static unsigned message_sl(const struct sim *s, const struct sim_flow *f, uint32_t node)
{
	const struct sim_port *ports = s->setup->ports;
	port_id to = ports[s->nodes[node].first_port + 1].origin;
	port_id from = ports[s->nodes[f->source].first_port + 1].origin;

	return path_sl(switch_tables_paths_now(s), from,
		       switch_tables_paths_now(s)->lid_of_port[to], f->sl) &
	       15u;
}

void sim_message_arrived(struct sim *s, uint32_t node, uint32_t flow, hd_time born)
{
	const struct sim_flow *f = &s->flows[flow];
	unsigned sl = message_sl(s, f, node);

	for (uint32_t i = 0; i < f->packets; i++) {
		const struct late l = {
			.at = s->now,
			.latency = s->now - born,
			.flow = flow,
			.bytes = bytes_of(f, i),
			.where = s->nodes[node].first_port + 1,
			.turn = LATE_DELIVERY,
		};

		metrics_arrived(s, &l, sl);
	}
}

void sim_message_lost(struct sim *s, uint32_t flow)
{
	metrics_missed(s, flow, s->flows[flow].packets);
}

static void message_post(struct sim *s, uint32_t flow)
{
	const struct sim_endpoint *e = &s->ends.all[s->ends.poster - 1];

	if (sim_message_make(s, flow))
		e->made(e->context, s->now, flow);
}

/* ---- messages of one packet -------------------------------------------- */

static void message_emit(struct sim *s, uint32_t flow)
{
	if (is_posted(s, flow)) {
		message_post(s, flow);
		return;
	}
	const struct sim_flow *f = &s->flows[flow];
	struct source *src = &s->make.sources[flow];
	struct source_state *state = &s->make.states[flow];
	struct sim_address to = destination(f, src, state);
	uint32_t last = f->last_bytes ? f->last_bytes : f->bytes;

	state->made++;
	if (unlikely(f->size_scv > 0))
		last = draw_size(f, &src->rng);
	for (uint32_t i = 0; i + 1 < f->packets; i++) {
		state->sent_of_message = i + 1;
		packet_emit(s, flow, global_bytes(f, &to, f->bytes), to, f->sl);
	}
	state->sent_of_message = 0;
	packet_emit(s, flow, global_bytes(f, &to, last), to, f->sl);
}

static void trace_emit(struct sim *s, uint32_t flow)
{
	const struct sim_arrival *a = &s->flows[flow].trace[s->make.states[flow].place];
	struct sim_address to = {
		.dlid = a->dlid,
		.target = a->global ? a->target : TOPO_NONE,
	};

	s->make.states[flow].made++;
	packet_emit(s, flow, a->bytes, to, a->sl);
}

/* Creates the next packet of a saturating flow. */
static void saturate(struct sim *s, uint32_t flow)
{
	const struct sim_flow *f = &s->flows[flow];
	struct source *src = &s->make.sources[flow];
	struct source_state *state = &s->make.states[flow];
	uint32_t packets = f->packets > 1 ? f->packets : 1;

	if (is_posted(s, flow)) {
		message_post(s, flow);
		return;
	}
	if (is_over(s, flow, s->now))
		return;
	if (state->sent_of_message == 0) {
		state->current = destination(f, src, state);
		state->made++;
	}
	bool is_last = ++state->sent_of_message == packets;
	uint32_t bytes = is_last && f->last_bytes ? f->last_bytes : f->bytes;

	if (is_last)
		state->sent_of_message = 0;
	if (unlikely(f->size_scv > 0))
		bytes = draw_size(f, &src->rng);
	packet_emit(s, flow, global_bytes(f, &state->current, bytes), state->current, f->sl);
}

void source_granted(struct sim *s, uint32_t flow)
{
	saturate(s, flow);
}

/* As packet_emit, with all fields but the destination known in advance. */
static void plan_emit(struct sim *s, uint32_t flow, const struct source_plan *plan, lid_t dlid)
{
	struct source *src = &s->make.sources[flow];
	uint32_t id = packet_new(s), out = src->out;
	struct packet_record *p = packet_at(s, id);
	struct sim_output *l = &s->links[out];

	*p = (struct packet_record){
		.born = s->now,
		.ready = s->now,
		.next = NONE,
		.flow = flow,
		.sequence = src->sequence++,
		.out = out,
		.up = NONE,
		.slot = NONE,
		.bytes = plan->bytes & PACKET_BYTES,
		.dlid = dlid,
		.pkey = plan->pkey,
		.out_vl = plan->vl,
		.sl = plan->sl & 15u,
	};
	metrics_made_planned(s, plan->bytes);
	injection_push(s, &s->port_vls[out * s->n_vls + plan->vl], p);
	if (!l->requests)
		l->since = s->now;
	l->requests |= (uint16_t)(1u << plan->vl);
	link_request(s, out);
}

static void plan_fire(struct sim *s, uint32_t flow)
{
	struct source *src = &s->make.sources[flow];
	const struct source_plan *plan = &s->make.plans[src->plan];
	uint32_t to = plan->is_uniform ? draw_other(&src->rng, plan->n, src->self) : 0;

	plan_emit(s, flow, plan, plan->list[to].dlid);
	if (plan->kind == SIM_POISSON)
		advance(src, rng_exponential(&src->rng, plan->gap));
	else
		advance_exact(src, &plan->interval);
	eventq_push(&s->q, src->at, event_key(EV_SOURCE, 0, 0, flow));
}

void source_fire(struct sim *s, uint32_t flow)
{
	const struct sim_flow *f = &s->flows[flow];

	if (likely(s->make.sources[flow].plan != NONE)) {
		plan_fire(s, flow);
		return;
	}
	switch (f->kind) {
	case SIM_SATURATING:
		saturate(s, flow);
		break;
	case SIM_TRACE:
		trace_emit(s, flow);
		break;
	case SIM_BURST:
		while (s->make.states[flow].made < f->count)
			message_emit(s, flow);
		break;
	default:
		message_emit(s, flow);
	}
	source_advance(&s->make.sources[flow], &s->make.states[flow], f);
	source_schedule(s, flow);
}

/* ---- checkpoint --------------------------------------------------------- */

static const struct pack_member source_members[] = {
	PACK_EACH(source, rng.s),
	PACK(source, at),
	PACK(source, part),
	PACK(source, sequence),
};

static const struct pack_member state_members[] = {
	PACK(source_state, turn),         PACK(source_state, made),
	PACK(source_state, place),        PACK(source_state, sent_of_message),
	PACK(source_state, current.dlid), PACK(source_state, current.target),
	PACK(source_state, before),       PACK(source_state, release_made),
};

PACK_KNOWS(source_state, 40);

void checkpoint_state_sources(struct checkpoint_state *v)
{
	struct sim *s = v->s;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct sim_flow *f = &s->flows[i];

		if (!checkpoint_state_has_flow(v, i))
			continue;
		PACK_STRUCT(v->p, source_members, &s->make.sources[i]);
		PACK_STRUCT(v->p, state_members, &s->make.states[i]);
		pack_check(v->p, f->kind != SIM_TRACE || s->make.states[i].place <= f->n_trace);
	}
}
