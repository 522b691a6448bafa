/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/headers.h"

#include "wire/crc.h"

void lrh_read(struct reader *r, struct lrh *out)
{
	uint8_t lane = read_u8(r);
	uint8_t level = read_u8(r);

	out->vl = lane >> 4;
	out->lver = lane & 0xF;
	out->sl = level >> 4;
	out->lnh = level & 0x3;
	out->dlid = read_be16(r);
	out->pkt_len = read_be16(r) & 0x7FF;
	out->slid = read_be16(r);
}

void lrh_write(struct writer *w, const struct lrh *h)
{
	write_u8(w, (uint8_t)(h->vl << 4 | (h->lver & 0xF)));
	write_u8(w, (uint8_t)(h->sl << 4 | (h->lnh & 0x3)));
	write_be16(w, h->dlid);
	write_be16(w, h->pkt_len & 0x7FF);
	write_be16(w, h->slid);
}

void grh_read(struct reader *r, struct grh *out)
{
	uint32_t word = read_be32(r);

	out->ip_ver = (uint8_t)(word >> 28);
	out->tclass = (uint8_t)(word >> 20);
	out->flow_label = word & 0xFFFFF;
	out->pay_len = read_be16(r);
	out->next_header = read_u8(r);
	out->hop_limit = read_u8(r);
	read_copy(r, out->sgid, sizeof(out->sgid));
	read_copy(r, out->dgid, sizeof(out->dgid));
}

void grh_write(struct writer *w, const struct grh *h)
{
	write_be32(w, (uint32_t)h->ip_ver << 28 | (uint32_t)h->tclass << 20 |
			      (h->flow_label & 0xFFFFF));
	write_be16(w, h->pay_len);
	write_u8(w, h->next_header);
	write_u8(w, h->hop_limit);
	write_bytes(w, h->sgid, sizeof(h->sgid));
	write_bytes(w, h->dgid, sizeof(h->dgid));
}

void rwh_read(struct reader *r, struct rwh *out)
{
	read_be16(r);
	out->ether_type = read_be16(r);
}

void rwh_write(struct writer *w, const struct rwh *h)
{
	write_be16(w, 0);
	write_be16(w, h->ether_type);
}

void bth_read(struct reader *r, struct bth *out)
{
	out->opcode = read_u8(r);
	uint8_t flags = read_u8(r);

	out->se = flags >> 7;
	out->mig = flags >> 6 & 1;
	out->pad = flags >> 4 & 3;
	out->tver = flags & 0xF;
	out->pkey = read_be16(r);
	uint32_t word = read_be32(r);

	out->fecn = word >> 31;
	out->becn = word >> 30 & 1;
	out->dest_qp = word & 0xFFFFFF;
	word = read_be32(r);
	out->ack_req = word >> 31;
	out->psn = word & 0xFFFFFF;
}

void bth_write(struct writer *w, const struct bth *h)
{
	write_u8(w, h->opcode);
	write_u8(w, (uint8_t)(h->se << 7 | h->mig << 6 | (h->pad & 3) << 4 |
			      (h->tver & 0xF)));
	write_be16(w, h->pkey);
	write_be32(w, (uint32_t)h->fecn << 31 | (uint32_t)h->becn << 30 |
			      (h->dest_qp & 0xFFFFFF));
	write_be32(w, (uint32_t)h->ack_req << 31 | (h->psn & 0xFFFFFF));
}

void rdeth_read(struct reader *r, struct rdeth *out)
{
	out->ee_context = read_be32(r) & 0xFFFFFF;
}

void rdeth_write(struct writer *w, const struct rdeth *h)
{
	write_be32(w, h->ee_context & 0xFFFFFF);
}

void deth_read(struct reader *r, struct deth *out)
{
	out->qkey = read_be32(r);
	out->src_qp = read_be32(r) & 0xFFFFFF;
}

void deth_write(struct writer *w, const struct deth *h)
{
	write_be32(w, h->qkey);
	write_be32(w, h->src_qp & 0xFFFFFF);
}

void xrceth_read(struct reader *r, struct xrceth *out)
{
	out->srqn = read_be32(r) & 0xFFFFFF;
}

void xrceth_write(struct writer *w, const struct xrceth *h)
{
	write_be32(w, h->srqn & 0xFFFFFF);
}

void feth_read(struct reader *r, struct feth *out)
{
	uint32_t word = read_be32(r);

	out->placement = word & 0xF;
	out->selectivity = word >> 4 & 0x3;
}

void feth_write(struct writer *w, const struct feth *h)
{
	write_be32(w, (uint32_t)(h->selectivity & 0x3) << 4 |
			      (h->placement & 0xF));
}

