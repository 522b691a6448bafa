/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/paper.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *const paper_kind_names[] = { "table", "figure", "claim", "drawing",
					 NULL };
const char *const paper_verdict_names[] = { "matched", "within tolerance",
					    "refuted", "not reproducible",
					    NULL };
const char *const paper_take_names[] = { "one",   "mean", "least",
					 "most",  "sum",  "count",
					 "first", "last", NULL };

/* ---- what was published ------------------------------------------------- */

/* Half a unit of the last digit of a number as printed: 0.005 of "3.34". */
static double last_digit(const char *text, const char *end)
{
	const char *point = memchr(text, '.', (size_t)(end - text));
	const char *e = text;
	int places = 0, exponent = 0;

	while (e < end && *e != 'e' && *e != 'E')
		e++;
	if (e < end)
		exponent = (int)strtol(e + 1, NULL, 10);
	if (point)
		places = (int)(e - point) - 1;
	return 0.5 * pow(10, exponent - places);
}

/* "5%" or "0.05": a share; false if it is something else. */
static bool tolerance_parse(const char *text, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0))
		return false;
	if (*end == '%') {
		value /= 100;
		end++;
	}
	*out = value;
	return *end == '\0';
}

static enum hd_status expectation_parse(const char *text, struct diag *d,
					void *out)
{
	struct paper_expectation *x = out;
	const char *number = text;
	char *end;

	*x = (struct paper_expectation){ .relation = RELATION_TEXT };
	if (!*text)
		return diag_fail(d, HD_ERR_INPUT, "nothing is expected");
	if (strcmp(text, "rises") == 0)
		x->relation = RELATION_RISES;
	if (strcmp(text, "falls") == 0)
		x->relation = RELATION_FALLS;
	if (strncmp(text, ">= ", 3) == 0)
		x->relation = RELATION_AT_LEAST;
	if (strncmp(text, "<= ", 3) == 0)
		x->relation = RELATION_AT_MOST;
	if (x->relation == RELATION_AT_LEAST || x->relation == RELATION_AT_MOST)
		number += 3;
	x->number = strtod(number, &end);
	if (end != number) {
		if (x->relation == RELATION_TEXT)
			x->relation = RELATION_EQUAL;
		x->digits = last_digit(number, end);
		if (strncmp(end, " +- ", 4) == 0 &&
		    !tolerance_parse(end + 4, &x->tolerance))
			return diag_fail(d, HD_ERR_INPUT,
					 "'%s' is no tolerance; expected a "
					 "share such as 5%%",
					 end + 4);
		if (*end && strncmp(end, " +- ", 4) != 0)
			return diag_fail(d, HD_ERR_INPUT,
					 "'%s' follows the number; expected "
					 "'+- 5%%' or nothing",
					 end);
	}
	x->text = hd_strdup(text);
	return HD_OK;
}

static void expectation_print(const void *value, struct strbuf *out)
{
	const struct paper_expectation *x = value;

	strbuf_puts(out, x->text);
}

static void expectation_release(void *value)
{
	struct paper_expectation *x = value;

	free(x->text);
}

static const struct schema_custom expectation = {
	.what = "a number as printed, '3.34 +- 5%', '>= 3', '<= 3', rises, "
		"falls, or a text",
	.size = sizeof(struct paper_expectation),
	.parse = expectation_parse,
	.print = expectation_print,
	.release = expectation_release,
};

/* ---- the file ----------------------------------------------------------- */

#define EXPERIMENT(m) offsetof(struct paper_experiment, m)
#define CHECK(m)      offsetof(struct paper_check, m)

