/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PACKET_H
#define HD_SUBNET_TABLES_PACKET_H

/* Bytes of a packet without its payload, and the unit of credits. */

#include <stdint.h>

#define PLAIN_OVERHEAD 26 /* LRH, BTH, ICRC, VCRC */
#define GRH_BYTES      40
#define GRH_OVERHEAD   (PLAIN_OVERHEAD + GRH_BYTES)
#define MOST_OVERHEAD  (GRH_OVERHEAD + 12) /* DETH and immediate data, too */
#define HEADER_ROOM    128                 /* for the headers of any packet: two blocks (T1) */
#define BLOCK_BYTES    64

/* What a packet takes of buffers, credits and weights of arbitration (T1). */
static inline uint32_t blocks_of(uint32_t bytes)
{
	return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

#endif
