/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/mpi/world.h"

#define MAX_WORDS 64

struct stage {
	const struct paper_runner *runner;
	struct paper_job **jobs; /* to be run */
	const char *folder;      /* where they work */
};

/* All folders above a file. */
static void make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

/* A file below the folder. */
static enum hd_status put_file(const char *folder, const char *name, const void *bytes, size_t len,
			       struct diag *d)
{
	struct strbuf path = STRBUF_INIT, why = STRBUF_INIT;
	struct diag own = { .status = HD_OK };

	strbuf_printf(&path, "%s/%s", folder, name);
	make_folders(path.text);
	/* The refusal outlives the name of the file. */
	if (file_write(path.text, bytes, len, &own) != HD_OK) {
		diag_print(&own, &why);
		diag_fail(d, own.status, "%s", why.text);
	}
	strbuf_fini(&why);
	strbuf_fini(&path);
	return own.status;
}

/* All that commands may read. */
static enum hd_status fill(void *context, const char *folder, struct diag *d)
{
	struct stage *s = context;
	const struct paper_catalogue *c = s->runner->catalogue;
	enum hd_status status = HD_OK;

	s->folder = folder;
	for (const struct paper_file *f = paper_files; f->name && status == HD_OK; f++)
		status = put_file(folder, f->name, f->bytes, f->len, d);
	for (size_t i = 0; c && i < c->n; i++) {
		const struct paper *p = c->papers[i];

		for (size_t k = 0; k < p->n_files && status == HD_OK; k++)
			status = put_file(folder, p->files[k].name, p->files[k].text,
					  strlen(p->files[k].text), d);
	}
	d->file = NULL;
	return status;
}

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

/* In the new process: becomes the command. */
static enum hd_status become(void *context, size_t job, const char *db, struct diag *d)
{
	const struct stage *s = context;
	char *words[MAX_WORDS + 8] = { hd_strdup(s->runner->program) };
	size_t n = 1 + words_split(hd_strdup(s->jobs[job]->command), words + 1);
	const char *const tail[] = { "--db", db, "--quiet", "--format", "null" };

	words[n++] = processes_threads_word();
	for (size_t i = 0; i < sizeof(tail) / sizeof(*tail); i++)
		words[n++] = hd_strdup(tail[i]);
	rank_forget();
	if (chdir(s->folder) == 0)
		execv(words[0], words);
	return diag_fail(d, HD_ERR_ENV, "%s: %s", words[0], strerror(errno));
}

/* cppcheck-suppress constParameter ; the shape is that of jobs.done */
static bool done(void *context, size_t job, struct process_end *end)
{
	const struct stage *s = context;

	s->jobs[job]->end = *end;
	return !s->runner->tick || s->runner->tick(s->runner->context, s->jobs[job]);
}

enum hd_status paper_run(const struct paper_runner *runner, struct paper_job *jobs, size_t n,
			 struct diag *d)
{
	struct stage stage = { .runner = runner };
	const struct processes work = {
		.at_once = runner->at_once,
		.work = become,
		.done = done,
		.prepare = fill,
		.context = &stage,
	};
	size_t todo = 0;

	stage.jobs = hd_alloc(n, sizeof(struct paper_job *));
	for (size_t i = 0; i < n; i++) {
		if (!jobs[i].known)
			stage.jobs[todo++] = &jobs[i];
	}
	enum hd_status status = todo ? processes_run(&work, todo, d) : HD_OK;

	free(stage.jobs);
	return status;
}

void paper_jobs_free(struct paper_job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		process_end_fini(&jobs[i].end);
		free(jobs[i].command);
	}
	free(jobs);
}
