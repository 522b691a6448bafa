/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/service.h"

#include <math.h>

#include "subnet/tables/packet.h"

static uint32_t largest(const struct broker *b)
{
	return b->params.quantum;
}

static uint32_t quantum(const struct broker *b)
{
	uint32_t blocks = largest(b);

	return blocks && blocks < ENTRY_SLOTS ? blocks : ENTRY_SLOTS;
}

/* Whether unreserved packets are sent on the VL. */
static bool is_open(const struct broker *b, port_id port, unsigned vl)
{
	return b->links[port].unreserved_vls >> vl & 1;
}

/* An unreserved VL's packets are at most as large as what it overshoots by. */
static uint8_t scaled(const struct broker *b, port_id port, const struct vlarb_entry *e)
{
	uint32_t most = largest(b), q = quantum(b);
	uint32_t weight = ((uint32_t)e->weight * q + ENTRY_SLOTS - 1) / ENTRY_SLOTS;

	if (e->weight == 0 || !(b->links[port].rest_vls >> e->vl & 1))
		return (uint8_t)weight;
	return (uint8_t)(weight < most ? 1 : weight - most + 1);
}

void service_scale(const struct broker *b, port_id port, struct vlarb *t)
{
	if (quantum(b) == ENTRY_SLOTS)
		return;
	for (unsigned i = 0; i < t->n_high; i++)
		t->high[i].weight = scaled(b, port, &t->high[i]);
	for (unsigned i = 0; i < t->n_low; i++)
		t->low[i].weight = scaled(b, port, &t->low[i]);
}

/* Whether a VL may have packets at every visit. */
static bool is_greedy(const struct broker *b, port_id port, unsigned vl)
{
	return is_open(b, port, vl) || b->links[port].packets[vl].n_greedy;
}

/* Most blocks that a VL sends in one visit. */
static uint32_t most_sent(const struct broker *b, port_id port, unsigned vl, uint32_t weight)
{
	const struct broker_packets *p = &b->links[port].packets[vl];

	if (is_open(b, port, vl) || p->n == 0)
		return weight - 1 + largest(b);
	if (p->least == p->most)
		return (weight + p->most - 1) / p->most * p->most;
	return weight - 1 + p->most;
}

/* Service in one round of the low table, in blocks. */
struct round {
	uint64_t served[N_DATA_VLS]; /* least service of a VL that always has packets */
	uint64_t sent[N_DATA_VLS];   /* most blocks of VLs that may have packets at every visit */
	uint64_t greedy;             /* sum of `sent` */
	uint64_t reserved;           /* slots of all other VLs, in both tables */
};

/* Whether a VL other than `vl` may always have packets for an entry. */
static bool is_contender(const struct broker *b, port_id port, unsigned vl,
			 const struct vlarb_entry *e)
{
	return e->weight && e->vl != vl && is_greedy(b, port, e->vl);
}

/*
 * Service of a VL's entries in one round, each at most a visit. If others send more at once than
 * a buffer holds, the next switch finds the VL empty after each such gap: entries of the VL
 * without a contender between them count as one visit.
 */
static uint64_t served_of(const struct broker *b, port_id port, unsigned vl, uint32_t visit)
{
	const struct vlarb_entry *entry = b->links[port].low.entry;
	uint64_t each = 0, served = 0, run = 0, gap = 0, longest = 0;
	unsigned start = 0;

	while (start < FRAME_ENTRIES && !is_contender(b, port, vl, &entry[start]))
		start++;
	for (unsigned i = 1; i <= FRAME_ENTRIES; i++) {
		const struct vlarb_entry *e = &entry[(start + i) % FRAME_ENTRIES];
		uint32_t weight = scaled(b, port, e);

		if (is_contender(b, port, vl, e)) {
			served += run < visit ? run : visit;
			run = 0;
			gap += most_sent(b, port, e->vl, weight);
			longest = gap > longest ? gap : longest;
		} else if (e->weight && e->vl == vl) {
			each += weight < visit ? weight : visit;
			run += weight;
			gap = 0;
		}
	}
	return longest <= 2 * (uint64_t)visit + largest(b) ? each : served;
}

static struct round round_of(const struct broker *b, port_id port, uint32_t visit)
{
	const struct broker_link *link = &b->links[port];
	struct round r = { .reserved = 0 };

	for (unsigned i = 0; i < FRAME_ENTRIES; i++) {
		const struct vlarb_entry *e = &link->low.entry[i];

		if (e->weight && is_greedy(b, port, e->vl))
			r.sent[e->vl] += most_sent(b, port, e->vl, scaled(b, port, e));
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		r.served[vl] = served_of(b, port, vl, visit);
		r.greedy += r.sent[vl];
		if (!is_greedy(b, port, vl) && !(link->rest_vls >> vl & 1))
			r.reserved += link->high.slots[vl] + link->low.slots[vl];
	}
	return r;
}

/* Whether a VL with `slots` slots in the low table gets its share. */
static bool is_served(const struct round *r, unsigned vl, uint64_t slots)
{
	uint64_t all = r->reserved + (r->sent[vl] ? slots : 0);

	return all * r->served[vl] + slots * (r->greedy - r->sent[vl]) <=
	       FRAME_SLOTS * r->served[vl];
}

/* A VL of the high table that may always have packets starves the low table. */
static bool high_starves(const struct broker *b, port_id port)
{
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (b->links[port].high.slots[vl] && b->links[port].packets[vl].n_greedy)
			return true;
	}
	return false;
}

/* Size of a buffer in whole packets, in blocks. */
static uint32_t whole_packets(const struct broker *b, uint32_t bytes)
{
	return bytes / BLOCK_BYTES / largest(b) * largest(b);
}

