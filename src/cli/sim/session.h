/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SIM_SESSION_H
#define HD_CLI_SIM_SESSION_H

/*
 * What 'heddle sim' does: alone, or as one of the processes that a launcher
 * started together. Those compute one run; the first one writes and prints.
 */

#include "cli/scenario.h"
#include "lib/simulation.h"
#include "ranks/world.h"

struct sim_values {
	struct common_options common;
	struct fabric_choice scenario;
	struct simulation_options run;
	const char *live; /* the name of a live fabric, or NULL */
	bool explain, all, counters, checksum;
	struct world world;
};

int sim_session(struct sim_values *v, const char *file);

#endif
