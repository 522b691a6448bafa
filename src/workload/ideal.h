/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_IDEAL_H
#define HD_WORKLOAD_IDEAL_H

/*
 * A job on an ideal network: a rank's messages are transmitted one after the
 * other at its rate, and each arrives one latency after its last byte was
 * transmitted, without contention. The difference to the time on a fabric is
 * due to the fabric.
 */

#include "workload/rank_group.h"

struct ideal_net {
	hd_time latency;
	struct hd_rate rate;
};

/* A receive without a message or with one that is too large, or a send without a receive. */
struct ideal_problem {
	uint32_t rank;
	struct op op;
	uint32_t source; /* sender of the message that is too large */
	uint64_t came;   /* bytes of the message; 0: no message arrived */
};

struct ideal_result {
	hd_time completion;             /* HD_TIME_NEVER: the job does not finish */
	uint32_t n_done;                /* number of ranks that finish */
	uint32_t last_rank;             /* the last rank that finishes */
	struct critical_path path;      /* critical path of that rank */
	struct ideal_problem *problems; /* by rank, then by line */
	size_t n_problems;
};

/* For a job without servers and multicasts. Rejects a job that exceeds the
 * range of hd_time, at the line that exceeds it if it is known. */
HD_MUST_CHECK enum hd_status ideal_run(const struct job *j, const struct ideal_net *net,
				       struct diag *d, struct ideal_result *out);
void ideal_result_fini(struct ideal_result *r);

#endif
