/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "fabric/control.h"
#include "fabric/fabric_internal.h"
#include "scenario/words.h"

/* ---- what the scenario's words mean ---------------------------------- */

struct mark_config fabric_marking(const struct scn_congestion *c)
{
	bool published = c->marking == MARK_PUBLISHED;

	return (struct mark_config){
		.rule = published ? MARK_TWO_COUNTER : (enum mark_rule)c->marking,
		.guard = c->marking == MARK_TWO_COUNTER,
		.depth = (uint32_t)((c->depth + 63) / 64),
		.threshold = (uint8_t)c->threshold,
		.mark_victims = c->victims,
		.min_bytes = (uint32_t)c->packet_size,
		.mark_every = (uint32_t)c->marking_rate,
	};
}

static void set_table(const struct scn_congestion *c, struct cc_config *out)
{
	if (c->cct.given) {
		memcpy(out->cct, c->cct.entries, sizeof(out->cct));
		out->ccti_limit = (uint16_t)(c->cct.n - 1);
	} else {
		/* A straight table: each step adds a quarter of a packet. */
		for (unsigned i = 0; i < CCT_MAX_ENTRIES; i++)
			out->cct[i] = (uint16_t)(2u << 14 | i);
		out->ccti_limit = CCT_MAX_ENTRIES - 1;
	}
	out->ccti_increase = (uint16_t)c->ccti_increase;
	out->ccti_timer = (uint16_t)c->ccti_timer;
	out->ccti_min = (uint16_t)c->ccti_min;
}

/* Bits per second of the link that an end node sends by. */
static double fabric_link_bits(const struct fabric *fabric, uint32_t node)
{
	const struct sim_setup *s = &fabric->setup;

	return hd_rate_bps(s->ports[s->nodes[node].first_port + 1].rate);
}

/* A flow's lowest and highest rate, in packets per second. */
static void flow_rates(const struct fabric *fabric, uint32_t flow, double *rmin, double *rmax)
{
	const struct sim_flow *f = &fabric->flows[flow];
	const struct scn_traffic *row = &fabric->scenario->traffic[f->row];
	uint64_t steps =
		row->rate_steps ? row->rate_steps : fabric->scenario->congestion.rate_steps;

	*rmax = fabric_link_bits(fabric, f->source) / (8.0 * f->bytes);
	*rmin = *rmax / (double)steps;
}

static struct cc_config response(const struct scn_congestion *c, double rmin, double rmax)
{
	struct cc_config out = cc_config_default(rmin, rmax);

	out.m = c->m;
	out.cap_first_increase = c->cap;
	/* The lowest rate of a row may be below that of the others. */
	out.unit = fmin(rmin, rmax / (double)c->rate_steps) / c->units;
	set_table(c, &out);
	return out;
}

struct cc_config fabric_response_in_shares(const struct fabric *fabric)
{
	const struct scn_congestion *c = &fabric->scenario->congestion;

	return response(c, 1 / (double)c->rate_steps, 1);
}

struct cc_config fabric_response(const struct fabric *fabric, uint32_t flow)
{
	double rmin, rmax;

	flow_rates(fabric, flow, &rmin, &rmax);
	return response(&fabric->scenario->congestion, rmin, rmax);
}

const struct cc_algorithm *fabric_algorithm(unsigned control)
{
	return cc_find(scn_algorithm_words[control]);
}

uint64_t fabric_reservation(const struct fabric *fabric, uint32_t flow)
{
	const struct scn_traffic *row = &fabric->scenario->traffic[fabric->flows[flow].row];

	if (scenario_asks(fabric->scenario, row))
		return 0; /* it had its answer before the run */
	return row->reserve.num ? (uint64_t)llround(hd_rate_bps(row->reserve)) : 0;
}

void fabric_shares(const struct scn_congestion *c, double *out)
{
	for (size_t i = 0; i < c->n_limits; i++)
		out[c->limits[i].sl] =
			(double)c->limits[i].share.num / (double)c->limits[i].share.den;
}

/* ---- throttles ------------------------------------------------------- */

struct building {
	struct fabric *fabric;
	struct diag *d;
	const struct cc_algorithm *algorithm; /* of the run */
	struct sim_control *control;
	struct sim_throttle *throttles;
	uint32_t *throttle_of_flow;
	uint64_t *reserve;
	uint32_t *senders;         /* per node: so far */
	uint32_t (*shared)[N_SLS]; /* per node: 1 + throttle of an SL */
};

