/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/collective.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/limits.h"
#include "run/run.h"

/* State of a running operation. */
struct operation {
	const struct collective_op *op;
	enum collective_scheme scheme;
	struct collective_result *out;
	uint32_t packets;       /* per message */
	uint32_t words;         /* of a bit set of a message's packets */
	uint64_t *seen;         /* [source][member][word] */
	uint32_t *received;     /* [source][member] */
	hd_time *last;          /* per member: arrival of its latest packet */
	uint32_t *member_of;    /* per sim port */
	uint32_t *own;          /* per source: its index among the members */
	uint32_t *end_of;       /* per port of the topology: sim node */
	struct sim_flow *flows; /* per source */
	struct sim_arrival *arrivals;
};

uint32_t collective_packets(const struct collective_op *op)
{
	uint64_t n = (op->bytes + op->mtu - 1) / op->mtu;

	return n ? (uint32_t)n : 1;
}

static uint32_t extra_bytes(const struct collective_op *op, enum collective_scheme scheme)
{
	return op->overhead + (scheme == COLLECTIVE_MULTICAST ? op->grh : 0);
}

uint64_t collective_wire_bytes(const struct collective_op *op, enum collective_scheme scheme)
{
	return op->bytes + (uint64_t)collective_packets(op) * extra_bytes(op, scheme);
}

static uint32_t packet_bytes(const struct operation *r, uint32_t packet)
{
	const struct collective_op *op = r->op;
	uint64_t left = op->bytes - (uint64_t)packet * op->mtu;

	return (uint32_t)(left < op->mtu ? left : op->mtu) + extra_bytes(op, r->scheme);
}

/* ---- who is who --------------------------------------------------------- */

static void operation_init(struct operation *r, const struct sim_setup *setup)
{
	const struct collective_op *op = r->op;
	size_t pairs = (size_t)op->n_sources * op->n_members;
	uint32_t n_origins = setup->subnet->topo->n_ports;

	r->packets = collective_packets(op);
	r->words = (r->packets + 63) / 64;
	r->seen = hd_alloc(pairs * r->words, sizeof(*r->seen));
	r->received = hd_alloc(pairs, sizeof(*r->received));
	r->last = hd_alloc(op->n_members, sizeof(*r->last));
	r->member_of = hd_alloc(setup->n_ports, sizeof(*r->member_of));
	r->own = hd_alloc(op->n_sources, sizeof(*r->own));
	r->end_of = hd_alloc(n_origins, sizeof(*r->end_of));
	for (uint32_t p = 0; p < n_origins; p++)
		r->end_of[p] = SIM_NONE;
	for (uint32_t p = 0; p < setup->n_ports; p++)
		r->member_of[p] = SIM_NONE;
	for (uint32_t v = 0; v < setup->n_nodes; v++) {
		uint32_t p = setup->nodes[v].first_port + 1;

		if (setup->nodes[v].kind == SIM_END)
			r->end_of[setup->ports[p].origin] = v;
	}
	for (uint32_t i = 0; i < op->n_members; i++) {
		uint32_t v = r->end_of[op->members[i]];

		if (v != SIM_NONE)
			r->member_of[setup->nodes[v].first_port + 1] = i;
	}
	for (uint32_t i = 0; i < op->n_sources; i++) {
		uint32_t v = r->end_of[op->sources[i]];

		r->own[i] = v == SIM_NONE ? SIM_NONE : r->member_of[setup->nodes[v].first_port + 1];
	}
}

static void operation_fini(struct operation *r)
{
	free(r->seen);
	free(r->received);
	free(r->last);
	free(r->member_of);
	free(r->own);
	free(r->end_of);
	free(r->flows);
	free(r->arrivals);
}

/* ---- trees -------------------------------------------------------------- */

