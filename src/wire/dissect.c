/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/dissect.h"

#include <string.h>

/* Subnet management uses queue pair 0, other classes queue pair 1. */
static void find_mad(struct dissection *d)
{
	const struct packet *p = d->packet;
	struct diag ignored = { .status = HD_OK };

	if (!packet_has(p, HEADER_DETH) || p->bth.dest_qp > 1 || p->deth.src_qp > 1)
		return;
	d->has_mad = mad_decode(p->payload, p->payload_len, &ignored, &d->mad) == HD_OK;
}

static void set_state(struct dissection *d, enum hd_status status)
{
	bool cut = d->record->wire_size > d->record->size;

	if (status == HD_OK)
		d->state = DISSECT_WHOLE;
	else if (status == HD_ERR_UNFIT)
		d->state = DISSECT_FOREIGN;
	else
		d->state = cut ? DISSECT_CUT : DISSECT_MALFORMED;
}

static void dissect_packet(struct dissection *d)
{
	const struct capture_record *rec = d->record;

	set_state(d, packet_decode(rec->bytes, rec->size, &d->why, &d->own));
	if (d->state == DISSECT_CUT)
		return;
	d->crc = packet_check(rec->bytes, rec->size);
	if (d->state == DISSECT_WHOLE)
		d->packet = &d->own;
}

static void dissect_ethernet(struct dissection *d)
{
	const struct capture_record *rec = d->record;

	set_state(d, wire_roce_decode(rec->bytes, rec->size, &d->why, &d->roce));
	if (d->state == DISSECT_CUT)
		return;
	d->crc.icrc = wire_roce_check(rec->bytes, rec->size);
	if (d->state == DISSECT_WHOLE)
		d->packet = &d->roce.packet;
}

/* The packet has six bytes; padding for Wireshark may follow. */
static enum hd_status flow_decode(struct dissection *d)
{
	const struct capture_record *rec = d->record;
	struct byte_reader r;

	reader_init(&r, rec->bytes, rec->size);
	flow_packet_read(&r, &d->flow);
	if (r.failed)
		return diag_fail(&d->why, HD_ERR_INPUT,
				 "%zu bytes are too few for a flow-control packet (%d)", rec->size,
				 FLOW_SIZE);
	for (const uint8_t *p = r.at; p < r.end; p++)
		if (*p != 0xFF)
			return diag_fail(&d->why, HD_ERR_INPUT,
					 "%zu bytes after a flow-control packet", reader_left(&r));
	if (d->flow.op > FLOW_INIT)
		return diag_fail(&d->why, HD_ERR_INPUT,
				 "flow-control operation %u, expected 0 or 1", d->flow.op);
	return HD_OK;
}

static void dissect_flow(struct dissection *d)
{
	const struct capture_record *rec = d->record;

	set_state(d, flow_decode(d));
	if (rec->size >= FLOW_SIZE)
		d->crc.vcrc = flow_packet_crc_ok(rec->bytes) ? CRC_GOOD : CRC_BAD;
}

void dissect(const struct capture_record *rec, struct dissection *d)
{
	d->record = rec;
	d->why.status = HD_OK;
	d->why.message[0] = 0;
	d->crc = (struct crc_verdicts){ CRC_ABSENT, CRC_ABSENT };
	d->packet = NULL;
	d->has_mad = false;
	switch (rec->kind) {
	case CAPTURE_PACKET:
		dissect_packet(d);
		break;
	case CAPTURE_ETHERNET:
		dissect_ethernet(d);
		break;
	case CAPTURE_FLOW:
		dissect_flow(d);
		break;
	case CAPTURE_MAD:
		set_state(d, mad_decode(rec->bytes, rec->size, &d->why, &d->mad));
		d->has_mad = d->state == DISSECT_WHOLE;
		break;
	case CAPTURE_OTHER:
		d->state = DISSECT_FOREIGN;
		if (rec->type)
			diag_fail(&d->why, HD_ERR_UNFIT, "ERF record of type %u", rec->type);
		else
			diag_fail(&d->why, HD_ERR_UNFIT, "link type %u (%s) carries no InfiniBand",
				  rec->link_type, capture_link_name(rec->link_type));
		break;
	}
	if (d->packet)
		find_mad(d);
}

void dissect_join(struct dissection *d, struct rmpp_joiner *j)
{
	struct rmpp_key key = { 0 };

	if (!d->has_mad || !d->packet || dissection_is_bad(d))
		return;
	if (d->record->kind == CAPTURE_ETHERNET) {
		memcpy(key.source, d->roce.src, sizeof(key.source));
		memcpy(key.destination, d->roce.dst, sizeof(key.destination));
	} else {
		store_be16(key.source, d->packet->lrh.slid);
		store_be16(key.destination, d->packet->lrh.dlid);
	}
	key.tid = d->mad.header.tid;
	key.qp = d->packet->bth.dest_qp;
	rmpp_join(j, &key, &d->mad);
}

bool dissection_is_bad(const struct dissection *d)
{
	return d->crc.icrc == CRC_BAD || d->crc.vcrc == CRC_BAD;
}

