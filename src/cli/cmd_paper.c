/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/unfinished.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "paper/review.h"
#include "report/database.h"

struct values {
	struct common_options common;
	bool quick;
	uint64_t jobs;
};

static const struct option run_options[] = {
	{ .name = "quick",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, quick),
	  .help = "smaller fabrics and shorter runs where there are such: "
		  "minutes for all of it instead of hours" },
	{ .name = "jobs",
	  .letter = 'j',
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, jobs),
	  .value = "N",
	  .initial = "0",
	  .high = 1024,
	  .help = "experiments to run at once; 0 is one per core. Results do "
		  "not depend on it" },
	{ .name = NULL },
};

/* The experiments that the words name; all of them without any. */
static enum hd_status choose(struct paper_review *s, int n, char **names,
			     struct diag *d)
{
	enum hd_status status = HD_OK;

	d->file = NULL; /* the last one read has no part in it */
	if (n == 0)
		return review_add(s, "all", d);
	for (int i = 0; i < n && status == HD_OK; i++)
		status = review_add(s, names[i], d);
	return status;
}

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
	return database_append(k->db, k->review->jobs[job].end.results,
			       &k->d) == HD_OK;
}

static bool tick(void *context, const struct paper_job *job)
{
	struct keeper *k = context;
	bool good = true;

	(void)job;
	progress_show(&k->progress, ++k->done);
	for (; good && k->kept < k->review->n_jobs &&
	       review_is_done(k->review, k->kept);
	     k->kept++)
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

/* The page has the figures too: what each job drew them from. */
static int tell(const struct values *v, const struct paper_review *s,
		struct results *r, bool same)
{
	struct page_run *parts = hd_alloc(s->n_jobs + 1, sizeof(*parts));
	size_t n = 0;

	for (size_t i = 0; i < s->n_jobs; i++) {
		if (s->jobs[i].end.results)
			parts[n++].results = s->jobs[i].end.results;
	}
	record_parts(parts, n);
	int status = output_results(&v->common, r, same);

	record_parts(NULL, 0);
	free(parts);
	return status;
}

static enum hd_status run_all(const struct values *v, struct paper_review *s,
			      struct diag *d)
{
	struct keeper k = { .review = s, .db = v->common.db };
	char program[4096];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (len < 0)
		return diag_fail(d, HD_ERR_ENV,
				 "/proc is not there: cannot find "
				 "this program to run it");
	program[len] = '\0';
	const struct paper_runner runner = {
		.program = program,
		.at_once = jobs_at_once(v->jobs),
		.tick = tick,
		.context = &k,
	};

	progress_begin(&k.progress, &v->common, "experiments",
		       (double)s->n_jobs);
	enum hd_status status = review_run(s, &runner, d);

	progress_end(&k.progress);
	if (status == HD_OK && keep_rest(&k) != HD_OK) {
		*d = k.d;
		status = d->status;
	}
	return status;
}

static size_t count_done(const struct paper_review *s)
{
	size_t done = 0;

	for (size_t i = 0; i < s->n_jobs; i++)
		done += review_is_done(s, i);
	return done;
}

static int review(const struct values *v, struct paper_review *s,
		  const char *name)
{
	struct diag d = { .status = HD_OK };

	/* To the end: what was done by then is shown, whoever ends us. */
	unfinished_hold();
	if (run_all(v, s, &d) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new(name);
	bool same = review_tables(s, r);
	size_t done = count_done(s);

	results_remark(r,
		       "series and comparisons are in %s: 'heddle report "
		       "--db %s --html papers.html' draws them",
		       v->common.db, v->common.db);
	if (done < s->n_jobs)
		results_remark(r, "interrupted after %zu of %zu runs", done,
			       s->n_jobs);
	int status = tell(v, s, r, same);

	return done < s->n_jobs ? EXIT_ENVIRONMENT : status;
}

static int list(const struct values *v, struct paper_review *s,
		const char *name)
{
	struct results *r = results_new(name);

	review_list(s, r);
	return output_results(&v->common, r, true);
}

static const struct command command_paper_list, command_paper_all;

/* All three commands: which experiments, and what to do with them. */
static int run(const struct command *self, int argc, char **argv)
{
	bool lists = self == &command_paper_list;
	bool all = self == &command_paper_all;
	struct values v = { .common.db = lists ? NULL : DATABASE_DEFAULT };
	struct diag d = { .status = HD_OK };
	struct paper_catalogue c;
	struct paper_review s;
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		return status;
	if (all && n)
		return command_usage(self, "'%s' is too much: it runs all",
				     argv[0]);
	if (!all && !lists && !n)
		return command_usage(self, "which? 'heddle paper list' shows "
					   "them");
	if (catalogue_init(&c, &d) != HD_OK) {
		status = command_refuse(&d);
		catalogue_fini(&c);
		return status;
	}
	review_init(&s, &c, v.quick);
	if (choose(&s, n, argv, &d) != HD_OK)
		status = command_refuse(&d);
	else
		status = lists ? list(&v, &s, self->name)
			       : review(&v, &s, self->name);
	review_fini(&s);
	catalogue_fini(&c);
	return status;
}

/* ---- the commands ------------------------------------------------------- */

static const struct example list_examples[] = {
	{ "heddle paper list", "everything, with its state" },
	{ "heddle paper list 002 004/fig4.5", "of some" },
	{ NULL, NULL },
};

static const struct command command_paper_list = {
	.name = "paper list",
	.summary = "published tables, figures and claims, and their state",
	.arguments = "[PAPER | ID]...",
	.description =
		"Shows every table, figure and tested claim of the five papers: how long\n"
		"it takes, and its state: matched (to all published digits, or the claim\n"
		"holds), within tolerance (the stated one), refuted, or not reproducible,\n"
		"with the reason.\n",
	.examples = list_examples,
	.run = run,
};

static const struct example run_examples[] = {
	{ "heddle paper run 000/table1", "one table, ours beside theirs" },
	{ "heddle paper run 002/fig16 --html fig16.html",
	  "a figure, and a page that draws it" },
	{ "heddle paper run 004 --quick", "all of a paper, quickly" },
	{ NULL, NULL },
};

static const struct command command_paper_run = {
	.name = "paper run",
	.summary = "some of them, ours beside theirs",
	.arguments = "PAPER | ID ...",
	.description =
		"Runs the commands behind the experiments and compares. Exit status 1 if a\n"
		"verdict is not the recorded one. Series and comparisons are added to the\n"
		"database heddle.db, or that of --db, from which 'heddle report' draws;\n"
		"--html draws what was run at once.\n",
	.options = run_options,
	.examples = run_examples,
	.run = run,
};

static const struct example all_examples[] = {
	{ "heddle paper all --quick", "everything, quickly" },
	{ "heddle paper all --db papers.db -o papers.csv",
	  "everything in full, as a table" },
	{ NULL, NULL },
};

static const struct command command_paper_all = {
	.name = "paper all",
	.summary = "all of them",
	.arguments = "",
	.description =
		"Runs every experiment that can be run; see 'heddle paper run'.\n",
	.options = run_options,
	.examples = all_examples,
	.run = run,
};

static const struct command *const subcommands[] = {
	&command_paper_list,
	&command_paper_run,
	&command_paper_all,
	NULL,
};

static const struct example examples[] = {
	{ "heddle paper list", "what there is" },
	{ "heddle paper all --quick", "all of it in minutes" },
	{ NULL, NULL },
};

const struct command command_paper = {
	.name = "paper",
	.summary = "published tables and figures, ours beside theirs",
	.arguments = "",
	.description =
		"Every table, figure and tested claim of the five papers behind Heddle, as\n"
		"data: a command of ours, the published value, the tolerance.\n",
	.examples = examples,
	.subcommands = subcommands,
};
