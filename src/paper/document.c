/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "paper/outcomes.h"

/* A text as a cell of a table. */
static void put_cell(struct strbuf *out, const char *text)
{
	strbuf_puts(out, " ");
	for (; text && *text; text++) {
		if (*text == '|')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
	strbuf_puts(out, " |");
}

static void put_file(struct strbuf *out, const char *name)
{
	const struct paper_file *f = paper_file_find(name);

	strbuf_add(out, (const char *)f->bytes, f->len);
}

/* What was published, of the check that decided, and the rule. */
static void put_published(struct strbuf *out, const struct paper_experiment *e,
			  const struct paper_outcome *row)
{
	struct strbuf text = STRBUF_INIT;

	if (!row || row->check > e->n_checks) {
		put_cell(out, "-");
		put_cell(out, "-");
		return;
	}
	const struct paper_check *c = &e->checks[row->check - 1];

	strbuf_printf(&text, "%s: %s", c->what, c->published.text);
	if (c->source)
		strbuf_printf(&text, " (%s)", c->source);
	put_cell(out, text.text);
	strbuf_fini(&text);
	strbuf_puts(&text, row->ours);
	if (row->setting)
		strbuf_printf(&text, " with %s", row->setting);
	if (row->quick)
		strbuf_puts(&text, " *");
	put_cell(out, text.text);
	strbuf_fini(&text);
}

static void put_found(struct strbuf *out, const struct paper_found *found)
{
	strbuf_printf(out, "**%s**", paper_verdict_names[found->verdict]);
	if (found->verdict == VERDICT_PARTLY)
		strbuf_printf(out, " %s", found->settings ? found->settings : "most cases");
}

static void put_experiment(struct strbuf *out, const struct paper *p,
			   const struct paper_experiment *e, const struct paper_outcomes *r)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "`%s/%s`", p->id, e->id);
	strbuf_puts(out, "|");
	put_cell(out, text.text);
	put_cell(out, e->title);
	put_published(out, e, outcomes_find(r, p, e));
	strbuf_fini(&text);
	put_found(&text, &e->found);
	if (e->reason)
		strbuf_printf(&text, ": %s", e->reason);
	if (e->proof)
		strbuf_printf(&text, ". Proof: %s", e->proof);
	if (e->quick_found.verdict != VERDICT_NONE) {
		strbuf_puts(&text, ". Quick run: ");
		put_found(&text, &e->quick_found);
	}
	put_cell(out, text.text);
	strbuf_fini(&text);
	strbuf_puts(out, "\n");
}

static void put_paper(struct strbuf *out, const struct paper *p, const struct paper_outcomes *r)
{
	strbuf_printf(out, "\n### %s: %s\n\n", p->id, p->title);
	for (size_t i = 0; i < p->n_rules; i++)
		strbuf_printf(out, "- Rule *%s*: %s\n", p->rules[i].name, p->rules[i].says);
	strbuf_printf(out,
		      "%s| id | shows | published | ours | verdict |\n"
		      "| --- | --- | --- | --- | --- |\n",
		      p->n_rules ? "\n" : "");
	for (size_t i = 0; i < p->n_experiments; i++) {
		if (p->experiments[i].kind != PAPER_DRAWING)
			put_experiment(out, p, &p->experiments[i], r);
	}
}

static void put_open(struct strbuf *out, const struct paper *p)
{
	for (size_t i = 0; i < p->n_studies; i++) {
		for (size_t k = 0; k < p->studies[i].n_axes; k++) {
			const struct paper_axis *a = &p->studies[i].axes[k];

			if (!a->open)
				continue;
			strbuf_puts(out, "|");
			put_cell(out, p->id);
			put_cell(out, p->studies[i].name);
			put_cell(out, a->name);
			put_cell(out, a->open);
			put_cell(out, a->values);
			strbuf_puts(out, "\n");
		}
	}
}

static void put_errata(struct strbuf *out, const struct paper_catalogue *c, bool copy)
{
	strbuf_puts(out, "| paper | place | printed | correct | shown by |\n"
			 "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < PAPER_COUNT; i++) {
		const struct paper *p = c->papers[i];

		for (size_t k = 0; k < p->n_errata; k++) {
			const struct paper_erratum *e = &p->errata[k];

			if (e->copy != copy)
				continue;
			strbuf_puts(out, "|");
			put_cell(out, p->id);
			put_cell(out, e->where);
			put_cell(out, e->printed);
			put_cell(out, e->correct);
			put_cell(out, e->shown);
			strbuf_puts(out, "\n");
		}
	}
}

void paper_document(const struct paper_catalogue *c, const struct paper_outcomes *r,
		    struct strbuf *out)
{
	put_file(out, "papers/preface.md");
	for (size_t i = 0; i < PAPER_COUNT; i++)
		put_paper(out, c->papers[i], r);
	strbuf_puts(out, "\n## What the papers leave open\n\n"
			 "| paper | study | parameter | what is open | tried |\n"
			 "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < PAPER_COUNT; i++)
		put_open(out, c->papers[i]);
	strbuf_puts(out, "\n## What is wrong in the papers\n\n");
	put_errata(out, c, false);
	strbuf_puts(out,
		    "\n## What is wrong in the copies of their texts\n\n"
		    "These are faults of the copies that we worked from, not of the papers.\n\n");
	put_errata(out, c, true);
	put_file(out, "papers/review.md");
}
