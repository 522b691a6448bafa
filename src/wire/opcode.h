/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_OPCODE_H
#define HD_WIRE_OPCODE_H

/*
 * Meaning of BTH opcodes. An opcode is a transport service (upper three bits) and an operation
 * (lower five bits). A service adds its own header to those of the operation and permits a subset
 * of operations. Names, header sequences and lengths are derived from two small tables in
 * opcode.c.
 */

#include "wire/headers.h"

enum service {
	SERVICE_RC = 0x00,
	SERVICE_UC = 0x20,
	SERVICE_RD = 0x40,
	SERVICE_UD = 0x60,
	SERVICE_CNP = 0x80, /* congestion notification only */
	SERVICE_XRC = 0xA0,
	SERVICE_MASK = 0xE0
};

enum operation {
	OP_SEND_FIRST,
	OP_SEND_MIDDLE,
	OP_SEND_LAST,
	OP_SEND_LAST_IMM,
	OP_SEND_ONLY,
	OP_SEND_ONLY_IMM,
	OP_WRITE_FIRST,
	OP_WRITE_MIDDLE,
	OP_WRITE_LAST,
	OP_WRITE_LAST_IMM,
	OP_WRITE_ONLY,
	OP_WRITE_ONLY_IMM,
	OP_READ_REQUEST,
	OP_READ_RESPONSE_FIRST,
	OP_READ_RESPONSE_MIDDLE,
	OP_READ_RESPONSE_LAST,
	OP_READ_RESPONSE_ONLY,
	OP_ACK,
	OP_ATOMIC_ACK,
	OP_CMP_SWAP,
	OP_FETCH_ADD,
	OP_RESYNC,
	OP_SEND_LAST_INV,
	OP_SEND_ONLY_INV,
	OP_FLUSH = 0x1C,
	OP_ATOMIC_WRITE = 0x1D,
	OP_MASK = 0x1F
};

/* Opcodes that are not operations of a queue pair. */
enum {
	OPCODE_CNP = 0x80,      /* InfiniBand */
	OPCODE_CNP_ROCE = 0x81, /* RoCEv2 */
};

#define CNP_RESERVED_BYTES 16 /* of a CNP, after its BTH */

enum {
	OPCODE_REQUEST = 1 << 0,
	OPCODE_RESPONSE = 1 << 1,
	OPCODE_PAYLOAD = 1 << 2, /* may carry payload */
	OPCODE_FIRST = 1 << 3,   /* first of several packets */
	OPCODE_MIDDLE = 1 << 4,
	OPCODE_LAST = 1 << 5,
	OPCODE_ONLY = 1 << 6,
};

/* True if the standard defines the opcode. */
bool opcode_is_known(uint8_t opcode);
/* BTH and every extended header, in the order of enum header; 0: unknown. */
header_set opcode_headers(uint8_t opcode);
/* OPCODE_ bits; 0: unknown. */
unsigned opcode_flags(uint8_t opcode);

/* "RC", "UD"; "?" for undefined services. */
const char *opcode_service_name(uint8_t opcode);
/* "SEND_ONLY"; "?" for operations that are undefined or that the service does not have. */
const char *opcode_operation_name(uint8_t opcode);

#endif
