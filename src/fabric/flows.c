/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/parts.h"
#include "subnet/router.h"

__extension__ typedef unsigned __int128 u128;

#define BITS_TIMES_PS UINT64_C(8000000000000) /* per byte and second */

/* One row on its way to flows. */
struct row {
	struct fabric *b;
	const struct scn_traffic *t;
	uint32_t number;
	struct diag *d;
	struct selection sources, destinations, hot;
	struct rng rng;
	/* Destination lists, one per subnet of sources; made when needed. */
	struct list {
		struct sim_address *addresses;
	} * lists;
};

bool fabric_address(const struct fabric *b, port_id from, port_id to,
		    struct sim_address *out)
{
	const struct subnet *s = &b->subnet;
	bool local = b->topo.ports[from].subnet == b->topo.ports[to].subnet;

	out->dlid = local ? s->lid_of_port[to] : route_dlid(s, from, to);
	out->target = local ? TOPO_NONE : to;
	return out->dlid != 0;
}

/* num/den in lowest terms that fit, the last digits given up if they must. */
static struct sim_interval make_interval(u128 num, u128 den)
{
	u128 a = num, c = den;

	while (c) {
		u128 rest = a % c;

		a = c;
		c = rest;
	}
	num /= a;
	den /= a;
	while (num >> 62 || den >> 62) {
		num >>= 1;
		den >>= 1;
	}
	if (den == 0)
		den = 1;
	return (struct sim_interval){ (uint64_t)num, (uint64_t)den };
}

/* The mean gap between messages of a paced flow; most are one packet. */
static struct sim_interval mean_interval(const struct fabric *b,
					 const struct scn_traffic *t,
					 port_id source, port_id target)
{
	if (t->rate.num)
		return make_interval((u128)BITS_TIMES_PS * t->payload *
					     t->rate.den,
				     t->rate.num);
	const struct sim_port *port =
		&b->setup.ports[b->port_of_origin[source]];
	uint64_t mtu = b->scenario->fabric.mtu;
	uint64_t packets = t->payload > mtu ? (t->payload + mtu - 1) / mtu : 1;
	uint64_t wire =
		t->payload + packets * scenario_overhead(b->scenario, t);

	if (target != TOPO_NONE &&
	    b->topo.ports[source].subnet != b->topo.ports[target].subnet)
		wire += b->grh_bytes;
	u128 num = (u128)BITS_TIMES_PS * wire * port->rate.den;
	u128 den = port->rate.num;

	/* Shares are short decimals; long ones lose digits, not their size. */
	return make_interval(num * t->load.den, den * t->load.num);
}

/* While on, packets follow each other that much faster. */
static struct sim_interval scale(struct sim_interval mean, hd_time on,
				 hd_time off)
{
	/* Picoseconds beyond 2^40 make no difference to a mean. */
	while ((on | off) >> 40) {
		on >>= 1;
		off >>= 1;
	}
	u128 num = (u128)mean.num * on, den = (u128)mean.den * (on + off);

	return make_interval(num, den ? den : 1);
}

static void set_pacing(struct fabric *b, const struct scn_traffic *t,
		       port_id source, port_id target, struct sim_flow *f)
{
	struct sim_interval mean = mean_interval(b, t, source, target);

	f->interval = mean;
	f->scv = t->scv;
	f->mean_on = t->on;
	f->mean_off = t->off;
	f->shape = t->shape;
	f->random_phase = t->kind == SIM_CBR && !t->aligned;
	if (t->kind == SIM_ON_OFF || t->kind == SIM_PARETO)
		f->interval = scale(mean, t->on, t->off);
	if (t->kind == SIM_CBR)
		f->period = mean.num / mean.den;
}

/* Packets of a message of `payload` bytes. */
static void set_size(const struct scenario *s, const struct scn_traffic *t,
		     struct sim_flow *f)
{
	uint64_t mtu = s->fabric.mtu, overhead = scenario_overhead(s, t);
	uint64_t payload = t->payload;

	if (payload <= mtu) {
		f->bytes = (uint32_t)(payload + overhead);
		f->packets = 1;
		return;
	}
	f->bytes = (uint32_t)(mtu + overhead);
	f->packets = (uint32_t)((payload + mtu - 1) / mtu);
	if (payload % mtu)
		f->last_bytes = (uint32_t)(payload % mtu + overhead);
}

