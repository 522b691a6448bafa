/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void put_id(struct table *t, const struct review_item *item)
{
	table_put_textf(t, "%s/%s", item->paper->id, item->experiment->id);
}

/* All of its runs; in a quick review as many as that has. */
static void put_seconds(struct table *t, const struct review_item *item,
			bool quick)
{
	const struct paper_study *study = item->experiment->study;

	if (!study) {
		table_put_none(t);
		return;
	}
	double one = (double)(quick ? study->quick_time : study->time);

	table_put_real(t, one / (double)HD_S * (double)item->grid.n_points);
}

static void put_owned(struct table *t, char *text)
{
	table_put_text(t, text ? text : "");
	free(text);
}

void review_list(const struct paper_review *s, struct results *r)
{
	static const struct column columns[] = {
		{ "id", NULL, VALUE_TEXT },
		{ "kind", NULL, VALUE_TEXT },
		{ "shows", NULL, VALUE_TEXT },
		{ "runs", NULL, VALUE_UINT },
		{ "time", "s", VALUE_REAL, ORIGIN_GIVEN, .places = 1 },
		{ "quick", "s", VALUE_REAL, ORIGIN_GIVEN, .places = 1 },
		{ "state", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
		{ "reason", NULL, VALUE_TEXT },
		{ "command", NULL, VALUE_TEXT },
		{ NULL },
	};
	struct table *t =
		results_table(r, "experiments",
			      "published tables, figures and claims", columns);

	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];
		const struct paper_experiment *e = item->experiment;
		struct strbuf state = STRBUF_INIT;

		put_id(t, item);
		table_put_text(t, paper_kind_names[e->kind]);
		table_put_text(t, e->title);
		table_put_uint(t, item->grid.n_points);
		put_seconds(t, item, false);
		put_seconds(t, item, true);
		review_verdict(e->verdict, e->settings, &state);
		put_owned(t, strbuf_detach(&state));
		table_put_text(t, e->reason ? e->reason : "");
		put_owned(t, review_command(s, item));
	}
}

/* ---- comparing ---------------------------------------------------------- */

