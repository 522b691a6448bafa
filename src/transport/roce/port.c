/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/roce/port.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MOST_PAYLOAD = 4096 };

struct roce_member {
	struct qp *qp;
};

struct roce_port {
	struct roce_address own;
	struct neighbours *neighbours;
	struct qp **by_number; /* by the low bits of the number */
	uint32_t qpn_mask;
	struct roce_member *members;
	size_t n, cap;
	size_t turn; /* index of the queue pair that sends next */
};

struct roce_port *roce_port_new(const struct roce_address *own, unsigned qpn_bits)
{
	struct roce_port *p = hd_alloc(1, sizeof(*p));

	p->own = *own;
	p->qpn_mask = (1u << qpn_bits) - 1;
	p->by_number = hd_alloc((size_t)p->qpn_mask + 1, sizeof(struct qp *));
	p->neighbours = neighbours_new(own);
	return p;
}

void roce_port_free(struct roce_port *p)
{
	neighbours_free(p->neighbours);
	free(p->by_number);
	free(p->members);
	free(p);
}

/* ---- queue pairs */

static struct qp **place_of(struct roce_port *p, uint32_t qpn)
{
	return &p->by_number[qpn & p->qpn_mask];
}

void roce_port_add(struct roce_port *p, struct qp *qp)
{
	struct qp **place = place_of(p, qp_params(qp)->qpn);

	assert(!*place);
	*place = qp;
	p->members = hd_grow(p->members, &p->cap, p->n + 1, sizeof(*p->members));
	p->members[p->n++].qp = qp;
}

void roce_port_remove(struct roce_port *p, const struct qp *qp)
{
	size_t i = 0;

	while (p->members[i].qp != qp)
		i++;
	p->n--;
	memmove(p->members + i, p->members + i + 1, (p->n - i) * sizeof(*p->members));
	*place_of(p, qp_params(qp)->qpn) = NULL;
}

/* ---- what comes in */

static bool is_ours(const struct roce_port *p, const struct roce *r)
{
	const uint8_t *own = p->own.gid[r->ip_version == 4 ? ROCE_GID_IPV4 : ROCE_GID_LINK];

	return memcmp(r->dst_mac, p->own.mac, MAC_SIZE) == 0 && memcmp(r->dst, own, GID_SIZE) == 0;
}

/* Fills the GRH of queue pairs from the IP header. */
static void fill_grh(struct roce *r)
{
	struct packet *p = &r->packet;

	p->lrh = (struct lrh){ 0 };
	p->headers |= HEADER_BIT(HEADER_GRH);
	p->grh = (struct grh){
		.ip_ver = r->ip_version,
		.tclass = r->tclass,
		.next_header = ROCE_PROTOCOL,
		.hop_limit = r->hop_limit,
		.flow_label = r->flow_label,
		.pay_len = (uint16_t)(UDP_SIZE + packet_transport_size(p) + ICRC_SIZE),
	};
	memcpy(p->grh.sgid, r->src, GID_SIZE);
	memcpy(p->grh.dgid, r->dst, GID_SIZE);
	p->bth.fecn = p->bth.becn = false;
}

void roce_port_receive(struct roce_port *p, const uint8_t *frame, size_t size, hd_time now)
{
	struct diag d = { .status = HD_OK };
	struct roce r;

	if (wire_roce_decode(frame, size, &d, &r) != HD_OK) {
		neighbours_receive(p->neighbours, frame, size);
		return;
	}
	struct qp *qp = *place_of(p, r.packet.bth.dest_qp);

	if (!qp || qp_params(qp)->qpn != r.packet.bth.dest_qp || !is_ours(p, &r) ||
	    wire_roce_check(frame, size) != CRC_GOOD)
		return;
	fill_grh(&r);
	qp_receive(qp, &r.packet, now);
}

/* ---- what goes out */

/* Flows are distinguished by their UDP source port: one for a pair's way. */
static uint16_t source_port(const struct packet *p, uint32_t qpn)
{
	return (uint16_t)(0xC000 | ((qpn ^ p->bth.dest_qp) & 0x3FFF));
}

static void send_packet(struct roce_port *p, const struct qp *qp, struct packet *packet,
			hd_time now)
{
	const struct grh *to = &packet->grh;
	bool is_v4 = gid_is_ipv4(to->dgid);
	uint8_t frame[ROCE_MAX];
	size_t size;
	struct roce r = {
		.ip_version = is_v4 ? 4 : 6,
		.tclass = to->tclass,
		.hop_limit = to->hop_limit,
		.flow_label = to->flow_label,
		.src_port = source_port(packet, qp_params(qp)->qpn),
	};

	memcpy(r.src_mac, p->own.mac, MAC_SIZE);
	memcpy(r.src, p->own.gid[is_v4 ? ROCE_GID_IPV4 : ROCE_GID_LINK], GID_SIZE);
	memcpy(r.dst, to->dgid, GID_SIZE);
	r.packet = *packet;
	r.packet.headers &= (header_set) ~(HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_GRH));
	if (wire_roce_encode(&r, frame, sizeof(frame), &size) == HD_OK)
		neighbours_send(p->neighbours, to->dgid, frame, size, now);
}

bool roce_port_next(struct roce_port *p, hd_time now, uint8_t *frame, size_t *size)
{
	uint8_t payload[MOST_PAYLOAD];
	struct packet packet;

	/* A turn each; a packet may wait there for its neighbour. */
	for (size_t in_vain = 0; in_vain < p->n;) {
		if (neighbours_next(p->neighbours, frame, ROCE_MAX, size))
			return true;
		struct qp *qp = p->members[p->turn++ % p->n].qp;

		if (!qp_has_packet(qp, now) || !qp_transmit(qp, now, &packet, payload)) {
			in_vain++;
			continue;
		}
		in_vain = 0;
		if (packet_has(&packet, HEADER_GRH))
			send_packet(p, qp, &packet, now);
		qp_sent(qp, &packet);
	}
	return neighbours_next(p->neighbours, frame, ROCE_MAX, size);
}

/* ---- time */

hd_time roce_port_due(const struct roce_port *p)
{
	hd_time due = neighbours_due(p->neighbours);

	for (size_t i = 0; i < p->n; i++)
		if (qp_due(p->members[i].qp) < due)
			due = qp_due(p->members[i].qp);
	return due;
}

void roce_port_timer(struct roce_port *p, hd_time now)
{
	neighbours_timer(p->neighbours, now);
	for (size_t i = 0; i < p->n; i++)
		if (qp_due(p->members[i].qp) <= now)
			qp_timer(p->members[i].qp, now);
}
