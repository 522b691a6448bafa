/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/sweep/session.h"

#include <string.h>

#include "base/unfinished.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "cli/scenario.h"
#include "report/database.h"
#include "study/jobs.h"
#include "study/merge.h"
#include "study/tables.h"

const char sweep_default_db[] = DATABASE_DEFAULT;

/* Work begins with the first tick: until then all may still be refused. */
struct watcher {
	const struct common_options *common;
	struct progress progress;
	bool begun;
};

static void tick(void *context, size_t done, size_t needed)
{
	struct watcher *w = context;

	if (!w->begun)
		progress_begin(&w->progress, w->common, "points", 0);
	w->begun = true;
	w->progress.total = (double)needed;
	progress_show(&w->progress, (double)done);
}

static enum hd_status read_study(struct sweep_values *v, const char *path,
				 struct diag *d, struct study *out)
{
	enum hd_status status =
		choice_overrides(&v->scenario, v->common.seed, d);

	*out = (struct study){ 0 };
	if (status == HD_OK)
		status = study_read(path, &v->scenario.overrides, d, out);
	for (size_t i = 0; i < v->vary.n && status == HD_OK; i++)
		status = study_vary(out, v->vary.items[i], d);
	for (size_t i = 0; i < v->skip.n; i++)
		study_append(&out->skip, v->skip.items[i]);
	for (size_t i = 0; i < v->keep.n; i++)
		study_append(&out->keep, v->keep.items[i]);
	if (v->stop)
		study_append(&out->stop, v->stop);
	if (v->find)
		study_append(&out->find, v->find);
	if (v->seeds)
		out->seeds = v->seeds;
	return status == HD_OK ? study_resolve(out, d) : status;
}

static int show(struct sweep_values *v, const struct sweep *w)
{
	struct common_options plain = v->common;
	struct results *r = results_new("sweep"), *all = results_new("sweep");
	struct diag d = { .status = HD_OK };
	bool good = sweep_tables(w,
				 v->wide ? SWEEP_WIDE
				 : v->curves || output_is_text(&v->common)
					 ? SWEEP_CURVES
					 : SWEEP_TIDY,
				 r);

	sweep_tables(w, SWEEP_BOTH, all);
	study_record(w->study, all);
	int recorded = record_results(&v->common, all);

	results_free(all);
	if (recorded == EXIT_DONE &&
	    database_view(v->common.db, "sweep", "points", "sweep", &d) !=
		    HD_OK)
		recorded = command_refuse(&d);
	plain.db = plain.html = NULL;
	int status = output_results(&plain, r, good);

	if (w->interrupted)
		return EXIT_ENVIRONMENT;
	return recorded == EXIT_DONE ? status : recorded;
}

static int run_study(struct sweep_values *v, struct sweep *w)
{
	struct diag d = { .status = HD_OK };
	struct watcher watcher = { .common = &v->common };

	v->common.seed = w->study->first_seed;
	w->db = v->common.db;
	w->version = HD_VERSION;
	w->at_once = jobs_at_once(v->jobs);
	if (v->shard &&
	    shard_parse(v->shard, &d, &w->shard, &w->n_shards) != HD_OK)
		return command_refuse(&d);
	w->tick = tick;
	/* For as long as sweep_run has it. */
	w->context = &watcher;
	/* To the end: what was done by then is shown, whoever ends us. */
	unfinished_hold();
	enum hd_status status = sweep_run(w, &d);

	w->context = NULL;
	progress_end(&watcher.progress);
	return status == HD_OK ? show(v, w) : command_refuse(&d);
}

int sweep_words(const struct command *self, struct sweep_values *v, int n,
		char **words)
{
	bool merge = n > 0 && strcmp(words[0], "merge") == 0;
	struct diag d = { .status = HD_OK };
	struct study study;
	struct sweep w;

	if (n != 1 && !merge)
		return command_usage(self,
				     "expected one scenario or study, "
				     "not %d",
				     n);
	if (merge && (n < 2 || v->vary.n || v->shard))
		return command_usage(self, "merge takes databases that shards "
					   "left, and nothing else");
	if (v->shard && v->common.db == sweep_default_db)
		return command_usage(self, "--shard needs a --db of its own");
	enum hd_status status =
		merge ? merge_open((const char *const *)words + 1,
				   (size_t)n - 1, &d, &study)
		      : read_study(v, words[0], &d, &study);
	int code = EXIT_DONE;

	if (status == HD_OK) {
		sweep_init(&w, &study);
		w.sources = merge ? (const char *const *)words + 1 : NULL;
		w.n_sources = merge ? (size_t)n - 1 : 0;
		code = run_study(v, &w);
		sweep_fini(&w);
	} else {
		code = command_refuse(&d);
	}
	study_fini(&study);
	return code;
}
