/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of a scenario's jobs that do not depend on the fabric. */
#include <string.h>

#include "scenario/checks.h"

const char *const scn_operation_names[SCN_OPERATIONS] = {
	"compute",        "barrier",  "broadcast", "reduce", "allreduce", "allgather",
	"reduce_scatter", "alltoall", "halo",      "shift",  "read",      "write",
};

enum scn_operation scn_step_operation(const struct scn_step *s)
{
	unsigned i = 0;

	while (i < SCN_OPERATIONS && s->amount[i] == SCN_NOT_GIVEN)
		i++;
	return (enum scn_operation)i;
}

unsigned scenario_job_sl(const struct scenario *s, const struct scn_job *j)
{
	if (j->service)
		return (unsigned)scenario_class(s, j->service)->sl;
	return j->sl == SCN_SL_AUTO ? 0 : (unsigned)j->sl;
}

bool scenario_jobs_over_rc(const struct scenario *s)
{
	for (size_t i = 0; i < s->n_jobs; i++) {
		if (s->jobs[i].transport == SCN_JOB_RC)
			return true;
	}
	return false;
}

bool scenario_jobs_multicast(const struct scenario *s)
{
	for (size_t i = 0; i < s->n_jobs; i++) {
		const struct scn_job *j = &s->jobs[i];

		for (size_t k = 0; k < j->n_program; k++) {
			const char *name = j->program[k].algorithm;

			if (name &&
			    (strcmp(name, "multicast") == 0 || strcmp(name, "in-network") == 0))
				return true;
		}
	}
	return false;
}

static enum hd_status check_step(const struct scenario *s, struct diag *d, const struct scn_job *j,
				 const struct scn_step *step)
{
	enum scn_operation what = scn_step_operation(step);
	bool stores = what == SCN_READ || what == SCN_WRITE;

	if (what == SCN_OPERATIONS)
		return scenario_refuse(
			s, d, step,
			"job '%s': a step without an operation (compute, allreduce, ...)", j->name);
	for (unsigned i = what + 1; i < SCN_OPERATIONS; i++) {
		if (step->amount[i] != SCN_NOT_GIVEN)
			return scenario_refuse(s, d, &step->amount[i],
					       "job '%s': %s and %s in one step", j->name,
					       scn_operation_names[what], scn_operation_names[i]);
	}
	if (stores != (step->to != NULL))
		return scenario_refuse(s, d, stores ? (const void *)step : (const void *)&step->to,
				       stores ? "job '%s': %s needs servers, 'to'"
					      : "job '%s': %s has no servers",
				       j->name, scn_operation_names[what]);
	return HD_OK;
}

static enum hd_status check_job(const struct scenario *s, struct diag *d, const struct scn_job *j)
{
	enum hd_status status = HD_OK;

	if (j->service && !scenario_class(s, j->service))
		return scenario_refuse_class(s, d, &j->service);
	if (j->service && j->sl != SCN_SL_AUTO)
		return scenario_refuse(s, d, &j->sl, "job '%s' has both a class and an SL",
				       j->name);
	if (check_partition(s, d, &j->partition) != HD_OK)
		return d->status;
	if (j->rails == SCN_RAILS_PEER && !s->fabric.intra_host.rate.num)
		return scenario_refuse(
			s, d, &j->rails,
			"job '%s': rails of peers need a link inside hosts (fabric.intra_host)",
			j->name);
	if (!j->goal == !j->n_program)
		return scenario_refuse(
			s, d, j, "job '%s' needs a program or a goal file, one of them", j->name);
	if (j->repeat * (j->n_program ? j->n_program : 1) > (1u << 22))
		return scenario_refuse(s, d, &j->repeat,
				       "job '%s' has more than 2^22 steps, all iterations together",
				       j->name);
	for (size_t i = 0; i < j->n_program && status == HD_OK; i++)
		status = check_step(s, d, j, &j->program[i]);
	return status;
}

enum hd_status check_jobs(const struct scenario *s, struct diag *d)
{
	enum hd_status status = HD_OK;

	if (s->n_jobs > SCN_MOST_JOBS)
		return scenario_refuse(s, d, &s->jobs[SCN_MOST_JOBS], "more than %u jobs",
				       SCN_MOST_JOBS);
	if (s->n_jobs)
		status = scenario_has_no_capacity(s, "jobs", d);
	for (size_t i = 0; i < s->n_jobs && status == HD_OK; i++)
		status = check_job(s, d, &s->jobs[i]);
	return status;
}

enum hd_status check_job_goal(const struct scenario *s, struct diag *d, const struct scn_goal *g)
{
	bool asks = g->completion || g->slowdown.num;
	bool found = false;

	for (size_t i = 0; g->job && i < s->n_jobs; i++)
		found |= strcmp(s->jobs[i].name, g->job) == 0;
	if (g->job && !found)
		return scenario_refuse(s, d, &g->job, "no job '%s'", g->job);
	if (asks && g->row)
		return scenario_refuse(
			s, d, &g->row,
			"completion and slowdown are goals of jobs, not of traffic rows");
	if (g->job && !asks)
		return scenario_refuse(s, d, g, "a goal of a job is a completion or a slowdown");
	return HD_OK;
}
