/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "paper/value.h"

static const char *id_of(struct table *t, const struct review_item *item)
{
	return table_text(t, "%s/%s", item->paper->id, item->experiment->id);
}

static const char *or_nothing(const char *text)
{
	return text ? text : "";
}

static const char *command_of(struct table *t, const struct paper_review *s,
			      const struct review_item *item)
{
	struct strbuf text = STRBUF_INIT;

	review_command(s, item, &text);
	return text.len ? table_take(t, &text) : "";
}

static const char *verdict_of(struct table *t, enum paper_verdict v, const char *holds)
{
	struct strbuf text = STRBUF_INIT;

	review_verdict(v, holds, &text);
	return table_take(t, &text);
}

/* Estimated time of all runs if one takes this long. */
static double seconds(const struct review_item *item, hd_time one)
{
	return (double)one / (double)HD_S * (double)item->grid.study.n_points;
}

struct list_row {
	const char *id, *kind, *shows, *state, *reason, *command;
	size_t runs;
	double time, quick;
};
static const struct column list_columns[] = {
	{ "id", NULL, CELL(list_row, id) },
	{ "kind", NULL, CELL(list_row, kind) },
	{ "shows", NULL, CELL(list_row, shows) },
	{ "runs", NULL, CELL(list_row, runs) },
	{ "time", "s", CELL(list_row, time), ORIGIN_GIVEN, 1 },
	{ "quick", "s", CELL(list_row, quick), ORIGIN_GIVEN, 1 },
	{ "state", NULL, CELL(list_row, state), ORIGIN_COMPUTED },
	{ "reason", NULL, CELL(list_row, reason) },
	{ "command", NULL, CELL(list_row, command) },
	{ NULL },
};

static struct list_row list_row_of(struct table *t, const struct paper_review *s,
				   const struct review_item *item)
{
	const struct paper_experiment *e = item->experiment;
	const struct paper_study *study = e->study;

	return (struct list_row){
		.id = id_of(t, item),
		.kind = paper_kind_names[e->kind],
		.shows = e->title,
		.state = verdict_of(t, e->found.verdict, e->found.settings),
		.reason = or_nothing(e->reason),
		.command = command_of(t, s, item),
		.runs = item->grid.study.n_points,
		.time = study ? seconds(item, study->time) : NAN,
		.quick = study ? seconds(item, study->quick_time) : NAN,
	};
}

static const char list_title[] = "published tables, figures and claims";

void review_list(const struct paper_review *s, struct results *r)
{
	struct table *t = results_table(r, "experiments", list_title, list_columns);

	for (size_t i = 0; i < s->n_items; i++) {
		struct list_row row = list_row_of(t, s, &s->items[i]);

		table_put_row(t, &row);
	}
}

void review_records(const struct paper_review *s, struct results *r)
{
	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];
		struct strbuf id = STRBUF_INIT;

		strbuf_printf(&id, "%s/%s", item->paper->id, item->experiment->id);
		/* The title has the id and the subject. */
		struct column columns[sizeof(list_columns) / sizeof(*list_columns)];
		size_t n = 0;

		for (const struct column *c = list_columns; c->name; c++) {
			if (c->cell.offset != offsetof(struct list_row, id) &&
			    c->cell.offset != offsetof(struct list_row, shows))
				columns[n++] = *c;
		}
		columns[n] = (struct column){ .name = NULL };
		struct table *t = results_record(r, id.text, item->experiment->title, columns);
		struct list_row row = list_row_of(t, s, item);

		table_put_row(t, &row);
		strbuf_fini(&id);
	}
}

/* ---- in a screen -------------------------------------------------------- */

#define BRIEF_SHOWS 46 /* letters; with the others' less than 120 */

static const struct column brief_columns[] = {
	{ "id", NULL, CELL(list_row, id) },
	{ "shows", NULL, CELL(list_row, shows) },
	{ "time", "s", CELL(list_row, time), ORIGIN_GIVEN, 1 },
	{ "quick", "s", CELL(list_row, quick), ORIGIN_GIVEN, 1 },
	{ "state", NULL, CELL(list_row, state), ORIGIN_COMPUTED },
	{ NULL },
};

/* The first words that fit. */
static const char *brief(struct table *t, const char *text, size_t place)
{
	if (strlen(text) <= place)
		return text;
	size_t len = place - strlen(" ...") + 1;

	while (len > 1 && text[len - 1] != ' ')
		len--;
	return table_text(t, "%.*s ...", (int)len - 1, text);
}

