/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "study/processes.h"
#include "study/search.h"
#include "study/store.h"

void sweep_init(struct sweep *w, const struct study *study)
{
	*w = (struct sweep){
		.study = study,
		.outcomes = hd_alloc(study->n_points, sizeof(*w->outcomes)),
		.at_once = 1,
		.n_shards = 1,
		.version = "",
	};
}

void sweep_fini(struct sweep *w)
{
	for (size_t i = 0; i < w->study->n_points; i++) {
		if (w->outcomes[i].results)
			results_free(w->outcomes[i].results);
		free(w->outcomes[i].failure);
	}
	free(w->outcomes);
}

/* ---- what is known ------------------------------------------------------ */

/* The outcome that a run of the database holds. */
static struct outcome outcome_of(struct results *r)
{
	const char *failure = results_parameter_value(r, POINT_FAILURE);

	if (!failure)
		return (struct outcome){ .state = OUTCOME_DONE, .results = r };
	struct outcome o = {
		.state = OUTCOME_FAILED,
		.failure = hd_strdup(failure),
		.again = results_parameter_value(r, POINT_AGAIN) != NULL,
	};

	results_free(r);
	return o;
}

static enum hd_status store_take(const struct store *s, const struct study *of, const char *key,
				 struct diag *d, struct outcome *out)
{
	struct results *r;
	enum hd_status status = store_read(s, key, d, &r);

	if (status != HD_OK || !r)
		return status;
	if (!results_parameter_value(r, POINT_FAILURE) && !headline_is_whole(&of->measures, r)) {
		results_free(r);
		d->file = s->path;
		return diag_fail(d, HD_ERR_INPUT,
				 "is damaged: a point of the sweep lacks some of its measures");
	}
	*out = outcome_of(r);
	return HD_OK;
}

/* All databases that are looked at; the first is the sweep's own. */
struct stores {
	struct store *items;
	size_t n;
};

static enum hd_status stores_open(struct stores *all, const struct sweep *w, struct diag *d)
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
 * Looks for a point. A failure that need not come again is as good as none,
 * unless nothing is to be run. *own: it is where it need not be copied from.
 */
static enum hd_status stores_take(const struct stores *all, const struct sweep *w, const char *key,
				  struct diag *d, struct outcome *out, bool *own)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < all->n && status == HD_OK; i++) {
		struct outcome o = { 0 };

		status = store_take(&all->items[i], w->study, key, d, &o);
		bool good = o.state != OUTCOME_NONE && (!o.again || (w->n_sources && !out->state));

		if (!good || out->state == OUTCOME_DONE) {
			free(o.failure);
			if (o.results)
				results_free(o.results);
			continue;
		}
		free(out->failure);
		*out = o;
		*own = i + w->n_sources < all->n;
	}
	return status;
}

/* ---- a round ------------------------------------------------------------ */

struct round {
	struct sweep *w;
	struct wanted todo;
	struct point_id *ids; /* per point of `todo` */
	size_t kept;          /* the first so many are in the database */
	size_t done, needed;
	struct diag d;
};

static void show(const struct round *r)
{
	if (r->w->tick)
		r->w->tick(r->w->context, r->done, r->needed);
}

/* In a process of its own. */
static enum hd_status work(void *context, size_t job, const char *db, struct diag *d)
{
	const struct round *r = context;

	return point_run(r->w->study, r->todo.points[job], db, d);
}

/* The record of a point that failed has its reason instead of tables. */
static struct results *record_of(struct outcome *o)
{
	if (o->state == OUTCOME_DONE)
		return o->results;
	struct results *r = results_new(POINT_COMMAND);

	results_parameter(r, POINT_FAILURE, o->failure);
	if (o->again)
		results_parameter(r, POINT_AGAIN, "yes");
	return r;
}

static bool keep(struct round *r, size_t job)
{
	size_t point = r->todo.points[job];
	struct outcome *o = &r->w->outcomes[point];

	if (o->state == OUTCOME_NONE)
		return true;
	struct results *record = record_of(o);

	point_sign(r->w->study, point, &r->ids[job], record);
	results_set_version(record, r->w->version);
	enum hd_status status = r->w->db ? database_append(r->w->db, record, &r->d) : HD_OK;

	if (record != o->results)
		results_free(record);
	return status == HD_OK;
}

/* What is not kept goes; what is not the results of a point is its failure. */
static void condense(const struct study *s, struct process_end *end)
{
	struct diag why = { .status = HD_OK };
	struct results *kept = NULL;

	if (strcmp(end->results->command, POINT_COMMAND) == 0)
		return;
	if (point_keep(s, end->results, &why, &kept) != HD_OK) {
		struct strbuf line = STRBUF_INIT;

		diag_print(&why, &line);
		end->failure = strbuf_detach(&line);
	}
	results_free(end->results);
	end->results = kept;
}

