/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "fabric/setup.h"
#include "measure/cell.h"
#include "measure/results.h"
#include "sim/jobs/jobs.h"
#include "sim/jobs/jobs_internal.h"
#include "sim/sim.h"
#include "workload/collective.h"
#include "workload/rank_group.h"

#define FEW 32 /* rows without `all` */

/* ---- results of all domains ---------------------------------------------- */

uint32_t job_ranks_done(const struct placed_job *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_shares; i++)
		n += p->shares[i].rank_group.n_done;
	return n;
}

const struct rank_group *job_last_domain(const struct placed_job *p)
{
	const struct rank_group *last = NULL;

	for (uint32_t i = 0; i < p->n_shares; i++) {
		const struct rank_group *t = &p->shares[i].rank_group;

		if (t->last_rank == RANK_GROUP_NONE)
			continue;
		if (!last || t->last > last->last ||
		    (t->last == last->last && t->last_rank < last->last_rank))
			last = t;
	}
	return last;
}

bool job_is_done(const struct placed_job *p)
{
	return job_ranks_done(p) == p->job.n_ranks;
}

const char *job_port_name(struct table *t, const struct placed_job *p, uint32_t port)
{
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(p->fabric, port, &name);
	return table_take(t, &name);
}

const char *job_host_name(struct table *t, const struct placed_job *p, uint32_t actor)
{
	uint32_t node = p->actors[actor].node;

	return job_port_name(t, p, p->fabric->setup.nodes[node].first_port + 1);
}

const char *job_actor_name(struct table *t, const struct placed_job *p, uint32_t actor)
{
	return actor < p->job.n_ranks ? table_text(t, "rank %u", actor)
				      : job_host_name(t, p, actor);
}

struct step_span job_step_times(const struct placed_job *p, size_t step)
{
	struct step_span all = { HD_TIME_NEVER, 0 };

	for (uint32_t i = 0; i < p->n_shares; i++) {
		const struct step_span *l = &p->shares[i].rank_group.steps[step];

		if (l->begin < all.begin)
			all.begin = l->begin;
		if (l->end > all.end)
			all.end = l->end;
	}
	return all;
}

bool jobs_done(const struct jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		if (!job_is_done(&jobs->placed[i]))
			return false;
	}
	return true;
}

static hd_time completion_of(const struct placed_job *p)
{
	return job_is_done(p) ? job_last_domain(p)->last - p->job.start : HD_TIME_NEVER;
}

hd_time jobs_completion(const struct jobs *jobs, uint32_t job)
{
	return completion_of(&jobs->placed[job]);
}

/* ---- jobs --------------------------------------------------------------- */

struct job_row {
	const char *job;
	uint64_t ranks, iterations;
	hd_time start, completion, alone;
	double slowdown;
	uint64_t messages, bytes;
	double wait;
};

