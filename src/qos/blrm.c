/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/blrm.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/shares.h"
#include "qos/tree.h"
#include "subnet/packet.h"

void blrm_init(struct blrm *b, const struct subnet *s,
	       const struct blrm_params *params)
{
	*b = (struct blrm){ .subnet = s, .params = *params };
}

void blrm_fini(struct blrm *b)
{
	free(b->flows);
	*b = (struct blrm){ 0 };
}

/* The live flows as bound.h wants them; ports in use numbered from 0. */
struct view {
	struct bound_network network;
	struct bound_port *ports;
	struct bound_flow *flows;
	uint32_t *paths;  /* all paths, one after the other */
	uint32_t *number; /* per port_id: its number, or UINT32_MAX */
	port_id *origin;  /* per number */
	double *delay;
	uint32_t n_hops;
};

/* The least share of its blocks that a packet in use fills. */
static double least_fill(const struct blrm_params *p)
{
	uint32_t least = p->min_packet ? p->min_packet : p->max_packet;
	double fill = 1;

	/* It is worst at the smallest, or just above a whole block. */
	for (uint32_t l = least; l <= p->max_packet && l <= least + 64; l++)
		fill = fmin(fill, l / (64.0 * blocks_of(l)));
	return fill;
}

/*
 * How fast a packet is sure to cross to this output: at the speed-up, but not
 * before its tail has come, over the slowest link that leads here.
 */
static double crossing_rate(const struct blrm *b, port_id port, double rate)
{
	const struct topo *t = b->subnet->topo;
	const struct topo_node *n = topo_node_of(t, port);
	double least = rate * (double)b->params.speedup.num /
		       (double)b->params.speedup.den;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct hd_rate link =
			b->subnet->rate_of_port[n->first_port + i];

		if (link.num)
			least = fmin(least, hd_rate_bps(link) / 8);
	}
	return least;
}

static struct bound_port describe(const struct blrm *b, port_id port)
{
	const struct blrm_params *p = &b->params;
	struct hd_rate link = b->subnet->rate_of_port[port];
	struct bound_port out = {
		.max_packet = p->max_packet,
		.min_packet = p->min_packet ? p->min_packet : p->max_packet,
		.management_burst = p->management_burst,
		.fixed = (double)p->propagation / (double)HD_S,
		.min_fill = least_fill(p),
		.high_limit = HIGH_LIMIT_NONE,
		.merged = b->subnet->vls_of_port[port] <= 2,
	};

	if (link.num)
		out.rate = hd_rate_bps(link) / 8;
	if (topo_node_of(b->subnet->topo, port)->kind == NODE_SWITCH) {
		out.fixed +=
			(double)(p->routing + p->arbitration) / (double)HD_S;
		if (p->speedup.den)
			out.crossbar_rate = crossing_rate(b, port, out.rate);
		out.crossbar_lanes = b->subnet->vls_of_port[port];
	}
	/* With one lane there is nothing to arbitrate. */
	if (p->weighted && b->subnet->vls_of_port[port] > 1)
		out.table = vlarb_of(b->subnet, port);
	return out;
}

/* Which of the view's flows a live one is. */
static uint32_t place_of(const struct blrm *b, uint32_t id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < id; i++)
		n += b->flows[i].live;
	return n;
}

static void view_add_flow(const struct blrm *b, const struct blrm_flow *f,
			  struct view *v)
{
	uint32_t n = v->network.n_flows++;

	v->flows[n] = (struct bound_flow){
		.class = f->request.class,
		.burst = f->request.burst,
		.period = (double)f->request.period / (double)HD_S,
		.path = &v->paths[v->n_hops],
		.lanes = f->path.vl,
		.n_hops = f->path.n_hops,
		.trunk = f->n_trunk ? place_of(b, f->trunk) : 0,
		.n_trunk = f->n_trunk,
	};
	for (uint32_t h = 0; h < f->path.n_hops; h++) {
		uint32_t *number = &v->number[f->path.port[h]];

		if (*number == UINT32_MAX) {
			*number = v->network.n_ports++;
			v->origin[*number] = f->path.port[h];
			v->ports[*number] = describe(b, f->path.port[h]);
		}
		v->paths[v->n_hops++] = *number;
	}
}

static void view_init(const struct blrm *b, struct view *v)
{
	uint32_t n_ports = b->subnet->topo->n_ports;
	uint32_t hops = blrm_hops(b);

	*v = (struct view){ 0 };
	v->ports = hd_alloc(hops, sizeof(*v->ports));
	v->origin = hd_alloc(hops, sizeof(*v->origin));
	v->flows = hd_alloc(b->n_flows, sizeof(*v->flows));
	v->paths = hd_alloc(hops, sizeof(*v->paths));
	v->number = hd_alloc(n_ports, sizeof(*v->number));
	v->delay = hd_alloc(hops, sizeof(*v->delay));
	memset(v->number, 0xff, n_ports * sizeof(*v->number));
	for (uint32_t i = 0; i < b->n_flows; i++) {
		if (b->flows[i].live)
			view_add_flow(b, &b->flows[i], v);
	}
	v->network.ports = v->ports;
	v->network.flows = v->flows;
	v->network.any_order = b->params.any_order;
}

