/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/study_internal.h"

size_t study_value(const struct study *s, size_t axis, size_t cell)
{
	size_t dimension = s->axes[axis].dimension;

	for (size_t i = s->n_dimensions; i-- > dimension + 1;)
		cell /= s->lengths[i];
	return cell % s->lengths[dimension];
}

const char *study_value_text(const struct study *s, size_t axis, size_t point)
{
	return s->axes[axis].values.items[study_value(s, axis, study_cell(s, point))];
}

size_t study_axis_of(const struct study *s, const char *field, size_t len)
{
	size_t i = 0;

	while (i < s->n_axes &&
	       (strlen(s->axes[i].field) != len || memcmp(s->axes[i].field, field, len) != 0))
		i++;
	return i;
}

void study_fill_template(const struct study *s, size_t point, struct strbuf *out)
{
	const char *c = s->template;

	while (*c) {
		size_t len = *c == '{' ? strcspn(c, "}") : 0;
		size_t axis = len ? study_axis_of(s, c + 1, len - 1) : s->n_axes;

		if (axis < s->n_axes) {
			size_t value = study_value(s, axis, study_cell(s, point));

			strbuf_puts(out, s->axes[axis].texts.items[value]);
			c += len + 1;
		} else {
			strbuf_putc(out, *c++);
		}
	}
}

size_t study_cell(const struct study *s, size_t point)
{
	return s->cells[point / (size_t)s->seeds];
}

uint64_t study_seed(const struct study *s, size_t point)
{
	return s->first_seed + point % s->seeds;
}

/* ---- what a cell says --------------------------------------------------- */

/* Adds the overrides of all cells, and of this one, with the places that set them. */
static void put_all(const struct study *s, size_t cell, struct overrides *out)
{
	overrides_copy(&s->overrides, out);
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct axis *a = &s->axes[i];
		struct strbuf label = STRBUF_INIT;

		study_label(s, a->line, a->field, &label);
		overrides_put(out, label.text, a->field, "%s",
			      a->values.items[study_value(s, i, cell)]);
		strbuf_fini(&label);
	}
}

void study_overrides(const struct study *s, size_t cell, struct overrides *out)
{
	struct overrides all = { 0 };

	put_all(s, cell, &all);
	for (size_t i = 0; i < all.n; i++)
		overrides_put(out, all.items[i].path, all.items[i].path, "%s", all.items[i].value);
	overrides_fini(&all);
}

void study_scenario_overrides(const struct study *s, size_t cell, bool places,
			      struct overrides *out)
{
	struct overrides all = { 0 };

	put_all(s, cell, &all);
	for (size_t i = 0; i < all.n; i++) {
		const struct override *o = &all.items[i];

		if (!study_is_option(s, o->path))
			overrides_put(out, places ? o->label : o->path, o->path, "%s", o->value);
	}
	overrides_fini(&all);
}

/* ---- what is refused everywhere ----------------------------------------- */

/* Maximum number of cells that are all tried. */
#define FEW_CELLS 1000

/* Whether a cell has a value of some dimension that no earlier cell had. */
static bool brings_news(const struct study *s, size_t cell, bool *seen)
{
	bool news = false;

	for (size_t i = s->n_dimensions; i-- > 0;) {
		size_t value = cell % s->lengths[i];

		cell /= s->lengths[i];
		news = news || !seen[value];
		seen[value] = true;
		seen += s->lengths[i];
	}
	return news;
}

/* Tries every step-th cell, and cells with a new value; *alike: all errors are equal. */
static size_t find_accepted(const struct study *s, study_refusal_fn *refusal, size_t step,
			    bool *alike)
{
	char *first = NULL, *line = NULL;
	size_t values = 0, rank = 0;

	for (size_t i = 0; i < s->n_dimensions; i++)
		values += s->lengths[i];
	bool *seen = hd_alloc(values + 1, sizeof(*seen));

	*alike = true;
	for (; rank < s->n_cells; rank++) {
		if (!brings_news(s, s->cells[rank], seen) && rank % step != 0)
			continue;
		line = refusal(s, rank);
		if (!line)
			break;
		if (!first)
			first = hd_strdup(line);
		*alike = *alike && strcmp(line, first) == 0;
		free(line);
	}
	free(seen);
	free(first);
	return rank;
}

size_t study_accepted(const struct study *s, study_refusal_fn *refusal)
{
	bool alike = false;
	size_t rank = s->n_cells;

	if (s->n_cells > FEW_CELLS)
		rank = find_accepted(s, refusal, s->n_cells / FEW_CELLS, &alike);
	if (rank == s->n_cells && !alike)
		rank = find_accepted(s, refusal, 1, &alike);
	return rank;
}
