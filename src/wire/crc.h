/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_CRC_H
#define HD_WIRE_CRC_H

/*
 * The two checksums of InfiniBand (IBA volume 1, 7.8).
 *
 * ICRC (invariant CRC): the CRC-32 of Ethernet, with every field that switches and routers may
 * change set to ones; packet.h has the list. VCRC (variant CRC) and LPCRC of flow-control packets:
 * a CRC-16 with polynomial 0x100B over all bytes before it. Both are transmitted least significant
 * byte first.
 */

#include <stddef.h>
#include <stdint.h>

/*
 * Continues a CRC-32, which starts at 0: crc32_add(crc32_add(0, a), b) is the CRC of a followed by
 * b.
 */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t size);

uint16_t crc16(const void *bytes, size_t size);

#endif
