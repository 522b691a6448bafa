/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that come and go. When they do depends on the seed alone, and so
 * does who is let in: flows that ask have their answer before the run begins,
 * and the run has the tables of every instant (T11c).
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/eventq.h"
#include "fabric/parts.h"
#include "qos/broker.h"

__extension__ typedef unsigned __int128 u128;

/* ---- when they come --------------------------------------------------- */

struct arrival_clock fabric_arrivals(const struct fabric *b, uint32_t row)
{
	struct arrival_clock c = { .row = &b->scenario->traffic[row] };

	rng_init(&c.rng, b->scenario->run.seed, STREAM_ARRIVALS + row);
	c.at = c.row->start;
	c.end = c.row->stop < b->rules.stop ? c.row->stop : b->rules.stop;
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
	/* Who comes stays for a picosecond at least. */
	hd_time until = c->at + 1 + draw(&c->rng, a->holding_law, a->holding);

	if (until < c->until)
		c->until = until;
	return true;
}

/* ---- what they ask for ------------------------------------------------ */

struct plan {
	struct fabric *b;
	struct broker broker;
	struct eventq q; /* key: see below */
	uint32_t *id;    /* of the broker, per flow that asks and was let in */
	hd_time linger;
	struct diag *d;
};

/* Of one instant, who goes makes room for who comes. */
#define KEY_GOES  0
#define KEY_COMES (UINT64_C(1) << 32)

/* Bytes of whole blocks that a message is worth to an arbiter. */
static uint64_t blocks_bytes(const struct sim_flow *f)
{
	uint64_t last = f->last_bytes ? f->last_bytes : f->bytes;
	uint64_t full = ((uint64_t)f->bytes + SLOT_BYTES - 1) / SLOT_BYTES;

	if (f->size_scv > 0)
		return (uint64_t)ceil(f->size_mean) + f->size_overhead +
		       SLOT_BYTES;
	return ((f->packets - 1) * full +
		(last + SLOT_BYTES - 1) / SLOT_BYTES) *
	       SLOT_BYTES;
}

/*
 * What a flow asks for: what its row says, or the rate at which it makes
 * packets (of sources that are on and off, while they are on).
 */
static struct hd_rate asked(const struct fabric *b, const struct sim_flow *f)
{
	const struct scn_traffic *t = &b->scenario->traffic[f->row];
	struct hd_ratio margin = b->scenario->qos.admission.margin;
	u128 num = f->interval.num, den = f->interval.den;

	if (t->reserve.num)
		return t->reserve;
	/* Shares are short decimals; 40 digits of a gap are enough. */
	while (num >> 40 || den >> 40) {
		num >>= 1;
		den >>= 1;
	}
	u128 bits =
		(u128)8 * HD_S * blocks_bytes(f) * (margin.den + margin.num);
	u128 per = (num ? num : 1) * margin.den;
	u128 rate = (bits / per) * den + (bits % per) * den / per + 1;

	return hd_rate_make(rate >> 63 ? INT64_MAX : (uint64_t)rate, 1);
}

static struct broker_params params_of(const struct scenario *s)
{
	const struct scn_qos *q = &s->qos;
	struct broker_params p = {
		.mode = q->admission.fill,
		.place = q->admission.place,
		.best_effort = { 0, 1 },
		.preferred = { 0, 1 },
		.be_sl = BROKER_NO_SL,
		.ch_sl = BROKER_NO_SL,
		.pbe_sl = BROKER_NO_SL,
	};

	for (size_t i = 0; i < q->n_classes; i++) {
		const struct scn_class *c = &q->classes[i];
		uint8_t sl = (uint8_t)c->sl;
		struct hd_ratio share = { scenario_weight(c), FRAME_SLOTS };

		if (c->kind == TC_DBTS)
			p.high_sls |= (uint16_t)(1u << sl);
		else if (c->kind == TC_CH)
			p.ch_sl = sl;
		else if (c->kind == TC_BE)
			p.be_sl = sl, p.best_effort = share;
		else if (c->kind == TC_PBE)
			p.pbe_sl = sl, p.preferred = share;
	}
	for (size_t i = 0; i < s->congestion.n_limits; i++)
		p.sl_share[s->congestion.limits[i].sl] =
			s->congestion.limits[i].share;
	return p;
}

