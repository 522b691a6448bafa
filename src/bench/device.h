/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_DEVICE_H
#define HD_BENCH_DEVICE_H

/*
 * Any device of libibverbs as a back-end. The library is loaded when asked
 * for, so that the program runs without it. Ranks are threads of this process
 * on the one device, or processes connected over TCP: with `connect` we are
 * rank 0, with `listen` what rank 0 says.
 */

#include "bench/nic.h"
#include "bench/virtual.h"

struct device_options {
	const char *name;
	const char *listen, *connect; /* or NULL */
	uint64_t gid;                 /* index; used on Ethernet */
	bench_going_fn *going;
	void *going_context;
};

HD_MUST_CHECK enum hd_status device_open(const struct device_options *o, struct diag *d,
					 struct nic_backend *out);
/*
 * Does what rank 0 asks, point by point, until it has no more; each point is
 * `len` bytes of its own that `run` understands.
 */
typedef enum hd_status device_point_fn(struct nic *nic, void *letter, struct diag *d);
HD_MUST_CHECK enum hd_status device_serve(struct nic_backend *b, size_t len, device_point_fn *run,
					  struct diag *d);

#endif
