/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/paper.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "paper/grid.h"

const char *const paper_kind_names[] = { "table", "figure", "claim", "drawing", NULL };
const char *const paper_verdict_names[] = {
	"matched",        "as computed", "within tolerance",     "trend holds", "reproduced for",
	"not reproduced", "refuted",     "no number to compare", NULL
};
/* Names of enum reduction. */
static const char *const take_names[] = { "one",   "mean",  "least", "most", "sum",
					  "count", "first", "last",  NULL };

/* ---- the file ----------------------------------------------------------- */

#define STUDY(m)      offsetof(struct paper_study, m)
#define AXIS(m)       offsetof(struct paper_axis, m)
#define EXPERIMENT(m) offsetof(struct paper_experiment, m)
#define CHECK(m)      offsetof(struct paper_check, m)
#define RULE(m)       offsetof(struct paper_rule, m)
#define ERRATUM(m)    offsetof(struct paper_erratum, m)
#define FILE_OF(m)    offsetof(struct paper_text, m)

/* Fields of a study at `path`; `base` is its offset in the struct. */
#define STUDY_ROWS(path, base)                                                      \
	{ path ".quick", SCHEMA_TEXT, (base) + STUDY(quick), .optional = true,      \
	  .help = "the same for a quick run" },                                     \
		{ path ".time", SCHEMA_TIME, (base) + STUDY(time), .initial = "1s", \
		  .help = "how long the command takes" },                           \
	{                                                                           \
		path ".quick_time", SCHEMA_TIME, (base) + STUDY(quick_time),        \
			.initial = "1s", .help = "how long the quick one takes"     \
	}

