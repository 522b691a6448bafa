/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/outcomes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define ROW(m) offsetof(struct paper_outcome, m)

static const struct schema_row record_fields[] = {
	{ "found", SCHEMA_LIST, offsetof(struct paper_outcomes, rows),
	  .count = offsetof(struct paper_outcomes, n), .item_size = sizeof(struct paper_outcome),
	  .help = "what decided, experiment by experiment" },
	{ "found[].id", SCHEMA_TEXT, ROW(id), .help = "of the experiment" },
	{ "found[].check", SCHEMA_UINT, ROW(check), .initial = "1", .low = "1",
	  .help = "which of its checks" },
	{ "found[].setting", SCHEMA_TEXT, ROW(setting), .optional = true,
	  .help = "of what is left open" },
	{ "found[].ours", SCHEMA_TEXT, ROW(ours), .help = "our value" },
	{ "found[].quick", SCHEMA_BOOL, ROW(quick), .initial = "false",
	  .help = "by a shorter run" },
	{ NULL },
};

/* The setting that is shown: one in which it holds, or the first. */
static size_t setting_told(const struct review_item *item)
{
	for (size_t i = 0; i < item->grid.n_settings; i++) {
		if (item->settings[i].verdict <= VERDICT_TREND)
			return i;
	}
	return 0;
}

/* Worse by the verdict, then by the distance. */
static bool is_worse(const struct judgement *a, const struct judgement *b)
{
	if (a->verdict != b->verdict)
		return a->verdict > b->verdict;
	return fabs(a->deviation) > fabs(b->deviation);
}

static struct paper_outcome row_of(const struct review_item *item, bool quick)
{
	size_t setting = setting_told(item), worst = 0;
	const struct judgement *j = item->settings[setting].judgements;
	struct strbuf id = STRBUF_INIT, text = STRBUF_INIT, ours = STRBUF_INIT;

	for (size_t i = 1; i < item->experiment->n_checks; i++) {
		if (is_worse(&j[i], &j[worst]))
			worst = i;
	}
	strbuf_printf(&id, "%s/%s", item->paper->id, item->experiment->id);
	paper_grid_setting_print(&item->grid, setting, &text);
	judgement_print(&j[worst], &ours);
	const struct paper_study *study = item->experiment->study;
	bool shorter = study->quick || item->experiment->quick_given;

	for (size_t i = 0; i < study->n_axes; i++)
		shorter = shorter || study->axes[i].quick;
	return (struct paper_outcome){
		.id = strbuf_detach(&id),
		.check = worst + 1,
		.setting = text.len ? strbuf_detach(&text) : NULL,
		.ours = strbuf_detach(&ours),
		.quick = quick && shorter,
	};
}

void outcomes_take(const struct paper_review *s, struct paper_outcomes *out)
{
	*out = (struct paper_outcomes){
		.rows = hd_alloc(s->n_items + 1, sizeof(*out->rows)),
	};
	for (size_t i = 0; i < s->n_items; i++) {
		if (s->items[i].settings)
			out->rows[out->n++] = row_of(&s->items[i], s->quick);
	}
}

enum hd_status outcomes_read(struct diag *d, struct paper_outcomes *out)
{
	const struct paper_file *f = paper_file_find("papers/record.yaml");
	struct schema_places places = { 0 };
	struct document doc;

	*out = (struct paper_outcomes){ 0 };
	d->file = f->name;
	enum hd_status status =
		document_load((const char *)f->bytes, f->len, "the record", d, &doc);

	if (status != HD_OK)
		return status;
	status = schema_read(record_fields, &doc, NULL, d, out, &places);
	document_fini(&doc);
	free(places.items);
	return status;
}

void outcomes_fini(struct paper_outcomes *r)
{
	schema_release(record_fields, r);
	*r = (struct paper_outcomes){ 0 };
}

void outcomes_print(const struct paper_outcomes *r, struct strbuf *out)
{
	strbuf_puts(out, "# What 'heddle paper all' found; written by it.\n");
	schema_print(record_fields, r, false, out);
}

/* The row of an experiment; NULL without one. */
static const struct paper_outcome *row_of_id(const struct paper_outcomes *r, const struct paper *p,
					     const struct paper_experiment *e, bool quick)
{
	size_t len = strlen(p->id);

	for (size_t i = 0; i < r->n; i++) {
		const char *id = r->rows[i].id;

		if (r->rows[i].quick == quick && strncmp(id, p->id, len) == 0 && id[len] == '/' &&
		    strcmp(id + len + 1, e->id) == 0)
			return &r->rows[i];
	}
	return NULL;
}

const struct paper_outcome *outcomes_find(const struct paper_outcomes *r, const struct paper *p,
					  const struct paper_experiment *e)
{
	const struct paper_outcome *row = row_of_id(r, p, e, false);

	return row ? row : row_of_id(r, p, e, true);
}

static struct paper_outcome copy_of(const struct paper_outcome *row)
{
	struct paper_outcome copy = *row;

	copy.id = hd_strdup(row->id);
	copy.setting = row->setting ? hd_strdup(row->setting) : NULL;
	copy.ours = hd_strdup(row->ours);
	return copy;
}

void outcomes_join(const struct paper_catalogue *c, const struct paper_outcomes *found,
		   const struct paper_outcomes *before, struct paper_outcomes *out)
{
	*out = (struct paper_outcomes){
		.rows = hd_alloc(found->n + before->n + 1, sizeof(*out->rows)),
	};
	for (size_t i = 0; i < c->n; i++) {
		const struct paper *p = c->papers[i];

		for (size_t k = 0; k < 2 * p->n_experiments; k++) {
			const struct paper_experiment *e = &p->experiments[k / 2];
			bool quick = k % 2;
			const struct paper_outcome *row = row_of_id(found, p, e, quick);

			if (!row)
				row = row_of_id(before, p, e, quick);
			/* A check that was taken away found nothing. */
			if (row && row->check <= e->n_checks)
				out->rows[out->n++] = copy_of(row);
		}
	}
}
