/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/tables/tables.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "mgmt/agents/agents.h"

/* Delays of MADs in-band: those of VL15 packets in a run of the scenario. */

static enum hd_status check_switches(const struct scenario *s, struct diag *d)
{
	const struct scn_switch *sw = &s->fabric.sw;
	const struct {
		const void *field;
		const char *path, *wanted;
		bool is_there;
	} rows[] = {
		{ &sw->queueing, "fabric.switch.queueing", "input",
		  sw->queueing == SIM_INPUT_QUEUED },
		{ &sw->order, "fabric.switch.order", "voq", sw->order == SIM_VOQ },
		{ &sw->crossbar_reads, "fabric.switch.crossbar_reads", "0",
		  sw->crossbar_reads == SCN_CROSSBAR_READS_AUTO || sw->crossbar_reads == 0 },
		{ &s->fabric.credits, "fabric.credits", "delay",
		  s->fabric.credits == SIM_CREDITS_DELAY },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!rows[i].is_there)
			return scenario_refuse(s, d, rows[i].field,
					       "%s: '--clock simulated' supports '%s' only",
					       rows[i].path, rows[i].wanted);
	return HD_OK;
}

enum hd_status live_tables_timing(const struct fabric *fabric, struct diag *d,
				  struct agents_timing *out)
{
	const struct scn_switch *sw = &fabric->scenario->fabric.sw;
	struct fabric_cable *cables = NULL;
	enum hd_status status = check_switches(fabric->scenario, d);

	if (status == HD_OK)
		status = fabric_cables(fabric, d, &cables);
	if (status != HD_OK)
		return status;
	*out = (struct agents_timing){
		.switch_delay = sw->routing_delay + sw->arbitration_delay,
		.agent_delay = fabric->scenario->fabric.agent_delay,
		.vl15_blocks = fabric_vl15_blocks(fabric),
		.oldest = sw->arbitration == SIM_OLDEST,
		.cables = hd_alloc(fabric->topo.n_ports, sizeof(*out->cables)),
	};
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		out->cables[p] =
			(struct agents_cable_timing){ cables[p].propagation, cables[p].rate };
	free(cables);
	if (agents_timing_valid(out, &fabric->topo))
		return HD_OK;
	free(out->cables);
	return diag_fail(d, HD_ERR_INPUT,
			 "'--clock simulated' needs links of at least 1 kb/s, of at most %d rates",
			 AGENTS_MOST_RATES);
}
