/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_DEADLOCK_H
#define HD_SIM_CORE_DEADLOCK_H

/* Detection of deadlocks. Internal to src/sim. */

#include "sim/core/sim_internal.h"

/* True if there is a set of packets that can never move again. */
bool deadlock_exists(struct sim *s);
/* With several processes: collects the state that sim_deadlock() needs. All processes call it. */
void deadlock_note(struct sim *s);

#endif
