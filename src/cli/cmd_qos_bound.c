/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "subnet/ends.h"
#include "cli/scenario.h"
#include "qos/blrm.h"
#include "qos/requests.h"

static const char *const mode_names[] = { "published", "bucket", "grouped",
					  "periodic", NULL };
static const char *const queueing_names[] = { "input", "cioq", NULL };
static const char *const order_names[] = { "voq", "fifo", NULL };
static const char *const pick_names[] = { "round-robin", "oldest", NULL };

#define NOT_GIVEN UINT_MAX

struct values {
	struct common_options common;
	struct fabric_choice fabric;
	unsigned mode;
	unsigned queueing, order, pick; /* NOT_GIVEN: as the scenario says */
	bool weighted;
	struct hd_ratio reservable, speedup;
	uint64_t payload, overhead, least, management;
	hd_time propagation, routing, arbitration, db_latency;
	struct option_list groups;
};

static const struct option options[] = {
	{ .name = "group",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, groups),
	  .value = "NAME:GROUP",
	  .help = "a multicast group, as 'heddle route --mcast' has it, that "
		  "flows call group:NAME" },
	{ .name = "mode",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, mode),
	  .choices = mode_names,
	  .initial = "grouped",
	  .help = "the bound that decides; all are shown" },
	OPTION_ENGINE(struct values, fabric.engine),
	OPTION_SET(struct values, fabric.set),
	{ .name = "queueing",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, queueing),
	  .choices = queueing_names,
	  .help = "of the switches: at inputs, or at inputs and outputs with "
		  "a crossbar between" },
	{ .name = "speedup",
	  .kind = OPT_RATIO,
	  .offset = offsetof(struct values, speedup),
	  .value = "N",
	  .help = "of the crossbar over its output's link" },
	{ .name = "order",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, order),
	  .choices = order_names,
	  .help = "input queues of the switches; for fifo there is no bound" },
	{ .name = "pick",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, pick),
	  .choices = pick_names,
	  .help = "how an output chooses among inputs" },
	{ .name = "weighted",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, weighted),
	  .help = "lanes as the ports' arbitration tables have them, not by "
		  "class and priority" },
	{ .name = "reservable",
	  .kind = OPT_RATIO,
	  .offset = offsetof(struct values, reservable),
	  .value = "SHARE",
	  .initial = "80%",
	  .help = "of each link, for DBTS and DB together" },
	{ .name = "db-latency",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, db_latency),
	  .value = "TIME",
	  .initial = "1ms",
	  .help = "what DB flows that ask for no latency are promised; 0: "
		  "what they have now, which others must then keep to" },
	{ .name = "payload",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, payload),
	  .value = "SIZE",
	  .initial = "2048",
	  .help = "of the largest packets, the flows' and all others; a burst "
		  "that is not given is one of them" },
	{ .name = "overhead",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, overhead),
	  .value = "SIZE",
	  .initial = "26",
	  .help = "bytes of every packet on the wire beside its payload" },
	{ .name = "least",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, least),
	  .value = "SIZE",
	  .initial = "0",
	  .help = "payload of the flows' smallest packets; 0: as their bursts "
		  "have it" },
	{ .name = "management",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct values, management),
	  .value = "SIZE",
	  .initial = "0",
	  .help = "what VL15 may send at once, before everything else, on the "
		  "wire" },
	{ .name = "propagation",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, propagation),
	  .value = "TIME",
	  .help = "of each link" },
	{ .name = "routing",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, routing),
	  .value = "TIME",
	  .help = "delay of a switch" },
	{ .name = "arbitration",
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, arbitration),
	  .value = "TIME",
	  .help = "delay of a switch output" },
	{ .name = NULL },
};

