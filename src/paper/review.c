/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/review.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

void review_init(struct paper_review *s, const struct paper_catalogue *c, bool quick)
{
	*s = (struct paper_review){ .catalogue = c, .quick = quick };
}

static void item_fini(struct review_item *item)
{
	for (size_t i = 0; item->settings && i < item->grid.n_settings; i++) {
		for (size_t k = 0; k < item->experiment->n_checks; k++)
			judgement_fini(&item->settings[i].judgements[k]);
		free(item->settings[i].judgements);
	}
	free(item->settings);
	free(item->jobs);
	free(item->holds);
	points_fini(&item->grid);
}

void review_fini(struct paper_review *s)
{
	for (size_t i = 0; i < s->n_items; i++)
		item_fini(&s->items[i]);
	free(s->items);
	paper_jobs_free(s->jobs, s->n_jobs);
}

/* ---- choosing ----------------------------------------------------------- */

/* The job that runs this command, taken over; a new one if there is none. */
static size_t job_of(struct paper_review *s, char *command)
{
	size_t i = 0;

	while (i < s->n_jobs && strcmp(s->jobs[i].command, command) != 0)
		i++;
	if (i < s->n_jobs) {
		free(command);
		return i;
	}
	s->jobs = hd_grow(s->jobs, &s->jobs_cap, i + 1, sizeof(*s->jobs));
	s->jobs[s->n_jobs++] = (struct paper_job){ .command = command };
	return i;
}

static enum hd_status add_one(struct paper_review *s, const struct paper *p,
			      const struct paper_experiment *e, struct diag *d)
{
	struct review_item item = { .paper = p,
				    .experiment = e,
				    .verdict = experiment_found(e, s->quick)->verdict };
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < s->n_items; i++) {
		if (s->items[i].experiment == e)
			return HD_OK;
	}
	if (e->study)
		status = points_init(&item.grid, e, s->quick, d);
	item.jobs = hd_alloc(item.grid.n_points + 1, sizeof(*item.jobs));
	for (size_t i = 0; i < item.grid.n_points; i++)
		item.jobs[i] = job_of(s, points_command(&item.grid, i));
	s->items = hd_grow(s->items, &s->items_cap, s->n_items + 1, sizeof(*s->items));
	s->items[s->n_items++] = item;
	return status;
}

/* "000" names all of a paper, "000/fig4" one of it. */
static bool is_named(const struct paper *p, const struct paper_experiment *e, const char *name)
{
	size_t len = strlen(p->id);

	if (strcmp(name, "all") == 0)
		return true;
	if (strncmp(name, p->id, len) != 0)
		return false;
	return !name[len] || (name[len] == '/' && strcmp(name + len + 1, e->id) == 0);
}

static enum hd_status refuse_name(const struct paper_review *s, const char *name, struct diag *d)
{
	const char **names = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < s->catalogue->n; i++) {
		const struct paper *p = s->catalogue->papers[i];

		for (size_t k = 0; k < p->n_experiments; k++) {
			struct strbuf id = STRBUF_INIT;

			strbuf_printf(&id, "%s/%s", p->id, p->experiments[k].id);
			names = hd_grow(names, &cap, n + 1, sizeof(*names));
			names[n++] = strbuf_detach(&id);
		}
	}
	const char *nearest = text_nearest(name, names, n);

	diag_fail(d, HD_ERR_NOT_FOUND, "no experiment '%s'%s", name,
		  nearest ? text_hint(nearest).text : "; 'heddle paper list' has them");
	for (size_t i = 0; i < n; i++)
		free((void *)names[i]);
	free(names);
	return d->status;
}

enum hd_status review_add(struct paper_review *s, const char *name, struct diag *d)
{
	enum hd_status status = HD_OK;
	bool found = false;

	for (size_t i = 0; i < s->catalogue->n; i++) {
		const struct paper *p = s->catalogue->papers[i];

		for (size_t k = 0; k < p->n_experiments; k++) {
			if (!is_named(p, &p->experiments[k], name))
				continue;
			if (status == HD_OK)
				status = add_one(s, p, &p->experiments[k], d);
			found = true;
		}
	}
	return found ? status : refuse_name(s, name, d);
}

