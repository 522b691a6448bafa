/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_VIRTUAL_H
#define HD_BENCH_VIRTUAL_H

/*
 * The simulated adapter as a back-end: exact, repeatable, and as fast as the
 * simulator. Every run is a lab of its own that starts at time 0; rank i is
 * host i.
 */

#include <stdio.h>

#include "bench/nic.h"
#include "hca/testbed.h"

/* Asked now and then while a simulation runs; false ends it. */
typedef bool bench_going_fn(void *context);

struct virtual_options {
	const char *profile;
	const char *scenario;              /* or NULL: the profile's fabric */
	const struct overrides *overrides; /* of its scenario, or NULL */
	/*
	 * Or NULL: a capture of all runs, in their order. Each begins at a
	 * whole second, the first at 0, the next a second later or, if it took
	 * longer, at the first second that is free.
	 */
	FILE *capture;
	bench_going_fn *going;
	void *going_context;
};

HD_MUST_CHECK enum hd_status virtual_open(const struct virtual_options *o, struct diag *d,
					  struct nic_backend *out);
/* What hosts and adapters cost in the runs to come; may be changed. */
struct hca_profile *virtual_profile(struct nic_backend *b);

#endif
