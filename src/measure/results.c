/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/results.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *results_origin_name(enum origin origin)
{
	static const char *const names[] = {
		[ORIGIN_GIVEN] = "given",         [ORIGIN_SIMULATED] = "simulated",
		[ORIGIN_COMPUTED] = "computed",   [ORIGIN_MEASURED] = "measured",
		[ORIGIN_PUBLISHED] = "published",
	};

	return names[origin];
}

const char *value_kind_name(enum value_kind kind)
{
	static const char *const names[] = {
		[VALUE_NONE] = "none", [VALUE_TEXT] = "text", [VALUE_UINT] = "uint",
		[VALUE_INT] = "int",   [VALUE_REAL] = "real", [VALUE_BOOL] = "bool",
	};

	return names[kind];
}

double value_real(const struct value *v)
{
	switch (v->kind) {
	case VALUE_UINT:
		return (double)v->u;
	case VALUE_INT:
		return (double)v->i;
	case VALUE_REAL:
		return v->real;
	default:
		return NAN;
	}
}

struct value value_of_real(double real)
{
	if (!isfinite(real))
		return (struct value){ .kind = VALUE_NONE };
	return (struct value){ .kind = VALUE_REAL, .real = real };
}

struct value value_of_text(const char *text)
{
	if (!text)
		return (struct value){ .kind = VALUE_NONE };
	return (struct value){ .kind = VALUE_TEXT, .text = (char *)text };
}

const char *table_kind_name(enum table_kind kind)
{
	static const char *const names[] = {
		[TABLE_ROWS] = "table",
		[TABLE_SERIES] = "series",
		[TABLE_RECORD] = "record",
	};

	return names[kind];
}

static void replace(char **field, const char *text)
{
	free(*field);
	*field = hd_strdup(text);
}

struct results *results_new(const char *command)
{
	struct results *r = hd_alloc(1, sizeof(*r));

	r->command = hd_strdup(command);
	r->arguments = hd_strdup("");
	r->version = hd_strdup("");
	r->scenario = hd_strdup("");
	return r;
}

static void forget_texts(struct table *t)
{
	for (size_t i = 0; i < t->n_texts; i++)
		free(t->texts[i]);
	t->n_texts = 0;
}

static void table_free(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++) {
		if (t->cells[i].kind == VALUE_TEXT)
			free(t->cells[i].text);
	}
	forget_texts(t);
	free(t->texts);
	for (size_t i = 0; i < t->n_columns; i++) {
		free((char *)t->columns[i].name);
		free((char *)t->columns[i].unit);
	}
	free(t->cells);
	free(t->columns);
	free(t->name);
	free(t->title);
	free(t);
}

void results_free(struct results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_tables; i++)
		table_free(r->tables[i]);
	for (size_t i = 0; i < r->n_remarks; i++)
		free(r->remarks[i]);
	for (size_t i = 0; i < r->n_parameters; i++) {
		free(r->parameters[i].name);
		free(r->parameters[i].value);
	}
	free(r->tables);
	free(r->remarks);
	free(r->parameters);
	free(r->command);
	free(r->arguments);
	free(r->version);
	free(r->scenario);
	free(r);
}

void results_drop_last(struct results *r)
{
	assert(r->n_tables > 0);
	table_free(r->tables[--r->n_tables]);
}

void results_move_first(struct results *r, const char *name)
{
	for (size_t i = 0; i < r->n_tables; i++) {
		struct table *t = r->tables[i];

		if (strcmp(t->name, name) != 0)
			continue;
		memmove(&r->tables[1], &r->tables[0], i * sizeof(struct table *));
		r->tables[0] = t;
		return;
	}
}

void results_set_scenario(struct results *r, const char *text)
{
	replace(&r->scenario, text);
}

void results_set_version(struct results *r, const char *version)
{
	replace(&r->version, version);
}

void results_set_arguments(struct results *r, const char *arguments)
{
	replace(&r->arguments, arguments);
}

void results_parameter(struct results *r, const char *name, const char *value)
{
	r->parameters = hd_grow(r->parameters, &r->cap_parameters, r->n_parameters + 1,
				sizeof(*r->parameters));
	r->parameters[r->n_parameters++] =
		(struct parameter){ .name = hd_strdup(name), .value = hd_strdup(value) };
}

const char *results_parameter_value(const struct results *r, const char *name)
{
	for (size_t i = 0; i < r->n_parameters; i++) {
		if (strcmp(r->parameters[i].name, name) == 0)
			return r->parameters[i].value;
	}
	return NULL;
}

