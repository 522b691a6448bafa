/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PATH_SLS_H
#define HD_SUBNET_TABLES_PATH_SLS_H

/*
 * Reads the SLs of paths from a subnet administrator. Routing algorithms that
 * separate paths by VLs (LASH, DFSSSP, torus-2QoS) choose the SL of each path;
 * forwarding and SL2VL tables do not contain it. Two formats are read:
 *
 *	saquery PathRecord (-p, --src-to-dst ...), its records in any order
 *	opensm-path-records.dump, of OpenSM's path record plugin
 */

#include <stdio.h>

#include "subnet/subnet.h"

struct path_sls_found {
	uint64_t n_records;
	uint64_t n_missing; /* pairs of end ports without a record; they get SL 0 */
};

/*
 * Reads a stream line by line into the path SLs of `s`, which has one subnet
 * and assigned LIDs. An error has the line; `s` then has no path SLs.
 */
HD_MUST_CHECK enum hd_status path_sls_read(struct subnet *s, FILE *in, struct diag *d,
					   struct path_sls_found *found);

#define SL_UNKNOWN 255

/*
 * Sets the path SLs from one row per source port, indexed by destination LID,
 * lft_stride long; NULL: the port sends nothing. Rows are copied; equal rows of
 * a switch are stored once. SL_UNKNOWN becomes 0.
 */
void path_sls_keep(struct subnet *s, uint8_t *const *rows);

#endif
