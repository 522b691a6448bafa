/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_SHOW_H
#define HD_WORKLOAD_SHOW_H

/* Tables of a file of operations: operations per rank, bytes between ranks, and
 * the time on a network without contention. */

#include "measure/results.h"
#include "workload/ideal.h"

struct job_view {
	const char *file; /* source of the operations */
	struct ideal_net net;
	bool all; /* all pairs and failed operations, not only the first ones */
};

/* Sets *well to false, with a remark, if the job does not finish, or if a
 * message has no receive or is larger than its receive. */
HD_MUST_CHECK enum hd_status opgraph_show(const struct opgraph *g, const struct job_view *view,
					  struct diag *d, struct results *r, bool *well);

#endif
