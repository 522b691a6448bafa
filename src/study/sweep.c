/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "study/point_runner.h"
#include "study/search.h"
#include "study/store.h"

void sweep_init(struct study_sweep *w, const struct study *study)
{
	*w = (struct study_sweep){
		.study = study,
		.outcomes = hd_alloc(study->n_points, sizeof(*w->outcomes)),
		.at_once = 1,
		.n_shards = 1,
		.version = "",
	};
}

void sweep_fini(struct study_sweep *w)
{
	for (size_t i = 0; i < w->study->n_points; i++)
		point_outcome_fini(&w->outcomes[i]);
	free(w->outcomes);
}

/* ---- what is known ------------------------------------------------------ */

/* The outcome stored in a run of the database. */
static struct point_outcome outcome_of(struct results *r)
{
	const char *failure = results_parameter_value(r, POINT_FAILURE);

	if (!failure)
		return (struct point_outcome){ .results = r };
	struct point_outcome o = {
		.failure = hd_strdup(failure),
		.again = results_parameter_value(r, POINT_AGAIN) != NULL,
	};

	results_free(r);
	return o;
}

static enum hd_status store_take(const struct store *s, const struct study *of, const char *key,
				 struct diag *d, struct point_outcome *out)
{
	struct results *r;
	enum hd_status status = store_read(s, key, d, &r);

	if (status != HD_OK || !r)
		return status;
	if (!results_parameter_value(r, POINT_FAILURE) &&
	    !study_headline_is_complete(&of->measures, r)) {
		results_free(r);
		d->file = s->path;
		return diag_fail(d, HD_ERR_INPUT,
				 "is damaged: measures of a sweep point are missing");
	}
	*out = outcome_of(r);
	return HD_OK;
}

/* All databases to read; the first is the sweep's own. */
struct stores {
	struct store *items;
	size_t n;
};

static enum hd_status stores_open(struct stores *all, const struct study_sweep *w, struct diag *d)
{
	enum hd_status status = HD_OK;

	all->items = hd_alloc(w->n_sources + 2, sizeof(*all->items));
	if (w->db)
		status = store_open(&all->items[all->n++], w->db, POINT_COMMAND, d);
	if (w->seen && status == HD_OK)
		status = store_open(&all->items[all->n++], w->seen, POINT_COMMAND, d);
	for (size_t i = 0; i < w->n_sources && status == HD_OK; i++)
		status = store_open(&all->items[all->n++], w->sources[i], POINT_COMMAND, d);
	return status;
}

static void stores_close(struct stores *all)
{
	for (size_t i = 0; i < all->n; i++)
		store_close(&all->items[i]);
	free(all->items);
}

/*
 * Looks up a point. A failure that may not recur is ignored, unless points are
 * not run. *own: the outcome is in the sweep's own database and need not be
 * copied.
 */
static enum hd_status stores_take(const struct stores *all, const struct study_sweep *w,
				  const char *key, struct diag *d, struct point_outcome *out,
				  bool *own)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < all->n && status == HD_OK; i++) {
		struct point_outcome o = { 0 };

		status = store_take(&all->items[i], w->study, key, d, &o);
		bool good = point_outcome_is_known(&o) &&
			    (!o.again || (w->n_sources && !point_outcome_is_known(out)));

		if (!good || out->results) {
			point_outcome_fini(&o);
			continue;
		}
		free(out->failure);
		*out = o;
		*own = i + w->n_sources < all->n;
	}
	return status;
}

/* ---- a round ------------------------------------------------------------ */

/* The points that the search needs next. */
struct sweep_round {
	struct study_sweep *w;
	struct point_list todo;
	struct point_job *jobs; /* the points of `todo` that are run or copied */
	size_t n_jobs;
	size_t done, needed;
};

static void show(const struct sweep_round *r)
{
	if (r->w->tick)
		r->w->tick(r->w->context, r->done, r->needed);
}

static void ended(void *context, size_t job)
{
	struct sweep_round *r = context;

	(void)job;
	r->done++;
	show(r);
}

/* The record of a failed point has the failure instead of tables. */
static struct results *record_of(const struct point_outcome *o)
{
	if (o->results)
		return o->results;
	struct results *r = results_new(POINT_COMMAND);

	results_parameter(r, POINT_FAILURE, o->failure);
	if (o->again)
		results_parameter(r, POINT_AGAIN, "yes");
	return r;
}

static enum hd_status store_point(void *context, size_t job, struct diag *d)
{
	const struct sweep_round *r = context;
	const struct point_job *j = &r->jobs[job];
	struct results *record = record_of(j->outcome);

	point_sign(j->study, j->point, &j->id, record);
	results_set_version(record, r->w->version);
	enum hd_status status = r->w->db ? database_append(r->w->db, record, d) : HD_OK;