void reth_read(struct reader *r, struct reth *out)
{
	out->va = read_be64(r);
	out->rkey = read_be32(r);
	out->dma_len = read_be32(r);
}

void reth_write(struct writer *w, const struct reth *h)
{
	write_be64(w, h->va);
	write_be32(w, h->rkey);
	write_be32(w, h->dma_len);
}

void atomiceth_read(struct reader *r, struct atomiceth *out)
{
	out->va = read_be64(r);
	out->rkey = read_be32(r);
	out->swap_add = read_be64(r);
	out->compare = read_be64(r);
}

void atomiceth_write(struct writer *w, const struct atomiceth *h)
{
	write_be64(w, h->va);
	write_be32(w, h->rkey);
	write_be64(w, h->swap_add);
	write_be64(w, h->compare);
}

void aeth_read(struct reader *r, struct aeth *out)
{
	out->syndrome = read_u8(r);
	out->msn = read_be24(r);
}

void aeth_write(struct writer *w, const struct aeth *h)
{
	write_u8(w, h->syndrome);
	write_be24(w, h->msn);
}

void atomicacketh_read(struct reader *r, struct atomicacketh *out)
{
	out->original = read_be64(r);
}

void atomicacketh_write(struct writer *w, const struct atomicacketh *h)
{
	write_be64(w, h->original);
}

void immdt_read(struct reader *r, struct immdt *out)
{
	out->data = read_be32(r);
}

void immdt_write(struct writer *w, const struct immdt *h)
{
	write_be32(w, h->data);
}

void ieth_read(struct reader *r, struct ieth *out)
{
	out->rkey = read_be32(r);
}

void ieth_write(struct writer *w, const struct ieth *h)
{
	write_be32(w, h->rkey);
}

void flow_packet_read(struct reader *r, struct flow_packet *out)
{
	uint16_t sent = read_be16(r);
	uint16_t limit = read_be16(r);

	out->op = (uint8_t)(sent >> 12);
	out->fctbs = sent & 0xFFF;
	out->vl = (uint8_t)(limit >> 12);
	out->fccl = limit & 0xFFF;
	out->lpcrc = 0;
	const uint8_t *crc = read_bytes(r, 2);

	if (crc)
		out->lpcrc = load_le16(crc);
}

void flow_packet_write(struct writer *w, const struct flow_packet *h)
{
	uint8_t bytes[FLOW_SIZE];

	store_be16(bytes, (uint16_t)(h->op << 12 | (h->fctbs & 0xFFF)));
	store_be16(bytes + 2, (uint16_t)(h->vl << 12 | (h->fccl & 0xFFF)));
	store_le16(bytes + 4, crc16(bytes, 4));
	write_bytes(w, bytes, sizeof(bytes));
}

bool flow_packet_crc_ok(const uint8_t *bytes)
{
	return crc16(bytes, 4) == load_le16(bytes + 4);
}

/*
 * What -v prints. The codecs above are straight-line code because every
 * simulated or received packet passes through them; these rows repeat the
 * layout for the eye, and headers_test holds the two against each other.
 */

static const struct field_name lnh_names[] = {
	{ LNH_RAW, "raw" },
	{ LNH_IPV6, "IPv6" },
	{ LNH_LOCAL, "IBA local" },
	{ LNH_GLOBAL, "IBA global" },
	{ 0, NULL },
};

