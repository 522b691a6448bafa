/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_SHOW_H
#define HD_WORKLOAD_SHOW_H

/* Tables about a file of operations: what ranks do, bytes between ranks, and
 * the time on a network without contention. */

#include "measure/results.h"
#include "workload/ideal.h"

struct job_view {
	const char *file; /* where the operations stand */
	struct ideal_net net;
	bool all; /* pairs and failed operations, not only the first */
};

/* *well is false if something fails, which is said: the job never ends, or
 * a message has no receive or is larger than its receive. */
HD_MUST_CHECK enum hd_status opgraph_show(const struct opgraph *g, const struct job_view *view,
					  struct diag *d, struct results *r, bool *well);

#endif
