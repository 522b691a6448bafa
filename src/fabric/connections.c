/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic connections: their arrival times, which depend only on the seed, and the requests of
 * admission. promises.c computes the responses.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/admission.h"
#include "fabric/fabric_internal.h"
#include "qos/admission/broker.h"

/* ---- when they come --------------------------------------------------- */

struct arrival_clock fabric_arrivals(const struct fabric *fabric, uint32_t row)
{
	struct arrival_clock c = { .row = &fabric->scenario->traffic[row] };

	rng_init(&c.rng, fabric->scenario->run.seed, fabric_stream(STREAM_ARRIVALS, c.row->name));
	c.at = c.row->start;
	c.end = c.row->stop < fabric->rules.stop ? c.row->stop : fabric->rules.stop;
	return c;
}

static hd_time draw(struct rng *rng, enum scn_law law, hd_time mean)
{
	if (law == SCN_CONSTANT)
		return mean;
	double time = floor(rng_exponential(rng, (double)mean));

	/* Far beyond any run, and no picosecond is lost to rounding below. */
	return time < 0x1p62 ? (hd_time)time : (hd_time)1 << 62;
}

bool fabric_next_arrival(struct arrival_clock *c)
{
	const struct scn_arrivals *a = &c->row->arrivals;
	bool stays = a->holding == HD_TIME_NEVER;

	c->at += draw(&c->rng, a->gap_law, a->gap);
	if (c->at >= c->end)
		return false;
	c->until = c->row->stop;
	if (stays)
		return true;
	/* A connection lasts at least a picosecond. */
	hd_time until = c->at + 1 + draw(&c->rng, a->holding_law, a->holding);

	if (until < c->until)
		c->until = until;
	return true;
}

/* ---- what they ask for ------------------------------------------------ */

/* Bytes that a GRH adds to each packet. */
static uint32_t grh_of(const struct sim_flow *f)
{
	return f->to.list[0].target == TOPO_NONE ? 0 : f->grh_bytes;
}

/* Blocks that arbiters charge for a message; with random sizes, the mean. */
static uint64_t blocks_of_message(const struct sim_flow *f)
{
	uint32_t grh = grh_of(f);
	uint32_t last = (f->last_bytes ? f->last_bytes : f->bytes) + grh;

	if (f->size_scv > 0)
		return blocks_of((uint32_t)ceil(f->size_mean) + f->size_overhead + grh +
				 BLOCK_BYTES);
	return (uint64_t)(f->packets - 1) * blocks_of(f->bytes + grh) + blocks_of(last);
}

/*
 * The requested rate of a flow: the rate of its row, or its packet rate (of on-off sources, while
 * they are on).
 */
static struct hd_rate asked(const struct fabric *fabric, const struct sim_flow *f)
{
	const struct scn_traffic *t = &fabric->scenario->traffic[f->row];

	if (t->reserve.num)
		return t->reserve;
	return slots_charged_rate(blocks_of_message(f), f->interval.num, f->interval.den,
				  fabric->scenario->qos.admission.margin);
}

/*
 * The rate of acknowledgements (docs/timing-rules.md, Q4): one block for each 16
 * packets of a message, and one for its last.
 */
static struct hd_rate acknowledged(const struct fabric *fabric, const struct sim_flow *f)
{
	const struct scn_traffic *t = &fabric->scenario->traffic[f->row];
	uint64_t blocks = f->packets / 16 + 1;
	uint64_t of = blocks_of_message(f);

	if (t->reserve.num)
		return hd_rate_make(t->reserve.num / of * blocks + blocks, t->reserve.den);
	return slots_charged_rate(blocks, f->interval.num, f->interval.den,
				  fabric->scenario->qos.admission.margin);
}

/* R4, R4m: the SL of a flow's packets in each subnet. */
static void find_sls(const struct fabric *fabric, const struct sim_flow *f, port_id source,
		     uint8_t *sl)
{
	const struct sim_setup *u = &fabric->setup;
	unsigned here = fabric->topo.ports[source].subnet;
	uint8_t tclass = f->tclass;

	if (tclass == 0 && u->tclass_of_sl)
		tclass = u->tclass_of_sl[here][path_sl(&fabric->subnet, source, f->to.list[0].dlid,
						       f->sl)];
	for (unsigned k = 0; k < fabric->subnet.n_subnets; k++)
		sl[k] = u->sl_of_tclass ? u->sl_of_tclass[k][tclass] : tclass % N_SLS;
	sl[here] = f->sl;
}

