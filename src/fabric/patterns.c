/* SPDX-License-Identifier: BSD-2-Clause */
/* Traffic patterns: rows of traffic become flows. */
#define _GNU_SOURCE /* strverscmp */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"

#define MOST_ARRIVALS 1000000u

/* A row that is expanded to flows. */
struct row {
	struct fabric *fabric;
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

static enum hd_status refuse_unreachable(const struct row *r, port_id from, port_id to)
{
	return scenario_refuse(r->fabric->scenario, r->d, r->t,
			       "traffic '%s': no path from '%s' to '%s'", r->t->name,
			       topo_node_of(&r->fabric->topo, from)->name,
			       topo_node_of(&r->fabric->topo, to)->name);
}

/* Adds a flow with fixed source and destination. */
static enum hd_status add_fixed(struct row *r, port_id from, port_id to)
{
	struct sim_address *address = fabric_keep(r->fabric, 1, sizeof(*address));

	if (!fabric_address(r->fabric, from, to, address))
		return refuse_unreachable(r, from, to);
	if (r->t->transport && address->target != TOPO_NONE)
		return scenario_refuse(
			r->fabric->scenario, r->d, &r->t->transport,
			"traffic '%s': queue pairs cross no router, and '%s' and '%s' are in two subnets",
			r->t->name, topo_node_of(&r->fabric->topo, from)->name,
			topo_node_of(&r->fabric->topo, to)->name);
	struct sim_flow *f = fabric_add_flow(r->fabric, r->number, from, to);

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
	both.ports = hd_alloc(r->hot.n + r->destinations.n, sizeof(*both.ports));
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
static enum hd_status list_for(struct row *r, port_id from, const struct sim_address **out)
{
	unsigned subnet = r->fabric->topo.ports[from].subnet;
	const struct selection *to = &r->destinations;

	if (!r->lists[subnet].addresses) {
		struct sim_address *list = fabric_keep(r->fabric, to->n, sizeof(*list));

		for (uint32_t i = 0; i < to->n; i++) {
			if (!fabric_address(r->fabric, from, to->ports[i], &list[i]))
				return refuse_unreachable(r, from, to->ports[i]);
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
			r->fabric->scenario, r->d, &r->t->transport,
			"traffic '%s': a queue pair has one peer, and '%s' may choose among %u; pairs, incast, a permutation or connections have one",
			r->t->name, topo_node_of(&r->fabric->topo, from)->name, others);
	return add_fixed(r, from, to->ports[0] == from ? to->ports[1] : to->ports[0]);
}

/* A flow that chooses a destination for each message. */
static enum hd_status add_choosing(struct row *r, port_id from, const uint32_t *place,
				   enum sim_choice choice)
{
	const struct sim_address *list = NULL;
	enum hd_status status = list_for(r, from, &list);
	uint32_t others = r->destinations.n - (place[from] != SIM_NONE);

	if (status != HD_OK)
		return status;
	if (others == 0)
		return scenario_refuse(r->fabric->scenario, r->d, r->t,
				       "traffic '%s': '%s' has no destination other than itself",
				       r->t->name, topo_node_of(&r->fabric->topo, from)->name);
	if (r->t->transport)
		return add_posting(r, from, others);
	struct sim_flow *f = fabric_add_flow(r->fabric, r->number, from, TOPO_NONE);

	f->to = (struct sim_destinations){
		.choice = choice,
		.list = list,
		.n = r->destinations.n,
		.self = place[from],
		.n_hot = r->hot.n,
		.hot_share = (double)r->t->hot_share.num /
			     (double)(r->t->hot_share.den ? r->t->hot_share.den : 1),
	};
	/* One message to each destination, unless the row has a count. */
	if (r->t->kind == SIM_BURST && choice == SIM_TO_CYCLE && r->t->count == SCN_UNLIMITED)
		f->count = others;
	return HD_OK;
}

static enum hd_status add_all_choosing(struct row *r, enum sim_choice choice)
{
	uint32_t *place = hd_alloc(r->fabric->topo.n_ports, sizeof(*place));
	enum hd_status status = HD_OK;

	order_destinations(r);
	for (uint32_t i = 0; i < r->fabric->topo.n_ports; i++)
		place[i] = SIM_NONE;
	for (uint32_t i = 0; i < r->destinations.n; i++)
		place[r->destinations.ports[i]] = i;
	for (uint32_t i = 0; i < r->sources.n && status == HD_OK; i++)
		status = add_choosing(r, r->sources.ports[i], place, choice);
	free(place);
	return status;
}

/* Sends from position i of the sources to position to[i]; equal positions send nothing. */
static enum hd_status add_mapped(struct row *r, const uint32_t *to)
{
	enum hd_status status = HD_OK;
	uint32_t before = r->fabric->n_flows;

