/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_CONTENTION_H
#define HD_QOS_TABLES_CONTENTION_H

/*
 * Service of VLs that compete for one link, by its two arbitration tables, the limit between them,
 * and packet sizes. The rules are T10 and T11 of docs/timing-rules.md; bytes are on the wire.
 */

#include "qos/tables/shares.h"
#include "subnet/subnet.h"

#define LIMIT_NONE 255u /* of the high table */

/* A link; unused VLs have no sizes. */
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
 * Shares of the link when all VLs in use always have packets: runs the arbiter with several hundred
 * thousand packets of random sizes.
 */
void contention_shares(const struct contention *c, double share[N_DATA_VLS]);

/*
 * The guaranteed share of each VL while it has packets of its own mix of sizes, whichever other VLs
 * send in whatever mix; 0: the VL can starve.
 */
void contention_floors(const struct contention *c, double floor[N_DATA_VLS]);

/*
 * Bytes that pass at most before a packet at the head of its VL, the
 * one on its way included; HUGE_VAL: without end. VL15 is not counted.
 */
void contention_waits(const struct contention *c, double wait[N_DATA_VLS]);

/*
 * Maximum that the high table sends between two packets of the low one: packets up to the limit, of
 * any busy VLs. Both are 0 if no VL uses the table; most_bytes is HUGE_VAL without a limit.
 */
struct contention_burst {
	double least_blocks, most_bytes;
};
struct contention_burst contention_burst(const struct contention *c);

#endif
