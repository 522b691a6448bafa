/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/congestion.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/sim.h"

/* What a timer is for; the rest of its cookie is a number. */
enum purpose {
	TIMER_PACE,
	TIMER_ARRIVE,
	TIMER_LEAVE,
	TIMER_ACK,
	TIMER_RESPONSE,
	TIMER_SAMPLE
};
#define PURPOSE_BITS 3

/* A packet under way. Slots are reused. */
struct traveller {
	uint32_t flow;
	bool is_ack;
	bool marked;
	uint32_t buffer; /* sim port whose input holds it, or SIM_NONE */
	uint32_t output; /* the output that it wants there */
	uint32_t blocks;
	uint32_t next_free;
};

/* Something that happens to a switch's buffers later. */
struct movement {
	uint32_t buffer, output, blocks;
	uint32_t next_free;
};

struct source {
	struct cc_state state;
	struct cc_config config;
	hd_time last;  /* start of the last packet */
	hd_time armed; /* the pacing timer that counts; others are stale */
	bool sent_any;
	uint32_t out; /* unacknowledged */
	uint64_t delivered_before, delivered;
	uint64_t marks_before, marks;
	double rate_integral; /* packets, while measuring */
	hd_time rate_since;
};

struct run {
	const struct sim_setup *setup;
	const struct congestion_flow *flows;
	uint32_t n_flows;
	const struct congestion_params *params;
	struct sim *sim;
	struct source *sources;
	struct traveller *travellers;
	size_t travellers_cap;
	uint32_t n_travellers, free_traveller;
	struct movement *movements;
	size_t movements_cap;
	uint32_t n_movements, free_movement;
	struct mark_output *outputs; /* per sim port */
	uint32_t *fill;              /* per sim port: blocks of its input */
	/* Packets in an input that want an output, per (port, output). */
	uint32_t **wants;
	bool warm;
	struct congestion_result *result;
};

static uint32_t cookie_of(enum purpose purpose, uint32_t number)
{
	return number << PURPOSE_BITS | purpose;
}

static uint32_t blocks_of(uint32_t bytes)
{
	return (bytes + 63) / 64;
}

/* ---- slots ------------------------------------------------------------- */

static uint32_t new_traveller(struct run *r)
{
	uint32_t i = r->free_traveller;

	if (i != SIM_NONE) {
		r->free_traveller = r->travellers[i].next_free;
		return i;
	}
	r->travellers = hd_grow(r->travellers, &r->travellers_cap,
				r->n_travellers + 1u, sizeof(*r->travellers));
	return r->n_travellers++;
}

static void free_traveller(struct run *r, uint32_t i)
{
	r->travellers[i].next_free = r->free_traveller;
	r->free_traveller = i;
}

static uint32_t new_movement(struct run *r)
{
	uint32_t i = r->free_movement;

	if (i != SIM_NONE) {
		r->free_movement = r->movements[i].next_free;
		return i;
	}
	r->movements = hd_grow(r->movements, &r->movements_cap,
			       r->n_movements + 1u, sizeof(*r->movements));
	return r->n_movements++;
}

/* ---- the switches' view ------------------------------------------------ */

static uint32_t output_of(const struct run *r, uint32_t in_port, lid_t dlid)
{
	const struct sim_setup *s = r->setup;
	const struct sim_node *node = &s->nodes[s->ports[in_port].node];

	if (node->kind != SIM_SWITCH)
		return SIM_NONE;
	return node->first_port + lft_get(s->subnet, node->sw, dlid);
}

static void move_later(struct run *r, enum purpose purpose, hd_time when,
		       const struct traveller *t)
{
	uint32_t number = new_movement(r);

	r->movements[number] = (struct movement){ .buffer = t->buffer,
						  .output = t->output,
						  .blocks = t->blocks };
	sim_timer(r->sim, when, cookie_of(purpose, number));
}

/* An input buffer's last free slot was taken: who is to blame? */
static void on_full(struct run *r, uint32_t buffer)
{
	const struct sim_setup *s = r->setup;
	const struct sim_node *node = &s->nodes[s->ports[buffer].node];

	for (uint32_t o = 0; o <= node->n_ports; o++) {
		if (r->wants[buffer][o])
			mark_input_full(&r->params->marking,
					&r->outputs[node->first_port + o]);
	}
}

/*
 * Sent towards an input buffer: its space is taken now, and once it is routed
 * it waits there for its output.
 */
