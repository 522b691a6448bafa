/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CI_ISAL_CRC_H
#define HD_CI_ISAL_CRC_H

/* What wire/crc.c takes from ISA-L, bit by bit: for ci/aarch64.sh. */

#include <stdint.h>

static inline uint32_t crc32_gzip_refl(uint32_t crc, const unsigned char *bytes, uint64_t size)
{
	crc = ~crc;
	for (uint64_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
	}
	return ~crc;
}

#endif
