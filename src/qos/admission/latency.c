/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/latency.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/admission/broker.h"
#include "qos/admission/service.h"

#define ACK_BYTES 64.0 /* one 64-byte block per acknowledgement */

static const char no_burst[] = "its bursts have no limit";
static const char no_buffer[] = "a buffer is smaller than a bound needs";

/* The live connections in terms of bound.h; used ports are numbered from 0. */
struct view {
	struct latency *l;
	struct bound_network network;
	struct bound_port *ports;
	struct vlarb *tables;
	port_id *origin;  /* port_id by number */
	uint32_t *number; /* number by port_id, or UINT32_MAX */
	size_t ports_cap, tables_cap, origin_cap;
	struct bound_flow *flows;
	size_t flows_cap;
	uint32_t *paths; /* per hop, over all flows */
	uint8_t *vls;
	size_t paths_cap, vls_cap;
	bool *excluded, *starved;
	uint32_t *where;
};

/* Number of connections; a new one is after the existing ones. */
static uint32_t count_of(const struct latency *l)
{
	const struct broker *b = l->broker;
	bool recorded =
		l->asking >= b->connections && l->asking < b->connections + b->n_connections;

	return b->n_connections + (l->asking && !recorded);
}

static const struct broker_connection *connection_of(const struct latency *l, uint32_t id)
{
	return id < l->broker->n_connections ? &l->broker->connections[id] : l->asking;
}

static const struct latency_model *model_of(const struct view *v)
{
	return &v->l->broker->params.latency;
}

/* ---- ports --------------------------------------------------------------- */

static struct bound_port describe(const struct view *v, port_id port)
{
	const struct subnet *s = v->l->broker->subnet;
	const struct latency_model *m = model_of(v);
	struct hd_rate link = v->l->broker->links[port].rate; /* s is a sweep's after the first */
	double propagation = m->propagation ? (double)m->propagation[port] : 0;
	struct bound_port out = {
		.rate = link.num ? hd_rate_bps(link) / 8 : 0,
		.max_packet = m->largest,
		.management_burst = m->management,
		.fixed = propagation / (double)HD_S,
		.min_fill = 1,
		.strict = m->strict || s->vls_of_port[port] == 1,
	};

	if (topo_node_of(s->topo, port)->kind != NODE_CA) {
		out.fixed += (double)(m->routing + m->arbitration) / (double)HD_S;
		if (m->speedup.den)
			out.crossbar_rate = service_crossing(v->l->broker, port);
		out.crossbar_vls = s->vls_of_port[port];
	}
	return out;
}

static uint32_t number_of(struct view *v, port_id port)
{
	uint32_t n = v->network.n_ports;

	if (v->number[port] != UINT32_MAX)
		return v->number[port];
	v->ports = hd_grow(v->ports, &v->ports_cap, n + 1u, sizeof(*v->ports));
	v->tables = hd_grow(v->tables, &v->tables_cap, n + 1u, sizeof(*v->tables));
	v->origin = hd_grow(v->origin, &v->origin_cap, n + 1u, sizeof(*v->origin));
	v->origin[n] = port;
	v->ports[n] = describe(v, port);
	v->tables[n] = (struct vlarb){ .high_limit = model_of(v)->high_limit };
	broker_tables(v->l->broker, port, &v->tables[n]);
	v->network.n_ports++;
	return v->number[port] = n;
}

/* Removes entries of VLs without traffic, which take no turn. */
static void keep_entries(uint16_t vls, struct vlarb_entry *entries, uint8_t *n)
{
	uint8_t kept = 0;

	for (uint8_t i = 0; i < *n; i++) {
		if (vls >> entries[i].vl & 1)
			entries[kept++] = entries[i];
	}
	*n = kept;
}

/* A host with reserved packets only has no other traffic that delays them. */
static void silence(struct view *v, uint32_t port)
{
	uint16_t vls = 0;

	for (uint32_t f = 0; f < v->network.n_flows; f++) {
		for (uint32_t h = 0; h < v->flows[f].n_hops; h++) {
			if (v->flows[f].path[h] == port)
				vls |= (uint16_t)(1u << v->flows[f].vls[h]);
		}
	}
	keep_entries(vls, v->tables[port].high, &v->tables[port].n_high);
	keep_entries(vls, v->tables[port].low, &v->tables[port].n_low);
	v->ports[port].max_packet = 0;
}

