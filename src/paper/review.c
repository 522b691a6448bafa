/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/review.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "paper/stage.h"
#include "paper/tables.h"
#include "report/database.h"
#include "study/point_runner.h"
#include "study/scratch.h"

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
	paper_grid_fini(&item->grid);
}

void review_fini(struct paper_review *s)
{
	for (size_t i = 0; i < s->n_items; i++)
		item_fini(&s->items[i]);
	free(s->items);
	for (size_t i = 0; i < s->n_jobs; i++) {
		point_outcome_fini(&s->jobs[i].outcome);
		point_id_fini(&s->jobs[i].id);
		free(s->jobs[i].command);
	}
	free(s->jobs);
	text_map_fini(&s->by_command);
}

/* ---- choosing ----------------------------------------------------------- */

/* The job with the command of a point; a new one if necessary. */
static size_t job_of(struct paper_review *s, const struct review_item *item, size_t point)
{
	struct strbuf command = STRBUF_INIT;

	study_fill_template(&item->grid.study, point, &command);
	uint32_t job = text_map_get(&s->by_command, command.text, command.len);

	if (job != MAP_NONE) {
		strbuf_fini(&command);
		return job;
	}
	size_t len = command.len;

	s->jobs = hd_grow(s->jobs, &s->jobs_cap, s->n_jobs + 1, sizeof(*s->jobs));
	s->jobs[s->n_jobs] = (struct review_job){ .command = strbuf_detach(&command),
						  .item = s->n_items,
						  .point = point };
	text_map_put(&s->by_command, s->jobs[s->n_jobs].command, len, (uint32_t)s->n_jobs);
	return s->n_jobs++;
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
		status = paper_grid_init(&item.grid, p, e, s->quick, d);
	item.jobs = hd_alloc(item.grid.study.n_points + 1, sizeof(*item.jobs));
	for (size_t i = 0; i < item.grid.study.n_points; i++)
		item.jobs[i] = job_of(s, &item, i);
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
				d, HD_ERR_INPUT, "%s/%s has no open parameter to calibrate%s",
				item->paper->id, item->experiment->id,
				item->experiment->study ? "" : ", and there is nothing to run");
	}
	return HD_OK;
}

/* ---- judging ------------------------------------------------------------ */

/* Where a point's results are. */
struct point_source {
	const struct paper_review *review;
	const struct review_item *item;
};

static const struct results *results_of(const void *context, size_t point)
{
	const struct point_source *p = context;

	return p->review->jobs[p->item->jobs[point]].outcome.results;
}

/* The first failure among the points of a setting; NULL if all went well. */
static const char *failure_of(const struct paper_review *s, const struct review_item *item,
			      size_t setting)
{
	for (size_t i = 0; i < item->grid.study.n_points; i++) {
		const struct point_outcome *o = &s->jobs[item->jobs[i]].outcome;

		if (item->grid.settings[i] == setting && !o->results)
			return o->failure;
	}
	return NULL;
}

static void gather(const struct point_source *p, size_t setting, const char *table,
		   struct results *out)
{
	if (table && !results_find(out, table))
		paper_grid_gather(&p->item->grid, setting, table, results_of, p, out);
}

/* "{axis}" in a text is replaced by the value of that open axis in the setting. */
static char *fill_text(const struct paper_grid *g, size_t setting, const char *text)
{
	struct strbuf out = STRBUF_INIT;

	while (text && *text) {
		size_t open = strcspn(text, "{");
		const char *end = strchr(text + open, '}');

		strbuf_add(&out, text, open);
		text += open;
		if (!end) {
			strbuf_puts(&out, text);
			break;
		}
		char *axis = hd_strndup(text + 1, (size_t)(end - text) - 1);
		const char *value = paper_grid_setting_value(g, setting, axis);

		if (value)
			strbuf_puts(&out, value);
		else
			strbuf_add(&out, text, (size_t)(end - text) + 1);
		free(axis);
		text = end + 1;
	}
	return text ? strbuf_detach(&out) : NULL;
}

/* Fills the texts of a value, which the caller frees with value_texts_free. */
static void fill_value(const struct paper_grid *g, size_t setting, struct paper_value *v)
{
	v->column = fill_text(g, setting, v->column);
	v->where = fill_text(g, setting, v->where);
}

static void value_texts_free(struct paper_value *v)
{
	free(v->column);
	free(v->where);
}

static void judge_check(const struct point_source *p, size_t setting, struct paper_check check,
			struct results *r, struct judgement *out)
{
	const struct paper_grid *g = &p->item->grid;

	gather(p, setting, check.value.table, r);
	gather(p, setting, check.against.table, r);
	fill_value(g, setting, &check.value);
	fill_value(g, setting, &check.against);
	judge(&check, r, out);
	value_texts_free(&check.value);
	value_texts_free(&check.against);
}

