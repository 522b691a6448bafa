/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections over time (docs/timing-rules.md, T11c). Arrivals, ends, link failures
 * and heavy sweeps are known before the run, and so is each answer of the
 * broker: one walk over these events admits connections on the routes of the
 * instant, moves reservations when routes change, and records which promises
 * are broken from when to when.
 *
 * A reservation whose new path has no room is given up and its source stops;
 * it starts again when there is room. So no connection sends without slots,
 * except over a link that is down.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/eventq.h"
#include "fabric/admission.h"
#include "fabric/fabric_internal.h"
#include "qos/admission/broker.h"
#include "subnet/multicast/mcast.h"

/* Events of one instant, in this order; the rest of the key is an index. */
enum event_kind {
	CONNECTION_ENDS, /* promise */
	STALE_HOLDS_END, /* promise */
	LINK_CHANGES,    /* fault */
	ROUTES_CHANGE,   /* sweep: computed */
	ROUTES_HOLD,     /* sweep: all is written */
	CONNECTION_ASKS, /* flow */
};
#define KEY(kind, index) ((uint64_t)(kind) << 32 | (index))

enum state { HELD, SUSPENDED, ENDED };

/* An admitted connection. */
struct promise {
	enum state state;
	uint32_t request;  /* of the fabric's */
	uint32_t flow;     /* that sends now, or did last */
	uint32_t id;       /* of the broker's connection */
	uint32_t breakage; /* of the fabric's; SIM_NONE: it is kept */
	hd_time stop;      /* scheduled end of the flow; 0: none */
	hd_time ready;     /* its path is the one that it has slots on */
};

struct timeline {
	struct fabric *fabric;
	struct broker *broker; /* NULL: no class has admission */
	struct eventq q;
	hd_time linger;
	struct promise *promises; /* in the order of admission */
	uint32_t n_promises, n_suspended;
	size_t cap;
	bool *down;       /* per port of the topology */
	hd_time written;  /* the last sweep so far has written its tables */
	bool has_changed; /* slots were released, or routes changed */
};

static void push(struct timeline *t, hd_time at, enum event_kind kind, uint32_t index)
{
	if (at < t->fabric->rules.stop)
		eventq_push(&t->q, at, KEY(kind, index));
}

static hd_time later(hd_time at, hd_time by)
{
	return by < HD_TIME_NEVER - at ? at + by : HD_TIME_NEVER;
}

/* ---- broken promises ---------------------------------------------------- */

static void open_break(struct timeline *t, struct promise *p, hd_time now,
		       const struct broker_refusal *why)
{
	struct fabric *fabric = t->fabric;

	if (p->breakage == SIM_NONE) {
		fabric->breaks = hd_grow(fabric->breaks, &fabric->breaks_cap, fabric->n_breaks + 1u,
					 sizeof(*fabric->breaks));
		p->breakage = fabric->n_breaks++;
		if (fabric->requests[p->request].broken == HD_TIME_NEVER)
			fabric->requests[p->request].broken = now;
		fabric->breaks[p->breakage] = (struct fabric_break){
			.request = p->request,
			.from = now,
			.until = HD_TIME_NEVER,
			.lost = HD_TIME_NEVER,
		};
	}
	fabric->breaks[p->breakage].link = why->link;
	fabric->breaks[p->breakage].cause = broker_reason_name(why->reason);
}

static void close_break(struct timeline *t, struct promise *p, hd_time now)
{
	if (p->breakage == SIM_NONE)
		return;
	t->fabric->breaks[p->breakage].until = now;
	p->breakage = SIM_NONE;
}

/* Mean number of messages that a flow creates until `now`. */
static uint64_t messages_until(const struct sim_flow *f, hd_time now)
{
	double n = (double)(now - f->start) * (double)f->interval.den / (double)f->interval.num;

	return f->interval.num && n < 0x1p63 ? (uint64_t)n : UINT64_MAX;
}

/* Stops the source; its slots are released when its packets have left. */
static void suspend(struct timeline *t, struct promise *p, hd_time now,
		    const struct broker_refusal *why)
{
	open_break(t, p, now, why);
	t->fabric->breaks[p->breakage].lost = now;
	if (p->flow != SIM_NONE) {
		struct sim_flow *f = &t->fabric->flows[p->flow];

		f->stop = now > f->start ? now : f->start;
		f->stop += f->stop == 0;
	}
	p->state = SUSPENDED;
	t->n_suspended++;
	broker_abandon(t->broker, p->id);
	push(t, later(now, t->linger), STALE_HOLDS_END, (uint32_t)(p - t->promises));
}

