/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/congestion/flows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"

#define STREAM_STARTS 0x46000000

static lid_t lid_of(const struct fabric *b, uint32_t node)
{
	const struct sim_setup *s = &b->setup;

	return b->subnet
		.lid_of_port[s->ports[s->nodes[node].first_port + 1].origin];
}

double congestion_link_bits(const struct fabric *b,
			    const struct congestion_flow *flow)
{
	const struct sim_setup *s = &b->setup;

	return hd_rate_bps(
		s->ports[s->nodes[flow->source].first_port + 1].rate);
}

static const struct cc_algorithm *own_algorithm(const struct scn_traffic *row)
{
	static const char *const names[] = {
		[SCN_CONTROL_FIMD] = "fimd", [SCN_CONTROL_LIPD] = "lipd",
		[SCN_CONTROL_PIPD] = "pipd", [SCN_CONTROL_AIMD] = "aimd",
		[SCN_CONTROL_CCT] = "cct",
	};

	return row->control == SCN_CONTROL_SAME ? NULL
						: cc_find(names[row->control]);
}

static void take_flow(const struct fabric *b, uint32_t i,
		      struct congestion_flow *out)
{
	const struct sim_flow *f = &b->flows[i];
	const struct scn_traffic *row = &b->scenario->traffic[f->row];
	struct rng random;

	rng_init(&random, b->scenario->run.seed, STREAM_STARTS + i);
	*out = (struct congestion_flow){
		.source = f->source,
		.destination = b->end_of_origin[b->flow_target[i]],
		.dlid = f->to.list[0].dlid,
		.slid = lid_of(b, f->source),
		.sl = f->sl,
		.pkey = f->pkey,
		.bytes = f->bytes,
		.start = f->start + rng_below(&random, CONGESTION_START_SPREAD),
		.stop = f->stop,
		.count = f->count * f->packets,
		.algorithm = own_algorithm(row),
		.row = f->row,
		.reserve = row->reserve.num ? (uint64_t)llround(
						      hd_rate_bps(row->reserve))
					    : 0,
	};
	out->rmax = congestion_link_bits(b, out) / (8.0 * out->bytes);
	out->rmin =
		out->rmax /
		(double)(row->rate_steps ? row->rate_steps
					 : b->scenario->congestion.rate_steps);
}

enum hd_status congestion_flows(const struct fabric *b, struct diag *d,
				struct congestion_flow **out)
{
	if (b->n_flows == 0)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"there is no traffic that could be controlled");
	struct congestion_flow *flows = hd_alloc(b->n_flows, sizeof(*flows));

	for (uint32_t i = 0; i < b->n_flows; i++) {
		const struct sim_flow *f = &b->flows[i];

		if (b->flow_target[i] == TOPO_NONE || f->management ||
		    f->to.list[0].dlid >= LID_FIRST_MCAST) {
			free(flows);
			return diag_fail(
				d, HD_ERR_UNFIT,
				"flow %u has no single destination: congestion control needs somebody to acknowledge",
				i);
		}
		take_flow(b, i, &flows[i]);
	}
	*out = flows;
	return HD_OK;
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

static enum hd_status set_times(const struct scenario *s, struct diag *d,
				struct congestion_params *out)
{
	const struct scn_congestion *c = &s->congestion;
	hd_time measure = c->measure;

	out->warmup = c->warmup;
	if ((c->warmup == HD_TIME_NEVER && s->run.warmup.unit != SCN_PLAIN) ||
	    (c->measure == HD_TIME_NEVER && s->run.measure.unit != SCN_PLAIN))
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the run's length is in packets; congestion.warmup and congestion.measure must say it in time");
	if (c->warmup == HD_TIME_NEVER)
		out->warmup = s->run.warmup.value;
	if (c->measure == HD_TIME_NEVER)
		measure = s->run.measure.value;
	/* The first packets are of no interest anyway. */
	if (out->warmup == 0)
		out->warmup = 1;
	out->stop = out->warmup + measure;
	return HD_OK;
}

enum hd_status congestion_params_init(const struct fabric *b,
				      const struct congestion_flow *flows,
				      struct diag *d,
				      struct congestion_params *out)
{
	static const enum mark_rule rules[] = {
		[SCN_MARK_NONE] = MARK_NONE,
		[SCN_MARK_TWO_COUNTER] = MARK_TWO_COUNTER,
		[SCN_MARK_PUBLISHED] = MARK_TWO_COUNTER,
		[SCN_MARK_THRESHOLD] = MARK_THRESHOLD,
		[SCN_MARK_IBA] = MARK_IBA,
	};
	const struct scn_congestion *c = &b->scenario->congestion;

	*out = (struct congestion_params){
		.response = cc_config_default(flows[0].rmin, flows[0].rmax),
		.marking = { .rule = rules[c->marking],
			     .guard = c->marking == SCN_MARK_TWO_COUNTER,
			     .depth = (uint32_t)((c->depth + 63) / 64),
			     .threshold = (uint8_t)c->threshold,
			     .mark_victims = c->victims,
			     .min_bytes = (uint32_t)c->packet_size,
			     .mark_every = (uint32_t)c->marking_rate },
		.echo = c->echo == SCN_ECHO_CNP ? SIM_ECHO_CNP : SIM_ECHO_ACK,
		.per_sl = c->per == SCN_PER_SL,
		.window = (uint32_t)c->window,
		.ack_delay = c->ack_delay,
	};
	for (size_t i = 0; i < c->n_limits; i++)
		out->sl_share[c->limits[i].sl] =
			(double)c->limits[i].share.num /
			(double)c->limits[i].share.den;
	out->response.m = c->m;
	out->response.cap_first_increase = c->cap;
	/* One unit for all. */
	out->response.unit = flows[0].rmin / c->units;
	for (uint32_t i = 1; i < b->n_flows; i++) {
		if (flows[i].rmin / c->units < out->response.unit)
			out->response.unit = flows[i].rmin / c->units;
	}
	set_table(c, &out->response);
	return set_times(b->scenario, d, out);
}