/* The P_Key that a host uses in a partition: its own, if it is a member. */
static uint16_t key_of(const struct fabric *b, const struct scn_traffic *t,
		       port_id source)
{
	if (!t->partition)
		return 0xffff;
	uint16_t key =
		(uint16_t)scenario_partition(b->scenario, t->partition)->key;
	const struct pkey_table *table = &b->subnet.pkeys[source];

	for (unsigned i = 0; i < table->n; i++) {
		if ((table->keys[i] & 0x7fff) == key)
			return table->keys[i];
	}
	return key | 0x8000; /* who is no member may still try */
}

uint8_t fabric_tclass(const struct scn_traffic *t, unsigned sl)
{
	return (uint8_t)(t->tclass == SCN_TCLASS_SL ? sl : t->tclass);
}

struct sim_flow *fabric_add_flow(struct fabric *b, uint32_t row, port_id source,
				 port_id target)
{
	const struct scn_traffic *t = &b->scenario->traffic[row];

	b->flows = hd_grow(b->flows, &b->flows_cap, b->n_flows + 1,
			   sizeof(*b->flows));
	b->flow_target = hd_grow(b->flow_target, &b->target_cap, b->n_flows + 1,
				 sizeof(*b->flow_target));
	b->flow_copies = hd_grow(b->flow_copies, &b->copies_cap, b->n_flows + 1,
				 sizeof(*b->flow_copies));
	b->flow_target[b->n_flows] = target;
	b->flow_copies[b->n_flows] = 1;
	struct sim_flow *f = &b->flows[b->n_flows++];

	*f = (struct sim_flow){
		.kind = t->kind,
		.source = b->end_of_origin[source],
		.row = row,
		.to.self = SIM_NONE,
		.sl = (uint8_t)scenario_sl(b->scenario, t),
		.pkey = key_of(b, t, source),
		.management = t->management,
		.posted = t->transport != SCN_NO_TRANSPORT,
		.start = t->start,
		.stop = t->stop == HD_TIME_NEVER ? 0 : t->stop,
		.count = t->count == SCN_UNLIMITED ? 0 : t->count,
	};
	f->grh_bytes = b->grh_bytes;
	f->tclass = fabric_tclass(t, f->sl);
	f->hop_limit = (uint8_t)t->hop_limit;
	set_size(b->scenario, t, f);
	if (t->payload_scv > 0) {
		f->size_scv = t->payload_scv;
		f->size_mean = (double)t->payload;
		f->size_overhead = (uint32_t)scenario_overhead(b->scenario, t);
		f->bytes =
			(uint32_t)(b->scenario->fabric.mtu) + f->size_overhead;
	}
	if (t->kind <= SIM_PARETO)
		set_pacing(b, t, source, target, f);
	if (t->kind == SIM_BURST && f->count == 0)
		f->count = 1;
	return f;
}

static enum hd_status refuse_unreachable(const struct row *r, port_id from,
					 port_id to)
{
	return scenario_refuse(r->b->scenario, r->d, r->t,
			       "traffic '%s': there is no way from '%s' to "
			       "'%s'",
			       r->t->name,
			       topo_node_of(&r->b->topo, from)->name,
			       topo_node_of(&r->b->topo, to)->name);
}

/* A flow from `from` that always goes to `to`. */
static enum hd_status add_fixed(struct row *r, port_id from, port_id to)
{
	struct sim_address *address = fabric_keep(r->b, 1, sizeof(*address));

	if (!fabric_address(r->b, from, to, address))
		return refuse_unreachable(r, from, to);
	if (r->t->transport && address->target != TOPO_NONE)
		return scenario_refuse(
			r->b->scenario, r->d, &r->t->transport,
			"traffic '%s': queue pairs cross no router, and '%s' "
			"and '%s' are in two subnets",
			r->t->name, topo_node_of(&r->b->topo, from)->name,
			topo_node_of(&r->b->topo, to)->name);
	struct sim_flow *f = fabric_add_flow(r->b, r->number, from, to);

	f->to.choice = SIM_TO_FIXED;
	f->to.list = address;
	f->to.n = 1;
	return HD_OK;
}

/* Hot hosts first, then the destinations, each once. */
static void order_destinations(struct row *r)
{
	struct selection both = { 0 };

	if (r->hot.n == 0)
		return;
	both.ports =
		hd_alloc(r->hot.n + r->destinations.n, sizeof(*both.ports));
	memcpy(both.ports, r->hot.ports, r->hot.n * sizeof(*both.ports));
	both.n = r->hot.n;
	for (uint32_t i = 0; i < r->destinations.n; i++) {
		bool hot = false;

		for (uint32_t k = 0; k < r->hot.n; k++)
			hot |= r->hot.ports[k] == r->destinations.ports[i];
		if (!hot)
			both.ports[both.n++] = r->destinations.ports[i];
	}
	selection_fini(&r->destinations);
	r->destinations = both;
}