/* C1: why packets of a flow have no acknowledgements, or NULL. */
static const char *why_unacknowledged(const struct sim_flow *f)
{
	const struct sim_destinations *to = &f->to;

	if (f->management)
		return "management datagrams on VL15 are not acknowledged";
	if (f->kind == SIM_TRACE)
		return "packets of a trace are not acknowledged";
	for (uint32_t i = 0; i < to->n; i++) {
		if (to->list[i].dlid >= LID_FIRST_MCAST)
			return "multicast packets are not acknowledged";
		if (to->list[i].target != TOPO_NONE)
			return "packets to another subnet are not acknowledged";
	}
	return NULL;
}

const char *fabric_uncontrolled(const struct fabric *fabric, uint32_t flow)
{
	const struct sim_flow *f = &fabric->flows[flow];

	if (f->posted)
		return NULL; /* its queue pairs are paced */
	const char *why = why_unacknowledged(f);

	if (!why && !(scenario_controlled_sls(fabric->scenario) >> (f->sl & 15) & 1))
		why = "its SL is not in congestion.cct.sls";
	return why;
}

const char *fabric_control_warning(const struct fabric *fabric)
{
	const struct cc_algorithm *a = fabric_algorithm(fabric->scenario->congestion.algorithm);

	for (uint32_t i = 0; a && i < fabric->n_flows; i++) {
		const struct cc_config c = fabric_response(fabric, i);
		const char *warning = fabric_uncontrolled(fabric, i) ? NULL : cc_warning(a, &c);

		if (warning)
			return warning;
	}
	return NULL;
}

static enum hd_status check_throttle(const struct building *g, const struct sim_throttle *t)
{
	const struct scenario *s = g->fabric->scenario;
	const struct scn_congestion *c = &s->congestion;
	struct diag inner = { .status = HD_OK };

	if (c->echo == SIM_ECHO_CNP && t->algorithm->increase)
		return scenario_refuse(
			s, g->d, &c->echo,
			"'%s' answers to acknowledgements, marked or not; only CCT can do with CNPs",
			t->algorithm->name);
	if (c->per == SCN_PER_SL && t->algorithm->increase)
		return scenario_refuse(s, g->d, &c->per,
				       "'%s' has a rate per flow; only CCT has one per SL",
				       t->algorithm->name);
	if (cc_check(t->algorithm, &t->config, &inner) != HD_OK)
		return fabric_refuse(g->fabric, g->d, &c->algorithm, "congestion.algorithm",
				     &inner);
	return HD_OK;
}

/*
 * Whether congestion control is on for an SL of an end node. With an external manager, each end
 * node has its own parameters.
 */
static bool is_throttled(const struct fabric *fabric, const struct fabric_programmer *by,
			 uint32_t node, unsigned sl, struct cc_config *c)
{
	const struct sim_setup *u = &fabric->setup;

	if (!(scenario_controlled_sls(fabric->scenario) >> sl & 1))
		return false;
	return !by ||
	       by->throttle(by->context, u->ports[u->nodes[node].first_port + 1].origin, sl, c);
}

static enum hd_status add_throttle(struct building *g, uint32_t flow)
{
	const struct sim_flow *f = &g->fabric->flows[flow];
	const struct scn_traffic *row = &g->fabric->scenario->traffic[f->row];
	const struct cc_algorithm *own = fabric_algorithm(row->control);
	uint32_t *shared = &g->shared[f->source][f->sl & 15];
	uint32_t number = g->control->n_throttles;

	if (g->fabric->scenario->congestion.per == SCN_PER_SL && *shared) {
		g->throttle_of_flow[flow] = *shared - 1;
		return HD_OK;
	}
	struct sim_throttle *t = &g->throttles[number];

	*t = (struct sim_throttle){
		.node = f->source,
		.algorithm = own ? own : g->algorithm,
		.config = fabric_response(g->fabric, flow),
	};
	if (!is_throttled(g->fabric, g->fabric->by, f->source, f->sl & 15, &t->config))
		return HD_OK;
	t->sender = ++g->senders[f->source];
	g->throttle_of_flow[flow] = number;
	*shared = number + 1;
	g->control->n_throttles++;
	return check_throttle(g, t);
}

static enum hd_status add_flow(struct building *g, uint32_t flow)
{
	const struct fabric *fabric = g->fabric;
	const struct sim_flow *f = &fabric->flows[flow];