const struct schema_row paper_fields[] = {
	{ "paper", SCHEMA_TEXT, offsetof(struct paper, id), .help = "its number" },
	{ "title", SCHEMA_TEXT, offsetof(struct paper, title), .help = "its title" },
	{ "rules", SCHEMA_LIST, offsetof(struct paper, rules),
	  .count = offsetof(struct paper, n_rules), .item_size = sizeof(struct paper_rule),
	  .help = "limits for words without a number" },
	{ "rules[].name", SCHEMA_TEXT, RULE(name), .help = "of the rule" },
	{ "rules[].says", SCHEMA_TEXT, RULE(says), .help = "what it says" },
	{ "studies", SCHEMA_LIST, offsetof(struct paper, studies),
	  .count = offsetof(struct paper, n_studies), .item_size = sizeof(struct paper_study),
	  .help = "commands, and what of them varies" },
	{ "studies[].name", SCHEMA_TEXT, STUDY(name), .help = "for experiments" },
	{ "studies[].command", SCHEMA_TEXT, STUDY(command),
	  .help = "after 'heddle'; {name} is replaced by a value of an axis" },
	STUDY_ROWS("studies[]", 0),
	{ "studies[].vary", SCHEMA_LIST, STUDY(axes), .count = STUDY(n_axes),
	  .item_size = sizeof(struct paper_axis), .help = "its axes" },
	{ "studies[].vary[].name", SCHEMA_TEXT, AXIS(name),
	  .help = "in the command, and of a column" },
	{ "studies[].vary[].values", SCHEMA_TEXT, AXIS(values), .joins = true,
	  .help = "a list, with ranges LOW..HIGH:STEP and label=text" },
	{ "studies[].vary[].quick", SCHEMA_TEXT, AXIS(quick), .joins = true, .optional = true,
	  .help = "fewer of them, for a quick run" },
	{ "studies[].vary[].open", SCHEMA_TEXT, AXIS(open), .optional = true,
	  .help = "what the paper does not say: all values are tried" },
	{ "experiments", SCHEMA_LIST, offsetof(struct paper, experiments),
	  .count = offsetof(struct paper, n_experiments),
	  .item_size = sizeof(struct paper_experiment), .at_least = 1,
	  .help = "its tables, figures and claims" },
	{ "experiments[].id", SCHEMA_TEXT, EXPERIMENT(id), .help = "its name within the paper" },
	{ "experiments[].kind", SCHEMA_CHOICE, EXPERIMENT(kind), .initial = "figure",
	  .choices = paper_kind_names, .help = "what it is" },
	{ "experiments[].title", SCHEMA_TEXT, EXPERIMENT(title), .help = "what it shows" },
	{ "experiments[].study", SCHEMA_TEXT, EXPERIMENT(study_name), .optional = true,
	  .help = "what gives our numbers" },
	{ "experiments[].given", SCHEMA_TEXT, EXPERIMENT(given), .optional = true, .joins = true,
	  .help = "which of its points: axis=label|label, ..." },
	{ "experiments[].quick_given", SCHEMA_TEXT, EXPERIMENT(quick_given), .optional = true,
	  .joins = true, .help = "the same for a quick run" },
	{ "experiments[].command", SCHEMA_TEXT, EXPERIMENT(own.command), .optional = true,
	  .help = "instead of a study, after 'heddle'" },
	STUDY_ROWS("experiments[]", EXPERIMENT(own)),
	{ "experiments[].checks", SCHEMA_LIST, EXPERIMENT(checks), .count = EXPERIMENT(n_checks),
	  .item_size = sizeof(struct paper_check), .help = "what is compared" },
	{ "experiments[].checks[].what", SCHEMA_TEXT, CHECK(what), .help = "in the paper's words" },
	{ "experiments[].checks[].table", SCHEMA_TEXT, CHECK(value.table),
	  .help = "of the command's results" },
	{ "experiments[].checks[].column", SCHEMA_TEXT, CHECK(value.column), .optional = true,
	  .help = "of that table" },
	{ "experiments[].checks[].where", SCHEMA_TEXT, CHECK(value.where), .optional = true,
	  .joins = true, .help = "rows: column=value, column>=value, ..." },
	{ "experiments[].checks[].take", SCHEMA_CHOICE, CHECK(value.take), .initial = "one",
	  .choices = take_names, .help = "what these rows become" },
	{ "experiments[].checks[].against", SCHEMA_MAP,
	  .help = "a value of the same results to divide it by" },
	{ "experiments[].checks[].against.table", SCHEMA_TEXT, CHECK(against.table),
	  .optional = true, .help = "as above" },
	{ "experiments[].checks[].against.column", SCHEMA_TEXT, CHECK(against.column),
	  .optional = true, .help = "as above" },
	{ "experiments[].checks[].against.where", SCHEMA_TEXT, CHECK(against.where),
	  .optional = true, .joins = true, .help = "as above" },
	{ "experiments[].checks[].against.take", SCHEMA_CHOICE, CHECK(against.take),
	  .initial = "one", .choices = take_names, .help = "as above" },
	{ "experiments[].checks[].each", SCHEMA_TEXT, CHECK(each), .optional = true, .joins = true,
	  .help = "columns: in every case that they make" },
	{ "experiments[].checks[].along", SCHEMA_TEXT, CHECK(along), .optional = true,
	  .help = "column along which a course goes" },
	{ "experiments[].checks[].over", SCHEMA_TEXT, CHECK(over), .optional = true,
	  .help = "column of repetitions" },
	{ "experiments[].checks[].published", SCHEMA_CUSTOM, CHECK(published),
	  .custom = &paper_published, .help = "what the paper says" },
	{ "experiments[].checks[].source", SCHEMA_TEXT, CHECK(source), .optional = true,
	  .help = "of a tolerance or limit: 'rule NAME', or in words" },
	{ "experiments[].verdict", SCHEMA_CHOICE, EXPERIMENT(found.verdict),
	  .initial = "no number to compare", .choices = paper_verdict_names,
	  .help = "what was found" },
	{ "experiments[].settings", SCHEMA_TEXT, EXPERIMENT(found.settings), .optional = true,
	  .help = "for which: axis=label, ...; ..." },
	{ "experiments[].quick_verdict", SCHEMA_CHOICE, EXPERIMENT(quick_found.verdict),
	  .initial = "no number to compare", .choices = paper_verdict_names,
	  .help = "what a quick run finds, if that is something else" },
	{ "experiments[].quick_settings", SCHEMA_TEXT, EXPERIMENT(quick_found.settings),
	  .optional = true, .help = "for which" },
	{ "experiments[].reason", SCHEMA_TEXT, EXPERIMENT(reason), .optional = true,
	  .help = "why it is not matched" },
	{ "experiments[].proof", SCHEMA_TEXT, EXPERIMENT(proof), .optional = true,
	  .help = "why it cannot be as printed" },
	{ "files", SCHEMA_LIST, offsetof(struct paper, files),
	  .count = offsetof(struct paper, n_files), .item_size = sizeof(struct paper_text),
	  .help = "what its commands read, in addition to what is built in" },
	{ "files[].name", SCHEMA_TEXT, FILE_OF(name),
	  .help = "the paper's number, a slash and a name" },
	{ "files[].text", SCHEMA_TEXT, FILE_OF(text), .help = "what is in it" },
	{ "errata", SCHEMA_LIST, offsetof(struct paper, errata),
	  .count = offsetof(struct paper, n_errata), .item_size = sizeof(struct paper_erratum),
	  .help = "what is wrong in it" },
	{ "errata[].copy", SCHEMA_BOOL, ERRATUM(copy), .initial = "false",
	  .help = "in the copy of its text only" },
	{ "errata[].where", SCHEMA_TEXT, ERRATUM(where), .help = "the place" },
	{ "errata[].printed", SCHEMA_TEXT, ERRATUM(printed), .help = "as it reads" },
	{ "errata[].correct", SCHEMA_TEXT, ERRATUM(correct), .help = "as it should" },
	{ "errata[].shown", SCHEMA_TEXT, ERRATUM(shown), .optional = true, .help = "by what" },
	{ NULL },
};