static void enter_buffer(struct run *r, struct traveller *t, uint32_t in_port,
			 lid_t dlid, hd_time now)
{
	const struct sim_setup *s = r->setup;

	t->buffer = SIM_NONE;
	t->output = output_of(r, in_port, dlid);
	if (t->output == SIM_NONE)
		return;
	t->buffer = in_port;
	r->fill[in_port] += t->blocks;
	move_later(r, TIMER_ARRIVE,
		   now + s->ports[in_port].propagation + s->sw.routing, t);
	/* No room for another like it. */
	if (r->fill[in_port] + t->blocks > s->ports[in_port].in_blocks)
		on_full(r, in_port);
}

static void move(struct run *r, uint32_t number, bool leaves)
{
	struct movement *m = &r->movements[number];
	const struct sim_setup *s = r->setup;
	const struct sim_node *node = &s->nodes[s->ports[m->buffer].node];
	uint32_t *wants = &r->wants[m->buffer][m->output - node->first_port];

	if (leaves) {
		r->fill[m->buffer] -= m->blocks;
		--*wants;
		mark_leave(&r->outputs[m->output], m->blocks);
	} else {
		++*wants;
		mark_arrive(&r->outputs[m->output], m->blocks);
	}
	m->next_free = r->free_movement;
	r->free_movement = number;
}

/* A switch starts a packet on an output: mark it? and when does it leave? */
static void depart(struct run *r, struct traveller *t, hd_time now,
		   uint32_t port, uint32_t bytes)
{
	const struct sim_port *in = &r->setup->ports[t->buffer];
	struct mark_departure about = { .bytes = bytes,
					.fill = r->fill[t->buffer],
					.capacity = in->in_blocks,
					.has_credits = true };

	if (!t->is_ack &&
	    mark_departs(&r->params->marking, &r->outputs[port], &about)) {
		t->marked = true;
		r->result->marked++;
	}
	move_later(r, TIMER_LEAVE,
		   now + hd_rate_duration(r->setup->ports[port].rate, bytes),
		   t);
}

static void on_grant(void *context, hd_time now, uint32_t port,
		     const struct sim_packet *p)
{
	struct run *r = context;
	struct traveller *t = &r->travellers[p->cookie];

	if (t->buffer != SIM_NONE)
		depart(r, t, now, port, p->bytes);
	enter_buffer(r, t, r->setup->ports[port].peer, p->dlid, now);
}

/* ---- sources ----------------------------------------------------------- */

static void account_rate(struct run *r, struct source *s, hd_time now)
{
	if (r->warm)
		s->rate_integral += s->state.rate *
				    (double)(now - s->rate_since) /
				    (double)HD_S;
	s->rate_since = now;
}

static hd_time packet_time(const struct run *r, const struct congestion_flow *f)
{
	uint32_t port = r->setup->nodes[f->source].first_port + 1;

	return hd_rate_duration(r->setup->ports[port].rate, f->bytes);
}

/* When the current rate allows the next packet. */
static hd_time next_start(const struct run *r, uint32_t flow)
{
	const struct source *s = &r->sources[flow];
	hd_time least = packet_time(r, &r->flows[flow]);

	if (!s->sent_any)
		return r->flows[flow].start;
	if (!r->params->algorithm)
		return s->last + least;
	return s->last +
	       cc_gap(r->params->algorithm, &s->config, &s->state, least);
}

static void inject(struct run *r, uint32_t flow, bool ack, bool marked,
		   hd_time now)
{
	const struct congestion_flow *f = &r->flows[flow];
	uint32_t bytes = ack ? r->params->ack_bytes : f->bytes;
	struct sim_arrival a = {
		.time = now,
		.source = ack ? f->destination : f->source,
		.dlid = ack ? f->slid : f->dlid,
		.pkey = f->pkey,
		.bytes = bytes,
		.sl = f->sl,
	};
	uint32_t slot = new_traveller(r);

	r->travellers[slot] = (struct traveller){ .flow = flow,
						  .is_ack = ack,
						  .marked = marked,
						  .buffer = SIM_NONE,
						  .output = SIM_NONE,
						  .blocks = blocks_of(bytes) };
	sim_inject(r->sim, &a, slot);
}

/* One timer per source: a second would call for a third, and so on. */
static void arm(struct run *r, uint32_t flow, hd_time when)
{
	struct source *s = &r->sources[flow];

	if (s->armed <= when)
		return;
	s->armed = when;
	sim_timer(r->sim, when, cookie_of(TIMER_PACE, flow));
}

static void try_send(struct run *r, uint32_t flow, hd_time now)
{
	struct source *s = &r->sources[flow];

	if (s->out >= r->params->window)
		return; /* the acknowledgement will ask again */
	hd_time next = next_start(r, flow);

	if (next <= now) {
		s->out++;
		s->last = now;
		s->sent_any = true;
		inject(r, flow, false, false, now);
		next = next_start(r, flow);
	}
	if (s->out < r->params->window)
		arm(r, flow, next);
}