/* How long the last packets of a flow may be on their way. */
static hd_time linger_of(const struct fabric *b)
{
	hd_time longest = 0;

	if (b->scenario->qos.admission.linger != HD_TIME_NEVER)
		return b->scenario->qos.admission.linger;
	for (port_id port = 0; port < b->topo.n_ports; port++) {
		struct hd_rate rate = b->subnet.rate_of_port[port];
		hd_time frame = rate.num ? slots_frame_time(rate) : 0;

		longest = frame > longest ? frame : longest;
	}
	return longest;
}

static enum hd_status check_flow(const struct plan *p, uint32_t flow)
{
	const struct fabric *b = p->b;
	const struct sim_flow *f = &b->flows[flow];
	const struct scn_traffic *t = &b->scenario->traffic[f->row];

	if (f->to.n != 1)
		return scenario_refuse(
			b->scenario, p->d, &t->pattern,
			"traffic '%s' is of a class that asks admission: each "
			"flow needs one destination (pairs, incast, a "
			"permutation, a group, connections or arrivals)",
			t->name);
	if (f->to.list[0].target != TOPO_NONE)
		return scenario_refuse(
			b->scenario, p->d, t,
			"traffic '%s' is of a class that asks admission, and "
			"what is reserved crosses no router",
			t->name);
	return HD_OK;
}

/* Lines of a trace have SLs of their own. */
static enum hd_status check_trace(const struct plan *p, uint32_t flow)
{
	const struct scenario *s = p->b->scenario;
	const struct sim_flow *f = &p->b->flows[flow];
	uint16_t known = 0;

	for (size_t i = 0; i < s->qos.n_classes; i++)
		known |= (uint16_t)(1u << s->qos.classes[i].sl);
	for (size_t i = 0; i < f->n_trace; i++) {
		if (f->trace[i].management || known >> f->trace[i].sl & 1)
			continue;
		return scenario_refuse(s, p->d, &s->traffic[f->row].file,
				       "traffic '%s' has packets of SL %u, "
				       "which no class has; reservations make "
				       "the tables, and give them no turn",
				       s->traffic[f->row].name, f->trace[i].sl);
	}
	return HD_OK;
}

/* ---- who is let in ---------------------------------------------------- */

static struct fabric_request *add_request(struct fabric *b, uint32_t flow,
					  hd_time at, hd_time until)
{
	b->requests = hd_grow(b->requests, &b->requests_cap, b->n_requests + 1u,
			      sizeof(*b->requests));
	b->requests[b->n_requests] = (struct fabric_request){
		.at = at,
		.until = until,
		.row = b->flows[flow].row,
		.flow = flow,
		.link = TOPO_NONE,
	};
	return &b->requests[b->n_requests++];
}

struct broker_request fabric_request_of(const struct fabric *b, uint32_t flow)
{
	const struct sim_flow *f = &b->flows[flow];
	const struct sim_setup *u = &b->setup;

	return (struct broker_request){
		.source = u->ports[u->nodes[f->source].first_port + 1].origin,
		.dlid = f->to.list[0].dlid,
		.sl = f->sl,
		.rate = asked(b, f),
	};
}

static void comes(struct plan *p, uint32_t flow, hd_time now)
{
	struct fabric *b = p->b;
	const struct sim_flow *f = &b->flows[flow];
	const struct scenario *s = b->scenario;
	hd_time until = f->stop ? f->stop : HD_TIME_NEVER;
	struct broker_refusal why;

	if (!scenario_asks(s, &s->traffic[f->row])) {
		add_request(b, flow, now, until);
		return;
	}
	if (until != HD_TIME_NEVER)
		until += p->linger;
	struct fabric_request *r = add_request(b, flow, now, until);
	const struct broker_request request = fabric_request_of(b, flow);

	r->rate = request.rate;
	if (broker_admit(&p->broker, &request, &p->id[flow], &why) != HD_OK) {
		r->flow = SIM_NONE;
		r->link = why.link;
	} else if (until != HD_TIME_NEVER) {
		eventq_push(&p->q, until, KEY_GOES | flow);
	}
}

static void goes(struct plan *p, uint32_t flow)
{
	enum hd_status status = broker_release(&p->broker, p->id[flow]);

	assert(status == HD_OK);
	(void)status;
}

static struct vlarb image(const struct plan *p, port_id port)
{
	struct vlarb t = {
		.high_limit = (uint8_t)p->b->scenario->qos.high_limit,
	};

	broker_image(&p->broker, port, &t);
	return t;
}

