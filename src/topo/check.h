/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_CHECK_H
#define HD_TOPO_CHECK_H

/*
 * Checks a fabric as a whole: unconnected parts, cables whose ends disagree on
 * width or speed, and duplicate GUIDs and LIDs. The reader (read.h) reports
 * contradictions within a file.
 */

#include "topo/problem.h"
#include "topo/topo.h"

/* Appends the problems to `out` and sorts it. */
void topo_check(const struct topo *t, struct topo_problems *out);

#endif
