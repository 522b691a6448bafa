/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_IDEAL_H
#define HD_WORKLOAD_IDEAL_H

/*
 * A job on an ideal network: a rank's messages leave one after the other at
 * its rate, and each is there a latency after its last byte has left; nobody
 * is in anybody's way. What a fabric adds is all beyond this.
 */

#include "workload/gang.h"

struct ideal_net {
	hd_time latency;
	struct hd_rate rate;
};

struct ideal_result {
	hd_time completion; /* HD_TIME_NEVER: it never ends */
	uint32_t last_rank; /* of those that end */
	struct path path;   /* what led there */
	/* The lowest rank that does not end, GANG_NONE: all do; and what it
	 * waits for. */
	uint32_t stuck_rank;
	struct op stuck_op;
};

/* Of a job without servers and multicasts. */
void ideal_run(const struct job *j, const struct ideal_net *net,
	       struct ideal_result *out);

#endif
