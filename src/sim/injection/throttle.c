/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/numset.h"
#include "sim/core/vl_sharing.h"
#include "sim/injection/control.h"
#include "sim/injection/injection.h"
#include "sim/injection/mark.h"

static struct controlled *flow_at(struct sim *s, uint32_t flow)
{
	return &s->control->flows[flow];
}

/* ---- C2: the offered packet ------------------------------------------- */

static hd_time gap_of(const struct throttle *t)
{
	return t->algorithm ? cc_gap(t->algorithm, t->config, &t->state, t->took) : t->took;
}

static hd_time eligible_at(const struct sim *s, const struct throttle *t)
{
	if (!t->has_sent)
		return 0;
	return s->control->rules->fixed_gap ? t->next : t->last + gap_of(t);
}

static void withdraw(struct sim *s, struct throttle *t)
{
	if (t->offers == NONE)
		return;
	t->offers = NONE;
	sender_withdraw(s, t->port, t->sender, t->offers_vl);
}

static void offer(struct sim *s, struct throttle *t, uint32_t id)
{
	unsigned vl = packet_at(s, id)->out_vl;

	if (t->offers != NONE && t->offers_vl != vl)
		withdraw(s, t);
	bool is_new = t->offers != id; /* may fit where the previous packet did not */

	if (s->sharing && t->offers == NONE)
		vl_sharing_ready(s, t->port, vl);
	t->offers = id;
	t->offers_vl = (uint8_t)vl;
	if (is_new)
		sender_offer(s, t->port, t->sender, vl);
}

/*
 * A packet that will be eligible when the link becomes idle is offered at once: the link does
 * not arbitrate before, and its own event is sufficient.
 */
void throttle_update(struct sim *s, uint32_t number)
{
	struct throttle *t = &s->control->throttles[number];
	uint32_t place = numset_after(t->open, t->words, t->turn);

	if (place == NUMSET_NONE) {
		withdraw(s, t);
		return;
	}
	hd_time at = eligible_at(s, t);

	if (at <= s->now || at <= s->links[t->port].busy_until) {
		offer(s, t, flow_at(s, t->flows[place])->queue.first);
		return;
	}
	withdraw(s, t);
	if (at < t->pace_at) {
		t->pace_at = at;
		eventq_push(&s->q, at, event_key(EV_PACE, 0, 0, number));
	}
}

void throttle_pace(struct sim *s, uint32_t number)
{
	struct throttle *t = &s->control->throttles[number];

	if (t->pace_at != s->now)
		return;
	t->pace_at = NEVER;
	throttle_update(s, number);
}

/* ---- C1: flows ------------------------------------------------------- */

static bool is_open(const struct sim *s, const struct controlled *f)
{
	return f->queue.first != NONE && f->granted - f->acked < s->control->rules->window;
}

static void flow_look(struct sim *s, struct controlled *f)
{
	struct throttle *t = &s->control->throttles[f->throttle];

	if (is_open(s, f))
		numset_add(t->open, f->place);
	else
		numset_remove(t->open, f->place);
}

bool throttle_enter(struct sim *s, struct packet_record *p)
{
	const struct control *c = s->control;

	if (p->flow >= c->rules->n_flows || c->flows[p->flow].throttle == NONE ||
	    (p->flags & P_OTHER))
		return false;
	struct controlled *f = flow_at(s, p->flow);
	uint32_t id = packet_id(s, p);

	p->flags |= P_TOLD;
	p->next = NONE;
	f->waiting++;
	if (f->queue.first != NONE) {
		packet_at(s, f->queue.last)->next = id;
		f->queue.last = id;
		return true;
	}
	f->queue.first = f->queue.last = id;
	flow_look(s, f);
	throttle_update(s, f->throttle);
	return true;
}