void review_brief(const struct paper_review *s, struct results *r)
{
	struct table *t = results_table(r, "experiments", list_title, brief_columns);

	for (size_t i = 0; i < s->n_items; i++) {
		const struct paper_found *found = &s->items[i].experiment->found;
		struct list_row row = list_row_of(t, s, &s->items[i]);

		row.shows = brief(t, row.shows, BRIEF_SHOWS);
		if (found->settings)
			row.state = verdict_of(t, found->verdict, "some settings");
		table_put_row(t, &row);
	}
	results_remark(
		r,
		"--all shows them whole, with the commands behind them and the reasons; so do --csv and --json");
}

/* ---- comparing ---------------------------------------------------------- */

struct check_row {
	const char *id, *what, *setting, *published, *ours, *verdict, *source;
	double deviation;
};
static const struct column comparison_columns[] = {
	{ "id", NULL, CELL(check_row, id) },
	{ "what", NULL, CELL(check_row, what) },
	{ "setting", NULL, CELL(check_row, setting) },
	{ "published", NULL, CELL(check_row, published), ORIGIN_PUBLISHED },
	{ "ours", NULL, CELL(check_row, ours), ORIGIN_COMPUTED },
	{ "deviation", "%", CELL_SHARE(check_row, deviation), ORIGIN_COMPUTED, 2 },
	{ "verdict", NULL, CELL(check_row, verdict), ORIGIN_COMPUTED },
	{ "limit from", NULL, CELL(check_row, source) },
	{ NULL },
};

static const char *setting_of(struct table *t, const struct review_item *item, size_t setting)
{
	struct strbuf text = STRBUF_INIT;

	paper_grid_setting_print(&item->grid, setting, &text);
	return text.len ? table_take(t, &text) : "";
}

static void put_check(struct table *t, const struct review_item *item, size_t setting, size_t check)
{
	const struct paper_check *c = &item->experiment->checks[check];
	const struct judgement *j = &item->settings[setting].judgements[check];
	struct strbuf ours = STRBUF_INIT;

	judgement_print(j, &ours);
	struct check_row row = {
		.id = id_of(t, item),
		.what = c->what,
		.setting = setting_of(t, item, setting),
		.published = c->published.text,
		.ours = table_take(t, &ours),
		.verdict = j->missing ? "missing" : paper_verdict_names[j->verdict],
		.source = or_nothing(c->source),
		.deviation = j->deviation,
	};

	table_put_row(t, &row);
}

static void put_checks(struct table *t, const struct review_item *item)
{
	for (size_t s = 0; s < item->grid.n_settings; s++) {
		for (size_t i = 0; i < item->experiment->n_checks; i++)
			put_check(t, item, s, i);
	}
}

/* ---- verdicts ----------------------------------------------------------- */

static double seconds_of(const struct paper_review *s, const struct review_item *item)
{
	double sum = 0;

	for (size_t i = 0; i < item->grid.study.n_points; i++)
		sum += s->jobs[item->jobs[i]].outcome.seconds;
	return sum;
}

struct experiment_row {
	const char *id, *shows, *verdict, *record, *reason;
	double time;
};
static const struct column verdict_columns[] = {
	{ "id", NULL, CELL(experiment_row, id) },
	{ "shows", NULL, CELL(experiment_row, shows) },
	{ "verdict", NULL, CELL(experiment_row, verdict), ORIGIN_COMPUTED },
	{ "record", NULL, CELL(experiment_row, record), ORIGIN_COMPUTED },
	{ "time", "s", CELL(experiment_row, time), ORIGIN_MEASURED, 1 },
	{ "reason", NULL, CELL(experiment_row, reason) },
	{ NULL },
};

/* Writes one line; returns whether the verdict equals the recorded one. */
static bool put_verdict(struct table *t, const struct paper_review *s,
			const struct review_item *item)
{
	const struct paper_experiment *e = item->experiment;
	const char *recorded = experiment_found(e, s->quick)->settings;
	bool same = review_as_recorded(s, item);
	struct experiment_row row = {
		.id = id_of(t, item),
		.shows = e->title,
		.verdict = verdict_of(t, item->verdict, item->settings ? item->holds : recorded),
		.record = same ? "as recorded" : "CHANGED",
		.reason = or_nothing(e->proof ? e->proof : e->reason),
		.time = item->grid.study.n_points ? seconds_of(s, item) : NAN,
	};

	table_put_row(t, &row);
	return same;
}

