/* SPDX-License-Identifier: BSD-2-Clause */
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
#include <unistd.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "wire/capture.h"
#include "wire/mad.h"
#include "wire/packet.h"
#include "wire/tshark_pairs.h"

/*
 * Wireshark's opinion: a capture with every header but RDETH, every attribute
 * it knows, and flow-control packets, all fields at random, must be read
 * without a malformed packet, and field by field as it was encoded. (tshark
 * 4.0 takes the RD service for Mellanox's DC; RD is tested by round trip.)
 */

#define LUA HD_SOURCE_DIR "/share/wireshark/heddle-ecn.lua"
/* Its heuristics find other protocols in payloads that are none. */
#define TSHARK                                                              \
	"tshark --disable-heuristic rpcrdma_infiniband --disable-protocol " \
	"smb_direct -X lua_script:'" LUA "' "

/* What tshark must say of one field of one frame. */
struct claim {
	unsigned frame;
	char *field;
	char *value; /* a number, numbers with commas between, or text */
};

struct capture_test {
	char path[64];
	FILE *stream;
	struct capture_writer writer;
	struct rng rng;
	unsigned frame; /* the last one that was written */
	struct claim *claims;
	size_t n, cap;
};

static void claim_text(struct capture_test *t, const char *field,
		       const char *value)
{
	t->claims = hd_grow(t->claims, &t->cap, t->n + 1, sizeof(*t->claims));
	t->claims[t->n++] = (struct claim){ .frame = t->frame,
					    .field = hd_strdup(field),
					    .value = hd_strdup(value) };
}

static void drop_claim(struct capture_test *t)
{
	t->n--;
	free(t->claims[t->n].field);
	free(t->claims[t->n].value);
}

static void claim(struct capture_test *t, const char *field, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	claim_text(t, field, text);
}

static void claim_gid(struct capture_test *t, const char *field,
		      const uint8_t *gid)
{
	struct strbuf text = STRBUF_INIT;

	gid_print(gid, &text);
	claim_text(t, field, text.text);
	strbuf_fini(&text);
}

static void claim_bytes(struct capture_test *t, const char *field,
			const uint8_t *bytes, size_t n)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&text, "%02x", bytes[i]);
	claim_text(t, field, text.text);
	strbuf_fini(&text);
}

static uint64_t draw(struct capture_test *t, unsigned bits)
{
	return rng_next(&t->rng) >> (64 - bits);
}

static void draw_gid(struct capture_test *t, uint8_t *gid)
{
	for (int i = 0; i < 16; i++)
		gid[i] = (uint8_t)draw(t, 8);
}

static void draw_lrh(struct capture_test *t, struct lrh *h)
{
	h->vl = (uint8_t)draw(t, 4);
	h->sl = (uint8_t)draw(t, 4);
	h->slid = (uint16_t)draw(t, 16);
	h->dlid = (uint16_t)draw(t, 16);
}

static void claim_lrh(struct capture_test *t, const struct packet *p,
		      unsigned lnh)
{
	claim(t, "infiniband.lrh.vl", p->lrh.vl);
	claim(t, "infiniband.lrh.lver", 0);
	claim(t, "infiniband.lrh.sl", p->lrh.sl);
	claim(t, "infiniband.lrh.lnh", lnh);
	claim(t, "infiniband.lrh.dlid", p->lrh.dlid);
	claim(t, "infiniband.lrh.slid", p->lrh.slid);
	claim(t, "infiniband.lrh.pktlen", (packet_size(p) - 2) / 4);
}

static void draw_bth(struct capture_test *t, struct bth *h)
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

static void claim_bth(struct capture_test *t, const struct packet *p)
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

static void draw_grh(struct capture_test *t, struct packet *p)
{
	p->headers |= HEADER_BIT(HEADER_GRH);
	p->grh.tclass = (uint8_t)draw(t, 8);
	p->grh.flow_label = (uint32_t)draw(t, 20);
	p->grh.hop_limit = (uint8_t)draw(t, 8);
	draw_gid(t, p->grh.sgid);
	draw_gid(t, p->grh.dgid);
}

static void claim_grh(struct capture_test *t, const struct packet *p)
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