enum hd_status review_has_open(const struct paper_review *s, struct diag *d)
{
	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (item->grid.n_settings < 2)
			return diag_fail(
				d, HD_ERR_INPUT, "%s/%s leaves nothing open to be fitted%s",
				item->paper->id, item->experiment->id,
				item->experiment->study ? "" : ", and there is nothing to run");
	}
	return HD_OK;
}

/* ---- judging ------------------------------------------------------------ */

/* Where a point's results are. */
struct place {
	const struct paper_review *review;
	const struct review_item *item;
};

static const struct results *results_of(const void *context, size_t point)
{
	const struct place *p = context;

	return p->review->jobs[p->item->jobs[point]].end.results;
}

/* The first failure among the points of a setting; NULL if all went well. */
static const char *failure_of(const struct paper_review *s, const struct review_item *item,
			      size_t setting)
{
	for (size_t i = 0; i < item->grid.n_points; i++) {
		const struct process_end *end = &s->jobs[item->jobs[i]].end;

		if (item->grid.settings[i] == setting && !end->results)
			return end->failure;
	}
	return NULL;
}

static void gather(const struct place *p, size_t setting, const char *table, struct results *out)
{
	if (table && !results_find(out, table))
		points_gather(&p->item->grid, setting, table, results_of, p, out);
}

/* A column that an open axis names, as it is in this setting. */
static void fill_column(const struct paper_points *g, size_t setting, char **column, char **owned)
{
	const char *name = *column;

	*owned = NULL;
	if (!name || name[0] != '{')
		return;
	char *axis = hd_strndup(name + 1, strcspn(name, "}") - 1);

	*owned = points_setting_label(g, setting, axis);
	if (*owned)
		*column = *owned;
	free(axis);
}

static void judge_check(const struct place *p, size_t setting, struct paper_check check,
			struct results *r, struct judgement *out)
{
	const struct paper_points *g = &p->item->grid;
	char *column, *other;

	gather(p, setting, check.value.table, r);
	gather(p, setting, check.against.table, r);
	fill_column(g, setting, &check.value.column, &column);
	fill_column(g, setting, &check.against.column, &other);
	judge(&check, r, out);
	free(column);
	free(other);
}

static void judge_setting(const struct paper_review *s, const struct review_item *item,
			  size_t setting, struct review_setting *out)
{
	const struct paper_experiment *e = item->experiment;
	const struct place place = { s, item };
	const char *failure = failure_of(s, item, setting);
	struct results *r = results_new("paper");

	out->judgements = hd_alloc(e->n_checks, sizeof(*out->judgements));
	for (size_t i = 0; i < e->n_checks; i++) {
		if (failure)
			judgement_missing(&out->judgements[i], failure);
		else
			judge_check(&place, setting, e->checks[i], r, &out->judgements[i]);
	}
	out->verdict = judge_all(out->judgements, e->n_checks);
	results_free(r);
}

/* "unit=2; unit=4", or "all but unit=2" if that is shorter. */
static char *list_settings(const struct review_item *item)
{
	struct strbuf text = STRBUF_INIT;
	size_t n = item->grid.n_settings, good = 0;
	const char *semicolon = "";

	for (size_t i = 0; i < n; i++)
		good += item->settings[i].verdict <= VERDICT_TREND;
	bool few = 2 * good <= n;

	if (!few)
		strbuf_puts(&text, "all but ");
	for (size_t i = 0; i < n; i++) {
		if ((item->settings[i].verdict <= VERDICT_TREND) != few)
			continue;
		strbuf_puts(&text, semicolon);
		points_setting(&item->grid, i, &text);
		semicolon = "; ";
	}
	return strbuf_detach(&text);
}

/* In all settings the worst of them; in some: which. */
static void conclude(struct review_item *item)
{
	enum paper_verdict worst = VERDICT_MATCHED, best = VERDICT_NONE;
	size_t n = item->grid.n_settings;

	for (size_t i = 0; i < n; i++) {
		enum paper_verdict v = item->settings[i].verdict;

		worst = v > worst ? v : worst;
		best = v < best ? v : best;
	}
	item->verdict = worst;
	if (worst == VERDICT_NOT && best == VERDICT_PARTLY)
		item->verdict = VERDICT_PARTLY;
	if (best <= VERDICT_TREND && worst > VERDICT_TREND && worst != VERDICT_NONE) {
		item->verdict = VERDICT_PARTLY;
		item->holds = list_settings(item);
	}
	if (item->experiment->proof && item->verdict != VERDICT_NONE &&
	    item->verdict >= VERDICT_PARTLY) {
		free(item->holds);
		item->holds = NULL;
		item->verdict = VERDICT_REFUTED;
	}
}