static const struct column job_columns[] = {
	{ "job", NULL, CELL(job_row, job) },
	{ "ranks", NULL, CELL(job_row, ranks) },
	{ "iterations", NULL, CELL(job_row, iterations) },
	{ "start", "us", CELL_TIME(job_row, start), ORIGIN_GIVEN, 3 },
	{ "completion", "us", CELL_TIME(job_row, completion), ORIGIN_SIMULATED, 6 },
	{ "alone", "us", CELL_TIME(job_row, alone), ORIGIN_SIMULATED, 6 },
	{ "slowdown", NULL, CELL(job_row, slowdown), ORIGIN_SIMULATED, 4 },
	{ "messages", NULL, CELL(job_row, messages), ORIGIN_SIMULATED },
	{ "bytes", NULL, CELL(job_row, bytes), ORIGIN_SIMULATED },
	{ "wait", "%", CELL_SHARE(job_row, wait), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

/* Share of the ranks' time, up to the end of each rank. */
static double waited_share(const struct placed_job *p)
{
	double busy = 0, all = 0;

	for (uint32_t i = 0; i < p->job.n_ranks; i++) {
		const struct rank *r = &p->ranks[i];

		if (r->ended == HD_TIME_NEVER)
			return NAN;
		busy += (double)r->busy;
		all += (double)(r->ended - r->began) * p->job.n_cpus;
	}
	return all > 0 ? 1 - busy / all : 0;
}

static double slowdown_of(hd_time with, hd_time alone)
{
	if (with == HD_TIME_NEVER || alone == HD_TIME_NEVER || alone == 0)
		return NAN;
	return (double)with / (double)alone;
}

static void put_job(struct table *t, const struct placed_job *p, hd_time alone)
{
	hd_time completion = completion_of(p);
	struct job_row row = {
		.job = p->scn->name,
		.ranks = p->job.n_ranks,
		.iterations = p->job.repeat,
		.start = p->job.start,
		.completion = completion,
		.alone = alone,
		.slowdown = slowdown_of(completion, alone),
		.wait = waited_share(p),
	};

	for (uint32_t i = 0; i < p->n_shares; i++) {
		row.messages += p->shares[i].n_messages;
		row.bytes += p->shares[i].bytes;
	}
	table_put_row(t, &row);
}

/* ---- steps -------------------------------------------------------------- */

struct job_step_row {
	const char *job;
	uint64_t step;
	const char *operation, *algorithm;
	uint64_t bytes, members;
	double mean;
	hd_time least, most;
	double moved, bus;
};

static const struct column step_columns[] = {
	{ "job", NULL, CELL(job_step_row, job) },
	{ "step", NULL, CELL(job_step_row, step) },
	{ "operation", NULL, CELL(job_step_row, operation) },
	{ "algorithm", NULL, CELL(job_step_row, algorithm) },
	{ "bytes", NULL, CELL_UNLESS(job_step_row, bytes, UINT64_MAX) },
	{ "members", NULL, CELL(job_step_row, members) },
	{ "mean", "us", CELL_TIME(job_step_row, mean), ORIGIN_SIMULATED, 6 },
	{ "min", "us", CELL_TIME(job_step_row, least), ORIGIN_SIMULATED, 6 },
	{ "max", "us", CELL_TIME(job_step_row, most), ORIGIN_SIMULATED, 6 },
	{ "algbw", "GB/s", CELL(job_step_row, moved), ORIGIN_SIMULATED, 3 },
	{ "busbw", "GB/s", CELL(job_step_row, bus), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static double bandwidth(double (*bytes)(double p, double m), double p, double m, double ps)
{
	return bytes && ps > 0 ? 1000 * bytes(p, m) / ps : NAN;
}

static void put_step(struct table *t, const struct placed_job *p, uint32_t number)
{
	const struct workload_step *s = &p->steps[number];
	const struct algorithm *a = s->algorithm;
	double n = step_members(s, p->job.n_ranks), sum = 0;
	struct job_step_row row = {
		.job = p->scn->name,
		.step = number,
		.operation = a->operation,
		.algorithm = a->name,
		.bytes = a->op == workload_algorithms[0].op ? UINT64_MAX : s->size,
		.members = step_members(s, p->job.n_ranks),
		.least = HD_TIME_NEVER,
	};

	for (uint32_t i = 0; i < p->job.repeat; i++) {
		struct step_span l = job_step_times(p, (size_t)i * p->job.n_steps + number);
		hd_time time = l.end - l.begin;

		sum += (double)time;
		row.least = time < row.least ? time : row.least;
		row.most = time > row.most ? time : row.most;
	}
	row.mean = sum / p->job.repeat;
	row.moved = bandwidth(a->moved, n, (double)s->size, row.mean);
	row.bus = bandwidth(a->bus, n, (double)s->size, row.mean);
	table_put_row(t, &row);
}

static void step_table(const struct jobs *jobs, struct results *r)
{
	struct table *t = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];

		if (!p->steps || !job_is_done(p))
			continue;
		if (!t)
			t = results_table(
				r, "steps",
				"from the first rank's beginning to the last one's end; bandwidths as nccl-tests have them",
				step_columns);
		for (uint32_t k = 0; k < p->job.n_steps; k++)
			put_step(t, p, k);
	}
}

/* ---- iterations --------------------------------------------------------- */

struct iteration_row {
	const char *job;
	uint64_t iteration;
	hd_time begin, end, time;
};

static const struct column iteration_columns[] = {
	{ "job", NULL, CELL(iteration_row, job) },
	{ "iteration", NULL, CELL(iteration_row, iteration) },
	{ "begin", "us", CELL_TIME(iteration_row, begin), ORIGIN_SIMULATED, 3 },
	{ "end", "us", CELL_TIME(iteration_row, end), ORIGIN_SIMULATED, 3 },
	{ "time", "us", CELL_TIME(iteration_row, time), ORIGIN_SIMULATED, 6 },
	{ NULL },
};

static void iteration_table(const struct jobs *jobs, bool all, struct results *r)
{
	struct table *t = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];
		uint32_t n = p->job.repeat, steps = p->job.n_steps;

		if (n == 1 || (n > FEW && !all))
			continue;
		if (!t)
			t = results_table(r, "iterations", "of jobs, all ranks together",
					  iteration_columns);
		for (uint32_t k = 0; k < n; k++) {
			struct step_span first = job_step_times(p, (size_t)k * steps);
			struct step_span last = job_step_times(p, (size_t)k * steps + steps - 1);

			if (first.begin == HD_TIME_NEVER || !last.end)
				break;
			const struct iteration_row row = {
				.job = p->scn->name,
				.iteration = k,
				.begin = first.begin,
				.end = last.end,
				.time = last.end - first.begin,
			};

			table_put_row(t, &row);
		}
	}
}

