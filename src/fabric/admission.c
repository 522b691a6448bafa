/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/admission.h"

#include "fabric/fabric_internal.h"
#include "qos/tables/slots.h"
#include "subnet/tables/packet.h"

/* Either the scenario's classes determine the tables, or no class has a kind. */
static struct broker_params by_classes(const struct fabric *fabric)
{
	const struct scenario *s = fabric->scenario;
	const struct scn_qos *q = &s->qos;
	struct broker_params p = {
		.unreserved_sls = fabric_unreserved_sls(fabric),
		.best_effort = { 0, 1 },
		.preferred = { 0, 1 },
		.be_sl = BROKER_NO_SL,
		.ch_sl = BROKER_NO_SL,
		.pbe_sl = BROKER_NO_SL,
	};

	if (!scenario_admits(s)) {
		p = broker_params_default();
		p.high_sls = class_sls_of(TC_DBTS);
		p.unreserved_sls = class_unreserved_sls();
		return p;
	}
	for (size_t i = 0; i < q->n_classes; i++) {
		const struct scn_class *c = &q->classes[i];
		uint8_t sl = (uint8_t)c->sl;
		struct hd_ratio share = { scenario_weight(c), FRAME_SLOTS };

		p.floor_sls |= (uint16_t)(1u << sl);
		if (c->kind == TC_DBTS)
			p.high_sls |= (uint16_t)(1u << sl);
		else if (c->kind == TC_CH)
			p.ch_sl = sl;
		else if (c->kind == TC_BE)
			p.be_sl = sl, p.best_effort = share;
		else if (c->kind == TC_PBE)
			p.pbe_sl = sl, p.preferred = share;
	}
	return p;
}

/* Reason why these switches cannot guarantee bandwidth; NULL: they can. */
static const char *no_service(const struct fabric *fabric)
{
	if (fabric->setup.sw.order == SIM_FIFO)
		return "order: fifo lets a packet wait for one that goes elsewhere";
	if (fabric->setup.sw.readers)
		return "the readers of an input are limited";
	return NULL;
}

/* Reason why delay bounds do not hold for these switches; NULL: they hold. */
static const char *no_bounds(const struct fabric *fabric)
{
	const struct sim_setup *u = &fabric->setup;

	if (no_service(fabric))
		return no_service(fabric);
	if (u->credits == SIM_CREDITS_EXACT)
		return "credits: exact takes time of the links";
	if (u->vl_sharing.on)
		return "VLs lend their buffers to others";
	if (fabric->scenario->qos.admission.fill == FILL_PAPER)
		return "fill 'paper' makes no tables";
	return NULL;
}

/* Without a workload, buffer sizes are unknown. */
static void add_ports(struct fabric *fabric, struct latency_model *m)
{
	const struct sim_setup *u = &fabric->setup;
	const bool has_buffers = fabric->scenario->n_traffic > 0 || fabric->scenario->n_jobs > 0;
	uint32_t n = fabric->topo.n_ports;
	hd_time *propagation = fabric_keep(fabric, n, sizeof(*propagation));
	uint32_t *in = fabric_keep(fabric, n, sizeof(*in));
	uint32_t *out = fabric_keep(fabric, n, sizeof(*out));

	for (port_id p = 0; p < n; p++) {
		uint32_t at = fabric->port_of_origin[p];

		if (at == SIM_NONE || u->ports[at].peer == SIM_NONE)
			continue;
		propagation[p] = u->ports[at].propagation;
		in[p] = u->ports[u->ports[at].peer].in_blocks * BLOCK_BYTES;
		out[p] = u->ports[at].out_blocks * BLOCK_BYTES;
	}
	m->propagation = propagation;
	m->in_bytes = has_buffers ? in : NULL;
	m->out_bytes = has_buffers ? out : NULL;
}

/* Hosts that send no unreserved packets; NULL: jobs or ACKs may be unreserved. */
static const bool *quiet_ports(struct fabric *fabric)
{
	const struct sim_setup *u = &fabric->setup;
	const struct scenario *s = fabric->scenario;
	bool *quiet = fabric_keep(fabric, fabric->topo.n_ports, sizeof(*quiet));

	if (s->n_traffic == 0 || s->n_jobs > 0 || s->congestion.algorithm)
		return NULL;
	for (port_id p = 0; p < fabric->topo.n_ports; p++)
		quiet[p] = topo_node_of(&fabric->topo, p)->kind == NODE_CA;
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *f = &fabric->flows[i];

		if (scenario_asks(s, &s->traffic[f->row]))
			continue;
		if (s->traffic[f->row].transport)
			return NULL;
		quiet[u->ports[u->nodes[f->source].first_port + 1].origin] = false;
	}
	return quiet;
}

