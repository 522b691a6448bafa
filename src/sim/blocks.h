/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_BLOCKS_H
#define HD_SIM_BLOCKS_H

/* Buffers and credits count blocks of 64 bytes (T1). */

#include <stdint.h>

/* The space that a packet takes. */
static inline uint32_t blocks_of(uint32_t bytes)
{
	return (bytes + 63) / 64;
}

#endif
