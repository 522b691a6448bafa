/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "subnet/routing/router.h"

__extension__ typedef unsigned __int128 u128;

#define BITS_TIMES_PS UINT64_C(8000000000000) /* per byte and second */

bool fabric_address(const struct fabric *fabric, port_id from, port_id to, struct sim_address *out)
{
	const struct subnet *s = &fabric->subnet;
	bool local = fabric->topo.ports[from].subnet == fabric->topo.ports[to].subnet;

	out->dlid = local ? s->lid_of_port[to] : route_dlid(s, from, to);
	out->target = local ? TOPO_NONE : to;
	return out->dlid != 0;
}

/* num/den in lowest terms, rounded if it does not fit. */
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

/* Mean gap between messages of a paced flow; most messages are one packet. */
static struct sim_interval mean_interval(const struct fabric *fabric, const struct scn_traffic *t,
					 port_id source, port_id target)
{
	if (t->rate.num)
		return make_interval((u128)BITS_TIMES_PS * t->payload * t->rate.den, t->rate.num);
	const struct sim_port *port = &fabric->setup.ports[fabric->port_of_origin[source]];
	uint64_t mtu = fabric->scenario->fabric.mtu;
	uint64_t packets = t->payload > mtu ? (t->payload + mtu - 1) / mtu : 1;
	uint64_t wire = t->payload + packets * scenario_overhead(fabric->scenario, t);

	if (target != TOPO_NONE &&
	    fabric->topo.ports[source].subnet != fabric->topo.ports[target].subnet)
		wire += fabric->grh_bytes;
	u128 num = (u128)BITS_TIMES_PS * wire * port->rate.den;
	u128 den = port->rate.num;

	/* Shares are short decimals; long ones lose digits, not their size. */
	return make_interval(num * t->load.den, den * t->load.num);
}

/* While on, packets follow each other that much faster. */
static struct sim_interval scale(struct sim_interval mean, hd_time on, hd_time off)
{
	/* Picoseconds beyond 2^40 do not change a mean. */
	while ((on | off) >> 40) {
		on >>= 1;
		off >>= 1;
	}
	u128 num = (u128)mean.num * on, den = (u128)mean.den * (on + off);

	return make_interval(num, den ? den : 1);
}

static void set_pacing(struct fabric *fabric, const struct scn_traffic *t, port_id source,
		       port_id target, struct sim_flow *f)
{
	struct sim_interval mean = mean_interval(fabric, t, source, target);

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

struct sim_flow *fabric_add_flow(struct fabric *fabric, uint32_t row, port_id source,
				 port_id target)
{
	const struct scn_traffic *t = &fabric->scenario->traffic[row];

	fabric->flows = hd_grow(fabric->flows, &fabric->flows_cap, fabric->n_flows + 1,
				sizeof(*fabric->flows));
	fabric->flow_target = hd_grow(fabric->flow_target, &fabric->target_cap, fabric->n_flows + 1,
				      sizeof(*fabric->flow_target));
	fabric->flow_target[fabric->n_flows] = target;
	const struct sim_flow *before =
		fabric->n_flows ? &fabric->flows[fabric->n_flows - 1] : NULL;
	bool is_first = !before || before->row != row;
	uint64_t stream = is_first ? fabric_stream(STREAM_FLOWS, t->name) : before->stream + 1;
	struct sim_flow *f = &fabric->flows[fabric->n_flows++];

	*f = (struct sim_flow){
		.kind = t->kind,
		.stream = stream,
		.source = fabric->end_of_origin[source],
		.row = row,
		.copies = 1,
		.to.self = SIM_NONE,
		.sl = (uint8_t)scenario_sl(fabric->scenario, t),
		.pkey = fabric_key(fabric, t->partition, source, TOPO_NONE),
		.management = t->management,
		.posted = t->transport != SCN_NO_TRANSPORT,
		.start = t->start,
		.stop = t->stop == HD_TIME_NEVER ? 0 : t->stop,
		.count = t->count == SCN_UNLIMITED ? 0 : t->count,
	};
	f->grh_bytes = fabric->grh_bytes;
	f->tclass = fabric_tclass(t, f->sl);
	f->hop_limit = (uint8_t)t->hop_limit;
	set_size(fabric->scenario, t, f);
	if (t->payload_scv > 0) {
		f->size_scv = t->payload_scv;
		f->size_mean = (double)t->payload;
		f->size_overhead = (uint32_t)scenario_overhead(fabric->scenario, t);
		f->bytes = (uint32_t)(fabric->scenario->fabric.mtu) + f->size_overhead;
	}
	if (t->kind <= SIM_PARETO)
		set_pacing(fabric, t, source, target, f);
	if (t->kind == SIM_BURST && f->count == 0)
		f->count = 1;
	return f;
}

void fabric_copy_flow(struct fabric *fabric, uint32_t flow)
{
	const struct sim_flow from = fabric->flows[flow];
	port_id source =
		fabric->setup.ports[fabric->setup.nodes[from.source].first_port + 1].origin;
	struct sim_flow *to = fabric_add_flow(fabric, from.row, source, fabric->flow_target[flow]);
	uint64_t stream = to->stream;

	*to = from;
	to->stream = stream;
}

void fabric_drop_flows(struct fabric *fabric, uint32_t first, uint32_t n)
{
	uint32_t rest = fabric->n_flows - first - n;

	if (n == 0)
		return;
	memmove(&fabric->flows[first], &fabric->flows[first + n], rest * sizeof(*fabric->flows));
	memmove(&fabric->flow_target[first], &fabric->flow_target[first + n],
		rest * sizeof(*fabric->flow_target));
	fabric->n_flows -= n;
}
