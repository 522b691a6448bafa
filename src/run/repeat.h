/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_REPEAT_H
#define HD_RUN_REPEAT_H

/*
 * Skips iterations of jobs that would repeat exactly. Internal to src/run.
 *
 *	run_repeats_init(&r, fabric, which, &rules, how);
 *	do {
 *		run_repeats_begin(&r, jobs, sim);
 *		state = sim_run(sim, limit, ...);
 *	} while (state == SIM_PAUSED && run_repeats_skip(&r, &jobs, &sim, limit));
 *
 * The results are those of a run that computes all iterations. The caller owns `jobs` and
 * `sim`; run_repeats_skip may free and replace both.
 */

#include "run/run.h"
#include "sim/jobs/jobs.h"

#define REPEAT_LOOKS 64

/* State of the run when all ranks have ended an iteration. */
struct boundary {
	hd_time now;
	uint64_t hash;
	struct state_list state;
	struct jobs_mark *mark;
};

struct repeats {
	bool is_off;
	bool is_cheap;     /* no limit on the cost of the search */
	bool is_watching;  /* the run pauses at the ends of iterations */
	bool has_given_up; /* it pauses at the end of the watched job */
	struct fabric *fabric;
	uint32_t which; /* job number, or JOBS_ALL */
	struct sim_rules rules;
	struct boundary all[REPEAT_LOOKS];
	uint32_t n;
	uint32_t left;    /* remaining iterations of the watched job */
	uint64_t hops;    /* at the last look */
	uint64_t numbers; /* length of the last listed state */
	/* Results of the search: */
	uint64_t n_skipped; /* iterations that were not computed */
	hd_time period;     /* simulated time of one repetition */
};

/* Only the jobs `which` (a number, or JOBS_ALL) may send in the run. */
void run_repeats_init(struct repeats *r, struct fabric *fabric, uint32_t which,
		      const struct sim_rules *rules, enum run_repeat how);
void run_repeats_fini(struct repeats *r);
/* Call before each sim_run. */
void run_repeats_begin(struct repeats *r, struct jobs *jobs, const struct sim *s);
/*
 * Call after a sim_run that has paused. If the run repeats, replaces *jobs and *s by a new run
 * that continues after as many periods as fit before `limit`, and returns true.
 */
bool run_repeats_skip(struct repeats *r, struct jobs **jobs, struct sim **s, hd_time limit);

#endif
