/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/evaluation.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "fabric/fabric.h"
#include "fabric/limits.h"
#include "qos/tables/classes.h"
#include "qos/tables/vls.h"
#include "run/run.h"

#define HOSTS         4
#define STREAM_PHASES 0x60000000

const char *const eval_shape_names[N_EVAL_SHAPES + 1] = { "irregular", "hypercube", "mesh" };
const char *const eval_rule_names[N_EVAL_RULES + 1] = { "quick", "default", "paper" };
const char *const eval_mix_names[N_EVAL_MIXES + 1] = { "paper", "deadlines", "low", "high" };

struct eval_plan eval_plan_default(void)
{
	struct establish_params fit = broker_establish_defaults();

	return (struct eval_plan){
		.shape = EVAL_IRREGULAR,
		.switches = 16,
		.width = 1,
		.payload = 4096,
		.overhead = 8,
		.counted = 8,
		.tried = UINT32_MAX,
		.retries = fit.retries,
		.lead = fit.lead,
		.vls = 15,
		.fill = FILL_PAPER,
		.rule = EVAL_QUICK,
		.seed = 1,
	};
}

struct evaluation {
	const struct eval_plan *plan;
	struct overrides overrides; /* of the fabric, which refers to them */
	struct fabric *fabric;
	struct broker broker;
	struct sim_flow *flows;
	struct sim_address *to;
	uint32_t n_flows;
};

static struct hd_rate link_rate(const struct eval_plan *p)
{
	return hd_rate_make(UINT64_C(2500000000) * p->width, 1);
}

/* ---- the fabric ---------------------------------------------------------- */

static unsigned log2_of(uint32_t n)
{
	unsigned k = 0;

	while (n >> (k + 1))
		k++;
	return k;
}

/* The paper's switches; delays that it does not state are 0. */
static const char bare_fabric[] =
	"fabric:\n"
	"  link: {propagation: 5ns}\n"
	"  switch: {queueing: cioq, speedup: 2, routing_delay: 0ns, arbitration_delay: 20ns, input_buffer: 4 packets, output_buffer: 4 packets}\n"
	"  host: {input_buffer: 4 packets}\n"
	"  routing: {lids: nodes}\n"
	"traffic: [{name: db, kind: saturating}]\n";

static void put_number(struct evaluation *e, const char *label, const char *path, uint64_t value)
{
	overrides_put(&e->overrides, label, path, "%llu", (unsigned long long)value);
}

static void put_topology(struct evaluation *e)
{
	static const char label[] = "--topology";
	static const char *const engines[N_EVAL_SHAPES] = { "updn", "ecube", "xy" };
	const struct eval_plan *p = e->plan;
	unsigned k = log2_of(p->switches);

	overrides_put(&e->overrides, label, "fabric.topology.kind", "%s",
		      eval_shape_names[p->shape]);
	put_number(e, label, "fabric.topology.hosts", HOSTS);
	overrides_put(&e->overrides, label, "fabric.routing.engine", "%s", engines[p->shape]);
	switch (p->shape) {
	case EVAL_HYPERCUBE:
		put_number(e, "--switches", "fabric.topology.dimensions", k);
		break;
	case EVAL_MESH:
		put_number(e, "--switches", "fabric.topology.columns", UINT64_C(1) << (k - k / 2));
		put_number(e, "--switches", "fabric.topology.rows", UINT64_C(1) << (k / 2));
		break;
	default:
		put_number(e, "--switches", "fabric.topology.switches", p->switches);
		put_number(e, label, "fabric.topology.degree", 4);
		put_number(e, "--seed", "fabric.topology.seed", p->seed);
		overrides_put(&e->overrides, label, "fabric.routing.roots", "s-0");
	}
}

static enum hd_status fabric_init(struct evaluation *e, struct diag *d)
{
	const struct eval_plan *p = e->plan;

