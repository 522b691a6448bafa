/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_IBA_H
#define HD_BASE_IBA_H

/*
 * Constants of the InfiniBand Architecture for modules that do not depend on
 * each other: subnet tables, packets, queue pairs, agents.
 */

#include <stdbool.h>
#include <stdint.h>

/* LIDs: 0 is "no LID", followed by unicast LIDs and multicast LIDs. */
#define LID_MAX_UNICAST 0xBFFF
#define LID_FIRST_MCAST 0xC000
#define LID_LAST_MCAST  0xFFFE
/* Permissive LID of directed-route SMPs: the receiver is the destination. */
#define LID_PERMISSIVE  0xFFFF

/* GID prefix of the link-local scope. */
#define GID_LINK_LOCAL UINT64_C(0xFE80000000000000)

/*
 * A link has 1, 2, 4, 8 or 15 data VLs. A port's VLCap, OpenSM and topology
 * files encode this number: 1 is the smallest, 0 is unspecified.
 */
static inline unsigned vls_of_code(uint64_t code)
{
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };

	return vls[code < sizeof(vls) ? code : sizeof(vls) - 1];
}

/* The code of the smallest number of VLs that is at least this, if there is one. */
static inline unsigned code_of_vls(uint64_t vls)
{
	unsigned code = 0;

	while (code < 5 && vls_of_code(code) < vls)
		code++;
	return code;
}

static inline bool are_vls(uint64_t n)
{
	return n > 0 && vls_of_code(code_of_vls(n)) == n;
}

/* An MTU has 256, 512, 1024, 2048 or 4096 bytes; the codes have this order. */
static inline unsigned mtu_of_code(uint64_t code)
{
	return 128u << (code > 0 && code < 6 ? code : 1);
}

static inline unsigned code_of_mtu(uint64_t bytes)
{
	unsigned code = 1;

	while (code < 5 && mtu_of_code(code) < bytes)
		code++;
	return code;
}

static inline bool is_mtu(uint64_t bytes)
{
	return mtu_of_code(code_of_mtu(bytes)) == bytes;
}

/* A P_Key: the partition, and whether its holder is a full member. */
#define PKEY_BASE    0x7fffu
#define PKEY_FULL    0x8000u
#define PKEY_DEFAULT 0xffffu /* a full member of the default partition */

/* Whether two P_Keys have the same partition and at least one is a full member's. */
static inline bool pkey_matches(uint16_t a, uint16_t b)
{
	return ((a ^ b) & PKEY_BASE) == 0 && ((a | b) & PKEY_FULL);
}

#endif
