/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_LANES_H
#define HD_QOS_LANES_H

/*
 * Classes become lanes and tables: the SL-to-VL map that they ask for, the VL
 * arbitration tables that their weights make, and both written into a subnet,
 * where links with fewer lanes use those that they have over again.
 */

#include "subnet/subnet.h"

#define LANE_ANY (-1)

/* What one class asks for. */
struct lane_class {
	uint8_t sl;
	int lane;        /* VL, or LANE_ANY: where the map has its SL */
	bool high;       /* in the table of high priority */
	uint64_t weight; /* in 64-byte blocks; 255 per entry */
};

/* Entries of a table that is given; without any, if `entries` is not NULL. */
struct lane_entries {
	const struct vlarb_entry *entries; /* NULL: made from the classes */
	uint8_t n;
};

struct lane_plan {
	unsigned lanes;
	const struct sl2vl *map; /* NULL: SL n on VL n modulo the lanes */
	const struct lane_class *classes;
	size_t n_classes;
	unsigned block; /* lanes of each class, from its own on; 0: only that */
	struct lane_entries high, low;
	uint8_t high_limit;
};

/* Where each SL goes on a link with all lanes. */
struct sl2vl lanes_map(const struct lane_plan *p);
/*
 * The tables of a link with all lanes; lanes without a class have the weight
 * of one packet. False if a table would need more entries than it has.
 */
bool lanes_tables(const struct lane_plan *p, struct vlarb *out);
/* The map at every end port and every way through a switch. */
void lanes_program(struct subnet *s, const struct sl2vl *map);
/* The same of a map for each number of lanes that a link may have. */
void lanes_program_each(struct subnet *s,
			const struct sl2vl map[N_DATA_VLS + 1]);

#endif
