/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/paper_session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "report/database.h"

#define MOST_BYTES ((size_t)1 << 20) /* of a file of experiments */

static bool is_file(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && strcmp(name + len - 5, ".yaml") == 0;
}

static enum hd_status add_file(struct paper_catalogue *c, const char *path, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, MOST_BYTES, d, &text);

	if (status == HD_OK)
		status = catalogue_add(c, text.text, text.len, path, d);
	strbuf_fini(&text);
	d->file = status == HD_OK ? NULL : d->file;
	return status;
}

/* Selects the experiments named by the words; all of them without words. */
static enum hd_status choose(struct paper_session *s, int n, char **names, struct diag *d)
{
	enum hd_status status = HD_OK;

	if (n == 0)
		return review_add(&s->review, "all", d);
	for (int i = 0; i < n && status == HD_OK; i++) {
		bool file = is_file(names[i]);
		size_t before = s->catalogue.n;

		if (file)
			status = add_file(&s->catalogue, names[i], d);
		if (status == HD_OK)
			status = review_add(&s->review,
					    file ? s->catalogue.papers[before]->id : names[i], d);
	}
	return status;
}

/* Parses "axis=values" and replaces the axis in every study that has it. */
static enum hd_status vary(struct paper_catalogue *c, const char *text, struct diag *d)
{
	enum hd_status status = HD_OK;
	bool known = false;

	for (size_t i = 0; i < c->n && status == HD_OK; i++)
		status = paper_vary(c->papers[i], text, d, &known);
	if (status == HD_OK && !known)
		return diag_fail(
			d, HD_ERR_INPUT,
			"option --vary '%s': no study has this axis; use AXIS=VALUES with an axis of the paper's file",
			text);
	return status;
}

/* PREFIX/share/heddle/papers for a program in PREFIX/bin, if it exists. */
static char *find_folder(void)
{
	char program[PATH_MAX];
	struct strbuf folder = STRBUF_INIT;
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (len < 0)
		return NULL;
	program[len] = '\0';
	for (int i = 0; i < 2; i++) { /* removes the program's name, then bin */
		char *slash = strrchr(program, '/');

		if (slash)
			*slash = '\0';
	}
	strbuf_printf(&folder, "%s/share/heddle/papers", program);
	if (access(folder.text, R_OK) == 0)
		return strbuf_detach(&folder);
	strbuf_fini(&folder);
	return NULL;
}

static enum hd_status open_all(struct paper_session *s, int n, char **names, struct diag *d)
{
	enum hd_status status = catalogue_init(&s->catalogue, d);

	d->file = status == HD_OK ? NULL : d->file;
	for (size_t i = 0; i < s->v.vary.n && status == HD_OK; i++)
		status = vary(&s->catalogue, s->v.vary.items[i], d);
	review_init(&s->review, &s->catalogue, s->v.quick);
	s->review.folder = s->folder = find_folder();
	if (status == HD_OK)
		status = choose(s, n, names, d);
	return status;
}

int paper_session_call(const struct command *self, int argc, char **argv,
		       const struct paper_session_action *wish)
{
	struct paper_session s = { .v.common.db = wish->runs ? DATABASE_DEFAULT : NULL };
	struct diag d = { .status = HD_OK };
	int n, status;

	if (!command_parse(self, &s.v, argc, argv, &n, &status)) {
		/* the error has been printed */
	} else if (n < wish->least || n > wish->most) {
		status = command_usage(self, "%s", wish->wrong);
	} else {
		if (open_all(&s, n, argv, &d) != HD_OK)
			status = command_refuse(&d);
		else
			status = wish->act(&s, self->name);
		review_fini(&s.review);
		free(s.folder);
		catalogue_fini(&s.catalogue);
	}
	option_list_fini(&s.v.vary);
	return status;
}

/* ---- running ------------------------------------------------------------ */

static void tick(void *context, const struct paper_review *s)
{
	progress_show(context, (double)review_count_done(s));
}

enum hd_status paper_session_run(struct paper_session *s, struct diag *d)
{
	struct progress progress;
	const struct review_options options = {
		.db = s->v.common.db,
		.at_once = processes_at_once(s->v.jobs),
		.tick = tick,
		.context = &progress,
	};

	progress_begin(&progress, &s->v.common, "runs", (double)s->review.n_jobs);
	enum hd_status status = review_run(&s->review, &options, d);

	progress_end(&progress);
	return status;
}

/* Writes the text to `path` unless it is NULL, and clears the text. */
static enum hd_status write_text(const char *path, struct strbuf *text, struct diag *d)
{
	enum hd_status status = path ? file_write(path, text->text, text->len, d) : HD_OK;

	strbuf_fini(text);
	return status;
}

enum hd_status paper_session_write(const struct paper_session *s,
				   const struct paper_outcomes *found, struct diag *d)
{
	struct paper_outcomes before, all;
	struct strbuf text = STRBUF_INIT;

	if (!s->v.document && !s->v.record)
		return HD_OK;
	enum hd_status status = outcomes_read(d, &before);

	outcomes_join(&s->catalogue, found, &before, &all);
	if (status == HD_OK) {
		d->file = NULL;
		paper_document(&s->catalogue, &all, &text);
		status = write_text(s->v.document, &text, d);
	}
	if (status == HD_OK) {
		outcomes_print(&all, &text);
		status = write_text(s->v.record, &text, d);
	}
	outcomes_fini(&before);
	outcomes_fini(&all);
	return status;
}

int paper_session_print(struct paper_session *s, struct results *r, bool same)
{
	const struct paper_review *v = &s->review;
	struct page_run *parts = hd_alloc(v->n_jobs + 1, sizeof(*parts));
	size_t n = 0, done = review_count_done(v);

	if (done < v->n_jobs)
		results_remark(r, "interrupted after %zu of %zu runs; call it again to continue",
			       done, v->n_jobs);

	for (size_t i = 0; i < v->n_jobs; i++) {
		if (v->jobs[i].outcome.results)
			parts[n++].results = v->jobs[i].outcome.results;
	}
	record_parts(parts, n);
	int status = output_results(&s->v.common, r, same);

	record_parts(NULL, 0);
	free(parts);
	return status;
}

void paper_session_words(struct strbuf *out)
{
	struct diag ignored = { .status = HD_OK };
	struct paper_catalogue c;

	if (catalogue_init(&c, &ignored) == HD_OK) {
		for (size_t i = 0; i < c.n; i++) {
			const struct paper *p = c.papers[i];

			strbuf_printf(out, "%s ", p->id);
			for (size_t k = 0; k < p->n_experiments; k++)
				strbuf_printf(out, "%s/%s ", p->id, p->experiments[k].id);
		}
	}
	catalogue_fini(&c);
}
