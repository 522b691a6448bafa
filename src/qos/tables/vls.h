/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_VLS_H
#define HD_QOS_TABLES_VLS_H

/*
 * Maps classes to VLs: the SL2VL map of a link by its number of VLs, the VL arbitration tables of
 * weights, and both in a subnet.
 *
 * Without kinds, SL n uses VL n modulo the number of VLs. Classes with kinds keep that VL, or the
 * requested one, if no class of another kind has it. Otherwise classes are merged by kind until
 * there are no more groups than VLs:
 *
 *	PBE with BE
 *	DB classes with each other, neighbours (in the order of SLs) first
 *	DBTS classes with each other
 *	CH with BE
 *	DBTS with DB
 *	all (one VL)
 *
 * With two VLs or more, DBTS and DB therefore share no VL with PBE, BE and CH. An SL without a
 * class uses the VL of BE.
 */

#include "qos/tables/classes.h"
#include "subnet/subnet.h"

#define VL_ANY (-1)

/* Requirements of one class. */
struct vl_class {
	uint8_t sl;
	unsigned kind;   /* enum traffic_class; TC_COUNT: none (of all or no) */
	int vl;          /* VL, or VL_ANY: where the map has its SL */
	bool high;       /* in the table of high priority */
	uint64_t weight; /* in 64-byte blocks; 255 per entry */
};

/* Entries of a given table; an empty table if `entries` is not NULL. */
struct vl_entries {
	const struct vlarb_entry *entries; /* NULL: made from the classes */
	uint8_t n;
};

struct vl_plan {
	unsigned vls;
	/*
	 * NULL: SL n uses VL n modulo the number of VLs. Links with all VLs keep this map and the
	 * requested VLs, whichever kinds share a VL.
	 */
	const struct sl2vl *map;
	const struct vl_class *classes;
	size_t n_classes;
	unsigned block; /* VLs per class, from its own on; 0: one */
	struct vl_entries high, low;
	uint8_t high_limit;
};

/* The map of a link with `vls` data VLs (1 to 15). */
struct sl2vl qos_vls_map(const struct vl_plan *p, unsigned vls);
/* Appends what classes with kinds lose by sharing VLs, if anything. */
void qos_vls_sharing(const struct vl_plan *p, const struct sl2vl *map, struct strbuf *out);
/*
 * The tables of a link with all VLs; VLs without a class have the weight of
 * one packet. False if a table would need more entries than it has.
 */
bool qos_vls_tables(const struct vl_plan *p, struct vlarb *out);
/* The map of each link at end ports and on every way through a switch. */
void qos_vls_program(struct subnet *s, const struct vl_plan *p);
/*
 * For a routing algorithm that needs VLs: assigns a block of VLs to each class. If there are too
 * few and classes have kinds, classes are merged as on a link with one VL per block. `blocks` has
 * the block of each SL that applications request. HD_ERR_UNFIT: too few VLs.
 */
HD_MUST_CHECK enum hd_status qos_vls_split(struct subnet *s, const struct vl_plan *p,
					   struct diag *d, struct sl2vl *blocks);

#endif