/* Clears the table entries of a host that only sends, so that it receives no copies. */
static void mute(struct subnet *s, const struct mcast_group *g, port_id p)
{
	const struct topo *t = s->topo;
	node_id v = t->ports[p].node;
	port_id at = topo_is_switch(t, v) ? p : t->ports[p].peer;
	struct mft *m = &s->mft[g->subnet];
	switch_id sw = s->switch_of_node[t->ports[at].node];
	unsigned number = t->ports[at].number;

	m->ports[((size_t)(g->mlid - LID_FIRST_MCAST) * s->n_switches + sw) * m->words +
		 number / 64] &= ~(UINT64_C(1) << number % 64);
}

/* Builds one tree that includes all sources and members. */
static enum hd_status plant_shared(struct subnet *s, const struct collective_op *op,
				   struct mcast_group *want, struct diag *d)
{
	port_id *all = hd_alloc((size_t)op->n_members + op->n_sources, sizeof(*all));
	uint32_t n = op->n_members;

	for (uint32_t i = 0; i < n; i++)
		all[i] = op->members[i];
	for (uint32_t i = 0; i < op->n_sources; i++) {
		if (!topo_port_is_among(op->members, op->n_members, op->sources[i]))
			all[n++] = op->sources[i];
	}
	want->members = all;
	want->n_members = n;
	want->source = TOPO_NONE;
	enum hd_status status = mcast_add(s, want, d);

	if (status == HD_OK) {
		struct mcast_group *g = &s->groups[s->n_groups - 1];

		g->n_members = op->n_members;
		for (uint32_t i = op->n_members; i < n; i++)
			mute(s, g, all[i]);
	}
	free(all);
	return status;
}

enum hd_status collective_plant(struct subnet *subnet, const struct collective_op *op,
				struct diag *d)
{
	struct mcast_group want = {
		.method = op->tree,
		.members = (port_id *)op->members,
		.n_members = op->n_members,
		.subnet = subnet->topo->ports[op->members[0]].subnet,
	};
	enum hd_status status = HD_OK;

	mcast_clear(subnet);
	if (op->tree == MCAST_SHARED)
		return plant_shared(subnet, op, &want, d);
	if (op->n_sources > mcast_mlids_left(subnet, want.subnet))
		return diag_fail(d, HD_ERR_FULL,
				 "multicast: a tree per source needs %u MLIDs, the subnet has %u",
				 op->n_sources, mcast_mlids_left(subnet, want.subnet));
	for (uint32_t i = 0; i < op->n_sources && status == HD_OK; i++) {
		want.source = op->sources[i];
		status = mcast_add_parts(subnet, &want, d);
	}
	return status;
}

uint32_t collective_groups(const struct subnet *subnet, const struct collective_op *op, uint32_t i,
			   uint32_t *first)
{
	uint32_t n = 0;

	*first = mcast_has_parts(op->tree) || i >= subnet->n_groups ? 0 : i;
	if (!mcast_has_parts(op->tree))
		return subnet->n_groups ? 1 : 0;
	while (*first < subnet->n_groups && subnet->groups[*first].source != op->sources[i])
		(*first)++;
	while (*first + n < subnet->n_groups && subnet->groups[*first + n].source == op->sources[i])
		n++;
	return n;
}

/* ---- what is sent ------------------------------------------------------- */

/* The k-th destination of source i. Members after the source come first, so
 * that the sources do not all send to one member at the same time. */
static uint32_t member_at(const struct operation *r, uint32_t i, uint32_t k)
{
	uint32_t n = r->op->n_members;

	if (r->own[i] != SIM_NONE)
		return (r->own[i] + 1 + k) % n;
	return (uint32_t)(((uint64_t)i * n / r->op->n_sources + k) % n);
}

/* Number of copies per message of source i; *first: the first of its groups, with multicast. */
static uint32_t copies_of(const struct operation *r, const struct subnet *s, uint32_t i,
			  uint32_t *first)
{
	if (r->scheme == COLLECTIVE_MULTICAST)
		return collective_groups(s, r->op, i, first);
	return r->op->n_members - (r->own[i] != SIM_NONE);
}

static void fill_flow(struct operation *r, const struct subnet *s, uint32_t i,
		      struct sim_arrival *at)
{
	const struct collective_op *op = r->op;
	uint32_t first, n = 0, n_copies = copies_of(r, s, i, &first);

