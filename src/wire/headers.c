/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/headers.h"

#include "wire/crc.h"

void lrh_read(struct byte_reader *r, struct lrh *out)
{
	uint8_t vl = read_u8(r);
	uint8_t level = read_u8(r);

	out->vl = vl >> 4;
	out->lver = vl & 0xF;
	out->sl = level >> 4;
	out->lnh = level & 0x3;
	out->dlid = read_be16(r);
	out->pkt_len = read_be16(r) & 0x7FF;
	out->slid = read_be16(r);
}

void lrh_write(struct byte_writer *w, const struct lrh *h)
{
	write_u8(w, (uint8_t)(h->vl << 4 | (h->lver & 0xF)));
	write_u8(w, (uint8_t)(h->sl << 4 | (h->lnh & 0x3)));
	write_be16(w, h->dlid);
	write_be16(w, h->pkt_len & 0x7FF);
	write_be16(w, h->slid);
}

void grh_read(struct byte_reader *r, struct grh *out)
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

void grh_write(struct byte_writer *w, const struct grh *h)
{
	write_be32(w, (uint32_t)h->ip_ver << 28 | (uint32_t)h->tclass << 20 |
			      (h->flow_label & 0xFFFFF));
	write_be16(w, h->pay_len);
	write_u8(w, h->next_header);
	write_u8(w, h->hop_limit);
	write_bytes(w, h->sgid, sizeof(h->sgid));
	write_bytes(w, h->dgid, sizeof(h->dgid));
}

void rwh_read(struct byte_reader *r, struct rwh *out)
{
	read_be16(r);
	out->ether_type = read_be16(r);
}

void rwh_write(struct byte_writer *w, const struct rwh *h)
{
	write_be16(w, 0);
	write_be16(w, h->ether_type);
}

void bth_read(struct byte_reader *r, struct bth *out)
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

void bth_write(struct byte_writer *w, const struct bth *h)
{
	write_u8(w, h->opcode);
	write_u8(w, (uint8_t)(h->se << 7 | h->mig << 6 | (h->pad & 3) << 4 | (h->tver & 0xF)));
	write_be16(w, h->pkey);
	write_be32(w, (uint32_t)h->fecn << 31 | (uint32_t)h->becn << 30 | (h->dest_qp & 0xFFFFFF));
	write_be32(w, (uint32_t)h->ack_req << 31 | (h->psn & 0xFFFFFF));
}

void rdeth_read(struct byte_reader *r, struct rdeth *out)
{
	out->ee_context = read_be32(r) & 0xFFFFFF;
}

void rdeth_write(struct byte_writer *w, const struct rdeth *h)
{
	write_be32(w, h->ee_context & 0xFFFFFF);
}

void deth_read(struct byte_reader *r, struct deth *out)
{
	out->qkey = read_be32(r);
	out->src_qp = read_be32(r) & 0xFFFFFF;
}

void deth_write(struct byte_writer *w, const struct deth *h)
{
	write_be32(w, h->qkey);
	write_be32(w, h->src_qp & 0xFFFFFF);
}

void xrceth_read(struct byte_reader *r, struct xrceth *out)
{
	out->srqn = read_be32(r) & 0xFFFFFF;
}

void xrceth_write(struct byte_writer *w, const struct xrceth *h)
{
	write_be32(w, h->srqn & 0xFFFFFF);
}

void feth_read(struct byte_reader *r, struct feth *out)
{
	uint32_t word = read_be32(r);

	out->placement = word & 0xF;
	out->selectivity = word >> 4 & 0x3;
}

void feth_write(struct byte_writer *w, const struct feth *h)
{
	write_be32(w, (uint32_t)(h->selectivity & 0x3) << 4 | (h->placement & 0xF));
}

void reth_read(struct byte_reader *r, struct reth *out)
{
	out->va = read_be64(r);
	out->rkey = read_be32(r);
	out->dma_len = read_be32(r);
}

void reth_write(struct byte_writer *w, const struct reth *h)
{
	write_be64(w, h->va);
	write_be32(w, h->rkey);
	write_be32(w, h->dma_len);
}

void atomiceth_read(struct byte_reader *r, struct atomiceth *out)
{
	out->va = read_be64(r);
	out->rkey = read_be32(r);
	out->swap_add = read_be64(r);
	out->compare = read_be64(r);
}

void atomiceth_write(struct byte_writer *w, const struct atomiceth *h)
{
	write_be64(w, h->va);
	write_be32(w, h->rkey);
	write_be64(w, h->swap_add);
	write_be64(w, h->compare);
}

void aeth_read(struct byte_reader *r, struct aeth *out)
{
	out->syndrome = read_u8(r);
	out->msn = read_be24(r);
}

void aeth_write(struct byte_writer *w, const struct aeth *h)
{
	write_u8(w, h->syndrome);
	write_be24(w, h->msn);
}

void atomicacketh_read(struct byte_reader *r, struct atomicacketh *out)
{
	out->original = read_be64(r);
}

void atomicacketh_write(struct byte_writer *w, const struct atomicacketh *h)
{
	write_be64(w, h->original);
}

void immdt_read(struct byte_reader *r, struct immdt *out)
{
	out->data = read_be32(r);
}

void immdt_write(struct byte_writer *w, const struct immdt *h)
{
	write_be32(w, h->data);
}

void ieth_read(struct byte_reader *r, struct ieth *out)
{
	out->rkey = read_be32(r);
}

void ieth_write(struct byte_writer *w, const struct ieth *h)
{
	write_be32(w, h->rkey);
}

void flow_packet_read(struct byte_reader *r, struct flow_packet *out)
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

