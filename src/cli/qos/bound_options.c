/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos/bound_options.h"

#include "cli/qos/options.h"

static const char *const mode_names[] = { "published", "bucket", "grouped",
					  "periodic", NULL };
static const char *const queueing_names[] = { "input", "cioq", NULL };
static const char *const order_names[] = { "voq", "fifo", NULL };
static const char *const pick_names[] = { "round-robin", "oldest", NULL };

#define FIELD(name) offsetof(struct bound_values, name)

const struct option bound_options[] = {
	OPTION_GROUP(FIELD(params.groups), "flows"),
	{ "mode", 0, OPT_CHOICE, FIELD(params.blrm.mode), NULL, "grouped",
	  "the bound that decides; all are shown", mode_names },
	OPTION_ENGINE(struct bound_values, fabric.engine),
	OPTION_SET(struct bound_values, fabric.set),
	{ "queueing", 0, OPT_CHOICE, FIELD(queueing), NULL, NULL,
	  "of the switches: at inputs, or at inputs and outputs with a crossbar between",
	  queueing_names },
	{ "speedup", 0, OPT_RATIO, FIELD(speedup), "N", NULL,
	  "of the crossbar over its output's link" },
	{ "order", 0, OPT_CHOICE, FIELD(order), NULL, NULL,
	  "input queues of the switches; for fifo there is no bound",
	  order_names },
	{ "pick", 0, OPT_CHOICE, FIELD(pick), NULL, NULL,
	  "how an output chooses among inputs", pick_names },
	{ "weighted", 0, OPT_FLAG, FIELD(params.blrm.weighted), NULL, NULL,
	  "lanes as the ports' arbitration tables have them, not by class and priority" },
	{ "reservable", 0, OPT_RATIO, FIELD(params.blrm.reservable), "SHARE",
	  "80%", "of each link, for DBTS and DB together" },
	{ "db-latency", 0, OPT_TIME, FIELD(params.blrm.db_latency), "TIME",
	  "1ms",
	  "what DB flows that ask for no latency are promised; 0: what they have now, which others must then keep to" },
	OPTION_PAYLOAD(
		FIELD(payload),
		"of the largest packets, the flows' and all others; a burst that is not given is one of them"),
	OPTION_OVERHEAD(FIELD(overhead),
			"bytes of every packet on the wire beside its payload"),
	{ "least", 0, OPT_SIZE, FIELD(least), "SIZE", "0",
	  "payload of the flows' smallest packets; 0: as their bursts have it" },
	{ "management", 0, OPT_SIZE, FIELD(management), "SIZE", "0",
	  "what VL15 may send at once, before everything else, on the wire" },
	{ "propagation", 0, OPT_TIME, FIELD(propagation), "TIME", NULL,
	  "of each link" },
	{ "routing", 0, OPT_TIME, FIELD(routing), "TIME", NULL,
	  "delay of a switch" },
	{ "arbitration", 0, OPT_TIME, FIELD(arbitration), "TIME", NULL,
	  "delay of a switch output" },
	{ .name = NULL },
};

static void put_overrides(const struct bound_values *v, struct overrides *out)
{
	const struct {
		const char *option, *path;
		const char *const *names;
		unsigned value;
	} choices[] = {
		{ "--queueing", "fabric.switch.queueing", queueing_names,
		  v->queueing },
		{ "--order", "fabric.switch.order", order_names, v->order },
		{ "--pick", "fabric.switch.pick", pick_names, v->pick },
	};
	const struct {
		const char *option, *path;
		hd_time value;
	} times[] = {
		{ "--propagation", "fabric.link.propagation", v->propagation },
		{ "--routing", "fabric.switch.routing", v->routing },
		{ "--arbitration", "fabric.switch.arbitration",
		  v->arbitration },
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		if (choices[i].value != BOUND_NOT_GIVEN)
			overrides_put(out, choices[i].option, choices[i].path,
				      "%s", choices[i].names[choices[i].value]);
	}
	if (v->speedup.den) {
		struct strbuf text = STRBUF_INIT;

		hd_ratio_print(v->speedup, &text);
		overrides_put(out, "--speedup", "fabric.switch.speedup", "%s",
			      text.text);
		strbuf_fini(&text);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (times[i].value != HD_TIME_NEVER)
			overrides_put(out, times[i].option, times[i].path,
				      "%llups",
				      (unsigned long long)times[i].value);
	}
}

bool bound_options_take(const struct command *self, struct bound_values *v,
			int *status)
{
	struct grants_params *p = &v->params;
	const struct hd_ratio reservable = p->blrm.reservable;

	if (!fabric_engine_known(self, v->fabric.engine, status) ||
	    !packets_possible(self, v->payload, v->overhead, &p->packets,
			      status))
		return false;
	if (v->least > v->payload || v->management > UINT32_MAX ||
	    reservable.num == 0 || reservable.num > reservable.den ||
	    (v->speedup.den && v->speedup.num < v->speedup.den)) {
		*status = command_usage(
			self,
			"the smallest packets have at most --payload and management less than 4 GiB; the reservable share is above 0 and at most 100%%; a speedup is at least 1");
		return false;
	}
	p->least = (uint32_t)v->least;
	p->blrm.management_burst = (uint32_t)v->management;
	put_overrides(v, &v->fabric.overrides);
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