static bool remark_failures(const struct paper_review *s, const struct review_item *item,
			    struct results *r)
{
	for (size_t i = 0; i < item->grid.study.n_points; i++) {
		const struct review_job *job = &s->jobs[item->jobs[i]];

		if (!job->outcome.failure)
			continue;
		results_remark(r, "%s/%s failed: heddle %s: %s", item->paper->id,
			       item->experiment->id, job->command, job->outcome.failure);
		return true;
	}
	return false;
}

struct command_row {
	const char *id, *command;
	size_t runs;
};
static const struct column command_columns[] = {
	{ "id", NULL, CELL(command_row, id) },
	{ "runs", NULL, CELL(command_row, runs) },
	{ "command", NULL, CELL(command_row, command) },
	{ NULL },
};

static void put_commands(const struct paper_review *s, struct results *r)
{
	struct table *t = results_table(r, "commands", "what was run", command_columns);

	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (item->grid.study.n_points)
			table_put_row(t,
				      &(struct command_row){ .id = id_of(t, item),
							     .command = command_of(t, s, item),
							     .runs = item->grid.study.n_points });
	}
}

bool review_tables(const struct paper_review *s, struct results *r)
{
	struct table *checks = results_table(r, "comparison", "ours next to what was published",
					     comparison_columns);
	struct table *t =
		results_table(r, "verdicts", "what became of each experiment", verdict_columns);
	bool same = true;

	put_commands(s, r);
	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (!review_item_done(s, item))
			continue;
		if (item->settings)
			put_checks(checks, item);
		same = !remark_failures(s, item, r) && same;
		same = put_verdict(t, s, item) && same;
	}
	return same;
}

/* ---- what is left open --------------------------------------------------- */

struct fit_row {
	const char *id, *setting, *verdict;
	size_t hold, checks;
	double worst;
};
static const struct column fit_columns[] = {
	{ "id", NULL, CELL(fit_row, id) },
	{ "setting", NULL, CELL(fit_row, setting) },
	{ "checks that hold", NULL, CELL(fit_row, hold), ORIGIN_COMPUTED },
	{ "of", NULL, CELL(fit_row, checks) },
	{ "farthest off", "%", CELL_SHARE(fit_row, worst), ORIGIN_COMPUTED, 1 },
	{ "verdict", NULL, CELL(fit_row, verdict), ORIGIN_COMPUTED },
	{ NULL },
};

static void fit_setting(struct table *t, const struct review_item *item, size_t setting)
{
	const struct review_setting *s = &item->settings[setting];
	struct fit_row row = {
		.id = id_of(t, item),
		.setting = setting_of(t, item, setting),
		.verdict = paper_verdict_names[s->verdict],
		.checks = item->experiment->n_checks,
		.worst = NAN,
	};

	for (size_t i = 0; i < row.checks; i++) {
		row.hold += s->judgements[i].verdict <= VERDICT_TREND;
		row.worst = fmax(row.worst, fabs(s->judgements[i].deviation));
	}
	table_put_row(t, &row);
}

static void remark_open(const struct review_item *item, struct results *r)
{
	const struct paper_study *study = item->experiment->study;

	for (size_t i = 0; i < study->n_axes; i++) {
		if (study->axes[i].open)
			results_remark(r, "%s/%s: %s is open: %s", item->paper->id,
				       item->experiment->id, study->axes[i].name,
				       study->axes[i].open);
	}
}

bool review_fit(const struct paper_review *s, struct results *r)
{
	struct table *t =
		results_table(r, "settings", "where what was published holds", fit_columns);
	struct table *checks = results_table(r, "comparison", "ours next to what was published",
					     comparison_columns);
	bool any = false;

	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (!item->settings || item->grid.n_settings < 2)
			continue;
		any = true;
		for (size_t k = 0; k < item->grid.n_settings; k++)
			fit_setting(t, item, k);
		put_checks(checks, item);
		remark_open(item, r);
		remark_failures(s, item, r);
	}
	return any;
}

/* ---- for the record ----------------------------------------------------- */

