/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_VIRTUAL_H
#define HD_BENCH_VIRTUAL_H

/*
 * Back-end for the simulated adapter: exact, repeatable, and as fast as the
 * simulator. Every run is a separate simulation that starts at time 0; rank i
 * is host i.
 */

#include <stdio.h>

#include "bench/nic.h"
#include "hca/testbed.h"

/* Called periodically during a simulation; false ends it. */
typedef bool bench_going_fn(void *context);

struct virtual_options {
	const char *profile;
	const char *scenario;              /* NULL: the profile's fabric */
	const struct overrides *overrides; /* of its scenario; may be NULL */
	/*
	 * A capture of all runs in sequence, or NULL. Each run begins at a
	 * whole second: the first at 0, the next one second later or, if the
	 * previous run took longer, at the next whole second.
	 */
	FILE *capture;
	bench_going_fn *going;
	void *going_context;
};

HD_MUST_CHECK enum hd_status virtual_open(const struct virtual_options *o, struct diag *d,
					  struct nic_backend *out);
/* Costs of hosts and adapters in later runs; may be changed. */
struct hca_profile *virtual_profile(struct nic_backend *b);

#endif
