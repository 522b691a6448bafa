/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_NODES_H
#define HD_SIM_CORE_NODES_H

/* The array of nodes and their forwarding shortcuts. Internal to src/sim. */

#include "sim/core/sim_internal.h"

void switch_nodes_init(struct sim *s);
void switch_nodes_fini(struct sim *s);

#endif
