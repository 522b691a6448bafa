/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_SLOTS_H
#define HD_QOS_TABLES_SLOTS_H

/*
 * Bandwidth as slots of an arbitration frame (paper 000).
 *
 * A full table, 64 entries of weight 255, is a frame of 16,320 slots of 64 bytes. Reservations are
 * counted against the full frame whatever the table contains, so existing entries keep their
 * weights when others are added.
 */

#include <stdint.h>

#include "base/units.h"

#define FRAME_ENTRIES 64u
#define ENTRY_SLOTS   255u
#define FRAME_SLOTS   (FRAME_ENTRIES * ENTRY_SLOTS)
#define SLOT_BYTES    64u

/* ceil(need / link * 16320); more than FRAME_SLOTS if need exceeds link. */
uint64_t slots_for(struct hd_rate need, struct hd_rate link);
/* The same for a share of a link, rounded up: 20 % is 3264. */
uint32_t slots_of_share(struct hd_ratio share);
/* Entries that `slots` slots of one VL take. */
static inline uint32_t entries_for(uint32_t slots)
{
	return (slots + ENTRY_SLOTS - 1) / ENTRY_SLOTS;
}
/* Duration of a full frame. */
hd_time slots_frame_time(struct hd_rate link);
/* Rate of this number of slots per frame. */
struct hd_rate slots_rate(uint32_t slots, struct hd_rate link);

/*
 * Rate that arbiters charge (docs/timing-rules.md, T10) for messages whose packets have `blocks`
 * 64-byte blocks in all, each packet rounded up, one message per num / den picoseconds, plus
 * `margin`. All reservations use this rate.
 */
struct hd_rate slots_charged_rate(uint64_t blocks, uint64_t num, uint64_t den,
				  struct hd_ratio margin);
/* The same for a rate of payload, in packets of `payload` and `overhead`
 * bytes. */
struct hd_rate slots_charged_payload(struct hd_rate rate, uint32_t payload, uint32_t overhead,
				     struct hd_ratio margin);

/* The same for bursts of `payload` bytes in packets of `blocks` in all. */
struct hd_rate slots_charged_burst(struct hd_rate rate, uint64_t payload, uint64_t blocks,
				   struct hd_ratio margin);

/*
 * A rate as it is on the wire, when each `payload` bytes travel with
 * `overhead` more.
 */
struct hd_rate slots_with_overhead(struct hd_rate rate, uint32_t payload, uint32_t overhead);

#endif
