/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_TABLES_PATH_SLS_H
#define HD_SUBNET_TABLES_PATH_SLS_H

/*
 * The SLs that a subnet administrator gives for paths. Engines that keep paths
 * apart by VLs (LASH, DFSSSP, torus-2QoS) choose the SL of each; forwarding
 * and SL2VL tables alone do not tell it. Two shapes are read:
 *
 *	saquery PathRecord (-p, --src-to-dst ...), its records in any order
 *	opensm-path-records.dump, of OpenSM's path record plugin
 */

#include <stdio.h>

#include "subnet/subnet.h"

struct path_sls_found {
	uint64_t n_records;
	uint64_t n_missing; /* pairs of end ports without one: SL 0 */
};

/*
 * Reads a stream, line by line, into the path SLs of `s`, which has one subnet
 * and its LIDs. Refuses with the line at fault; `s` then has no path SLs.
 */
HD_MUST_CHECK enum hd_status path_sls_read(struct subnet *s, FILE *in, struct diag *d,
					   struct path_sls_found *found);

#define SL_UNKNOWN 255

/*
 * Rows of SLs by destination LID, lft_stride long, per source port; NULL: it
 * sends nothing. Copied, equal ones of a switch once; what is SL_UNKNOWN
 * becomes 0.
 */
void path_sls_keep(struct subnet *s, uint8_t *const *rows);

#endif