/* The list of addresses as seen from `from`; shared within its subnet. */
static enum hd_status list_for(struct row *r, port_id from,
			       const struct sim_address **out)
{
	unsigned subnet = r->b->topo.ports[from].subnet;
	const struct selection *to = &r->destinations;

	if (!r->lists[subnet].addresses) {
		struct sim_address *list =
			fabric_keep(r->b, to->n, sizeof(*list));

		for (uint32_t i = 0; i < to->n; i++) {
			if (!fabric_address(r->b, from, to->ports[i], &list[i]))
				return refuse_unreachable(r, from,
							  to->ports[i]);
		}
		r->lists[subnet].addresses = list;
	}
	*out = r->lists[subnet].addresses;
	return HD_OK;
}

/* A queue pair has one peer, so there must be no choice. */
static enum hd_status add_posting(struct row *r, port_id from, uint32_t others)
{
	const struct selection *to = &r->destinations;

	if (others > 1)
		return scenario_refuse(
			r->b->scenario, r->d, &r->t->transport,
			"traffic '%s': a queue pair has one peer, and '%s' may "
			"choose among %u; pairs, incast, a permutation or "
			"connections have one",
			r->t->name, topo_node_of(&r->b->topo, from)->name,
			others);
	return add_fixed(r, from,
			 to->ports[0] == from ? to->ports[1] : to->ports[0]);
}

/* A flow that chooses anew for each message. */
static enum hd_status add_choosing(struct row *r, port_id from,
				   const uint32_t *place,
				   enum sim_choice choice)
{
	const struct sim_address *list = NULL;
	enum hd_status status = list_for(r, from, &list);
	uint32_t others = r->destinations.n - (place[from] != SIM_NONE);

	if (status != HD_OK)
		return status;
	if (others == 0)
		return scenario_refuse(r->b->scenario, r->d, r->t,
				       "traffic '%s': '%s' has nobody to send "
				       "to but itself",
				       r->t->name,
				       topo_node_of(&r->b->topo, from)->name);
	if (r->t->transport)
		return add_posting(r, from, others);
	struct sim_flow *f = fabric_add_flow(r->b, r->number, from, TOPO_NONE);

	f->to = (struct sim_destinations){
		.choice = choice,
		.list = list,
		.n = r->destinations.n,
		.self = place[from],
		.n_hot = r->hot.n,
		.hot_share =
			(double)r->t->hot_share.num /
			(double)(r->t->hot_share.den ? r->t->hot_share.den : 1),
	};
	/* Once to everybody, unless it says how often. */
	if (r->t->kind == SIM_BURST && choice == SIM_TO_CYCLE &&
	    r->t->count == SCN_UNLIMITED)
		f->count = others;
	return HD_OK;
}

static enum hd_status add_all_choosing(struct row *r, enum sim_choice choice)
{
	uint32_t *place = hd_alloc(r->b->topo.n_ports, sizeof(*place));
	enum hd_status status = HD_OK;

	order_destinations(r);
	for (uint32_t i = 0; i < r->b->topo.n_ports; i++)
		place[i] = SIM_NONE;
	for (uint32_t i = 0; i < r->destinations.n; i++)
		place[r->destinations.ports[i]] = i;
	for (uint32_t i = 0; i < r->sources.n && status == HD_OK; i++)
		status = add_choosing(r, r->sources.ports[i], place, choice);
	free(place);
	return status;
}

/* Sends position i of the sources to position to[i]; who stays is silent. */
static enum hd_status add_mapped(struct row *r, const uint32_t *to)
{
	enum hd_status status = HD_OK;
	uint32_t before = r->b->n_flows;

	for (uint32_t i = 0; i < r->sources.n && status == HD_OK; i++) {
		if (to[i] != i)
			status = add_fixed(r, r->sources.ports[i],
					   r->sources.ports[to[i]]);
	}
	if (status == HD_OK && r->b->n_flows == before)
		return scenario_refuse(r->b->scenario, r->d, &r->t->pattern,
				       "traffic '%s': with this pattern nobody "
				       "sends to anybody else",
				       r->t->name);
	return status;
}

static uint32_t integer_root(uint32_t n)
{
	uint32_t root = 0;

	while ((uint64_t)(root + 1) * (root + 1) <= n)
		root++;
	return root;
}