static void timeout_arm(struct sim *s, uint32_t flow)
{
	struct controlled *f = flow_at(s, flow);

	if (s->control->rules->timeout == 0 || f->timeout_at != NEVER)
		return;
	f->timeout_at = f->active + s->control->rules->timeout;
	eventq_push(&s->q, f->timeout_at, event_key(EV_TIMEOUT, 0, 0, flow));
}

void throttle_take(struct sim *s, uint32_t number)
{
	struct throttle *t = &s->control->throttles[number];
	const struct packet_record *p = packet_at(s, t->offers);
	struct controlled *f = flow_at(s, p->flow);

	f->queue.first = p->next;
	f->waiting--;
	s->pool.extras[t->offers].nth = ++f->granted;
	f->active = s->now;
	flow_look(s, f);
	timeout_arm(s, p->flow);
	t->has_sent = true;
	t->last = s->now;
	t->took = duration_of(s, s->links[t->port].rate, p->bytes);
	if (s->control->rules->fixed_gap)
		t->next = s->now + gap_of(t);
	t->turn = f->place;
	t->offers = NONE;
}

/* ---- C6: answers ----------------------------------------------- */

static void account(const struct sim *s, struct throttle *t)
{
	t->rate_integral += t->state.rate * (double)(s->now - t->rate_since) / (double)HD_S;
	t->rate_since = s->now;
}

/* After a change of the rate state: updates the extremes and the timer. */
static void changed(struct sim *s, uint32_t number)
{
	struct throttle *t = &s->control->throttles[number];

	t->lowest = t->state.rate < t->lowest ? t->state.rate : t->lowest;
	t->highest = t->state.rate > t->highest ? t->state.rate : t->highest;
	if (t->state.due == t->due_at || t->state.due == NEVER)
		return;
	t->due_at = t->state.due;
	eventq_push(&s->q, t->due_at, event_key(EV_RESPOND, 0, 0, number));
}

static void respond(struct sim *s, struct controlled *f, bool marked)
{
	struct throttle *t = &s->control->throttles[f->throttle];

	f->marks += marked;
	if (!t->algorithm)
		return;
	account(s, t);
	if (marked)
		f->marked_time += 1 / t->state.rate;
	cc_on_ack(t->algorithm, t->config, &t->state, marked, s->now);
	changed(s, f->throttle);
}

void flow_acknowledged(struct sim *s, uint32_t flow, uint32_t nth, bool marked)
{
	struct controlled *f = flow_at(s, flow);

	f->active = s->now;
	if (nth > f->acked) {
		f->acked = nth;
		flow_look(s, f);
	}
	respond(s, f, marked);
	throttle_update(s, f->throttle);
}

void flow_notified(struct sim *s, uint32_t flow)
{
	struct controlled *f = flow_at(s, flow);

	respond(s, f, true);
	throttle_update(s, f->throttle);
}

void throttle_respond(struct sim *s, uint32_t number)
{
	struct throttle *t = &s->control->throttles[number];

	if (t->state.due != s->now)
		return;
	account(s, t);
	cc_on_timer(t->algorithm, t->config, &t->state, s->now);
	changed(s, number);
	throttle_update(s, number);
}

void flow_timeout(struct sim *s, uint32_t flow)
{
	struct controlled *f = flow_at(s, flow);

	f->timeout_at = NEVER;
	if (f->granted == f->acked)
		return;
	if (f->active + s->control->rules->timeout > s->now) {
		timeout_arm(s, flow);
		return;
	}
	f->acked = f->granted;
	f->timeouts++;
	flow_look(s, f);
	throttle_update(s, f->throttle);
}

/* ---- answers after `ack_delay` ----------------------------------------- */

static uint32_t delayed_new(struct control *c)
{
	uint32_t id = c->free_delayed;

	if (id != NONE) {
		c->free_delayed = c->delayed[id].next;
		return id;
	}
	c->delayed =
		hd_grow(c->delayed, &c->delayed_cap, (size_t)c->n_delayed + 1, sizeof(*c->delayed));
	return c->n_delayed++;
}

