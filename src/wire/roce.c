/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/roce.h"

#include "wire/crc.h"

/* Offsets of the parts of a frame in bytes. */
struct roce_layout {
	unsigned version; /* of IP */
	size_t ip, udp, bth;
	size_t end;     /* end of the IP datagram, by its length field */
	size_t udp_end; /* end by UDP's length field */
};

static enum hd_status too_short(struct diag *d, size_t size)
{
	return diag_fail(d, HD_ERR_UNFIT, "not RoCEv2: %zu bytes are too few for its headers",
			 size);
}

/* Finds the EtherType after up to two tags. */
static enum hd_status find_ip(const uint8_t *frame, size_t size, struct diag *d,
			      struct roce_layout *l)
{
	size_t at = ETHER_SIZE - 2;
	unsigned type = size >= ETHER_SIZE ? load_be16(frame + at) : 0;

	for (int tags = 0; tags < 2 && (type == ETHER_VLAN || type == ETHER_SERVICE_VLAN); tags++) {
		at += ETHER_TAG_SIZE;
		type = size >= at + 2 ? load_be16(frame + at) : 0;
	}
	if (size < at + 2)
		return too_short(d, size);
	l->ip = at + 2;
	if (type != ETHER_IPV4 && type != ETHER_IPV6)
		return diag_fail(d, HD_ERR_UNFIT, "not RoCEv2: EtherType 0x%04x", type);
	l->version = type == ETHER_IPV4 ? 4 : 6;
	return HD_OK;
}

static enum hd_status find_udp(const uint8_t *frame, size_t size, struct diag *d,
			       struct roce_layout *l)
{
	const uint8_t *ip = frame + l->ip;
	bool is_v4 = l->version == 4;
	size_t ip_size = is_v4 ? IPV4_SIZE : IPV6_SIZE;

	l->udp = l->ip + ip_size;
	l->bth = l->udp + UDP_SIZE;
	if (size < l->bth)
		return too_short(d, size);
	if (is_v4 ? ip[0] != 0x45 : ip[0] >> 4 != 6)
		return diag_fail(d, HD_ERR_UNFIT, "not RoCEv2: IPv%u header of %u bytes",
				 ip[0] >> 4, is_v4 ? 4 * (ip[0] & 0xFU) : IPV6_SIZE);
	unsigned protocol = is_v4 ? ip[9] : ip[6];

	if (protocol != ROCE_PROTOCOL)
		return diag_fail(d, HD_ERR_UNFIT, "not RoCEv2: IP protocol %u", protocol);
	if (is_v4 && (load_be16(ip + 6) & 0x3FFF))
		return diag_fail(d, HD_ERR_UNFIT, "not RoCEv2: a fragment of a datagram");
	if (load_be16(frame + l->udp + 2) != ROCE_PORT)
		return diag_fail(d, HD_ERR_UNFIT, "not RoCEv2: UDP port %u",
				 load_be16(frame + l->udp + 2));
	l->end = is_v4 ? l->ip + load_be16(ip + 2) : l->udp + load_be16(ip + 4);
	l->udp_end = l->udp + load_be16(frame + l->udp + 4);
	return HD_OK;
}

/* Checks that the datagram is complete, so that its CRC can be computed. */
static enum hd_status locate(const uint8_t *frame, size_t size, struct diag *d,
			     struct roce_layout *l)
{
	*l = (struct roce_layout){ 0 };
	if (find_ip(frame, size, d, l) != HD_OK || find_udp(frame, size, d, l) != HD_OK)
		return d->status;
	if (l->end > size)
		return diag_fail(
			d, HD_ERR_INPUT,
			"packet is truncated: the IP header has %zu bytes, %zu are present",
			l->end - l->ip, size - l->ip);
	if (l->end < l->bth + BTH_SIZE + ICRC_SIZE)
		return diag_fail(d, HD_ERR_INPUT,
				 "IP says %zu bytes, too few for UDP, BTH and ICRC",
				 l->end < l->ip ? 0 : l->end - l->ip);
	return HD_OK;
}

