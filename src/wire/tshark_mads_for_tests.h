/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_TSHARK_MADS_FOR_TESTS_H
#define HD_WIRE_TSHARK_MADS_FOR_TESTS_H

/* For tshark_test: MADs of all attributes that Wireshark knows. */

#include "wire/mad.h"
#include "wire/tshark_packets_for_tests.h"
#include "wire/tshark_pairs_for_tests.h"

static inline void claim_field(struct capture_test *t, const uint8_t *bytes,
			       const struct pair *pair)
{
	struct strbuf name = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct field f;
	struct mad m;

	strbuf_printf(&name, "infiniband.%s", pair->theirs);
	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
	assert_true(field_record_find(m.record, pair->ours, &f));
	const uint8_t *at = m.data + f.offset / 8;

	if (f.kind == FIELD_GID)
		claim_gid(t, name.text, at);
	else if (f.kind == FIELD_BYTES)
		claim_bytes(t, name.text, at, f.width / 8);
	else
		claim(t, name.text, field_get(&f, m.data));
	strbuf_fini(&name);
}

static inline void send_mad(struct capture_test *t, const uint8_t *bytes)
{
	unsigned class = bytes[1];
	bool smp = class == MAD_SMP || class == MAD_SMP_DIRECT;
	struct packet p;

	packet_init(&p, SERVICE_UD | OP_SEND_ONLY);
	p.lrh = (struct lrh){ .vl = smp ? 15 : 0, .slid = (uint16_t)t->frame, .dlid = 1 };
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

/* Adds a response with a random attribute, and claims `pairs` of it. */
static inline void add_mad(struct capture_test *t, uint8_t class, uint16_t attribute,
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
		/* Vendor-specific: tshark shows its details as bytes. */
		data[0] &= 0x7F;
	}
	for (; pairs->ours; pairs++)
		claim_field(t, bytes, pairs);
	send_mad(t, bytes);
}

/* Claims all entries of a table, separated by commas as in tshark's output. */
static inline void claim_entries(struct capture_test *t, const uint8_t *bytes, const char *ours,
				 const char *theirs)
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
			      field_record_get_entry(m.record, m.data, i, ours));
	claim_text(t, theirs, text.text);
	strbuf_fini(&text);
}

static inline void add_table(struct capture_test *t, uint16_t attribute, const struct pair *pairs)
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

static inline void add_mads(struct capture_test *t)
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
	add_mad(t, MAD_CM, ATTR_CM_REQ, cm_req);
	add_mad(t, MAD_CM, ATTR_CM_REP, cm_rep);
	add_mad(t, MAD_CM, ATTR_CM_RTU, cm_rtu);
	add_mad(t, MAD_CM, ATTR_CM_REJ, cm_rej);
	add_mad(t, MAD_CM, ATTR_CM_DREQ, cm_dreq);
	add_mad(t, MAD_CM, ATTR_CM_DREP, cm_drep);
	/* tshark decodes only the header for these classes and attributes. */
	add_mad(t, MAD_PERF, ATTR_PORT_XMIT_DATA_SL, nothing);
	add_mad(t, MAD_CC, ATTR_CONGESTION_INFO, nothing);
	add_mad(t, MAD_CC, ATTR_CA_CONGESTION, nothing);
	add_mad(t, MAD_CM, ATTR_CM_MRA, nothing);
	add_mad(t, MAD_CM, ATTR_CM_SIDR_REQ, nothing);
	add_mad(t, MAD_CM, ATTR_CM_SIDR_REP, nothing);
}

/* Joins `n` values with commas and claims them. */
static inline void claim_list(struct capture_test *t, const char *field, const unsigned *values,
			      size_t n)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&text, "%s%u", i ? "," : "", values[i]);
	claim_text(t, field, text.text);
	strbuf_fini(&text);
}

/* Three attributes whose fields Wireshark splits differently. */
static inline void add_pkeys(struct capture_test *t)
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

static inline void add_sl_to_vl(struct capture_test *t)
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

static inline void add_description(struct capture_test *t)
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

/* Claims the whole header of a directed-route SMP: keys, hops and paths. */
static inline void add_directed(struct capture_test *t)
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

static inline void add_rmpp(struct capture_test *t)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET_TABLE_RESP,
				      .attribute = ATTR_PATH_RECORD };
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	mad_set(bytes, "RMPPVersion", 1);
	mad_set(bytes, "RMPPType", 1);
	/* 5 bits, then 3 bits of flags; tshark 4.0 decodes both as 4 bits. */
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

#endif
