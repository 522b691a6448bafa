/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_CONGESTION_FOR_TESTS_H
#define HD_SIM_INJECTION_CONGESTION_FOR_TESTS_H

/*
 * A run under congestion control: switches mark packets, destinations echo
 * the marks in acknowledgements, sources answer by their rate (cc/). The
 * engine does all that (docs/timing-rules.md, C1 to C8); here is what a run takes and
 * gives.
 *
 * Each flow sends as much as its throttle and its window of unacknowledged
 * packets let pass.
 */

#include <stdlib.h>

#include "base/alloc.h"
#include "cc/marking.h"
#include "cc/response.h"
#include "fabric/setup.h"
#include "sim/sim.h"

struct congestion_flow {
	uint32_t source;      /* sim node */
	uint32_t destination; /* sim node, for its acknowledgements */
	lid_t dlid;           /* of the destination */
	uint8_t sl;
	uint16_t pkey;
	uint32_t bytes;
	hd_time start;
	hd_time stop;   /* sends nothing at or after; 0: never stops */
	uint64_t count; /* packets; 0: no limit */
	double rmin;    /* packets per second; 0: the config's */
	double rmax;    /* packets per second; 0: the config's */
	double unit;    /* PIPD's; 0: the config's */
	/* NULL: the run's. CCT and rate functions may stand side by side. */
	const struct cc_algorithm *algorithm;
	bool is_spared; /* no algorithm: its SL is not under control */
	uint32_t row;   /* traffic row, for results */
	/*
	 * Bits per second that it requests before it sends (C8); 0: no
	 * request. Needs a fabric whose switches have agents on port 0
	 * (fabric/fabric.h gives them to scenarios with reservations).
	 */
	uint64_t reserve;
};

struct congestion_params {
	const struct cc_algorithm *algorithm; /* NULL: no source slows down */
	struct cc_config response;
	struct mark_config marking;
	enum sim_echo echo; /* CNPs: CCT only */
	bool per_sl;        /* flows of a port and SL share one index and pace */
	/*
	 * The gap after a packet is that of the rate at its start, even if the
	 * rate rises meanwhile; else the next start follows the rate.
	 */
	bool fixed_gap;
	uint32_t window;   /* unacknowledged packets per flow, at least 1 */
	hd_time ack_delay; /* 0: acknowledgements are packets */
	hd_time timeout;   /* of a window that is lost; 0: none */
	hd_time warmup, stop;
	hd_time sample; /* interval of the rate series; 0: none */
	/* Told now and then how far the run is; may be NULL. */
	sim_progress_fn *progress;
	void *progress_context;
	double sl_share[N_SLS]; /* of each link, for admission; 0 means all */
};

struct congestion_outcome {
	double goodput; /* packets per second, delivered while measuring */
	double rate;    /* time average of the rate variable */
	double marks;   /* marked acknowledgements per second */
	/*
	 * The share of time that marked acknowledgements took: 1/rate each.
	 * A marked one is an interval without an increase, so marks come at
	 * Rmin per second of the time that is left.
	 */
	double marked_time;
	double lowest, highest; /* of the rate variable, all run */
	uint64_t delivered;
	enum sim_answer answer;
	hd_time answered;     /* time from request to answer; 0: no answer */
	uint32_t rejected_by; /* sim port of the link that had no room */
};

struct congestion_sample {
	hd_time time;
	uint32_t flow;
	double rate;        /* the variable */
	uint64_t delivered; /* since the run began */
};

struct congestion_result {
	struct congestion_outcome *flows;
	uint32_t n_flows;
	struct congestion_sample *samples;
	size_t n_samples, samples_cap;
	double *utilisation; /* per sim port: of what it sends */
	uint32_t n_ports;
	/* All run, as a capture of every port has them: */
	uint64_t marked; /* packets in which a switch set FECN */
	uint64_t echoed; /* acknowledgements sent with BECN */
	uint64_t cnps;   /* CNPs sent */
	uint64_t probes, rejects, accepts;
	uint64_t *reserved; /* per sim port, bits per second, at the end */
};

