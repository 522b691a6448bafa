/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_JOBS_JOBS_H
#define HD_SIM_JOBS_JOBS_H

/*
 * The jobs of a scenario on its fabric (docs/timing-rules.md, J1 to J14): every job is
 * an endpoint of the simulator, a sender at each end port; the queue pairs of
 * those that have such are one together.
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
 */

#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/sim.h"

#define JOBS_ALL  UINT32_MAX
/* J11: how often it is asked whether all are done. */
#define JOBS_LOOK (10 * HD_US)

struct jobs;

/*
 * All jobs of the scenario, or the one of that number. Files are read and
 * multicast trees are made; the fabric outlives them.
 */
HD_MUST_CHECK enum hd_status jobs_new(struct fabric *fabric, uint32_t which, struct diag *d,
				      struct jobs **out);
void jobs_free(struct jobs *jobs);
/* Room for the packets of messages. */
void jobs_rules(const struct fabric *fabric, struct sim_rules *rules);
/* Before the first sim_run; once. */
void jobs_attach(struct jobs *jobs, struct sim *s);

bool jobs_done(const struct jobs *jobs);
/* Whether something may be left to do when they are done: timers of queue
 * pairs, which find nothing. */
bool jobs_leave_timers(const struct jobs *jobs);
/* From its start to the end of its last rank; HD_TIME_NEVER: it has none. */
hd_time jobs_completion(const struct jobs *jobs, uint32_t job);

/*
 * Completion, steps, iterations, critical paths, links, ranks and goals;
 * alone[i] is the completion of job i by itself, HD_TIME_NEVER if that is not
 * known. True if all jobs came to their end and met their goals.
 */
bool jobs_tables(const struct jobs *jobs, const hd_time *alone, const struct sim_metrics *m,
		 bool all, struct results *r);

/* ---- iterations that repeat ---------------------------------------------- */

/*
 * A run whose state returns, but for time and counters, does from then on what
 * it did since. What jobs have noted of it is no part of a list of its state
 * (sim_list): it is continued here.
 */

uint32_t jobs_number(const struct jobs *jobs);
/* Can they be continued? */
bool jobs_may_repeat(const struct jobs *jobs);
/*
 * From now on the run pauses when all ranks have ended an iteration of the job
 * that has ended the fewest. Returns how many that job has left; 0: all have
 * ended, and none is watched.
 */
uint32_t jobs_watch(struct jobs *jobs);
/* No longer. */
void jobs_unwatch(struct jobs *jobs);
/* Has another job than the one that is watched ended fewer, or that one all? */
bool jobs_watch_is_stale(const struct jobs *jobs);
/* Bytes that are noted because of that. */
uint64_t jobs_noted(const struct jobs *jobs);

/* How far they are, of a run that has paused and is watched. */
struct jobs_mark;
struct jobs_mark *jobs_mark_new(const struct jobs *jobs);
void jobs_mark_free(struct jobs_mark *m);

struct jobs_repeat {
	const struct jobs_mark *marks[3]; /* two periods ago, one, and now */
	hd_time begin;                    /* two periods ago */
	hd_time period;
	uint64_t n; /* more periods */
};
/* Is what they have noted of the last period that of the one before? */
bool jobs_repeat(const struct jobs *jobs, const struct jobs_repeat *r);
/* `to` has the state after n more periods; the notes of `from` move to it. */
void jobs_continue(struct jobs *from, struct jobs *to, const struct jobs_repeat *r);

#endif
