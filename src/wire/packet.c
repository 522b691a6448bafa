/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/packet.h"

#include "wire/crc.h"

#define ROUTE_HEADERS (HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_GRH) | HEADER_BIT(HEADER_RWH))

header_set packet_transport_headers(const struct packet *p)
{
	return p->headers & (header_set)~ROUTE_HEADERS;
}

/* The extended headers of `set`, in their order on the wire. */
static void read_extended(struct byte_reader *r, header_set set, struct packet *out)
{
	if (set & HEADER_BIT(HEADER_RDETH))
		rdeth_read(r, &out->rdeth);
	if (set & HEADER_BIT(HEADER_DETH))
		deth_read(r, &out->deth);
	if (set & HEADER_BIT(HEADER_XRCETH))
		xrceth_read(r, &out->xrceth);
	if (set & HEADER_BIT(HEADER_FETH))
		feth_read(r, &out->feth);
	if (set & HEADER_BIT(HEADER_RETH))
		reth_read(r, &out->reth);
	if (set & HEADER_BIT(HEADER_ATOMICETH))
		atomiceth_read(r, &out->atomiceth);
	if (set & HEADER_BIT(HEADER_AETH))
		aeth_read(r, &out->aeth);
	if (set & HEADER_BIT(HEADER_ATOMICACKETH))
		atomicacketh_read(r, &out->atomicacketh);
	if (set & HEADER_BIT(HEADER_IMMDT))
		immdt_read(r, &out->immdt);
	if (set & HEADER_BIT(HEADER_IETH))
		ieth_read(r, &out->ieth);
}

static void write_extended(struct byte_writer *w, const struct packet *p)
{
	header_set set = p->headers;

	if (set & HEADER_BIT(HEADER_RDETH))
		rdeth_write(w, &p->rdeth);
	if (set & HEADER_BIT(HEADER_DETH))
		deth_write(w, &p->deth);
	if (set & HEADER_BIT(HEADER_XRCETH))
		xrceth_write(w, &p->xrceth);
	if (set & HEADER_BIT(HEADER_FETH))
		feth_write(w, &p->feth);
	if (set & HEADER_BIT(HEADER_RETH))
		reth_write(w, &p->reth);
	if (set & HEADER_BIT(HEADER_ATOMICETH))
		atomiceth_write(w, &p->atomiceth);
	if (set & HEADER_BIT(HEADER_AETH))
		aeth_write(w, &p->aeth);
	if (set & HEADER_BIT(HEADER_ATOMICACKETH))
		atomicacketh_write(w, &p->atomicacketh);
	if (set & HEADER_BIT(HEADER_IMMDT))
		immdt_write(w, &p->immdt);
	if (set & HEADER_BIT(HEADER_IETH))
		ieth_write(w, &p->ieth);
}

/* The remaining bytes are payload and padding. */
static enum hd_status take_payload(const struct byte_reader *r, struct diag *d, struct packet *out)
{
	size_t left = reader_left(r);
	size_t pad = out->bth.pad;

	if (pad > left)
		return diag_fail(d, HD_ERR_INPUT, "pad count %zu, but only %zu bytes of payload",
				 pad, left);
	if (left > 0 && !(opcode_flags(out->bth.opcode) & OPCODE_PAYLOAD))
		return diag_fail(d, HD_ERR_INPUT,
				 "%zu bytes after the headers of %s %s, which has no payload", left,
				 opcode_service_name(out->bth.opcode),
				 opcode_operation_name(out->bth.opcode));
	out->payload = r->at;
	out->payload_len = left - pad;
	return HD_OK;
}

enum hd_status packet_decode_transport(const uint8_t *bytes, size_t size, struct diag *d,
				       struct packet *out)
{
	struct byte_reader r;

	reader_init(&r, bytes, size);
	bth_read(&r, &out->bth);
	if (r.failed)
		return diag_fail(d, HD_ERR_INPUT, "%zu bytes are too few for a BTH (%d)", size,
				 BTH_SIZE);
	if (out->bth.tver != 0)
		return diag_fail(d, HD_ERR_INPUT, "transport version %u, expected 0",
				 out->bth.tver);
	header_set set = opcode_headers(out->bth.opcode);

	if (!set)
		return diag_fail(d, HD_ERR_INPUT, "unknown opcode 0x%02x", out->bth.opcode);
	read_extended(&r, set, out);
	if (r.failed)
		return diag_fail(d, HD_ERR_INPUT,
				 "%zu bytes are too few for the headers of %s %s (%zu)", size,
				 opcode_service_name(out->bth.opcode),
				 opcode_operation_name(out->bth.opcode), header_set_size(set));
	out->headers |= set;
	return take_payload(&r, d, out);
}

static size_t padding(const struct packet *p)
{
	return (4 - p->payload_len % 4) % 4;
}

size_t packet_transport_size(const struct packet *p)
{
	return header_set_size(packet_transport_headers(p)) + p->payload_len + padding(p);
}