static void fill_memory(struct capture_test *t, struct packet *p)
{
	if (packet_has(p, HEADER_RETH)) {
		p->reth = (struct reth){ draw(t, 64), (uint32_t)draw(t, 32),
					 (uint32_t)draw(t, 31) };
		claim(t, "infiniband.reth.va", p->reth.va);
		claim(t, "infiniband.reth.r_key", p->reth.rkey);
		claim(t, "infiniband.reth.dmalen", p->reth.dma_len);
	}
	if (packet_has(p, HEADER_ATOMICETH)) {
		p->atomiceth =
			(struct atomiceth){ draw(t, 64), (uint32_t)draw(t, 32),
					    draw(t, 64), draw(t, 64) };
		/* Address and key have the names of RETH's. */
		claim(t, "infiniband.reth.va", p->atomiceth.va);
		claim(t, "infiniband.reth.r_key", p->atomiceth.rkey);
		claim(t, "infiniband.atomiceth.swapdt", p->atomiceth.swap_add);
		claim(t, "infiniband.atomiceth.cmpdt", p->atomiceth.compare);
	}
	if (packet_has(p, HEADER_ATOMICACKETH)) {
		p->atomicacketh.original = draw(t, 64);
		claim(t, "infiniband.atomicacketh.origremdt",
		      p->atomicacketh.original);
	}
}

