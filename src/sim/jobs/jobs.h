/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_JOBS_JOBS_H
#define HD_SIM_JOBS_JOBS_H

/*
 * The jobs of a scenario on its fabric (docs/timing-rules.md, J1 to J14). Each job is an endpoint
 * of the simulator and a sender at each of its end ports; the queue pairs of all jobs that use them
 * form one further endpoint.
 *
 *	if (jobs_new(fabric, JOBS_ALL, &d, &jobs) == HD_OK) {
 *		struct sim_rules rules = fabric->rules;
 *
 *		jobs_rules(fabric, &rules);
 *		struct sim *s = sim_new(&fabric->setup, ..., &rules);
 *		jobs_attach(jobs, s);
 *		sim_run(s, ...);
 *		jobs_tables(jobs, alone, sim_metrics(s), all, results);
 *		sim_free(s);
 *		jobs_free(jobs);
 *	}
 */

#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/sim.h"

#define JOBS_ALL  UINT32_MAX
/* J11: interval of the check whether all jobs are done. */
#define JOBS_LOOK (10 * HD_US)

struct jobs;

/*
 * Creates all jobs of the scenario (JOBS_ALL), or the job `which`. Reads goal files and creates
 * multicast trees. The fabric must outlive the jobs.
 */
HD_MUST_CHECK enum hd_status jobs_new(struct fabric *fabric, uint32_t which, struct diag *d,
				      struct jobs **out);
void jobs_free(struct jobs *jobs);
/* Extends the rules to the packets of messages. */
void jobs_rules(const struct fabric *fabric, struct sim_rules *rules);
/* Call once, before the first sim_run. */
void jobs_attach(struct jobs *jobs, struct sim *s);

bool jobs_done(const struct jobs *jobs);
/*
 * Whether timers of queue pairs may still be pending when all jobs are done; they have no
 * effect.
 */
bool jobs_leave_timers(const struct jobs *jobs);
/* Time from the start of the job to the end of its last rank; HD_TIME_NEVER: not ended. */
hd_time jobs_completion(const struct jobs *jobs, uint32_t job);

/*
 * Adds the tables of completion, steps, iterations, critical paths, links, ranks and goals.
 * alone[i] is the completion of job i without other load; HD_TIME_NEVER: not known. Returns true
 * if all jobs have ended and met their goals.
 */
bool jobs_tables(const struct jobs *jobs, const hd_time *alone, const struct sim_metrics *m,
		 bool all, struct results *r);

/* ---- iterations that repeat ---------------------------------------------- */

/*
 * If the state of a run returns, except for time and counters, the run repeats what it has done
 * since. The notes of jobs are not part of the listed state (sim_list); the functions below
 * continue them.
 */

uint32_t jobs_number(const struct jobs *jobs);
/* Whether the notes of all jobs can be continued. */
bool jobs_may_repeat(const struct jobs *jobs);
/*
 * From now on the run pauses when all ranks have ended an iteration of the job with the fewest
 * ended iterations. Returns the number of iterations that this job has left; 0: all jobs have
 * ended, and none is watched.
 */
uint32_t jobs_watch(struct jobs *jobs);
/* Like jobs_watch(), but the run pauses only when the watched job has ended. Ends the notes. */
void jobs_watch_last(struct jobs *jobs);
/* Ends jobs_watch(). */
void jobs_unwatch(struct jobs *jobs);
/* Whether another job now has fewer ended iterations, or the watched job has ended. */
bool jobs_watch_is_stale(const struct jobs *jobs);
/* Bytes of notes kept because of jobs_watch(). */
uint64_t jobs_noted(const struct jobs *jobs);

/* Progress of the jobs at a pause of a watched run. */
struct jobs_mark;
struct jobs_mark *jobs_mark_new(const struct jobs *jobs);
void jobs_mark_free(struct jobs_mark *m);

struct jobs_repeat {
	const struct jobs_mark *marks[3]; /* two periods ago, one period ago, and now */
	hd_time begin;                    /* two periods ago */
	hd_time period;
	uint64_t n; /* periods to skip */
};
/* Whether the notes of the last period equal those of the period before it. */
bool jobs_repeat(const struct jobs *jobs, const struct jobs_repeat *r);
/*
 * Moves the notes of `from` to `to`, whose state is that after n more periods, and adds the
 * notes of these periods.
 */
void jobs_continue(struct jobs *from, struct jobs *to, const struct jobs_repeat *r);

#endif
