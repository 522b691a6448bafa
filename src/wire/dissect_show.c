/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "wire/dissect.h"

static const char *const crc_names[] = {
	[CRC_GOOD] = "ok",
	[CRC_BAD] = "BAD",
	[CRC_ABSENT] = "none",
};

/* Prints an IPv4 address in dotted form, other addresses as IPv6. */
static void print_address(const uint8_t *address, bool is_v4, struct strbuf *out)
{
	char text[INET_ADDRSTRLEN];

	if (is_v4 && inet_ntop(AF_INET, address + 12, text, sizeof(text)))
		strbuf_puts(out, text);
	else
		field_print_gid(address, out);
}

static void print_route(const struct dissection *d, struct strbuf *out)
{
	const struct packet *p = d->packet;

	if (d->record->kind == CAPTURE_ETHERNET) {
		bool is_v4 = d->roce.ip_version == 4;

		print_address(d->roce.src, is_v4, out);
		strbuf_puts(out, " > ");
		print_address(d->roce.dst, is_v4, out);
		if (d->roce.has_vlan)
			strbuf_printf(out, " vlan %u", d->roce.vlan & 0xFFF);
		strbuf_printf(out, " dscp %u", d->roce.tclass >> 2);
		if ((d->roce.tclass & 3) == 3)
			strbuf_puts(out, " CE");
		return;
	}
	strbuf_printf(out, "lid %u > %u sl %u vl %u", p->lrh.slid, p->lrh.dlid, p->lrh.sl,
		      p->lrh.vl);
	if (packet_has(p, HEADER_GRH)) {
		strbuf_puts(out, " gid ");
		field_print_gid(p->grh.sgid, out);
		strbuf_puts(out, " > ");
		field_print_gid(p->grh.dgid, out);
	}
}

static void print_aeth(const struct aeth *h, struct strbuf *out)
{
	static const char *const naks[] = { "sequence error", "invalid request",
					    "remote access error", "remote operation error",
					    "invalid RD request" };
	unsigned value = h->syndrome & AETH_VALUE;

	switch (h->syndrome & AETH_KIND) {
	case AETH_ACK:
		strbuf_printf(out, " ack msn %" PRIu32, h->msn);
		return;
	case AETH_RNR_NAK:
		strbuf_printf(out, " RNR-NAK timer %u msn %" PRIu32, value, h->msn);
		return;
	case AETH_NAK:
		strbuf_printf(out, " NAK %s msn %" PRIu32, value < 5 ? naks[value] : "?", h->msn);
		return;
	default:
		strbuf_printf(out, " syndrome 0x%02x msn %" PRIu32, h->syndrome, h->msn);
	}
}

/* Prints a summary of the extended headers. */
static void print_extended(const struct packet *p, struct strbuf *out)
{
	if (packet_has(p, HEADER_RDETH))
		strbuf_printf(out, " ee 0x%" PRIx32, p->rdeth.ee_context);
	if (packet_has(p, HEADER_DETH))
		strbuf_printf(out, " from qp 0x%" PRIx32 " q_key 0x%" PRIx32, p->deth.src_qp,
			      p->deth.qkey);
	if (packet_has(p, HEADER_XRCETH))
		strbuf_printf(out, " srq 0x%" PRIx32, p->xrceth.srqn);
	if (packet_has(p, HEADER_FETH))
		strbuf_printf(out, " flush %u/%u", p->feth.placement, p->feth.selectivity);
	if (packet_has(p, HEADER_RETH))
		strbuf_printf(out, " va 0x%" PRIx64 " r_key 0x%" PRIx32 " dmalen %" PRIu32 " B",
			      p->reth.va, p->reth.rkey, p->reth.dma_len);
	if (packet_has(p, HEADER_ATOMICETH))
		strbuf_printf(out, " va 0x%" PRIx64 " r_key 0x%" PRIx32, p->atomiceth.va,
			      p->atomiceth.rkey);
	if (packet_has(p, HEADER_AETH))
		print_aeth(&p->aeth, out);
	if (packet_has(p, HEADER_ATOMICACKETH))
		strbuf_printf(out, " was 0x%" PRIx64, p->atomicacketh.original);
	if (packet_has(p, HEADER_IMMDT))
		strbuf_printf(out, " imm 0x%08" PRIx32, p->immdt.data);
	if (packet_has(p, HEADER_IETH))
		strbuf_printf(out, " inv r_key 0x%" PRIx32, p->ieth.rkey);
}

static void print_transport(const struct dissection *d, struct strbuf *out)
{
	const struct packet *p = d->packet;
	const struct bth *b = &p->bth;

	strbuf_printf(out, " %s %s qp 0x%" PRIx32 " psn %" PRIu32, opcode_service_name(b->opcode),
		      opcode_operation_name(b->opcode), b->dest_qp, b->psn);
	if (b->fecn)
		strbuf_puts(out, " FECN");
	if (b->becn)
		strbuf_puts(out, " BECN");
	if (b->se)
		strbuf_puts(out, " SE");
	if (b->ack_req)
		strbuf_puts(out, " A");
	print_extended(p, out);
	if (d->has_mad) {
		strbuf_putc(out, ' ');
		mad_summary(&d->mad, out);
	}
}

static void print_crcs(const struct dissection *d, struct strbuf *out)
{
	bool is_flow = d->record->kind == CAPTURE_FLOW;

	if (d->crc.icrc != CRC_ABSENT)
		strbuf_printf(out, " ICRC %s", crc_names[d->crc.icrc]);
	if (d->crc.vcrc != CRC_ABSENT)
		strbuf_printf(out, " %s %s", is_flow ? "LPCRC" : "VCRC", crc_names[d->crc.vcrc]);
}

static void print_packet(const struct dissection *d, struct strbuf *out)
{
	const struct packet *p = d->packet;

	print_route(d, out);
	if (packet_has(p, HEADER_BTH))
		print_transport(d, out);
	else if (packet_has(p, HEADER_RWH))
		strbuf_printf(out, " raw type 0x%04x", p->rwh.ether_type);
	else
		strbuf_printf(out, " raw IPv6 next header %u", p->grh.next_header);
	strbuf_printf(out, " payload %zu B", p->payload_len);
}

void dissection_line(const struct dissection *d, struct strbuf *out)
{
	const struct capture_record *rec = d->record;

	strbuf_printf(out, "%6" PRIu64 " %" PRIu64 ".%09" PRIu64 " %-6s ", rec->number,
		      rec->seconds, rec->ps / HD_NS, dissection_protocol(d));
	if (d->state == DISSECT_CUT)
		strbuf_printf(out, "cut: %zu of %zu bytes captured", rec->size, rec->wire_size);
	else if (d->state == DISSECT_MALFORMED)
		strbuf_printf(out, "malformed: %s", d->why.message);
	else if (d->state == DISSECT_FOREIGN)
		strbuf_puts(out, d->why.message);
	else if (d->packet)
		print_packet(d, out);
	else if (d->has_mad)
		mad_summary(&d->mad, out);
	else
		strbuf_printf(out, "vl %u fctbs %u fccl %u%s", d->flow.vl, d->flow.fctbs,
			      d->flow.fccl, d->flow.op == FLOW_INIT ? " init" : "");
	print_crcs(d, out);
}

/* The first InfiniBand header in the record. */
static const uint8_t *first_header(const struct dissection *d)
{
	const struct packet *p = d->packet;

	if (d->record->kind != CAPTURE_ETHERNET)
		return d->record->bytes;
	return p->payload - header_set_size(p->headers);
}

static void dump(const uint8_t *bytes, size_t size, struct strbuf *out)
{
	for (size_t i = 0; i < size; i++) {
		if (i % 16 == 0)
			strbuf_printf(out, "    %04zx ", i);
		strbuf_printf(out, " %02x", bytes[i]);
		if (i % 16 == 15 || i + 1 == size)
			strbuf_putc(out, '\n');
	}
}