static bool is_before(const struct delayed *a, const struct delayed *b)
{
	if (a->when != b->when)
		return a->when < b->when;
	return a->flow != b->flow ? a->flow < b->flow : a->sequence < b->sequence;
}

void ack_delay_answer(struct sim *s, const struct delayed *what)
{
	uint32_t port = flow_port(s->control, what->flow);

	if (port_is_remote(s, port))
		mail_answer(s, port, what);
	else
		ack_expect(s, what);
}

void ack_expect(struct sim *s, const struct delayed *what)
{
	struct control *c = s->control;
	uint32_t port = flow_port(c, what->flow);
	struct packet_queue *q = &c->coming[s->pull.of_port[port]];
	uint32_t id = delayed_new(c);
	struct delayed *d = &c->delayed[id];
	uint32_t *link = &q->first;

	*d = *what;
	d->next = NONE;
	if (q->first != NONE && is_before(&c->delayed[q->last], d))
		link = &c->delayed[q->last].next;
	while (*link != NONE && is_before(&c->delayed[*link], d))
		link = &c->delayed[*link].next;
	d->next = *link;
	*link = id;
	if (d->next == NONE)
		q->last = id;
	eventq_push(&s->q, d->when, event_key(EV_ACKED, port, 0, 0));
}

void ack_receive(struct sim *s, uint32_t port)
{
	struct control *c = s->control;
	struct packet_queue *q = &c->coming[s->pull.of_port[port]];
	uint32_t id = q->first;
	struct delayed d = c->delayed[id];

	q->first = d.next;
	c->delayed[id].next = c->free_delayed;
	c->free_delayed = id;
	flow_acknowledged(s, d.flow, d.nth, d.marked);
}

/* ---- start and end ----------------------------------------------------- */

/* Assigns the flows to throttles, sorted by id. */
static void flows_init(struct control *c)
{
	const struct sim_control *r = c->rules;
	uint32_t *at = hd_alloc((size_t)r->n_throttles + 1, sizeof(*at));

	c->flows_of = hd_alloc(r->n_flows, sizeof(*c->flows_of));
	for (uint32_t i = 0; i < r->n_flows; i++) {
		c->flows[i] = (struct controlled){
			.queue = { NONE, NONE },
			.throttle = r->throttle_of_flow[i],
			.timeout_at = NEVER,
		};
		if (r->throttle_of_flow[i] != SIM_NONE)
			c->throttles[r->throttle_of_flow[i]].n_flows++;
	}
	for (uint32_t i = 0; i < r->n_throttles; i++) {
		c->throttles[i].flows = c->flows_of + at[i];
		at[i + 1] = at[i] + c->throttles[i].n_flows;
	}
	for (uint32_t i = 0; i < r->n_flows; i++) {
		uint32_t t = r->throttle_of_flow[i];

		if (t == SIM_NONE)
			continue;
		c->flows[i].place = at[t] - (uint32_t)(c->throttles[t].flows - c->flows_of);
		c->flows_of[at[t]++] = i;
	}
	free(at);
}

static void throttle_init(const struct sim *s, struct throttle *t, const struct sim_throttle *is)
{
	*t = (struct throttle){
		.algorithm = is->algorithm,
		.config = &is->config,
		.pace_at = NEVER,
		.due_at = NEVER,
		.offers = NONE,
		.port = s->nodes[is->node].first_port + 1,
		.sender = is->sender,
	};
	if (t->algorithm)
		cc_init(t->algorithm, t->config, &t->state);
	else
		t->state = (struct cc_state){ .rate = is->config.rmax, .due = NEVER };
	t->lowest = t->highest = t->state.rate;
}

