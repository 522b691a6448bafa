/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/parallel_for.h"
#include "report/database.h"
#include "study/scratch.h"

/* Exit statuses (cli/command.h): 1 is a missed goal. */
#define STATUS_RESULTS 1 /* up to this status there are results */
#define STATUS_INPUT   3 /* rejected input; higher values: the host caused the failure */
#define STATUS_HOST    4

void point_outcome_fini(struct point_outcome *o)
{
	if (o->results)
		results_free(o->results);
	free(o->failure);
	*o = (struct point_outcome){ 0 };
}

bool point_outcome_is_known(const struct point_outcome *o)
{
	return o->results || o->failure;
}

/* One thread, since the jobs occupy the processors, unless more were requested. */
static unsigned threads_each(void)
{
	return parallel_threads() ? parallel_threads() : 1;
}

unsigned processes_at_once(uint64_t asked)
{
	unsigned n = parallel_processors() / threads_each();

	if (asked)
		return (unsigned)asked;
	return n ? n : 1;
}

char *processes_threads_word(void)
{
	struct strbuf word = STRBUF_INIT;

	strbuf_printf(&word, "--threads=%u", threads_each());
	return strbuf_detach(&word);
}

/* ---- one job ------------------------------------------------------------ */

/* "SCRATCH/7.db" for job 7. */
static char *file_of(const char *scratch, size_t job, const char *extension)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/%zu.%s", scratch, job, extension);
	return strbuf_detach(&path);
}

struct child {
	pid_t pid; /* 0: none */
	size_t job;
	double begun; /* clock_seconds */
};

struct crew {
	struct child *children;
	unsigned n, busy;
	const struct processes *jobs;
	const char *scratch;
	bool is_over; /* running processes are ended, and no others are started */
};

/* In the child: executes the job and writes a failure as one line. */
_Noreturn static void be_child(const struct crew *w, size_t job)
{
	struct diag d = { .status = HD_OK };
	struct strbuf line = STRBUF_INIT;
	char *db = file_of(w->scratch, job, "db");
	char *errors = file_of(w->scratch, job, "err");
	int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int null = open("/dev/null", O_RDWR);

	if (err < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(err, 2) < 0)
		_exit(STATUS_HOST);
	memory_divide(w->n);
	parallel_set_threads(threads_each());
	if (w->jobs->work(w->jobs->context, job, db, &d) == HD_OK)
		_exit(0);
	diag_print(&d, &line);
	strbuf_putc(&line, '\n');
	if (write(2, line.text, line.len) < 0)
		_exit(STATUS_HOST);
	_exit(d.status == HD_ERR_IO || d.status == HD_ERR_ENV ? STATUS_HOST : STATUS_INPUT);
}

static void tell(struct crew *w, size_t job, struct point_outcome *end)
{
	if (w->jobs->done(w->jobs->context, job, end))
		return;
	w->is_over = true;
	for (unsigned i = 0; i < w->n; i++) {
		if (w->children[i].pid)
			kill(w->children[i].pid, SIGTERM);
	}
}

static void start(struct crew *w, size_t job)
{
	struct child *c = w->children;

	while (c->pid)
		c++;
	c->job = job;
	c->begun = clock_seconds();
	c->pid = cleanup_fork();
	if (c->pid == 0)
		be_child(w, job);
	if (c->pid > 0) {
		w->busy++;
		return;
	}
	struct point_outcome end = { .failure = hd_strdup(strerror(errno)), .again = true };

	c->pid = 0;
	tell(w, job, &end);
}

/* The first line of stderr, or the exit status. */
static char *failure_of(const char *errors, int status)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;

	if (file_read(errors, 65536, &d, &text) == HD_OK && text.len) {
		text.text[strcspn(text.text, "\n")] = '\0';
		return strbuf_detach(&text);
	}
	if (WIFSIGNALED(status))
		strbuf_printf(&text, "it was ended by signal %d", WTERMSIG(status));
	else
		strbuf_printf(&text, "it ended with status %d", WEXITSTATUS(status));
	return strbuf_detach(&text);
}

static struct point_outcome finish(const struct crew *w, const struct child *c, int status)
{
	struct diag d = { .status = HD_OK };
	struct point_outcome end = { 0 };
	char *db = file_of(w->scratch, c->job, "db");
	char *errors = file_of(w->scratch, c->job, "err");

	end.seconds = clock_seconds() - c->begun;
	end.again = !WIFEXITED(status) || WEXITSTATUS(status) > STATUS_INPUT;
	if (!WIFEXITED(status) || WEXITSTATUS(status) > STATUS_RESULTS)
		end.failure = failure_of(errors, status);
	else if (database_read(db, 1, &d, &end.results) != HD_OK)
		end.failure = hd_strdup(d.message);
	remove(db);
	remove(errors);
	free(db);
	free(errors);
	return end;
}

/* ---- all of them -------------------------------------------------------- */

static void await_one(struct crew *w)
{
	int status;
	pid_t pid = cleanup_wait(&status);

	for (unsigned i = 0; i < w->n; i++) {
		struct child *c = &w->children[i];

		if (pid <= 0 || c->pid != pid)
			continue;
		c->pid = 0;
		w->busy--;
		w->is_over = w->is_over || cleanup_signal_is_pending();
		/* A process that was ended has not failed. */
		if (w->is_over && !WIFEXITED(status))
			continue;
		struct point_outcome end = finish(w, c, status);

		tell(w, c->job, &end);
	}
}

static void work_through(struct crew *w, size_t n)
{
	for (size_t i = 0; i < n && !w->is_over; i++) {
		while (w->busy == w->n)
			await_one(w);
		w->is_over = w->is_over || cleanup_signal_is_pending();
		if (!w->is_over)
			start(w, i);
	}
	while (w->busy)
		await_one(w);
}

static void run_in(const char *folder, const struct processes *jobs, size_t n)
{
	struct crew crew = {
		.children = hd_alloc(jobs->at_once, sizeof(*crew.children)),
		.n = jobs->at_once,
		.jobs = jobs,
		.scratch = folder,
	};

	work_through(&crew, n);
	free(crew.children);
}

enum hd_status processes_run(const struct processes *jobs, size_t n, struct diag *d)
{
	const struct parallel_use use = {
		.jobs = jobs->at_once,
		.threads = threads_each(),
	};
	struct scratch scratch;

	cleanup_defer_signals();
	enum hd_status status = scratch_make(d, &scratch);

	if (status == HD_OK) {
		run_in(scratch.folder, jobs, n);
		scratch_remove(&scratch);
	}
	parallel_record_use(&use);
	cleanup_resume_signals();
	return status;
}
