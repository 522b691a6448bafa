/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_ENGINE_H
#define HD_TESTS_ENGINE_H

/* The simulator under test, run on a case of the oracle's. */

#include "oracle.h"

/*
 * Cut into the given domains; returns their number. With queue pairs the
 * case runs as a scenario's rows would, on adapters that take no time; the
 * run ends at a deadlock (M3), before the horizon.
 */
uint32_t engine_replay(const struct oracle_case *c, struct sim_replay_cut cut,
		       struct sim_record *out, hd_time *end);

#endif
