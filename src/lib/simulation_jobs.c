/* SPDX-License-Identifier: BSD-2-Clause */
/* When a run with jobs is over, and how long they take by themselves. */
#include "base/alloc.h"
#include "lib/simulation_parts.h"

/* Beside nothing else, a run ends with them. */
hd_time jobs_next_look(const struct simulation *s)
{
	return s->jobs && (s->fabric->n_flows || jobs_leave_timers(s->jobs))
		       ? (sim_now(s->sim) / JOBS_LOOK + 1) * JOBS_LOOK
		       : HD_TIME_NEVER;
}

static enum hd_status run_one(struct simulation *s, uint32_t which,
			      struct diag *d)
{
	struct sim_rules rules = s->fabric->rules;
	struct jobs *one;
	enum hd_status status = jobs_new(s->fabric, which, d, &one);

	if (status != HD_OK)
		return status;
	rules.flow_metrics = rules.port_metrics = false;
	jobs_rules(s->fabric, &rules);
	rules.world = s->options.world;
	struct sim *sim = sim_new(&s->fabric->setup, NULL, 0, &rules);

	jobs_attach(one, sim);
	if (sim_run(sim, HD_TIME_NEVER, NULL, NULL) == SIM_BROKEN)
		status = refuse_broken(s, sim, d);
	s->alone[which] = jobs_completion(one, 0);
	sim_free(sim);
	jobs_free(one);
	return status;
}

enum hd_status jobs_run_alone(struct simulation *s, struct diag *d)
{
	const struct scenario *scenario = s->fabric->scenario;
	bool others = s->fabric->n_flows || scenario->n_jobs > 1;
	enum hd_status status = HD_OK;

	s->alone = hd_alloc(scenario->n_jobs, sizeof(*s->alone));
	for (uint32_t i = 0; i < scenario->n_jobs && status == HD_OK; i++) {
		s->alone[i] =
			others ? HD_TIME_NEVER : jobs_completion(s->jobs, i);
		if (others && scenario->jobs[i].alone)
			status = run_one(s, i, d);
	}
	return status;
}