/* To the database in the order of the points, as far as they are done. */
static bool done(void *context, size_t job, struct process_end *end)
{
	struct round *r = context;
	bool good = r->d.status == HD_OK; /* no second try */

	if (end->results)
		condense(r->w->study, end);
	r->w->outcomes[r->todo.points[job]] = (struct outcome){
		.state = end->results ? OUTCOME_DONE : OUTCOME_FAILED,
		.results = end->results,
		.failure = end->failure,
		.again = end->again,
	};
	r->done++;
	show(r);
	for (; good && r->kept < r->todo.n &&
	       r->w->outcomes[r->todo.points[r->kept]].state != OUTCOME_NONE;
	     r->kept++)
		good = keep(r, r->kept);
	return good;
}

/* False if the scenario is refused at this point: that is its outcome. */
static bool identify(const struct sweep *w, size_t point, struct point_id *id)
{
	struct diag why = { .status = HD_OK };
	struct strbuf line = STRBUF_INIT;

	if (point_identify(w->study, point, &why, id) == HD_OK)
		return true;
	diag_print(&why, &line);
	w->outcomes[point] =
		(struct outcome){ .state = OUTCOME_FAILED, .failure = strbuf_detach(&line) };
	return false;
}

/* What is refused or known already needs no run; the rest stays in todo. */
static enum hd_status sort_out(struct round *r, const struct stores *stores, struct diag *d)
{
	size_t n = r->todo.n;
	enum hd_status status = HD_OK;

	r->ids = hd_alloc(n, sizeof(*r->ids));
	r->todo.n = 0;
	for (size_t i = 0; i < n && status == HD_OK; i++) {
		size_t point = r->todo.points[i];
		struct outcome *o = &r->w->outcomes[point];
		bool own = true;

		if (!identify(r->w, point, &r->ids[r->todo.n]))
			continue;
		status = stores_take(stores, r->w, r->ids[r->todo.n].key, d, o, &own);
		/* What others have is copied, as if it had been run. */
		if (o->state == OUTCOME_NONE || !own)
			r->todo.points[r->todo.n++] = point;
		else
			point_id_fini(&r->ids[r->todo.n]);
	}
	return status;
}

/* Nothing is to be run: all of it is there, or it is refused. */
static enum hd_status join(const struct round *r, struct diag *d)
{
	size_t missing = 0, first = 0;

	for (size_t i = r->todo.n; i-- > 0;) {
		if (r->w->outcomes[r->todo.points[i]].state == OUTCOME_NONE) {
			first = r->todo.points[i];
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

static enum hd_status run_round(struct round *r, const struct stores *stores, struct diag *d)
{
	const struct processes jobs = {
		.at_once = r->w->at_once, .work = work, .done = done, .context = r
	};
	size_t wanted = r->todo.n;
	enum hd_status status = sort_out(r, stores, d);

	r->needed += wanted;
	r->done += wanted - r->todo.n;
	r->kept = 0;
	if (status == HD_OK && r->w->n_sources)
		status = join(r, d);
	if (status == HD_OK)
		show(r);
	if (status == HD_OK && r->todo.n && !r->w->n_sources)
		status = processes_run(&jobs, r->todo.n, d);
	/* Those that were done before one that was not. */
	for (; status == HD_OK && r->d.status == HD_OK && r->kept < r->todo.n; r->kept++) {
		if (!keep(r, r->kept))
			break;
	}
	if (status == HD_OK && r->d.status != HD_OK) {
		*d = r->d;
		status = d->status;
	}
	for (size_t i = 0; i < r->todo.n; i++)
		point_id_fini(&r->ids[i]);
	free(r->ids);
	r->ids = NULL;
	return status;
}

/* ---- all of it ---------------------------------------------------------- */

/* Why a point of a cell is refused, one line; NULL if it is not. */
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

/* A refusal that no point escapes is the study's. */
static enum hd_status refuse_study(const struct sweep *w, struct diag *d)
{
	if (study_accepted(w->study, refusal_of) < w->study->n_cells)
		return HD_OK;
	enum hd_status status = point_refuse(w->study, 0, d);

	/* A path that leads nowhere is bad usage only if it was typed here. */
	if (w->study->file && status == HD_ERR_USAGE)
		status = d->status = HD_ERR_INPUT;
	return status;
}

enum hd_status sweep_run(struct sweep *w, struct diag *d)
{
	struct stores stores = { 0 };
	struct round r = { .w = w, .d = { .status = HD_OK } };
	size_t n = 0;
	struct chain *chains = sweep_chains(w->study, &n);
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
	chains_free(chains, n);
	return status;
}
