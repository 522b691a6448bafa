/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "subnet/routing/router.h"

__extension__ typedef unsigned __int128 u128;

#define BITS_TIMES_PS UINT64_C(8000000000000) /* per byte and second */

bool fabric_address(const struct fabric *b, port_id from, port_id to, struct sim_address *out)
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
static struct sim_interval mean_interval(const struct fabric *b, const struct scn_traffic *t,
					 port_id source, port_id target)
{
	if (t->rate.num)
		return make_interval((u128)BITS_TIMES_PS * t->payload * t->rate.den, t->rate.num);
	const struct sim_port *port = &b->setup.ports[b->port_of_origin[source]];
	uint64_t mtu = b->scenario->fabric.mtu;
	uint64_t packets = t->payload > mtu ? (t->payload + mtu - 1) / mtu : 1;
	uint64_t wire = t->payload + packets * scenario_overhead(b->scenario, t);

	if (target != TOPO_NONE && b->topo.ports[source].subnet != b->topo.ports[target].subnet)
		wire += b->grh_bytes;
	u128 num = (u128)BITS_TIMES_PS * wire * port->rate.den;
	u128 den = port->rate.num;

	/* Shares are short decimals; long ones lose digits, not their size. */
	return make_interval(num * t->load.den, den * t->load.num);
}

/* While on, packets follow each other that much faster. */
static struct sim_interval scale(struct sim_interval mean, hd_time on, hd_time off)
{
	/* Picoseconds beyond 2^40 make no difference to a mean. */
	while ((on | off) >> 40) {
		on >>= 1;
		off >>= 1;
	}
	u128 num = (u128)mean.num * on, den = (u128)mean.den * (on + off);

	return make_interval(num, den ? den : 1);
}

static void set_pacing(struct fabric *b, const struct scn_traffic *t, port_id source,
		       port_id target, struct sim_flow *f)
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
static void set_size(const struct scenario *s, const struct scn_traffic *t, struct sim_flow *f)
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

uint8_t fabric_tclass(const struct scn_traffic *t, unsigned sl)
{
	return (uint8_t)(t->tclass == SCN_TCLASS_SL ? sl : t->tclass);
}

struct sim_flow *fabric_add_flow(struct fabric *b, uint32_t row, port_id source, port_id target)
{
	const struct scn_traffic *t = &b->scenario->traffic[row];

	b->flows = hd_grow(b->flows, &b->flows_cap, b->n_flows + 1, sizeof(*b->flows));
	b->flow_target =
		hd_grow(b->flow_target, &b->target_cap, b->n_flows + 1, sizeof(*b->flow_target));
	b->flow_target[b->n_flows] = target;
	const struct sim_flow *before = b->n_flows ? &b->flows[b->n_flows - 1] : NULL;
	bool is_first = !before || before->row != row;
	uint64_t stream = is_first ? fabric_stream(STREAM_FLOWS, t->name) : before->stream + 1;
	struct sim_flow *f = &b->flows[b->n_flows++];

	*f = (struct sim_flow){
		.kind = t->kind,
		.stream = stream,
		.source = b->end_of_origin[source],
		.row = row,
		.copies = 1,
		.to.self = SIM_NONE,
		.sl = (uint8_t)scenario_sl(b->scenario, t),
		.pkey = fabric_key(b, t->partition, source, TOPO_NONE),
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
		f->bytes = (uint32_t)(b->scenario->fabric.mtu) + f->size_overhead;
	}
	if (t->kind <= SIM_PARETO)
		set_pacing(b, t, source, target, f);
	if (t->kind == SIM_BURST && f->count == 0)
		f->count = 1;
	return f;
}

void fabric_copy_flow(struct fabric *b, uint32_t flow)
{
	const struct sim_flow from = b->flows[flow];
	port_id source = b->setup.ports[b->setup.nodes[from.source].first_port + 1].origin;
	struct sim_flow *to = fabric_add_flow(b, from.row, source, b->flow_target[flow]);
	uint64_t stream = to->stream;

	*to = from;
	to->stream = stream;
}

void fabric_drop_flows(struct fabric *b, uint32_t first, uint32_t n)
{
	uint32_t rest = b->n_flows - first - n;

	if (n == 0)
		return;
	memmove(&b->flows[first], &b->flows[first + n], rest * sizeof(*b->flows));
	memmove(&b->flow_target[first], &b->flow_target[first + n], rest * sizeof(*b->flow_target));
	b->n_flows -= n;
}
