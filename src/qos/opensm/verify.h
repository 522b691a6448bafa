/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_VERIFY_H
#define HD_QOS_OPENSM_VERIFY_H

/*
 * Compares a planned fabric with the tables read back from it
 * (qos/opensm/readback.h), port by port:
 *
 *	verify_init(&v, &subnet, NULL, results);
 *	for (...)
 *		verify_read(&v, text, "vlarb.txt");
 *	same = verify_finish(&v);
 *
 * Nodes are known by their GUIDs, or by the LIDs that the fabric's file has, or
 * else by those of the subnet. Entries without weight are alike whatever their
 * VL, tables of ports with one VL do not count, and neither do ports that
 * no manager programs: base ports 0 of switches, and those without a cable.
 */

#include "measure/results.h"
#include "qos/opensm/readback.h"
#include "subnet/tables/port_tables.h"

struct verify {
	const struct subnet *subnet;
	const struct port_tables *tables;
	struct results *results;
	struct table *differences;
	const char *file; /* that is read */
	port_id *of_lid;  /* LID's port; TOPO_NONE: unused */
	uint8_t *seen;    /* per port: 1 << enum readback_kind */
	uint64_t compared, different, strange;
};

/* `tables` that the subnet has: other ports do not count either; NULL: all do. */
void verify_init(struct verify *v, const struct subnet *s, const struct port_tables *tables,
		 struct results *r);
/* How many values were in it. */
size_t verify_read(struct verify *v, const char *text, const char *file);
/* Adds what was compared; whether nothing differs. Frees. */
bool verify_finish(struct verify *v);

#endif