/* ---- ranks -------------------------------------------------------------- */

struct rank_row {
	const char *job;
	uint64_t rank;
	const char *host;
	hd_time end, busy, wait;
};

static const struct column rank_columns[] = {
	{ "job", NULL, CELL(rank_row, job) },
	{ "rank", NULL, CELL(rank_row, rank) },
	{ "host", NULL, CELL(rank_row, host) },
	{ "end", "us", CELL_TIME(rank_row, end), ORIGIN_SIMULATED, 3 },
	{ "busy", "us", CELL_TIME(rank_row, busy), ORIGIN_SIMULATED, 3 },
	{ "wait", "us", CELL_TIME(rank_row, wait), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void put_rank(struct table *t, const struct placed_job *p, uint32_t number)
{
	const struct rank *r = &p->ranks[number];
	const struct rank_row row = {
		.job = p->scn->name,
		.rank = number,
		.host = job_host_name(t, p, number),
		.end = r->ended,
		.busy = r->busy,
		.wait = r->ended == HD_TIME_NEVER || p->job.n_cpus > 1
				? HD_TIME_NEVER
				: r->ended - r->began - r->busy,
	};

	table_put_row(t, &row);
}

static void rank_table(const struct jobs *jobs, bool all, struct results *r)
{
	struct table *t = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];

		if (!all && p->job.n_ranks > FEW)
			continue;
		if (!t)
			t = results_table(r, "ranks",
					  "where they are, and how long they compute and wait",
					  rank_columns);
		for (uint32_t k = 0; k < p->job.n_ranks; k++)
			put_rank(t, p, k);
	}
}

/* ---- critical paths ----------------------------------------------------- */

struct job_path_row {
	const char *job;
	uint64_t last_rank;
	hd_time end, compute, messages, sending, other;
	uint64_t n_messages;
};

static const struct column path_columns[] = {
	{ "job", NULL, CELL(job_path_row, job) },
	{ "last rank", NULL, CELL(job_path_row, last_rank), ORIGIN_SIMULATED },
	{ "end", "us", CELL_TIME(job_path_row, end), ORIGIN_SIMULATED, 6 },
	{ "compute", "us", CELL_TIME(job_path_row, compute), ORIGIN_SIMULATED, 6 },
	{ "messages", "us", CELL_TIME(job_path_row, messages), ORIGIN_SIMULATED, 6 },
	{ "sending", "us", CELL_TIME(job_path_row, sending), ORIGIN_SIMULATED, 6 },
	{ "other", "us", CELL_TIME(job_path_row, other), ORIGIN_SIMULATED, 6 },
	{ "number", NULL, CELL(job_path_row, n_messages), ORIGIN_SIMULATED },
	{ NULL },
};

