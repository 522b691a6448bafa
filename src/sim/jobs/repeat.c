/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Skipped iterations: detects the end of an iteration, and continues a job's notes over the
 * iterations that are skipped because the state of the run repeats.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

/* End of an iteration: the latest end over the ranks that have ended it so far. */
struct iteration_end {
	hd_time at;
	uint32_t ranks;
};

struct iteration_watch {
	struct iteration_end *ends;
	bool only_last; /* the run pauses only after the last iteration */
};

/* ---- ends of iterations ------------------------------------------------- */

/* Atomic: ranks of several domains may end an iteration in the same window. */
void job_iterated(struct job_domain *s, uint32_t rank)
{
	struct placed_job *p = s->of;
	struct iteration_end *e = &p->watch->ends[p->ranks[rank].iteration - 1];
	hd_time at = __atomic_load_n(&e->at, __ATOMIC_RELAXED), now = s->rank_group.now;

	while (at < now && !__atomic_compare_exchange_n(&e->at, &at, now, false, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
		;
	if (__atomic_add_fetch(&e->ranks, 1, __ATOMIC_ACQ_REL) == p->job.n_ranks &&
	    (!p->watch->only_last || p->ranks[rank].iteration == p->job.repeat))
		sim_pause_after(p->sim, __atomic_load_n(&e->at, __ATOMIC_RELAXED));
}

void job_watch_fini(struct placed_job *p)
{
	if (p->watch)
		free(p->watch->ends);
	free(p->watch);
	p->watch = NULL;
}

static void watch_begin(struct placed_job *p)
{
	p->watch = hd_alloc(1, sizeof(*p->watch));
	p->watch->ends = hd_alloc(p->job.repeat, sizeof(*p->watch->ends));
	for (uint32_t i = 0; i < p->job.n_ranks; i++) {
		if (p->ranks[i].iteration)
			p->watch->ends[p->ranks[i].iteration - 1].ranks++;
	}
	/* A rank that has ended an iteration has ended all earlier ones. */
	for (uint32_t i = p->job.repeat - 1; i > 0; i--)
		p->watch->ends[i - 1].ranks += p->watch->ends[i].ranks;
}

/* The smallest number of iterations that any rank has ended. */
static uint32_t n_iterations(const struct placed_job *p)
{
	uint32_t least = p->job.repeat;

	for (uint32_t i = 0; i < p->job.n_ranks; i++)
		least = p->ranks[i].iteration < least ? p->ranks[i].iteration : least;
	return least;
}

/* The unfinished job with the fewest ended iterations; NULL: none. */
static struct placed_job *slowest(const struct jobs *jobs)
{
	struct placed_job *found = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		struct placed_job *p = &jobs->placed[i];

		if (!job_is_done(p) && (!found || n_iterations(p) < n_iterations(found)))
			found = p;
	}
	return found;
}

uint32_t jobs_number(const struct jobs *jobs)
{
	return jobs->n;
}

bool jobs_may_repeat(const struct jobs *jobs)
{
	if (jobs->lab)
		return false;
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];

		/* Reduction groups and trees are created for a single run. */
		for (uint32_t k = 0; p->steps && k < p->job.n_steps; k++) {
			if (p->mlids[k] || reduction_has_step(&p->steps[k]))
				return false;
		}
	}
	return true;
}

uint32_t jobs_watch(struct jobs *jobs)
{
	struct placed_job *p = slowest(jobs);

	jobs_unwatch(jobs);
	if (!p)
		return 0;
	watch_begin(p);
	for (uint32_t i = 0; i < jobs->n; i++)
		timeline_note_all(&jobs->placed[i], true);
	return p->job.repeat - n_iterations(p);
}

void jobs_watch_last(struct jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		if (jobs->placed[i].watch)
			jobs->placed[i].watch->only_last = true;
		timeline_note_all(&jobs->placed[i], false);
	}
}

void jobs_unwatch(struct jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		job_watch_fini(&jobs->placed[i]);
		timeline_note_all(&jobs->placed[i], false);
	}
}

bool jobs_watch_is_stale(const struct jobs *jobs)
{
	const struct placed_job *p = slowest(jobs);

	if (!p || p->watch)
		return false;
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *other = &jobs->placed[i];

		if (other->watch && !job_is_done(other))
			return n_iterations(p) < n_iterations(other);
	}
	return true;
}

uint64_t jobs_noted(const struct jobs *jobs)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < jobs->n; i++)
		bytes += timeline_noted_bytes(&jobs->placed[i]);
	return bytes;
}

/* ---- progress ------------------------------------------------------------ */

struct jobs_mark {
	struct job_mark {
		uint32_t *posted, *spans, *iteration;
	} * jobs;
	uint32_t n;
};

struct jobs_mark *jobs_mark_new(const struct jobs *jobs)
{
	struct jobs_mark *m = hd_alloc(1, sizeof(*m));