	r->flows[i] = (struct sim_flow){
		.kind = SIM_TRACE,
		.source = r->end_of[op->sources[i]],
		.pkey = 0xffff,
		.to.self = SIM_NONE,
		.packets = 1,
		.trace = at,
	};
	for (uint32_t k = 0; k < n_copies; k++) {
		bool many = r->scheme == COLLECTIVE_MULTICAST;
		lid_t dlid = many ? s->groups[first + k].mlid
				  : s->lid_of_port[op->members[member_at(r, i, k)]];

		for (uint32_t q = 0; q < r->packets; q++) {
			uint32_t turn = op->per_packet ? i + n : i + k;
			uint8_t sl = (uint8_t)(op->sl + turn % op->vls);

			/* The VLs to which a method assigns its groups. */
			if (many && op->tree == MCAST_DOUBLE)
				sl = (uint8_t)(op->sl + s->groups[first + k].sl % op->vls);

			/* Some routing algorithms require their SL for a path. */
			if (r->scheme == COLLECTIVE_UNICAST)
				sl = path_sl(s, op->sources[i], dlid, sl);
			at[n++] = (struct sim_arrival){
				.dlid = dlid,
				.pkey = 0xffff,
				.bytes = packet_bytes(r, q),
				.sl = sl,
			};
		}
	}
	r->flows[i].n_trace = n;
}

static void fill_flows(struct operation *r, const struct subnet *s)
{
	uint32_t n_sources = r->op->n_sources, first;
	size_t n = 0;

	for (uint32_t i = 0; i < n_sources; i++)
		n += (size_t)copies_of(r, s, i, &first) * r->packets;
	r->flows = hd_alloc(n_sources, sizeof(*r->flows));
	r->arrivals = hd_alloc(n, sizeof(*r->arrivals));
	n = 0;
	for (uint32_t i = 0; i < n_sources; i++) {
		fill_flow(r, s, i, &r->arrivals[n]);
		n += r->flows[i].n_trace;
	}
}

/* ---- what arrives ------------------------------------------------------- */

static void count_delivery(struct operation *r, const struct sim_event_record *e, uint32_t member)
{
	uint32_t packet = e->sequence % r->packets;
	size_t pair = (size_t)e->flow * r->op->n_members + member;
	uint64_t *word = &r->seen[pair * r->words + packet / 64];
	uint64_t bit = UINT64_C(1) << packet % 64;

	if (*word & bit) {
		r->out->duplicates++;
		return;
	}
	*word |= bit;
	r->out->reordered += packet != r->received[pair];
	r->received[pair]++;
	r->out->delivered++;
	if (e->time > r->last[member])
		r->last[member] = e->time;
}

static void on_end(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct operation *r = context;
	uint32_t member;

	(void)p;
	if (e->fate != SIM_DELIVERED) {
		r->out->lost[e->fate]++;
		return;
	}
	member = r->member_of[e->where];
	if (member == SIM_NONE || member == r->own[e->flow] ||
	    (r->scheme == COLLECTIVE_UNICAST &&
	     member != member_at(r, e->flow, e->sequence / r->packets)))
		r->out->strays++;
	else
		count_delivery(r, e, member);
}

static void note_pair(struct operation *r, uint32_t i, uint32_t member)
{
	struct collective_result *out = r->out;
	size_t pair = (size_t)i * r->op->n_members + member;
	uint32_t lacks = r->packets - r->received[pair];

	out->messages++;
	out->packets += r->packets;
	if (lacks == 0)
		return;
	out->member_lacks[member] += lacks;
	out->lacking =
		hd_grow(out->lacking, &out->lacking_cap, out->n_lacking + 1, sizeof(*out->lacking));
	out->lacking[out->n_lacking++] = (struct collective_pair){ .source = i, .member = member };
}