static void path_table(const struct jobs *jobs, struct results *r)
{
	struct table *t = results_table(
		r, "critical paths",
		"of what the time to the end of the last rank is made: computing, messages on their way, sends until they have left, and waiting for CPUs",
		path_columns);

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];
		const struct rank_group *last = job_last_domain(p);

		if (!job_is_done(p))
			continue;
		const struct critical_path *path = &last->last_path;
		hd_time time = last->last - p->job.start;
		const struct job_path_row row = {
			.job = p->scn->name,
			.last_rank = last->last_rank,
			.end = last->last,
			.compute = path->compute,
			.messages = path->messages,
			.sending = path->sending,
			.other = time - path->compute - path->messages - path->sending,
			.n_messages = path->n_messages,
		};

		table_put_row(t, &row);
	}
}

/* ---- goals -------------------------------------------------------------- */

struct goal_row {
	const char *job, *goal, *asked, *found;
	bool met;
};

static const struct column goal_columns[] = {
	{ "job", NULL, CELL(goal_row, job) },
	{ "goal", NULL, CELL(goal_row, goal) },
	{ "asked", NULL, CELL(goal_row, asked) },
	{ "found", NULL, CELL(goal_row, found), ORIGIN_SIMULATED },
	{ "met", NULL, CELL(goal_row, met), ORIGIN_SIMULATED },
	{ NULL },
};

static bool judge_completion(struct table *t, const struct placed_job *p, hd_time asked)
{
	hd_time found = completion_of(p);
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;

	hd_time_print(asked, &want);
	if (found == HD_TIME_NEVER)
		strbuf_puts(&got, "never");
	else
		hd_time_print(found, &got);
	const struct goal_row row = {
		.job = p->scn->name,
		.goal = "completion",
		.asked = table_text(t, "<= %s", want.text),
		.found = table_take(t, &got),
		.met = found <= asked,
	};

	table_put_row(t, &row);
	strbuf_fini(&want);
	return row.met;
}

static bool judge_slowdown(struct table *t, const struct placed_job *p, struct hd_ratio asked,
			   hd_time alone)
{
	double found = slowdown_of(completion_of(p), alone);
	double want = (double)asked.num / (double)asked.den;
	const struct goal_row row = {
		.job = p->scn->name,
		.goal = "slowdown",
		.asked = table_text(t, "<= %g", want),
		.found = isnan(found) ? "unknown" : table_text(t, "%.6g", found),
		.met = found <= want,
	};

	table_put_row(t, &row);
	return row.met;
}

static bool goal_table(const struct jobs *jobs, const hd_time *alone, struct results *r)
{
	const struct scenario *s = jobs->fabric->scenario;
	struct table *t = NULL;
	bool met = true;

	for (size_t i = 0; i < s->n_goals; i++) {
		const struct scn_goal *g = &s->goals[i];

		for (uint32_t k = 0; k < jobs->n; k++) {
			const struct placed_job *p = &jobs->placed[k];

			if ((!g->completion && !g->slowdown.num) ||
			    (g->job && strcmp(g->job, p->scn->name) != 0))
				continue;
			if (!t)
				t = results_table(r, "job goals", "what the scenario asks of jobs",
						  goal_columns);
			if (g->completion)
				met &= judge_completion(t, p, g->completion);
			if (g->slowdown.num)
				met &= judge_slowdown(t, p, g->slowdown, alone[k]);
		}
	}
	return met;
}

bool jobs_tables(const struct jobs *jobs, const hd_time *alone, const struct sim_metrics *m,
		 bool all, struct results *r)
{
	struct table *t = results_table(
		r, "jobs",
		"from the start to the end of the last rank, and the same without other traffic",
		job_columns);

	for (uint32_t i = 0; i < jobs->n; i++)
		put_job(t, &jobs->placed[i], alone[i]);
	bool well = !jobs_problems(jobs, r);

	well &= goal_table(jobs, alone, r);
	step_table(jobs, r);
	reduction_table(jobs, r);
	rc_table(jobs, r);
	iteration_table(jobs, all, r);
	path_table(jobs, r);
	chain_tables(jobs, all, r);
	jobs_link_table(jobs, m, all, r);
	rank_table(jobs, all, r);
	pairs_table(jobs, all, r);
	if (all)
		timeline_table(jobs, r);
	return well;
}
