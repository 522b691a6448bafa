/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_OP_H
#define HD_WORKLOAD_OP_H

/* Operations of a rank of a job (docs/timing-rules.md, J2). */

#include <stdint.h>

enum op_kind {
	OP_COMPUTE,
	OP_SEND,
	OP_RECV,
	OP_MULTICAST, /* hardware multicast to all other members of a group */
	OP_READ,      /* from a server (J9) */
	OP_WRITE,
	OP_REDUCE, /* in-network reduction with all other members of a group (S2) */
};
extern const char *const op_kind_names[];

#define OP_ANY       UINT32_MAX          /* wildcard of a receive's peer or tag */
#define OP_MOST_SIZE ((uint64_t)1 << 40) /* bytes of a message */
#define OP_MOST_TIME ((uint64_t)1 << 60) /* ps of a computation */

/* 24 bytes, because files have millions of operations. */
struct op {
	uint64_t size; /* bytes; OP_COMPUTE: picoseconds */
	uint32_t peer; /* rank, server, or group of a multicast */
	uint32_t tag;
	uint32_t line; /* in its file; 0: none */
	uint8_t kind;  /* enum op_kind */
	uint8_t cpu;
};

#endif
