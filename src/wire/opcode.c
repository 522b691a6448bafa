/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/opcode.h"

struct operation_row {
	const char *name;
	header_set headers; /* in addition to BTH and the service's header */
	uint8_t flags;
};

#define RETH         HEADER_BIT(HEADER_RETH)
#define AETH         HEADER_BIT(HEADER_AETH)
#define ATOMICETH    HEADER_BIT(HEADER_ATOMICETH)
#define ATOMICACKETH HEADER_BIT(HEADER_ATOMICACKETH)
#define IMMDT        HEADER_BIT(HEADER_IMMDT)
#define IETH         HEADER_BIT(HEADER_IETH)
#define FETH         HEADER_BIT(HEADER_FETH)

#define REQ OPCODE_REQUEST
#define RSP OPCODE_RESPONSE
#define PAY OPCODE_PAYLOAD

static const struct operation_row operations[OP_MASK + 1] = {
	[OP_SEND_FIRST] = { "SEND_FIRST", 0, REQ | PAY | OPCODE_FIRST },
	[OP_SEND_MIDDLE] = { "SEND_MIDDLE", 0, REQ | PAY | OPCODE_MIDDLE },
	[OP_SEND_LAST] = { "SEND_LAST", 0, REQ | PAY | OPCODE_LAST },
	[OP_SEND_LAST_IMM] = { "SEND_LAST_IMM", IMMDT, REQ | PAY | OPCODE_LAST },
	[OP_SEND_ONLY] = { "SEND_ONLY", 0, REQ | PAY | OPCODE_ONLY },
	[OP_SEND_ONLY_IMM] = { "SEND_ONLY_IMM", IMMDT, REQ | PAY | OPCODE_ONLY },
	[OP_WRITE_FIRST] = { "WRITE_FIRST", RETH, REQ | PAY | OPCODE_FIRST },
	[OP_WRITE_MIDDLE] = { "WRITE_MIDDLE", 0, REQ | PAY | OPCODE_MIDDLE },
	[OP_WRITE_LAST] = { "WRITE_LAST", 0, REQ | PAY | OPCODE_LAST },
	[OP_WRITE_LAST_IMM] = { "WRITE_LAST_IMM", IMMDT, REQ | PAY | OPCODE_LAST },
	[OP_WRITE_ONLY] = { "WRITE_ONLY", RETH, REQ | PAY | OPCODE_ONLY },
	[OP_WRITE_ONLY_IMM] = { "WRITE_ONLY_IMM", RETH | IMMDT, REQ | PAY | OPCODE_ONLY },
	[OP_READ_REQUEST] = { "READ_REQUEST", RETH, REQ | OPCODE_ONLY },
	[OP_READ_RESPONSE_FIRST] = { "READ_RESPONSE_FIRST", AETH, RSP | PAY | OPCODE_FIRST },
	[OP_READ_RESPONSE_MIDDLE] = { "READ_RESPONSE_MIDDLE", 0, RSP | PAY | OPCODE_MIDDLE },
	[OP_READ_RESPONSE_LAST] = { "READ_RESPONSE_LAST", AETH, RSP | PAY | OPCODE_LAST },
	[OP_READ_RESPONSE_ONLY] = { "READ_RESPONSE_ONLY", AETH, RSP | PAY | OPCODE_ONLY },
	[OP_ACK] = { "ACK", AETH, RSP | OPCODE_ONLY },
	[OP_ATOMIC_ACK] = { "ATOMIC_ACK", AETH | ATOMICACKETH, RSP | OPCODE_ONLY },
	[OP_CMP_SWAP] = { "CMP_SWAP", ATOMICETH, REQ | OPCODE_ONLY },
	[OP_FETCH_ADD] = { "FETCH_ADD", ATOMICETH, REQ | OPCODE_ONLY },
	[OP_RESYNC] = { "RESYNC", 0, REQ | OPCODE_ONLY },
	[OP_SEND_LAST_INV] = { "SEND_LAST_INV", IETH, REQ | PAY | OPCODE_LAST },
	[OP_SEND_ONLY_INV] = { "SEND_ONLY_INV", IETH, REQ | PAY | OPCODE_ONLY },
	[OP_FLUSH] = { "FLUSH", FETH | RETH, REQ | OPCODE_ONLY },
	[OP_ATOMIC_WRITE] = { "ATOMIC_WRITE", RETH, REQ | PAY | OPCODE_ONLY },
};

#undef RETH
#undef AETH
#undef ATOMICETH
#undef ATOMICACKETH
#undef IMMDT
#undef IETH
#undef FETH

struct transport_service {
	const char *name;
	uint32_t permitted;        /* one bit per operation */
	header_set headers;        /* in every packet */
	header_set request_header; /* in requests only */
};

#define OPS(from, to) ((2U << (to)) - (1U << (from)))
#define OP(op)        (1U << (op))

#define SENDS_AND_WRITES OPS(OP_SEND_FIRST, OP_WRITE_ONLY_IMM)
#define RELIABLE         OPS(OP_SEND_FIRST, OP_FETCH_ADD)
#define INVALIDATES      OPS(OP_SEND_LAST_INV, OP_SEND_ONLY_INV)
#define MEMORY           OPS(OP_FLUSH, OP_ATOMIC_WRITE)

static const struct transport_service services[8] = {
	[SERVICE_RC >> 5] = { "RC", RELIABLE | INVALIDATES | MEMORY, 0, 0 },
	[SERVICE_UC >> 5] = { "UC", SENDS_AND_WRITES, 0, 0 },
	[SERVICE_RD >> 5] = { "RD", RELIABLE | OP(OP_RESYNC), HEADER_BIT(HEADER_RDETH),
			      HEADER_BIT(HEADER_DETH) },
	[SERVICE_UD >> 5] = { "UD", OPS(OP_SEND_ONLY, OP_SEND_ONLY_IMM), 0,
			      HEADER_BIT(HEADER_DETH) },
	[SERVICE_XRC >> 5] = { "XRC", RELIABLE | INVALIDATES, 0, HEADER_BIT(HEADER_XRCETH) },
};

static bool is_cnp(uint8_t opcode)
{
	return opcode == OPCODE_CNP || opcode == OPCODE_CNP_ROCE;
}

bool opcode_is_known(uint8_t opcode)
{
	return is_cnp(opcode) || services[opcode >> 5].permitted >> (opcode & OP_MASK) & 1;
}

header_set opcode_headers(uint8_t opcode)
{
	const struct transport_service *service = &services[opcode >> 5];
	const struct operation_row *op = &operations[opcode & OP_MASK];
	header_set headers = HEADER_BIT(HEADER_BTH);

	if (!opcode_is_known(opcode))
		return 0;
	if (is_cnp(opcode))
		return headers;
	headers |= op->headers | service->headers;
	if (op->flags & OPCODE_REQUEST)
		headers |= service->request_header;
	return headers;
}

unsigned opcode_flags(uint8_t opcode)
{
	/* RoCEv2's CNP has 16 reserved bytes as its payload. */
	if (is_cnp(opcode))
		return OPCODE_REQUEST | OPCODE_PAYLOAD | OPCODE_ONLY;
	return opcode_is_known(opcode) ? operations[opcode & OP_MASK].flags : 0;
}

const char *opcode_service_name(uint8_t opcode)
{
	const char *name = services[opcode >> 5].name;

	if (is_cnp(opcode))
		return "CC";
	return name ? name : "?";
}

const char *opcode_operation_name(uint8_t opcode)
{
	if (is_cnp(opcode))
		return "CNP";
	return opcode_is_known(opcode) ? operations[opcode & OP_MASK].name : "?";
}