/* The parts of a run other than the simulation. */
struct run {
	const struct sim_setup *setup;
	const struct congestion_flow *flows;
	uint32_t n_flows;
	const struct congestion_params *params;
	struct sim_setup mine; /* the setup with our control */
	struct sim_control control;
	struct sim_throttle *throttles;
	uint32_t *throttle_of_flow;
	uint64_t *reserve;
	struct sim_flow *sim_flows;
	struct sim_address *to;
	uint64_t *delivered; /* per flow, all run */
	struct sim *sim;
	struct congestion_result *result;
};

/* ---- what the parameters mean ---------------------------------------- */

static const struct cc_algorithm *algorithm_of(const struct run *r, uint32_t flow)
{
	const struct cc_algorithm *own = r->flows[flow].algorithm;

	if (r->flows[flow].is_spared)
		return NULL;
	return r->params->algorithm && own ? own : r->params->algorithm;
}

static struct cc_config config_of(const struct run *r, uint32_t flow)
{
	const struct congestion_flow *f = &r->flows[flow];
	struct cc_config config = r->params->response;

	if (f->rmin > 0)
		config.rmin = config.add = f->rmin;
	if (f->rmax > 0)
		config.rmax = f->rmax;
	if (f->unit > 0)
		config.unit = f->unit;
	return config;
}

static enum hd_status check_algorithm(const struct run *r, uint32_t flow, struct diag *d)
{
	const struct congestion_params *p = r->params;
	const struct cc_algorithm *a = algorithm_of(r, flow);
	struct cc_config config = config_of(r, flow);

	if (!a)
		return HD_OK;
	if (p->echo == SIM_ECHO_CNP && a->increase)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"'%s' answers to acknowledgements, marked or not; only CCT can do with CNPs",
			a->name);
	if (p->per_sl && a->increase)
		return diag_fail(d, HD_ERR_UNFIT,
				 "'%s' has a rate per flow; only CCT has one per SL", a->name);
	return cc_check(a, &config, d);
}

/* Whether the fabric has agents to ask. */
static enum hd_status check_agents(const struct run *r, struct diag *d)
{
	const struct sim_setup *s = r->setup;
	bool asks = false;

	for (uint32_t f = 0; f < r->n_flows; f++)
		asks |= r->flows[f].reserve > 0;
	for (uint32_t v = 0; asks && v < s->n_nodes; v++) {
		if (s->nodes[v].kind == SIM_SWITCH &&
		    s->ports[s->nodes[v].first_port].peer == SIM_NONE)
			return diag_fail(d, HD_ERR_UNFIT,
					 "a switch has no agent on port 0 that answers probes");
	}
	return HD_OK;
}

static enum hd_status check(const struct run *r, struct diag *d)
{
	const struct congestion_params *p = r->params;
	enum hd_status status = HD_OK;

	if (p->window == 0)
		return diag_fail(d, HD_ERR_RANGE, "a window has at least one packet");
	if (p->warmup >= p->stop)
		return diag_fail(d, HD_ERR_RANGE, "the warm-up must end before the run does");
	for (uint32_t i = 0; p->algorithm && i < r->n_flows && status == HD_OK; i++)
		status = check_algorithm(r, i, d);
	return status == HD_OK ? check_agents(r, d) : status;
}

/* ---- as the engine has it -------------------------------------------- */

/* An earlier flow of the same port and SL whose throttle it shares. */
static uint32_t same_port_and_sl(const struct run *r, uint32_t flow)
{
	for (uint32_t i = 0; i < flow && r->params->per_sl; i++) {
		if (r->flows[i].source == r->flows[flow].source &&
		    r->flows[i].sl == r->flows[flow].sl)
			return i;
	}
	return SIM_NONE;
}

