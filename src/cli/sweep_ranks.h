/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SWEEP_RANKS_H
#define HD_CLI_SWEEP_RANKS_H

/*
 * A sweep by processes that a launcher started: "mpirun -n 3 heddle sweep ...". The processes do
 * not communicate. Each runs its shard into a database of its own next to that of --db
 * (study.db.rank1of3). The last rank to finish merges them, shows the results and removes the
 * others. An interrupted sweep is continued by another call with the same number of ranks.
 */

#include "cli/sweep_session.h"

/* `rank` counts from 0; returns the exit status. */
int cli_sweep_ranks_run(struct sweep_session_options *v, struct study *study, size_t rank,
			size_t n);

#endif