static void fill_aeth(struct capture_test *t, struct packet *p)
{
	static const uint8_t syndromes[] = { 0x00, 0x1F, 0x0A, 0x2E,
					     0x60, 0x62, 0x64 };
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

static void fill_rest(struct capture_test *t, struct packet *p)
{
	uint8_t word[4];

	if (packet_has(p, HEADER_DETH)) {
		p->deth = (struct deth){ (uint32_t)draw(t, 32),
					 (uint32_t)draw(t, 24) | 0x10 };
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

/* Services and operations that tshark 4.0 takes for unknown or for others. */
static bool is_strange_to_tshark(uint8_t opcode)
{
	return opcode >= 0x80 || opcode == OP_FLUSH ||
	       opcode == OP_ATOMIC_WRITE;
}

/* It stops before them in MADs to queue pair 1, and shows a raw packet's VCRC
 * twice. */
static bool has_crcs_in_tshark(const struct packet *p)
{
	return !is_strange_to_tshark(p->bth.opcode) && p->bth.dest_qp != 1;
}

/* Writes the packet and claims both checksums, in the order of the wire. */
static void write_packet(struct capture_test *t, const struct packet *p)
{
	uint8_t bytes[PACKET_MAX];
	size_t size;

	assert_int_equal(packet_encode(p, bytes, sizeof(bytes), &size), HD_OK);
	capture_write_packet(&t->writer, t->frame * HD_US, t->frame % 4, bytes,
			     size);
	if (packet_has(p, HEADER_BTH) && has_crcs_in_tshark(p)) {
		claim(t, "infiniband.invariant.crc",
		      load_be32(bytes + size - 6));
		claim(t, "infiniband.variant.crc", load_be16(bytes + size - 2));
	}
	t->frame++;
}

static void add_opcode(struct capture_test *t, uint8_t opcode)
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
	/* tshark shows BTH only: what follows is in its "payload". */
	while (is_strange_to_tshark(opcode) && t->n > before)
		drop_claim(t);
	claim_lrh(t, &p, global ? LNH_GLOBAL : LNH_LOCAL);
	if (global)
		claim_grh(t, &p);
	claim_bth(t, &p);
	write_packet(t, &p);
}

static void add_raw(struct capture_test *t)
{
	static const uint8_t payload[20] = { 1, 2, 3 };
	struct packet p = { .headers = HEADER_BIT(HEADER_LRH) |
				       HEADER_BIT(HEADER_RWH),
			    .rwh = { 0x88B5 },
			    .payload = payload,
			    .payload_len = sizeof(payload) };

	draw_lrh(t, &p.lrh);
	claim_lrh(t, &p, LNH_RAW);
	claim(t, "infiniband.rwh.etype", 0x88B5);
	write_packet(t, &p);
}

static void add_flow(struct capture_test *t, unsigned op)
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

static void claim_field(struct capture_test *t, const uint8_t *bytes,
			const struct pair *pair)
{
	struct strbuf name = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct field f;
	struct mad m;

	strbuf_printf(&name, "infiniband.%s", pair->theirs);
	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
	assert_true(record_find(m.record, pair->ours, &f));
	const uint8_t *at = m.data + f.offset / 8;

	if (f.kind == FIELD_GID)
		claim_gid(t, name.text, at);
	else if (f.kind == FIELD_BYTES)
		claim_bytes(t, name.text, at, f.width / 8);
	else
		claim(t, name.text, field_get(&f, m.data));
	strbuf_fini(&name);
}

static void send_mad(struct capture_test *t, const uint8_t *bytes)
{
	unsigned class = bytes[1];
	bool smp = class == MAD_SMP || class == MAD_SMP_DIRECT;
	struct packet p;

	packet_init(&p, SERVICE_UD | OP_SEND_ONLY);
	p.lrh = (struct lrh){ .vl = smp ? 15 : 0,
			      .slid = (uint16_t)t->frame,
			      .dlid = 1 };
	p.bth.dest_qp = smp ? 0 : 1;
	p.deth = (struct deth){ smp ? 0 : MAD_QKEY, smp ? 0 : 1 };
	p.payload = bytes;
	p.payload_len = MAD_SIZE;
	claim_bth(t, &p);
	claim(t, "infiniband.mad.baseversion", 1);
	claim(t, "infiniband.mad.mgmtclass", class);
	claim(t, "infiniband.mad.classversion", bytes[2]);
	claim(t, "infiniband.mad.method", bytes[3]);
	claim(t, "infiniband.mad.transactionid", load_be64(bytes + 8));
	claim(t, "infiniband.mad.attributeid", load_be16(bytes + 16));
	claim(t, "infiniband.mad.attributemodifier", load_be32(bytes + 20));
	write_packet(t, &p);
}

/* An answer with a random attribute, of which `pairs` are claimed. */
static void add_mad(struct capture_test *t, uint8_t class, uint16_t attribute,
		    const struct pair *pairs)
{
	const struct mad_header h = { .mgmt_class = class,
				      .method = MAD_GET_RESP,
				      .tid = draw(t, 64),
				      .attribute = attribute,
				      .modifier = (uint32_t)draw(t, 8) };
	uint8_t bytes[MAD_SIZE];
	struct diag d = { .status = HD_OK };
	struct mad m;

	mad_write(&h, bytes);
	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
	uint8_t *data = bytes + (m.data - bytes);

	for (size_t i = 0; i < m.record->size; i++)
		data[i] = (uint8_t)draw(t, 8);
	if (attribute == ATTR_NOTICE) {
		/* Vendor-specific, so that its details stay bytes. */
		data[0] &= 0x7F;
	}
	for (; pairs->ours; pairs++)
		claim_field(t, bytes, pairs);
	send_mad(t, bytes);
}

/* All entries of a table, with commas between, as tshark joins them. */
static void claim_entries(struct capture_test *t, const uint8_t *bytes,
			  const char *ours, const char *theirs)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct mad m;

	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
	unsigned n = m.record->group->count;

	/* tshark 4.0 shows half of a multicast block. */
	if (m.header.attribute == ATTR_MULTICAST_FORWARDING)
		n /= 2;
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(&text, "%s%" PRIu64, i ? "," : "",
			      record_get_entry(m.record, m.data, i, ours));
	claim_text(t, theirs, text.text);
	strbuf_fini(&text);
}

static void add_table(struct capture_test *t, uint16_t attribute,
		      const struct pair *pairs)
{
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_SET,
				      .tid = draw(t, 64),
				      .attribute = attribute,
				      .modifier = 1 };
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	for (size_t i = 64; i < 128; i++)
		bytes[i] = (uint8_t)draw(t, 8);
	for (; pairs->ours; pairs++)
		claim_entries(t, bytes, pairs->ours, pairs->theirs);
	send_mad(t, bytes);
}

static const struct pair nothing[] = { { NULL, NULL } };