/* The tables of the run's begin are those of the subnet. */
static void program(struct plan *p)
{
	struct fabric *b = p->b;

	for (port_id port = 0; port < b->topo.n_ports; port++) {
		struct vlarb t = image(p, port);

		if (p->broker.links[port].rate.num)
			subnet_set_vlarb(&b->subnet, port, &t);
	}
	broker_forget_changes(&p->broker);
}

static void change_tables(struct plan *p, hd_time now)
{
	struct broker *broker = &p->broker;

	for (uint32_t i = 0; i < broker->n_changed; i++) {
		port_id port = broker->changed[i];
		struct vlarb t = image(p, port);

		fabric_change_table(p->b, now, p->b->port_of_origin[port], &t);
	}
	broker_forget_changes(broker);
}

/* Everybody of this instant has come or gone. */
static void finish_instant(struct plan *p, hd_time now)
{
	if (!scenario_admits(p->b->scenario))
		return;
	if (now == 0)
		program(p);
	else
		change_tables(p, now);
}

static void walk(struct plan *p)
{
	hd_time now = 0;
	struct event e;

	while (eventq_pop(&p->q, &e) && e.when < p->b->rules.stop) {
		if (e.when != now)
			finish_instant(p, now);
		now = e.when;
		if (e.key & KEY_COMES)
			comes(p, (uint32_t)e.key, now);
		else
			goes(p, (uint32_t)e.key);
	}
	finish_instant(p, now);
}

/* Flows that were refused, or that would only come after the run, go. */
static void drop_refused(struct fabric *b, uint32_t *place)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_flows; i++) {
		if (place[i] == SIM_NONE)
			continue;
		b->flows[n] = b->flows[i];
		b->flow_target[n] = b->flow_target[i];
		b->flow_copies[n] = b->flow_copies[i];
		place[i] = n++;
	}
	b->n_flows = n;
	for (uint32_t i = 0; i < b->n_requests; i++) {
		if (b->requests[i].flow != SIM_NONE)
			b->requests[i].flow = place[b->requests[i].flow];
	}
}

/* Who has to do with this at all: who asks, and who comes and goes. */
static bool is_connection(const struct fabric *b, const struct sim_flow *f)
{
	const struct scn_traffic *t = &b->scenario->traffic[f->row];

	return t->arrivals.gap || scenario_asks(b->scenario, t);
}

static enum hd_status expect(struct plan *p, uint32_t *place)
{
	const struct fabric *b = p->b;
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < b->n_flows && status == HD_OK; i++) {
		const struct sim_flow *f = &b->flows[i];

		place[i] = i;
		if (f->kind == SIM_TRACE && scenario_admits(b->scenario))
			status = check_trace(p, i);
		if (!is_connection(b, f))
			continue;
		place[i] = SIM_NONE;
		if (scenario_asks(b->scenario, &b->scenario->traffic[f->row]))
			status = check_flow(p, i);
		eventq_push(&p->q, f->start, KEY_COMES | i);
	}
	return status;
}

static enum hd_status make(struct plan *p)
{
	struct fabric *b = p->b;
	uint32_t *place = hd_alloc(b->n_flows, sizeof(*place));
	enum hd_status status = expect(p, place);

	p->id = hd_alloc(b->n_flows, sizeof(*p->id));
	if (status == HD_OK && scenario_admits(b->scenario))
		fabric_build_losses(b, &p->broker, p->linger);
	if (status == HD_OK)
		walk(p);
	for (uint32_t i = 0; i < b->n_requests; i++) {
		if (b->requests[i].flow != SIM_NONE)
			place[b->requests[i].flow] = 0;
	}
	if (status == HD_OK)
		drop_refused(b, place);
	free(place);
	free(p->id);
	return status;
}

enum hd_status fabric_build_connections(struct fabric *b, struct diag *d)
{
	struct plan p = { .b = b, .d = d };
	struct diag inner = { .status = HD_OK };
	enum hd_status status = HD_OK;

	if (scenario_admits(b->scenario)) {
		struct broker_params params = params_of(b->scenario);

		status = broker_init(&p.broker, &b->subnet, &params, &inner);
		if (status != HD_OK)
			return fabric_refuse(b, d, b->scenario->qos.classes,
					     "qos.classes", &inner);
	}
	p.linger = linger_of(b);
	eventq_init(&p.q);
	status = make(&p);
	eventq_fini(&p.q);
	broker_fini(&p.broker);
	return status;
}