/* Each host sends to all others and receives from them at the rate. */
static enum hd_status job_request(struct fabric *fabric, uint32_t job, struct diag *d,
				  struct broker_request *out)
{
	const struct scenario *s = fabric->scenario;
	const struct scn_job *j = &s->jobs[job];
	uint32_t overhead = (uint32_t)s->fabric.overhead;
	struct broker_hose *hose = fabric_keep(fabric, 1, sizeof(*hose));
	struct selection hosts;
	struct diag inner = { .status = HD_OK };
	struct rng rng;

	rng_init(&rng, s->run.seed, fabric_stream(STREAM_HOSTS, j->name));
	if (select_hosts(fabric->selector, j->on, &rng, &inner, &hosts) != HD_OK)
		return fabric_refuse(fabric, d, &j->on, "jobs[].on", &inner);
	port_id *ports = fabric_keep(fabric, hosts.n, sizeof(*ports));

	*hose = (struct broker_hose){ j->name, ports, hosts.n, (uint8_t)scenario_job_sl(s, j) };
	for (uint32_t i = 0; i < hosts.n; i++)
		ports[i] = hosts.ports[i];
	/* A block for the acknowledgement of each packet. */
	if (j->transport == SCN_JOB_RC)
		overhead += BLOCK_BYTES;
	*out = broker_request_of(ports[0], fabric->subnet.lid_of_port[ports[hosts.n > 1]], hose->sl,
				 slots_charged_payload(j->reserve, (uint32_t)s->fabric.mtu,
						       overhead, s->qos.admission.margin));
	out->hose = hose;
	out->greedy = true;
	out->burst = BROKER_BURST_UNKNOWN;
	out->largest = (uint32_t)s->fabric.mtu + MOST_OVERHEAD;
	out->smallest = 1;
	selection_fini(&hosts);
	return HD_OK;
}

/* Jobs keep their reservation during the whole run. */
static enum hd_status add_jobs(struct fabric *fabric, struct diag *d, struct broker_params *out)
{
	const struct scenario *s = fabric->scenario;
	struct broker_request *all = fabric_keep(fabric, s->n_jobs, sizeof(*all));
	enum hd_status status = HD_OK;

	out->standing = all;
	for (uint32_t i = 0; i < s->n_jobs && status == HD_OK; i++) {
		if (s->jobs[i].reserve.num)
			status = job_request(fabric, i, d, &all[out->n_standing++]);
	}
	return status;
}

uint32_t fabric_standing_job(const struct scenario *s, uint32_t standing)
{
	uint32_t job = 0;

	for (uint32_t before = 0; before < standing || !s->jobs[job].reserve.num; job++)
		before += s->jobs[job].reserve.num > 0;
	return job;
}

enum hd_status fabric_broker_params(struct fabric *fabric, struct diag *d,
				    struct broker_params *out)
{
	const struct scenario *s = fabric->scenario;
	const struct sim_switch_model *sw = &fabric->setup.sw;
	struct broker_params p = by_classes(fabric);

	p.mode = s->qos.admission.fill;
	p.place = s->qos.admission.place;
	for (size_t i = 0; i < s->congestion.n_limits; i++)
		p.sl_share[s->congestion.limits[i].sl] = s->congestion.limits[i].share;
	p.latency = (struct latency_model){
		.none = no_bounds(fabric),
		.mode = BOUND_GROUPED,
		.any_order = sw->pick == SIM_ROUND_ROBIN,
		.strict = fabric->setup.arbiter == SIM_STRICT,
		.high_limit = (uint8_t)s->qos.high_limit,
		.largest = (uint32_t)scenario_largest_packet(s) +
			   (fabric->subnet.n_subnets > 1 ? GRH_BYTES : 0),
		.routing = sw->routing,
		.arbitration = sw->arbitration,
		.quiet = quiet_ports(fabric),
	};
	p.no_service = scenario_admits(s) ? no_service(fabric) : NULL;
	p.quantum = blocks_of((uint32_t)s->fabric.mtu + MOST_OVERHEAD);
	if (sw->queueing == SIM_CIOQ)
		p.latency.speedup = sw->speedup;
	add_ports(fabric, &p.latency);
	*out = p;
	return scenario_admits(s) ? add_jobs(fabric, d, out) : HD_OK;
}

struct qos_classes fabric_classes(const struct fabric *fabric)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	struct qos_classes out = { .bands = q->bands };

	for (size_t i = 0; i < q->n_classes && scenario_admits(fabric->scenario); i++)
		out.items[out.n++] = (struct qos_class){
			.name = q->classes[i].name,
			.kind = (enum traffic_class)q->classes[i].kind,
			.sl = (uint8_t)q->classes[i].sl,
		};
	return out;
}

struct qos_terms fabric_terms(const struct fabric *fabric, uint32_t payload)
{
	const struct scenario *s = fabric->scenario;

	return (struct qos_terms){
		.packets = { payload, (uint32_t)s->fabric.overhead },
		.margin = s->qos.admission.margin,
		.sl_of_tclass = fabric->setup.sl_of_tclass,
		.tclass_of_sl = fabric->setup.tclass_of_sl,
	};
}
