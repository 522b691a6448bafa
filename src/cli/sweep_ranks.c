/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/sweep_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "report/database.h"
#include "study/merge.h"
#include "study/processes.h"
#include "study/tables.h"

/* Databases of all ranks, and the lock file: one rank merges them. */
struct sweep_ranks {
	char **paths;
	size_t n;
	char *lock;
};

static void ranks_init(struct sweep_ranks *all, const char *db, size_t n)
{
	struct strbuf path = STRBUF_INIT;

	all->n = n;
	all->paths = hd_alloc(n, sizeof(*all->paths));
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(&path, "%s.rank%zuof%zu", db, i + 1, n);
		all->paths[i] = strbuf_detach(&path);
	}
	strbuf_printf(&path, "%s.ranks", db);
	all->lock = strbuf_detach(&path);
}

static void ranks_fini(struct sweep_ranks *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->paths[i]);
	free(all->paths);
	free(all->lock);
}

static enum hd_status run_shard(const struct sweep_session_options *v, const struct study *study,
				const char *db, struct study_sweep *w, struct diag *d)
{
	/* Points that earlier calls have merged are not run again. */
	bool seen = access(v->common.db, R_OK) == 0;
	enum hd_status status;

	w->db = db;
	w->seen = seen ? v->common.db : NULL;
	w->version = HD_VERSION;
	w->at_once = processes_at_once(v->jobs ? v->jobs : 1);
	cleanup_defer_signals();
	status = sweep_run(w, d);
	if (status != HD_OK || w->interrupted)
		return status;
	struct results *r = results_new("sweep");

	study_record(study, r);
	status = database_append(db, r, d);
	results_free(r);
	return status;
}

/* True if every rank has completed its shard of this study. */
static bool all_are_done(const struct sweep_ranks *all, const struct study *study)
{
	struct diag ignored = { .status = HD_OK };
	struct strbuf ours = STRBUF_INIT, theirs = STRBUF_INIT;
	struct study of_files;
	bool done = true;

	for (size_t i = 0; i < all->n; i++)
		done &= access(all->paths[i], R_OK) == 0;
	if (!done)
		return false;
	done = merge_open((const char *const *)all->paths, all->n, cli_sweep_options_of, &ignored,
			  &of_files) == HD_OK;
	if (done) {
		study_describe(study, &ours);
		study_describe(&of_files, &theirs);
		done = strcmp(ours.text, theirs.text) == 0;
	}
	study_fini(&of_files);
	strbuf_fini(&ours);
	strbuf_fini(&theirs);
	return done;
}

static int join(struct sweep_session_options *v, const struct study *study,
		const struct sweep_ranks *all)
{
	struct study_sweep w;

	sweep_init(&w, study);
	w.sources = (const char *const *)all->paths;
	w.n_sources = all->n;
	int code = cli_sweep_run_and_show(v, &w);

	sweep_fini(&w);
	for (size_t i = 0; code <= EXIT_GOAL_MISSED && i < all->n; i++)
		remove(all->paths[i]);
	return code;
}

/* Takes the lock, which this process holds until it ends. */
static bool lock(const char *path, int *file)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	*file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	return *file >= 0 && fcntl(*file, F_SETLKW, &whole) == 0;
}

static int join_if_last(struct sweep_session_options *v, const struct study *study,
			const struct sweep_ranks *all)
{
	struct diag d = { .status = HD_OK };
	int file, code = EXIT_DONE;

	if (!lock(all->lock, &file)) {
		d.file = all->lock;
		diag_fail(&d, HD_ERR_IO,
			  "cannot be locked: %s; ranks need --db on a file system with POSIX locks",
			  strerror(errno));
		code = command_refuse(&d);
	} else if (all_are_done(all, study)) {
		code = join(v, study, all);
		remove(all->lock);
	}
	if (file >= 0)
		close(file);
	return code;
}

int cli_sweep_ranks_run(struct sweep_session_options *v, struct study *study, size_t rank, size_t n)
{
	struct diag d = { .status = HD_OK };
	struct sweep_ranks all;
	struct study_sweep w;
	int code;

	ranks_init(&all, v->common.db, n);
	sweep_init(&w, study);
	w.shard = rank;
	w.n_shards = n;
	if (run_shard(v, study, all.paths[rank], &w, &d) != HD_OK)
		code = command_refuse(&d);
	else if (w.interrupted)
		code = EXIT_ENVIRONMENT;
	else
		code = join_if_last(v, study, &all);
	sweep_fini(&w);
	ranks_fini(&all);
	return code;
}