static void view_fini(struct view *v)
{
	free(v->ports);
	free(v->origin);
	free(v->flows);
	free(v->paths);
	free(v->number);
	free(v->delay);
}

uint32_t blrm_hops(const struct blrm *b)
{
	uint32_t hops = 0;

	for (uint32_t i = 0; i < b->n_flows; i++)
		hops += b->flows[i].live ? b->flows[i].path.n_hops : 0;
	return hops;
}

static void print_port(const struct blrm *b, port_id port, struct strbuf *out)
{
	strbuf_printf(out, "'%s'[%u]",
		      topo_node_of(b->subnet->topo, port)->name,
		      b->subnet->topo->ports[port].number);
}

/* Rates of DBTS and DB together stay below what may be reserved. */
static enum hd_status check_bandwidth(const struct blrm *b,
				      const struct view *v, struct diag *d)
{
	double *sum = hd_alloc(v->network.n_ports, sizeof(*sum));
	double share = (double)b->params.reservable.num /
		       (double)b->params.reservable.den;
	enum hd_status status = HD_OK;

	for (uint32_t f = 0; f < v->network.n_flows; f++) {
		const struct bound_flow *flow = &v->flows[f];

		/* A group's packets cross a link once, for all members. */
		for (uint32_t h = flow->n_trunk; h < flow->n_hops; h++)
			sum[flow->path[h]] += flow->burst / flow->period;
	}
	for (uint32_t p = 0; p < v->network.n_ports && status == HD_OK; p++) {
		struct strbuf name = STRBUF_INIT;

		if (sum[p] < share * v->ports[p].rate)
			continue;
		print_port(b, v->origin[p], &name);
		status =
			diag_fail(d, HD_ERR_UNFIT,
				  "link %s: %.6g B/s would be reserved of %.6g",
				  name.text, sum[p], share * v->ports[p].rate);
		strbuf_fini(&name);
	}
	free(sum);
	return status;
}

/* Who would get less than it was promised, in the words of who asked. */
static enum hd_status break_promise(const struct blrm *b,
				    const struct blrm_flow *f, struct diag *d)
{
	const struct topo *t = b->subnet->topo;
	const struct path *path = &f->path;
	port_id last = t->ports[path->port[path->n_hops - 1]].peer;
	struct strbuf line = STRBUF_INIT;

	if (f->request.line)
		strbuf_printf(&line, " of line %u", f->request.line);
	diag_fail(
		d, HD_ERR_UNFIT,
		"the flow%s, %.40s -> %.40s, was promised %.3f us and would get %.3f us",
		line.text ? line.text : "",
		topo_node_of(t, f->request.source)->name,
		topo_node_of(t, last)->name, f->promised * 1e6, f->bound * 1e6);
	strbuf_fini(&line);
	return HD_ERR_UNFIT;
}

/* New bounds of all live flows; every promise must survive them. */
static enum hd_status check_latency(struct blrm *b, const struct view *v,
				    uint32_t newest, struct diag *d)
{
	uint32_t hop = 0;

	for (uint32_t i = 0; i < b->n_flows; i++) {
		struct blrm_flow *f = &b->flows[i];
		double bound = 0;

		if (!f->live)
			continue;
		for (uint32_t h = 0; h < f->path.n_hops; h++)
			bound += v->delay[hop++];
		f->bound = bound;
		if (i == newest && f->promised == 0)
			f->promised = bound; /* DB: told, not asked */
		/* The tolerance is for what iterating leaves undecided. */
		if (bound <= f->promised * (1 + 1e-9))
			continue;
		if (i == newest)
			return diag_fail(d, HD_ERR_UNFIT,
					 "latency would be %.3f us, %s %.3f us",
					 bound * 1e6,
					 f->request.latency ? "asked for"
							    : "its class has",
					 f->promised * 1e6);
		return break_promise(b, f, d);
	}
	return HD_OK;
}

static enum hd_status verify(struct blrm *b, uint32_t newest, struct diag *d)
{
	struct view v;

	view_init(b, &v);
	enum hd_status status = check_bandwidth(b, &v, d);

	if (status == HD_OK)
		status = bound_delays(b->params.mode, &v.network, d, v.delay);
	if (status == HD_OK)
		status = check_latency(b, &v, newest, d);
	view_fini(&v);
	return status;
}