void packet_write_transport(struct byte_writer *w, const struct packet *p)
{
	struct bth bth = p->bth;

	bth.pad = (uint8_t)padding(p);
	bth_write(w, &bth);
	write_extended(w, p);
	write_bytes(w, p->payload, p->payload_len);
	write_bytes(w, NULL, padding(p));
}

/* The payload of a raw packet extends to its VCRC. */
static enum hd_status raw_decode(struct byte_reader *r, struct packet *out)
{
	if (out->lrh.lnh == LNH_RAW) {
		rwh_read(r, &out->rwh);
		out->headers |= HEADER_BIT(HEADER_RWH);
	} else {
		grh_read(r, &out->grh);
		out->headers |= HEADER_BIT(HEADER_GRH);
	}
	out->payload = r->at;
	out->payload_len = reader_left(r);
	return r->failed ? HD_ERR_INPUT : HD_OK;
}

static enum hd_status grh_decode(struct byte_reader *r, struct diag *d, struct packet *out)
{
	struct grh *g = &out->grh;

	grh_read(r, g);
	if (r->failed)
		return diag_fail(d, HD_ERR_INPUT, "packet ends inside its GRH (%d bytes)",
				 GRH_SIZE);
	if (g->ip_ver != GRH_IP_VERSION)
		return diag_fail(d, HD_ERR_INPUT, "GRH with IP version %u, expected 6", g->ip_ver);
	if (g->next_header != GRH_NEXT_IBA)
		return diag_fail(d, HD_ERR_INPUT, "GRH with next header 0x%02x, expected 0x1b",
				 g->next_header);
	if (g->pay_len != reader_left(r) + ICRC_SIZE)
		return diag_fail(d, HD_ERR_INPUT, "GRH says %u bytes follow, but %zu do",
				 g->pay_len, reader_left(r) + ICRC_SIZE);
	out->headers |= HEADER_BIT(HEADER_GRH);
	return HD_OK;
}

static enum hd_status lrh_decode(struct byte_reader *r, size_t size, struct diag *d,
				 struct packet *out)
{
	lrh_read(r, &out->lrh);
	if (r->failed || size < LRH_SIZE + VCRC_SIZE)
		return diag_fail(d, HD_ERR_INPUT,
				 "%zu bytes are too few for an LRH and a VCRC (%d)", size,
				 LRH_SIZE + VCRC_SIZE);
	if (out->lrh.lver != 0)
		return diag_fail(d, HD_ERR_INPUT, "link version %u, expected 0", out->lrh.lver);
	size_t said = (size_t)out->lrh.pkt_len * 4 + VCRC_SIZE;

	if (said != size)
		return diag_fail(d, HD_ERR_INPUT,
				 "packet is cut or padded: PktLen %u means %zu bytes, here are %zu",
				 out->lrh.pkt_len, said, size);
	out->headers = HEADER_BIT(HEADER_LRH);
	return HD_OK;
}

/* Decodes from the end of the LRH to the ICRC; the VCRC has been removed from `r`. */
static enum hd_status iba_decode(struct byte_reader *r, struct diag *d, struct packet *out)
{
	if (reader_left(r) < ICRC_SIZE)
		return diag_fail(d, HD_ERR_INPUT, "packet is too short for an ICRC");
	r->end -= ICRC_SIZE;
	out->icrc = load_le32(r->end);
	if (out->lrh.lnh == LNH_GLOBAL && grh_decode(r, d, out) != HD_OK)
		return d->status;
	return packet_decode_transport(r->at, reader_left(r), d, out);
}

enum hd_status packet_decode(const uint8_t *bytes, size_t size, struct diag *d, struct packet *out)
{
	struct byte_reader r;

	reader_init(&r, bytes, size);
	if (lrh_decode(&r, size, d, out) != HD_OK)
		return d->status;
	r.end -= VCRC_SIZE;
	out->vcrc = load_le16(r.end);
	if (out->lrh.lnh == LNH_LOCAL || out->lrh.lnh == LNH_GLOBAL)
		return iba_decode(&r, d, out);
	if (raw_decode(&r, out) != HD_OK)
		return diag_fail(d, HD_ERR_INPUT, "raw packet of %zu bytes ends in its header",
				 size);
	return HD_OK;
}

void packet_init(struct packet *p, uint8_t opcode)
{
	*p = (struct packet){
		.headers = HEADER_BIT(HEADER_LRH) | opcode_headers(opcode),
		.bth = { .opcode = opcode, .pkey = 0xFFFF },
		.grh = { .ip_ver = GRH_IP_VERSION, .next_header = GRH_NEXT_IBA },
	};
}

static bool is_iba(const struct packet *p)
{
	return packet_has(p, HEADER_BTH);
}

static enum lnh lnh_of(const struct packet *p)
{
	if (!is_iba(p))
		return packet_has(p, HEADER_GRH) ? LNH_IPV6 : LNH_RAW;
	return packet_has(p, HEADER_GRH) ? LNH_GLOBAL : LNH_LOCAL;
}