/* The point of an experiment that a job computes; n_points: none. */
static size_t point_of(const struct review_item *item, size_t job)
{
	size_t i = 0;

	while (i < item->grid.study.n_points && item->jobs[i] != job)
		i++;
	return i;
}

/* A printed number where a table of the run has ours: in a row, or, a limit, in
 * all of a column. */
struct published_mark_row {
	const char *table, *column, *what, *text;
	int64_t row; /* from 0; -1: all */
	double published;
};
static const struct column mark_columns[] = {
	{ "table", NULL, CELL(published_mark_row, table) },
	{ "column", NULL, CELL(published_mark_row, column) },
	{ "row", NULL, CELL(published_mark_row, row) },
	{ "published", NULL, CELL(published_mark_row, published), ORIGIN_PUBLISHED },
	{ "as printed", NULL, CELL(published_mark_row, text), ORIGIN_PUBLISHED },
	{ "what", NULL, CELL(published_mark_row, what) },
	{ NULL },
};

/* The row that a value is of; -1 if it is of several. */
static int64_t marked_row(const struct paper_cells *f, enum reduction take)
{
	size_t best = 0;

	if (take == REDUCE_FIRST || (take == REDUCE_ONE && f->n == 1))
		return (int64_t)f->rows[0];
	if (take == REDUCE_LAST)
		return (int64_t)f->rows[f->n - 1];
	if (take != REDUCE_MOST && take != REDUCE_LEAST)
		return -1;
	for (size_t i = 1; i < f->n; i++) {
		if (take == REDUCE_MOST ? f->numbers[i] > f->numbers[best]
					: f->numbers[i] < f->numbers[best])
			best = i;
	}
	return (int64_t)f->rows[best];
}

static void put_mark(struct table *t, const struct paper_check *c, const struct results *r)
{
	const struct paper_value *v = &c->value;
	const bool is_limit = relation_is_limit(c->published.relation);
	struct strbuf missing = STRBUF_INIT;
	struct paper_cells f = { .n = 0 };

	if ((is_limit ? v->where == NULL : c->published.relation == RELATION_EQUAL) && v->column &&
	    !c->against.table && !c->each && !c->over &&
	    paper_value_find(v, r, NULL, &f, &missing) && f.n) {
		const struct published_mark_row row = {
			.table = v->table,
			.column = f.table->columns[f.column].name,
			.what = c->what,
			.text = c->published.text,
			.row = is_limit ? -1 : marked_row(&f, v->take),
			.published = c->published.number,
		};

		if (is_limit || row.row >= 0)
			table_put_row(t, &row);
	}
	paper_cells_fini(&f);
	strbuf_fini(&missing);
}

/* Writes the marks of an experiment with a single run. */
static void put_marks(struct table *t, const struct review_item *item, const struct results *r)
{
	for (size_t i = 0; i < item->experiment->n_checks; i++)
		put_mark(t, &item->experiment->checks[i], r);
}

#define MOST_NAMES  4
#define NOTE_CHECKS "published"
#define NOTE_MARKS  "published points"

bool review_is_note(const char *table)
{
	return strcmp(table, NOTE_CHECKS) == 0 || strcmp(table, NOTE_MARKS) == 0;
}

void review_annotate(const struct paper_review *s, size_t job)
{
	const struct review_job *j = &s->jobs[job];
	struct results *r = j->outcome.results;
	struct strbuf name = STRBUF_INIT;
	struct table *t = results_table(r, NOTE_CHECKS, "ours next to what was published",
					comparison_columns);
	struct table *marks =
		results_table(r, NOTE_MARKS, "where the page draws what was printed", mark_columns);
	unsigned named = 0;

	if (!j->is_stored)
		point_sign(&s->items[j->item].grid.study, j->point, &j->id, r);
	strbuf_puts(&name, "paper run");
	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (point_of(item, job) == item->grid.study.n_points)
			continue;
		if (named++ < MOST_NAMES)
			strbuf_printf(&name, " %s/%s", item->paper->id, item->experiment->id);
		if (item->settings && item->grid.study.n_points == 1) {
			put_checks(t, item);
			put_marks(marks, item, r);
		}
	}
	if (named > MOST_NAMES)
		strbuf_printf(&name, " and %u more", named - MOST_NAMES);
	free(r->command);
	r->command = strbuf_detach(&name);
	/* The original arguments refer to a removed folder. */
	results_set_arguments(r, "");
}