static void make_throttles(struct run *r)
{
	uint32_t *senders = hd_alloc(r->setup->n_nodes, sizeof(*senders));

	r->throttles = hd_alloc(r->n_flows, sizeof(*r->throttles));
	r->throttle_of_flow = hd_alloc(r->n_flows, sizeof(*r->throttle_of_flow));
	for (uint32_t f = 0; f < r->n_flows; f++) {
		uint32_t node = r->flows[f].source;
		uint32_t other = same_port_and_sl(r, f);

		if (other != SIM_NONE) {
			r->throttle_of_flow[f] = r->throttle_of_flow[other];
			continue;
		}
		r->throttle_of_flow[f] = r->control.n_throttles;
		r->throttles[r->control.n_throttles++] = (struct sim_throttle){
			.node = node,
			.sender = ++senders[node],
			.algorithm = algorithm_of(r, f),
			.config = config_of(r, f),
		};
	}
	free(senders);
}

static void make_control(struct run *r)
{
	const struct congestion_params *p = r->params;

	make_throttles(r);
	r->reserve = hd_alloc(r->n_flows, sizeof(*r->reserve));
	r->control = (struct sim_control){
		.marking = p->marking,
		.echo = p->echo,
		.fixed_gap = p->fixed_gap,
		.window = p->window,
		.ack_delay = p->ack_delay,
		.timeout = p->timeout,
		.throttles = r->throttles,
		.n_throttles = r->control.n_throttles,
		.throttle_of_flow = r->throttle_of_flow,
		.n_flows = r->n_flows,
		.reserve = r->reserve,
	};
	for (unsigned sl = 0; sl < N_SLS; sl++)
		r->control.sl_share[sl] = p->sl_share[sl];
	for (uint32_t f = 0; f < r->n_flows; f++)
		r->reserve[f] = r->flows[f].reserve;
	r->mine = *r->setup;
	r->mine.control = &r->control;
}

/* Each flow sends whatever its throttle lets pass. */
static void make_flows(struct run *r)
{
	r->sim_flows = hd_alloc(r->n_flows, sizeof(*r->sim_flows));
	r->to = hd_alloc(r->n_flows, sizeof(*r->to));
	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct congestion_flow *f = &r->flows[i];

		r->to[i] = (struct sim_address){ .dlid = f->dlid, .target = TOPO_NONE };
		r->sim_flows[i] = (struct sim_flow){
			.kind = SIM_SATURATING,
			.source = f->source,
			.row = f->row,
			.to = { .choice = SIM_TO_FIXED,
				.list = &r->to[i],
				.n = 1,
				.self = SIM_NONE },
			.sl = f->sl,
			.pkey = f->pkey,
			.bytes = f->bytes,
			.packets = 1,
			.start = f->start,
			.stop = f->stop,
			.count = f->count,
		};
	}
}

/* ---- what is seen ---------------------------------------------------- */

static void on_end(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct run *r = context;

	(void)p;
	if (e->fate == SIM_DELIVERED && e->kind == SIM_DATA)
		r->delivered[e->flow]++;
}

static void take_sample(struct run *r, hd_time now)
{
	struct congestion_result *out = r->result;

	for (uint32_t f = 0; f < r->n_flows; f++) {
		struct sim_flow_control c = { 0 };

		(void)sim_flow_control(r->sim, f, &c);
		out->samples = hd_grow(out->samples, &out->samples_cap, out->n_samples + 1,
				       sizeof(*out->samples));
		out->samples[out->n_samples++] =
			(struct congestion_sample){ now, f, c.rate, r->delivered[f] };
	}
}

/* ---- the run --------------------------------------------------------- */

static void begin(struct run *r)
{
	const struct congestion_params *p = r->params;
	const struct sim_observer observer = {
		.context = r,
		.ended = on_end,
	};
	struct sim_rules rules;

	make_control(r);
	make_flows(r);
	r->delivered = hd_alloc(r->n_flows, sizeof(*r->delivered));
	sim_rules_init(&rules);
	rules.warmup = p->warmup;
	rules.stop = p->stop;
	r->sim = sim_new(&r->mine, r->sim_flows, r->n_flows, &rules);
	sim_observe(r->sim, &observer);
}

