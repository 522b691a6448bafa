/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_IDEAL_H
#define HD_WORKLOAD_IDEAL_H

/*
 * A job on an ideal network: a rank's messages leave one after the other at
 * its rate, and each arrives a latency after its last byte has left, without
 * contention. The additional time on a fabric is due to the fabric.
 */

#include "workload/rank_group.h"

struct ideal_net {
	hd_time latency;
	struct hd_rate rate;
};

/* A receive without a message, or with one that is too large; or a send without
 * a receive. */
struct ideal_problem {
	uint32_t rank;
	struct op op;
	uint32_t source; /* of what is larger */
	uint64_t came;   /* bytes, more than the receive has; 0: none did */
};

struct ideal_result {
	hd_time completion;             /* HD_TIME_NEVER: it never ends */
	uint32_t n_done;                /* ranks that end, */
	uint32_t last_rank;             /* the last of them, */
	struct critical_path path;      /* and what led there */
	struct ideal_problem *problems; /* by rank, then by line */
	size_t n_problems;
};

/* Of a job without servers and multicasts. Refuses one that takes longer than
 * a clock of picoseconds counts, at the line that goes beyond if that is
 * clear. */
HD_MUST_CHECK enum hd_status ideal_run(const struct job *j, const struct ideal_net *net,
				       struct diag *d, struct ideal_result *out);
void ideal_result_fini(struct ideal_result *r);

#endif
