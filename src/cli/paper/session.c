/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/paper/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "paper/recall.h"
#include "report/database.h"
#include "study/store.h"

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

/* The experiments that the words name; all of them without any. */
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

/* "axis=values", for every study that has such an axis. */
static enum hd_status vary(struct paper_catalogue *c, const char *text, struct diag *d)
{
	enum hd_status status = HD_OK;
	bool known = false;

	for (size_t i = 0; i < c->n && status == HD_OK; i++)
		status = paper_vary(c->papers[i], text, d, &known);
	if (status == HD_OK && !known)
		return diag_fail(d, HD_ERR_INPUT, "--vary %s: no study has such an axis", text);
	return status;
}

/* The path of this program; false without /proc. */
static bool program_path(char *out, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", out, size - 1);

	if (len >= 0)
		out[len] = '\0';
	return len >= 0;
}

/* PREFIX/share/heddle/papers of a program in PREFIX/bin, if it is there. */
static char *find_folder(void)
{
	char program[PATH_MAX];
	struct strbuf folder = STRBUF_INIT;

	if (!program_path(program, sizeof(program)))
		return NULL;
	for (int i = 0; i < 2; i++) { /* the program, and bin */
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

int paper_session(const struct command *self, int argc, char **argv, const struct paper_wish *wish)
{
	struct paper_session s = { .v.common.db = wish->runs ? DATABASE_DEFAULT : NULL };
	struct diag d = { .status = HD_OK };
	int n, status;

	if (!command_parse(self, &s.v, argc, argv, &n, &status)) {
		/* all is said */
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

/* What is done goes to the database at once, in the order of the jobs. */
struct keeper {
	const struct paper_review *review;
	const char *db;
	size_t kept; /* of the first jobs: they have been looked at */
	struct progress progress;
	double done;
	struct diag d;
};

static bool keep(struct keeper *k, size_t job)
{
	if (!k->review->jobs[job].end.results)
		return true;
	review_annotate(k->review, job);
	if (k->review->jobs[job].known)
		return true;
	return database_append(k->db, k->review->jobs[job].end.results, &k->d) == HD_OK;
}

static bool tick(void *context, const struct paper_job *job)
{
	struct keeper *k = context;
	bool good = true;

	(void)job;
	progress_show(&k->progress, ++k->done);
	for (; good && k->kept < k->review->n_jobs && review_is_done(k->review, k->kept); k->kept++)
		good = keep(k, k->kept);
	return good;
}

/* Those that were done before one that was not. */
static enum hd_status keep_rest(struct keeper *k)
{
	for (; k->kept < k->review->n_jobs && k->d.status == HD_OK; k->kept++)
		keep(k, k->kept);
	return k->d.status;
}

/* What earlier calls have left of these jobs in the database. */
static enum hd_status recall(struct paper_review *v, const char *db, struct diag *d)
{
	struct strbuf key = STRBUF_INIT;
	struct store store;
	enum hd_status status = store_open(&store, db, NULL, d);

	for (size_t i = 0; i < v->n_jobs && status == HD_OK; i++) {
		struct results *r = NULL;

		strbuf_fini(&key);
		review_key(v, i, &key);
		status = store_read(&store, key.text, d, &r);
		if (r)
			review_recall(v, i, r);
	}
	strbuf_fini(&key);
	store_close(&store);
	return status;
}

enum hd_status paper_session_run(struct paper_session *s, struct diag *d)
{
	struct keeper k = { .review = &s->review, .db = s->v.common.db };
	char program[PATH_MAX];

	if (!program_path(program, sizeof(program)))
		return diag_fail(d, HD_ERR_ENV,
				 "/proc is not there: cannot find this program to run it");
	const struct paper_runner runner = {
		.program = program,
		.at_once = processes_at_once(s->v.jobs),
		.tick = tick,
		.context = &k,
	};

	enum hd_status status = recall(&s->review, k.db, d);

	if (status != HD_OK)
		return status;
	k.done = (double)paper_session_done(s);
	progress_begin(&k.progress, &s->v.common, "runs", (double)s->review.n_jobs);
	status = review_run(&s->review, &runner, d);

	progress_end(&k.progress);
	if (status == HD_OK && keep_rest(&k) != HD_OK) {
		*d = k.d;
		status = d->status;
	}
	return status;
}

/* Writes the text and empties it; nowhere if there is no path. */
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

size_t paper_session_done(const struct paper_session *s)
{
	size_t done = 0;

	for (size_t i = 0; i < s->review.n_jobs; i++)
		done += review_is_done(&s->review, i);
	return done;
}

int paper_session_tell(struct paper_session *s, struct results *r, bool same)
{
	const struct paper_review *v = &s->review;
	struct page_run *parts = hd_alloc(v->n_jobs + 1, sizeof(*parts));
	size_t n = 0, done = paper_session_done(s);

	if (done < v->n_jobs)
		results_remark(
			r, "interrupted after %zu of %zu runs; called again it goes on from there",
			done, v->n_jobs);

	for (size_t i = 0; i < v->n_jobs; i++) {
		if (v->jobs[i].end.results)
			parts[n++].results = v->jobs[i].end.results;
	}
	record_parts(parts, n);
	int status = output_results(&s->v.common, r, same);

	record_parts(NULL, 0);
	free(parts);
	return status;
}

void paper_words(struct strbuf *out)
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