static const struct column comparison_columns[] = {
	{ "id", NULL, VALUE_TEXT },
	{ "what", NULL, VALUE_TEXT },
	{ "setting", NULL, VALUE_TEXT },
	{ "published", NULL, VALUE_TEXT, ORIGIN_PUBLISHED },
	{ "ours", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
	{ "deviation", "%", VALUE_REAL, ORIGIN_COMPUTED, .places = 2 },
	{ "verdict", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
	{ "limit from", NULL, VALUE_TEXT },
	{ NULL },
};

static void put_setting(struct table *t, const struct review_item *item,
			size_t setting)
{
	struct strbuf text = STRBUF_INIT;

	points_setting(&item->grid, setting, &text);
	put_owned(t, strbuf_detach(&text));
}

static void put_judgement(struct table *t, const struct paper_check *c,
			  const struct judgement *j)
{
	struct strbuf ours = STRBUF_INIT;

	table_put_text(t, c->published.text);
	judgement_print(j, &ours);
	put_owned(t, strbuf_detach(&ours));
	table_put_real(t, 100 * j->deviation);
	table_put_text(t, j->missing ? "missing"
				     : paper_verdict_names[j->verdict]);
}

static void put_checks(struct table *t, const struct review_item *item)
{
	const struct paper_experiment *e = item->experiment;

	for (size_t s = 0; s < item->grid.n_settings; s++) {
		for (size_t i = 0; i < e->n_checks; i++) {
			put_id(t, item);
			table_put_text(t, e->checks[i].what);
			put_setting(t, item, s);
			put_judgement(t, &e->checks[i],
				      &item->settings[s].judgements[i]);
			table_put_text(t, e->checks[i].source
						  ? e->checks[i].source
						  : "");
		}
	}
}

/* ---- verdicts ----------------------------------------------------------- */

static double seconds_of(const struct paper_review *s,
			 const struct review_item *item)
{
	double sum = 0;

	for (size_t i = 0; i < item->grid.n_points; i++)
		sum += s->jobs[item->jobs[i]].end.seconds;
	return sum;
}

/* One line; whether the verdict is what it was. */
static bool put_verdict(struct table *t, const struct paper_review *s,
			const struct review_item *item)
{
	const struct paper_experiment *e = item->experiment;
	bool same = review_as_recorded(item);
	struct strbuf verdict = STRBUF_INIT;

	put_id(t, item);
	table_put_text(t, e->title);
	review_verdict(item->verdict,
		       item->settings ? item->holds : e->settings, &verdict);
	put_owned(t, strbuf_detach(&verdict));
	table_put_text(t, same ? "as recorded" : "CHANGED");
	if (item->grid.n_points)
		table_put_real(t, seconds_of(s, item));
	else
		table_put_none(t);
	table_put_text(t, e->proof ? e->proof : e->reason ? e->reason : "");
	return same;
}

static bool remark_failures(const struct paper_review *s,
			    const struct review_item *item, struct results *r)
{
	for (size_t i = 0; i < item->grid.n_points; i++) {
		const struct paper_job *job = &s->jobs[item->jobs[i]];

		if (!job->end.failure)
			continue;
		results_remark(r, "%s/%s failed: heddle %s: %s",
			       item->paper->id, item->experiment->id,
			       job->command, job->end.failure);
		return true;
	}
	return false;
}

static void put_commands(const struct paper_review *s, struct results *r)
{
	static const struct column columns[] = {
		{ "id", NULL, VALUE_TEXT },
		{ "runs", NULL, VALUE_UINT },
		{ "command", NULL, VALUE_TEXT },
		{ NULL },
	};
	struct table *t = results_table(r, "commands", "what was run", columns);

	for (size_t i = 0; i < s->n_items; i++) {
		if (!s->items[i].grid.n_points)
			continue;
		put_id(t, &s->items[i]);
		table_put_uint(t, s->items[i].grid.n_points);
		put_owned(t, review_command(s, &s->items[i]));
	}
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

static void fit_setting(struct table *t, const struct review_item *item,
			size_t setting)
{
	const struct paper_experiment *e = item->experiment;
	const struct review_setting *s = &item->settings[setting];
	double worst = NAN;
	size_t hold = 0;

	for (size_t i = 0; i < e->n_checks; i++) {
		hold += s->judgements[i].verdict <= VERDICT_TREND;
		worst = fmax(worst, fabs(s->judgements[i].deviation));
	}
	put_id(t, item);
	put_setting(t, item, setting);
	table_put_uint(t, hold);
	table_put_uint(t, e->n_checks);
	table_put_real(t, 100 * worst);
	table_put_text(t, paper_verdict_names[s->verdict]);
}

static void remark_open(const struct review_item *item, struct results *r)
{
	const struct paper_study *study = item->experiment->study;

	for (size_t i = 0; i < study->n_axes; i++) {
		if (study->axes[i].open)
			results_remark(r, "%s/%s: %s is open: %s",
				       item->paper->id, item->experiment->id,
				       study->axes[i].name,
				       study->axes[i].open);
	}
}

bool review_fit(const struct paper_review *s, struct results *r)
{
	static const struct column columns[] = {
		{ "id", NULL, VALUE_TEXT },
		{ "setting", NULL, VALUE_TEXT },
		{ "checks that hold", NULL, VALUE_UINT, ORIGIN_COMPUTED },
		{ "of", NULL, VALUE_UINT },
		{ "farthest off", "%", VALUE_REAL, ORIGIN_COMPUTED,
		  .places = 1 },
		{ "verdict", NULL, VALUE_TEXT, ORIGIN_COMPUTED },
		{ NULL },
	};
	struct table *t = results_table(
		r, "settings", "where what was published holds", columns);
	struct table *checks =
		results_table(r, "comparison", "ours beside what was published",
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

static bool runs_job(const struct review_item *item, size_t job)
{
	for (size_t i = 0; i < item->grid.n_points; i++) {
		if (item->jobs[i] == job)
			return true;
	}
	return false;
}

#define MOST_NAMES 4

void review_annotate(const struct paper_review *s, size_t job)
{
	struct results *r = s->jobs[job].end.results;
	struct strbuf name = STRBUF_INIT;
	struct table *t =
		results_table(r, "published", "ours beside what was published",
			      comparison_columns);
	unsigned named = 0;

	strbuf_puts(&name, "paper run");
	for (size_t i = 0; i < s->n_items; i++) {
		const struct review_item *item = &s->items[i];

		if (!runs_job(item, job))
			continue;
		if (named++ < MOST_NAMES)
			strbuf_printf(&name, " %s/%s", item->paper->id,
				      item->experiment->id);
		if (item->settings && item->grid.n_points == 1)
			put_checks(t, item);
	}
	if (named > MOST_NAMES)
		strbuf_printf(&name, " and %u more", named - MOST_NAMES);
	free(r->command);
	r->command = strbuf_detach(&name);
	/* Its own ran in a folder that is gone. */
	results_set_arguments(r, "");
}