/* Packet sizes at a port are those of its flows. */
static void size_ports(struct view *v)
{
	const bool *quiet = model_of(v)->quiet;

	for (uint32_t p = 0; quiet && p < v->network.n_ports; p++) {
		if (quiet[v->origin[p]])
			silence(v, p);
	}
	for (uint32_t p = 0; p < v->network.n_ports; p++) {
		if (!v->ports[p].strict)
			v->ports[p].table = &v->tables[p];
	}
	for (uint32_t f = 0; f < v->network.n_flows; f++) {
		const struct bound_flow *flow = &v->flows[f];
		const struct bound_sizes its = { flow->largest, flow->smallest };

		for (uint32_t h = 0; h < flow->n_hops; h++) {
			struct bound_port *p = &v->ports[flow->path[h]];

			p->max_packet = fmax(p->max_packet, its.largest);
			p->min_fill = fmin(p->min_fill, bound_fill(its));
			if (p->min_packet == 0 || its.smallest < p->min_packet)
				p->min_packet = its.smallest;
		}
	}
}

/* ---- flows --------------------------------------------------------------- */

/* Flow of a connection in one direction; add_leaf sets its path. */
static struct bound_flow flow_of(const struct view *v, const struct broker_request *r, bool reverse)
{
	double largest = r->largest ? r->largest : model_of(v)->largest;
	double smallest = r->smallest ? r->smallest : 64;
	double rate = hd_rate_bps(r->rate) / 8;
	double burst = r->burst ? (double)r->burst : largest;

	/* Arbiters charge whole blocks; packets of one size have the same fill. */
	if (largest <= smallest)
		rate *= largest / (64 * ceil(largest / 64));
	if (reverse) {
		double back = hd_rate_bps(r->reverse_rate) / 8;

		/* RDMA reads return data on the reverse path. */
		if (back < rate)
			largest = smallest = ACK_BYTES;
		burst = burst * back / rate + largest;
		rate = back;
	}
	return (struct bound_flow){
		.burst = burst,
		.period = burst / rate,
		.largest = largest,
		.smallest = smallest,
	};
}

static bool is_leaf(const struct tree_path *t, uint32_t link)
{
	for (uint32_t i = link + 1; i < t->n; i++) {
		if (t->links[i].before == link)
			return false;
	}
	return true;
}

/* Finds the earlier flow of the connection with the most common first hops. */
static void find_trunk(const struct view *v, uint32_t first_flow, struct bound_flow *f,
		       const uint32_t *path)
{
	const struct latency *l = v->l;

	for (uint32_t i = first_flow; i < l->n_flows; i++) {
		const uint32_t *other = &v->paths[l->flows[i].first];
		uint32_t n = 0;

		while (n < f->n_hops && n < l->flows[i].n_hops && path[n] == other[n])
			n++;
		if (n > f->n_trunk) {
			f->n_trunk = n;
			f->trunk = i;
		}
	}
}

/* Adds a flow for the path to one leaf of a tree. */
static void add_leaf(struct view *v, const struct tree_path *t, uint32_t leaf, struct bound_flow f,
		     struct latency_flow like, uint32_t first_flow)
{
	struct latency *l = v->l;
	uint32_t at = l->n_hops;

	for (uint32_t i = leaf; i != TREE_ROOT; i = t->links[i].before)
		f.n_hops++;
	l->n_hops += f.n_hops;
	l->hops = hd_grow(l->hops, &l->hops_cap, l->n_hops, sizeof(*l->hops));
	v->paths = hd_grow(v->paths, &v->paths_cap, l->n_hops, sizeof(*v->paths));
	v->vls = hd_grow(v->vls, &v->vls_cap, l->n_hops, 1);
	for (uint32_t i = leaf, h = l->n_hops; i != TREE_ROOT; i = t->links[i].before) {
		const struct tree_link *link = &t->links[i];

		h--;
		l->hops[h] = (struct latency_hop){ link->port, link->vl };
		v->paths[h] = number_of(v, link->port);
		v->vls[h] = link->vl;
	}
	find_trunk(v, first_flow, &f, &v->paths[at]);
	like.first = at;
	like.n_hops = f.n_hops;
	l->flows = hd_grow(l->flows, &l->flows_cap, l->n_flows + 1u, sizeof(*l->flows));
	v->flows = hd_grow(v->flows, &v->flows_cap, l->n_flows + 1u, sizeof(*v->flows));
	l->flows[l->n_flows] = like;
	v->flows[l->n_flows++] = f;
	v->network.n_flows = l->n_flows;
}