	g->throttle_of_flow[flow] = SIM_NONE;
	g->reserve[flow] = fabric_reservation(fabric, flow);
	if (g->reserve[flow] && (f->to.n != 1 || why_unacknowledged(f)))
		return scenario_refuse(
			fabric->scenario, g->d, &fabric->scenario->traffic[f->row].reserve,
			"traffic[].reserve: flow %u has no single destination to ask the way to",
			flow);
	return g->algorithm && !why_unacknowledged(f) ? add_throttle(g, flow) : HD_OK;
}

static enum hd_status add_flows(struct building *g)
{
	struct fabric *fabric = g->fabric;
	enum hd_status status = HD_OK;

	g->throttles = fabric_keep(fabric, fabric->n_flows, sizeof(*g->throttles));
	g->throttle_of_flow = fabric_keep(fabric, fabric->n_flows, sizeof(*g->throttle_of_flow));
	g->reserve = fabric_keep(fabric, fabric->n_flows, sizeof(*g->reserve));
	g->senders = fabric_keep(fabric, fabric->setup.n_nodes, sizeof(*g->senders));
	g->shared = fabric_keep(fabric, fabric->setup.n_nodes, sizeof(*g->shared));
	for (uint32_t i = 0; i < fabric->n_flows && status == HD_OK; i++)
		status = add_flow(g, i);
	return status;
}

/* ---- queue pairs ----------------------------------------------------- */

struct cc_config **fabric_ask_responses(struct fabric *fabric, const struct fabric_programmer *by)
{
	const struct cc_config common = fabric_response_in_shares(fabric);
	size_t n = (size_t)fabric->setup.n_nodes * N_SLS;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	struct cc_config **all = fabric_keep(fabric, n, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		uint32_t node = (uint32_t)(i / N_SLS);
		struct cc_config mine = common;

		if (fabric->setup.nodes[node].kind != SIM_END ||
		    (fabric->responses && !fabric->responses[i]) ||
		    !is_throttled(fabric, by, node, i % N_SLS, &mine))
			continue;
		all[i] = fabric_keep(fabric, 1, sizeof(mine));
		*all[i] = mine;
	}
	return all;
}

uint16_t fabric_paced_sls(const struct fabric *fabric)
{
	const struct vl_split *split = &fabric->subnet.split;
	uint16_t controlled = scenario_controlled_sls(fabric->scenario);
	uint16_t promised = scenario_promised_sls(fabric->scenario);
	uint16_t some = 0, not = 0;

	if (!split->n_classes || !split->sls)
		return controlled;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned first = split->class_of_sl[sl] * split->sls;
		uint16_t block = (uint16_t)(((1u << split->sls) - 1) << first);

		some |= controlled >> sl & 1 ? block : 0;
		not |= promised >> sl & 1 ? block : 0;
	}
	return some & (uint16_t) ~not ;
}

const struct cc_config *fabric_response_of(const struct fabric *fabric, uint32_t node, unsigned sl,
					   uint32_t changes, const struct cc_config *common)
{
	size_t i = (size_t)node * N_SLS + sl;

	if (fabric->responses && changes)
		return fabric->setup.settings[changes - 1].responses[i];
	if (fabric->responses)
		return fabric->responses[i];
	return fabric_paced_sls(fabric) >> sl & 1 ? common : NULL;
}

enum hd_status fabric_build_control(struct fabric *fabric, struct diag *d)
{
	const struct scn_congestion *c = &fabric->scenario->congestion;
	struct building g = { .fabric = fabric, .d = d };

	if (c->algorithm == SCN_CONTROL_SAME)
		return HD_OK;
	enum hd_status status = scenario_has_no_capacity(fabric->scenario, "throttled flows", d);

	if (status != HD_OK)
		return status;
	g.algorithm = fabric_algorithm(c->algorithm);
	g.control = fabric_keep(fabric, 1, sizeof(*g.control));
	status = add_flows(&g);
	if (status != HD_OK)
		return status;
	g.control->marking = fabric_marking(c);
	g.control->echo = c->echo;
	g.control->fixed_gap = c->gap == SCN_GAP_FIXED;
	g.control->window = (uint32_t)c->window;
	g.control->ack_delay = c->ack_delay;
	g.control->timeout = c->timeout;
	g.control->throttles = g.throttles;
	g.control->throttle_of_flow = g.throttle_of_flow;
	g.control->n_flows = fabric->n_flows;
	g.control->reserve = g.reserve;
	fabric_shares(c, g.control->sl_share);
	if (g.algorithm && fabric->by)
		fabric->responses = fabric_ask_responses(fabric, fabric->by);
	fabric->setup.control = g.control;
	return HD_OK;
}