static void map_ipv4(const uint8_t *address, uint8_t *out)
{
	memset(out, 0, 10);
	memset(out + 10, 0xFF, 2);
	memcpy(out + 12, address, 4);
}

static void read_ip(const uint8_t *ip, struct roce *out)
{
	if (out->ip_version == 4) {
		out->tclass = ip[1];
		out->hop_limit = ip[8];
		out->flow_label = 0;
		map_ipv4(ip + 12, out->src);
		map_ipv4(ip + 16, out->dst);
		return;
	}
	uint32_t word = load_be32(ip);

	out->tclass = (uint8_t)(word >> 20);
	out->flow_label = word & 0xFFFFF;
	out->hop_limit = ip[7];
	memcpy(out->src, ip + 8, 16);
	memcpy(out->dst, ip + 24, 16);
}

enum hd_status wire_roce_decode(const uint8_t *frame, size_t size, struct diag *d, struct roce *out)
{
	struct roce_layout l;

	if (locate(frame, size, d, &l) != HD_OK)
		return d->status;
	if (l.udp_end != l.end)
		return diag_fail(d, HD_ERR_INPUT,
				 "UDP length %u does not fit the IP length, %zu left",
				 load_be16(frame + l.udp + 4), l.end - l.udp);
	memcpy(out->dst_mac, frame, 6);
	memcpy(out->src_mac, frame + 6, 6);
	out->has_vlan = l.ip > ETHER_SIZE;
	out->vlan = out->has_vlan ? load_be16(frame + ETHER_SIZE) : 0;
	out->ip_version = (uint8_t)l.version;
	read_ip(frame + l.ip, out);
	out->src_port = load_be16(frame + l.udp);
	out->packet.headers = 0;
	out->packet.icrc = load_le32(frame + l.end - ICRC_SIZE);
	out->packet.vcrc = 0;
	return packet_decode_transport(frame + l.bth, l.end - ICRC_SIZE - l.bth, d, &out->packet);
}

/*
 * Fields that routers and switches change are replaced by ones: type of service, TTL and checksum
 * of IPv4; traffic class, flow label and hop limit of IPv6; the UDP checksum; the BTH's byte of
 * FECN and BECN.
 */
static uint32_t icrc_of(const uint8_t *frame, const struct roce_layout *l)
{
	uint8_t head[LRH_SIZE + IPV6_SIZE + UDP_SIZE + BTH_SIZE];
	size_t covered = l->bth + BTH_SIZE - l->ip;
	uint8_t *ip = head + LRH_SIZE;
	uint8_t *udp = ip + (l->udp - l->ip);

	memset(head, 0xFF, LRH_SIZE);
	memcpy(ip, frame + l->ip, covered);
	if (l->version == 4) {
		ip[1] = 0xFF;
		ip[8] = 0xFF;
		memset(ip + 10, 0xFF, 2);
	} else {
		ip[0] |= 0x0F;
		memset(ip + 1, 0xFF, 3);
		ip[7] = 0xFF;
	}
	memset(udp + 6, 0xFF, 2);
	udp[UDP_SIZE + 4] = 0xFF;
	uint32_t crc = crc32_add(0, head, LRH_SIZE + covered);

	return crc32_add(crc, frame + l->ip + covered, l->end - ICRC_SIZE - (l->ip + covered));
}

enum crc_verdict wire_roce_check(const uint8_t *frame, size_t size)
{
	struct diag d = { .status = HD_OK };
	struct roce_layout l;

	if (locate(frame, size, &d, &l) != HD_OK)
		return CRC_ABSENT;
	bool good = icrc_of(frame, &l) == load_le32(frame + l.end - ICRC_SIZE);

	return good ? CRC_GOOD : CRC_BAD;
}