/* The source starts again, as one more flow like the one before. */
static void resume(struct timeline *t, struct promise *p, hd_time now)
{
	struct fabric *fabric = t->fabric;
	hd_time start = now > t->written ? now : t->written;

	close_break(t, p, start);
	p->state = HELD;
	t->n_suspended--;
	p->ready = start;
	if (p->flow == SIM_NONE || (p->stop && start >= p->stop) || start >= fabric->rules.stop)
		return;
	const struct sim_flow was = fabric->flows[p->flow];
	uint64_t made = was.count ? messages_until(&was, was.stop) : 0;

	if (was.count && made >= was.count)
		return;
	fabric_copy_flow(fabric, p->flow);
	p->flow = fabric->n_flows - 1;
	fabric->flows[p->flow].stream = was.stream + (UINT64_C(1) << 40);
	fabric->flows[p->flow].start = start;
	fabric->flows[p->flow].stop = p->stop;
	fabric->flows[p->flow].count -= made;
}

/* Suspended connections request admission again, in the order of admission. */
static void retry(struct timeline *t, hd_time now)
{
	t->has_changed = false;
	if (t->n_suspended == 0)
		return;
	for (uint32_t i = 0; i < t->n_promises; i++) {
		struct promise *p = &t->promises[i];
		struct broker_refusal why;
		bool moved;

		if (p->state == SUSPENDED && broker_follow(t->broker, p->id, &moved, &why) == HD_OK)
			resume(t, p, now);
	}
}

/* ---- links and routes --------------------------------------------------- */

/* Slots are reserved for packets that it sends, or still may. */
static bool is_sending(const struct promise *p, hd_time now)
{
	return p->state == HELD && (p->stop == 0 || now < p->stop);
}

/* Whether the connection holds a link that ends at that port. */
static bool ends_at(const struct timeline *t, const struct promise *p, port_id port)
{
	const struct broker_connection *c = &t->broker->connections[p->id];

	for (uint32_t i = 0; i < c->n_holds; i++) {
		if (!c->holds[i].stale && t->fabric->topo.ports[c->holds[i].port].peer == port)
			return true;
	}
	return false;
}

/* A member that the tree of a group no longer has; TOPO_NONE: none. */
static port_id lost_member(const struct timeline *t, const struct promise *p)
{
	const struct broker_request *r = &t->broker->connections[p->id].request;
	const struct broker_segment *g = &r->way.segment[0];
	const struct subnet *s = &t->fabric->subnet;

	for (uint32_t i = 0; i < s->n_groups; i++) {
		const struct mcast_group *m = &s->groups[i];

		if (m->mlid != g->dlid || m->subnet != s->topo->ports[g->source].subnet)
			continue;
		for (uint32_t k = 0; k < m->n_members; k++) {
			if (m->members[k] != g->source &&
			    topo_is_end_port(s->topo, m->members[k]) &&
			    !ends_at(t, p, m->members[k]))
				return m->members[k];
		}
	}
	return TOPO_NONE;
}

/* Whether all that was promised can arrive. */
static void check_path(struct timeline *t, struct promise *p, hd_time now)
{
	struct broker_refusal why = { .reason = BROKER_LINK_DOWN };

	if (!is_sending(p, now))
		return;
	why.link = broker_cut(t->broker, p->id);
	if (why.link == TOPO_NONE) {
		why.reason = BROKER_NO_PATH;
		why.link = lost_member(t, p);
	}
	if (why.link != TOPO_NONE)
		open_break(t, p, now, &why);
	else if (now >= p->ready)
		close_break(t, p, now);
}

static void change_link(struct timeline *t, uint32_t fault, hd_time now)
{
	const struct sim_setup *s = &t->fabric->setup;
	const struct sim_fault *f = &s->faults[fault];
	port_id port = s->ports[f->port].origin;
	port_id peer = t->fabric->topo.ports[port].peer;

	if ((f->kind != SIM_LINK_DOWN && f->kind != SIM_LINK_UP) || peer == TOPO_NONE)
		return;
	t->down[port] = t->down[peer] = f->kind == SIM_LINK_DOWN;
	t->has_changed = true;
	for (uint32_t i = 0; i < t->n_promises; i++)
		check_path(t, &t->promises[i], now);
}

/* Whether the manager reaches the source: where it does not, routes stay. */
static bool is_reached(const struct timeline *t, const struct promise *p,
		       const struct fabric_sweep *w)
{
	const struct broker_request *r = &t->broker->connections[p->id].request;

	return w->plan.subnet.lid_of_port[r->way.segment[0].source] != 0;
}