static const struct column flow_columns[] = {
	{ "line", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "class", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "granted", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "promised", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "bound", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "reason", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column hop_columns[] = {
	{ "flow", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "link", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "published", "us", VALUE_REAL, ORIGIN_PUBLISHED, 3 },
	{ "bucket", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "grouped", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "periodic", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "buffer", "B", VALUE_REAL, ORIGIN_COMPUTED, 0 },
	{ "output", "B", VALUE_REAL, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

struct run {
	struct values v;
	struct fabric *fabric;
	struct blrm blrm;
	struct qos_requests list;
	struct qos_packets packets;
	uint32_t least; /* payload of any packet of the flows */
	/* By flow id. */
	struct grant {
		const struct qos_request *q;
		const char *to; /* where it ends */
	} * granted;
	size_t granted_cap;
	struct answer {
		const struct qos_request *q;
		const char *to;
		uint32_t flow;
		char *reason; /* NULL: granted */
	} * answers;
	size_t n_answers, answers_cap;
	struct results *results;
	const char *file; /* of the flows */
	unsigned refused;
};

/* Asks and notes what came of it; true if granted, and which flow it is. */
static bool ask_for(struct run *r, const struct qos_request *q,
		    const struct blrm_request *request, const char *to,
		    struct diag *why, uint32_t *id)
{
	double told;

	if (blrm_request(&r->blrm, request, why, id, &told) != HD_OK)
		return false;
	r->granted = hd_grow(r->granted, &r->granted_cap, *id + 1u,
			     sizeof(*r->granted));
	r->granted[*id] = (struct grant){ q, to };
	return true;
}

/* Noted, and shown when all have asked: bounds change until then. */
static void note_answer(struct run *r, const struct qos_request *q,
			const char *to, const struct diag *why, uint32_t id)
{
	r->answers = hd_grow(r->answers, &r->answers_cap, r->n_answers + 1,
			     sizeof(*r->answers));
	r->answers[r->n_answers++] = (struct answer){
		.q = q,
		.to = to,
		.flow = id,
		.reason = why->status == HD_OK ? NULL : hd_strdup(why->message),
	};
}

static void show_answers(const struct run *r)
{
	struct table *t = results_table(
		r->results, "flows", "in the order of the file", flow_columns);

	for (size_t i = 0; i < r->n_answers; i++) {
		const struct answer *a = &r->answers[i];

		table_put_uint(t, a->q->line);
		table_put_textf(t, "%s -> %s", a->q->source, a->to);
		table_put_text(t, traffic_class_name(a->q->class));
		table_put_bool(t, !a->reason);
		if (a->reason) {
			table_put_none(t);
			table_put_none(t);
		} else {
			table_put_real(t,
				       r->blrm.flows[a->flow].promised * 1e6);
			table_put_real(t, r->blrm.flows[a->flow].bound * 1e6);
		}
		table_put_text(t, a->reason ? a->reason : "");
	}
}

/* A flow to each member, or to none; what they have in common counts once. */
static enum hd_status ask_group(struct run *r, const struct qos_request *q,
				port_id from, struct diag *d)
{
	struct subnet *s = &r->fabric->subnet;
	struct qos_packets packets = qos_packets_global(r->packets);
	struct blrm_request request;
	struct diag why = { .status = HD_OK };
	uint32_t group = 0, first = r->blrm.n_flows, id = 0;

	if (blrm_request_of(q, &packets, from, d, &request) != HD_OK)
		return d->status;

	if (named_group_find(s, &r->v.groups, q->destination, from, &why,
			     &group) != HD_OK)
		return diag_fail_at(d, why.status, q->line, 0, "%s",
				    why.message);
	const struct mcast_group *m = &s->groups[group];

	request.dlid = m->mlid;
	for (uint32_t i = 0; i < m->n_members && why.status == HD_OK; i++) {
		request.member = m->members[i];
		if (m->members[i] != from &&
		    ask_for(r, q, &request,
			    topo_node_of(s->topo, m->members[i])->name, &why,
			    &id))
			request.first = first + 1;
	}
	if (why.status != HD_OK) {
		/* The last ones first: branches before their trunks. */
		for (uint32_t i = r->blrm.n_flows; i-- > first;) {
			if (blrm_release(&r->blrm, i) != HD_OK)
				break;
		}
		note_answer(r, q, q->destination, &why, 0);
		r->refused++;
	}
	for (uint32_t i = first; why.status == HD_OK && i < r->blrm.n_flows;
	     i++)
		note_answer(r, q, r->granted[i].to, &why, i);
	return HD_OK;
}

static enum hd_status ask(struct run *r, const struct qos_request *q,
			  struct diag *d)
{
	port_id from = fabric_find_end(r->fabric, q->source);
	bool group = strncmp(q->destination, GROUP_PREFIX,
			     strlen(GROUP_PREFIX)) == 0;
	port_id to = group ? from : fabric_find_end(r->fabric, q->destination);
	struct diag why = { .status = HD_OK };
	uint32_t id = 0;

	if (from == TOPO_NONE || to == TOPO_NONE)
		return diag_fail_at(d, HD_ERR_NOT_FOUND, q->line, 0,
				    "no end port is called '%.80s'",
				    from == TOPO_NONE ? q->source
						      : q->destination);
	if (r->fabric->topo.ports[from].subnet !=
	    r->fabric->topo.ports[to].subnet)
		return diag_fail_at(
			d, HD_ERR_UNFIT, q->line, 0,
			"'%.40s' and '%.40s' are in different subnets",
			q->source, q->destination);
	if (group)
		return ask_group(r, q, from, d);
	struct blrm_request request;

	if (blrm_request_of(q, &r->packets, from, d, &request) != HD_OK)
		return d->status;
	request.dlid = r->fabric->subnet.lid_of_port[to];
	r->refused += !ask_for(r, q, &request, q->destination, &why, &id);
	note_answer(r, q, q->destination, &why, id);
	return HD_OK;
}

/*
 * Last of all, what the next switch must hold, and the queue at this output; a
 * host holds nothing back, and what it sends waits in its memory.
 */
static void put_buffers(struct table *t, const struct run *r, uint32_t flow,
			uint32_t hop, double *const buffer[2])
{
	const struct path *path = &r->blrm.flows[flow].path;
	port_id port = path->port[hop];

	if (hop + 1 < path->n_hops)
		table_put_real(t, ceil(buffer[BOUND_INPUT][port]));
	else
		table_put_none(t);
	if (hop > 0 && r->fabric->setup.sw.queueing == SIM_CIOQ)
		table_put_real(t, ceil(buffer[BOUND_OUTPUT][port]));
	else
		table_put_none(t);
}

static void put_hop(struct table *t, const struct run *r, uint32_t flow,
		    uint32_t hop, double *const delay[BOUND_MODES])
{
	const struct topo *topo = &r->fabric->topo;
	port_id port = r->blrm.flows[flow].path.port[hop];

	table_put_textf(t, "%s -> %s", r->granted[flow].q->source,
			r->granted[flow].to);
	table_put_textf(t, "%s[%u]", topo_node_of(topo, port)->name,
			topo->ports[port].number);
	for (unsigned m = 0; m < BOUND_MODES; m++)
		table_put_real(t, *delay[m] * 1e6);
}

static void show_hops(const struct run *r)
{
	struct table *t =
		results_table(r->results, "hops",
			      "at most this long at each port", hop_columns);
	uint32_t n = blrm_hops(&r->blrm), k = 0;
	double *delay[BOUND_MODES], *at[BOUND_MODES];
	double *buffer[2];

	for (unsigned m = 0; m < BOUND_MODES; m++)
		delay[m] = hd_alloc(n, sizeof(double));
	blrm_bounds(&r->blrm, delay);
	for (unsigned side = 0; side < 2; side++) {
		buffer[side] =
			hd_alloc(r->fabric->topo.n_ports, sizeof(double));
		blrm_buffers(&r->blrm, (enum bound_side)side, delay[r->v.mode],
			     buffer[side]);
	}
	for (uint32_t f = 0; f < r->blrm.n_flows; f++) {
		if (!r->blrm.flows[f].live)
			continue; /* of a group that did not get all */
		for (uint32_t h = 0; h < r->blrm.flows[f].path.n_hops;
		     h++, k++) {
			for (unsigned m = 0; m < BOUND_MODES; m++)
				at[m] = delay[m] + k;
			put_hop(t, r, f, h, at);
			put_buffers(t, r, f, h, buffer);
		}
	}
	for (unsigned m = 0; m < BOUND_MODES; m++)
		free(delay[m]);
	free(buffer[BOUND_INPUT]);
	free(buffer[BOUND_OUTPUT]);
}

/* The flows' file; how large and how small their packets get. */
static enum hd_status read_flows(struct run *r, const char *path,
				 struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, FILE_LIMIT, d, &text);

	if (status == HD_OK)
		status = qos_requests_read(text.text, d, &r->list);
	strbuf_fini(&text);
	r->packets = (struct qos_packets){
		.payload = (uint32_t)r->v.payload,
		.overhead = (uint32_t)r->v.overhead,
	};
	r->least = (uint32_t)(r->v.least ? r->v.least : r->v.payload);
	for (size_t i = 0; i < r->list.n; i++) {
		uint32_t least =
			qos_least_payload(&r->list.items[i], &r->packets);

		r->least = least < r->least ? least : r->least;
	}
	return status;
}

static enum hd_status work(struct run *r, struct diag *d)
{
	enum hd_status status =
		named_groups_add(&r->fabric->subnet, &r->v.groups, d);

	for (size_t i = 0; status == HD_OK && i < r->list.n; i++)
		status = ask(r, &r->list.items[i], d);
	return status;
}

static int finish(struct run *r)
{
	struct diag d = { .status = HD_OK, .file = r->file };
	int status;

	r->results = results_new("qos bound");
	if (r->v.mode == BOUND_PUBLISHED)
		results_remark(
			r->results,
			"the published rule is no bound: it forgets that a delayed burst catches up with the next one");
	if (work(r, &d) != HD_OK) {
		results_free(r->results);
		status = command_refuse(&d);
	} else {
		show_answers(r);
		show_hops(r);
		status = output_results(&r->v.common, r->results,
					r->refused == 0);
	}
	for (size_t i = 0; i < r->n_answers; i++)
		free(r->answers[i].reason);
	free(r->answers);
	free(r->granted);
	return status;
}

/* Options are short for --set. */
static void switch_overrides(struct values *v)
{
	struct overrides *o = &v->fabric.overrides;
	const struct {
		const char *label, *path;
		hd_time value;
	} times[] = {
		{ "--propagation", "fabric.link.propagation", v->propagation },
		{ "--routing", "fabric.switch.routing", v->routing },
		{ "--arbitration", "fabric.switch.arbitration",
		  v->arbitration },
	};

	if (v->queueing != NOT_GIVEN)
		overrides_put(o, "--queueing", "fabric.switch.queueing", "%s",
			      queueing_names[v->queueing]);
	if (v->order != NOT_GIVEN)
		overrides_put(o, "--order", "fabric.switch.order", "%s",
			      order_names[v->order]);
	if (v->pick != NOT_GIVEN)
		overrides_put(o, "--pick", "fabric.switch.pick", "%s",
			      pick_names[v->pick]);
	if (v->speedup.den) {
		struct strbuf text = STRBUF_INIT;

		hd_ratio_print(v->speedup, &text);
		overrides_put(o, "--speedup", "fabric.switch.speedup", "%s",
			      text.text);
		strbuf_fini(&text);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (times[i].value != HD_TIME_NEVER)
			overrides_put(o, times[i].label, times[i].path,
				      "%llups",
				      (unsigned long long)times[i].value);
	}
}

/* The switches and cables of the fabric, as the simulator would run them. */
static enum hd_status params_of(const struct run *r, struct diag *d,
				struct blrm_params *out)
{
	const struct sim_setup *s = &r->fabric->setup;
	struct qos_packets largest =
		r->v.groups.n ? qos_packets_global(r->packets) : r->packets;

	*out = (struct blrm_params){
		.mode = (enum bound_mode)r->v.mode,
		.any_order = s->sw.pick == SIM_ROUND_ROBIN,
		.weighted = r->v.weighted,
		.reservable = r->v.reservable,
		.max_packet = largest.payload + largest.overhead,
		.min_packet = r->least + r->packets.overhead,
		.management_burst = (uint32_t)r->v.management,
		.routing = s->sw.routing,
		.arbitration = s->sw.arbitration,
		.db_latency = r->v.db_latency,
	};
	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].propagation > out->propagation)
			out->propagation = s->ports[i].propagation;
	}
	if (s->sw.queueing == SIM_CIOQ)
		out->speedup = s->sw.speedup;
	if (s->sw.order == SIM_FIFO)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"no bound is claimed for fifo input queues: a packet can wait for one that goes elsewhere");
	return HD_OK;
}