/* The ways of a flow's packets and, with rc, of their acknowledgements. */
static bool find_ways(const struct fabric *fabric, const struct sim_flow *f,
		      struct broker_request *r)
{
	const struct sim_setup *u = &fabric->setup;
	port_id source = u->ports[u->nodes[f->source].first_port + 1].origin;
	const struct sim_address *to = &f->to.list[0];
	const struct scn_traffic *t = &fabric->scenario->traffic[f->row];
	uint8_t *sl = hd_alloc(fabric->subnet.n_subnets, sizeof(*sl));
	bool found = true;

	find_sls(fabric, f, source, sl);
	if (to->target == TOPO_NONE)
		r->way = broker_request_of(source, to->dlid, f->sl, r->rate).way;
	else
		found = broker_way_between(&fabric->subnet, source, to->target, sl, &r->way);
	if (t->transport == SCN_RC && to->dlid < LID_FIRST_MCAST) {
		unsigned here = fabric->topo.ports[source].subnet;
		port_id end = to->target == TOPO_NONE ? fabric->subnet.port_of_lid[here][to->dlid]
						      : to->target;

		r->reverse_rate = acknowledged(fabric, f);
		found &= broker_way_between(&fabric->subnet, end, source, sl, &r->reverse);
	}
	free(sl);
	return found;
}

/* Maximum time that the last packets of a flow may be in flight. */
static hd_time linger_of(const struct fabric *fabric)
{
	hd_time longest = 0;

	if (fabric->scenario->qos.admission.release_delay != HD_TIME_NEVER)
		return fabric->scenario->qos.admission.release_delay;
	for (port_id port = 0; port < fabric->topo.n_ports; port++) {
		struct hd_rate rate = fabric->subnet.rate_of_port[port];
		hd_time frame = rate.num ? slots_frame_time(rate) : 0;

		longest = frame > longest ? frame : longest;
	}
	return longest;
}

/* In each subnet on the way the class must be one that reserves. */
static enum hd_status check_sls(const struct fabric *fabric, const struct scn_traffic *t,
				const struct broker_way *way, struct diag *d)
{
	uint16_t promised = scenario_promised_sls(fabric->scenario);

	for (uint32_t i = 1; i < way->n; i++) {
		const struct broker_segment *g = &way->segment[i];

		if (!(promised >> g->sl & 1))
			return scenario_refuse(
				fabric->scenario, d, t,
				"traffic '%s' has SL %u in subnet %u, which no class of kind DBTS or DB has; set tclass, or qos.tclasses for that subnet",
				t->name, g->sl, fabric->topo.ports[g->source].subnet);
	}
	return HD_OK;
}

static enum hd_status check_flow(const struct fabric *fabric, uint32_t flow, struct diag *d)
{
	const struct sim_flow *f = &fabric->flows[flow];
	const struct scn_traffic *t = &fabric->scenario->traffic[f->row];
	struct broker_request r = { .rate = { 0, 1 } };

	if (f->to.n != 1)
		return scenario_refuse(
			fabric->scenario, d, &t->pattern,
			"traffic '%s' is of a class that asks admission: each flow needs one destination (pairs, incast, a permutation, a group, connections or arrivals)",
			t->name);
	if (!find_ways(fabric, f, &r))
		return scenario_refuse(
			fabric->scenario, d, t,
			"traffic '%s' has no path through at most %d subnets to reserve", t->name,
			BROKER_SEGMENTS);
	return check_sls(fabric, t, &r.way, d);
}

/* Lines of a trace have their own SLs and reserve nothing. */
static enum hd_status check_trace(const struct fabric *fabric, uint32_t flow, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	const struct sim_flow *f = &fabric->flows[flow];
	const struct scn_traffic *t = &s->traffic[f->row];

	for (size_t i = 0; i < f->n_trace; i++) {
		unsigned sl = f->trace[i].sl;
		const struct scn_class *c = scenario_class_of_sl(s, sl);

		if (f->trace[i].management)
			continue;
		if (!c)
			return scenario_refuse(
				s, d, &t->file,
				"traffic '%s' has packets of SL %u, which no class has; reservations make the tables, and give them no turn",
				t->name, sl);
		if (scenario_class_asks(c))
			return scenario_refuse(
				s, d, &t->file,
				"traffic '%s' has packets of SL %u, whose class '%s' asks admission, which a trace cannot; give them the SL of a class of kind BE or CH",
				t->name, sl, c->name);
	}
	return HD_OK;
}