const char *dissection_protocol(const struct dissection *d)
{
	if (d->state == DISSECT_FOREIGN)
		return "other";
	switch (d->record->kind) {
	case CAPTURE_PACKET:
		return "IB";
	case CAPTURE_FLOW:
		return "FC";
	case CAPTURE_MAD:
		return "MAD";
	default:
		return "RoCEv2";
	}
}

static void count_crc(enum crc_verdict v, uint64_t *good, uint64_t *bad)
{
	*good += v == CRC_GOOD;
	*bad += v == CRC_BAD;
}

void dissect_count(struct dissect_counts *c, const struct dissection *d)
{
	bool foreign = d->state == DISSECT_FOREIGN;

	c->records++;
	c->foreign += foreign;
	c->cut += d->state == DISSECT_CUT;
	c->malformed += d->state == DISSECT_MALFORMED;
	c->packets += !foreign && d->record->kind == CAPTURE_PACKET;
	c->flows += !foreign && d->record->kind == CAPTURE_FLOW;
	c->roce += !foreign && d->record->kind == CAPTURE_ETHERNET;
	c->mads += d->record->kind == CAPTURE_MAD;
	count_crc(d->crc.icrc, &c->icrc_good, &c->icrc_bad);
	count_crc(d->crc.vcrc, &c->vcrc_good, &c->vcrc_bad);
	if (!d->packet || !packet_has(d->packet, HEADER_BTH))
		return;
	c->opcode[d->packet->bth.opcode]++;
	c->fecn += d->packet->bth.fecn;
	c->becn += d->packet->bth.becn;
}

/* Prints ", 3 other frames"; nothing if n is 0. */
static void print_count(struct strbuf *out, const char **separator, uint64_t n, const char *what,
			const char *plural)
{
	if (n == 0)
		return;
	strbuf_printf(out, "%s%llu %s%s", *separator, (unsigned long long)n, what,
		      n == 1 ? "" : plural);
	*separator = ", ";
}

static void print_checked(struct strbuf *out, const char **separator, const char *name,
			  uint64_t good, uint64_t bad)
{
	if (good + bad == 0)
		return;
	strbuf_printf(out, "%s%s %llu good, %llu bad", *separator, name, (unsigned long long)good,
		      (unsigned long long)bad);
	*separator = "; ";
}

void dissect_counts_print(const struct dissect_counts *c, struct strbuf *out)
{
	const char *comma = "";

	strbuf_printf(out, "# %llu record%s: ", (unsigned long long)c->records,
		      c->records == 1 ? "" : "s");
	print_count(out, &comma, c->packets, "InfiniBand packet", "s");
	print_count(out, &comma, c->flows, "flow-control packet", "s");
	print_count(out, &comma, c->roce, "RoCEv2 packet", "s");
	print_count(out, &comma, c->mads, "MAD", "s");
	print_count(out, &comma, c->foreign, "other frame", "s");
	strbuf_puts(out, "\n# ");
	comma = "";
	print_checked(out, &comma, "ICRC", c->icrc_good, c->icrc_bad);
	print_checked(out, &comma, "VCRC", c->vcrc_good, c->vcrc_bad);
	if (!*comma)
		strbuf_puts(out, "no checksums");
	comma = "; ";
	print_count(out, &comma, c->malformed, "malformed", "");
	print_count(out, &comma, c->cut, "cut by the capture, not checked", "");
	strbuf_putc(out, '\n');
	if (c->fecn + c->becn)
		strbuf_printf(out, "# %llu with FECN, %llu with BECN\n",
			      (unsigned long long)c->fecn, (unsigned long long)c->becn);
	for (unsigned op = 0; op < 256; op++)
		if (c->opcode[op])
			strbuf_printf(out, "# %8llu 0x%02x %s %s\n",
				      (unsigned long long)c->opcode[op], op,
				      opcode_service_name((uint8_t)op),
				      opcode_operation_name((uint8_t)op));
}

void dissect_counts_json(const struct dissect_counts *c, struct json *w)
{
	const struct {
		const char *name;
		uint64_t n;
	} rows[] = {
		{ "records", c->records },
		{ "infiniband", c->packets },
		{ "flow_control", c->flows },
		{ "rocev2", c->roce },
		{ "mad", c->mads },
		{ "other", c->foreign },
		{ "malformed", c->malformed },
		{ "cut", c->cut },
		{ "icrc_good", c->icrc_good },
		{ "icrc_bad", c->icrc_bad },
		{ "vcrc_good", c->vcrc_good },
		{ "vcrc_bad", c->vcrc_bad },
		{ "fecn", c->fecn },
		{ "becn", c->becn },
	};

	json_begin_object(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		json_put_uint(w, rows[i].name, rows[i].n);
	json_key(w, "opcodes");
	json_begin_object(w);
	for (unsigned op = 0; op < 256; op++) {
		char name[48];

		if (!c->opcode[op])
			continue;
		snprintf(name, sizeof(name), "%s %s", opcode_service_name((uint8_t)op),
			 opcode_operation_name((uint8_t)op));
		json_put_uint(w, name, c->opcode[op]);
	}
	json_end(w);
	json_end(w);
}