static int bound(struct run *r, char **argv)
{
	struct diag d = { .status = HD_OK };
	struct blrm_params params;
	int status;

	switch_overrides(&r->v);
	if (read_flows(r, argv[1], &d) != HD_OK ||
	    fabric_choose(&r->v.fabric, argv[0], &d, &r->fabric) != HD_OK)
		return command_refuse(&d);
	if (params_of(r, &d, &params) == HD_OK) {
		blrm_init(&r->blrm, &r->fabric->subnet, &params);
		/* What is wrong from here on is in the flows' file. */
		r->file = argv[1];
		status = finish(r);
		blrm_fini(&r->blrm);
	} else {
		status = command_refuse(&d);
	}
	fabric_free(r->fabric);
	return status;
}

static int check_and_bound(struct run *r, const struct command *self, int n,
			   char **argv)
{
	int status;

	if (n != 2)
		return command_usage(self, "which fabric and which flows?");
	if (!fabric_engine_known(self, r->v.fabric.engine, &status))
		return status;
	if (r->v.payload == 0 || r->v.payload > 4096 || r->v.overhead > 1024 ||
	    r->v.least > r->v.payload || r->v.management > UINT32_MAX ||
	    r->v.reservable.num == 0 ||
	    r->v.reservable.num > r->v.reservable.den ||
	    (r->v.speedup.den && r->v.speedup.num < r->v.speedup.den))
		return command_usage(
			self,
			"packets have 1 to 4096 bytes of payload and up to 1024 of overhead; the reservable share is above 0 and at most 100%%; a speedup is at least 1");
	status = bound(r, argv);
	qos_requests_fini(&r->list);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct run r = { .v = { .queueing = NOT_GIVEN,
				.order = NOT_GIVEN,
				.pick = NOT_GIVEN,
				.propagation = HD_TIME_NEVER,
				.routing = HD_TIME_NEVER,
				.arbitration = HD_TIME_NEVER } };
	int n, status;

	if (command_parse(self, &r.v, argc, argv, &n, &status))
		status = check_and_bound(&r, self, n, argv);
	option_list_fini(&r.v.groups);
	fabric_choice_fini(&r.v.fabric);
	return status;
}

