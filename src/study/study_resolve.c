/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "scenario/scenario.h"
#include "study/point.h"
#include "study/study_internal.h"

/* Default condition of saturation. */
#define SATURATED "delivered < 95% of offered"

unsigned study_line(const struct study *s, const void *field)
{
	const struct schema_place *at = schema_place_of(&s->places, field);

	return at ? at->line : 0;
}

enum hd_status study_refuse(const struct study *s, struct diag *d, const void *field,
			    const char *format, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	d->file = s->file;
	enum hd_status status =
		diag_fail_at(d, HD_ERR_INPUT, study_line(s, field), 0, "%s", text.text);

	strbuf_fini(&text);
	return status;
}

void study_label(const struct study *s, unsigned line, const char *path, struct strbuf *out)
{
	if (line)
		strbuf_printf(out, "%s:%u: %s", s->file, line, path);
	else
		strbuf_puts(out, path);
}

/* ---- the command -------------------------------------------------------- */

static enum hd_status resolve_command(struct study *s, struct diag *d)
{
	struct strbuf all = STRBUF_INIT;
	size_t used;

	s->command = s->command_text ? study_command_of(1, &s->command_text, &used)
				     : study_command_default();
	if (s->command && s->command->has_scenario && !*s->base_file)
		return study_refuse(s, d, &s->command_text, "%s needs a scenario",
				    s->command->name);
	if (s->command && !s->command->has_scenario && *s->base_file)
		return study_refuse(s, d, &s->scenario, "%s takes no scenario", s->command->name);
	if (s->command == study_command_default() && s->arguments)
		return study_refuse(s, d, &s->arguments, "sim takes a scenario and no arguments");
	if (s->command && s->options_of)
		s->options = s->options_of(s->command->name);
	if (s->command)
		return HD_OK;
	study_commands_list(&all);
	enum hd_status status = study_refuse(s, d, &s->command_text, "'%.80s' is not one of %s",
					     s->command_text, all.text);

	strbuf_fini(&all);
	return status;
}

bool study_is_option(const struct study *s, const char *field)
{
	return s->command != study_command_default() && !strchr(field, '.');
}

/* The option that a field names; NULL if it belongs to the scenario or is unknown. */
static enum hd_status option_of(const struct study *s, const char *field, struct diag *d,
				const struct option **out)
{
	*out = NULL;
	if (!study_is_option(s, field) || !s->options)
		return HD_OK;
	*out = option_find(s->options, field, strlen(field));
	return *out ? HD_OK
		    : diag_fail(d, HD_ERR_INPUT,
				"'heddle %s' has no such option (scenario fields contain a dot)",
				s->command->name);
}

static enum hd_status check_settings(const struct study *s, struct diag *d)
{
	struct diag inner = { .status = HD_OK };
	const struct option *o;

	for (size_t i = 0; i < s->overrides.n; i++) {
		const char *path = s->overrides.items[i].path;

		if (option_of(s, path, &inner, &o) != HD_OK)
			return study_refuse(s, d, &s->set, "%s: %s", path, inner.message);
	}
	return HD_OK;
}

/* ---- axes --------------------------------------------------------------- */

static size_t axis_of(const struct study *s, const char *field)
{
	return study_axis_of(s, field, strlen(field));
}

static bool is_varied(const struct study *s, const char *field)
{
	return axis_of(s, field) < s->n_axes;
}

static enum hd_status refuse_axis(const struct study *s, size_t axis, struct diag *d,
				  const char *why)
{
	const struct study_axis *w = &s->written[axis];

	d->file = w->line ? s->file : NULL;
	return diag_fail_at(d, HD_ERR_INPUT, w->line, 0, "%s: %s", w->field, why);
}

/* The dimension of a new axis: that of another axis, or a new one. */
static enum hd_status choose_dimension(struct study *s, size_t axis, struct diag *d)
{
	const struct study_axis *w = s->written;
	struct axis *a = &s->axes[axis];

	a->dimension = s->n_dimensions;
	for (size_t i = 0; i < axis; i++) {
		if (w[axis].with && w[i].with && strcmp(w[axis].with, w[i].with) == 0)
			a->dimension = s->axes[i].dimension;
	}
	if (a->dimension == s->n_dimensions) {
		s->lengths[s->n_dimensions++] = a->values.n;
		return HD_OK;
	}
	if (s->lengths[a->dimension] == a->values.n)
		return HD_OK;
	struct strbuf why = STRBUF_INIT;