static void pace(struct run *r, uint32_t flow, hd_time now)
{
	if (r->sources[flow].armed != now)
		return;
	r->sources[flow].armed = HD_TIME_NEVER;
	try_send(r, flow, now);
}

static void acknowledge(struct run *r, uint32_t flow, bool marked, hd_time now)
{
	struct source *s = &r->sources[flow];

	assert(s->out > 0);
	s->out--;
	s->marks += marked;
	if (r->params->algorithm) {
		hd_time due = s->state.due;

		account_rate(r, s, now);
		cc_on_ack(r->params->algorithm, &s->config, &s->state, marked,
			  now);
		if (s->state.due != due && s->state.due != HD_TIME_NEVER)
			sim_timer(r->sim, s->state.due,
				  cookie_of(TIMER_RESPONSE, flow));
	}
	try_send(r, flow, now);
}

static void respond(struct run *r, uint32_t flow, hd_time now)
{
	struct source *s = &r->sources[flow];

	if (s->state.due != now)
		return;
	account_rate(r, s, now);
	cc_on_timer(r->params->algorithm, &s->config, &s->state, now);
	if (s->state.due != HD_TIME_NEVER)
		sim_timer(r->sim, s->state.due,
			  cookie_of(TIMER_RESPONSE, flow));
	try_send(r, flow, now);
}

static void on_delivery(void *context, hd_time now, uint32_t node,
			const struct sim_packet *p)
{
	struct run *r = context;
	struct traveller t = r->travellers[p->cookie];

	(void)node;
	if (t.is_ack) {
		free_traveller(r, p->cookie);
		acknowledge(r, t.flow, t.marked, now);
		return;
	}
	r->sources[t.flow].delivered++;
	if (r->params->ack_delay) {
		/* The slot carries the mark until the delay is over. */
		sim_timer(r->sim, now + r->params->ack_delay,
			  cookie_of(TIMER_ACK, p->cookie));
		return;
	}
	free_traveller(r, p->cookie);
	inject(r, t.flow, true, t.marked, now);
}

/* ---- the run ----------------------------------------------------------- */

static void take_sample(struct run *r, hd_time now)
{
	struct congestion_result *out = r->result;

	for (uint32_t f = 0; f < r->n_flows; f++) {
		out->samples =
			hd_grow(out->samples, &out->samples_cap,
				out->n_samples + 1, sizeof(*out->samples));
		out->samples[out->n_samples++] =
			(struct congestion_sample){ now, f,
						    r->sources[f].state.rate,
						    r->sources[f].delivered };
	}
	if (now + r->params->sample <= r->params->stop)
		sim_timer(r->sim, now + r->params->sample,
			  cookie_of(TIMER_SAMPLE, 0));
}

static void on_timer(void *context, hd_time now, uint32_t cookie)
{
	struct run *r = context;
	uint32_t number = cookie >> PURPOSE_BITS;
	enum purpose purpose =
		(enum purpose)(cookie & ((1u << PURPOSE_BITS) - 1));
	struct traveller t;

	switch (purpose) {
	case TIMER_PACE:
		pace(r, number, now);
		break;
	case TIMER_ARRIVE:
	case TIMER_LEAVE:
		move(r, number, purpose == TIMER_LEAVE);
		break;
	case TIMER_ACK:
		t = r->travellers[number];
		free_traveller(r, number);
		acknowledge(r, t.flow, t.marked, now);
		break;
	case TIMER_RESPONSE:
		respond(r, number, now);
		break;
	case TIMER_SAMPLE:
		take_sample(r, now);
		break;
	}
}

static void run_init(struct run *r)
{
	const struct sim_setup *s = r->setup;
	const struct congestion_params *p = r->params;

	r->free_traveller = r->free_movement = SIM_NONE;
	r->sources = hd_alloc(r->n_flows, sizeof(*r->sources));
	r->outputs = hd_alloc(s->n_ports, sizeof(*r->outputs));
	r->fill = hd_alloc(s->n_ports, sizeof(*r->fill));
	r->wants = hd_alloc(s->n_ports, sizeof(uint32_t *));
	for (uint32_t i = 0; i < s->n_ports; i++)
		r->wants[i] = hd_alloc(s->nodes[s->ports[i].node].n_ports + 1u,
				       sizeof(uint32_t));
	for (uint32_t f = 0; f < r->n_flows; f++) {
		struct source *source = &r->sources[f];

		source->config = p->response;
		source->armed = HD_TIME_NEVER;
		if (r->flows[f].rmin > 0)
			source->config.rmin = r->flows[f].rmin;
		if (p->algorithm)
			cc_init(p->algorithm, &source->config, &source->state);
		else
			source->state.rate = p->response.rmax;
	}
}