static void item_judge(const struct paper_review *s, struct review_item *item)
{
	if (!item->experiment->n_checks || item->settings || !review_item_done(s, item))
		return;
	item->settings = hd_alloc(item->grid.n_settings, sizeof(*item->settings));
	for (size_t i = 0; i < item->grid.n_settings; i++)
		judge_setting(s, item, i, &item->settings[i]);
	conclude(item);
}

bool review_as_recorded(const struct paper_review *s, const struct review_item *item)
{
	const struct paper_found *found = experiment_found(item->experiment, s->quick);
	const char *was = found->settings;

	if (item->verdict != found->verdict)
		return false;
	if (!item->settings || !was || !item->holds)
		return !item->settings || was == item->holds;
	return strcmp(was, item->holds) == 0;
}

/* ---- running ------------------------------------------------------------ */

/* Judges what a job was run for before others hear of it. */
struct audience {
	struct paper_review *review;
	const struct paper_runner *runner;
};

static void judge_done(struct paper_review *s)
{
	for (size_t i = 0; i < s->n_items; i++)
		item_judge(s, &s->items[i]);
}

static bool judge_job(void *context, const struct paper_job *job)
{
	const struct audience *a = context;

	judge_done(a->review);
	return !a->runner->tick || a->runner->tick(a->runner->context, job);
}

enum hd_status review_run(struct paper_review *s, const struct paper_runner *runner, struct diag *d)
{
	struct audience a = { .review = s, .runner = runner };
	struct paper_runner judging = *runner;

	judging.tick = judge_job;
	judging.catalogue = s->catalogue;
	judging.context = &a;
	judge_done(s); /* of what is known all may be */
	return paper_run(&judging, s->jobs, s->n_jobs, d);
}

bool review_is_done(const struct paper_review *s, size_t job)
{
	return s->jobs[job].end.results || s->jobs[job].end.failure;
}

bool review_item_done(const struct paper_review *s, const struct review_item *item)
{
	for (size_t i = 0; i < item->grid.n_points; i++) {
		if (!review_is_done(s, item->jobs[i]))
			return false;
	}
	return true;
}

/* ---- telling ------------------------------------------------------------ */

/* The words of a command, with the papers' files where they are. */
static void put_words(const char *folder, const char *words, struct strbuf *out)
{
	static const char files[] = " papers/";
	const char *at;

	strbuf_puts(out, "heddle ");
	while (folder && (at = strstr(words, files)) != NULL) {
		strbuf_add(out, words, (size_t)(at - words));
		strbuf_printf(out, " %s", folder);
		words = at + strlen(files) - 1;
	}
	strbuf_puts(out, words);
}

/* What of it varies, as a comment. */
static void put_axes(const struct review_item *item, struct strbuf *out)
{
	const struct paper_experiment *e = item->experiment;
	bool quick = item->grid.quick;
	const char *given = quick && e->quick_given ? e->quick_given : e->given;

	for (size_t i = 0; i < e->study->n_axes; i++) {
		const struct paper_axis *a = &e->study->axes[i];

		strbuf_printf(out, "%s %s: %s", i ? ";" : "  #", a->name,
			      quick && a->quick ? a->quick : a->values);
	}
	if (given)
		strbuf_printf(out, "; of these %s", given);
}

void review_command(const struct paper_review *s, const struct review_item *item,
		    struct strbuf *out)
{
	const struct paper_study *study = item->experiment->study;

	if (!study)
		return;
	if (item->grid.n_points == 1) {
		char *command = points_command(&item->grid, 0);

		put_words(s->folder, command, out);
		free(command);
		return;
	}
	put_words(s->folder, item->grid.quick && study->quick ? study->quick : study->command, out);
	put_axes(item, out);
}

void review_verdict(enum paper_verdict v, const char *holds, struct strbuf *out)
{
	strbuf_puts(out, paper_verdict_names[v]);
	if (v == VERDICT_PARTLY)
		strbuf_printf(out, " %s", holds ? holds : "most cases");
}
