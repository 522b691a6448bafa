/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_PARTITIONS_H
#define HD_QOS_OPENSM_PARTITIONS_H

/*
 * OpenSM's partitions.conf: the P_Keys of ports, and the SLs of partitions.
 *
 *	Default=0x7fff, ipoib : ALL=full ;
 *	storage=0x8002, sl=3, defmember=full : 0x10005, 0x10007=limited,
 *		0x10009 ;
 *
 * The rules are OpenSM's: words may be abbreviated, unknown flags are skipped, a repeated key is
 * the same partition, a partition without a key gets the next free one, and the last entry of a
 * port counts. Lines that OpenSM reports as errors and skips are rejected. Unless the file
 * overrides it, all ports are limited members of the partition Default (0x7fff), and the manager's
 * port is a full one; without a file all are full members. "both" means full, as without
 * allow_both_pkeys. Multicast groups (mgid) are skipped.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "measure/results.h"
#include "subnet/subnet.h"

#define PARTITION_DEFAULT 0x7fff

enum partition_who {
	PARTITION_PORT, /* by its GUID */
	PARTITION_ALL,
	PARTITION_CAS,
	PARTITION_SWITCHES,
	PARTITION_ROUTERS,
	PARTITION_SELF, /* where the manager runs */
};

struct partition_member {
	enum partition_who who;
	uint64_t guid;
	bool full;
};

struct partition {
	char *name;
	uint16_t key; /* without the membership bit */
	uint8_t sl;
	struct partition_member *members; /* later ones count */
	size_t n_members, members_cap;
};

struct partitions {
	struct partition *items; /* the first is Default */
	size_t n, cap;
};

/* Free with partitions_fini even after a refusal. */
HD_MUST_CHECK enum hd_status partitions_read(const char *text, struct diag *d,
					     struct partitions *out);
void partitions_fini(struct partitions *p);
/* The same for a file; after an error there is nothing to free. */
HD_MUST_CHECK enum hd_status partitions_load(const char *path, struct diag *d,
					     struct partitions *out);

/* NULL if not found; keys with or without the membership bit. */
const struct partition *partitions_named(const struct partitions *p, const char *name);
const struct partition *partitions_keyed(const struct partitions *p, uint16_t key);

/*
 * Programs the P_Key tables of all end ports and of their switch ports, which enforce them;
 * `manager` is an end port.
 */
void partitions_program(const struct partitions *p, port_id manager, struct subnet *s);

/*
 * The P_Key (without the membership bit) of a path, chosen like OpenSM among those that both ends
 * have, one of them as a full member; 0: none.
 */
uint16_t partitions_common(const struct subnet *s, port_id a, port_id b);

/* Tables (partitions_tables.c): P_Keys of all end ports that have some, */
void partitions_show_keys(const struct subnet *s, struct results *r);
/* and the partition that determines the SL of a path between two of its ports. */
void partitions_show_path(const struct partitions *p, const struct subnet *s, port_id a, port_id b,
			  struct results *r);

#endif