/* Allocates the sets of flows that may send. */
static void sets_init(struct control *c)
{
	size_t words = 0;

	for (uint32_t i = 0; i < c->rules->n_throttles; i++) {
		struct throttle *t = &c->throttles[i];

		t->words = t->n_flows / 64 + 1;
		t->turn = t->n_flows ? t->n_flows - 1 : 0;
		words += t->words;
	}
	c->words = hd_alloc(words, sizeof(*c->words));
	words = 0;
	for (uint32_t i = 0; i < c->rules->n_throttles; i++) {
		c->throttles[i].open = c->words + words;
		words += c->throttles[i].words;
	}
}

/* ---- C9: settings that change ---------------------------------------- */

static void settings_take(struct sim *s, uint32_t setting)
{
	const struct sim_control_change *to = &s->setup->settings[setting];

	marks_change(s, &to->marking);
	for (uint32_t i = 0; i < s->control->rules->n_throttles; i++)
		s->control->throttles[i].config = &to->configs[i];
}

static void settings_expect(struct sim *s)
{
	for (uint32_t i = 0; i < s->setup->n_settings; i++) {
		eventq_push(&s->q, s->setup->settings[i].time, event_key(EV_TABLE, 0, 0, 1 + i));
		s->background++;
	}
}

void control_change(struct sim *s, uint32_t setting)
{
	s->background--;
	settings_take(s, setting);
	for (uint32_t i = 0; i < s->control->rules->n_throttles; i++) {
		struct throttle *t = &s->control->throttles[i];
		struct sim *owner = sim_of_port(s, t->port);

		if (!t->algorithm || owner->mail.is_elsewhere)
			continue;
		account(s, t);
		cc_adapt(t->algorithm, t->config, &t->state, s->now);
		changed(owner, i);
		throttle_update(owner, i);
		port_stir(owner, t->port);
	}
}

void control_resume(struct sim *s)
{
	for (uint32_t i = 0; i < s->setup->n_settings; i++) {
		if (s->setup->settings[i].time <= s->now)
			settings_take(s, i);
	}
}

void control_init(struct sim *s)
{
	const struct sim_control *r = s->setup->control;

	if (!r)
		return;
	struct control *c = hd_alloc(1, sizeof(*c));

	s->control = c;
	c->rules = r;
	c->free_delayed = NONE;
	c->throttles = hd_alloc(r->n_throttles, sizeof(*c->throttles));
	c->flows = hd_alloc(r->n_flows, sizeof(*c->flows));
	c->coming = hd_alloc(s->setup->n_nodes, sizeof(*c->coming));
	for (uint32_t i = 0; i < s->setup->n_nodes; i++)
		c->coming[i] = (struct packet_queue){ NONE, NONE };
	for (uint32_t i = 0; i < r->n_throttles; i++)
		throttle_init(s, &c->throttles[i], &r->throttles[i]);
	flows_init(c);
	sets_init(c);
	settings_expect(s);
}

void control_part_init(struct sim *part, const struct sim *whole)
{
	if (!whole->control)
		return;
	part->control = hd_alloc(1, sizeof(*part->control));
	*part->control = *whole->control;
}

void control_part_fini(struct sim *part)
{
	if (part->control)
		free(part->control->delayed);
	free(part->control);
}

void control_restart(struct sim *s)
{
	struct control *c = s->control;

	for (uint32_t i = 0; i < c->rules->n_throttles; i++) {
		c->throttles[i].rate_integral = 0;
		c->throttles[i].rate_since = s->now;
	}
	for (uint32_t i = 0; i < c->rules->n_flows; i++) {
		c->flows[i].marks = 0;
		c->flows[i].marked_time = 0;
	}
}

/* ---- results --------------------------------------------------------- */

void sim_control_counts(const struct sim *s, struct sim_control_counts *out)
{
	*out = (struct sim_control_counts){ .marked = marks_made(s) };
	for (uint32_t i = 0; i < sim_n_parts(s); i++) {
		const struct sim_control_counts *c = &sim_part(s, i)->control->counts;

		out->acks += c->acks;
		out->echoed += c->echoed;
		out->cnps += c->cnps;
		out->probes += c->probes;
		out->accepts += c->accepts;
		out->rejects += c->rejects;
	}
}