static void run_fini(struct run *r)
{
	for (uint32_t i = 0; i < r->setup->n_ports; i++)
		free(r->wants[i]);
	free(r->wants);
	free(r->fill);
	free(r->outputs);
	free(r->sources);
	free(r->travellers);
	free(r->movements);
}

static struct sim *new_sim(struct run *r)
{
	struct sim_rules rules;
	struct sim_hooks hooks = { .context = r,
				   .delivered = on_delivery,
				   .timer = on_timer,
				   .granted = on_grant };

	sim_rules_init(&rules);
	rules.warmup = r->params->warmup;
	rules.check_order = false;
	rules.injects = true;
	rules.injects_bytes = r->params->ack_bytes;
	for (uint32_t f = 0; f < r->n_flows; f++) {
		if (r->flows[f].bytes > rules.injects_bytes)
			rules.injects_bytes = r->flows[f].bytes;
	}
	struct sim *s = sim_new(r->setup, NULL, 0, &rules);

	sim_set_hooks(s, &hooks);
	return s;
}

static void conclude(struct run *r)
{
	const struct congestion_params *p = r->params;
	const struct sim_metrics *m = sim_metrics(r->sim);
	struct congestion_result *out = r->result;
	double seconds = (double)(p->stop - p->warmup) / (double)HD_S;

	out->n_flows = r->n_flows;
	out->flows = hd_alloc(r->n_flows, sizeof(*out->flows));
	for (uint32_t f = 0; f < r->n_flows; f++) {
		struct source *s = &r->sources[f];
		uint64_t delivered = s->delivered - s->delivered_before;

		account_rate(r, s, p->stop);
		out->flows[f] = (struct congestion_outcome){
			.goodput = (double)delivered / seconds,
			.rate = s->rate_integral / seconds,
			.marks = (double)(s->marks - s->marks_before) / seconds,
			.delivered = delivered,
		};
	}
	out->n_ports = r->setup->n_ports;
	out->utilisation = hd_alloc(out->n_ports, sizeof(double));
	for (uint32_t i = 0; i < out->n_ports && i < m->n_ports; i++)
		out->utilisation[i] = m->ports[i].utilisation;
}

static void begin_measuring(struct run *r)
{
	r->warm = true;
	for (uint32_t f = 0; f < r->n_flows; f++) {
		struct source *s = &r->sources[f];

		s->delivered_before = s->delivered;
		s->marks_before = s->marks;
		s->rate_since = r->params->warmup;
	}
}

static enum hd_status check(const struct congestion_params *p, struct diag *d)
{
	if (p->window == 0)
		return diag_fail(d, HD_ERR_RANGE,
				 "a window has at least one packet");
	if (p->warmup >= p->stop)
		return diag_fail(d, HD_ERR_RANGE,
				 "the warm-up must end before the run does");
	if (mark_check(&p->marking, d) != HD_OK)
		return d->status;
	return p->algorithm ? cc_check(p->algorithm, &p->response, d) : HD_OK;
}

enum hd_status congestion_run(const struct sim_setup *setup,
			      const struct congestion_flow *flows,
			      uint32_t n_flows,
			      const struct congestion_params *params,
			      struct diag *d, struct congestion_result *out)
{
	enum hd_status status = check(params, d);

	if (status != HD_OK)
		return status;
	*out = (struct congestion_result){ 0 };
	struct run r = { .setup = setup,
			 .flows = flows,
			 .n_flows = n_flows,
			 .params = params,
			 .result = out };

	run_init(&r);
	r.sim = new_sim(&r);
	for (uint32_t f = 0; f < n_flows; f++)
		arm(&r, f, flows[f].start);
	if (params->sample)
		sim_timer(r.sim, 0, cookie_of(TIMER_SAMPLE, 0));
	(void)sim_run(r.sim, params->warmup, NULL, NULL);
	begin_measuring(&r);
	(void)sim_run(r.sim, params->stop, NULL, NULL);
	conclude(&r);
	sim_free(r.sim);
	run_fini(&r);
	return HD_OK;
}

void congestion_result_fini(struct congestion_result *result)
{
	free(result->flows);
	free(result->samples);
	free(result->utilisation);
	*result = (struct congestion_result){ 0 };
}