void flow_packet_write(struct byte_writer *w, const struct flow_packet *h)
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
 * Field tables for printing (-v). The functions above are straight-line code because every
 * simulated or received packet passes through them; headers_test compares the tables with them.
 */

/* One row per field, as in the standard's tables. */
/* clang-format off */

static const struct field_name lnh_names[] = {
	{ LNH_RAW, "raw" }, { LNH_IPV6, "IPv6" }, { LNH_LOCAL, "IBA local" },
	{ LNH_GLOBAL, "IBA global" }, { 0, NULL }
};

static const struct field lrh_fields[] = {
	F_UINT("VL", 0, 4),
	F_UINT("LVer", 4, 4),
	F_UINT("SL", 8, 4),
	F_ENUM("LNH", 14, 2, lnh_names),
	F_UINT("DLID", 16, 16),
	F_UINT("PktLen", 37, 11),
	F_UINT("SLID", 48, 16),
	F_END
};

static const struct field grh_fields[] = {
	F_UINT("IPVer", 0, 4),
	F_HEX("TClass", 4, 8),
	F_HEX("FlowLabel", 12, 20),
	F_UINT("PayLen", 32, 16),
	F_HEX("NxtHdr", 48, 8),
	F_UINT("HopLmt", 56, 8),
	F_GID("SGID", 64),
	F_GID("DGID", 192),
	F_END
};

static const struct field rwh_fields[] = { F_HEX("EtherType", 16, 16), F_END };

static const struct field bth_fields[] = {
	F_HEX("OpCode", 0, 8),
	F_UINT("SE", 8, 1),
	F_UINT("MigReq", 9, 1),
	F_UINT("PadCnt", 10, 2),
	F_UINT("TVer", 12, 4),
	F_HEX("P_Key", 16, 16),
	F_UINT("FECN", 32, 1),
	F_UINT("BECN", 33, 1),
	F_HEX("DestQP", 40, 24),
	F_UINT("AckReq", 64, 1),
	F_UINT("PSN", 72, 24),
	F_END
};

static const struct field rdeth_fields[] = { F_HEX("EEContext", 8, 24), F_END };

static const struct field deth_fields[] = {
	F_HEX("Q_Key", 0, 32),
	F_HEX("SrcQP", 40, 24),
	F_END
};

static const struct field xrceth_fields[] = { F_HEX("XRCSRQ", 8, 24), F_END };

static const struct field feth_fields[] = {
	F_UINT("Selectivity", 26, 2),
	F_HEX("Placement", 28, 4),
	F_END
};

static const struct field reth_fields[] = {
	F_HEX("VA", 0, 64),
	F_HEX("R_Key", 64, 32),
	F_UINT("DMALen", 96, 32),
	F_END
};

static const struct field atomiceth_fields[] = {
	F_HEX("VA", 0, 64),
	F_HEX("R_Key", 64, 32),
	F_HEX("SwapOrAdd", 96, 64),
	F_HEX("Compare", 160, 64),
	F_END
};

static const struct field aeth_fields[] = {
	F_HEX("Syndrome", 0, 8),
	F_UINT("MSN", 8, 24),
	F_END
};

static const struct field atomicacketh_fields[] = {
	F_HEX("OrigRemData", 0, 64),
	F_END
};

static const struct field immdt_fields[] = { F_HEX("ImmData", 0, 32), F_END };

static const struct field ieth_fields[] = { F_HEX("R_Key", 0, 32), F_END };

static const struct record infos[HEADER_COUNT] = {
	[HEADER_LRH] = { .name = "LRH",
			 .size = LRH_SIZE,
			 .fields = lrh_fields },
	[HEADER_GRH] = { .name = "GRH",
			 .size = GRH_SIZE,
			 .fields = grh_fields },
	[HEADER_RWH] = { .name = "RWH",
			 .size = RWH_SIZE,
			 .fields = rwh_fields },
	[HEADER_BTH] = { .name = "BTH",
			 .size = BTH_SIZE,
			 .fields = bth_fields },
	[HEADER_RDETH] = { .name = "RDETH",
			   .size = RDETH_SIZE,
			   .fields = rdeth_fields },
	[HEADER_DETH] = { .name = "DETH",
			  .size = DETH_SIZE,
			  .fields = deth_fields },
	[HEADER_XRCETH] = { .name = "XRCETH",
			    .size = XRCETH_SIZE,
			    .fields = xrceth_fields },
	[HEADER_FETH] = { .name = "FETH",
			  .size = FETH_SIZE,
			  .fields = feth_fields },
	[HEADER_RETH] = { .name = "RETH",
			  .size = RETH_SIZE,
			  .fields = reth_fields },
	[HEADER_ATOMICETH] = { .name = "AtomicETH",
			       .size = ATOMICETH_SIZE,
			       .fields = atomiceth_fields },
	[HEADER_AETH] = { .name = "AETH",
			  .size = AETH_SIZE,
			  .fields = aeth_fields },
	[HEADER_ATOMICACKETH] = { .name = "AtomicAckETH",
				  .size = ATOMICACKETH_SIZE,
				  .fields = atomicacketh_fields },
	[HEADER_IMMDT] = { .name = "ImmDt",
			   .size = IMMDT_SIZE,
			   .fields = immdt_fields },
	[HEADER_IETH] = { .name = "IETH",
			  .size = IETH_SIZE,
			  .fields = ieth_fields },
};

/* clang-format on */

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
	F_ENUM("Op", 0, 4, flow_op_names),
	F_UINT("FCTBS", 4, 12),
	F_UINT("VL", 16, 4),
	F_UINT("FCCL", 20, 12),
	F_END,
};

static const struct record flow_info = { .name = "FlowControl",
					 .size = FLOW_SIZE,
					 .fields = flow_fields };

const struct record *flow_packet_info(void)
{
	return &flow_info;
}
