/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PACKET_H
#define HD_SUBNET_TABLES_PACKET_H

/* Header bytes of packets, and the unit of credits. */

#include <stdint.h>

#define PLAIN_OVERHEAD 26 /* LRH, BTH, ICRC, VCRC */
#define GRH_BYTES      40
#define GRH_OVERHEAD   (PLAIN_OVERHEAD + GRH_BYTES)
#define MOST_OVERHEAD  (GRH_OVERHEAD + 12) /* with DETH and immediate data */
#define HEADER_ROOM    128                 /* maximum headers of any packet: two blocks (T1) */
#define BLOCK_BYTES    64

/* Blocks of a packet, the unit of buffers, credits and arbitration weights (T1). */
static inline uint32_t blocks_of(uint32_t bytes)
{
	return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

#endif
