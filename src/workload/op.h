/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_OP_H
#define HD_WORKLOAD_OP_H

/* What a rank of a job does, one thing at a time (docs/timing-rules.md, J2). */

#include <stdint.h>

enum op_kind {
	OP_COMPUTE,
	OP_SEND,
	OP_RECV,
	OP_MULTICAST, /* to all others of a group, in hardware */
	OP_READ,      /* from a server (J9) */
	OP_WRITE,
	OP_REDUCE, /* with all others of a group, by the switches (S2) */
};
extern const char *const op_kind_names[];

#define OP_ANY       UINT32_MAX          /* as a receive's peer or tag */
#define OP_MOST_SIZE ((uint64_t)1 << 40) /* bytes of a message */
#define OP_MOST_TIME ((uint64_t)1 << 60) /* ps of a computation */

/* 24 bytes: files have millions of them. */
struct op {
	uint64_t size; /* bytes; of OP_COMPUTE picoseconds */
	uint32_t peer; /* rank, server, or group of a multicast */
	uint32_t tag;
	uint32_t line; /* of its file; 0: of none */
	uint8_t kind;  /* enum op_kind */
	uint8_t cpu;
};

#endif
