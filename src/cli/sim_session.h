/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SIM_SESSION_H
#define HD_CLI_SIM_SESSION_H

/*
 * 'heddle sim', as one process or as several that a launcher started. Several processes compute
 * one run; the first one writes and prints.
 */

#include "base/mpi/world.h"
#include "cli/scenario.h"
#include "run/run.h"

struct sim_session_options {
	struct common_options common;
	struct fabric_choice scenario;
	struct run_options run;
	const char *live;           /* name of a live fabric, or NULL */
	double pace;                /* simulated seconds per second; 0: no limit */
	struct live_tables *tables; /* tables of the live fabric */
	bool explain, all, counters, checksum;
	struct world world;
};

int sim_session_run(struct sim_session_options *v, const char *file);

/*
 * Runs on v->tables, which may change meanwhile, and reports the results to the live fabric. *s
 * may be replaced by a rebuilt run.
 */
HD_MUST_CHECK enum hd_status sim_session_live(struct sim_session_options *v, const char *file,
					      struct run **s, struct diag *d);

#endif