const struct paper_found *experiment_found(const struct paper_experiment *e, bool quick)
{
	if (quick && e->quick_found.verdict != VERDICT_NONE)
		return &e->quick_found;
	return &e->found;
}

/* ---- contradictions ------------------------------------------------ */

static enum hd_status refuse(const struct paper *p, struct diag *d, const void *field,
			     const char *what)
{
	const struct schema_place *at = schema_place_of(&p->places, field);

	if (at) {
		d->line = at->line;
		d->column = at->column;
	}
	return diag_fail(d, HD_ERR_INPUT, "%s", what);
}

static bool has_rule(const struct paper *p, const char *name)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		if (strcmp(p->rules[i].name, name) == 0)
			return true;
	}
	return false;
}

/* A limit that has no source could have been chosen after the result. */
static enum hd_status check_source(const struct paper *p, const struct paper_check *c,
				   struct diag *d)
{
	bool limit = relation_is_limit(c->published.relation) || c->published.tolerance > 0 ||
		     c->published.computed;

	if (limit && !c->source)
		return refuse(p, d, &c->what,
			      "a tolerance, a limit and a computed number need a source");
	if (c->source && strncmp(c->source, "rule ", 5) == 0 && !has_rule(p, c->source + 5))
		return refuse(p, d, &c->source, "unknown rule");
	return HD_OK;
}

static enum hd_status check_check(const struct paper *p, const struct paper_check *c,
				  struct diag *d)
{
	enum paper_relation r = c->published.relation;

	if (!c->value.column && c->value.take != REDUCE_COUNT)
		return refuse(p, d, &c->what, "a column is needed");
	if (c->against.table && r == RELATION_TEXT)
		return refuse(p, d, &c->what, "'against' needs a published number");
	if (c->along && !relation_is_course(r))
		return refuse(p, d, &c->along, "'along' needs a course");
	if (r == RELATION_TEXT && c->over)
		return refuse(p, d, &c->over, "'over' needs numbers");
	return check_source(p, c, d);
}

static enum hd_status found_check(const struct paper *p, const struct paper_experiment *e,
				  const struct paper_found *found, struct diag *d)
{
	if (found->verdict >= VERDICT_PARTLY && !e->reason)
		return refuse(p, d, &e->id, "this verdict needs a reason");
	if (found->settings && found->verdict != VERDICT_PARTLY)
		return refuse(p, d, &found->settings, "settings are for 'reproduced for'");
	if (!e->n_checks && found->verdict != VERDICT_NONE)
		return refuse(p, d, &e->id, "this verdict needs checks");
	return HD_OK;
}

