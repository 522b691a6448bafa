/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/congestion/run.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/blocks.h"
#include "sim/watch.h"

#define FIRST_RECEIVER_QP 0x100
#define FIRST_SENDER_QP   0x800000

/* Admission's datagrams, in a vendor's class. */
enum { METHOD_SET = 0x02, METHOD_RESPONSE = 0x81 };
enum { ATTR_PROBE = 0x10, ATTR_ACCEPT, ATTR_REJECT };

/* ---- packets ----------------------------------------------------------- */

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

void cc_run_free(struct run *r, uint32_t slot)
{
	r->travellers[slot].next_free = r->free_traveller;
	r->free_traveller = slot;
}

static uint32_t bytes_of(const struct run *r, const struct traveller *t)
{
	switch (t->kind) {
	case TRAVEL_ACK:
		return CONGESTION_ACK_BYTES;
	case TRAVEL_CNP:
		return CONGESTION_CNP_BYTES;
	case TRAVEL_PROBE:
	case TRAVEL_ACCEPT:
	case TRAVEL_REJECT:
		return CONGESTION_MAD_BYTES;
	case TRAVEL_DATA:
		break;
	}
	return r->flows[t->flow].bytes;
}

void cc_run_inject_from(struct run *r, const struct traveller *t,
			uint32_t source, lid_t dlid, hd_time now)
{
	const struct congestion_flow *f = &r->flows[t->flow];
	struct sim_arrival a = {
		.time = now,
		.source = source,
		.dlid = dlid,
		.pkey = f->pkey,
		.bytes = bytes_of(r, t),
		.sl = f->sl,
	};
	uint32_t slot = new_traveller(r);

	r->travellers[slot] = *t;
	r->travellers[slot].buffer = SIM_NONE;
	r->travellers[slot].blocks = blocks_of(a.bytes);
	sim_inject(r->sim, &a, slot);
}

void cc_run_inject(struct run *r, const struct traveller *t, hd_time now)
{
	const struct congestion_flow *f = &r->flows[t->flow];

	if (t->kind == TRAVEL_DATA)
		cc_run_inject_from(r, t, f->source, f->dlid, now);
	else
		cc_run_inject_from(r, t, f->destination, f->slid, now);
}

/* ---- events ------------------------------------------------------------ */