static void add_mads(struct capture_test *t)
{
	add_mad(t, MAD_SMP, ATTR_NODE_INFO, node_info);
	add_mad(t, MAD_SMP_DIRECT, ATTR_NODE_INFO, node_info);
	add_mad(t, MAD_SMP, ATTR_SWITCH_INFO, switch_info);
	add_mad(t, MAD_SMP, ATTR_PORT_INFO, port_info);
	add_mad(t, MAD_SMP_DIRECT, ATTR_PORT_INFO, port_info);
	add_mad(t, MAD_SMP, ATTR_SM_INFO, sm_info);
	add_mad(t, MAD_SMP, ATTR_VENDOR_DIAG, vendor_diag);
	add_mad(t, MAD_SMP, ATTR_LED_INFO, led_info);
	add_mad(t, MAD_SMP, ATTR_NOTICE, notice);
	add_mad(t, MAD_SMP, ATTR_GUID_INFO, nothing);
	add_table(t, ATTR_VL_ARBITRATION, vl_arbitration);
	add_table(t, ATTR_LINEAR_FORWARDING, linear_forwarding);
	add_table(t, ATTR_RANDOM_FORWARDING, random_forwarding);
	add_table(t, ATTR_MULTICAST_FORWARDING, multicast_forwarding);
	add_mad(t, MAD_SA, ATTR_PATH_RECORD, path_record);
	add_mad(t, MAD_SA, ATTR_MC_MEMBER_RECORD, member_record);
	add_mad(t, MAD_SA, ATTR_NODE_RECORD, node_record);
	add_mad(t, MAD_SA, ATTR_PORT_INFO_RECORD, port_info_record);
	add_mad(t, MAD_PERF, ATTR_CLASS_PORT_INFO, class_port_info);
	add_mad(t, MAD_PERF, ATTR_PORT_COUNTERS, port_counters);
	add_mad(t, MAD_PERF, ATTR_PORT_COUNTERS_EXT, port_counters_ext);
	/* tshark knows of these classes and attributes only the header. */
	add_mad(t, MAD_PERF, ATTR_PORT_XMIT_DATA_SL, nothing);
	add_mad(t, MAD_CC, ATTR_CONGESTION_INFO, nothing);
	add_mad(t, MAD_CC, ATTR_CA_CONGESTION, nothing);
}

/* Joins `n` values with commas and claims them. */
static void claim_list(struct capture_test *t, const char *field,
		       const unsigned *values, size_t n)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&text, "%s%u", i ? "," : "", values[i]);
	claim_text(t, field, text.text);
	strbuf_fini(&text);
}

/* Three whose fields Wireshark cuts otherwise than we do. */
static void add_pkeys(struct capture_test *t)
{
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_SET,
				      .attribute = ATTR_PKEY_TABLE };
	unsigned full[32], base[32];
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	for (unsigned i = 0; i < 32; i++) {
		full[i] = (unsigned)draw(t, 1);
		base[i] = (unsigned)draw(t, 15);
		mad_set_entry(bytes, i, "P_Key", full[i] << 15 | base[i]);
	}
	claim_list(t, "infiniband.p_keytable.membershiptype", full, 32);
	claim_list(t, "infiniband.p_keytable.p_keybase", base, 32);
	send_mad(t, bytes);
}

static void add_sl_to_vl(struct capture_test *t)
{
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_SET,
				      .attribute = ATTR_SL_TO_VL };
	unsigned even[8], odd[8];
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	for (unsigned i = 0; i < 8; i++) {
		even[i] = (unsigned)draw(t, 4);
		odd[i] = (unsigned)draw(t, 4);
		mad_set_entry(bytes, 2 * i, "VL", even[i]);
		mad_set_entry(bytes, 2 * i + 1, "VL", odd[i]);
	}
	claim_list(t, "infiniband.sltovlmappingtable.sltovlhighbits", even, 8);
	claim_list(t, "infiniband.sltovlmappingtable.sltovllowbits", odd, 8);
	send_mad(t, bytes);
}

static void add_description(struct capture_test *t)
{
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_GET_RESP,
				      .attribute = ATTR_NODE_DESCRIPTION };
	const char name[64] = "spine 1 of 2";
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	mad_set_bytes(bytes, "NodeDesc", name, sizeof(name));
	claim_text(t, "infiniband.nodedescription.nodestring", name);
	send_mad(t, bytes);
}