static const struct field lrh_fields[] = {
	{ "VL", 0, 4, FIELD_UINT, NULL },
	{ "LVer", 4, 4, FIELD_UINT, NULL },
	{ "SL", 8, 4, FIELD_UINT, NULL },
	{ "LNH", 14, 2, FIELD_ENUM, lnh_names },
	{ "DLID", 16, 16, FIELD_UINT, NULL },
	{ "PktLen", 37, 11, FIELD_UINT, NULL },
	{ "SLID", 48, 16, FIELD_UINT, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field grh_fields[] = {
	{ "IPVer", 0, 4, FIELD_UINT, NULL },
	{ "TClass", 4, 8, FIELD_HEX, NULL },
	{ "FlowLabel", 12, 20, FIELD_HEX, NULL },
	{ "PayLen", 32, 16, FIELD_UINT, NULL },
	{ "NxtHdr", 48, 8, FIELD_HEX, NULL },
	{ "HopLmt", 56, 8, FIELD_UINT, NULL },
	{ "SGID", 64, 128, FIELD_GID, NULL },
	{ "DGID", 192, 128, FIELD_GID, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field rwh_fields[] = {
	{ "EtherType", 16, 16, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field bth_fields[] = {
	{ "OpCode", 0, 8, FIELD_HEX, NULL },
	{ "SE", 8, 1, FIELD_UINT, NULL },
	{ "MigReq", 9, 1, FIELD_UINT, NULL },
	{ "PadCnt", 10, 2, FIELD_UINT, NULL },
	{ "TVer", 12, 4, FIELD_UINT, NULL },
	{ "P_Key", 16, 16, FIELD_HEX, NULL },
	{ "FECN", 32, 1, FIELD_UINT, NULL },
	{ "BECN", 33, 1, FIELD_UINT, NULL },
	{ "DestQP", 40, 24, FIELD_HEX, NULL },
	{ "AckReq", 64, 1, FIELD_UINT, NULL },
	{ "PSN", 72, 24, FIELD_UINT, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field rdeth_fields[] = {
	{ "EEContext", 8, 24, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field deth_fields[] = {
	{ "Q_Key", 0, 32, FIELD_HEX, NULL },
	{ "SrcQP", 40, 24, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field xrceth_fields[] = {
	{ "XRCSRQ", 8, 24, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field feth_fields[] = {
	{ "Selectivity", 26, 2, FIELD_UINT, NULL },
	{ "Placement", 28, 4, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field reth_fields[] = {
	{ "VA", 0, 64, FIELD_HEX, NULL },
	{ "R_Key", 64, 32, FIELD_HEX, NULL },
	{ "DMALen", 96, 32, FIELD_UINT, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field atomiceth_fields[] = {
	{ "VA", 0, 64, FIELD_HEX, NULL },
	{ "R_Key", 64, 32, FIELD_HEX, NULL },
	{ "SwapOrAdd", 96, 64, FIELD_HEX, NULL },
	{ "Compare", 160, 64, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field aeth_fields[] = {
	{ "Syndrome", 0, 8, FIELD_HEX, NULL },
	{ "MSN", 8, 24, FIELD_UINT, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field atomicacketh_fields[] = {
	{ "OrigRemData", 0, 64, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field immdt_fields[] = {
	{ "ImmData", 0, 32, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct field ieth_fields[] = {
	{ "R_Key", 0, 32, FIELD_HEX, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct record infos[HEADER_COUNT] = {
	[HEADER_LRH] = { "LRH", LRH_SIZE, lrh_fields, NULL },
	[HEADER_GRH] = { "GRH", GRH_SIZE, grh_fields, NULL },
	[HEADER_RWH] = { "RWH", RWH_SIZE, rwh_fields, NULL },
	[HEADER_BTH] = { "BTH", BTH_SIZE, bth_fields, NULL },
	[HEADER_RDETH] = { "RDETH", RDETH_SIZE, rdeth_fields, NULL },
	[HEADER_DETH] = { "DETH", DETH_SIZE, deth_fields, NULL },
	[HEADER_XRCETH] = { "XRCETH", XRCETH_SIZE, xrceth_fields, NULL },
	[HEADER_FETH] = { "FETH", FETH_SIZE, feth_fields, NULL },
	[HEADER_RETH] = { "RETH", RETH_SIZE, reth_fields, NULL },
	[HEADER_ATOMICETH] = { "AtomicETH", ATOMICETH_SIZE, atomiceth_fields,
			       NULL },
	[HEADER_AETH] = { "AETH", AETH_SIZE, aeth_fields, NULL },
	[HEADER_ATOMICACKETH] = { "AtomicAckETH", ATOMICACKETH_SIZE,
				  atomicacketh_fields, NULL },
	[HEADER_IMMDT] = { "ImmDt", IMMDT_SIZE, immdt_fields, NULL },
	[HEADER_IETH] = { "IETH", IETH_SIZE, ieth_fields, NULL },
};

const struct record *header_info(enum header h)
{
	assert(h < HEADER_COUNT);
	return &infos[h];
}

size_t header_set_size(header_set set)
{
	size_t size = 0;

	for (unsigned h = 0; set >> h; h++)
		if (set >> h & 1)
			size += infos[h].size;
	return size;
}

static const struct field_name flow_op_names[] = {
	{ FLOW_NORMAL, "normal" },
	{ FLOW_INIT, "initialize" },
	{ 0, NULL },
};

static const struct field flow_fields[] = {
	{ "Op", 0, 4, FIELD_ENUM, flow_op_names },
	{ "FCTBS", 4, 12, FIELD_UINT, NULL },
	{ "VL", 16, 4, FIELD_UINT, NULL },
	{ "FCCL", 20, 12, FIELD_UINT, NULL },
	{ NULL, 0, 0, FIELD_UINT, NULL },
};

static const struct record flow_info = { "FlowControl", FLOW_SIZE, flow_fields,
					 NULL };

const struct record *flow_packet_info(void)
{
	return &flow_info;
}