/*
 * Whether only a timeout can make the flow send: its window is full, and no packet was granted
 * or acknowledged for 1/100 of the timeout.
 */
static bool awaits_timeout(const struct sim *s, const struct controlled *f)
{
	hd_time timeout = s->control->rules->timeout;

	return f->waiting > 0 && f->granted - f->acked >= s->control->rules->window &&
	       s->now > f->active && s->now - f->active >= timeout / 100;
}

bool sim_flow_control(const struct sim *s, uint32_t flow, struct sim_flow_control *out)
{
	const struct control *c = s->control;

	if (!c || flow >= c->rules->n_flows || c->flows[flow].throttle == NONE)
		return false;
	const struct controlled *f = &c->flows[flow];
	const struct throttle *t = &c->throttles[f->throttle];
	hd_time to = s->now < s->horizon ? s->now : s->horizon;

	/* M3: an answer may arrive after the last packet of the run. */
	to = to > t->rate_since ? to : t->rate_since;
	double seconds = to > s->from ? (double)(to - s->from) / (double)HD_S : 0;
	double sum = t->rate_integral + t->state.rate * (double)(to - t->rate_since) / (double)HD_S;

	*out = (struct sim_flow_control){
		.rate = t->state.rate,
		.mean = seconds > 0 ? sum / seconds : t->state.rate,
		.marks = f->marks,
		.marked_time = f->marked_time,
		.lowest = t->lowest,
		.highest = t->highest,
		.timeouts = f->timeouts,
		.waiting = f->waiting,
		.awaits_timeout = awaits_timeout(s, f),
	};
	return true;
}

void control_fini(struct sim *s)
{
	struct control *c = s->control;

	if (!c)
		return;
	free(c->throttles);
	free(c->flows);
	free(c->flows_of);
	free(c->words);
	free(c->delayed);
	free(c->coming);
	free(c);
}

/* ---- checkpoint --------------------------------------------------------- */

static const struct pack_member throttle_members[] = {
	PACK(throttle, state.rate), PACK(throttle, state.ceiling),
	PACK(throttle, state.ccti), PACK(throttle, state.triggered),
	PACK(throttle, state.due),  PACK(throttle, last),
	PACK(throttle, took),       PACK(throttle, next),
	PACK(throttle, pace_at),    PACK(throttle, due_at),
	PACK(throttle, has_sent),   PACK(throttle, offers_vl),
	PACK(throttle, turn),       PACK(throttle, rate_integral),
	PACK(throttle, rate_since), PACK(throttle, lowest),
	PACK(throttle, highest),
};

static const struct pack_member controlled_members[] = {
	PACK(controlled, granted),    PACK(controlled, acked),   PACK(controlled, active),
	PACK(controlled, timeout_at), PACK(controlled, marks),   PACK(controlled, marked_time),
	PACK(controlled, timeouts),   PACK(controlled, waiting),
};

static const struct pack_member delayed_members[] = {
	PACK(delayed, when), PACK(delayed, flow),   PACK(delayed, sequence),
	PACK(delayed, nth),  PACK(delayed, marked),
};

static const struct pack_member counts_members[] = {
	PACK(sim_control_counts, marked),  PACK(sim_control_counts, acks),
	PACK(sim_control_counts, echoed),  PACK(sim_control_counts, cnps),
	PACK(sim_control_counts, probes),  PACK(sim_control_counts, accepts),
	PACK(sim_control_counts, rejects),
};

PACK_KNOWS(throttle, 168);
PACK_KNOWS(controlled, 64);

