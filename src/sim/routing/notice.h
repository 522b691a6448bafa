/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_ROUTING_NOTICE_H
#define HD_SIM_ROUTING_NOTICE_H

/*
 * Notices from neighbours to adaptive switches (docs/timing-rules.md, D6). They follow from the
 * faults of the run, which are known before it begins. Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

struct notices;

/* For a run that ends at `stop` (0: open); NULL without notifications. */
struct notices *notice_table_new(const struct sim_setup *setup, hd_time stop);
void notice_table_free(struct notices *n);

/* Whether a switch excludes a port now because of a notice of the switch behind it. */
bool notice_holds(const struct notices *n, switch_id sw, switch_id target, unsigned port,
		  hd_time now);

#endif
