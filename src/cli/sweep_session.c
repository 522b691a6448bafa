/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/sweep_session.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/mpi/world.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "cli/scenario.h"
#include "cli/sweep_ranks.h"
#include "report/database.h"
#include "study/merge.h"
#include "study/processes.h"
#include "study/tables.h"

const char cli_sweep_default_db[] = DATABASE_DEFAULT;

/* The work begins with the first tick; before, the sweep may be refused. */
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

/* Positional words: [COMMAND] [FILE] [ARGUMENT...]. */
struct sweep_words {
	const struct study_command *command; /* NULL: the command named in the file */
	const char *path;
	char **arguments;
	size_t n_arguments;
};

const struct option *const *cli_sweep_options_of(const char *name)
{
	static const struct command *const groups[] = {
		&command_cc, &command_mcast, &command_qos, &command_bench, &command_model, NULL,
	};
	static const struct option *tables[2];
	struct value_list words = { 0 };

	value_list_words(&words, name);
	const struct command *c = command_find(groups, (int)words.n, words.items);

	value_list_fini(&words);
	tables[0] = c ? c->options : NULL;
	return c ? tables : NULL;
}

/* The study's file may name the command instead. */
static void name_command(struct study *s, const struct sweep_words *w)
{
	for (size_t i = 0; i < w->n_arguments; i++) {
		struct strbuf all = STRBUF_INIT;

		strbuf_printf(&all, "%s%s%s", s->arguments ? s->arguments : "",
			      s->arguments ? " " : "", w->arguments[i]);
		free(s->arguments);
		s->arguments = strbuf_detach(&all);
	}
	if (w->command) {
		free(s->command_text);
		s->command_text = hd_strdup(w->command->name);
	}
	s->options_of = cli_sweep_options_of;
}

static enum hd_status read_study(struct sweep_session_options *v, const struct sweep_words *words,
				 struct diag *d, struct study *out)
{
	enum hd_status status = fabric_choice_overrides(&v->scenario, v->common.seed, d);