static void go(struct run *r)
{
	const struct congestion_params *p = r->params;

	for (hd_time t = 0; p->sample && t <= p->stop; t += p->sample) {
		(void)sim_run(r->sim, t, p->progress, p->progress_context);
		take_sample(r, t);
	}
	(void)sim_run(r->sim, p->stop, p->progress, p->progress_context);
}

static void conclude_flow(const struct run *r, uint32_t flow, const struct sim_metrics *m)
{
	const struct congestion_params *p = r->params;
	double seconds = (double)(p->stop - p->warmup) / (double)HD_S;
	uint64_t delivered = m->flows[flow].delivered;
	struct congestion_outcome *out = &r->result->flows[flow];
	struct sim_flow_control c = { 0 };
	struct sim_admission a;

	(void)sim_flow_control(r->sim, flow, &c);
	*out = (struct congestion_outcome){
		.goodput = (double)delivered / seconds,
		.rate = c.mean,
		.marks = (double)c.marks / seconds,
		.marked_time = c.marked_time / seconds,
		.lowest = c.lowest,
		.highest = c.highest,
		.delivered = delivered,
		.answer = SIM_NOT_ASKED,
		.rejected_by = SIM_NONE,
	};
	if (!sim_admission(r->sim, flow, &a))
		return;
	out->answer = a.answer;
	out->answered = a.answer == SIM_OPEN ? 0 : a.answered - a.asked;
	out->rejected_by = a.rejected_by;
}

static void conclude(struct run *r)
{
	const struct sim_metrics *m = sim_metrics(r->sim);
	struct congestion_result *out = r->result;
	struct sim_control_counts counts;

	out->n_flows = r->n_flows;
	out->flows = hd_alloc(r->n_flows, sizeof(*out->flows));
	for (uint32_t f = 0; f < r->n_flows; f++)
		conclude_flow(r, f, m);
	out->n_ports = r->setup->n_ports;
	out->utilisation = hd_alloc(out->n_ports, sizeof(double));
	out->reserved = hd_alloc(out->n_ports, sizeof(uint64_t));
	for (uint32_t i = 0; i < out->n_ports && i < m->n_ports; i++) {
		out->utilisation[i] = m->ports[i].utilisation;
		out->reserved[i] = sim_promised(r->sim, i);
	}
	sim_control_counts(r->sim, &counts);
	out->marked = counts.marked;
	out->echoed = counts.echoed;
	out->cnps = counts.cnps;
	out->probes = counts.probes;
	out->accepts = counts.accepts;
	out->rejects = counts.rejects;
}

/*
 * HD_ERR_RANGE with the reason for parameters that the algorithm or the
 * marking rule refuses, HD_ERR_UNFIT for algorithms that cannot do with the way
 * of the marks; `out` is then untouched.
 */
static enum hd_status congestion_run(const struct sim_setup *setup,
				     const struct congestion_flow *flows, uint32_t n_flows,
				     const struct congestion_params *params, struct diag *d,
				     struct congestion_result *out)
{
	struct run r = {
		.setup = setup, .flows = flows, .n_flows = n_flows, .params = params, .result = out
	};
	enum hd_status status = check(&r, d);

	if (status != HD_OK)
		return status;
	*out = (struct congestion_result){ 0 };
	begin(&r);
	go(&r);
	conclude(&r);
	sim_free(r.sim);
	free(r.throttles);
	free(r.throttle_of_flow);
	free(r.reserve);
	free(r.sim_flows);
	free(r.to);
	free(r.delivered);
	return HD_OK;
}

static void congestion_result_fini(struct congestion_result *result)
{
	free(result->flows);
	free(result->samples);
	free(result->utilisation);
	free(result->reserved);
	*result = (struct congestion_result){ 0 };
}

#endif
