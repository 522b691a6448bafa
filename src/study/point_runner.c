/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/point_runner.h"

#include <stdlib.h>

#include "base/alloc.h"

struct point_queue {
	const struct point_runner *runner;
	struct point_job **jobs; /* those that are run */
	size_t n;
	size_t stored; /* number of the runner's first jobs that have been stored */
	struct diag d; /* of the first refusal of `store` */
};

/* In a process of its own. */
static enum hd_status work(void *context, size_t job, const char *db, struct diag *d)
{
	const struct point_queue *q = context;

	return point_run(q->jobs[job]->study, q->jobs[job]->point, db, d);
}

/* Stores the job unless its outcome is unknown. */
static bool store(struct point_queue *q, size_t job)
{
	const struct point_runner *r = q->runner;

	return !point_outcome_is_known(r->jobs[job].outcome) ||
	       r->store(r->context, job, &q->d) == HD_OK;
}

static bool done(void *context, size_t job, struct point_outcome *outcome)
{
	struct point_queue *q = context;
	const struct point_runner *r = q->runner;
	bool good = q->d.status == HD_OK; /* after a refusal nothing is stored */

	point_condense(q->jobs[job]->study, outcome);
	*q->jobs[job]->outcome = *outcome;
	r->ended(r->context, (size_t)(q->jobs[job] - r->jobs));
	while (good && q->stored < r->n && point_outcome_is_known(r->jobs[q->stored].outcome))
		good = store(q, q->stored++);
	return good;
}

enum hd_status point_runner_run(const struct point_runner *r, struct diag *d)
{
	struct point_queue q = { .runner = r, .d = { .status = HD_OK } };
	const struct processes processes = {
		.at_once = r->at_once, .work = work, .done = done, .context = &q
	};
	enum hd_status status = HD_OK;

	q.jobs = hd_alloc(r->n, sizeof(struct point_job *));
	for (size_t i = 0; i < r->n; i++) {
		if (!point_outcome_is_known(r->jobs[i].outcome))
			q.jobs[q.n++] = &r->jobs[i];
	}
	if (q.n)
		status = processes_run(&processes, q.n, d);
	/* The jobs behind one that was interrupted. */
	while (status == HD_OK && q.d.status == HD_OK && q.stored < r->n)
		(void)store(&q, q.stored++);
	if (status == HD_OK && q.d.status != HD_OK) {
		*d = q.d;
		status = d->status;
	}
	free(q.jobs);
	return status;
}
