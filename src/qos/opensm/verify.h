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
 * Nodes are identified by GUID, or by the LIDs of the fabric's file, or else by those of the
 * subnet. Entries without weight are equal whatever their VL. Not compared are tables of ports with
 * one VL, and ports that no manager programs (base ports 0 of switches, ports without a cable).
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
/* Returns the number of values in the text. */
size_t verify_read(struct verify *v, const char *text, const char *file);
/* Adds the results; true: no difference. Frees `v`. */
bool verify_finish(struct verify *v);

#endif