	strbuf_printf(&why, "%zu values cannot go along with %zu", a->values.n,
		      s->lengths[a->dimension]);
	enum hd_status status = refuse_axis(s, axis, d, why.text);

	strbuf_fini(&why);
	return status;
}

/* One label per value, each different: the labels distinguish curves. */
static enum hd_status resolve_labels(struct study *s, size_t axis, struct diag *d)
{
	struct axis *a = &s->axes[axis];
	struct strbuf why = STRBUF_INIT;

	if (!s->written[axis].labels)
		return HD_OK;
	value_list_split(&a->labels, s->written[axis].labels);
	if (a->labels.n != a->values.n)
		strbuf_printf(&why, "%zu label%s for %zu values", a->labels.n,
			      a->labels.n == 1 ? "" : "s", a->values.n);
	for (size_t i = 0; i < a->labels.n; i++) {
		for (size_t k = 0; k < i && !why.len; k++) {
			if (strcmp(a->labels.items[i], a->labels.items[k]) == 0)
				strbuf_printf(&why, "two values have the label '%.80s'",
					      a->labels.items[i]);
		}
	}
	enum hd_status status = why.len ? refuse_axis(s, axis, d, why.text) : HD_OK;

	strbuf_fini(&why);
	return status;
}

static enum hd_status resolve_axes(struct study *s, struct diag *d)
{
	enum hd_status status = HD_OK;

	s->axes = hd_alloc(s->n_written, sizeof(*s->axes));
	s->lengths = hd_alloc(s->n_written + 1, sizeof(*s->lengths));
	for (size_t i = 0; i < s->n_written && status == HD_OK; i++) {
		const struct study_axis *w = &s->written[i];
		struct diag inner = { .status = HD_OK };
		const struct option *option;

		if (is_varied(s, w->field))
			return refuse_axis(s, i, d, "it is given twice");
		if (option_of(s, w->field, &inner, &option) != HD_OK)
			return refuse_axis(s, i, d, inner.message);
		s->n_axes++;
		status = s->template ? axis_init_labels(&s->axes[i], w->field, w->values, &inner)
				     : axis_init(&s->axes[i], w->field, w->values, option, &inner);
		if (status != HD_OK)
			return refuse_axis(s, i, d, inner.message);
		s->axes[i].line = w->line;
		status = resolve_labels(s, i, d);
		if (status == HD_OK)
			status = choose_dimension(s, i, d);
	}
	return status;
}

/* The scenario field that `field` names or abbreviates; NULL: none. */
static const char *scenario_field(const struct study *s, const char *field)
{
	const struct option *o;

	if (!study_is_option(s, field))
		return field;
	o = s->options ? option_find(s->options, field, strlen(field)) : NULL;
	return o && o->kind == OPT_SET ? o->path : NULL;
}

/* Adds the fields of all axes; `axes` has the axis of each. */
static void put_fields(const struct study *s, struct overrides *out, size_t *axes)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		const char *field = scenario_field(s, s->axes[i].field);

		if (!field)
			continue;
		*axes++ = i;
		overrides_put(out, s->axes[i].field, field, "%s", s->axes[i].values.items[0]);
	}
}

/* Reports two axes with the same field, or an axis without effect. */
static enum hd_status refuse_clash(const struct study *s, const char *other, size_t axis,
				   struct diag *d)
{
	struct strbuf why = STRBUF_INIT;

	if (other)
		strbuf_printf(&why, "it is varied as '%s', too", other);
	else
		strbuf_puts(&why, "it is not varied: say how many seeds instead");
	enum hd_status status = refuse_axis(s, axis, d, why.text);

	strbuf_fini(&why);
	return status;
}

/*
 * Rejects one field with two names (traffic.video.load, traffic.0.load; an
 * option and the field that it abbreviates), or a field together with an
 * enclosing mapping: one of the two would have no effect. The seed of a point
 * is set after all of them.
 */
static enum hd_status check_fields(const struct study *s, struct diag *d)
{
	const char *text = *s->base ? s->base : "{}";
	struct diag ignored = { .status = HD_OK };
	struct overrides all = { 0 };
	size_t *axes = hd_alloc(s->n_axes + 1, sizeof(*axes));
	size_t first = s->overrides.n, lost = 0, by = 0;
	enum hd_status status = HD_OK;
	struct document doc;