static void put_be32(uint8_t *out, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		out[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Of admission: flow, kb/s, SL, hop. */
static void look_mad(const struct run *r, const struct traveller *t,
		     struct sim_look *look)
{
	const struct congestion_flow *f = &r->flows[t->flow];

	look->kind = SIM_LOOK_MAD;
	look->dest_qp = 1;
	look->method = t->kind == TRAVEL_PROBE ? METHOD_SET : METHOD_RESPONSE;
	look->attribute = (uint16_t)(t->kind == TRAVEL_PROBE    ? ATTR_PROBE
				     : t->kind == TRAVEL_ACCEPT ? ATTR_ACCEPT
								: ATTR_REJECT);
	look->tid = (uint64_t)t->flow << 8 | t->hop;
	put_be32(look->data, t->flow);
	put_be32(look->data + 4, f->reserve / 1000);
	look->data[8] = f->sl;
	look->data[9] = t->hop;
}

/* As the wire has it: FECN forwards, BECN backwards. */
static void show(struct run *r, hd_time now, uint32_t port,
		 const struct sim_packet *p)
{
	const struct traveller *t = &r->travellers[p->cookie];
	bool data = t->kind == TRAVEL_DATA;
	struct sim_look look = {
		.kind = t->last                 ? SIM_LOOK_LAST
			: data                  ? SIM_LOOK_DATA
			: t->kind == TRAVEL_ACK ? SIM_LOOK_ACK
						: SIM_LOOK_CNP,
		.fecn = t->marked && data,
		.becn = t->marked && !data,
		/* Queue pairs of receivers and of senders. */
		.dest_qp =
			(data ? FIRST_RECEIVER_QP : FIRST_SENDER_QP) + t->flow,
		.psn = t->psn,
		.immediate = (uint32_t)(r->flows[t->flow].reserve / 1000),
	};

	if (t->kind >= TRAVEL_PROBE)
		look_mad(r, t, &look);
	sim_capture_look(r->params->capture, now, port, p, &look);
}

static void on_grant(void *context, hd_time now, uint32_t port,
		     const struct sim_packet *p)
{
	struct run *r = context;
	const struct traveller *t = &r->travellers[p->cookie];

	cc_switches_grant(r, now, port, p);
	if (t->last)
		cc_admission_pass(r, t, port);
	if (r->setup->nodes[r->setup->ports[port].node].kind == SIM_END) {
		r->result->echoed += t->kind == TRAVEL_ACK && t->marked;
		r->result->cnps += t->kind == TRAVEL_CNP;
	}
	if (r->params->capture)
		show(r, now, port, p);
}

static void on_cross(void *context, hd_time end, uint32_t cookie)
{
	cc_switches_cross(context, end, cookie);
}

/* Data has arrived: it is acknowledged, and its mark told. */
static void on_data(struct run *r, uint32_t slot, hd_time now)
{
	struct traveller t = r->travellers[slot];
	bool cnp = t.marked && r->params->echo == ECHO_CNP;

	r->sources[t.flow].delivered++;
	if (cnp) {
		struct traveller cnp_packet = t;

		cnp_packet.kind = TRAVEL_CNP;
		cnp_packet.last = false;
		cc_run_inject(r, &cnp_packet, now);
		t.marked = r->travellers[slot].marked = false;
	}
	if (r->params->ack_delay) {
		/* The slot carries the mark until the delay is over. */
		sim_timer(r->sim, now + r->params->ack_delay,
			  cookie_of(TIMER_ACK, slot));
		return;
	}
	cc_run_free(r, slot);
	t.kind = TRAVEL_ACK;
	t.last = false;
	cc_run_inject(r, &t, now);
}

static void on_delivery(void *context, hd_time now, uint32_t node,
			const struct sim_packet *p)
{
	struct run *r = context;
	struct traveller t = r->travellers[p->cookie];

	(void)node;
	switch (t.kind) {
	case TRAVEL_DATA:
		on_data(r, p->cookie, now);
		break;
	case TRAVEL_ACK:
		cc_run_free(r, p->cookie);
		cc_sources_acknowledge(r, t.flow, t.marked, now);
		break;
	case TRAVEL_CNP:
		cc_run_free(r, p->cookie);
		cc_sources_notify(r, t.flow, now);
		break;
	case TRAVEL_PROBE:
	case TRAVEL_ACCEPT:
	case TRAVEL_REJECT:
		cc_run_free(r, p->cookie);
		cc_admission_arrive(r, &t, now);
		break;
	}
}

static void take_sample(struct run *r, hd_time now)
{
	struct congestion_result *out = r->result;

	for (uint32_t f = 0; f < r->n_flows; f++) {
		const struct source *s = &r->sources[f];

		out->samples =
			hd_grow(out->samples, &out->samples_cap,
				out->n_samples + 1, sizeof(*out->samples));
		out->samples[out->n_samples++] = (struct congestion_sample){
			now, f, r->throttles[s->throttle].state.rate,
			s->delivered
		};
	}
	if (now + r->params->sample <= r->params->stop)
		sim_timer(r->sim, now + r->params->sample,
			  cookie_of(TIMER_SAMPLE, 0));
}

static void on_timer(void *context, hd_time now, uint32_t cookie)
{
	struct run *r = context;
	uint32_t number = cookie & ((1u << PURPOSE_SHIFT) - 1);
	enum purpose purpose = (enum purpose)(cookie >> PURPOSE_SHIFT);
	struct traveller t;

	switch (purpose) {
	case TIMER_PACE:
		cc_sources_pace(r, number, now);
		break;
	case TIMER_ARRIVE:
	case TIMER_CROSS:
	case TIMER_LEAVE:
		cc_switches_move(r, number, purpose);
		break;
	case TIMER_ACK:
		t = r->travellers[number];
		cc_run_free(r, number);
		cc_sources_acknowledge(r, t.flow, t.marked, now);
		break;
	case TIMER_RESPONSE:
		cc_sources_respond(r, number, now);
		break;
	case TIMER_SAMPLE:
		take_sample(r, now);
		break;
	case TIMER_ASK:
		cc_admission_ask(r, number, now);
		break;
	}
}

/* ---- the run ----------------------------------------------------------- */

static struct sim *new_sim(struct run *r)
{
	struct sim_rules rules;
	struct sim_hooks hooks = { .context = r,
				   .delivered = on_delivery,
				   .timer = on_timer,
				   .granted = on_grant,
				   .crossed = on_cross };

	sim_rules_init(&rules);
	rules.warmup = r->params->warmup;
	rules.check_order = false;
	rules.injects = true;
	rules.injects_bytes = CONGESTION_MAD_BYTES;
	for (uint32_t f = 0; f < r->n_flows; f++) {
		if (r->flows[f].bytes > rules.injects_bytes)
			rules.injects_bytes = r->flows[f].bytes;
	}
	struct sim *s = sim_new(r->setup, NULL, 0, &rules);

	sim_set_hooks(s, &hooks);
	return s;
}

static void conclude_flow(const struct run *r, uint32_t flow, double seconds)
{
	const struct source *s = &r->sources[flow];
	const struct throttle *t = &r->throttles[s->throttle];
	uint64_t delivered = s->delivered - s->delivered_before;

	r->result->flows[flow] = (struct congestion_outcome){
		.goodput = (double)delivered / seconds,
		.rate = t->rate_integral / seconds,
		.marks = (double)(s->marks - s->marks_before) / seconds,
		.marked_time = s->marked_time / seconds,
		.lowest = t->lowest,
		.highest = t->highest,
		.delivered = delivered,
		.answer = s->answer,
		.answered = s->answered,
		.rejected_by = s->rejected_by,
	};
}

static void conclude(struct run *r)
{
	const struct congestion_params *p = r->params;
	const struct sim_metrics *m = sim_metrics(r->sim);
	struct congestion_result *out = r->result;
	double seconds = (double)(p->stop - p->warmup) / (double)HD_S;

	for (uint32_t i = 0; i < r->n_throttles; i++)
		cc_sources_account(r, &r->throttles[i], p->stop);
	out->n_flows = r->n_flows;
	out->flows = hd_alloc(r->n_flows, sizeof(*out->flows));
	for (uint32_t f = 0; f < r->n_flows; f++)
		conclude_flow(r, f, seconds);
	out->n_ports = r->setup->n_ports;
	out->utilisation = hd_alloc(out->n_ports, sizeof(double));
	out->reserved = hd_alloc(out->n_ports, sizeof(uint64_t));
	for (uint32_t i = 0; i < out->n_ports && i < m->n_ports; i++) {
		out->utilisation[i] = m->ports[i].utilisation;
		out->reserved[i] = cc_admission_total(r, i);
	}
}

static enum hd_status check_algorithm(const struct congestion_params *p,
				      const struct congestion_flow *f,
				      struct diag *d)
{
	const struct cc_algorithm *a =
		f->algorithm ? f->algorithm : p->algorithm;
	struct cc_config config = p->response;

	if (f->rmin > 0)
		config.rmin = f->rmin;
	if (f->rmax > 0)
		config.rmax = f->rmax;
	if (p->echo == ECHO_CNP && a->increase)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"'%s' answers to acknowledgements, marked or not; only CCT can do with CNPs",
			a->name);
	if (p->per_sl && a->increase)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"'%s' has a rate per flow; only CCT has one per SL",
			a->name);
	return cc_check(a, &config, d);
}