/* Size of all headers before the BTH or a raw payload. */
static size_t route_size(const struct packet *p)
{
	return header_set_size(p->headers & ROUTE_HEADERS);
}

/* The length in PktLen, without the VCRC. */
static size_t counted_size(const struct packet *p)
{
	if (is_iba(p))
		return route_size(p) + packet_transport_size(p) + ICRC_SIZE;
	return route_size(p) + p->payload_len + padding(p);
}

size_t packet_size(const struct packet *p)
{
	return counted_size(p) + VCRC_SIZE;
}

static void write_route(struct byte_writer *w, const struct packet *p)
{
	size_t counted = counted_size(p);
	struct lrh lrh = p->lrh;

	lrh.lnh = (uint8_t)lnh_of(p);
	lrh.pkt_len = (uint16_t)(counted / 4);
	lrh_write(w, &lrh);
	if (packet_has(p, HEADER_GRH)) {
		struct grh grh = p->grh;

		grh.pay_len = (uint16_t)(counted - LRH_SIZE - GRH_SIZE);
		grh_write(w, &grh);
	}
	if (packet_has(p, HEADER_RWH))
		rwh_write(w, &p->rwh);
}

/* True if the headers are an LRH and either the opcode's headers or those of a raw packet. */
static bool headers_fit(const struct packet *p)
{
	header_set route = p->headers & ROUTE_HEADERS;
	header_set rest = packet_transport_headers(p);

	if (!packet_has(p, HEADER_LRH))
		return false;
	if (rest)
		return rest == opcode_headers(p->bth.opcode) && !(route & HEADER_BIT(HEADER_RWH));
	return route == (HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_RWH)) ||
	       route == (HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_GRH));
}

enum hd_status packet_encode(const struct packet *p, uint8_t *bytes, size_t room, size_t *size)
{
	struct byte_writer w;

	if (!headers_fit(p))
		return HD_ERR_UNFIT;
	if (packet_size(p) > PACKET_MAX)
		return HD_ERR_RANGE;
	if (packet_size(p) > room)
		return HD_ERR_FULL;
	writer_init(&w, bytes, room);
	write_route(&w, p);
	if (is_iba(p)) {
		packet_write_transport(&w, p);
		size_t covered = (size_t)(w.at - bytes);
		uint8_t *icrc = write_room(&w, ICRC_SIZE);

		store_le32(icrc, packet_icrc(bytes, covered));
	} else {
		write_bytes(&w, p->payload, p->payload_len);
		write_bytes(&w, NULL, padding(p));
	}
	size_t covered = (size_t)(w.at - bytes);

	store_le16(write_room(&w, VCRC_SIZE), crc16(bytes, covered));
	*size = covered + VCRC_SIZE;
	return HD_OK;
}

/*
 * The ICRC does not cover fields that change on the path: a router rewrites the LRH and parts of
 * the GRH, a switch changes the VL, and both may set FECN or BECN.
 */
uint32_t packet_icrc(const uint8_t *bytes, size_t size)
{
	uint8_t head[LRH_SIZE + GRH_SIZE + BTH_SIZE];
	size_t bth = LRH_SIZE;

	if ((bytes[1] & 3) == LNH_GLOBAL) {
		bth += GRH_SIZE;
		memset(head, 0xFF, LRH_SIZE);
		memcpy(head + LRH_SIZE, bytes + LRH_SIZE, GRH_SIZE + BTH_SIZE);
		head[LRH_SIZE] |= 0x0F;
		memset(head + LRH_SIZE + 1, 0xFF, 3);
		head[LRH_SIZE + 7] = 0xFF;
	} else {
		memcpy(head, bytes, LRH_SIZE + BTH_SIZE);
		head[0] |= 0xF0;
	}
	head[bth + 4] = 0xFF;
	uint32_t crc = crc32_add(0, head, bth + BTH_SIZE);

	return crc32_add(crc, bytes + bth + BTH_SIZE, size - bth - BTH_SIZE);
}

static enum crc_verdict verdict(bool good)
{
	return good ? CRC_GOOD : CRC_BAD;
}

struct crc_verdicts packet_check(const uint8_t *bytes, size_t size)
{
	struct crc_verdicts v = { CRC_ABSENT, CRC_ABSENT };

	if (size < LRH_SIZE + VCRC_SIZE)
		return v;
	size -= VCRC_SIZE;
	v.vcrc = verdict(crc16(bytes, size) == load_le16(bytes + size));
	unsigned lnh = bytes[1] & 3;
	size_t least = LRH_SIZE + (lnh == LNH_GLOBAL ? GRH_SIZE : 0) + BTH_SIZE + ICRC_SIZE;

	if (lnh == LNH_RAW || lnh == LNH_IPV6 || size < least)
		return v;
	size -= ICRC_SIZE;
	v.icrc = verdict(packet_icrc(bytes, size) == load_le32(bytes + size));
	return v;
}