	overrides_copy(&s->overrides, &all);
	put_fields(s, &all, axes);
	overrides_put(&all, "", "run.seed", "1");
	/* The reader of the scenario reports errors in the scenario itself. */
	if (document_load(text, strlen(text), "", &ignored, &doc) == HD_OK) {
		if (document_root(&doc) &&
		    overrides_clash(&all, first, scenario_fields, &doc, &lost, &by))
			status = by + 1 < all.n ? refuse_clash(s, all.items[lost].label,
							       axes[by - first], d)
						: refuse_clash(s, NULL, axes[lost - first], d);
		document_fini(&doc);
	}
	overrides_fini(&all);
	free(axes);
	return status;
}

/* ---- the grid ----------------------------------------------------------- */

static double number_at(const struct study *s, size_t axis, size_t cell)
{
	return s->axes[axis].numbers[study_value(s, axis, cell)];
}

/* Evaluates a term of `skip`, which compares an axis with another axis or a value. */
static bool term_holds(const struct study *s, const struct term *t, size_t cell)
{
	size_t left = axis_of(s, t->left), right = axis_of(s, t->right);
	const struct axis *a = &s->axes[left];
	const char *word = a->values.items[study_value(s, left, cell)];

	if (a->kind == VALUE_REAL) {
		double other =
			right == s->n_axes ? axis_number(a, t->right) : number_at(s, right, cell);

		return condition_relation_holds(t->relation, number_at(s, left, cell),
						t->share > 0 ? t->share * other : other);
	}
	if (right < s->n_axes)
		return false;
	return (strcmp(word, t->right) == 0) == (t->relation == RELATION_SAME);
}

static bool is_skipped(const struct study *s, size_t cell)
{
	for (size_t i = 0; i < s->n_skips; i++) {
		const struct condition *c = &s->skips[i];
		size_t held = 0;

		while (held < c->n && term_holds(s, &c->terms[held], cell))
			held++;
		if (held == c->n)
			return true;
	}
	return false;
}

static bool has_value(const struct axis *a, const char *word)
{
	for (size_t i = 0; i < a->values.n; i++) {
		if (strcmp(a->values.items[i], word) == 0)
			return true;
	}
	return false;
}

static enum hd_status check_skip(const struct study *s, const struct term *t, struct diag *d)
{
	const char *from = s->template ? "given" : "skip";
	size_t left = axis_of(s, t->left), right = axis_of(s, t->right);

	if (left == s->n_axes)
		return study_refuse(s, d, &s->skip, "%s: '%s' is not a field that is varied", from,
				    t->left);
	const struct axis *a = &s->axes[left];
	bool text = a->kind == VALUE_TEXT;

	if (text &&
	    (right < s->n_axes || (t->relation != RELATION_SAME && t->relation != RELATION_OTHER)))
		return study_refuse(s, d, &s->skip,
				    "skip: the values of %s are words; they are = or != a word",
				    t->left);
	if (text && !has_value(a, t->right))
		return study_refuse(s, d, &s->skip, "%s: %s has no value '%s' here", from, t->left,
				    t->right);
	if (!text && right == s->n_axes && isnan(axis_number(a, t->right)))
		return study_refuse(s, d, &s->skip, "skip: '%s' is not a value of %s", t->right,
				    t->left);
	if (!text && right < s->n_axes && s->axes[right].kind == VALUE_TEXT)
		return study_refuse(s, d, &s->skip, "skip: the values of %s are words", t->right);
	return HD_OK;
}

static enum hd_status resolve_skips(struct study *s, struct diag *d)
{
	struct value_list items = { 0 };
	enum hd_status status = HD_OK;

	if (s->skip)
		value_list_split(&items, s->skip);
	s->skips = hd_realloc(s->skips, s->n_skips + items.n + 1, sizeof(*s->skips));
	for (size_t i = 0; i < items.n && status == HD_OK; i++) {
		struct diag inner = { .status = HD_OK };

		if (condition_parse(items.items[i], &inner, &s->skips[s->n_skips++]) != HD_OK)
			status = study_refuse(s, d, &s->skip, "skip: %s", inner.message);
	}
	for (size_t i = 0; i < s->n_skips; i++) {
		for (size_t k = 0; k < s->skips[i].n && status == HD_OK; k++)
			status = check_skip(s, &s->skips[i].terms[k], d);
	}
	value_list_fini(&items);
	return status;
}

static enum hd_status resolve_cells(struct study *s, struct diag *d)
{
	double count = (double)s->seeds;
	size_t all = 1;

