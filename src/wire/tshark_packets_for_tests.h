/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_TSHARK_PACKETS_FOR_TESTS_H
#define HD_WIRE_TSHARK_PACKETS_FOR_TESTS_H

/*
 * For tshark_test: a capture being written, claims about its frames, and packets of every opcode
 * with random fields.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "wire/capture.h"
#include "wire/packet.h"

/* Expected value of one field of one frame in tshark's output. */
struct claim {
	unsigned frame;
	char *field;
	char *value; /* a number, numbers separated by commas, or text */
};

struct capture_test {
	char path[64];
	FILE *stream;
	struct capture_writer writer;
	struct rng rng;
	unsigned frame; /* number of the last frame written */
	struct claim *claims;
	size_t n, cap;
};

static inline void claim_text(struct capture_test *t, const char *field, const char *value)
{
	t->claims = hd_grow(t->claims, &t->cap, t->n + 1, sizeof(*t->claims));
	t->claims[t->n++] = (struct claim){ .frame = t->frame,
					    .field = hd_strdup(field),
					    .value = hd_strdup(value) };
}

static inline void drop_claim(struct capture_test *t)
{
	t->n--;
	free(t->claims[t->n].field);
	free(t->claims[t->n].value);
}

static inline void claim(struct capture_test *t, const char *field, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	claim_text(t, field, text);
}

static inline void claim_gid(struct capture_test *t, const char *field, const uint8_t *gid)
{
	struct strbuf text = STRBUF_INIT;

	field_print_gid(gid, &text);
	claim_text(t, field, text.text);
	strbuf_fini(&text);
}

static inline void claim_bytes(struct capture_test *t, const char *field, const uint8_t *bytes,
			       size_t n)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&text, "%02x", bytes[i]);
	claim_text(t, field, text.text);
	strbuf_fini(&text);
}

static inline uint64_t draw(struct capture_test *t, unsigned bits)
{
	return rng_next(&t->rng) >> (64 - bits);
}

static inline void draw_gid(struct capture_test *t, uint8_t *gid)
{
	for (int i = 0; i < 16; i++)
		gid[i] = (uint8_t)draw(t, 8);
}

static inline void draw_lrh(struct capture_test *t, struct lrh *h)
{
	h->vl = (uint8_t)draw(t, 4);
	h->sl = (uint8_t)draw(t, 4);
	h->slid = (uint16_t)draw(t, 16);
	h->dlid = (uint16_t)draw(t, 16);
}

static inline void claim_lrh(struct capture_test *t, const struct packet *p, unsigned lnh)
{
	claim(t, "infiniband.lrh.vl", p->lrh.vl);
	claim(t, "infiniband.lrh.lver", 0);
	claim(t, "infiniband.lrh.sl", p->lrh.sl);
	claim(t, "infiniband.lrh.lnh", lnh);
	claim(t, "infiniband.lrh.dlid", p->lrh.dlid);
	claim(t, "infiniband.lrh.slid", p->lrh.slid);
	claim(t, "infiniband.lrh.pktlen", (packet_size(p) - 2) / 4);
}

static inline void draw_bth(struct capture_test *t, struct bth *h)
{
	h->se = draw(t, 1);
	h->mig = draw(t, 1);
	h->fecn = draw(t, 1);
	h->becn = draw(t, 1);
	h->ack_req = draw(t, 1);
	h->pkey = (uint16_t)draw(t, 16);
	h->dest_qp = (uint32_t)draw(t, 24) | 0x10;
	h->psn = (uint32_t)draw(t, 24);
}

static inline void claim_bth(struct capture_test *t, const struct packet *p)
{
	const struct bth *h = &p->bth;

	claim(t, "infiniband.bth.opcode", h->opcode);
	claim(t, "infiniband.bth.se", h->se);
	claim(t, "infiniband.bth.m", h->mig);
	claim(t, "infiniband.bth.padcnt", (4 - p->payload_len % 4) % 4);
	claim(t, "infiniband.bth.tver", 0);
	claim(t, "infiniband.bth.p_key", h->pkey);
	claim(t, "infiniband.bth.destqp", h->dest_qp);
	claim(t, "infiniband.bth.a", h->ack_req);
	claim(t, "infiniband.bth.psn", h->psn);
	claim(t, "heddle.fecn", h->fecn);
	claim(t, "heddle.becn", h->becn);
}