/* Returns 1 + the index of the first flow added; 0 if none was added. */
static uint32_t add_way(struct view *v, uint32_t id, bool reverse, uint32_t after)
{
	const struct broker *b = v->l->broker;
	const struct broker_request *r = &connection_of(v->l, id)->request;
	const struct latency_flow like = { .connection = id, .reverse = reverse };
	struct bound_flow f = flow_of(v, r, reverse);
	uint32_t first = v->l->n_flows;
	struct tree_path t;

	f.after = after;
	if (broker_links(b, reverse ? &r->reverse : &r->way, &t) == HD_OK) {
		for (uint32_t i = 0; i < t.n; i++) {
			if (is_leaf(&t, i))
				add_leaf(v, &t, i, f, like, first);
		}
	}
	tree_path_fini(&t);
	return v->network.n_flows > first ? first + 1 : 0;
}

/* Links the flows of connections that continue another one's path. */
static void chain_parts(struct view *v)
{
	struct latency *l = v->l;

	for (uint32_t i = 0; i < l->n_flows; i++) {
		uint32_t then = connection_of(l, l->flows[i].connection)->request.then;

		for (uint32_t k = 0; then && k < l->n_flows; k++) {
			if (l->flows[k].connection == then - 1 && !l->flows[k].reverse &&
			    !l->flows[i].reverse)
				v->flows[k].after = i + 1, v->flows[k].joins = true;
		}
	}
}

/*
 * Whether a connection sends reserved traffic. PBE has a share of its own and no guarantee. A
 * connection whose holds are all stale is suspended; a moving one counts when it holds its new
 * path.
 */
static bool sends(const struct broker *b, const struct broker_connection *c)
{
	bool holds = false;

	for (uint32_t i = 0; i < c->n_holds && !holds; i++)
		holds = !c->holds[i].stale;
	return c->live && holds && !c->moving && c->request.way.segment[0].sl != b->params.pbe_sl;
}

static void view_init(struct view *v, struct latency *l)
{
	const struct broker *b = l->broker;
	uint32_t n = b->subnet->topo->n_ports;

	*v = (struct view){ .l = l };
	v->number = hd_alloc(n, sizeof(*v->number));
	memset(v->number, 0xff, n * sizeof(*v->number));
	for (uint32_t i = 0; i < count_of(l); i++) {
		const struct broker_connection *c = connection_of(l, i);

		if (c != l->asking && !sends(b, c))
			continue;
		uint32_t forward = add_way(v, i, false, 0);

		if (c->request.reverse.n && forward)
			(void)add_way(v, i, true, forward);
	}
	chain_parts(v);
	for (uint32_t f = 0; f < l->n_flows; f++) {
		v->flows[f].path = &v->paths[l->flows[f].first];
		v->flows[f].vls = &v->vls[l->flows[f].first];
	}
	size_ports(v);
	v->network.ports = v->ports;
	v->network.flows = v->flows;
	v->network.any_order = model_of(v)->any_order;
	v->excluded = hd_alloc(l->n_flows, sizeof(*v->excluded));
	v->starved = hd_alloc(l->n_flows, sizeof(*v->starved));
	v->where = hd_alloc(l->n_flows, sizeof(*v->where));
}

static void view_fini(struct view *v)
{
	free(v->ports);
	free(v->tables);
	free(v->origin);
	free(v->number);
	free(v->flows);
	free(v->paths);
	free(v->vls);
	free(v->excluded);
	free(v->starved);
	free(v->where);
}

/* ---- which flows have a bound -------------------------------------------- */

static void exclude(struct view *v, uint32_t flow, const char *why, uint32_t port)
{
	struct latency_flow *f = &v->l->flows[flow];

	v->excluded[flow] = true;
	v->where[flow] = port;
	if (f->none)
		return;
	f->none = why;
	f->where = v->origin[port];
}

/*
 * Whether unreserved traffic uses the same VL or, with strict priority, one with a higher
 * priority.
 */
static bool waits_for_unreserved(const struct view *v, uint32_t port, uint8_t vl)
{
	const bool *quiet = model_of(v)->quiet;
	port_id at = v->origin[port];
	uint16_t rest = v->l->broker->links[at].rest_vls;
	unsigned before = v->ports[port].strict ? (2u << vl) - 1 : 1u << vl;

	return !(quiet && quiet[at]) && (rest & before) != 0;
}

static void exclude_first(struct view *v)
{
	const struct latency *l = v->l;

	for (uint32_t f = 0; f < l->n_flows; f++) {
		const struct broker_connection *c = connection_of(l, l->flows[f].connection);

		if (model_of(v)->none)
			exclude(v, f, model_of(v)->none, v->flows[f].path[0]);
		else if (c->request.burst == BROKER_BURST_UNKNOWN)
			exclude(v, f, no_burst, v->flows[f].path[0]);
		for (uint32_t h = 0; h < v->flows[f].n_hops; h++) {
			uint32_t at = v->flows[f].path[h];

			if (waits_for_unreserved(v, at, v->flows[f].vls[h]))
				exclude(v, f,
					"unreserved traffic shares its VL or is served before it",
					at);
		}
	}
}