	for (uint32_t i = 0; i < r->sources.n && status == HD_OK; i++) {
		if (to[i] != i)
			status = add_fixed(r, r->sources.ports[i], r->sources.ports[to[i]]);
	}
	if (status == HD_OK && r->fabric->n_flows == before)
		return scenario_refuse(
			r->fabric->scenario, r->d, &r->t->pattern,
			"traffic '%s': with this pattern every source would send to itself",
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
		return scenario_refuse(
			r->fabric->scenario, r->d, &r->t->pattern,
			"traffic '%s': transpose needs a square number of sources, not %u",
			r->t->name, n);
	if (r->t->pattern == SCN_BIT_REVERSE && (n & (n - 1)))
		return scenario_refuse(
			r->fabric->scenario, r->d, &r->t->pattern,
			"traffic '%s': bit-reverse needs a power of 2 of sources, not %u",
			r->t->name, n);
	return HD_OK;
}

/* A random permutation without fixed points (a derangement), uniformly. */
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
		return scenario_refuse(r->fabric->scenario, r->d, &r->t->pattern,
				       "traffic '%s': %u sources but %u destinations make no pairs",
				       r->t->name, r->sources.n, r->destinations.n);
	for (uint32_t i = 0; i < r->sources.n && status == HD_OK; i++) {
		if (r->sources.ports[i] == r->destinations.ports[i])
			return scenario_refuse(
				r->fabric->scenario, r->d, &r->t->destination,
				"traffic '%s': '%s' is paired with itself", r->t->name,
				topo_node_of(&r->fabric->topo, r->sources.ports[i])->name);
		status = add_fixed(r, r->sources.ports[i], r->destinations.ports[i]);
	}
	return status;
}

/* Draws a destination; hot ones have their share. */
static port_id draw_destination(struct row *r)
{
	if (r->hot.n &&
	    rng_uniform(&r->rng) < (double)r->t->hot_share.num / (double)r->t->hot_share.den)
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

/* A row without flows would have no results. */
static enum hd_status refuse_empty(const struct fabric *fabric, uint32_t number, struct diag *d)
{
	const struct scn_traffic *t = &fabric->scenario->traffic[number];

	return scenario_refuse(
		fabric->scenario, d, t,
		"traffic '%s' has no flow: its sources have no destination other than themselves",
		t->name);
}

/* Two hosts, drawn at random. */
static enum hd_status add_drawn(struct row *r)
{
	port_id from, to;

	do {
		from = r->sources.ports[rng_below(&r->rng, r->sources.n)];
		to = draw_destination(r);
	} while (from == to);
	return add_fixed(r, from, to);
}

static enum hd_status add_connections(struct row *r)
{
	enum hd_status status = HD_OK;

	if (r->t->pattern != SCN_UNIFORM && r->t->pattern != SCN_HOTSPOT &&
	    r->t->pattern != SCN_INCAST)
		return scenario_refuse(
			r->fabric->scenario, r->d, &r->t->connections,
			"traffic '%s': connections need the pattern uniform, hotspot or incast",
			r->t->name);
	if (!any_pair(r))
		return refuse_empty(r->fabric, r->number, r->d);
	for (uint64_t i = 0; i < r->t->connections && status == HD_OK; i++)
		status = add_drawn(r);
	return status;
}

/* Adds a flow for each connection that arrives, whether admitted or not. */
static enum hd_status add_arriving(struct row *r)
{
	bool is_group = r->t->pattern == SCN_GROUP;
	uint32_t first = r->fabric->n_flows, n_senders = 0;
	struct arrival_clock clock = fabric_arrivals(r->fabric, r->number);
	enum hd_status status = HD_OK;

	if (!is_group && !any_pair(r))
		return refuse_empty(r->fabric, r->number, r->d);
	if (is_group)
		status = fabric_build_group(r->fabric, r->number, &r->sources, r->d);
	n_senders = r->fabric->n_flows - first;
	while (status == HD_OK && fabric_next_arrival(&clock)) {
		if (r->fabric->n_flows - first > MOST_ARRIVALS)
			return scenario_refuse(
				r->fabric->scenario, r->d, &r->t->arrivals.gap,
				"traffic '%s': more than %u connections before the run may end",
				r->t->name, MOST_ARRIVALS);
		if (is_group)
			fabric_copy_flow(r->fabric,
					 first + (uint32_t)rng_below(&r->rng, n_senders));
		else
			status = add_drawn(r);
		if (status != HD_OK)
			return status;
		struct sim_flow *f = &r->fabric->flows[r->fabric->n_flows - 1];

		f->start = clock.at;
		f->stop = clock.until == HD_TIME_NEVER ? 0 : clock.until;
	}
	/* The template of the copies. */
	if (is_group)
		fabric_drop_flows(r->fabric, first, n_senders);
	return status;
}

static enum hd_status add_flows(struct row *r)
{
	if (r->t->arrivals.gap)
		return add_arriving(r);
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
		return fabric_build_group(r->fabric, r->number, &r->sources, r->d);
	default:
		return add_permuted(r);
	}
}

static enum hd_status resolve(struct row *r, char *const *text, const char *path,
			      enum fabric_stream stream, struct selection *out)
{
	struct diag inner = { .status = HD_OK };
	struct rng rng;

