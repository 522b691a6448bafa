/* SPDX-License-Identifier: BSD-2-Clause */
/* End of a run with jobs (J11), and the completion time of each job without other load. */
#include <stdlib.h>

#include "base/alloc.h"
#include "run/run_internal.h"

/* A run without flows and queue-pair timers ends when its jobs end; it needs no checks. */
hd_time run_next_job_check(const struct run *s)
{
	return s->jobs && (s->fabric->n_flows || jobs_leave_timers(s->jobs))
		       ? (sim_now(s->sim) / JOBS_LOOK + 1) * JOBS_LOOK
		       : HD_TIME_NEVER;
}

/* Frees the run of one job, whether it has ended or was abandoned. */
static void alone_end(struct run *s)
{
	run_repeats_fini(&s->alone.repeats);
	sim_free(s->alone.sim);
	jobs_free(s->alone.jobs);
	s->alone.sim = NULL;
	s->alone.jobs = NULL;
}

static enum hd_status alone_begin(struct run *s, struct diag *d)
{
	struct sim_rules rules = s->fabric->rules;
	enum hd_status status = jobs_new(s->fabric, s->alone.next, d, &s->alone.jobs);

	if (status != HD_OK)
		return status;
	rules.flow_metrics = rules.port_metrics = false;
	jobs_rules(s->fabric, &rules);
	rules.world = s->options.world;
	run_repeats_init(&s->alone.repeats, s->fabric, s->alone.next, &rules, s->options.repeat);
	s->alone.repeats.is_off |= s->options.world != NULL;
	s->alone.sim = sim_new(&s->fabric->setup, NULL, 0, &rules);
	jobs_attach(s->alone.jobs, s->alone.sim);
	return HD_OK;
}

/* A sim_progress_fn that reports the progress of the main run, which has already ended. */
static bool alone_progress(void *context, const struct sim_progress *p)
{
	struct run *s = context;
	struct sim_progress whole;

	(void)p;
	sim_progress(s->sim, &whole);
	s->is_stopped |= !s->options.progress(s->options.context, &whole);
	return !s->is_stopped;
}

/*
 * With several processes the progress callback is not called: each process would stop at a
 * different instant.
 */
static enum hd_status alone_run(struct run *s, struct diag *d)
{
	bool is_asked = s->options.progress && !s->options.world;
	enum hd_status status = s->alone.sim ? HD_OK : alone_begin(s, d);

	if (status != HD_OK)
		return status;
	enum sim_state state;

	do {
		run_repeats_begin(&s->alone.repeats, s->alone.jobs, s->alone.sim);
		state = sim_run(s->alone.sim, HD_TIME_NEVER, is_asked ? alone_progress : NULL, s);
		run_repeats_skip(&s->alone.repeats, &s->alone.jobs, &s->alone.sim, HD_TIME_NEVER);
	} while (state == SIM_PAUSED && !s->is_stopped);
	if (state == SIM_PAUSED)
		return HD_OK;
	if (state == SIM_BROKEN)
		status = run_refuse_broken(s, s->alone.sim, d);
	s->alone.completion[s->alone.next] = jobs_completion(s->alone.jobs, 0);
	alone_end(s);
	return status;
}

void run_alone_init(struct run *s)
{
	uint32_t n = (uint32_t)s->fabric->scenario->n_jobs;

	s->alone.completion = hd_alloc(n, sizeof(*s->alone.completion));
	for (uint32_t i = 0; i < n; i++)
		s->alone.completion[i] = HD_TIME_NEVER;
}

void run_alone_fini(struct run *s)
{
	if (s->alone.sim)
		alone_end(s);
	free(s->alone.completion);
}

bool run_alone_is_left(const struct run *s)
{
	return s->jobs && s->alone.next < s->fabric->scenario->n_jobs;
}

enum hd_status run_jobs_alone(struct run *s, struct diag *d)
{
	const struct scenario *scenario = s->fabric->scenario;
	bool others = s->fabric->n_flows || scenario->n_jobs > 1;
	enum hd_status status = HD_OK;

	for (; run_alone_is_left(s); s->alone.next++) {
		uint32_t i = s->alone.next;

		if (!others)
			s->alone.completion[i] = jobs_completion(s->jobs, i);
		else if (scenario->jobs[i].alone)
			status = alone_run(s, d);
		if (status != HD_OK || s->alone.sim)
			break;
	}
	return status;
}