	m->n = jobs->n;
	m->jobs = hd_alloc(m->n, sizeof(*m->jobs));
	for (uint32_t i = 0; i < m->n; i++) {
		const struct placed_job *p = &jobs->placed[i];
		struct job_mark *x = &m->jobs[i];

		x->posted = hd_alloc(p->n_actors, sizeof(*x->posted));
		x->spans = hd_alloc(p->n_timelines, sizeof(*x->spans));
		x->iteration = hd_alloc(p->job.n_ranks, sizeof(*x->iteration));
		for (uint32_t k = 0; k < p->n_actors; k++)
			x->posted[k] = p->actors[k].n_posted;
		for (uint32_t k = 0; k < p->n_timelines; k++)
			x->spans[k] = timeline_noted(p, k);
		for (uint32_t k = 0; k < p->job.n_ranks; k++)
			x->iteration[k] = p->ranks[k].iteration;
	}
	return m;
}

void jobs_mark_free(struct jobs_mark *m)
{
	for (uint32_t i = 0; m && i < m->n; i++) {
		free(m->jobs[i].posted);
		free(m->jobs[i].spans);
		free(m->jobs[i].iteration);
	}
	if (m)
		free(m->jobs);
	free(m);
}

static struct job_periods periods_of(const struct jobs_repeat *r, uint32_t job)
{
	struct job_periods out = { .begin = r->begin, .period = r->period, .n = r->n };

	for (unsigned i = 0; i < 3; i++) {
		const struct job_mark *m = &r->marks[i]->jobs[job];

		out.posted[i] = m->posted;
		out.spans[i] = m->spans;
		out.iteration[i] = m->iteration;
	}
	out.iterations = out.iteration[2][0] - out.iteration[1][0];
	return out;
}

/* ---- steps -------------------------------------------------------------- */

static uint32_t least_of(const struct placed_job *p, const uint32_t *iteration)
{
	uint32_t least = iteration[0];

	for (uint32_t i = 1; i < p->job.n_ranks; i++)
		least = iteration[i] < least ? iteration[i] : least;
	return least;
}

/*
 * Whether all ranks have ended the same number of iterations, and began those of the last two
 * periods within these periods.
 */
static bool steps_repeat(const struct placed_job *p, const struct job_periods *r)
{
	uint32_t now = least_of(p, r->iteration[2]), steps = p->job.n_steps;

	for (uint32_t i = 0; i < p->job.n_ranks; i++) {
		if (r->iteration[2][i] - r->iteration[1][i] != r->iterations ||
		    r->iteration[1][i] - r->iteration[0][i] != r->iterations)
			return false;
	}
	for (size_t i = (size_t)(now - r->iterations) * steps; i < (size_t)now * steps; i++) {
		if (job_step_times(p, i).begin <= r->begin)
			return false;
	}
	return true;
}

static void steps_continue(const struct placed_job *from, struct placed_job *to,
			   const struct job_periods *r)
{
	uint32_t now = least_of(from, r->iteration[2]), steps = from->job.n_steps;
	uint64_t skipped = r->n * r->iterations, end = now + skipped;

	for (uint64_t i = 0; i < from->job.repeat; i++) {
		uint64_t like = i < now   ? i
				: i < end ? now - r->iterations + (i - now) % r->iterations
					  : i - skipped;
		/* A hung job may have ranks that are ahead; their times do not change. */
		uint64_t m = i < now || !r->iterations ? 0
			     : i < end                 ? (i - like) / r->iterations
						       : r->n;

		for (uint32_t k = 0; k < steps; k++) {
			struct step_span l = job_step_times(from, (size_t)like * steps + k);

			l.begin += l.begin == HD_TIME_NEVER ? 0 : m * r->period;
			l.end += l.end ? m * r->period : 0;
			to->shares[0].rank_group.steps[(size_t)i * steps + k] = l;
		}
	}
}

/* ---- complete jobs ------------------------------------------------------- */

static bool job_repeats(const struct placed_job *p, const struct job_periods *r)
{
	bool repeats = steps_repeat(p, r);

	for (uint32_t i = 0; i < p->n_actors && repeats; i++)
		repeats = chain_repeats(p, r, i);
	for (uint32_t i = 0; i < p->n_timelines && repeats; i++)
		repeats = r->spans[2][i] - r->spans[1][i] == r->spans[1][i] - r->spans[0][i];
	return repeats;
}

bool jobs_repeat(const struct jobs *jobs, const struct jobs_repeat *r)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct job_periods periods = periods_of(r, i);

		if (!job_repeats(&jobs->placed[i], &periods))
			return false;
	}
	return true;
}

void jobs_continue(struct jobs *from, struct jobs *to, const struct jobs_repeat *r)
{
	for (uint32_t i = 0; i < from->n; i++) {
		struct placed_job *a = &from->placed[i], *b = &to->placed[i];
		const struct job_periods periods = periods_of(r, i);

		steps_continue(a, b, &periods);
		for (uint32_t k = 0; k < a->n_actors; k++)
			chain_continue(a, b, &periods, k);
		for (uint32_t k = 0; k < a->n_timelines; k++)
			timeline_continue(a, b, &periods, k);
	}
}
