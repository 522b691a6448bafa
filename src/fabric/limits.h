/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_LIMITS_H
#define HD_FABRIC_LIMITS_H

/*
 * Limits of a simulation. The engine packs numbers into a few bits each (sim/core/sim_internal.h);
 * a file or an option may exceed them. All limits are in one table and are checked before a run;
 * the engine relies on them.
 */

#include "base/diag.h"
#include "fabric/flow.h"
#include "fabric/setup.h"

#define SIM_PORT_BITS   27
#define SIM_ID_BITS     28
#define SIM_MOST_PORTS  ((UINT64_C(1) << SIM_PORT_BITS) - 1)
#define SIM_MOST_IDS    (UINT64_C(1) << SIM_ID_BITS)
#define SIM_MOST_RATES  256
#define SIM_MOST_TABLES (UINT16_MAX - 1)
#define SIM_MOST_BLOCKS 2048 /* of a packet; limited by the credit fields */

/* A limited quantity. */
struct fabric_limit {
	const char *what; /* "link rates" */
	uint64_t most;
};
extern const struct fabric_limit fabric_limits[];
extern const unsigned fabric_n_limits;

/* HD_ERR_RANGE with one line that names the exceeded limit. */
HD_MUST_CHECK enum hd_status fabric_limits_check(const struct sim_setup *setup,
						 const struct sim_flow *flows, uint32_t n_flows,
						 struct diag *d);

#endif