static uint32_t reverse_bits(uint32_t value, uint32_t n)
{
	uint32_t reversed = 0;

	for (uint32_t bit = 1; bit < n; bit <<= 1) {
		reversed = reversed << 1 | (value & 1);
		value >>= 1;
	}
	return reversed;
}

static enum hd_status check_shape(const struct row *r)
{
	uint32_t n = r->sources.n, root = integer_root(n);

	if (r->t->pattern == SCN_TRANSPOSE && root * root != n)
		return scenario_refuse(r->b->scenario, r->d, &r->t->pattern,
				       "traffic '%s': transpose needs a square "
				       "number of sources, not %u",
				       r->t->name, n);
	if (r->t->pattern == SCN_BIT_REVERSE && (n & (n - 1)))
		return scenario_refuse(r->b->scenario, r->d, &r->t->pattern,
				       "traffic '%s': bit-reverse needs a "
				       "power of 2 of sources, not %u",
				       r->t->name, n);
	return HD_OK;
}

/* A random order in which nobody keeps its place, all equally likely. */
static void derange(struct rng *rng, uint32_t *to, uint32_t n)
{
	bool fixed;

	do {
		fixed = false;
		for (uint32_t i = 0; i < n; i++)
			to[i] = i;
		rng_shuffle(rng, to, n);
		for (uint32_t i = 0; i < n; i++)
			fixed |= to[i] == i;
	} while (fixed && n > 1);
}

static enum hd_status add_permuted(struct row *r)
{
	uint32_t n = r->sources.n, root = integer_root(n);
	enum hd_status status = check_shape(r);

	if (status != HD_OK)
		return status;
	uint32_t *to = hd_alloc(n, sizeof(*to));

	for (uint32_t i = 0; i < n; i++) {
		if (r->t->pattern == SCN_TRANSPOSE)
			to[i] = i % root * root + i / root;
		else if (r->t->pattern == SCN_BIT_REVERSE)
			to[i] = reverse_bits(i, n);
		else if (r->t->pattern == SCN_TORNADO)
			to[i] = (i + (n + 1) / 2 - 1) % n;
	}
	if (r->t->pattern == SCN_PERMUTATION)
		derange(&r->rng, to, n);
	status = add_mapped(r, to);
	free(to);
	return status;
}

/* Sources spread over the destinations, a destination not to itself. */
static enum hd_status add_incast(struct row *r)
{
	enum hd_status status = HD_OK;
	uint32_t next = 0;

	for (uint32_t i = 0; i < r->sources.n && status == HD_OK; i++) {
		port_id from = r->sources.ports[i];
		port_id to = r->destinations.ports[next];

		if (from == to)
			continue;
		next = (next + 1) % r->destinations.n;
		status = add_fixed(r, from, to);
	}
	return status;
}

static enum hd_status add_pairs(struct row *r)
{
	enum hd_status status = HD_OK;

	if (r->sources.n != r->destinations.n)
		return scenario_refuse(r->b->scenario, r->d, &r->t->pattern,
				       "traffic '%s': %u sources but %u "
				       "destinations make no pairs",
				       r->t->name, r->sources.n,
				       r->destinations.n);
	for (uint32_t i = 0; i < r->sources.n && status == HD_OK; i++) {
		if (r->sources.ports[i] == r->destinations.ports[i])
			return scenario_refuse(
				r->b->scenario, r->d, &r->t->destination,
				"traffic '%s': '%s' is paired with itself",
				r->t->name,
				topo_node_of(&r->b->topo, r->sources.ports[i])
					->name);
		status = add_fixed(r, r->sources.ports[i],
				   r->destinations.ports[i]);
	}
	return status;
}

/* One of the destinations, hot ones with their share. */
static port_id draw_destination(struct row *r)
{
	if (r->hot.n &&
	    rng_uniform(&r->rng) <
		    (double)r->t->hot_share.num / (double)r->t->hot_share.den)
		return r->hot.ports[rng_below(&r->rng, r->hot.n)];
	return r->destinations.ports[rng_below(&r->rng, r->destinations.n)];
}

static bool is_only(const struct selection *s, port_id port)
{
	return s->n == 1 && s->ports[0] == port;
}

/* Whether a draw of source and destination can ever give two hosts. */
static bool any_pair(const struct row *r)
{
	port_id from = r->sources.ports[0];
	bool all_hot = r->hot.n && r->t->hot_share.num >= r->t->hot_share.den;
	bool hot = r->hot.n && r->t->hot_share.num;

	return r->sources.n > 1 || (hot && !is_only(&r->hot, from)) ||
	       (!all_hot && !is_only(&r->destinations, from));
}