/* IPv4 checksum: the one's complement sum of all words is -0. */
static uint16_t ipv4_checksum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (int i = 0; i < IPV4_SIZE; i += 2)
		sum += load_be16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return (uint16_t)~sum;
}

static void write_ipv4(struct byte_writer *w, const struct roce *r, size_t payload)
{
	uint8_t *ip = write_room(w, IPV4_SIZE);

	if (!ip)
		return;
	memset(ip, 0, IPV4_SIZE);
	ip[0] = 0x45;
	ip[1] = r->tclass;
	store_be16(ip + 2, (uint16_t)(IPV4_SIZE + payload));
	store_be16(ip + 6, 0x4000); /* do not fragment */
	ip[8] = r->hop_limit;
	ip[9] = ROCE_PROTOCOL;
	memcpy(ip + 12, r->src + 12, 4);
	memcpy(ip + 16, r->dst + 12, 4);
	store_be16(ip + 10, ipv4_checksum(ip));
}

static void write_ipv6(struct byte_writer *w, const struct roce *r, size_t payload)
{
	write_be32(w, UINT32_C(6) << 28 | (uint32_t)r->tclass << 20 | (r->flow_label & 0xFFFFF));
	write_be16(w, (uint16_t)payload);
	write_u8(w, ROCE_PROTOCOL);
	write_u8(w, r->hop_limit);
	write_bytes(w, r->src, 16);
	write_bytes(w, r->dst, 16);
}

static void write_ethernet(struct byte_writer *w, const struct roce *r)
{
	write_bytes(w, r->dst_mac, 6);
	write_bytes(w, r->src_mac, 6);
	if (r->has_vlan) {
		write_be16(w, ETHER_VLAN);
		write_be16(w, r->vlan);
	}
	write_be16(w, r->ip_version == 4 ? ETHER_IPV4 : ETHER_IPV6);
}

enum hd_status wire_roce_encode(const struct roce *r, uint8_t *frame, size_t room, size_t *size)
{
	size_t payload = UDP_SIZE + packet_transport_size(&r->packet) + ICRC_SIZE;
	bool is_v4 = r->ip_version == 4;
	struct roce_layout l = { .version = r->ip_version };
	struct byte_writer w;

	if (packet_transport_headers(&r->packet) != opcode_headers(r->packet.bth.opcode) ||
	    !(is_v4 || r->ip_version == 6))
		return HD_ERR_UNFIT;
	if (payload > PACKET_MAX)
		return HD_ERR_RANGE;
	writer_init(&w, frame, room);
	write_ethernet(&w, r);
	l.ip = (size_t)(w.at - frame);
	if (is_v4)
		write_ipv4(&w, r, payload);
	else
		write_ipv6(&w, r, payload);
	l.udp = (size_t)(w.at - frame);
	l.bth = l.udp + UDP_SIZE;
	l.end = l.udp + payload;
	write_be16(&w, r->src_port);
	write_be16(&w, ROCE_PORT);
	write_be16(&w, (uint16_t)payload);
	write_be16(&w, 0);
	packet_write_transport(&w, &r->packet);
	uint8_t *icrc = write_room(&w, ICRC_SIZE);

	if (w.failed)
		return HD_ERR_FULL;
	store_le32(icrc, icrc_of(frame, &l));
	*size = l.end;
	return HD_OK;
}

void wire_roce_write_grh(const struct grh *h, uint8_t out[GRH_SIZE])
{
	struct roce r = { .tclass = h->tclass, .hop_limit = h->hop_limit };
	struct byte_writer w;

	memset(out, 0, GRH_SIZE);
	if (h->ip_ver != 4) {
		writer_init(&w, out, GRH_SIZE);
		grh_write(&w, h);
		return;
	}
	memcpy(r.src, h->sgid, sizeof(r.src));
	memcpy(r.dst, h->dgid, sizeof(r.dst));
	writer_init(&w, out + GRH_SIZE - IPV4_SIZE, IPV4_SIZE);
	write_ipv4(&w, &r, h->pay_len);
}