	*out = (struct study){ 0 };
	if (status == HD_OK && words->path)
		status = study_read(words->path, &v->scenario.overrides, d, out);
	else if (status == HD_OK)
		study_init(out, &v->scenario.overrides);
	if (status == HD_OK)
		name_command(out, words);
	for (size_t i = 0; i < v->vary.n && status == HD_OK; i++)
		status = study_vary(out, v->vary.items[i], d);
	for (size_t i = 0; i < v->labels.n && status == HD_OK; i++)
		status = study_label_values(out, v->labels.items[i], d);
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

/* Removes lost runs of the same study from the database: this sweep has continued them. */
static void forget_lost(const char *db, const struct study *study)
{
	struct strbuf ours = STRBUF_INIT;
	struct diag ignored = { .status = HD_OK };
	struct run_info *infos;
	size_t n;

	if (database_list(db, &ignored, &infos, &n) != HD_OK)
		return;
	study_describe(study, &ours);
	for (size_t i = 0; i < n; i++) {
		if (infos[i].state == RUN_LOST && strcmp(infos[i].command, "sweep") == 0 &&
		    strcmp(infos[i].content, ours.text) == 0)
			database_forget(db, infos[i].id);
	}
	strbuf_fini(&ours);
	database_infos_free(infos, n);
}

/* For an interrupted sweep, the database has the completed points only. */
static int record(const struct sweep_session_options *v, const struct study_sweep *w)
{
	struct common_options where = v->common;
	struct results *all = results_new("sweep");
	struct diag d = { .status = HD_OK };

	if (w->interrupted)
		where.db = NULL;
	sweep_tables(w, SWEEP_BOTH, all);
	study_record(w->study, all);
	int status = record_results(&where, all);

	if (status == EXIT_DONE && where.db) {
		forget_lost(where.db, w->study);
		if (database_view(where.db, "sweep", "points", "sweep", &d) != HD_OK)
			status = command_refuse(&d);
	}
	results_free(all);
	return status;
}

/* True for formats that have the points instead of curves. */
static bool is_for_programs(const struct common_options *common)
{
	const char *format = output_format(common);

	return strcmp(format, "csv") == 0 || strcmp(format, "json") == 0 ||
	       strcmp(format, "checksum") == 0;
}

static int show(const struct sweep_session_options *v, const struct study_sweep *w)
{
	struct common_options plain = v->common;
	struct results *r = results_new("sweep");
	bool good = sweep_tables(w,
				 v->wide                                     ? SWEEP_WIDE
				 : v->curves || !is_for_programs(&v->common) ? SWEEP_CURVES
									     : SWEEP_TIDY,
				 r);
	int recorded = record(v, w);

	plain.db = plain.html = NULL;
	int status = output_results(&plain, r, good);

	if (w->interrupted)
		return EXIT_ENVIRONMENT;
	return recorded == EXIT_DONE ? status : recorded;
}

int cli_sweep_run_and_show(struct sweep_session_options *v, struct study_sweep *w)
{
	struct diag d = { .status = HD_OK };
	struct watcher watcher = { .common = &v->common };
	struct strbuf content = STRBUF_INIT;

	study_describe(w->study, &content);
	record_content(content.text);
	strbuf_fini(&content);
	v->common.seed = w->study->first_seed;
	w->db = v->common.db;
	w->version = HD_VERSION;
	w->at_once = processes_at_once(v->jobs);
	if (v->shard && shard_parse(v->shard, &d, &w->shard, &w->n_shards) != HD_OK)
		return command_refuse(&d);
	w->tick = tick;
	/* valid while sweep_run uses it */
	w->context = &watcher;
	/* Signals end the sweep early; completed points are still shown. */
	cleanup_defer_signals();
	enum hd_status status = sweep_run(w, &d);

	w->context = NULL;
	progress_end(&watcher.progress);
	return status == HD_OK ? show(v, w) : command_refuse(&d);
}

/* Parses a command, a file, or both; false if there is neither. */
static bool read_words(int n, char **words, struct sweep_words *out)
{
	size_t used = 0;

	*out = (struct sweep_words){ 0 };
	out->command = study_command_of((size_t)n, words, &used);
	words += used;
	n -= (int)used;
	if (n > 0 && (!out->command || out->command->has_scenario)) {
		out->path = *words++;
		n--;
	}
	out->arguments = words;
	out->n_arguments = (size_t)n;
	return out->path ? out->command || n == 0 : out->command && !out->command->has_scenario;
}

static int run_sources(struct sweep_session_options *v, struct study *study, int n, char **sources)
{
	struct study_sweep w;

	sweep_init(&w, study);
	w.sources = (const char *const *)sources;
	w.n_sources = (size_t)n;
	int code = cli_sweep_run_and_show(v, &w);

	sweep_fini(&w);
	return code;
}

/* True if options change the study: --merge takes the study of the databases unchanged. */
static bool adds_to_study(const struct sweep_session_options *v)
{
	return v->vary.n || v->labels.n || v->skip.n || v->keep.n || v->scenario.set.n ||
	       v->seeds || v->stop || v->find || v->shard || v->common.seed != SEED_OF_SCENARIO;
}

static int run_merge(struct sweep_session_options *v, int n, char **paths)
{
	struct diag d = { .status = HD_OK };
	struct study study;
	int code = merge_open((const char *const *)paths, (size_t)n, cli_sweep_options_of, &d,
			      &study) == HD_OK
			   ? run_sources(v, &study, n, paths)
			   : command_refuse(&d);

	study_fini(&study);
	return code;
}

/* Among ranks of a launcher: runs a shard, unless --shard is given. */
static int run_own(struct sweep_session_options *v, const struct sweep_words *words)
{
	struct diag d = { .status = HD_OK };
	size_t rank = 0, n = 1;
	struct study study;
	enum hd_status status = read_study(v, words, &d, &study);

	if (status == HD_OK && !v->shard)
		status = rank_of_launcher(&d, &rank, &n);
	int code = status != HD_OK ? command_refuse(&d)
		   : n > 1         ? cli_sweep_ranks_run(v, &study, rank, n)
				   : run_sources(v, &study, 0, NULL);

	study_fini(&study);
	return code;
}

int cli_sweep_run_words(const struct command *self, struct sweep_session_options *v, int n,
			char **words)
{
	struct sweep_words say;

	if (v->shard && v->common.db == cli_sweep_default_db)
		return command_usage(self, "--shard requires --db");
	if (n > 0 && strcmp(words[0], "merge") == 0)
		return n < 2 || adds_to_study(v)
			       ? command_usage(
					 self,
					 "merge takes databases of shards and no other options")
			       : run_merge(v, n - 1, words + 1);
	if (!read_words(n, words, &say))
		return command_usage(
			self, "expected one SCENARIO, one STUDY, or a COMMAND with its arguments");
	return run_own(v, &say);
}