/* Excludes flows without a bound; true if any was added. */
static bool exclude_more(struct view *v)
{
	struct bound_network n = v->network;
	bool changed = false;

	bound_exclude(&n, v->excluded, v->starved, v->where);
	for (uint32_t f = 0; f < n.n_flows; f++) {
		if (!v->excluded[f] || v->l->flows[f].none)
			continue;
		changed = true;
		exclude(v, f,
			v->starved[f] ? "its VL is worth less than its flows send"
				      : "it waits for a flow without a bound",
			v->where[f]);
	}
	return changed;
}

static void leave_out(struct view *v)
{
	for (uint32_t f = 0; f < v->network.n_flows; f++) {
		if (v->excluded[f])
			v->flows[f].n_hops = v->flows[f].n_trunk = 0;
	}
}

/* ---- delays and buffers -------------------------------------------------- */

/* Copies the delays of the remaining flows to all hops. */
static void keep_delays(struct view *v, enum bound_mode mode, const double *delay)
{
	struct latency *l = v->l;

	for (uint32_t f = 0; f < l->n_flows; f++) {
		for (uint32_t h = 0; h < l->flows[f].n_hops; h++)
			l->hops[l->flows[f].first + h].delay[mode] =
				v->excluded[f] || !delay ? HUGE_VAL : *delay++;
	}
}

static bool too_small(const uint32_t *have, port_id port, double need)
{
	return have && need > have[port];
}

/* Computes required buffer sizes; flows through smaller buffers lose their bound. */
static bool check_buffers(struct view *v, const double *delay)
{
	const struct latency_model *m = model_of(v);
	struct latency *l = v->l;
	size_t n = (size_t)v->network.n_ports * BOUND_GROUPS;
	double *need[2];
	bool enough = true;

	for (unsigned side = 0; side < 2; side++) {
		need[side] = hd_alloc(n, sizeof(double));
		bound_buffers(&v->network, (enum bound_side)side, delay, need[side]);
	}
	for (uint32_t f = 0; f < l->n_flows; f++) {
		for (uint32_t h = 0; h < v->flows[f].n_hops; h++) {
			uint32_t at = v->flows[f].path[h];
			size_t k = (size_t)at * BOUND_GROUPS + v->flows[f].vls[h];
			bool into = h + 1 < v->flows[f].n_hops;
			double out = m->speedup.den && h > 0 ? need[BOUND_OUTPUT][k] : 0;
			struct latency_hop *hop = &l->hops[l->flows[f].first + h];

			hop->needed[BOUND_INPUT] = into ? need[BOUND_INPUT][k] : 0;
			hop->needed[BOUND_OUTPUT] = out;
			if (!too_small(m->in_bytes, v->origin[at], hop->needed[BOUND_INPUT]) &&
			    !too_small(m->out_bytes, v->origin[at], out))
				continue;
			exclude(v, f, no_buffer, at);
			enough = false;
		}
	}
	free(need[0]);
	free(need[1]);
	return enough;
}

/* Computes the deciding mode: repeats until all remaining bounds hold. */
static void decide(struct view *v)
{
	struct latency *l = v->l;
	enum bound_mode mode = model_of(v)->mode;
	double *delay = hd_alloc(l->n_hops, sizeof(*delay));
	bool settled = l->n_flows == 0;

	while (!settled) {
		struct diag why = { .status = HD_OK };

		(void)exclude_more(v);
		leave_out(v);
		settled = bound_delays(mode, &v->network, &why, delay) == HD_OK;
		for (uint32_t f = 0; f < l->n_flows && !settled; f++) {
			if (!v->excluded[f])
				exclude(v, f, "delays on a cycle of ports grow without end",
					v->flows[f].path[0]);
		}
		if (settled)
			settled = check_buffers(v, delay);
	}
	keep_delays(v, mode, delay);
	free(delay);
}

static void sum_bounds(struct latency *l, enum bound_mode mode)
{
	for (uint32_t f = 0; f < l->n_flows; f++) {
		l->flows[f].bound = 0;
		for (uint32_t h = 0; h < l->flows[f].n_hops; h++)
			l->flows[f].bound += l->hops[l->flows[f].first + h].delay[mode];
	}
}