	for (size_t i = 0; i < s->n_dimensions; i++)
		count *= (double)s->lengths[i];
	if (count > STUDY_MOST_POINTS) {
		d->file = s->file;
		return diag_fail_at(d, HD_ERR_INPUT, s->n_axes ? s->axes[s->n_axes - 1].line : 0, 0,
				    "the study has %.0f points; at most %d are allowed", count,
				    STUDY_MOST_POINTS);
	}
	for (size_t i = 0; i < s->n_dimensions; i++)
		all *= s->lengths[i];
	s->cells = hd_alloc(all, sizeof(*s->cells));
	for (size_t cell = 0; cell < all; cell++) {
		if (!is_skipped(s, cell))
			s->cells[s->n_cells++] = cell;
	}
	s->n_points = s->n_cells * (size_t)s->seeds;
	return s->n_cells ? HD_OK
			  : study_refuse(s, d, &s->skip, "skip leaves none of the %zu cells", all);
}

/* ---- searches ----------------------------------------------------------- */

static enum hd_status check_measure(const struct study *s, const void *field, const struct term *t,
				    struct diag *d)
{
	struct diag inner = { .status = HD_OK };

	return study_measure_check(&s->measures, t, &inner) == HD_OK
		       ? HD_OK
		       : study_refuse(s, d, field, "%s", inner.message);
}

/* Parses "FIELD" + separator + "CONDITION", for a field with ascending values. */
static enum hd_status resolve_search(struct study *s, enum search_kind kind, char *const *text,
				     const char *separator, struct diag *d)
{
	const char *at = *text;

	if (kind == SEARCH_LARGEST || kind == SEARCH_SMALLEST)
		at += strcspn(at, " ") + 1;
	const char *end = strstr(at, separator);
	char *field = text_trimmed(at, end ? (size_t)(end - at) : strlen(at));
	struct diag inner = { .status = HD_OK };

	s->search.kind = kind;
	s->search.axis = axis_of(s, field);
	free(field);
	if (s->search.axis == s->n_axes)
		return study_refuse(s, d, text, "'%s' names no field that is varied", *text);
	if (!end && (kind != SEARCH_STOP || s->command != study_command_default()))
		return study_refuse(s, d, text, "'%s' has no condition", *text);
	if (condition_parse(end ? end + strlen(separator) : SATURATED, &inner,
			    &s->search.condition) != HD_OK)
		return study_refuse(s, d, text, "%s", inner.message);
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < s->search.condition.n && status == HD_OK; i++)
		status = check_measure(s, text, &s->search.condition.terms[i], d);
	const struct axis *a = &s->axes[s->search.axis];

	for (size_t i = 1; i < a->values.n && status == HD_OK; i++) {
		if (a->kind != VALUE_REAL || a->numbers[i] <= a->numbers[i - 1])
			status = study_refuse(s, d, text, "the values of %s must rise", a->field);
	}
	return status;
}

static enum hd_status resolve_searches(struct study *s, struct diag *d)
{
	if (s->stop && s->find)
		return study_refuse(s, d, &s->find, "'stop' and 'find' cannot be used together");
	if (s->stop)
		return resolve_search(s, SEARCH_STOP, &s->stop, " when ", d);
	if (!s->find)
		return HD_OK;
	if (strncmp(s->find, "largest ", 8) == 0)
		return resolve_search(s, SEARCH_LARGEST, &s->find, " with ", d);
	if (strncmp(s->find, "smallest ", 9) == 0)
		return resolve_search(s, SEARCH_SMALLEST, &s->find, " with ", d);
	return study_refuse(
		s, d, &s->find,
		"invalid rule '%s' (expected 'largest FIELD with CONDITION' or 'smallest FIELD with CONDITION')",
		s->find);
}

/* ---- what is kept ------------------------------------------------------- */

static enum hd_status resolve_tables(struct study *s, struct diag *d)
{
	struct diag inner = { .status = HD_OK };

	value_list_split(&s->tables, s->keep);
	for (size_t i = 0; i < s->tables.n; i++) {
		if (study_table_check(s->command, s->tables.items[i], &inner) != HD_OK)
			return study_refuse(s, d, &s->keep, "keep: %s", inner.message);
	}
	return HD_OK;
}

/* ---- seeds and measures ------------------------------------------------ */

/* Reads the scenario of a cell. Free even after an error. */
static enum hd_status scenario_of(const struct study *s, size_t rank, struct diag *d,
				  struct scenario *out)
{
	struct overrides overrides = { 0 };

	study_scenario_overrides(s, s->cells[rank], true, &overrides);
	enum hd_status status =
		scenario_parse(s->base, strlen(s->base), s->base_file, &overrides, d, out);

