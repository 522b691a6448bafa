/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_PSN_H
#define HD_TRANSPORT_PSN_H

/*
 * Packet, message and send sequence numbers: 24 bits with wrap-around. Order is given by the
 * sign of psn_diff(), never by a plain comparison.
 */

#include <stdint.h>

#define PSN_MASK UINT32_C(0xffffff)

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & PSN_MASK;
}

/* Distance from `b` to `a`, -2^23 .. 2^23 - 1; negative if `a` is before `b`. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif
