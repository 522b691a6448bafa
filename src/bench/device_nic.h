/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_DEVICE_NIC_H
#define HD_BENCH_DEVICE_NIC_H

/*
 * State of an open libibverbs device, private to bench/: device.c opens it and
 * runs ranks on it, device_ops.c has the operations of a rank.
 */

#include "bench/device.h"
#include "bench/device_lib.h"
#include "bench/ranks.h"

#define DEVICE_PORT      1
#define DEVICE_ADDRESSES 64 /* address handles cached per rank */

struct device_backend {
	struct device_lib lib;
	struct device_options options;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct bench_ranks remote; /* with listen or connect */
};

struct device_nic {
	struct nic nic;
	struct device_backend *device;
	const struct device_lib *lib;
	struct ibv_pd *pd;
	struct bench_ranks *ranks;
	struct ibv_ah *addresses[DEVICE_ADDRESSES];
	struct nic_address known[DEVICE_ADDRESSES];
	unsigned n_addresses;
	nic_program *program;
	void *argument;
};

extern const struct nic_ops bench_device_ops;

#endif