/* After a release, or a refusal, the others' bounds are what they were. */
static void refresh(struct blrm *b)
{
	struct diag d = { .status = HD_OK };
	enum hd_status status = verify(b, UINT32_MAX, &d);

	assert(status == HD_OK); /* less load cannot break a promise */
	(void)status;
}

/* The way to one member of a group, and whose way it shares longest. */
static enum hd_status branch_walk(const struct blrm *b, struct blrm_flow *f)
{
	const struct blrm_request *r = &f->request;
	struct tree_path tree = { 0 };
	enum hd_status status =
		tree_walk(b->subnet, r->source, r->dlid, r->sl, &tree);

	if (status == HD_OK)
		status = tree_path_to(&tree, b->subnet, r->member, &f->path);
	tree_path_fini(&tree);
	for (uint32_t i = r->first ? r->first - 1 : b->n_flows;
	     i < b->n_flows && status == HD_OK; i++) {
		const struct blrm_flow *o = &b->flows[i];
		uint32_t n = 0;

		if (!o->live ||
		    (i != r->first - 1 && o->request.first != r->first))
			continue;
		while (n < f->path.n_hops && n < o->path.n_hops &&
		       f->path.port[n] == o->path.port[n])
			n++;
		if (n > f->n_trunk) {
			f->n_trunk = n;
			f->trunk = i;
		}
	}
	return status;
}

enum hd_status blrm_request_of(const struct qos_request *q,
			       const struct qos_packets *packets,
			       port_id source, struct diag *d,
			       struct blrm_request *out)
{
	uint64_t wire = qos_wire_burst(q, packets);

	if (wire > UINT32_MAX)
		return diag_fail_at(
			d, HD_ERR_RANGE, q->line, 0,
			"a burst of %llu bytes on the wire is too large",
			(unsigned long long)wire);
	*out = (struct blrm_request){
		.source = source,
		.sl = class_sl(q->class, q->rate),
		.class = q->class == TC_DBTS ? CLASS_DBTS : CLASS_DB,
		.burst = (uint32_t)wire,
		.period = hd_rate_duration(q->rate, qos_burst(q, packets)),
		.latency = q->latency,
		.line = q->line,
	};
	return HD_OK;
}

enum hd_status blrm_request(struct blrm *b, const struct blrm_request *request,
			    struct diag *d, uint32_t *id, double *told)
{
	b->flows =
		hd_grow(b->flows, &b->cap, b->n_flows + 1, sizeof(*b->flows));
	struct blrm_flow *f = &b->flows[b->n_flows];

	*f = (struct blrm_flow){
		.request = *request,
		.promised = (double)(request->latency ? request->latency
						      : b->params.db_latency) /
			    (double)HD_S,
		.live = true,
	};
	if (request->burst == 0 || request->period == 0)
		return diag_fail(d, HD_ERR_RANGE,
				 "a flow needs a burst and a period above 0");
	if (request->class == CLASS_DBTS && request->latency == 0)
		return diag_fail(d, HD_ERR_RANGE,
				 "a DBTS flow must say which latency it needs");
	enum hd_status status =
		request->dlid >= LID_FIRST_MCAST
			? branch_walk(b, f)
			: path_walk(b->subnet, request->source, request->dlid,
				    request->sl, &f->path);

	if (status != HD_OK)
		return diag_fail(d, status, "no path to lid %u with SL %u",
				 request->dlid, request->sl);
	uint32_t newest = b->n_flows++;

	status = verify(b, newest, d);
	if (status != HD_OK) {
		b->n_flows--;
		refresh(b);
		return status;
	}
	*id = newest;
	*told = b->flows[newest].promised;
	return HD_OK;
}

enum hd_status blrm_release(struct blrm *b, uint32_t id)
{
	if (id >= b->n_flows || !b->flows[id].live)
		return HD_ERR_NOT_FOUND;
	b->flows[id].live = false;
	refresh(b);
	return HD_OK;
}

void blrm_buffers(const struct blrm *b, enum bound_side side,
		  const double *delay, double *bytes)
{
	struct view v;

	view_init(b, &v);
	double *need = hd_alloc(v.network.n_ports, sizeof(*need));

	bound_buffers(&v.network, side, delay, need);
	for (port_id p = 0; p < b->subnet->topo->n_ports; p++)
		bytes[p] = v.number[p] == UINT32_MAX ? 0 : need[v.number[p]];
	free(need);
	view_fini(&v);
}

void blrm_bounds(const struct blrm *b, double *delay[BOUND_MODES])
{
	struct view v;

	view_init(b, &v);
	for (unsigned mode = 0; mode < BOUND_MODES; mode++) {
		struct diag d = { .status = HD_OK };

		if (bound_delays((enum bound_mode)mode, &v.network, &d,
				 delay[mode]) == HD_OK)
			continue;
		for (uint32_t i = 0; i < v.n_hops; i++)
			delay[mode][i] = (double)NAN;
	}
	view_fini(&v);
}