const struct schema_row paper_fields[] = {
	{ "paper", SCHEMA_TEXT, offsetof(struct paper, id),
	  .help = "its number" },
	{ "title", SCHEMA_TEXT, offsetof(struct paper, title),
	  .help = "its title" },
	{ "experiments", SCHEMA_LIST, offsetof(struct paper, experiments),
	  .count = offsetof(struct paper, n_experiments),
	  .item_size = sizeof(struct paper_experiment), .at_least = 1,
	  .help = "its tables, figures and claims" },
	{ "experiments[].id", SCHEMA_TEXT, EXPERIMENT(id),
	  .help = "its name within the paper" },
	{ "experiments[].kind", SCHEMA_CHOICE, EXPERIMENT(kind),
	  .initial = "figure", .choices = paper_kind_names,
	  .help = "what it is" },
	{ "experiments[].title", SCHEMA_TEXT, EXPERIMENT(title),
	  .help = "what it shows" },
	{ "experiments[].command", SCHEMA_TEXT, EXPERIMENT(command),
	  .optional = true, .help = "what gives our numbers, after 'heddle'" },
	{ "experiments[].quick", SCHEMA_TEXT, EXPERIMENT(quick),
	  .optional = true, .help = "the same for a quick run" },
	{ "experiments[].time", SCHEMA_TIME, EXPERIMENT(time), .initial = "1s",
	  .help = "how long the command takes" },
	{ "experiments[].quick_time", SCHEMA_TIME, EXPERIMENT(quick_time),
	  .initial = "1s", .help = "how long the quick one takes" },
	{ "experiments[].checks", SCHEMA_LIST, EXPERIMENT(checks),
	  .count = EXPERIMENT(n_checks),
	  .item_size = sizeof(struct paper_check), .help = "what is compared" },
	{ "experiments[].checks[].what", SCHEMA_TEXT, CHECK(what),
	  .help = "in the paper's words" },
	{ "experiments[].checks[].table", SCHEMA_TEXT, CHECK(value.table),
	  .help = "of the command's results" },
	{ "experiments[].checks[].column", SCHEMA_TEXT, CHECK(value.column),
	  .optional = true, .help = "of that table" },
	{ "experiments[].checks[].where", SCHEMA_TEXT, CHECK(value.where),
	  .optional = true, .joins = true, .help = "rows: column=value, ..." },
	{ "experiments[].checks[].take", SCHEMA_CHOICE, CHECK(value.take),
	  .initial = "one", .choices = paper_take_names,
	  .help = "what these rows become" },
	{ "experiments[].checks[].against", SCHEMA_MAP,
	  .help = "a value of the same results to divide it by" },
	{ "experiments[].checks[].against.table", SCHEMA_TEXT,
	  CHECK(against.table), .optional = true, .help = "as above" },
	{ "experiments[].checks[].against.column", SCHEMA_TEXT,
	  CHECK(against.column), .optional = true, .help = "as above" },
	{ "experiments[].checks[].against.where", SCHEMA_TEXT,
	  CHECK(against.where), .optional = true, .joins = true,
	  .help = "as above" },
	{ "experiments[].checks[].against.take", SCHEMA_CHOICE,
	  CHECK(against.take), .initial = "one", .choices = paper_take_names,
	  .help = "as above" },
	{ "experiments[].checks[].published", SCHEMA_CUSTOM, CHECK(published),
	  .custom = &expectation, .help = "what the paper says" },
	{ "experiments[].verdict", SCHEMA_CHOICE, EXPERIMENT(verdict),
	  .initial = "not reproducible", .choices = paper_verdict_names,
	  .help = "what was found" },
	{ "experiments[].reason", SCHEMA_TEXT, EXPERIMENT(reason),
	  .optional = true, .help = "why it is not matched" },
	{ NULL },
};

static enum hd_status refuse(const struct paper *p, struct diag *d,
			     const void *field, const char *what)
{
	const struct schema_place *at = schema_place_of(&p->places, field);

	if (at) {
		d->line = at->line;
		d->column = at->column;
	}
	return diag_fail(d, HD_ERR_INPUT, "%s", what);
}

static enum hd_status experiment_check(const struct paper *p,
				       const struct paper_experiment *e,
				       struct diag *d)
{
	bool apart =
		e->verdict == VERDICT_REFUTED || e->verdict == VERDICT_NONE;

	if (apart && !e->reason)
		return refuse(p, d, &e->id, "this verdict needs a reason");
	if (e->n_checks && !e->command)
		return refuse(p, d, &e->id, "checks need a command");
	if (e->quick && !e->command)
		return refuse(p, d, &e->quick, "quick needs a command");
	if (!e->n_checks && e->verdict != VERDICT_NONE)
		return refuse(p, d, &e->id, "this verdict needs checks");
	for (size_t i = 0; i < e->n_checks; i++) {
		const struct paper_check *c = &e->checks[i];

		if (!c->value.column && c->value.take != TAKE_COUNT)
			return refuse(p, d, &c->what, "a column is needed");
		if (c->against.table &&
		    c->published.relation > RELATION_AT_MOST)
			return refuse(p, d, &c->what,
				      "'against' needs a published number");
	}
	for (const struct paper_experiment *o = p->experiments; o < e; o++) {
		if (strcmp(o->id, e->id) == 0)
			return refuse(p, d, &e->id, "this id is there twice");
	}
	return HD_OK;
}

enum hd_status paper_parse(const char *text, size_t len, const char *file,
			   struct diag *d, struct paper *out)
{
	struct document doc;

	*out = (struct paper){ .file = hd_strdup(file) };
	d->file = out->file;
	enum hd_status status = document_load(text, len, d, &doc);

	if (status != HD_OK)
		return status;
	status = schema_read(paper_fields, &doc, NULL, d, out, &out->places);
	document_fini(&doc);
	for (size_t i = 0; status == HD_OK && i < out->n_experiments; i++)
		status = experiment_check(out, &out->experiments[i], d);
	return status;
}

void paper_fini(struct paper *p)
{
	schema_release(paper_fields, p);
	free(p->places.items);
	free(p->file);
	*p = (struct paper){ 0 };
}

const char *paper_command(const struct paper_experiment *e, bool quick)
{
	return quick && e->quick ? e->quick : e->command;
}

enum hd_status catalogue_init(struct paper_catalogue *c, struct diag *d)
{
	enum hd_status status = HD_OK;
	size_t n = 0;

	*c = (struct paper_catalogue){ 0 };
	for (const struct paper_file *f = paper_files; f->name; f++) {
		/* Beside the papers themselves there are their scenarios. */
		if (strlen(f->name) != strlen("papers/000.yaml") ||
		    status != HD_OK)
			continue;
		assert(n < PAPER_COUNT);
		status = paper_parse((const char *)f->bytes, f->len, f->name, d,
				     &c->papers[n++]);
	}
	return status;
}

void catalogue_fini(struct paper_catalogue *c)
{
	for (size_t i = 0; i < PAPER_COUNT; i++)
		paper_fini(&c->papers[i]);
}
