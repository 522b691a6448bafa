/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_CONGESTION_FLOWS_FOR_TESTS_H
#define HD_SIM_INJECTION_CONGESTION_FLOWS_FOR_TESTS_H

/* The flows of a scenario for congestion_run. */

#include "base/rng.h"
#include "fabric/control.h"
#include "fabric/fabric.h"
#include "sim/injection/congestion_for_tests.h"

#define CONGESTION_START_SPREAD (20 * HD_US)
#define STREAM_STARTS           0x46000000

static void take_flow(const struct fabric *fabric, uint32_t i, struct congestion_flow *out)
{
	const struct sim_flow *f = &fabric->flows[i];
	const struct scn_traffic *row = &fabric->scenario->traffic[f->row];
	struct rng random;

	rng_init(&random, fabric->scenario->run.seed, STREAM_STARTS + i);
	*out = (struct congestion_flow){
		.source = f->source,
		.destination = fabric->end_of_origin[fabric->flow_target[i]],
		.dlid = f->to.list[0].dlid,
		.sl = f->sl,
		.pkey = f->pkey,
		.bytes = f->bytes,
		.start = f->start + rng_below(&random, CONGESTION_START_SPREAD),
		.stop = f->stop,
		.count = f->count * f->packets,
		.algorithm = fabric_algorithm(row->control),
		.is_spared = !(scenario_controlled_sls(fabric->scenario) >> f->sl & 1),
		.row = f->row,
		.reserve = fabric_reservation(fabric, i),
	};
	const struct cc_config own = fabric_response(fabric, i);

	out->rmin = own.rmin;
	out->rmax = own.rmax;
	out->unit = own.unit;
}

static enum hd_status congestion_flows(const struct fabric *fabric, struct diag *d,
				       struct congestion_flow **out)
{
	if (fabric->n_flows == 0)
		return diag_fail(d, HD_ERR_UNFIT, "there is no traffic that could be controlled");
	struct congestion_flow *flows = hd_alloc(fabric->n_flows, sizeof(*flows));

	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *f = &fabric->flows[i];

		if (fabric->flow_target[i] == TOPO_NONE || f->management ||
		    f->to.list[0].dlid >= LID_FIRST_MCAST) {
			free(flows);
			return diag_fail(
				d, HD_ERR_UNFIT,
				"flow %u has no single destination: congestion control needs one that acknowledges",
				i);
		}
		take_flow(fabric, i, &flows[i]);
	}
	*out = flows;
	return HD_OK;
}

static enum hd_status set_times(const struct scenario *s, struct diag *d,
				struct congestion_params *out)
{
	if (s->run.warmup.unit != SCN_PLAIN || s->run.measure.unit != SCN_PLAIN)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"run.warmup and run.measure are in packets; give them in time (--warmup, --measure)");
	out->warmup = s->run.warmup.value;
	/* The first packets are of no interest anyway. */
	if (out->warmup == 0)
		out->warmup = 1;
	out->stop = out->warmup + s->run.measure.value;
	return HD_OK;
}

static enum hd_status congestion_params_init(const struct fabric *fabric, struct diag *d,
					     struct congestion_params *out)
{
	const struct scn_congestion *c = &fabric->scenario->congestion;

	*out = (struct congestion_params){
		.response = fabric_response(fabric, 0),
		.marking = fabric_marking(c),
		.echo = c->echo,
		.per_sl = c->per == SCN_PER_SL,
		.fixed_gap = c->gap == SCN_GAP_FIXED,
		.window = (uint32_t)c->window,
		.ack_delay = c->ack_delay,
		.timeout = c->timeout,
	};
	fabric_shares(c, out->sl_share);
	return set_times(fabric->scenario, d, out);
}

#endif