static void print_headers(const struct dissection *d, struct strbuf *out)
{
	const uint8_t *at = first_header(d);

	for (unsigned h = 0; h < HEADER_COUNT; h++) {
		const struct record *info = header_info((enum header)h);

		if (!packet_has(d->packet, (enum header)h))
			continue;
		strbuf_printf(out, "  %s\n", info->name);
		field_record_print(info, at, "    ", out);
		at += info->size;
	}
}

static void print_mad(const struct dissection *d, struct strbuf *out)
{
	strbuf_printf(out, "  MAD, %s\n", d->mad.class ? d->mad.class->name : "unknown class");
	mad_print(&d->mad, "    ", out);
}

/* The checksum as Wireshark shows it: its bytes in transmission order. */
static uint32_t wire_order(uint32_t crc)
{
	uint8_t bytes[4];

	store_le32(bytes, crc);
	return load_be32(bytes);
}

static void print_parts(const struct dissection *d, struct strbuf *out)
{
	const struct packet *p = d->packet;

	print_headers(d, out);
	if (d->has_mad) {
		print_mad(d, out);
	} else if (p->payload_len) {
		strbuf_printf(out, "  payload, %zu bytes\n", p->payload_len);
		dump(p->payload, p->payload_len, out);
	}
	if (d->crc.icrc != CRC_ABSENT)
		strbuf_printf(out, "  ICRC 0x%08" PRIx32 " %s\n", wire_order(p->icrc),
			      crc_names[d->crc.icrc]);
	if (d->crc.vcrc != CRC_ABSENT)
		strbuf_printf(out, "  VCRC 0x%04" PRIx32 " %s\n", wire_order(p->vcrc) >> 16,
			      crc_names[d->crc.vcrc]);
}

void dissection_full(const struct dissection *d, struct strbuf *out)
{
	const struct capture_record *rec = d->record;

	dissection_line(d, out);
	strbuf_putc(out, '\n');
	if (d->state != DISSECT_WHOLE)
		dump(rec->bytes, rec->size, out);
	else if (d->packet)
		print_parts(d, out);
	else if (d->has_mad)
		print_mad(d, out);
	else
		field_record_print(flow_packet_info(), rec->bytes, "    ", out);
}

static void json_headers(const struct dissection *d, struct json *w)
{
	const uint8_t *at = first_header(d);

	for (unsigned h = 0; h < HEADER_COUNT; h++) {
		const struct record *info = header_info((enum header)h);

		if (!packet_has(d->packet, (enum header)h))
			continue;
		json_key(w, info->name);
		field_record_json(info, at, w);
		at += info->size;
	}
}

static void json_crc(struct json *w, const char *key, enum crc_verdict v)
{
	if (v != CRC_ABSENT)
		json_put_text(w, key, v == CRC_GOOD ? "good" : "bad");
}

static void json_addresses(const struct roce *r, struct json *w)
{
	struct strbuf text = STRBUF_INIT;

	print_address(r->src, r->ip_version == 4, &text);
	json_put_text(w, "source", text.text);
	strbuf_clear(&text);
	print_address(r->dst, r->ip_version == 4, &text);
	json_put_text(w, "destination", text.text);
	json_put_uint(w, "dscp", r->tclass >> 2);
	json_put_uint(w, "ecn", r->tclass & 3);
	strbuf_fini(&text);
}

static void json_payload(const struct packet *p, struct json *w)
{
	struct strbuf hex = STRBUF_INIT;

	for (size_t i = 0; i < p->payload_len; i++)
		strbuf_printf(&hex, "%02x", p->payload[i]);
	json_put_text(w, "payload", hex.text);
	strbuf_fini(&hex);
}

static void json_packet(const struct dissection *d, bool full, struct json *w)
{
	const struct packet *p = d->packet;

	if (d->record->kind == CAPTURE_ETHERNET)
		json_addresses(&d->roce, w);
	if (packet_has(p, HEADER_BTH)) {
		json_put_text(w, "service", opcode_service_name(p->bth.opcode));
		json_put_text(w, "operation", opcode_operation_name(p->bth.opcode));
	}
	json_headers(d, w);
	json_put_uint(w, "payload_bytes", p->payload_len);
	if (full)
		json_payload(p, w);
}

