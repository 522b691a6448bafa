/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_ARBITERS_H
#define HD_SIM_CORE_ARBITERS_H

/* VL arbitration tables of ports and their changes. Internal to src/sim. */

#include "sim/core/state.h"

void arbiters_init(struct sim *s);
void arbiters_fini(struct sim *s);
/* Installs the first table of the link of `port`. */
void arbiter_begin(struct sim *s, uint32_t port);
/* T11c: applies the table changes of this instant. */
void tables_change(struct sim *s);

#endif