	put_topology(e);
	overrides_put(&e->overrides, "--rate", "fabric.link.rate", "%lluMb/s", 2500ull * p->width);
	put_number(e, "--size", "fabric.packet.overhead", p->overhead);
	put_number(e, "--size", "traffic.db.payload", p->payload);
	put_number(e, "--vls", "qos.vls", p->vls);
	put_number(e, "--seed", "run.seed", p->seed);
	return fabric_load(bare_fabric, strlen(bare_fabric), "the evaluation's fabric",
			   &e->overrides, d, &e->fabric);
}

/* ---- connections --------------------------------------------------------- */

static void mix_classes(enum eval_mix mix, struct establish_params *p)
{
	struct hd_rate_range slow = p->classes[1].rate;

	switch (mix) {
	case EVAL_MIX_DEADLINES:
		for (uint8_t i = 0; i < CLASS_BANDS; i++)
			p->classes[p->n_classes++] =
				(struct establish_class){ (uint8_t)(4 + i), slow };
		break;
	case EVAL_MIX_LOW:
		p->n_classes = 3;
		break;
	case EVAL_MIX_HIGH:
		p->classes[0] = p->classes[2];
		p->classes[1] = p->classes[3];
		p->n_classes = 2;
		break;
	default:
		break;
	}
}

static enum hd_status fill_fabric(struct evaluation *e, struct diag *d, struct eval_result *out)
{
	const struct eval_plan *plan = e->plan;
	struct broker_params params = broker_params_default();
	struct establish_params asked = broker_establish_defaults();

	params.mode = plan->fill;
	params.high_sls = class_sls_of(TC_DBTS);
	/* As in the paper, only reserved traffic is sent. */
	params.floor_sls = params.unreserved_sls = 0;
	asked.seed = plan->seed;
	asked.tried = plan->tried;
	asked.payload = plan->payload;
	asked.overhead = plan->counted;
	asked.retries = plan->retries;
	asked.lead = plan->lead;
	mix_classes(plan->mix, &asked);
	enum hd_status status = broker_init(&e->broker, &e->fabric->subnet, &params, d);

	if (status == HD_OK)
		status = establish(&e->broker, &asked, d, &out->established);
	return status;
}

static void program_tables(struct evaluation *e)
{
	struct subnet *s = &e->fabric->subnet;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		struct vlarb table = { .high_limit = 255 };

		if (e->broker.links[p].rate.num == 0)
			continue;
		broker_tables(&e->broker, p, &table);
		table.high_limit = 255;
		subnet_set_vlarb(s, p, &table);
	}
}

/* The deadline of a DBTS connection: uniform in the range of its SL. */
static hd_time draw_deadline(struct rng *rng, uint8_t sl)
{
	static const hd_time ends[CLASS_BANDS + 1] = { 20 * HD_US, 100 * HD_US, HD_MS, 10 * HD_MS,
						       100 * HD_MS };
	hd_time low = ends[sl - 4], high = ends[sl - 3];

	return low + rng_below(rng, high - low + 1);
}

/* Reserved payload rate in bits per second. */
static uint64_t payload_rate(const struct eval_plan *p, struct hd_rate wire)
{
	/* At most 300 Mb/s times two packet sizes: 64 bits are plenty. */
	return wire.num * p->payload / (wire.den * (p->payload + p->counted));
}

static struct sim_flow make_flow(const struct evaluation *e, const struct broker_request *r,
				 const struct sim_address *to, struct rng *rng)
{
	const struct eval_plan *p = e->plan;
	const struct broker_segment *g = &r->way.segment[0];
	struct sim_interval gap = { UINT64_C(8000000000000) * p->payload,
				    payload_rate(p, r->rate) };
	hd_time iat = gap.num / gap.den;

	return (struct sim_flow){
		.kind = SIM_CBR,
		.source = e->fabric->end_of_origin[g->source],
		.to = { .list = to, .n = 1, .self = SIM_NONE },
		.sl = g->sl,
		.pkey = 0xffff,
		.bytes = p->payload + p->overhead,
		.packets = 1,
		.start = rng_below(rng, iat),
		.interval = gap,
		.period = class_of_sl(g->sl) == TC_DBTS ? draw_deadline(rng, g->sl) : iat,
	};
}

