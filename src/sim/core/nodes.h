/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_NODES_H
#define HD_SIM_CORE_NODES_H

/* The array of nodes and their forwarding shortcuts. Internal to src/sim. */

#include "sim/core/state.h"

void nodes_init(struct sim *s);
void nodes_fini(struct sim *s);

#endif
