/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "paper/outcomes.h"

#define COLUMNS 100

/* Columns of UTF-8 text: bytes that do not continue a character. */
static size_t columns_of(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* An item of a list, wrapped. */
static void put_item(struct strbuf *out, const char *text)
{
	size_t column = 1;

	strbuf_puts(out, "-");
	while (*text) {
		size_t len = strcspn(text, " \n"), width = columns_of(text, len);

		if (column + 1 + width > COLUMNS) {
			strbuf_puts(out, "\n ");
			column = 1;
		}
		strbuf_puts(out, " ");
		strbuf_add(out, text, len);
		column += 1 + width;
		text += len;
		text += strspn(text, " \n");
	}
	strbuf_puts(out, "\n");
}

static void put_file(struct strbuf *out, const char *name)
{
	const struct paper_file *f = paper_file_find(name);

	strbuf_add(out, (const char *)f->bytes, f->len);
}

/* One row: ids of a paper with a verdict, as many as fit. Returns the next experiment. */
static size_t put_row(struct strbuf *out, const struct paper *p, const struct paper_outcomes *r,
		      enum paper_verdict verdict, size_t i)
{
	struct strbuf ids = STRBUF_INIT;
	size_t room = COLUMNS - 14 - strlen(p->id) - strlen(paper_verdict_names[verdict]);

	for (; i < p->n_experiments; i++) {
		const struct paper_experiment *e = &p->experiments[i];
		const struct paper_outcome *row = outcomes_find(r, p, e);

		if (e->kind == PAPER_DRAWING || e->found.verdict != verdict)
			continue;
		if (ids.len + strlen(e->id) > room)
			break;
		strbuf_printf(&ids, "%s%s%s", ids.len ? ", " : "", e->id,
			      row && row->quick ? "*" : "");
	}
	if (ids.len)
		strbuf_printf(out, "| %s | %s | %s |\n", p->id, paper_verdict_names[verdict],
			      ids.text);
	strbuf_fini(&ids);
	return i;
}

static void put_table(struct strbuf *out, const struct paper *p, const struct paper_outcomes *r)
{
	for (int v = VERDICT_MATCHED; v <= VERDICT_NONE; v++) {
		for (size_t i = 0; i < p->n_experiments;)
			i = put_row(out, p, r, (enum paper_verdict)v, i);
	}
}

/* Published and our value of the check that decided. */
static void put_values(struct strbuf *out, const struct paper_experiment *e,
		       const struct paper_outcome *row)
{
	const struct paper_check *c = &e->checks[row->check - 1];

	strbuf_printf(out, " Published: %s: %s. Ours: %s.", c->what, c->published.text, row->ours);
}

/* The verdict and its reason: "not reproduced: ... Published: ... Ours: ..." */
static void put_reason(struct strbuf *out, const struct paper_experiment *e,
		       const struct paper_outcome *row)
{
	strbuf_puts(out, paper_verdict_names[e->found.verdict]);
	if (e->found.verdict == VERDICT_PARTLY)
		strbuf_printf(out, " %s", e->found.settings ? e->found.settings : "most cases");
	strbuf_printf(out, ": %s.", e->reason);
	if (e->proof)
		strbuf_printf(out, " Proof: %s.", e->proof);
	if (e->quick_found.verdict != VERDICT_NONE)
		strbuf_printf(out, " Quick run: %s%s%s.",
			      paper_verdict_names[e->quick_found.verdict],
			      e->quick_found.settings ? " " : "",
			      e->quick_found.settings ? e->quick_found.settings : "");
	if (row && row->check <= e->n_checks && e->found.verdict == VERDICT_NOT)
		put_values(out, e, row);
}

/* Experiments that need a reason; those with the same one share an item. */
static void put_reasons(struct strbuf *out, const struct paper *p, const struct paper_outcomes *r)
{
	struct strbuf ids = STRBUF_INIT, reason = STRBUF_INIT, item = STRBUF_INIT;

	for (size_t i = 0; i <= p->n_experiments; i++) {
		const struct paper_experiment *e = i < p->n_experiments ? &p->experiments[i] : NULL;
		struct strbuf text = STRBUF_INIT;

		if (e && (e->kind == PAPER_DRAWING || !e->reason))
			continue;
		if (e)
			put_reason(&text, e, outcomes_find(r, p, e));
		if (reason.len && (!e || strcmp(text.text, reason.text) != 0)) {
			strbuf_printf(&item, "**%s** %s", ids.text, reason.text);
			put_item(out, item.text);
			strbuf_fini(&item);
			strbuf_fini(&ids);
		}
		if (e)
			strbuf_printf(&ids, "%s%s", ids.len ? ", " : "", e->id);
		strbuf_fini(&reason);
		reason = text;
	}
	strbuf_fini(&ids);
	strbuf_fini(&reason);
}

static void put_paper(struct strbuf *out, const struct paper *p, const struct paper_outcomes *r)
{
	strbuf_printf(out, "\n### %s: %s\n\n", p->id, p->title);
	for (size_t i = 0; i < p->n_rules; i++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_printf(&text, "Rule *%s*: %s", p->rules[i].name, p->rules[i].says);
		put_item(out, text.text);
		strbuf_fini(&text);
	}
	put_reasons(out, p, r);
}

static bool has_open_axis(const struct paper_study *s, const struct paper_axis *like)
{
	for (size_t k = 0; k < s->n_axes; k++) {
		const struct paper_axis *a = &s->axes[k];

		if (a->open && strcmp(a->name, like->name) == 0 && strcmp(a->open, like->open) == 0)
			return true;
	}
	return false;
}

/* Studies with this open axis: "`fill1x`, `fill4x`"; empty if one before `study` has it. */
static void put_studies(struct strbuf *out, const struct paper *p, const struct paper_axis *a,
			size_t study)
{
	for (size_t i = 0; i < p->n_studies; i++) {
		if (!has_open_axis(&p->studies[i], a))
			continue;
		if (i < study)
			return;
		strbuf_printf(out, "%s`%s`", out->len ? ", " : "", p->studies[i].name);
	}
}

/* An open axis with all its studies; nothing if an earlier study has it. */
static void put_axis(struct strbuf *out, const struct paper *p, const struct paper_axis *a,
		     size_t study)
{
	struct strbuf studies = STRBUF_INIT, text = STRBUF_INIT;

	put_studies(&studies, p, a, study);
	if (studies.len) {
		strbuf_printf(&text, "%s %s (%s): %s.", p->id, a->name, studies.text, a->open);
		put_item(out, text.text);
	}
	strbuf_fini(&studies);
	strbuf_fini(&text);
}

/* The open axes of a paper. */
static void put_open(struct strbuf *out, const struct paper *p)
{
	for (size_t i = 0; i < p->n_studies; i++) {
		for (size_t k = 0; k < p->studies[i].n_axes; k++) {
			if (p->studies[i].axes[k].open)
				put_axis(out, p, &p->studies[i].axes[k], i);
		}
	}
}

static void put_errata(struct strbuf *out, const struct paper_catalogue *c, bool copy)
{
	for (size_t i = 0; i < PAPER_COUNT; i++) {
		const struct paper *p = c->papers[i];

		for (size_t k = 0; k < p->n_errata; k++) {
			const struct paper_erratum *e = &p->errata[k];
			struct strbuf text = STRBUF_INIT;

			if (e->copy != copy)
				continue;
			strbuf_printf(&text, "%s, %s. Printed: %s. Correct: %s", p->id, e->where,
				      e->printed, e->correct);
			if (e->shown)
				strbuf_printf(&text, " (%s)", e->shown);
			strbuf_puts(&text, ".");
			put_item(out, text.text);
			strbuf_fini(&text);
		}
	}
}

void paper_document(const struct paper_catalogue *c, const struct paper_outcomes *r,
		    struct strbuf *out)
{
	strbuf_puts(out, "# Papers: published results and ours\n\n"
			 "| paper | verdict | ids |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < PAPER_COUNT; i++)
		put_table(out, c->papers[i], r);
	put_file(out, "papers/preface.md");
	for (size_t i = 0; i < PAPER_COUNT; i++)
		put_paper(out, c->papers[i], r);
	strbuf_puts(out, "\n## What the papers leave open\n\n");
	for (size_t i = 0; i < PAPER_COUNT; i++)
		put_open(out, c->papers[i]);
	strbuf_puts(out, "\n## Errors in the papers\n\n");
	put_errata(out, c, false);
	strbuf_puts(out, "\n## Errors in the copies\n\n"
			 "Not in the papers, but in the copies of their texts.\n\n");
	put_errata(out, c, true);
}