static void move(struct timeline *t, struct promise *p, const struct fabric_sweep *w)
{
	struct broker_refusal why;
	bool moved;

	if (!is_sending(p, w->computed))
		return;
	if (broker_follow(t->broker, p->id, &moved, &why) != HD_OK) {
		if (is_reached(t, p, w) || broker_cut(t->broker, p->id) != TOPO_NONE)
			suspend(t, p, w->computed, &why);
	} else if (moved) {
		p->ready = w->last;
		push(t, later(w->last, t->linger), STALE_HOLDS_END, (uint32_t)(p - t->promises));
		check_path(t, p, w->computed);
	}
}

static void change_routes(struct timeline *t, uint32_t sweep)
{
	const struct fabric_sweep *w = &t->fabric->sweeps[sweep];

	broker_set_routes(t->broker, &w->plan.subnet, t->down);
	t->written = w->last;
	for (uint32_t i = 0; i < t->n_promises; i++)
		move(t, &t->promises[i], w);
	t->has_changed = true;
}

/* ---- connections -------------------------------------------------------- */

static struct fabric_request *add_request(struct fabric *fabric, uint32_t flow, hd_time at,
					  hd_time until)
{
	fabric->requests = hd_grow(fabric->requests, &fabric->requests_cap, fabric->n_requests + 1u,
				   sizeof(*fabric->requests));
	fabric->requests[fabric->n_requests] = (struct fabric_request){
		.at = at,
		.until = until,
		.row = flow == SIM_NONE ? SIM_NONE : fabric->flows[flow].row,
		.flow = flow,
		.link = TOPO_NONE,
		.broken = HD_TIME_NEVER,
	};
	return &fabric->requests[fabric->n_requests++];
}

static void add_promise(struct timeline *t, uint32_t flow, uint32_t id, hd_time now)
{
	struct sim_flow *f = flow == SIM_NONE ? NULL : &t->fabric->flows[flow];

	/* A manager that is writing tables responds when they are written. */
	if (f && f->start < t->written)
		f->start = t->written;
	t->promises = hd_grow(t->promises, &t->cap, t->n_promises + 1u, sizeof(*t->promises));
	t->promises[t->n_promises++] = (struct promise){
		.state = HELD,
		.request = t->fabric->n_requests - 1,
		.flow = flow,
		.id = id,
		.breakage = SIM_NONE,
		.stop = f ? f->stop : 0,
		.ready = now > t->written ? now : t->written,
	};
}

/* A refusal in words, which belong to the fabric. */
static const char *explain(const struct timeline *t, const struct broker_refusal *why)
{
	struct strbuf text = STRBUF_INIT;

	broker_refusal_print(t->broker, why, &text);
	char *kept = fabric_keep(t->fabric, text.len + 1, 1);

	memcpy(kept, text.text, text.len);
	strbuf_fini(&text);
	return kept;
}

static void ask(struct timeline *t, uint32_t flow, hd_time now)
{
	struct fabric *fabric = t->fabric;
	const struct sim_flow *f = &fabric->flows[flow];
	hd_time until = f->stop ? f->stop : HD_TIME_NEVER;
	struct broker_refusal why;
	uint32_t id;

	if (!scenario_asks(fabric->scenario, &fabric->scenario->traffic[f->row])) {
		add_request(fabric, flow, now, until);
		return;
	}
	if (until != HD_TIME_NEVER)
		until = later(until, t->linger);
	struct fabric_request *r = add_request(fabric, flow, now, until);
	const struct broker_request request = fabric_request_of(fabric, flow);

	r->rate = request.rate;
	if (broker_admit(t->broker, &request, &id, &why) != HD_OK) {
		r->flow = SIM_NONE;
		r->link = why.link;
		r->why = explain(t, &why);
		return;
	}
	push(t, until, CONNECTION_ENDS, t->n_promises);
	add_promise(t, flow, id, now);
}

/* The standing connections of the broker. */
static void add_jobs(struct timeline *t)
{
	const struct broker *b = t->broker;

	for (uint32_t id = 0; b && id < b->params.n_standing; id++) {
		struct fabric_request *r = add_request(t->fabric, SIM_NONE, 0, HD_TIME_NEVER);

		r->job = fabric_standing_job(t->fabric->scenario, id);
		r->rate = b->params.standing[id].rate;
		add_promise(t, SIM_NONE, id, 0);
	}
}