/* A whole header of a routed SMP, keys, hops and paths. */
static void add_directed(struct capture_test *t)
{
	const struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				      .method = MAD_GET,
				      .hop_pointer = 1,
				      .hop_count = 3,
				      .attribute = ATTR_NODE_INFO };
	uint8_t bytes[MAD_SIZE], path[64];

	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = (uint8_t)draw(t, 8);
	mad_write(&h, bytes);
	mad_set(bytes, "DrSLID", 0xFFFF);
	mad_set(bytes, "DrDLID", 0x1234);
	mad_set_bytes(bytes, "InitialPath", path, sizeof(path));
	claim(t, "infiniband.smpdirected.hoppointer", 1);
	claim(t, "infiniband.smpdirected.hopcount", 3);
	claim(t, "infiniband.smpdirected.drslid", 0xFFFF);
	claim(t, "infiniband.smpdirected.drdlid", 0x1234);
	claim_bytes(t, "infiniband.smpdirected.initialpath", path, 64);
	send_mad(t, bytes);
}

static void add_rmpp(struct capture_test *t)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET_TABLE_RESP,
				      .attribute = ATTR_PATH_RECORD };
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	mad_set(bytes, "RMPPVersion", 1);
	mad_set(bytes, "RMPPType", 1);
	/* 5 bits, then 3 of flags; tshark 4.0 takes both for 4. */
	mad_set(bytes, "RRespTime", 0x1A);
	mad_set(bytes, "RMPPFlags", 7);
	mad_set(bytes, "SegmentNumber", 0x01020304);
	mad_set(bytes, "PayloadLength", 84);
	mad_set(bytes, "SM_Key", 0x1122334455);
	mad_set(bytes, "AttributeOffset", 8);
	mad_set(bytes, "ComponentMask", 0xF00D);
	claim(t, "infiniband.rmpp.rmppversion", 1);
	claim(t, "infiniband.rmpp.rmpptype", 1);
	claim(t, "infiniband.rmpp.rresptime", 0x1A >> 1);
	claim(t, "infiniband.rmpp.rmppflags", 7);
	claim(t, "infiniband.rmpp.segmentnumber", 0x01020304);
	claim(t, "infiniband.rmpp.payloadlength", 84);
	claim(t, "infiniband.sa.smkey", 0x1122334455);
	claim(t, "infiniband.sa.attributeoffset", 8);
	claim(t, "infiniband.sa.componentmask", 0xF00D);
	send_mad(t, bytes);
}

static void write_capture(struct capture_test *t)
{
	strcpy(t->path, "/tmp/heddle-tshark-XXXXXX");
	int fd = mkstemp(t->path);

	assert_true(fd >= 0);
	t->stream = fdopen(fd, "wb");
	assert_non_null(t->stream);
	rng_init(&t->rng, 41, 1);
	t->frame = 1;
	capture_begin(&t->writer, t->stream, true);
	for (int round = 0; round < 4; round++)
		for (unsigned op = 0; op < 256; op++)
			if (opcode_is_known((uint8_t)op) &&
			    (op & SERVICE_MASK) != SERVICE_RD)
				add_opcode(t, (uint8_t)op);
	add_raw(t);
	add_flow(t, FLOW_NORMAL);
	add_flow(t, FLOW_INIT);
	add_mads(t);
	add_pkeys(t);
	add_sl_to_vl(t);
	add_description(t);
	add_directed(t);
	add_rmpp(t);
	assert_int_equal(capture_finish(&t->writer), HD_OK);
	fclose(t->stream);
}

/* The output of a command, which must succeed. */
static char *output_of(const char *command)
{
	struct strbuf out = STRBUF_INIT;
	FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c) */
	char buffer[4096];
	size_t n;

	assert_non_null(pipe);
	while ((n = fread(buffer, 1, sizeof(buffer), pipe)) > 0)
		strbuf_add(&out, buffer, n);
	if (pclose(pipe) != 0)
		fail_msg("'%s' failed", command);
	return strbuf_detach(&out);
}

