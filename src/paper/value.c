/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/condition.h"

/* ---- cases -------------------------------------------------------------- */

void bindings_add(struct bindings *b, const char *name, size_t len, const struct value *is)
{
	b->items = hd_grow(b->items, &b->cap, b->n + 1, sizeof(*b->items));
	b->items[b->n++] = (struct binding){ hd_strndup(name, len), is };
}

void bindings_fini(struct bindings *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->items[i].name);
	free(b->items);
	*b = (struct bindings){ 0 };
}

void bindings_print(const struct bindings *b, struct strbuf *out)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct value *v = b->items[i].is;

		strbuf_printf(out, "%s%s=", i ? ", " : "", b->items[i].name);
		if (v->kind == VALUE_TEXT)
			strbuf_puts(out, v->text);
		else if (v->kind == VALUE_BOOL)
			strbuf_puts(out, v->yes ? "yes" : "no");
		else
			strbuf_printf(out, "%.7g", value_real(v));
	}
}

/* ---- cells -------------------------------------------------------------- */

size_t paper_column_find(const struct table *t, const char *name, size_t len)
{
	size_t i = 0;

	while (i < t->n_columns &&
	       (strlen(t->columns[i].name) != len || memcmp(t->columns[i].name, name, len) != 0))
		i++;
	return i;
}

/* All `len` characters as a number; NaN if they are none. */
static double number_of(const char *text, size_t len)
{
	char word[64], *end;

	if (len >= sizeof(word))
		return NAN;
	memcpy(word, text, len);
	word[len] = '\0';
	double number = strtod(word, &end);

	return end == word || *end ? NAN : number;
}

bool paper_cell_is(const struct value *v, const char *text, size_t len)
{
	if (v->kind == VALUE_TEXT || v->kind == VALUE_BOOL) {
		const char *word = v->kind == VALUE_TEXT ? v->text : v->yes ? "yes" : "no";
		return strlen(word) == len && !memcmp(word, text, len);
	}
	double wanted = number_of(text, len);

	return fabs(value_real(v) - wanted) <= 1e-9 * fabs(wanted);
}

bool paper_cell_same(const struct value *a, const struct value *b)
{
	if (a->kind == VALUE_TEXT || b->kind == VALUE_TEXT)
		return a->kind == b->kind && strcmp(a->text, b->text) == 0;
	if (a->kind == VALUE_NONE || b->kind == VALUE_NONE)
		return a->kind == b->kind;
	if (a->kind == VALUE_BOOL || b->kind == VALUE_BOOL)
		return a->kind == b->kind && a->yes == b->yes;
	return !(value_real(a) < value_real(b)) && !(value_real(a) > value_real(b));
}

/* A cell as a number, also where axes have written it as a text. */
static double cell_number(const struct value *v)
{
	return v->kind == VALUE_TEXT ? number_of(v->text, strlen(v->text)) : value_real(v);
}

/* ---- rows --------------------------------------------------------------- */

/* One "column>=value" of a where, `len` characters long. */
struct clause {
	const char *text, *value;
	size_t len, name, value_len;
	enum relation relation;
};

/* False if there is no relation in it. */
static bool clause_parse(const char *text, size_t len, struct clause *out)
{
	static const struct {
		const char *sign;
		enum relation relation;
	} signs[] = { { ">=", RELATION_NOT_LESS }, { "<=", RELATION_NOT_MORE },
		      { "!=", RELATION_OTHER },    { "=", RELATION_SAME },
		      { "<", RELATION_LESS },      { ">", RELATION_MORE } };
	size_t name = strcspn(text, "<>!=");

	*out = (struct clause){ .text = text, .len = len, .name = name };
	for (unsigned i = 0; name < len && i < 6; i++) {
		size_t sign = strlen(signs[i].sign);

		if (strncmp(text + name, signs[i].sign, sign) != 0)
			continue;
		out->relation = signs[i].relation;
		out->value = text + name + sign;
		out->value_len = len - name - sign;
		return true;
	}
	return false;
}

static bool clause_holds(const struct clause *c, const struct value *v)
{
	if (c->relation == RELATION_SAME || c->relation == RELATION_OTHER)
		return paper_cell_is(v, c->value, c->value_len) == (c->relation == RELATION_SAME);
	return condition_relation_holds(c->relation, cell_number(v),
					number_of(c->value, c->value_len));
}