static enum hd_status verdict_check(const struct paper *p, const struct paper_experiment *e,
				    struct diag *d)
{
	enum hd_status status = found_check(p, e, &e->found, d);

	if ((e->found.verdict == VERDICT_REFUTED) != (e->proof != NULL))
		return refuse(p, d, &e->id, "'refuted' and a proof go together");
	if (status == HD_OK && (e->quick_found.verdict != VERDICT_NONE || e->quick_found.settings))
		status = found_check(p, e, &e->quick_found, d);
	return status;
}

static enum hd_status experiment_check(const struct paper *p, const struct paper_experiment *e,
				       struct diag *d)
{
	enum hd_status status = verdict_check(p, e, d);

	if (status == HD_OK && e->n_checks && !e->study)
		return refuse(p, d, &e->id, "checks need a command");
	if (status == HD_OK && e->own.quick && !e->own.command)
		return refuse(p, d, &e->own.quick, "quick needs a command");
	if (status == HD_OK && e->given && !e->study)
		return refuse(p, d, &e->given, "'given' needs a study");
	for (size_t i = 0; i < e->n_checks && status == HD_OK; i++)
		status = check_check(p, &e->checks[i], d);
	for (const struct paper_experiment *o = p->experiments; o < e && status == HD_OK; o++) {
		if (strcmp(o->id, e->id) == 0)
			return refuse(p, d, &e->id, "this id is there twice");
	}
	return status;
}

/* They are written below a folder of ours, and nowhere else. */
static enum hd_status file_check(const struct paper *p, const struct paper_text *f, struct diag *d)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
	size_t id = strlen(p->id), len = strlen(f->name);

	if (strncmp(f->name, p->id, id) != 0 || f->name[id] != '/')
		return refuse(p, d, &f->name,
			      "a file's name begins with the paper's number and a slash");
	if (strspn(f->name, safe) != len || f->name[0] == '.' || f->name[0] == '/' ||
	    f->name[len - 1] == '/' || strstr(f->name, "/.") || strstr(f->name, "//"))
		return refuse(p, d, &f->name,
			      "a file's name has letters, digits, _, - and . within its words");
	if (paper_file_find(f->name))
		return refuse(p, d, &f->name, "this file is built in");
	for (const struct paper_text *o = p->files; o < f; o++) {
		if (strcmp(o->name, f->name) == 0)
			return refuse(p, d, &f->name, "this file is there twice");
	}
	return HD_OK;
}

/* ---- putting it together ------------------------------------------------ */

static enum hd_status values_check(const char *values, struct diag *d)
{
	struct value_list all = { 0 };
	enum hd_status status = value_list_expand(&all, values, d);

	value_list_fini(&all);
	return status;
}

/* Also of studies that no experiment uses. */
static enum hd_status study_check(const struct paper *p, const struct paper_study *s,
				  struct diag *d)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct paper_axis *a = &s->axes[i];
		struct diag inner = { .status = HD_OK };

		if (values_check(a->values, &inner) != HD_OK ||
		    (a->quick && values_check(a->quick, &inner) != HD_OK))
			return refuse(p, d, &a->values, inner.message);
	}
	return HD_OK;
}

static enum hd_status grid_check(const struct paper *p, const struct paper_experiment *e,
				 bool quick, struct diag *d)
{
	struct diag inner = { .status = HD_OK };
	struct paper_grid g;

	if (paper_grid_init(&g, p, e, quick, &inner) != HD_OK) {
		refuse(p, d, e->given ? &e->given : &e->id, inner.message);
		d->line = inner.line ? inner.line : d->line;
	}
	paper_grid_fini(&g);
	return d->status;
}

static enum hd_status experiment_open(struct paper *p, struct paper_experiment *e, struct diag *d)
{
	enum hd_status status = HD_OK;

