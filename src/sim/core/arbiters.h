/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_ARBITERS_H
#define HD_SIM_CORE_ARBITERS_H

/* VL arbitration tables of ports and their changes. Internal to src/sim. */

#include "sim/core/sim_internal.h"

void arbiters_init(struct sim *s);
void arbiters_fini(struct sim *s);
/* Installs the first table of the link of `port`. */
void arbiters_begin(struct sim *s, uint32_t port);
/* T11c: applies the table changes of this instant. */
void arbiters_change(struct sim *s);

#endif