/* The next clause, `where` moved behind it; false at the end. */
static bool clause_next(const char **where, struct clause *out, bool *good)
{
	const char *text = *where;

	if (!text || !*text)
		return false;
	size_t len = strcspn(text, ",");

	*good = clause_parse(text, len, out);
	text += len;
	*where = text + strspn(text, ", ");
	return true;
}

/* Whether it says what a column is: then no case does. */
static bool fixes(const char *where, const char *name)
{
	struct clause c;
	bool good;

	while (clause_next(&where, &c, &good)) {
		if (good && c.relation == RELATION_SAME && strlen(name) == c.name &&
		    !memcmp(name, c.text, c.name))
			return true;
	}
	return false;
}

/* Whether the row fits; *unknown: the clause of which there is no column. */
static bool row_fits(const struct table *t, size_t row, const char *where, const char **unknown)
{
	struct clause c;
	bool good;

	while (clause_next(&where, &c, &good)) {
		size_t column = paper_column_find(t, c.text, c.name);

		if (!good || column == t->n_columns) {
			*unknown = c.text;
			return false;
		}
		if (!clause_holds(&c, table_cell(t, row, column)))
			return false;
	}
	return true;
}

static bool row_is_of(const struct table *t, size_t row, const char *where,
		      const struct bindings *in)
{
	for (size_t i = 0; in && i < in->n; i++) {
		const char *name = in->items[i].name;
		size_t column = paper_column_find(t, name, strlen(name));

		if (column < t->n_columns && !fixes(where, name) &&
		    !paper_cell_same(table_cell(t, row, column), in->items[i].is))
			return false;
	}
	return true;
}

/* The rows that fit, their number in *n; a reason if a column is unknown. */
static size_t *rows_find(const struct table *t, const char *where, const struct bindings *in,
			 size_t *n, struct strbuf *missing)
{
	size_t *rows = hd_alloc(table_rows(t) + 1, sizeof(*rows));
	const char *unknown = NULL;

	*n = 0;
	for (size_t i = 0; i < table_rows(t); i++) {
		if (row_fits(t, i, where, &unknown) && row_is_of(t, i, where, in))
			rows[(*n)++] = i;
	}
	if (unknown)
		strbuf_printf(missing, "table '%s' has no column for '%s'", t->name, unknown);
	return rows;
}

bool paper_value_find(const struct paper_value *v, const struct results *r,
		      const struct bindings *in, struct paper_cells *out, struct strbuf *missing)
{
	const struct table *t = results_find(r, v->table);

	*out = (struct paper_cells){ .table = t };
	if (!t) {
		strbuf_printf(missing, "no table '%s'", v->table);
		return false;
	}
	out->column = v->column ? paper_column_find(t, v->column, strlen(v->column)) : t->n_columns;
	if (v->column && out->column == t->n_columns) {
		strbuf_printf(missing, "table '%s' has no column '%s'", v->table, v->column);
		return false;
	}
	out->rows = rows_find(t, v->where, in, &out->n, missing);
	if (!out->n && !missing->len && v->take != REDUCE_COUNT)
		strbuf_printf(missing, "table '%s' has no row with %s", t->name,
			      v->where ? v->where : "anything");
	if (missing->len)
		return false;
	out->numbers = hd_alloc(out->n + 1, sizeof(*out->numbers));
	for (size_t i = 0; i < out->n; i++)
		out->numbers[i] =
			v->column ? cell_number(table_cell(t, out->rows[i], out->column)) : 0;
	return true;
}

void paper_cells_fini(struct paper_cells *f)
{
	free(f->rows);
	free(f->numbers);
}

/* ---- one number of many -------------------------------------------------- */

double paper_cells_reduce(const struct paper_cells *f, const struct paper_value *v,
			  struct strbuf *missing)
{
	if (v->take == REDUCE_ONE && f->n > 1) {
		strbuf_printf(missing, "%zu rows of '%s' fit", f->n, v->table);
		return NAN;
	}
	return measure_reduce(v->take, f->numbers, f->n);
}
