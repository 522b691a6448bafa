/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/runner.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/unfinished.h"
#include "report/database.h"

#define MAX_WORDS 64

/* ---- the scratch folder ------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void scratch_remove(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* All folders above a file. */
static void make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

/* The built-in files, below the folder. */
static enum hd_status scratch_fill(const char *folder, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (const struct paper_file *f = paper_files;
	     f->name && status == HD_OK; f++) {
		struct strbuf path = STRBUF_INIT;

		strbuf_printf(&path, "%s/%s", folder, f->name);
		make_folders(path.text);
		status = file_write(path.text, f->bytes, f->len, d);
		strbuf_fini(&path);
	}
	d->file = NULL;
	return status;
}

/* The new folder; NULL if it cannot be had. */
static char *scratch_make(struct diag *d)
{
	const char *place = getenv("TMPDIR");
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/heddle-paper-XXXXXX", place ? place : "/tmp");
	char *folder = strbuf_detach(&path);

	if (!mkdtemp(folder)) {
		diag_fail(d, HD_ERR_IO, "no scratch folder %s: %s", folder,
			  strerror(errno));
	} else if (scratch_fill(folder, d) == HD_OK) {
		return folder;
	} else {
		scratch_remove(folder);
	}
	free(folder);
	return NULL;
}

/* ---- one job ------------------------------------------------------------ */

struct child {
	pid_t pid; /* 0: none */
	struct paper_job *job;
	struct timespec begun;
};

/* Splits `line` in place; quotes hold a word together. */
static size_t words_split(char *line, char **words)
{
	size_t n = 0;

	while (n < MAX_WORDS) {
		line += strspn(line, " \n");
		if (!*line)
			break;
		char stop = *line == '\'' ? '\'' : ' ';

		line += stop == '\'';
		words[n++] = line;
		line += strcspn(line, stop == '\'' ? "'" : " \n");
		if (!*line)
			break;
		*line++ = '\0';
	}
	return n;
}

/* "SCRATCH/7.db" for job 7. */
static char *file_of(const char *scratch, size_t job, const char *extension)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/%zu.%s", scratch, job, extension);
	return strbuf_detach(&path);
}

/* In the child: becomes the command, or leaves a word why not. */
_Noreturn static void become(const char *program, const char *scratch,
			     const char *command, const char *db,
			     const char *errors)
{
	char *words[MAX_WORDS + 8] = { hd_strdup(program) };
	size_t n = 1 + words_split(hd_strdup(command), words + 1);
	const char *const tail[] = { "--db", db, "--quiet", "--format",
				     "null" };
	int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int null = open("/dev/null", O_RDWR);

	for (size_t i = 0; i < sizeof(tail) / sizeof(*tail); i++)
		words[n++] = hd_strdup(tail[i]);
	if (err >= 0 && null >= 0 && chdir(scratch) == 0 &&
	    dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(err, 2) >= 0)
		execv(program, words);
	_exit(127);
}

static void child_start(struct child *c, const char *program,
			const char *scratch, size_t number)
{
	char *db = file_of(scratch, number, "db");
	char *errors = file_of(scratch, number, "err");

	clock_gettime(CLOCK_MONOTONIC, &c->begun);
	c->pid = unfinished_fork();
	if (c->pid == 0)
		become(program, scratch, c->job->command, db, errors);
	if (c->pid < 0) {
		c->job->failure = hd_strdup(strerror(errno));
		c->pid = 0;
	}
	free(db);
	free(errors);
}

/* The first line that it wrote to stderr, or how it ended. */
static char *failure_of(const char *errors, int status)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;

	if (file_read(errors, 65536, &d, &text) == HD_OK && text.len) {
		text.text[strcspn(text.text, "\n")] = '\0';
		return strbuf_detach(&text);
	}
	if (WIFSIGNALED(status))
		strbuf_printf(&text, "it was ended by signal %d",
			      WTERMSIG(status));
	else
		strbuf_printf(&text, "it ended with status %d",
			      WEXITSTATUS(status));
	return strbuf_detach(&text);
}

static void child_finish(struct child *c, const char *scratch, size_t number,
			 int status)
{
	struct diag d = { .status = HD_OK };
	char *db = file_of(scratch, number, "db");
	char *errors = file_of(scratch, number, "err");
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	c->job->seconds = (double)(now.tv_sec - c->begun.tv_sec) +
			  1e-9 * (double)(now.tv_nsec - c->begun.tv_nsec);
	/* 1 is a goal that was missed: there are results all the same. */
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		c->job->failure = failure_of(errors, status);
	else if (database_read(db, 1, &d, &c->job->results) != HD_OK)
		c->job->failure = hd_strdup(d.message);
	free(db);
	free(errors);
}

/* ---- all of them -------------------------------------------------------- */

struct crew {
	struct child *children;
	unsigned n, busy;
	struct paper_job *jobs;
	const struct paper_runner *runner;
	const char *scratch;
	bool is_over; /* who runs now is ended, and nobody else begins */
};

static void crew_end(struct crew *w)
{
	w->is_over = true;
	for (unsigned i = 0; i < w->n; i++) {
		if (w->children[i].pid)
			kill(w->children[i].pid, SIGTERM);
	}
}

static void crew_tell(struct crew *w, const struct paper_job *job)
{
	if (w->runner->tick && !w->runner->tick(w->runner->context, job))
		crew_end(w);
}

static void crew_start(struct crew *w, struct paper_job *job)
{
	struct child *c = w->children;

	while (c->pid)
		c++;
	c->job = job;
	child_start(c, w->runner->program, w->scratch, (size_t)(job - w->jobs));
	if (c->pid)
		w->busy++;
	else
		crew_tell(w, job);
}

static void crew_wait(struct crew *w)
{
	int status;
	pid_t pid = unfinished_wait(&status);

	for (unsigned i = 0; i < w->n; i++) {
		struct child *c = &w->children[i];

		if (pid <= 0 || c->pid != pid)
			continue;
		c->pid = 0;
		w->busy--;
		w->is_over = w->is_over || unfinished_is_due();
		/* Who was ended has not failed. */
		if (w->is_over && !WIFEXITED(status))
			continue;
		child_finish(c, w->scratch, (size_t)(c->job - w->jobs), status);
		crew_tell(w, c->job);
	}
}

static void crew_work(struct crew *w, size_t n)
{
	for (size_t i = 0; i < n && !w->is_over; i++) {
		while (w->busy == w->n)
			crew_wait(w);
		w->is_over = w->is_over || unfinished_is_due();
		if (!w->is_over)
			crew_start(w, &w->jobs[i]);
	}
	while (w->busy)
		crew_wait(w);
}

enum hd_status paper_run(const struct paper_runner *runner,
			 struct paper_job *jobs, size_t n, struct diag *d)
{
	unfinished_hold();
	char *scratch = scratch_make(d);

	if (scratch) {
		struct crew crew = {
			.children = hd_alloc(runner->at_once,
					     sizeof(*crew.children)),
			.n = runner->at_once,
			.jobs = jobs,
			.runner = runner,
			.scratch = scratch,
		};

		crew_work(&crew, n);
		free(crew.children);
		scratch_remove(scratch);
	}
	bool had_place = scratch != NULL;

	free(scratch);
	unfinished_let_go();
	return had_place ? HD_OK : d->status;
}

void paper_jobs_free(struct paper_job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].results)
			results_free(jobs[i].results);
		free(jobs[i].failure);
	}
	free(jobs);
}
