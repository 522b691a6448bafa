/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_CONTENTION_H
#define HD_QOS_TABLES_CONTENTION_H

/*
 * What VLs get of one link when they compete for it: by its two arbitration
 * tables, the limit between them, and the sizes of packets. The rules are those
 * of docs/timing-rules.md, T10 and T11; bytes are on the wire.
 */

#include "qos/tables/shares.h"
#include "subnet/subnet.h"

#define LIMIT_NONE 255u /* of the high table */

/* One link; unused VLs have no sizes. */
struct contention {
	unsigned vls; /* in operation; with one the tables do not count */
	struct vlarb vlarb;
	struct shares_vl packets[N_DATA_VLS];
};

/* Bits; SERVED_BOTH has both. */
enum contention_table { SERVED_NEVER, SERVED_LOW, SERVED_HIGH, SERVED_BOTH };
/* Which tables have an entry with a weight for the VL. */
enum contention_table contention_served(const struct contention *c, unsigned vl);

/*
 * Shares of the link when all VLs in use always have packets: the arbiter
 * itself, run for some hundred thousand of them; sizes come in random order.
 */
void contention_shares(const struct contention *c, double share[N_DATA_VLS]);

/*
 * The least that each VL gets as long as it has packets, in its own mix of
 * sizes, whichever others send without end, those of a VL alone or in any
 * mix; 0: it can starve.
 */
void contention_floors(const struct contention *c, double floor[N_DATA_VLS]);

/*
 * Bytes that pass at most before a packet at the head of its VL, the
 * one on its way included; HUGE_VAL: without end. VL15 is not counted.
 */
void contention_waits(const struct contention *c, double wait[N_DATA_VLS]);

/*
 * What the high table can send between two packets of the low one: packets
 * until they make up the limit, of whichever VLs happen to be busy. Both are
 * 0 if no VL uses the table, most_bytes is HUGE_VAL without a limit.
 */
struct contention_burst {
	double least_blocks, most_bytes;
};
struct contention_burst contention_burst(const struct contention *c);

#endif