static void make_flows(struct evaluation *e)
{
	struct rng rng;

	rng_init(&rng, e->plan->seed, STREAM_PHASES);
	e->flows = hd_alloc(e->broker.n_connections, sizeof(*e->flows));
	e->to = hd_alloc(e->broker.n_connections, sizeof(*e->to));
	for (uint32_t c = 0; c < e->broker.n_connections; c++) {
		const struct broker_connection *made = &e->broker.connections[c];
		struct sim_address *to = &e->to[e->n_flows];

		if (!made->live)
			continue;
		*to = (struct sim_address){ made->request.way.segment[0].dlid, TOPO_NONE };
		e->flows[e->n_flows++] = make_flow(e, &made->request, to, &rng);
	}
}

/* ---- what came out ------------------------------------------------------- */

double eval_within(const struct eval_shares *s, unsigned i)
{
	return s->packets ? (double)s->within[i] / (double)s->packets : 0;
}

static void add_shares(struct eval_shares *sum, const uint32_t *within, uint64_t packets)
{
	sum->packets += packets;
	for (unsigned i = 0; i < SIM_DEADLINES; i++)
		sum->within[i] += within[i];
}

/* By the share within half an IAT; if equal, by those at all thresholds. */
static double quality(const struct eval_shares *s)
{
	double sum = 1000 * eval_within(s, 4);

	for (unsigned i = 0; i < SIM_DEADLINES; i++)
		sum += eval_within(s, i);
	return sum;
}

static void count_connection(struct eval_sl *sl, const struct sim_flow *f,
			     const struct sim_flow_counts *c, uint64_t enough)
{
	struct eval_shares own = { 0 };
	double latest = (double)c->latency_max / (double)f->period;
	double rate = 8e12 * f->bytes * (double)f->interval.den / (double)f->interval.num;

	sl->connections++;
	sl->latest = latest > sl->latest ? latest : sl->latest;
	sl->mean_latency += (double)c->latency_sum / (double)HD_S;
	add_shares(&own, c->within, c->delivered);
	add_shares(&sl->all, c->within, c->delivered);
	if (own.packets < enough)
		return;
	if (!sl->best.packets || quality(&own) > quality(&sl->best)) {
		sl->best = own;
		sl->best_rate = rate;
	}
	if (!sl->worst.packets || quality(&own) < quality(&sl->worst)) {
		sl->worst = own;
		sl->worst_rate = rate;
	}
}

static void gather_sls(const struct evaluation *e, const struct sim_metrics *m,
		       struct eval_result *out)
{
	/* A connection with one or two packets has no statistical value. */
	uint64_t enough = e->plan->rule == EVAL_QUICK ? 1 : 5;

	for (uint32_t f = 0; f < e->n_flows; f++)
		count_connection(&out->sl[e->flows[f].sl], &e->flows[f], &m->flows[f], enough);
	for (uint32_t g = 0; g < m->n_groups; g++) {
		struct eval_sl *sl = &out->sl[m->groups[g].sl];

		for (unsigned i = 0; i < SIM_JITTER_BINS; i++)
			sl->jitter[i] += m->groups[g].jitter[i];
		sl->jitter_n += m->groups[g].jitter_n;
	}
	for (unsigned i = 0; i < N_SLS; i++) {
		if (out->sl[i].all.packets)
			out->sl[i].mean_latency /= (double)out->sl[i].all.packets;
	}
}

static void add_ports(const struct evaluation *e, const struct sim_metrics *m, bool hosts,
		      struct eval_result *out)
{
	const struct fabric *fabric = e->fabric;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t p = 0; p < fabric->setup.n_ports; p++) {
		const struct sim_port *port = &fabric->setup.ports[p];
		const struct sim_node *node = &fabric->setup.nodes[port->node];
		double use = m->ports[p].utilisation;

		if (port->peer == SIM_NONE || (node->kind == SIM_END) != hosts)
			continue;
		out->ports[out->n_ports++] = (struct eval_port){
			.host = hosts,
			.node = node->node,
			.number = p - node->first_port,
			.utilisation = use,
		};
		sum += use;
		n++;
		if (use > out->most_use)
			out->most_use = use;
	}
	*(hosts ? &out->host_use : &out->switch_use) = n ? sum / n : 0;
	if (hosts)
		out->n_host_ports = n;
}

