/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_KERNEL_H
#define HD_TESTS_KERNEL_H

/*
 * A bare virtual cut-through kernel, to which the engine's speed is compared:
 * virtual output queues, credits per packet, forwarding tables, one VL, packets
 * of one size to uniform random destinations, three events per hop (head
 * arrives, link free, credit returns), no statistics. It shares no code with
 * the engine.
 */

#include "sim/core/workload_for_tests.h"

/* Packet-hops per CPU second, the best of `parts` parts of `hops` in all. */
double kernel_rate(const struct workload *w, uint64_t hops, unsigned parts);

#endif