void latency_init(struct latency *l, const struct broker *b, const struct broker_connection *asking,
		  bool all)
{
	const enum bound_mode mode = b->params.latency.mode;
	struct view v;

	*l = (struct latency){ .broker = b, .asking = asking };
	view_init(&v, l);
	exclude_first(&v);
	decide(&v);
	sum_bounds(l, mode);
	for (unsigned m = 0; all && m < BOUND_MODES; m++) {
		struct diag why = { .status = HD_OK };
		double *delay = hd_alloc(l->n_hops, sizeof(*delay));
		bool has = bound_delays((enum bound_mode)m, &v.network, &why, delay) == HD_OK;

		keep_delays(&v, (enum bound_mode)m, has ? delay : NULL);
		free(delay);
	}
	view_fini(&v);
}

void latency_fini(struct latency *l)
{
	free(l->flows);
	free(l->hops);
	*l = (struct latency){ 0 };
}

double latency_part(const struct latency *l, uint32_t connection)
{
	double most = 0;

	for (uint32_t f = 0; f < l->n_flows; f++) {
		if (l->flows[f].connection == connection && !l->flows[f].reverse)
			most = fmax(most, l->flows[f].bound);
	}
	return most;
}

double latency_of(const struct latency *l, uint32_t connection)
{
	double sum = 0;

	for (uint32_t at = connection + 1; at; at = connection_of(l, at - 1)->request.then)
		sum += latency_part(l, at - 1);
	return sum;
}

/* ---- deadlines ----------------------------------------------------------- */

bool latency_is_asked(const struct broker *b)
{
	bool any = false;

	for (uint32_t i = 0; i < b->n_connections && b->has_deadlines && !any; i++)
		any = b->connections[i].request.deadline > 0 && sends(b, &b->connections[i]);
	return any;
}

/* Sets why and where a connection has no bound, for the first of its paths without one. */
static void explain_none(const struct latency *l, uint32_t connection, struct broker_refusal *why)
{
	for (uint32_t f = 0; f < l->n_flows; f++) {
		if (l->flows[f].connection != connection || !l->flows[f].none)
			continue;
		why->none = l->flows[f].none;
		why->link = l->flows[f].where;
		return;
	}
}

/* The link with the longest delay. */
static port_id slowest_link(const struct latency *l, uint32_t connection)
{
	/* The bound is above 0, so there is a flow with a hop. */
	assert(l->hops);
	port_id link = l->hops[0].port;
	double most = -1;

	for (uint32_t f = 0; f < l->n_flows; f++) {
		const struct latency_flow *flow = &l->flows[f];

		for (uint32_t h = 0; h < flow->n_hops; h++) {
			const struct latency_hop *hop = &l->hops[flow->first + h];
			double its = hop->delay[l->broker->params.latency.mode];

			if (flow->connection != connection || its <= most)
				continue;
			most = its;
			link = hop->port;
		}
	}
	return link;
}

/* Whether the deadline of a connection, if any, is met. */
static bool is_met(const struct latency *l, uint32_t id, struct broker_refusal *why)
{
	const struct broker_connection *c = connection_of(l, id);
	double asked = (double)c->request.deadline / (double)HD_S;

	if (asked <= 0 || (c != l->asking && !sends(l->broker, c)))
		return true;
	double bound = latency_of(l, id);

	/* The tolerance covers the residual error of the iteration. */
	if (bound <= asked * (1 + 1e-9))
		return true;
	*why = (struct broker_refusal){
		.reason = BROKER_DEADLINE,
		.link = slowest_link(l, id),
		.connection = c == l->asking ? BROKER_NEWEST : id,
		.deadline = asked,
		.bound = bound,
	};
	explain_none(l, id, why);
	return false;
}

enum hd_status latency_check(const struct broker *b, const struct broker_connection *c,
			     struct broker_refusal *why)
{
	bool met = true;
	struct latency l;

	if ((!c || !c->request.deadline) && !latency_is_asked(b))
		return HD_OK;
	latency_init(&l, b, c, false);
	for (uint32_t i = 0; i < count_of(&l) && met; i++)
		met = is_met(&l, i, why);
	latency_fini(&l);
	return met ? HD_OK : HD_ERR_FULL;
}

void latency_record(struct broker *b)
{
	struct latency l;

	latency_init(&l, b, NULL, false);
	for (uint32_t i = 0; i < b->n_connections; i++) {
		struct broker_connection *c = &b->connections[i];

		if (sends(b, c))
			c->bound = fmax(c->bound, latency_of(&l, i));
	}
	latency_fini(&l);
}