static void gather(const struct evaluation *e, const struct sim_metrics *m, struct eval_result *out)
{
	double seconds = (double)(m->to - m->from) / (double)HD_S;
	double capacity = hd_rate_bps(link_rate(e->plan)) / 8 * out->n_hosts * seconds;

	gather_sls(e, m, out);
	out->ports = hd_alloc(e->fabric->setup.n_ports, sizeof(*out->ports));
	add_ports(e, m, true, out);
	add_ports(e, m, false, out);
	out->offered = (double)m->made_bytes / capacity;
	out->delivered = (double)m->delivered_bytes / capacity;
	out->latency = m->mean_latency;
	out->latency.mean /= (double)HD_S;
	out->latency.half_width /= (double)HD_S;
	out->measured = m->to - m->from;
	out->delivered_packets = m->delivered;
	out->hops = m->hops;
	for (unsigned i = 1; i <= SIM_LOST_VL15; i++)
		out->lost += m->lost[i];
}

static void stop_by(enum eval_rule rule, struct sim_rules *r)
{
	sim_rules_init(r);
	r->warmup = 0;
	r->warmup_packets = 10000;
	r->packets_per_sl = rule == EVAL_QUICK ? 2000 : 0;
	if (rule == EVAL_DEFAULT) {
		r->packets_per_sl = 20000;
		r->packets_per_flow = 5;
	}
	if (rule == EVAL_PAPER)
		r->packets_per_flow = 100;
	/* SLs that share a VL may not overtake; connections do not mind. */
	r->check_order = false;
}

static enum hd_status measure(struct evaluation *e, sim_progress_fn *progress, void *context,
			      struct diag *d, struct eval_result *out)
{
	struct run_load load = { .flows = e->flows, .n_flows = e->n_flows };
	const struct run_options options = {
		.load = &load,
		.progress = progress,
		.context = context,
	};
	struct run *run;

	stop_by(e->plan->rule, &load.rules);
	enum hd_status status = run_open(e->fabric, &options, d, &run);

	if (status != HD_OK)
		return status;
	status = run_to_end(run, d);
	if (status == HD_OK) {
		out->complete = run_state(run) == SIM_ENDED;
		gather(e, sim_metrics(run_sim(run)), out);
	}
	run_close(run);
	return status;
}

static enum hd_status simulate(struct evaluation *e, sim_progress_fn *progress, void *context,
			       struct diag *d, struct eval_result *out)
{
	make_flows(e);
	/* Every port has tables of its own by now. */
	enum hd_status status = fabric_limits_check(&e->fabric->setup, e->flows, e->n_flows, d);

	if (status == HD_OK)
		status = measure(e, progress, context, d, out);
	free(e->flows);
	free(e->to);
	return status;
}

enum hd_status eval_run(const struct eval_plan *plan, sim_progress_fn *progress, void *context,
			struct diag *d, struct eval_result *out)
{
	struct evaluation e = { .plan = plan };

	*out = (struct eval_result){
		.plan = *plan,
		.n_hosts = HOSTS * plan->switches,
	};
	enum hd_status status = fabric_init(&e, d);

	if (status != HD_OK) {
		overrides_fini(&e.overrides);
		return status;
	}
	qos_vls_program(&e.fabric->subnet, class_plan());
	status = fill_fabric(&e, d, out);
	if (status == HD_OK) {
		out->reserved = out->established.wire_load;
		program_tables(&e);
		if (!plan->establish_only)
			status = simulate(&e, progress, context, d, out);
		broker_fini(&e.broker);
	}
	fabric_free(e.fabric);
	overrides_fini(&e.overrides);
	return status;
}

void eval_result_fini(struct eval_result *r)
{
	free(r->ports);
	*r = (struct eval_result){ 0 };
}
