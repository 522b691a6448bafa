/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos/bound_options.h"

#include "cli/qos/options.h"
#include "scenario/words.h"

#define FIELD(name) offsetof(struct bound_values, name)

const struct option bound_options[] = {
	OPTION_GROUP(FIELD(params.groups), "flows"),
	{ "mode", 0, OPT_CHOICE, FIELD(params.blrm.mode), NULL, "grouped",
	  "the bound that decides; all are shown", bound_mode_names },
	OPTION_ENGINE(struct bound_values, fabric),
	OPTIONS_OPENSM(struct bound_values, fabric),
	OPTION_SET(struct bound_values, fabric),
	{ "queueing", 0, OPT_SET, FIELD(fabric.set), NULL, NULL,
	  "where switches queue packets: at inputs, or at inputs and outputs with a crossbar between",
	  scn_queueing_words, .path = "fabric.switch.queueing",
	  .as = OPT_CHOICE },
	{ "speedup", 0, OPT_SET, FIELD(fabric.set), "N", NULL,
	  "how many times faster the crossbar is than an output's link",
	  .path = "fabric.switch.speedup", .as = OPT_RATIO },
	{ "order", 0, OPT_SET, FIELD(fabric.set), NULL, NULL,
	  "input queues of the switches; for fifo there is no bound",
	  scn_order_words, .path = "fabric.switch.order", .as = OPT_CHOICE },
	{ "pick", 0, OPT_SET, FIELD(fabric.set), NULL, NULL,
	  "how an output chooses among inputs", scn_pick_words,
	  .path = "fabric.switch.pick", .as = OPT_CHOICE },
	{ "weighted", 0, OPT_FLAG, FIELD(params.blrm.weighted), NULL, NULL,
	  "lanes as the ports' arbitration tables have them, not by class and priority" },
	{ "reservable", 0, OPT_RATIO, FIELD(params.blrm.reservable), "SHARE",
	  "80%", "of each link, for DBTS and DB together" },
	{ "db-latency", 0, OPT_TIME, FIELD(params.blrm.db_latency), "TIME",
	  "1ms",
	  "what DB flows that ask for no latency are promised; 0: what they have now, which others must then keep to" },
	OPTION_PAYLOAD(
		FIELD(payload),
		"payload of the largest packets, the flows' and all others; a burst that is not given is one of them"),
	OPTION_OVERHEAD(FIELD(overhead),
			"bytes of every packet on the wire beside its payload"),
	{ "least", 0, OPT_SIZE, FIELD(least), "SIZE", "0",
	  "payload of the flows' smallest packets; 0: as their bursts have it" },
	{ "management", 0, OPT_SIZE, FIELD(management), "SIZE", "0",
	  "what VL15 may send at once, before everything else, on the wire" },
	{ "propagation", 0, OPT_SET, FIELD(fabric.set), "TIME", NULL,
	  "delay of each cable", .path = "fabric.link.propagation",
	  .as = OPT_TIME },
	{ "routing-delay", 0, OPT_SET, FIELD(fabric.set), "TIME", NULL,
	  "delay of a switch", .path = "fabric.switch.routing",
	  .as = OPT_TIME },
	{ "arbitration", 0, OPT_SET, FIELD(fabric.set), "TIME", NULL,
	  "delay of a switch output", .path = "fabric.switch.arbitration",
	  .as = OPT_TIME },
	{ "routing", .kind = OPT_RENAMED, .value = "routing-delay" },
	{ .name = NULL },
};

bool bound_options_take(const struct command *self, struct bound_values *v,
			int *status)
{
	struct grants_params *p = &v->params;
	const struct hd_ratio reservable = p->blrm.reservable;

	if (!engine_known(self, &v->fabric, "engine", status) ||
	    !packets_possible(self, v->payload, v->overhead, &p->packets,
			      status))
		return false;
	if (v->least > v->payload || v->management > UINT32_MAX ||
	    reservable.num == 0 || reservable.num > reservable.den) {
		*status = command_usage(
			self,
			"the smallest packets have at most --payload and management less than 4 GiB; the reservable share is above 0 and at most 100%%");
		return false;
	}
	p->least = (uint32_t)v->least;
	p->blrm.management_burst = (uint32_t)v->management;
	return true;
}

enum hd_status bound_switches(const struct sim_setup *s, struct diag *d,
			      struct blrm_params *out)
{
	if (s->sw.order == SIM_FIFO)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"no bound is claimed for fifo input queues: a packet can wait for one that goes elsewhere");
	out->any_order = s->sw.pick == SIM_ROUND_ROBIN;
	out->routing = s->sw.routing;
	out->arbitration = s->sw.arbitration;
	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].propagation > out->propagation)
			out->propagation = s->ports[i].propagation;
	}
	if (s->sw.queueing == SIM_CIOQ)
		out->speedup = s->sw.speedup;
	return HD_OK;
}