static inline void draw_grh(struct capture_test *t, struct packet *p)
{
	p->headers |= HEADER_BIT(HEADER_GRH);
	p->grh.tclass = (uint8_t)draw(t, 8);
	p->grh.flow_label = (uint32_t)draw(t, 20);
	p->grh.hop_limit = (uint8_t)draw(t, 8);
	draw_gid(t, p->grh.sgid);
	draw_gid(t, p->grh.dgid);
}

static inline void claim_grh(struct capture_test *t, const struct packet *p)
{
	claim(t, "infiniband.grh.ipver", 6);
	claim(t, "infiniband.grh.tclass", p->grh.tclass);
	claim(t, "infiniband.grh.flowlabel", p->grh.flow_label);
	claim(t, "infiniband.grh.paylen", packet_size(p) - 2 - 48);
	claim(t, "infiniband.grh.nxthdr", 0x1B);
	claim(t, "infiniband.grh.hoplmt", p->grh.hop_limit);
	claim_gid(t, "infiniband.grh.sgid", p->grh.sgid);
	claim_gid(t, "infiniband.grh.dgid", p->grh.dgid);
}

static inline void fill_memory(struct capture_test *t, struct packet *p)
{
	if (packet_has(p, HEADER_RETH)) {
		p->reth =
			(struct reth){ draw(t, 64), (uint32_t)draw(t, 32), (uint32_t)draw(t, 31) };
		claim(t, "infiniband.reth.va", p->reth.va);
		claim(t, "infiniband.reth.r_key", p->reth.rkey);
		claim(t, "infiniband.reth.dmalen", p->reth.dma_len);
	}
	if (packet_has(p, HEADER_ATOMICETH)) {
		p->atomiceth = (struct atomiceth){ draw(t, 64), (uint32_t)draw(t, 32), draw(t, 64),
						   draw(t, 64) };
		/* tshark gives address and key the names of RETH's fields. */
		claim(t, "infiniband.reth.va", p->atomiceth.va);
		claim(t, "infiniband.reth.r_key", p->atomiceth.rkey);
		claim(t, "infiniband.atomiceth.swapdt", p->atomiceth.swap_add);
		claim(t, "infiniband.atomiceth.cmpdt", p->atomiceth.compare);
	}
	if (packet_has(p, HEADER_ATOMICACKETH)) {
		p->atomicacketh.original = draw(t, 64);
		claim(t, "infiniband.atomicacketh.origremdt", p->atomicacketh.original);
	}
}

static inline void fill_aeth(struct capture_test *t, struct packet *p)
{
	static const uint8_t syndromes[] = { 0x00, 0x1F, 0x0A, 0x2E, 0x60, 0x62, 0x64 };
	uint8_t s = syndromes[draw(t, 16) % sizeof(syndromes)];

	p->aeth = (struct aeth){ s, (uint32_t)draw(t, 24) };
	claim(t, "infiniband.aeth.syndrome", s);
	claim(t, "infiniband.aeth.syndrome.opcode", s >> 5 & 3);
	claim(t, "infiniband.aeth.msn", p->aeth.msn);
	if (s < 0x20)
		claim(t, "infiniband.aeth.syndrome.credit_count", s & 31);
	else if (s < 0x40)
		claim(t, "infiniband.aeth.syndrome.timer", s & 31);
	else
		claim(t, "infiniband.aeth.syndrome.error_code", s & 31);
}

static inline void fill_rest(struct capture_test *t, struct packet *p)
{
	uint8_t word[4];

	if (packet_has(p, HEADER_DETH)) {
		p->deth = (struct deth){ (uint32_t)draw(t, 32), (uint32_t)draw(t, 24) | 0x10 };
		claim(t, "infiniband.deth.q_key", p->deth.qkey);
		claim(t, "infiniband.deth.srcqp", p->deth.src_qp);
	}
	if (packet_has(p, HEADER_AETH))
		fill_aeth(t, p);
	if (packet_has(p, HEADER_IMMDT)) {
		p->immdt.data = (uint32_t)draw(t, 32);
		store_be32(word, p->immdt.data);
		claim_bytes(t, "infiniband.immdt", word, 4);
	}
	if (packet_has(p, HEADER_IETH)) {
		p->ieth.rkey = (uint32_t)draw(t, 32);
		store_be32(word, p->ieth.rkey);
		claim_bytes(t, "infiniband.ieth", word, 4);
	}
	p->xrceth.srqn = (uint32_t)draw(t, 24);
	p->feth = (struct feth){ 2, 1 };
}

