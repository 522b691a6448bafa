/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_CRC_H
#define HD_WIRE_CRC_H

/*
 * The two checksums of InfiniBand (IBA volume 1, 7.8).
 *
 * ICRC, the invariant one, is the CRC-32 of Ethernet, taken with every field
 * that switches and routers may change set to ones; packet.h knows which.
 * VCRC, the variant one, and LPCRC of flow-control packets are a CRC-16 of
 * polynomial 0x100B over everything before it. Both travel least significant
 * byte first.
 */

#include <stddef.h>
#include <stdint.h>

/* Continues a CRC-32: start with 0; crc32_add(crc32_add(0, a), b) is that of
 * a followed by b. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t size);

uint16_t crc16(const void *bytes, size_t size);

#endif