static void conclude(struct operation *r)
{
	struct collective_result *out = r->out;
	uint32_t n = r->op->n_members, served = 0;

	out->member_done = hd_alloc(n, sizeof(*out->member_done));
	out->member_lacks = hd_alloc(n, sizeof(*out->member_lacks));
	for (uint32_t i = 0; i < r->op->n_sources; i++) {
		for (uint32_t k = 0; k < n; k++) {
			if (k != r->own[i])
				note_pair(r, i, k);
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		bool whole = out->member_lacks[k] == 0;

		out->member_done[k] = whole ? r->last[k] : HD_TIME_NEVER;
		if (out->member_done[k] > out->completion)
			out->completion = out->member_done[k];
		/* A source that is the only member receives nothing. */
		if (!whole || r->last[k] == 0)
			continue;
		out->mean += (double)r->last[k];
		served++;
	}
	if (served)
		out->mean /= served;
}

static enum hd_status check_op(const struct operation *r, struct diag *d)
{
	const struct collective_op *op = r->op;
	bool bad = false;

	for (uint32_t i = 0; i < op->n_sources; i++)
		bad |= r->end_of[op->sources[i]] == SIM_NONE;
	for (uint32_t i = 0; i < op->n_members; i++)
		bad |= r->end_of[op->members[i]] == SIM_NONE;
	if (bad)
		return diag_fail(d, HD_ERR_INPUT,
				 "multicast: a source or member is not a host of the fabric");
	if (op->n_members == 1 && op->n_sources == 1 && r->own[0] == 0)
		return diag_fail(d, HD_ERR_INPUT,
				 "multicast: the group has no member but the source itself");
	return HD_OK;
}

static bool show_share(void *context, const struct sim_progress *p)
{
	const struct operation *r = context;
	const struct collective_op *op = r->op;
	double all = (double)op->n_sources * op->n_members * r->packets;

	(void)p;
	return !op->progress || op->progress(op->context, (double)r->out->delivered / all);
}

static enum hd_status simulate(struct operation *op, struct fabric *fabric, struct diag *d)
{
	struct run_load load = { .flows = op->flows, .n_flows = op->op->n_sources };
	const struct run_options options = {
		.load = &load,
		.progress = show_share,
		.context = op,
	};
	const struct sim_observer observer = { .context = op, .ended = on_end };
	struct collective_result *out = op->out;
	struct run *run;

	sim_rules_init(&load.rules);
	load.rules.stop = op->op->horizon;
	load.rules.flow_metrics = false;
	load.rules.port_metrics = false;
	enum hd_status status = run_open(fabric, &options, d, &run);

	if (status != HD_OK)
		return status;
	sim_observe(run_sim(run), &observer);
	status = run_to_end(run, d);
	if (status == HD_OK) {
		const struct sim_metrics *m = sim_metrics(run_sim(run));

		out->state = run_state(run);
		out->out_of_order = m->checks.out_of_order;
		out->hops = m->hops;
		out->n_mlids = op->scheme == COLLECTIVE_MULTICAST ? fabric->subnet.n_groups : 0;
		conclude(op);
	}
	run_close(run);
	return status;
}

enum hd_status collective_run(struct fabric *fabric, const struct collective_op *op,
			      enum collective_scheme scheme, struct diag *d,
			      struct collective_result *out)
{
	struct operation x = { .op = op, .scheme = scheme, .out = out };

	*out = (struct collective_result){ .state = SIM_IDLE };
	operation_init(&x, &fabric->setup);
	enum hd_status status = check_op(&x, d);

	if (status == HD_OK && scheme == COLLECTIVE_MULTICAST)
		status = collective_plant(&fabric->subnet, op, d);
	if (status == HD_OK) {
		fill_flows(&x, &fabric->subnet);
		status = fabric_limits_check(&fabric->setup, x.flows, op->n_sources, d);
	}
	if (status == HD_OK)
		status = simulate(&x, fabric, d);
	operation_fini(&x);
	return status;
}

void collective_result_fini(struct collective_result *r)
{
	free(r->member_done);
	free(r->member_lacks);
	free(r->lacking);
	*r = (struct collective_result){ .state = SIM_IDLE };
}
