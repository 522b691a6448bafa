/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SWEEP_RANKS_H
#define HD_CLI_SWEEP_RANKS_H

/*
 * A sweep by processes that a launcher started together: "mpirun -n 3 heddle
 * sweep ...". They need not talk to each other: each runs its shard into a
 * database of its own next to that of --db (study.db.rank1of3), and the rank that
 * comes last joins them there, shows the results and removes the others. What
 * was interrupted continues when it is called again with as many ranks.
 */

#include "cli/sweep_session.h"

/* `rank` counts from 0; the exit status. */
int cli_sweep_ranks_run(struct sweep_session_options *v, struct study *study, size_t rank,
			size_t n);

#endif
