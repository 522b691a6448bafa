/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_DEVICE_H
#define HD_BENCH_DEVICE_H

/*
 * Back-end for any device of libibverbs. The library is loaded on demand, so
 * that the program runs without it. Ranks are threads of this process on the
 * one device, or processes connected over TCP: with `connect` this process is
 * rank 0; with `listen` rank 0 assigns its rank.
 */

#include "bench/nic.h"
#include "bench/virtual.h"

struct device_options {
	const char *name;
	const char *listen, *connect; /* may be NULL */
	uint64_t gid;                 /* index; used on Ethernet */
	bench_going_fn *going;
	void *going_context;
};

HD_MUST_CHECK enum hd_status device_open(const struct device_options *o, struct diag *d,
					 struct nic_backend *out);
/*
 * Executes points for rank 0 until there are no more. Each point is `len` bytes
 * in the format of `run`.
 */
typedef enum hd_status device_point_fn(struct nic *nic, void *letter, struct diag *d);
HD_MUST_CHECK enum hd_status device_serve(struct nic_backend *b, size_t len, device_point_fn *run,
					  struct diag *d);

#endif