/* True for services and operations that tshark 4.0 does not know, or decodes as others. */
static inline bool is_strange_to_tshark(uint8_t opcode)
{
	return opcode >= 0x80 || opcode == OP_FLUSH || opcode == OP_ATOMIC_WRITE;
}

/* tshark does not decode the CRCs of MADs to queue pair 1, and shows a raw packet's VCRC twice. */
static inline bool has_crcs_in_tshark(const struct packet *p)
{
	return !is_strange_to_tshark(p->bth.opcode) && p->bth.dest_qp != 1;
}

/* Writes the packet and claims both checksums, in transmission order. */
static inline void write_packet(struct capture_test *t, const struct packet *p)
{
	uint8_t bytes[PACKET_MAX];
	size_t size;

	assert_int_equal(packet_encode(p, bytes, sizeof(bytes), &size), HD_OK);
	capture_write_packet(&t->writer, t->frame * HD_US, t->frame % 4, bytes, size);
	if (packet_has(p, HEADER_BTH) && has_crcs_in_tshark(p)) {
		claim(t, "infiniband.invariant.crc", load_be32(bytes + size - 6));
		claim(t, "infiniband.variant.crc", load_be16(bytes + size - 2));
	}
	t->frame++;
}

static inline void add_opcode(struct capture_test *t, uint8_t opcode)
{
	static const uint8_t payload[72];
	bool global = draw(t, 1);
	struct packet p;

	packet_init(&p, opcode);
	draw_lrh(t, &p.lrh);
	draw_bth(t, &p.bth);
	if (global)
		draw_grh(t, &p);
	if (opcode_flags(opcode) & OPCODE_PAYLOAD) {
		p.payload = payload;
		p.payload_len = draw(t, 6);
	}
	if (opcode >> 5 == SERVICE_UD >> 5)
		p.payload_len += 4;
	size_t before = t->n;

	fill_memory(t, &p);
	fill_rest(t, &p);
	/* tshark decodes the BTH only; later headers are in its "payload". */
	while (is_strange_to_tshark(opcode) && t->n > before)
		drop_claim(t);
	claim_lrh(t, &p, global ? LNH_GLOBAL : LNH_LOCAL);
	if (global)
		claim_grh(t, &p);
	claim_bth(t, &p);
	write_packet(t, &p);
}

static inline void add_raw(struct capture_test *t)
{
	static const uint8_t payload[20] = { 1, 2, 3 };
	struct packet p = { .headers = HEADER_BIT(HEADER_LRH) | HEADER_BIT(HEADER_RWH),
			    .rwh = { 0x88B5 },
			    .payload = payload,
			    .payload_len = sizeof(payload) };

	draw_lrh(t, &p.lrh);
	claim_lrh(t, &p, LNH_RAW);
	claim(t, "infiniband.rwh.etype", 0x88B5);
	write_packet(t, &p);
}

static inline void add_flow(struct capture_test *t, unsigned op)
{
	struct flow_packet flow = { .op = (uint8_t)op,
				    .fctbs = (uint16_t)draw(t, 12),
				    .vl = (uint8_t)draw(t, 4),
				    .fccl = (uint16_t)draw(t, 12) };
	uint8_t bytes[FLOW_SIZE];
	struct byte_writer w;

	writer_init(&w, bytes, sizeof(bytes));
	flow_packet_write(&w, &flow);
	claim(t, "infiniband_link.op", op);
	claim(t, "infiniband_link.fctbs", flow.fctbs);
	claim(t, "infiniband_link.vl", flow.vl);
	claim(t, "infiniband_link.fccl", flow.fccl);
	claim(t, "infiniband_link.lpcrc", load_be16(bytes + 4));
	capture_write_flow(&t->writer, t->frame * HD_US, 0, &flow);
	t->frame++;
}

#endif