/* Whoever asks what it gets would be told of nothing. */
static enum hd_status refuse_empty(const struct fabric *b, uint32_t number,
				   struct diag *d)
{
	const struct scn_traffic *t = &b->scenario->traffic[number];

	return scenario_refuse(b->scenario, d, t,
			       "traffic '%s' has no flow: its sources "
			       "have nobody to send to but themselves",
			       t->name);
}

static enum hd_status add_connections(struct row *r)
{
	enum hd_status status = HD_OK;

	if (r->t->pattern != SCN_UNIFORM && r->t->pattern != SCN_HOTSPOT &&
	    r->t->pattern != SCN_INCAST)
		return scenario_refuse(r->b->scenario, r->d, &r->t->connections,
				       "traffic '%s': connections need the "
				       "pattern uniform, hotspot or incast",
				       r->t->name);
	if (!any_pair(r))
		return refuse_empty(r->b, r->number, r->d);
	for (uint64_t i = 0; i < r->t->connections && status == HD_OK; i++) {
		port_id from, to;

		do {
			from = r->sources
				       .ports[rng_below(&r->rng, r->sources.n)];
			to = draw_destination(r);
		} while (from == to);
		status = add_fixed(r, from, to);
	}
	return status;
}

static enum hd_status add_flows(struct row *r)
{
	if (r->t->connections)
		return add_connections(r);
	switch (r->t->pattern) {
	case SCN_UNIFORM:
		return add_all_choosing(r, SIM_TO_UNIFORM);
	case SCN_HOTSPOT:
		return add_all_choosing(r, SIM_TO_HOTSPOT);
	case SCN_ALL_TO_ALL:
		return add_all_choosing(r, SIM_TO_CYCLE);
	case SCN_INCAST:
		return add_incast(r);
	case SCN_PAIRS:
		return add_pairs(r);
	case SCN_GROUP:
		return fabric_build_group(r->b, r->number, &r->sources, r->d);
	default:
		return add_permuted(r);
	}
}

static enum hd_status resolve(struct row *r, char *const *text,
			      const char *path, uint64_t stream,
			      struct selection *out)
{
	struct diag inner = { .status = HD_OK };
	struct rng rng;

	if (!*text)
		return HD_OK;
	rng_init(&rng, r->b->scenario->run.seed, stream + r->number);
	if (select_hosts(r->b->selector, *text, &rng, &inner, out) != HD_OK)
		return fabric_refuse(r->b, r->d, text, path, &inner);
	return HD_OK;
}

static enum hd_status build_row(struct fabric *b, uint32_t number,
				struct diag *d)
{
	const struct scn_traffic *t = &b->scenario->traffic[number];
	struct row r = { .b = b, .t = t, .number = number, .d = d };

	if (t->kind == SIM_TRACE)
		return fabric_build_trace(b, number, d);
	if (t->transport && b->setup.borrowing.on)
		return scenario_refuse(
			b->scenario, d, &t->transport,
			"traffic '%s': lanes on loan (qos.thresholds) know no "
			"adapters beside their flows",
			t->name);
	r.lists = hd_alloc(b->topo.n_subnets + 1, sizeof(*r.lists));
	rng_init(&r.rng, b->scenario->run.seed, STREAM_PATTERN + number);
	enum hd_status status = resolve(&r, &t->source, "traffic[].source",
					STREAM_SOURCES, &r.sources);

	if (status == HD_OK)
		status = resolve(&r, &t->destination, "traffic[].destination",
				 STREAM_DESTINATIONS, &r.destinations);
	if (status == HD_OK)
		status = resolve(&r, &t->hotspot, "traffic[].hotspot",
				 STREAM_HOTSPOTS, &r.hot);
	if (status == HD_OK)
		status = add_flows(&r);
	selection_fini(&r.sources);
	selection_fini(&r.destinations);
	selection_fini(&r.hot);
	free(r.lists);
	return status;
}

enum hd_status fabric_build_flows(struct fabric *b, struct diag *d)
{
	for (uint32_t i = 0; i < b->scenario->n_traffic; i++) {
		uint32_t before = b->n_flows;
		enum hd_status status = build_row(b, i, d);

		if (status != HD_OK)
			return status;
		if (b->n_flows == before)
			return refuse_empty(b, i, d);
	}
	return HD_OK;
}