static int setup(void **state)
{
	static struct capture_test test;

	if (system("command -v tshark >/dev/null") != 0) { /* NOLINT */
		print_error("this test needs tshark (Debian package tshark), "
			    "which ci/deps.sh installs\n");
		return -1;
	}
	write_capture(&test);
	*state = &test;
	return 0;
}

static int teardown(void **state)
{
	struct capture_test *t = *state;

	if (!t)
		return 0;
	while (t->n > 0)
		drop_claim(t);
	free(t->claims);
	return unlink(t->path);
}

static void no_packet_is_malformed_to_wireshark(void **state)
{
	const struct capture_test *t = *state;
	char command[512];

	snprintf(command, sizeof(command),
		 TSHARK "-r %s -Y '_ws.malformed || _ws.expert.severity >= "
			"0x800000' 2>/dev/null",
		 t->path);
	char *text = output_of(command);

	assert_string_equal(text, "");
	free(text);
	snprintf(command, sizeof(command), TSHARK "-r %s 2>/dev/null | wc -l",
		 t->path);
	text = output_of(command);
	assert_int_equal(strtoul(text, NULL, 10), t->frame - 1);
	free(text);
}

/* Immediate data stands both in the headers and before the payload. */
static bool is_twice(const char *said, const char *expected)
{
	size_t len = strlen(expected);

	return strncmp(said, expected, len) == 0 && said[len] == ',' &&
	       strcmp(said + len + 1, expected) == 0;
}

/* Numbers with commas between; ours are decimal, tshark's in any base. */
static bool is_same(const char *said, const char *expected)
{
	char *end;

	if (strcmp(said, expected) == 0 || is_twice(said, expected))
		return true;
	while (*said && *expected) {
		uint64_t a = strtoull(said, &end, 0);

		if (end == said)
			return false;
		said = end + (*end == ',');
		uint64_t b = strtoull(expected, &end, 0);

		if (end == expected || a != b)
			return false;
		expected = end + (*end == ',');
	}
	return *said == *expected;
}

/* The distinct fields of all claims, in the order of their columns. */
struct columns {
	const char **names;
	size_t n, cap;
};

static size_t column_of(struct columns *c, const char *field)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->names[i], field) == 0)
			return i;
	c->names = hd_grow(c->names, &c->cap, c->n + 1, sizeof(*c->names));
	c->names[c->n] = field;
	return c->n++;
}

/* What tshark says of all frames, a line each with tabs between fields. */
static char *ask(const struct capture_test *t, struct columns *c)
{
	struct strbuf command = STRBUF_INIT;

	strbuf_printf(&command, TSHARK "-r %s -T fields", t->path);
	for (size_t i = 0; i < t->n; i++)
		column_of(c, t->claims[i].field);
	for (size_t i = 0; i < c->n; i++)
		strbuf_printf(&command, " -e %s", c->names[i]);
	strbuf_puts(&command, " 2>/dev/null");
	char *text = output_of(command.text);

	strbuf_fini(&command);
	return text;
}

/* Splits the line at `at` into its n fields; returns the next line. */
static char *split(char *at, char **fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(at, "\t\n");

		fields[i] = at;
		at += len;
		assert_int_equal(*at, i + 1 < n ? '\t' : '\n');
		*at++ = 0;
	}
	return at;
}

static void wireshark_reads_every_field_as_it_was_encoded(void **state)
{
	const struct capture_test *t = *state;
	struct columns c = { 0 };
	char *text = ask(t, &c), *at = text;
	char **fields = hd_alloc(c.n, sizeof(*fields));
	size_t wrong = 0;
	unsigned frame = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct claim *claimed = &t->claims[i];

		for (; frame < claimed->frame; frame++)
			at = split(at, fields, c.n);
		const char *said = fields[column_of(&c, claimed->field)];

		if (is_same(said, claimed->value))
			continue;
		print_error("frame %u %s: tshark says '%s', encoded was '%s'\n",
			    frame, claimed->field, said, claimed->value);
		wrong++;
	}
	assert_int_equal(wrong, 0);
	assert_true(t->n > 3000 && c.n > 150);
	free(fields);
	free(c.names);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_packet_is_malformed_to_wireshark),
		cmocka_unit_test(wireshark_reads_every_field_as_it_was_encoded),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