static const struct example examples[] = {
	{ "heddle qos bound site.ibnet flows.txt",
	  "grant flows and show the worst delay of each at each port" },
	{ "heddle qos bound --group video:shared=h1,h2 site.ibnet flows.txt",
	  "the same with flows to a group, such as 'h0 group:video DB 64Mb/s': a bound for each member" },
	{ "heddle qos bound --mode bucket --pick round-robin site.ibnet flows.txt",
	  "the same for switches that serve inputs in turn" },
	{ "heddle qos bound --queueing cioq --speedup 2 site.ibnet flows.txt",
	  "for switches with a crossbar between queues at inputs and outputs" },
	{ NULL, NULL },
};

const struct command command_qos_bound = {
	.name = "qos bound",
	.summary = "worst-case delays of reserved flows, port by port",
	.arguments = "FABRIC FLOWS",
	.description =
		"Grants the flows one after the other as the reservation manager of\n"
		"paper 003 would: DBTS flows ask for a latency, DB flows are told\n"
		"that of their class, and no earlier promise may break. Prints the delay bound of\n"
		"every flow at every port by the published rule (which is no bound)\n"
		"and by three that are, and the buffer per lane that the next switch\n"
		"needs for them to hold (by the bound of --mode); with --queueing cioq\n"
		"also the output queue, by lane. Flows are lines:\n"
		"source destination class rate [burst [latency]]; one to a group counts\n"
		"once on each link and has a bound for each member. Rates and bursts are\n"
		"of payload; bounds count headers too, --overhead bytes of each packet.\n"
		"Exit status 1 if a flow was refused.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
