/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/review.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define NO_JOB SIZE_MAX

void review_init(struct paper_review *s, const struct paper_catalogue *c,
		 bool quick)
{
	*s = (struct paper_review){ .catalogue = c, .quick = quick };
}

void review_fini(struct paper_review *s)
{
	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		for (size_t k = 0;
		     item->judgements && k < item->experiment->n_checks; k++)
			judgement_fini(&item->judgements[k]);
		free(item->judgements);
	}
	free(s->items);
	paper_jobs_free(s->jobs, s->n_jobs);
}

/* ---- choosing ----------------------------------------------------------- */

/* The job that runs this command; a new one if there is none. */
static size_t job_of(struct paper_review *s, const char *command)
{
	size_t i = 0;

	if (!command)
		return NO_JOB;
	while (i < s->n_jobs && strcmp(s->jobs[i].command, command) != 0)
		i++;
	if (i == s->n_jobs) {
		s->jobs =
			hd_grow(s->jobs, &s->jobs_cap, i + 1, sizeof(*s->jobs));
		s->jobs[s->n_jobs++] = (struct paper_job){ .command = command };
	}
	return i;
}

static void add_one(struct paper_review *s, const struct paper *p,
		    const struct paper_experiment *e)
{
	for (size_t i = 0; i < s->n_items; i++) {
		if (s->items[i].experiment == e)
			return;
	}
	s->items = hd_grow(s->items, &s->items_cap, s->n_items + 1,
			   sizeof(*s->items));
	s->items[s->n_items++] = (struct review_item){
		.paper = p,
		.experiment = e,
		.job = job_of(s, paper_command(e, s->quick)),
		.verdict = e->verdict,
	};
}

/* "000" names all of a paper, "000/fig4" one of it. */
static bool is_named(const struct paper *p, const struct paper_experiment *e,
		     const char *name)
{
	size_t len = strlen(p->id);

	if (strcmp(name, "all") == 0)
		return true;
	if (strncmp(name, p->id, len) != 0)
		return false;
	return !name[len] ||
	       (name[len] == '/' && strcmp(name + len + 1, e->id) == 0);
}

static enum hd_status refuse_name(const struct paper_review *s,
				  const char *name, struct diag *d)
{
	const char **names = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < PAPER_COUNT; i++) {
		const struct paper *p = &s->catalogue->papers[i];

		for (size_t k = 0; k < p->n_experiments; k++) {
			struct strbuf id = STRBUF_INIT;

			strbuf_printf(&id, "%s/%s", p->id,
				      p->experiments[k].id);
			names = hd_grow(names, &cap, n + 1, sizeof(*names));
			names[n++] = strbuf_detach(&id);
		}
	}
	const char *nearest = text_nearest(name, names, n);

	diag_fail(d, HD_ERR_NOT_FOUND, "no experiment '%s'%s", name,
		  nearest ? text_hint(nearest).text
			  : "; 'heddle paper list' has them");
	for (size_t i = 0; i < n; i++)
		free((void *)names[i]);
	free(names);
	return d->status;
}

enum hd_status review_add(struct paper_review *s, const char *name,
			  struct diag *d)
{
	bool found = false;

	for (size_t i = 0; i < PAPER_COUNT; i++) {
		const struct paper *p = &s->catalogue->papers[i];

		for (size_t k = 0; k < p->n_experiments; k++) {
			if (!is_named(p, &p->experiments[k], name))
				continue;
			add_one(s, p, &p->experiments[k]);
			found = true;
		}
	}
	return found ? HD_OK : refuse_name(s, name, d);
}

/* ---- running ------------------------------------------------------------ */

static void item_judge(struct review_item *item, const struct paper_job *job)
{
	const struct paper_experiment *e = item->experiment;

	if (!e->n_checks)
		return;
	item->judgements = hd_alloc(e->n_checks, sizeof(*item->judgements));
	for (size_t i = 0; i < e->n_checks; i++) {
		struct judgement *j = &item->judgements[i];

		if (job->end.results)
			judge(&e->checks[i], job->end.results, j);
		else
			*j = (struct judgement){
				.verdict = VERDICT_NONE,
				.ours = NAN,
				.deviation = NAN,
				.unit = hd_strdup(""),
				.missing = hd_strdup(job->end.failure),
			};
	}
	item->verdict = judge_all(item->judgements, e->n_checks);
}

/* Judges what a job was run for before others hear of it. */
struct audience {
	struct paper_review *review;
	const struct paper_runner *runner;
};

static bool judge_job(void *context, const struct paper_job *job)
{
	const struct audience *a = context;
	struct paper_review *s = a->review;

	for (size_t i = 0; i < s->n_items; i++) {
		if (s->items[i].job == (size_t)(job - s->jobs))
			item_judge(&s->items[i], job);
	}
	return !a->runner->tick || a->runner->tick(a->runner->context, job);
}

enum hd_status review_run(struct paper_review *s,
			  const struct paper_runner *runner, struct diag *d)
{
	struct audience a = { .review = s, .runner = runner };
	struct paper_runner judging = *runner;

	judging.tick = judge_job;
	judging.context = &a;
	return paper_run(&judging, s->jobs, s->n_jobs, d);
}

bool review_is_done(const struct paper_review *s, size_t job)
{
	return s->jobs[job].end.results || s->jobs[job].end.failure;
}