static void end(struct timeline *t, struct promise *p)
{
	enum hd_status status = broker_release(t->broker, p->id);

	assert(status == HD_OK);
	(void)status;
	close_break(t, p, p->stop);
	t->n_suspended -= p->state == SUSPENDED;
	p->state = ENDED;
	t->has_changed = true;
}

/* ---- tables ------------------------------------------------------------- */

static struct vlarb image(const struct timeline *t, port_id port)
{
	struct vlarb table = {
		.high_limit = (uint8_t)t->fabric->scenario->qos.high_limit,
	};

	broker_image(t->broker, port, &table);
	return table;
}

/* The tables of the run's start are those of the subnet. */
static void program(struct timeline *t)
{
	struct fabric *fabric = t->fabric;

	for (port_id port = 0; port < fabric->topo.n_ports; port++) {
		struct vlarb table = image(t, port);

		if (t->broker->links[port].rate.num)
			subnet_set_vlarb(&fabric->subnet, port, &table);
	}
	broker_forget_changes(t->broker);
}

static void change_tables(struct timeline *t, hd_time now)
{
	struct broker *broker = t->broker;

	for (uint32_t i = 0; i < broker->n_changed; i++) {
		port_id port = broker->changed[i];
		struct vlarb table = image(t, port);

		fabric_change_table(t->fabric, now, t->fabric->port_of_origin[port], &table);
	}
	broker_forget_changes(broker);
}

/* ---- the walk ----------------------------------------------------------- */

/* All events of the instant have happened. */
static void finish_instant(struct timeline *t, hd_time now)
{
	if (!t->broker)
		return;
	if (t->has_changed)
		retry(t, now);
	if (latency_is_asked(t->broker))
		latency_record(t->broker);
	if (now == 0)
		program(t);
	else
		change_tables(t, now);
}

static void happen(struct timeline *t, enum event_kind kind, uint32_t index, hd_time now)
{
	switch (kind) {
	case CONNECTION_ENDS:
		end(t, &t->promises[index]);
		break;
	case STALE_HOLDS_END:
		if (t->promises[index].state != ENDED)
			broker_drop_stale(t->broker, t->promises[index].id);
		t->has_changed = true;
		break;
	case LINK_CHANGES:
		change_link(t, index, now);
		break;
	case ROUTES_CHANGE:
		change_routes(t, index);
		break;
	case ROUTES_HOLD:
		for (uint32_t i = 0; i < t->n_promises; i++)
			check_path(t, &t->promises[i], now);
		break;
	case CONNECTION_ASKS:
		if (t->has_changed)
			retry(t, now);
		ask(t, index, now);
		break;
	}
}

static void walk(struct timeline *t)
{
	hd_time now = 0;
	struct event e;

	while (eventq_pop(&t->q, &e)) {
		if (e.when != now)
			finish_instant(t, now);
		now = e.when;
		happen(t, (enum event_kind)(e.key >> 32), (uint32_t)e.key, now);
	}
	finish_instant(t, now);
}

static void expect(struct timeline *t, const bool *asks, uint32_t n_flows)
{
	const struct fabric *fabric = t->fabric;

	for (uint32_t i = 0; i < n_flows; i++) {
		if (asks[i])
			push(t, fabric->flows[i].start, CONNECTION_ASKS, i);
	}
	for (uint32_t i = 0; t->broker && i < fabric->setup.n_faults; i++)
		push(t, fabric->setup.faults[i].time, LINK_CHANGES, i);
	for (uint32_t i = 0; t->broker && i < fabric->n_sweeps; i++) {
		push(t, fabric->sweeps[i].computed, ROUTES_CHANGE, i);
		push(t, fabric->sweeps[i].last, ROUTES_HOLD, i);
	}
}

void fabric_walk_connections(struct fabric *fabric, struct broker *broker, hd_time linger,
			     const bool *asks)
{
	struct timeline t = { .fabric = fabric, .broker = broker, .linger = linger };

	t.down = hd_alloc(fabric->topo.n_ports, sizeof(*t.down));
	if (broker)
		broker_set_routes(broker, &fabric->subnet, t.down);
	eventq_init(&t.q);
	add_jobs(&t);
	expect(&t, asks, fabric->n_flows);
	walk(&t);
	/* Guarantees exist only with a broker. */
	for (uint32_t i = 0; broker && i < t.n_promises; i++)
		fabric->requests[t.promises[i].request].bound =
			broker->connections[t.promises[i].id].bound;
	eventq_fini(&t.q);
	if (broker)
		broker_set_routes(broker, &fabric->subnet, NULL);
	free(t.promises);
	free(t.down);
}
