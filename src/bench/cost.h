/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_COST_H
#define HD_BENCH_COST_H

/* Programs for verbs that move no data, and for multicast. */

#include "bench/params.h"

void cost_program(struct nic *nic, struct bench_point *point);
void bench_multicast_program(struct nic *nic, struct bench_point *point);

#endif