/* Answers in transit to the sources of one port; their events are saved elsewhere. */
static void pack_coming(struct checkpoint_state *v, struct sim *owner, uint32_t port)
{
	struct control *c = owner->control;
	struct packet_queue *q = &c->coming[owner->pull.of_port[port]];
	size_t n = 0;
	uint32_t id = v->p->reads ? NONE : q->first;

	for (uint32_t i = id; i != NONE; i = c->delayed[i].next)
		n++;
	n = pack_count(v->p, n);
	for (size_t i = 0; i < n && !v->p->refused; i++) {
		struct delayed d = { 0 };

		if (!v->p->reads) {
			d = c->delayed[id];
			id = d.next;
		}
		PACK_STRUCT(v->p, delayed_members, &d);
		if (v->p->reads &&
		    pack_check(v->p, d.flow < c->rules->n_flows &&
					     c->flows[d.flow].throttle != NONE &&
					     flow_port(c, d.flow) == port && d.when > v->s->now))
			ack_expect(owner, &d);
	}
}

/* All fields except the offered packet. */
static void pack_pace(struct pack *p, const struct sim *s, struct throttle *t)
{
	PACK_STRUCT(p, throttle_members, t);
	pack_check(p, checkpoint_state_has_vl(s, t->offers_vl) && t->turn < 64 * t->words &&
			      t->state.ccti < CCT_MAX_ENTRIES);
}

static void pack_throttle(struct checkpoint_state *v, struct throttle *t)
{
	pack_pace(v->p, v->s, t);
	checkpoint_state_ref(v, sim_of_port(v->s, t->port), &t->offers);
}

static void pack_controlled(struct checkpoint_state *v, struct controlled *f)
{
	if (f->throttle == NONE)
		return;
	uint32_t port = v->s->control->throttles[f->throttle].port;

	if (!checkpoint_state_has_port(v, port))
		return;
	PACK_STRUCT(v->p, controlled_members, f);
	checkpoint_state_list(v, sim_of_port(v->s, port), &f->queue);
	if (v->p->reads)
		flow_look(v->s, f);
}

void checkpoint_state_control(struct checkpoint_state *v)
{
	struct control *c = v->s->control;
	struct sim_control_counts counts;

	if (!c)
		return;
	sim_control_counts(v->s, &counts);
	if (checkpoint_state_has_sums(v))
		PACK_STRUCT(v->p, counts_members, &counts);
	if (v->p->reads && checkpoint_state_has_sums(v))
		checkpoint_state_first(v)->control->counts = counts;
	for (uint32_t i = 0; i < c->rules->n_throttles; i++) {
		if (checkpoint_state_has_port(v, c->throttles[i].port))
			pack_throttle(v, &c->throttles[i]);
	}
	for (uint32_t i = 0; i < c->rules->n_flows && !v->p->refused; i++)
		pack_controlled(v, &c->flows[i]);
	for (uint32_t i = 0; i < v->s->setup->n_ports; i++) {
		if ((v->s->links[i].flags & L_PULLS) && checkpoint_state_has_port(v, i))
			pack_coming(v, sim_of_port(v->s, i), i);
	}
}

/* Fields of a flow that its home domain (flow_home) counts. */
static const struct pack_member marked_members[] = {
	PACK(controlled, marks),   PACK(controlled, marked_time), PACK(controlled, granted),
	PACK(controlled, acked),   PACK(controlled, active),      PACK(controlled, timeouts),
	PACK(controlled, waiting),
};

void control_pack(struct pack *k, struct sim *part)
{
	struct control *c = part->control;

	PACK_STRUCT(k, counts_members, &c->counts);
	for (uint32_t i = 0; i < c->rules->n_throttles; i++) {
		struct throttle *t = &c->throttles[i];

		if (part->cut->part_of_port[t->port] == part->part)
			pack_pace(k, part, t);
	}
	/* The run of a job without other load has none of the flows of the rules. */
	for (uint32_t i = 0; i < c->rules->n_flows && i < part->n_flows; i++) {
		if (flow_home(part, i) == part->part)
			PACK_STRUCT(k, marked_members, &c->flows[i]);
	}
}