struct broker_request fabric_request_of(const struct fabric *fabric, uint32_t flow)
{
	const struct sim_flow *f = &fabric->flows[flow];
	uint32_t last = f->last_bytes ? f->last_bytes : f->bytes;
	struct broker_request r = {
		.rate = asked(fabric, f),
		.deadline = fabric->scenario->traffic[f->row].deadline,
		.greedy = f->kind == SIM_SATURATING || f->kind == SIM_BURST,
		.largest = f->bytes + grh_of(f),
		.smallest = (f->size_scv > 0 ? f->size_overhead + 1 : last) + grh_of(f),
		/* A queue pair may send messages together that were posted one by one. */
		.burst = f->kind == SIM_CBR && !f->posted
				 ? (f->packets - 1) * ((uint64_t)f->bytes + grh_of(f)) + last +
					   grh_of(f)
				 : BROKER_BURST_UNKNOWN,
	};

	/* check_flow has refused what has no way. */
	(void)find_ways(fabric, f, &r);
	return r;
}

/* ---- all of them ------------------------------------------------------ */

/* Flows that were refused, or that would only start after the run, go. */
static void drop_refused(struct fabric *fabric, const bool *asks, uint32_t n_asked)
{
	uint32_t *place = hd_alloc(fabric->n_flows, sizeof(*place));
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_asked; i++)
		place[i] = asks[i] ? SIM_NONE : 0;
	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		if (fabric->requests[i].flow != SIM_NONE)
			place[fabric->requests[i].flow] = 0;
	}
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		if (place[i] == SIM_NONE)
			continue;
		fabric->flows[n] = fabric->flows[i];
		fabric->flow_target[n] = fabric->flow_target[i];
		place[i] = n++;
	}
	fabric->n_flows = n;
	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		if (fabric->requests[i].flow != SIM_NONE)
			fabric->requests[i].flow = place[fabric->requests[i].flow];
	}
	free(place);
}

/* Finds the flows with admission, and dynamic flows. */
static enum hd_status find_connections(const struct fabric *fabric, bool *asks, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < fabric->n_flows && status == HD_OK; i++) {
		const struct sim_flow *f = &fabric->flows[i];
		const struct scn_traffic *t = &s->traffic[f->row];

		if (f->kind == SIM_TRACE && scenario_admits(s))
			status = check_trace(fabric, i, d);
		if (status == HD_OK && scenario_asks(s, t))
			status = check_flow(fabric, i, d);
		asks[i] = t->arrivals.gap || scenario_asks(s, t);
	}
	return status;
}

static enum hd_status open_broker(struct fabric *fabric, struct broker *broker, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	struct broker_params params;
	struct diag inner = { .status = HD_OK };
	uint32_t refused;

	if (fabric_broker_params(fabric, d, &params) != HD_OK)
		return d->status;
	if (broker_init(broker, &fabric->subnet, &params, &inner) != HD_OK)
		return fabric_refuse(fabric, d, s->qos.classes, "qos.classes", &inner);
	if (broker_admit_standing(broker, &inner, &refused) == HD_OK)
		return HD_OK;
	return fabric_refuse(fabric, d, &s->jobs[fabric_standing_job(s, refused)].reserve,
			     "jobs[].reserve", &inner);
}

enum hd_status fabric_build_connections(struct fabric *fabric, struct diag *d)
{
	bool admits = scenario_admits(fabric->scenario);
	struct broker broker = { 0 };
	hd_time linger = linger_of(fabric);
	uint32_t n = fabric->n_flows;
	bool *asks = hd_alloc(n, sizeof(*asks));
	enum hd_status status = find_connections(fabric, asks, d);

	if (status == HD_OK && admits)
		status = open_broker(fabric, &broker, d);
	if (status == HD_OK) {
		if (admits)
			fabric_build_losses(fabric, &broker, linger);
		fabric_walk_connections(fabric, admits ? &broker : NULL, linger, asks);
		drop_refused(fabric, asks, n);
	}
	free(asks);
	broker_fini(&broker);
	return status;
}
