/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_CHECK_H
#define HD_TOPO_CHECK_H

/*
 * What is wrong with a fabric as a whole: parts that nothing joins, ends of a
 * cable that do not agree on width or speed, GUIDs and LIDs given twice. What
 * contradicts itself in a file is found while reading it (read.h).
 */

#include "topo/problem.h"
#include "topo/topo.h"

/* Adds to `out` and sorts it. */
void topo_check(const struct topo *t, struct topo_problems *out);

#endif