static void judge_setting(const struct paper_review *s, const struct review_item *item,
			  size_t setting, struct review_setting *out)
{
	const struct paper_experiment *e = item->experiment;
	const struct point_source place = { s, item };
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

/* The settings in which the experiment holds. */
static char *list_settings(const struct review_item *item)
{
	struct strbuf text = STRBUF_INIT;
	size_t n = item->grid.n_settings;
	bool *holds = hd_alloc(n + 1, sizeof(*holds));

	for (size_t i = 0; i < n; i++)
		holds[i] = item->settings[i].verdict <= VERDICT_TREND;
	paper_grid_settings_print(&item->grid, holds, &text);
	free(holds);
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

struct review_pass {
	struct paper_review *review;
	const struct review_options *options;
};

static void judge_done(struct paper_review *s)
{
	for (size_t i = 0; i < s->n_items; i++)
		item_judge(s, &s->items[i]);
}

static void job_ended(void *context, size_t job)
{
	const struct review_pass *p = context;

	(void)job;
	judge_done(p->review);
	if (p->options->tick)
		p->options->tick(p->options->context, p->review);
}

/* Failures are not stored: the next call runs the command again. */
static enum hd_status store_job(void *context, size_t job, struct diag *d)
{
	const struct review_pass *p = context;
	const struct review_job *j = &p->review->jobs[job];

	if (!j->outcome.results)
		return HD_OK;
	review_annotate(p->review, job);
	if (j->is_stored || !p->options->db)
		return HD_OK;
	return database_append(p->options->db, j->outcome.results, d);
}

/* Takes the results of an earlier call, without the tables that it added. */
static void recall(struct review_job *j, struct results *r)
{
	while (r->n_tables && review_is_note(r->tables[r->n_tables - 1]->name))
		results_drop_last(r);
	j->outcome.results = r;
	j->is_stored = true;
}

/* Identifies the jobs, and takes from the database those that it has. */
static enum hd_status recall_jobs(struct paper_review *s, const char *db, struct diag *d)
{
	struct store store = { 0 };
	enum hd_status status = db ? store_open(&store, db, NULL, d) : HD_OK;

	for (size_t i = 0; i < s->n_jobs && status == HD_OK; i++) {
		struct review_job *j = &s->jobs[i];
		struct results *r = NULL;

		status = point_identify(&s->items[j->item].grid.study, j->point, d, &j->id);
		if (status == HD_OK && db)
			status = store_read(&store, j->id.key, d, &r);
		if (r)
			recall(j, r);
	}
	store_close(&store);
	return status;
}

static enum hd_status run_jobs(struct paper_review *s, const struct review_options *o,
			       struct diag *d)
{
	struct review_pass pass = { .review = s, .options = o };
	struct point_runner runner = { .jobs = hd_alloc(s->n_jobs, sizeof(*runner.jobs)),
				       .n = s->n_jobs,
				       .at_once = o->at_once,
				       .ended = job_ended,
				       .store = store_job,
				       .context = &pass };

	for (size_t i = 0; i < s->n_jobs; i++)
		runner.jobs[i] = (struct point_job){ .study = &s->items[s->jobs[i].item].grid.study,
						     .point = s->jobs[i].point,
						     .outcome = &s->jobs[i].outcome };
	judge_done(s); /* those whose runs were all stored */
	enum hd_status status = point_runner_run(&runner, d);

	free(runner.jobs);
	return status;
}

enum hd_status review_run(struct paper_review *s, const struct review_options *o, struct diag *d)
{
	struct scratch scratch;
	enum hd_status status = scratch_make(d, &scratch);

	if (status != HD_OK)
		return status;
	for (size_t i = 0; i < s->n_items; i++) {
		s->items[i].grid.study.folder = scratch.folder;
		s->items[i].grid.study.program = o->program;
	}
	status = paper_files_write(s->catalogue, scratch.folder, d);
	if (status == HD_OK)
		status = recall_jobs(s, o->db, d);
	if (status == HD_OK)
		status = run_jobs(s, o, d);
	scratch_remove(&scratch);
	return status;
}

size_t review_count_done(const struct paper_review *s)
{
	size_t done = 0;

	for (size_t i = 0; i < s->n_jobs; i++)
		done += point_outcome_is_known(&s->jobs[i].outcome);
	return done;
}

bool review_item_done(const struct paper_review *s, const struct review_item *item)
{
	for (size_t i = 0; i < item->grid.study.n_points; i++) {
		if (!point_outcome_is_known(&s->jobs[item->jobs[i]].outcome))
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

/* Writes its axes as a comment. */
static void put_axes(const struct review_item *item, bool quick, struct strbuf *out)
{
	const struct paper_experiment *e = item->experiment;
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
	if (!item->experiment->study)
		return;
	if (item->grid.study.n_points == 1) {
		put_words(s->folder, s->jobs[item->jobs[0]].command, out);
		return;
	}
	put_words(s->folder, item->grid.study.template, out);
	put_axes(item, s->quick, out);
}

void review_verdict(enum paper_verdict v, const char *holds, struct strbuf *out)
{
	strbuf_puts(out, paper_verdict_names[v]);
	if (v == VERDICT_PARTLY)
		strbuf_printf(out, " %s", holds ? holds : "most cases");
}