static enum hd_status check(const struct run *r, struct diag *d)
{
	const struct congestion_params *p = r->params;
	enum hd_status status = HD_OK;

	if (p->window == 0)
		return diag_fail(d, HD_ERR_RANGE,
				 "a window has at least one packet");
	if (p->warmup >= p->stop)
		return diag_fail(d, HD_ERR_RANGE,
				 "the warm-up must end before the run does");
	if (mark_check(&p->marking, d) != HD_OK)
		return d->status;
	for (uint32_t i = 0; p->algorithm && i < r->n_flows && status == HD_OK;
	     i++)
		status = check_algorithm(p, &r->flows[i], d);
	return status == HD_OK ? cc_admission_check(r, d) : status;
}

static void execute(struct run *r)
{
	const struct congestion_params *p = r->params;

	r->free_traveller = SIM_NONE;
	cc_switches_init(r);
	cc_sources_init(r);
	cc_admission_init(r);
	r->sim = new_sim(r);
	cc_sources_begin(r);
	if (p->sample)
		sim_timer(r->sim, 0, cookie_of(TIMER_SAMPLE, 0));
	(void)sim_run(r->sim, p->warmup, p->progress, p->progress_context);
	r->warm = true;
	cc_sources_begin_measuring(r);
	(void)sim_run(r->sim, p->stop, p->progress, p->progress_context);
	conclude(r);
	sim_free(r->sim);
	cc_admission_fini(r);
	cc_sources_fini(r);
	cc_switches_fini(r);
	free(r->travellers);
}

enum hd_status congestion_run(const struct sim_setup *setup,
			      const struct congestion_flow *flows,
			      uint32_t n_flows,
			      const struct congestion_params *params,
			      struct diag *d, struct congestion_result *out)
{
	struct run r = { .setup = setup,
			 .flows = flows,
			 .n_flows = n_flows,
			 .params = params,
			 .result = out };
	enum hd_status status = check(&r, d);

	if (status != HD_OK)
		return status;
	*out = (struct congestion_result){ 0 };
	execute(&r);
	return HD_OK;
}

void congestion_result_fini(struct congestion_result *result)
{
	free(result->flows);
	free(result->samples);
	free(result->utilisation);
	free(result->reserved);
	*result = (struct congestion_result){ 0 };
}