void results_remark(struct results *r, const char *format, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	r->remarks = hd_grow(r->remarks, &r->cap_remarks, r->n_remarks + 1, sizeof(*r->remarks));
	r->remarks[r->n_remarks++] = strbuf_detach(&text);
}

static enum value_kind kind_of(const struct column *c)
{
	static const enum value_kind kinds[N_STORED] = {
		[STORED_UINT] = VALUE_UINT, [STORED_INT] = VALUE_INT,
		[STORED_REAL] = VALUE_REAL, [STORED_BOOL] = VALUE_BOOL,
		[STORED_TEXT] = VALUE_TEXT, [STORED_CHARS] = VALUE_TEXT,
		[STORED_RATE] = VALUE_REAL, [STORED_TIME] = VALUE_REAL,
		[STORED_SPAN] = VALUE_REAL, [STORED_SHARE] = VALUE_REAL,
		[STORED_NAME] = VALUE_TEXT,
	};

	return c->cell.stored == STORED_NOT ? c->kind : kinds[c->cell.stored];
}

static void copy_columns(struct table *t, const struct column *columns, size_t n)
{
	assert(n > 0);
	t->n_columns = n;
	t->columns = hd_alloc(t->n_columns, sizeof(*t->columns));
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &columns[i];

		t->columns[i] = *c;
		t->columns[i].kind = kind_of(c);
		assert(t->columns[i].kind != VALUE_NONE);
		t->columns[i].name = hd_strdup(c->name);
		t->columns[i].unit = hd_strdup(c->unit ? c->unit : "");
	}
}

static struct table *add_table(struct results *r, const char *name, const char *title,
			       enum table_kind kind, const struct column *columns, size_t n)
{
	struct table *t = hd_alloc(1, sizeof(*t));

	assert(!results_find(r, name));
	t->name = hd_strdup(name);
	t->title = hd_strdup(title);
	t->kind = kind;
	copy_columns(t, columns, n);
	r->tables = hd_grow(r->tables, &r->cap_tables, r->n_tables + 1, sizeof(struct table *));
	r->tables[r->n_tables++] = t;
	return t;
}

static size_t count_columns(const struct column *columns)
{
	size_t n = 0;

	while (columns[n].name)
		n++;
	return n;
}

struct table *results_table(struct results *r, const char *name, const char *title,
			    const struct column *columns)
{
	return add_table(r, name, title, TABLE_ROWS, columns, count_columns(columns));
}

struct table *results_series(struct results *r, const char *name, const char *title,
			     const struct column *columns)
{
	return add_table(r, name, title, TABLE_SERIES, columns, count_columns(columns));
}

struct table *results_record(struct results *r, const char *name, const char *title,
			     const struct column *columns)
{
	return add_table(r, name, title, TABLE_RECORD, columns, count_columns(columns));
}

struct table *results_copy_table(struct results *r, const struct table *from)
{
	struct table *t =
		add_table(r, from->name, from->title, from->kind, from->columns, from->n_columns);

	for (size_t row = 0; row < table_rows(from); row++)
		table_put_values(t, table_cell(from, row, 0));
	return t;
}

const struct table *results_find(const struct results *r, const char *name)
{
	for (size_t i = 0; i < r->n_tables; i++) {
		if (strcmp(r->tables[i]->name, name) == 0)
			return r->tables[i];
	}
	return NULL;
}

bool table_is_goals(const struct table *t)
{
	return strcmp(t->name, "goals") == 0 || strcmp(t->name, "job goals") == 0;
}

static void put(struct table *t, struct value value)
{
	assert(value.kind == VALUE_NONE ||
	       value.kind == t->columns[t->n_cells % t->n_columns].kind);
	assert(t->kind != TABLE_RECORD || t->n_cells < t->n_columns);
	t->cells = hd_grow(t->cells, &t->cap_cells, t->n_cells + 1, sizeof(*t->cells));
	t->cells[t->n_cells++] = value;
}

static struct value copy_of(const struct value *v)
{
	struct value copy = *v;

	if (v->kind == VALUE_TEXT)
		copy.text = hd_strdup(v->text);
	return copy;
}

/* Value of a column's unit in base units. */
static double worth_of_unit(const struct column *c)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = {
		{ "ps", 1 },     { "ns", 1e3 },   { "us", 1e6 },   { "ms", 1e9 },
		{ "s", 1e12 },   { "b/s", 1 },    { "kb/s", 1e3 }, { "Mb/s", 1e6 },
		{ "Gb/s", 1e9 }, { "MB/s", 8e6 }, { "GB/s", 8e9 },
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].unit, c->unit) == 0)
			return units[i].factor;
	}
	assert(false && "a unit of time or rate");
	return 1;
}