	if (record != j->outcome->results)
		results_free(record);
	return status;
}

/* If the scenario is rejected at this point, the point has failed; returns false then. */
static bool identify(const struct study_sweep *w, size_t point, struct point_id *id)
{
	struct diag why = { .status = HD_OK };
	struct strbuf line = STRBUF_INIT;

	if (point_identify(w->study, point, &why, id) == HD_OK)
		return true;
	diag_print(&why, &line);
	w->outcomes[point] = (struct point_outcome){ .failure = strbuf_detach(&line) };
	return false;
}

/* Creates jobs for points that are neither rejected nor stored in the own database. */
static enum hd_status make_jobs(struct sweep_round *r, const struct stores *stores, struct diag *d)
{
	enum hd_status status = HD_OK;

	r->jobs = hd_alloc(r->todo.n, sizeof(*r->jobs));
	r->n_jobs = 0;
	for (size_t i = 0; i < r->todo.n && status == HD_OK; i++) {
		size_t point = r->todo.points[i];
		struct point_job *j = &r->jobs[r->n_jobs];
		bool own = true;

		*j = (struct point_job){ .study = r->w->study,
					 .point = point,
					 .outcome = &r->w->outcomes[point] };
		if (!identify(r->w, point, &j->id))
			continue;
		status = stores_take(stores, r->w, j->id.key, d, j->outcome, &own);
		/* An outcome of another database is copied, as if the point had been run. */
		if (!point_outcome_is_known(j->outcome) || !own)
			r->n_jobs++;
		else
			point_id_fini(&j->id);
	}
	return status;
}

/* With sources no point is run: each point must be stored in one of them. */
static enum hd_status check_sources(const struct sweep_round *r, struct diag *d)
{
	size_t missing = 0, first = 0;

	for (size_t i = r->n_jobs; i-- > 0;) {
		if (!point_outcome_is_known(r->jobs[i].outcome)) {
			first = r->jobs[i].point;
			missing++;
		}
	}
	if (!missing)
		return HD_OK;
	d->file = NULL;
	return diag_fail(d, HD_ERR_INPUT,
			 "%zu of the %zu points are in none of the files (the first is point %zu)",
			 missing, r->w->study->n_points, first);
}

static enum hd_status run_round(struct sweep_round *r, const struct stores *stores, struct diag *d)
{
	enum hd_status status = make_jobs(r, stores, d);

	r->needed += r->todo.n;
	r->done += r->todo.n - r->n_jobs;
	if (status == HD_OK && r->w->n_sources)
		status = check_sources(r, d);
	if (status == HD_OK) {
		const struct point_runner runner = { .jobs = r->jobs,
						     .n = r->n_jobs,
						     .at_once = r->w->at_once,
						     .ended = ended,
						     .store = store_point,
						     .context = r };

		show(r);
		status = point_runner_run(&runner, d);
	}
	for (size_t i = 0; i < r->n_jobs; i++)
		point_id_fini(&r->jobs[i].id);
	free(r->jobs);
	return status;
}

/* ---- all of it ---------------------------------------------------------- */

/* The error of a cell's points, one line; NULL if none exists. */
static char *refusal_of(const struct study *s, size_t rank)
{
	struct diag why = { .status = HD_OK };
	struct strbuf line = STRBUF_INIT;
	struct point_id id = { 0 };

	if (point_identify(s, rank * s->seeds, &why, &id) != HD_OK)
		diag_print(&why, &line);
	point_id_fini(&id);
	return why.status == HD_OK ? NULL : strbuf_detach(&line);
}

/* An error that occurs at every point is the study's error. */
static enum hd_status refuse_study(const struct study_sweep *w, struct diag *d)
{
	if (study_accepted(w->study, refusal_of) < w->study->n_cells)
		return HD_OK;
	enum hd_status status = point_refuse(w->study, 0, d);

	/* A path that does not exist is a usage error only if it is on the command line. */
	if (w->study->file && status == HD_ERR_USAGE)
		status = d->status = HD_ERR_INPUT;
	return status;
}

enum hd_status sweep_run(struct study_sweep *w, struct diag *d)
{
	struct stores stores = { 0 };
	struct sweep_round r = { .w = w };
	size_t n = 0;
	struct sweep_chain *chains = sweep_chains(w->study, &n);
	enum hd_status status = refuse_study(w, d);

	if (status == HD_OK)
		status = stores_open(&stores, w, d);
	while (status == HD_OK && !w->interrupted) {
		r.todo.n = 0;
		search_round(w, chains, n, &r.todo);
		if (!r.todo.n)
			break;
		status = run_round(&r, &stores, d);
		w->interrupted = cleanup_signal_is_pending();
	}
	free(r.todo.points);
	stores_close(&stores);
	sweep_chains_free(chains, n);
	return status;
}
