/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_SHOW_H
#define HD_WORKLOAD_SHOW_H

/* A file of operations in numbers: what ranks do, who sends how much to whom,
 * and how long all that takes where nobody is in anybody's way. */

#include "measure/results.h"
#include "workload/ideal.h"

/* The busiest pairs, or all; false if the job never ends, which is said. */
bool opgraph_show(const struct opgraph *g, const struct ideal_net *net,
		  bool all, struct results *r);

#endif
