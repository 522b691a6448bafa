/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_REPEAT_H
#define HD_RUN_REPEAT_H

/*
 * Leaves out iterations of jobs that would repeat exactly. Internal to src/run.
 *
 *	run_repeats_init(&r, fabric, which, &rules);
 *	do {
 *		run_repeats_begin(&r, jobs, sim);
 *		state = sim_run(sim, limit, ...);
 *	} while (state == SIM_PAUSED && run_repeats_skip(&r, &jobs, &sim, limit));
 */

#include "run/run.h"
#include "sim/jobs/jobs.h"

#define REPEAT_LOOKS 64

/* The state when an iteration has ended. */
struct boundary {
	hd_time now;
	uint64_t hash;
	struct state_list state;
	struct jobs_mark *mark;
};

struct repeats {
	bool is_off;
	bool is_cheap;    /* any number of looks pays */
	bool is_watching; /* pauses at the ends of iterations */
	struct fabric *fabric;
	uint32_t which; /* as jobs_new */
	struct sim_rules rules;
	struct boundary all[REPEAT_LOOKS];
	uint32_t n;
	uint32_t left;    /* iterations of the job that is watched */
	uint64_t hops;    /* at the last look */
	uint64_t numbers; /* of a state */
	/* Results of the search: */
	uint64_t n_skipped; /* iterations that were not computed */
	hd_time period;     /* of the run */
};

/* Of runs in which only the jobs of that number, or all, send. */
void run_repeats_init(struct repeats *r, struct fabric *fabric, uint32_t which,
		      const struct sim_rules *rules, enum run_repeat how);
void run_repeats_fini(struct repeats *r);
/* Before each sim_run. */
void run_repeats_begin(struct repeats *r, struct jobs *jobs, const struct sim *s);
/*
 * After a sim_run that has paused: if the run repeats, continues in a new run of
 * new jobs, after as many periods as possible, before `limit`. Returns whether
 * it does.
 */
bool run_repeats_skip(struct repeats *r, struct jobs **jobs, struct sim **s, hd_time limit);

#endif
