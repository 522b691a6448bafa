/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SIM_SESSION_H
#define HD_CLI_SIM_SESSION_H

/*
 * What 'heddle sim' does: alone, or as one of the processes that a launcher
 * started together. Those compute one run; the first one writes and prints.
 */

#include "base/mpi/world.h"
#include "cli/scenario.h"
#include "run/run.h"

struct sim_session_options {
	struct common_options common;
	struct fabric_choice scenario;
	struct run_options run;
	const char *live;               /* the name of a live fabric, or NULL */
	double pace;                    /* of it; 0: as fast as it goes */
	struct cli_live_tables *tables; /* that it has */
	bool explain, all, counters, checksum;
	struct world world;
};

int sim_session_run(struct sim_session_options *v, const char *file);

/*
 * Runs it on v->tables, which change meanwhile, and tells the live fabric what
 * came of it. In the place of *s there may be another run.
 */
HD_MUST_CHECK enum hd_status sim_session_live(struct sim_session_options *v, const char *file,
					      struct run **s, struct diag *d);

#endif