const char *table_take(struct table *t, struct strbuf *text)
{
	t->texts = hd_grow(t->texts, &t->cap_texts, t->n_texts + 1, sizeof(*t->texts));
	t->texts[t->n_texts] = strbuf_detach(text);
	return t->texts[t->n_texts++];
}

const char *table_text(struct table *t, const char *format, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	return table_take(t, &text);
}

/* A text that was made for this row is not copied once more. */
static char *own_text(struct table *t, const char *text)
{
	for (size_t i = 0; i < t->n_texts; i++) {
		if (t->texts[i] == text) {
			t->texts[i] = t->texts[--t->n_texts];
			return (char *)text;
		}
	}
	return hd_strdup(text);
}

static struct value owned_text(struct table *t, const char *text)
{
	if (!text)
		return (struct value){ .kind = VALUE_NONE };
	return (struct value){ .kind = VALUE_TEXT, .text = own_text(t, text) };
}

static uint64_t read_uint(const void *member, unsigned size)
{
	uint64_t whole = 0;

	switch (size) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		return *(const uint16_t *)member;
	case 4:
		return *(const uint32_t *)member;
	default:
		assert(size == sizeof(whole));
		memcpy(&whole, member, sizeof(whole));
		return whole;
	}
}

static int64_t read_int(const void *member, unsigned size)
{
	int64_t whole = 0;

	switch (size) {
	case 1:
		return *(const int8_t *)member;
	case 2:
		return *(const int16_t *)member;
	case 4:
		return *(const int32_t *)member;
	default:
		assert(size == sizeof(whole));
		memcpy(&whole, member, sizeof(whole));
		return whole;
	}
}

static struct value value_of_time(const struct column *c, hd_time time)
{
	if (time == HD_TIME_NEVER)
		return (struct value){ .kind = VALUE_NONE };
	return value_of_real((double)time / worth_of_unit(c));
}

/* Value of column `c` for a row whose member is at `at`. */
static struct value value_at(struct table *t, const struct column *c, const void *at)
{
	const struct cell *cell = &c->cell;
	uint64_t whole = 0;

	if (cell->stored == STORED_UINT || cell->stored == STORED_NAME ||
	    cell->stored == STORED_TIME)
		whole = read_uint(at, cell->size);
	if (cell->may_lack && whole == cell->lack)
		return (struct value){ .kind = VALUE_NONE };
	switch (cell->stored) {
	case STORED_UINT:
		return (struct value){ .kind = VALUE_UINT, .u = whole };
	case STORED_INT:
		return (struct value){ .kind = VALUE_INT, .i = read_int(at, cell->size) };
	case STORED_REAL:
		return value_of_real(*(const double *)at);
	case STORED_BOOL:
		return (struct value){ .kind = VALUE_BOOL, .yes = *(const bool *)at };
	case STORED_TEXT:
		return owned_text(t, *(const char *const *)at);
	case STORED_CHARS:
		return owned_text(t, at);
	case STORED_NAME:
		return owned_text(t, cell->names[whole]);
	case STORED_TIME:
		return value_of_time(c, whole);
	case STORED_SPAN:
		return value_of_real(*(const double *)at / worth_of_unit(c));
	case STORED_SHARE:
		return value_of_real(*(const double *)at * 100);
	case STORED_RATE:
		return value_of_real(hd_rate_bps(*(const struct hd_rate *)at) / worth_of_unit(c));
	case STORED_NOT:
		break;
	}
	assert(false && "a column of no struct");
	return (struct value){ .kind = VALUE_NONE };
}

void table_put_struct(struct table *t, const void *row, size_t size)
{
	(void)size; /* for the assertion */
	assert(t->n_cells % t->n_columns == 0);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		assert(c->cell.row_size == size);
		put(t, value_at(t, c, (const char *)row + c->cell.offset));
	}
	forget_texts(t);
}

void table_put_values(struct table *t, const struct value *values)
{
	assert(t->n_cells % t->n_columns == 0);
	for (size_t i = 0; i < t->n_columns; i++)
		put(t, copy_of(&values[i]));
	forget_texts(t);
}

size_t table_rows(const struct table *t)
{
	assert(t->n_cells % t->n_columns == 0);
	return t->n_cells / t->n_columns;
}

const struct value *table_cell(const struct table *t, size_t row, size_t column)
{
	assert(row < table_rows(t) && column < t->n_columns);
	return &t->cells[row * t->n_columns + column];
}

const struct value *table_cell_of(const struct table *t, size_t row, const char *column)
{
	static const struct value none = { .kind = VALUE_NONE };

	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return table_cell(t, row, i);
	}
	return &none;
}