void dissection_json(const struct dissection *d, bool full, struct json *w)
{
	const struct capture_record *rec = d->record;
	static const char *const states[] = {
		[DISSECT_WHOLE] = "whole",
		[DISSECT_FOREIGN] = "foreign",
		[DISSECT_CUT] = "cut",
		[DISSECT_MALFORMED] = "malformed",
	};

	json_begin_object(w);
	json_put_uint(w, "number", rec->number);
	json_put_uint(w, "time_s", rec->seconds);
	json_put_uint(w, "time_ps", rec->ps);
	json_put_uint(w, "bytes", rec->wire_size);
	json_put_text(w, "protocol", dissection_protocol(d));
	json_put_text(w, "state", states[d->state]);
	if (d->state != DISSECT_WHOLE)
		json_put_text(w, "reason", d->why.message);
	else if (d->packet)
		json_packet(d, full, w);
	if (d->has_mad) {
		json_key(w, "MAD");
		mad_json(&d->mad, w);
	}
	if (d->state == DISSECT_WHOLE && rec->kind == CAPTURE_FLOW) {
		json_key(w, flow_packet_info()->name);
		field_record_json(flow_packet_info(), rec->bytes, w);
	}
	json_crc(w, "icrc", d->crc.icrc);
	json_crc(w, rec->kind == CAPTURE_FLOW ? "lpcrc" : "vcrc", d->crc.vcrc);
	json_end(w);
}

void dissection_csv_head(struct strbuf *out)
{
	strbuf_puts(
		out,
		"number,time_s,protocol,bytes,source,destination,sl,vl,operation,qp,psn,fecn,becn,payload_bytes,icrc,vcrc,reason\n");
}

/* Columns source to vl: LIDs or IP addresses; RoCEv2 has no VLs. */
static void csv_route(const struct dissection *d, struct strbuf *out)
{
	const struct packet *p = d->packet;

	if (d->state == DISSECT_WHOLE && d->record->kind == CAPTURE_FLOW) {
		strbuf_printf(out, ",,,%u", d->flow.vl);
	} else if (!p) {
		strbuf_puts(out, ",,,");
	} else if (d->record->kind == CAPTURE_ETHERNET) {
		bool is_v4 = d->roce.ip_version == 4;

		print_address(d->roce.src, is_v4, out);
		strbuf_putc(out, ',');
		print_address(d->roce.dst, is_v4, out);
		strbuf_puts(out, ",,");
	} else {
		strbuf_printf(out, "%u,%u,%u,%u", p->lrh.slid, p->lrh.dlid, p->lrh.sl, p->lrh.vl);
	}
}

void dissection_csv(const struct dissection *d, struct strbuf *out)
{
	const struct capture_record *rec = d->record;
	const struct packet *p = d->packet;
	static const char *const verdicts[] = { "good", "bad", "" };

	strbuf_printf(out, "%" PRIu64 ",%" PRIu64 ".%012" PRIu64 ",%s,%zu,", rec->number,
		      rec->seconds, rec->ps, dissection_protocol(d), rec->wire_size);
	csv_route(d, out);
	if (p && packet_has(p, HEADER_BTH))
		strbuf_printf(out, ",%s %s,0x%" PRIx32 ",%" PRIu32 ",%d,%d,%zu",
			      opcode_service_name(p->bth.opcode),
			      opcode_operation_name(p->bth.opcode), p->bth.dest_qp, p->bth.psn,
			      p->bth.fecn, p->bth.becn, p->payload_len);
	else
		strbuf_puts(out, ",,,,,,");
	strbuf_printf(out, ",%s,%s,", verdicts[d->crc.icrc], verdicts[d->crc.vcrc]);
	/* Reasons are built-in texts without quotes. */
	if (d->state != DISSECT_WHOLE)
		strbuf_printf(out, "\"%s\"", d->why.message);
	strbuf_putc(out, '\n');
}