	overrides_fini(&overrides);
	return status;
}

static char *refusal_of_scenario(const struct study *s, size_t rank)
{
	struct diag why = { .status = HD_OK };
	struct strbuf line = STRBUF_INIT;
	struct scenario scenario;

	if (scenario_of(s, rank, &why, &scenario) != HD_OK)
		diag_print(&why, &line);
	scenario_fini(&scenario);
	return why.status == HD_OK ? NULL : strbuf_detach(&line);
}

static void add_jobs(struct study *s, const struct scenario *from)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	const char **names = hd_alloc(from->n_jobs, sizeof(*names));

	for (size_t i = 0; i < from->n_jobs; i++)
		names[i] = from->jobs[i].name;
	measures_add_jobs(&s->measures, from->n_jobs, names);
	free(names);
}

/* Reads the scenario's seed and jobs, unless the scenario is rejected. */
static void resolve_scenario(struct study *s)
{
	struct diag ignored = { .status = HD_OK };
	size_t rank = study_accepted(s, refusal_of_scenario);
	struct scenario scenario;

	if (rank == s->n_cells)
		return;
	if (scenario_of(s, rank, &ignored, &scenario) == HD_OK) {
		s->first_seed = scenario.run.seed;
		if (s->command == study_command_default())
			add_jobs(s, &scenario);
	}
	scenario_fini(&scenario);
}

/* Without a scenario: the value of --seed, or 1. */
static enum hd_status seed_of_settings(struct study *s, struct diag *d)
{
	s->first_seed = 1;
	for (size_t i = 0; i < s->overrides.n; i++) {
		const struct override *o = &s->overrides.items[i];

		if (strcmp(o->path, "run.seed") == 0 &&
		    hd_uint_parse(o->value, NULL, &s->first_seed) != HD_OK)
			return study_refuse(s, d, &s->set, "run.seed: invalid seed '%.40s'",
					    o->value);
	}
	return HD_OK;
}

/* Seeds continue from the scenario's own seed, which no cell changes. */
static enum hd_status resolve_base(struct study *s, struct diag *d)
{
	measures_init(&s->measures, s->command);
	if (!*s->base_file)
		return seed_of_settings(s, d);
	resolve_scenario(s);
	return HD_OK;
}

/* Resolves the axes and the remaining cells of the grid. */
static enum hd_status resolve_grid(struct study *s, struct diag *d)
{
	enum hd_status status = resolve_axes(s, d);

	if (status == HD_OK && !s->template)
		status = check_fields(s, d);
	if (status == HD_OK)
		status = resolve_skips(s, d);
	return status == HD_OK ? resolve_cells(s, d) : status;
}

enum hd_status study_resolve(struct study *s, struct diag *d)
{
	if (s->template)
		return resolve_grid(s, d);
	enum hd_status status = resolve_command(s, d);

	if (status == HD_OK)
		status = check_settings(s, d);
	if (status == HD_OK)
		status = resolve_grid(s, d);
	if (status == HD_OK)
		status = resolve_base(s, d);
	if (status == HD_OK)
		status = resolve_searches(s, d);
	if (status == HD_OK && s->keep)
		status = resolve_tables(s, d);
	return status;
}

void study_describe(const struct study *s, struct strbuf *out)
{
	if (s->command_text)
		strbuf_printf(out, "# command %s %s\n", s->command->name,
			      s->arguments ? s->arguments : "");
	for (size_t i = 0; i < s->overrides.n; i++)
		strbuf_printf(out, "# set %s=%s\n", s->overrides.items[i].path,
			      s->overrides.items[i].value);
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct axis *a = &s->axes[i];

		strbuf_printf(out, "# axis %zu: %s=", a->dimension, a->field);
		for (size_t k = 0; k < a->values.n; k++)
			strbuf_printf(out, "%s%s", k ? "," : "", a->values.items[k]);
		strbuf_putc(out, '\n');
	}
	const char *const more[] = { s->skip, s->keep, s->stop, s->find };
	const char *const names[] = { "skip", "keep", "stop", "find" };

	for (size_t i = 0; i < 4; i++) {
		if (more[i])
			strbuf_printf(out, "# %s %s\n", names[i], more[i]);
	}
	strbuf_printf(out, "# seeds %llu from %llu\n", (unsigned long long)s->seeds,
		      (unsigned long long)s->first_seed);
	strbuf_puts(out, s->base);
}