/* Blocks that a visit finds in a buffer: half of it, less a packet whose credits are returning. */
static uint32_t found_in(const struct broker *b, uint32_t bytes)
{
	uint32_t whole = whole_packets(b, bytes);

	return whole < largest(b) ? 0 : (whole - largest(b)) / 2;
}

/* Whether the output has a queue, which a crossbar fills. */
static bool has_crossbar(const struct broker *b, port_id port)
{
	return b->params.latency.speedup.den &&
	       topo_node_of(b->subnet->topo, port)->kind != NODE_CA;
}

double service_crossing(const struct broker *b, port_id port)
{
	const struct topo_node *n = topo_node_of(b->subnet->topo, port);
	struct hd_ratio speedup = b->params.latency.speedup;
	double least =
		hd_rate_bps(b->links[port].rate) / 8 * (double)speedup.num / (double)speedup.den;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct hd_rate link = b->links[n->first_port + i].rate;

		if (link.num)
			least = fmin(least, hd_rate_bps(link) / 8);
	}
	return least;
}

/*
 * Whether a VL with `slots` slots gets its share of the crossbar, where each of its packets
 * waits for one packet of each VL that may always have one.
 */
static bool crosses(const struct broker *b, port_id port, unsigned vl, uint64_t slots)
{
	const struct broker_link *link = &b->links[port];
	double blocks = FRAME_SLOTS * service_crossing(b, port) * 8 / hd_rate_bps(link->rate);
	double packet = blocks_of(b->params.latency.largest), in_turn = 0, reserved = 0;

	for (unsigned i = 0; i < N_DATA_VLS; i++) {
		const struct broker_packets *p = &link->packets[i];

		if (i != vl && is_greedy(b, port, i))
			in_turn += is_open(b, port, i) ? packet : p->most;
		else if (!(link->rest_vls >> i & 1))
			reserved += link->high.slots[i] + link->low.slots[i];
	}
	return reserved + (double)slots * in_turn / link->packets[vl].least <= blocks;
}

/* Blocks that a VL has ready at a visit, for any tables of neighbours. */
static uint32_t visit_of(const struct broker *b, port_id port)
{
	const struct topo *t = b->subnet->topo;
	const struct latency_model *m = &b->params.latency;
	port_id peer = t->ports[port].peer;
	uint32_t far = found_in(b, m->in_bytes[port]);
	uint32_t near = found_in(b, m->in_bytes[peer]);
	uint32_t least = UINT32_MAX;

	if (t->nodes[t->ports[peer].node].kind != NODE_CA)
		least = far;
	if (t->nodes[t->ports[port].node].kind != NODE_CA && near < least)
		least = near;
	if (has_crossbar(b, port) && whole_packets(b, m->out_bytes[port]) < least)
		least = whole_packets(b, m->out_bytes[port]);
	return least;
}

/* Whether the credits of a buffer cover a share over the time until they return. */
static bool credits_last(const struct broker *b, port_id port, uint64_t slots)
{
	const struct latency_model *m = &b->params.latency;
	const struct broker_link *link = &b->links[port];
	uint64_t packet = (uint64_t)largest(b) * BLOCK_BYTES;
	uint64_t bytes = whole_packets(b, m->in_bytes[port]) * BLOCK_BYTES;
	double loop = 2 * (double)m->propagation[port] + (double)m->routing +
		      (double)m->arbitration + 2 * (double)hd_rate_duration(link->rate, packet);
	double share = (double)slots / FRAME_SLOTS;
	double needed = share * hd_rate_bps(link->rate) / 8 * loop / (double)HD_S;

	return bytes >= 2 * packet && needed <= (double)bytes;
}

/* With strict priority, a VL waits for all lower-numbered VLs. */
static bool comes_after_open(const struct broker *b, port_id port, unsigned vl)
{
	return b->params.latency.strict && b->links[port].rest_vls & ((1u << vl) - 1);
}

/* Whether the high table, which has a limit, gives its VLs their shares. */
static bool high_suffices(const struct broker *b, port_id port)
{
	const struct broker_link *link = &b->links[port];
	uint64_t limit = (uint64_t)b->params.latency.high_limit * 64;

	if (b->params.latency.high_limit == 255 || link->high.total == 0)
		return true;
	return (uint64_t)link->high.total * (limit + largest(b)) <= limit * FRAME_SLOTS;
}

/* Whether unreserved traffic is sent at the port. */
static bool is_contended(const struct broker *b, port_id port)
{
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (b->links[port].packets[vl].n_greedy)
			return true;
	}
	return b->links[port].unreserved_vls != 0;
}

const char *service_lacks(const struct broker *b, port_id port)
{
	const struct broker_link *link = &b->links[port];

	if (b->params.no_service)
		return b->params.no_service;
	if (!b->params.quantum || !b->params.latency.in_bytes || !is_contended(b, port))
		return NULL;
	const struct round r = round_of(b, port, visit_of(b, port));

	if (!b->params.latency.strict && !high_suffices(b, port))
		return "its high limit serves unreserved packets too often";
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		uint64_t low = link->rest_vls >> vl & 1 ? 0 : link->low.slots[vl];
		uint64_t slots = low + link->high.slots[vl];

		if (link->packets[vl].n == 0 || slots == 0)
			continue;
		if (!credits_last(b, port, slots))
			return "its buffers have too few credits for the rate";
		if (has_crossbar(b, port) && !crosses(b, port, vl, slots))
			return "its crossbar serves less than is asked";
		if (comes_after_open(b, port, vl))
			return "its order is strict, with unreserved packets before";
		if (b->params.latency.strict || low == 0)
			continue;
		if (high_starves(b, port))
			return "a connection of its high table sends all it can";
		if (!is_served(&r, vl, low))
			return "its buffers and entries serve less than is asked";
	}
	return NULL;
}