	if (e->study_name && e->own.command)
		return refuse(p, d, &e->study_name, "a study or a command, not both");
	e->study = e->own.command ? &e->own : NULL;
	for (size_t i = 0; e->study_name && i < p->n_studies; i++) {
		if (strcmp(p->studies[i].name, e->study_name) == 0)
			e->study = &p->studies[i];
	}
	if (e->study_name && !e->study)
		return refuse(p, d, &e->study_name, "unknown study");
	for (int quick = 0; e->study && quick < 2 && status == HD_OK; quick++)
		status = grid_check(p, e, quick, d);
	return status == HD_OK ? experiment_check(p, e, d) : status;
}

enum hd_status paper_parse(const char *text, size_t len, const char *file, struct diag *d,
			   struct paper *out)
{
	struct document doc;

	*out = (struct paper){ .file = hd_strdup(file) };
	d->file = out->file;
	enum hd_status status = document_load(text, len, "the paper", d, &doc);

	if (status != HD_OK)
		return status;
	status = schema_read(paper_fields, &doc, NULL, d, out, &out->places);
	document_fini(&doc);
	for (size_t i = 0; status == HD_OK && i < out->n_studies; i++)
		status = study_check(out, &out->studies[i], d);
	for (size_t i = 0; status == HD_OK && i < out->n_files; i++)
		status = file_check(out, &out->files[i], d);
	for (size_t i = 0; status == HD_OK && i < out->n_experiments; i++)
		status = experiment_open(out, &out->experiments[i], d);
	return status;
}

void paper_fini(struct paper *p)
{
	schema_release(paper_fields, p);
	free(p->places.items);
	free(p->file);
	*p = (struct paper){ 0 };
}

const struct paper_file *paper_file_find(const char *name)
{
	for (const struct paper_file *f = paper_files; f->name; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

enum hd_status catalogue_add(struct paper_catalogue *c, const char *text, size_t len,
			     const char *file, struct diag *d)
{
	struct paper *p = hd_alloc(1, sizeof(*p));

	c->papers = hd_grow(c->papers, &c->cap, c->n + 1, sizeof(void *));
	c->papers[c->n++] = p;
	enum hd_status status = paper_parse(text, len, file, d, p);

	for (size_t i = 0; status == HD_OK && i + 1 < c->n; i++) {
		if (strcmp(c->papers[i]->id, p->id) == 0)
			status = refuse(p, d, &p->id, "this number is another paper's");
	}
	return status;
}

enum hd_status catalogue_init(struct paper_catalogue *c, struct diag *d)
{
	enum hd_status status = HD_OK;

	*c = (struct paper_catalogue){ 0 };
	for (unsigned i = 0; i < PAPER_COUNT && status == HD_OK; i++) {
		char name[] = "papers/000.yaml";

		name[strlen("papers/00")] = (char)('0' + i);
		const struct paper_file *f = paper_file_find(name);

		assert(f);
		status = catalogue_add(c, (const char *)f->bytes, f->len, f->name, d);
	}
	return status;
}

void catalogue_fini(struct paper_catalogue *c)
{
	for (size_t i = 0; i < c->n; i++) {
		paper_fini(c->papers[i]);
		free(c->papers[i]);
	}
	free(c->papers);
	*c = (struct paper_catalogue){ 0 };
}

/* ---- changing it -------------------------------------------------------- */

enum hd_status paper_vary(struct paper *p, const char *text, struct diag *d, bool *known)
{
	size_t name = strcspn(text, "=");
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < p->n_studies; i++) {
		for (size_t k = 0; k < p->studies[i].n_axes; k++) {
			struct paper_axis *a = &p->studies[i].axes[k];

			if (strlen(a->name) != name || !text[name] ||
			    memcmp(a->name, text, name) != 0)
				continue;
			*known = true;
			free(a->values);
			free(a->quick);
			a->values = hd_strdup(text + name + 1);
			a->quick = NULL;
			if (status == HD_OK)
				status = values_check(a->values, d);
		}
	}
	return status;
}