/* ---- telling ------------------------------------------------------------ */

static void put_id(struct table *t, const struct review_item *item)
{
	table_put_textf(t, "%s/%s", item->paper->id, item->experiment->id);
}

static void put_seconds(struct table *t, const struct review_item *item,
			bool quick)
{
	const struct paper_experiment *e = item->experiment;

	if (item->job == NO_JOB)
		table_put_none(t);
	else
		table_put_time(t, quick && e->quick ? e->quick_time : e->time);
}

void review_list(const struct paper_review *s, struct results *r)
{
	static const struct column columns[] = {
		{ "id", NULL, VALUE_TEXT },
		{ "kind", NULL, VALUE_TEXT },
		{ "shows", NULL, VALUE_TEXT },
		{ "time", "s", VALUE_REAL, ORIGIN_GIVEN, .places = 1 },
		{ "quick", "s", VALUE_REAL, ORIGIN_GIVEN, .places = 1 },
		{ "state", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
		{ "reason", NULL, VALUE_TEXT },
		{ NULL },
	};
	struct table *t =
		results_table(r, "experiments",
			      "published tables, figures and claims", columns);

	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];
		const struct paper_experiment *e = item->experiment;

		put_id(t, item);
		table_put_text(t, paper_kind_names[e->kind]);
		table_put_text(t, e->title);
		put_seconds(t, item, false);
		put_seconds(t, item, true);
		table_put_text(t, paper_verdict_names[e->verdict]);
		table_put_text(t, e->reason ? e->reason : "");
	}
}

static const struct column comparison_columns[] = {
	{ "id", NULL, VALUE_TEXT },
	{ "what", NULL, VALUE_TEXT },
	{ "published", NULL, VALUE_TEXT, ORIGIN_PUBLISHED },
	{ "ours", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
	{ "unit", NULL, VALUE_TEXT },
	{ "deviation", "%", VALUE_REAL, ORIGIN_COMPUTED, .places = 2 },
	{ "verdict", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
	{ NULL },
};

static void put_ours(struct table *t, const struct judgement *j)
{
	if (j->missing)
		table_put_textf(t, "none: %s", j->missing);
	else if (j->text)
		table_put_text(t, j->text);
	else
		table_put_textf(t, "%.7g", j->ours);
}

static void put_checks(struct table *t, const struct review_item *item)
{
	for (size_t i = 0; i < item->experiment->n_checks; i++) {
		const struct paper_check *c = &item->experiment->checks[i];
		const struct judgement *j = &item->judgements[i];

		put_id(t, item);
		table_put_text(t, c->what);
		table_put_text(t, c->published.text);
		put_ours(t, j);
		table_put_text(t, j->unit);
		table_put_real(t, 100 * j->deviation);
		table_put_text(t, j->missing ? "missing"
					     : paper_verdict_names[j->verdict]);
	}
}

/* One line; whether the verdict is what it was. */
static bool put_verdict(struct table *t, const struct paper_review *s,
			const struct review_item *item)
{
	const struct paper_experiment *e = item->experiment;
	bool same = item->verdict == e->verdict;

	put_id(t, item);
	table_put_text(t, e->title);
	table_put_text(t, paper_verdict_names[item->verdict]);
	table_put_text(t, same ? "as recorded" : "CHANGED");
	if (item->job == NO_JOB)
		table_put_none(t);
	else
		table_put_real(t, s->jobs[item->job].end.seconds);
	table_put_text(t, e->reason ? e->reason : "");
	return same;
}

bool review_tables(const struct paper_review *s, struct results *r)
{
	static const struct column columns[] = {
		{ "id", NULL, VALUE_TEXT },
		{ "shows", NULL, VALUE_TEXT },
		{ "verdict", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
		{ "record", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
		{ "time", "s", VALUE_REAL, ORIGIN_MEASURED, .places = 1 },
		{ "reason", NULL, VALUE_TEXT },
		{ NULL },
	};
	struct table *checks =
		results_table(r, "comparison", "ours beside what was published",
			      comparison_columns);
	struct table *t = results_table(
		r, "verdicts", "what became of each experiment", columns);
	bool same = true;

	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (item->job != NO_JOB && !review_is_done(s, item->job))
			continue;
		if (item->judgements)
			put_checks(checks, item);
		if (item->job != NO_JOB && s->jobs[item->job].end.failure) {
			results_remark(r, "%s/%s failed: %s", item->paper->id,
				       item->experiment->id,
				       s->jobs[item->job].end.failure);
			same = false;
		}
		same = put_verdict(t, s, item) && same;
	}
	return same;
}

void review_annotate(const struct paper_review *s, size_t job)
{
	struct results *r = s->jobs[job].end.results;
	struct strbuf name = STRBUF_INIT;
	struct table *t =
		results_table(r, "published", "ours beside what was published",
			      comparison_columns);

	strbuf_puts(&name, "paper run");
	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (item->job != job)
			continue;
		strbuf_printf(&name, " %s/%s", item->paper->id,
			      item->experiment->id);
		if (item->judgements)
			put_checks(t, item);
		results_remark(r, "%s/%s: %s: %s", item->paper->id,
			       item->experiment->id, item->experiment->title,
			       paper_verdict_names[item->verdict]);
	}
	free(r->command);
	r->command = strbuf_detach(&name);
	/* Its own ran in a folder that is gone. */
	results_set_arguments(r, "");
}
