/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_RUN_H
#define HD_SIM_CORE_RUN_H

/* M3: detection of runs that can no longer make progress. Internal to src/sim. */

#include "sim/core/sim_internal.h"

/* Schedules the first check, EV_STUCK. */
void deadlock_expect(struct sim *s);
/* Time between two checks. */
hd_time deadlock_interval(const struct sim *s);
/* Handles EV_STUCK. */
void deadlock_look(struct sim *s);

#endif