	if (!*text)
		return HD_OK;
	rng_init(&rng, r->fabric->scenario->run.seed, fabric_stream(stream, r->t->name));
	if (select_hosts(r->fabric->selector, *text, &rng, &inner, out) != HD_OK)
		return fabric_refuse(r->fabric, r->d, text, path, &inner);
	return HD_OK;
}

static enum hd_status build_row(struct fabric *fabric, uint32_t number, struct diag *d)
{
	const struct scn_traffic *t = &fabric->scenario->traffic[number];
	struct row r = { .fabric = fabric, .t = t, .number = number, .d = d };

	if (t->kind == SIM_TRACE)
		return fabric_build_trace(fabric, number, d);
	r.lists = hd_alloc(fabric->topo.n_subnets + 1, sizeof(*r.lists));
	rng_init(&r.rng, fabric->scenario->run.seed, fabric_stream(STREAM_PATTERN, t->name));
	enum hd_status status =
		t->transport ? scenario_has_no_capacity(fabric->scenario, "queue pairs", d) : HD_OK;

	if (status == HD_OK)
		status = resolve(&r, &t->source, "traffic[].source", STREAM_SOURCES, &r.sources);
	if (status == HD_OK)
		status = resolve(&r, &t->destination, "traffic[].destination", STREAM_DESTINATIONS,
				 &r.destinations);
	if (status == HD_OK)
		status = resolve(&r, &t->hotspot, "traffic[].hotspot", STREAM_HOTSPOTS, &r.hot);
	if (status == HD_OK)
		status = add_flows(&r);
	selection_fini(&r.sources);
	selection_fini(&r.destinations);
	selection_fini(&r.hot);
	free(r.lists);
	return status;
}

/* Expands one row; returns its number in the scenario. */
static enum hd_status build_flows_of(struct fabric *fabric, uint32_t row, struct diag *d)
{
	uint32_t before = fabric->n_flows;

	fabric_label_group(fabric, row);
	enum hd_status status = build_row(fabric, row, d);

	if (status == HD_OK)
		status = fabric_label_row(fabric, row, before, d);
	/* No dynamic connection may arrive during the run. */
	if (status == HD_OK && fabric->n_flows == before &&
	    !fabric->scenario->traffic[row].arrivals.gap)
		status = refuse_empty(fabric, row, d);
	return status;
}

struct named_row {
	const char *name;
	uint32_t row; /* of the scenario's traffic */
};

/* Numbers in names count as numbers: "row2" is before "row10". */
static int compare_names(const void *a, const void *b)
{
	const struct named_row *x = a, *y = b;

	return strverscmp(x->name, y->name);
}

/*
 * Flow ids order simultaneous events (T13). They follow the names of rows, so that the position of
 * a row in the file has no effect.
 */
enum hd_status fabric_build_flows(struct fabric *fabric, struct diag *d)
{
	const struct scenario *s = fabric->scenario;
	struct named_row *rows = hd_alloc(s->n_traffic, sizeof(*rows));
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < s->n_traffic; i++)
		rows[i] = (struct named_row){ s->traffic[i].name, i };
	if (s->n_traffic)
		qsort(rows, s->n_traffic, sizeof(*rows), compare_names);
	for (size_t i = 0; i < s->n_traffic && status == HD_OK; i++)
		status = build_flows_of(fabric, rows[i].row, d);
	free(rows);
	return status;
}
