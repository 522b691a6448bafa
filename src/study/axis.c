/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "scenario/scenario.h"

#define MOST_DIGITS 15 /* digits of a number in a range */

void value_list_fini(struct value_list *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i]);
	free(p->items);
	*p = (struct value_list){ 0 };
}

void value_list_add(struct value_list *p, char *item)
{
	p->items = hd_grow(p->items, &p->cap, p->n + 1, sizeof(*p->items));
	p->items[p->n++] = item;
}

void value_list_words(struct value_list *p, const char *text)
{
	for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
		bool quoted = *text == '\'';
		size_t len = strcspn(text + quoted, quoted ? "'" : " \n");

		value_list_add(p, hd_strndup(text + quoted, len));
		text += quoted + len;
		text += quoted && *text;
	}
}

void value_list_split(struct value_list *p, const char *text)
{
	const char *start = text;
	int depth = 0;

	for (; *text; text++) {
		depth += *text == '{' || *text == '[';
		depth -= *text == '}' || *text == ']';
		if (*text != ',' || depth > 0)
			continue;
		value_list_add(p, text_trimmed(start, (size_t)(text - start)));
		start = text + 1;
	}
	value_list_add(p, text_trimmed(start, (size_t)(text - start)));
}

/* ---- ranges ------------------------------------------------------------- */

/* digits / 10^scale, and the suffix. */
struct range_number {
	int64_t digits;
	unsigned scale;
	char *unit;
};

static bool decimal_parse(const char *text, size_t len, struct range_number *out)
{
	char *copy = text_trimmed(text, len);
	const char *c = copy;
	unsigned n = 0;
	bool point = false;

	*out = (struct range_number){ 0 };
	for (; (*c >= '0' && *c <= '9') || (*c == '.' && !point); c++) {
		if (*c == '.') {
			point = true;
			continue;
		}
		out->digits = out->digits * 10 + (*c - '0');
		out->scale += point;
		if (++n > MOST_DIGITS)
			break;
	}
	bool good = n > 0 && n <= MOST_DIGITS && c[-1] != '.';

	out->unit = good ? hd_strdup(c) : NULL;
	free(copy);
	return good;
}

static int64_t power_of_ten(unsigned n)
{
	int64_t power = 1;

	while (n--)
		power *= 10;
	return power;
}

struct range {
	struct range_number low, high, step;
	bool factor; /* the step is a factor */
};

static void range_fini(struct range *r)
{
	free(r->low.unit);
	free(r->high.unit);
	free(r->step.unit);
}

/* Parses "LOW..HIGH:STEP"; false for any other text. */
static bool range_parse(const char *text, struct range *r)
{
	const char *dots = strstr(text, "..");
	const char *colon = dots ? strrchr(dots, ':') : NULL;

	*r = (struct range){ 0 };
	if (!colon)
		return false;
	const char *step = colon + 1;

	step += strspn(step, " ");
	r->factor = *step == '*';
	step += r->factor;
	return decimal_parse(text, (size_t)(dots - text), &r->low) &&
	       decimal_parse(dots + 2, (size_t)(colon - dots - 2), &r->high) &&
	       decimal_parse(step, strlen(step), &r->step);
}

/* Scales all numbers to the smallest decimal; false if the scale is too fine. */
static bool range_align(struct range *r)
{
	struct range_number *parts[] = { &r->low, &r->high, &r->step };
	unsigned n = r->factor ? 2 : 3, scale = 0;

	for (unsigned i = 0; i < n; i++)
		scale = parts[i]->scale > scale ? parts[i]->scale : scale;
	for (unsigned i = 0; i < n; i++) {
		int64_t by = power_of_ten(scale - parts[i]->scale);

		if (parts[i]->digits > INT64_MAX / 4 / by)
			return false;
		parts[i]->digits *= by;
		parts[i]->scale = scale;
	}
	return true;
}

static void put_number(struct value_list *p, int64_t digits, unsigned scale, const char *unit)
{
	struct strbuf text = STRBUF_INIT;
	int64_t ten = power_of_ten(scale);

	strbuf_printf(&text, "%lld", (long long)(digits / ten));
	if (digits % ten) {
		strbuf_printf(&text, ".%0*lld", (int)scale, (long long)(digits % ten));
		while (text.text[text.len - 1] == '0')
			text.text[--text.len] = '\0';
	}
	strbuf_puts(&text, unit);
	value_list_add(p, strbuf_detach(&text));
}

/* Converts sizes to bytes if they have several units, or if some have none
 * (which means bytes). "64..64KiB" starts at 64 bytes. */
static void range_to_bytes(struct range *r)
{
	struct range_number *parts[] = { &r->low, &r->high, &r->step };
	unsigned n = r->factor ? 2 : 3, same = 1;
	uint64_t bytes[3];

	for (unsigned i = 0; i < n; i++) {
		struct value_list text = { 0 };

		put_number(&text, parts[i]->digits, parts[i]->scale, parts[i]->unit);
		bool size = hd_size_parse(text.items[0], NULL, &bytes[i]) == HD_OK &&
			    bytes[i] < INT64_MAX / 4;

		value_list_fini(&text);
		if (!size)
			return;
		same += i && strcmp(parts[i]->unit, r->low.unit) == 0;
	}
	for (unsigned i = 0; i < n && same < n; i++) {
		parts[i]->digits = (int64_t)bytes[i];
		parts[i]->scale = 0;
		*parts[i]->unit = '\0';
	}
}

/* The common unit of the range, at any position; NULL: several units. */
static const char *range_unit(const struct range *r)
{
	const char *const written[] = { r->high.unit, r->low.unit, r->step.unit };
	const char *unit = "";

	for (unsigned i = 0; i < 3; i++) {
		if (!*unit)
			unit = written[i];
		if (*written[i] && strcmp(written[i], unit) != 0)
			return NULL;
	}
	return unit;
}

/* Number of values, computed without creating them. */
static int64_t range_count(const struct range *r)
{
	int64_t n = 1;

	if (!r->factor)
		return (r->high.digits - r->low.digits) / r->step.digits + 1;
	for (int64_t at = r->low.digits; at <= r->high.digits / r->step.digits; n++)
		at *= r->step.digits;
	return n;
}

static enum hd_status range_expand(struct range *r, const char *text, struct diag *d,
				   struct value_list *out)
{
	range_to_bytes(r);
	const char *unit = range_unit(r);

	if (!unit)
		return diag_fail(d, HD_ERR_INPUT, "the range '%.80s' mixes units", text);
	if (!range_align(r))
		return diag_fail(d, HD_ERR_INPUT, "the range '%.80s' has too many digits", text);
	if (r->factor && (r->step.scale || *r->step.unit || r->step.digits < 2))
		return diag_fail(d, HD_ERR_INPUT,
				 "the factor of '%.80s' is not a whole number above 1", text);
	if (!r->step.digits || (r->factor && !r->low.digits))
		return diag_fail(d, HD_ERR_INPUT, "the range '%.80s' does not reach its end", text);
	if (r->low.digits > r->high.digits)
		return diag_fail(d, HD_ERR_INPUT, "the range '%.80s' is empty", text);
	if (range_count(r) > STUDY_MOST_POINTS)
		return diag_fail(d, HD_ERR_INPUT,
				 "the range '%.80s' has %lld values; at most %d are allowed", text,
				 (long long)range_count(r), STUDY_MOST_POINTS);
	for (int64_t at = r->low.digits; at <= r->high.digits;) {
		put_number(out, at, r->low.scale, unit);
		if (r->factor && at > r->high.digits / r->step.digits)
			break;
		at = r->factor ? at * r->step.digits : at + r->step.digits;
	}
	return HD_OK;
}

static enum hd_status expand(const char *text, struct diag *d, struct value_list *out)
{
	struct range range;
	enum hd_status status = HD_OK;

	if (!*text)
		return diag_fail(d, HD_ERR_INPUT, "a value is empty");
	if (range_parse(text, &range))
		status = range_expand(&range, text, d, out);
	else
		value_list_add(out, hd_strdup(text));
	range_fini(&range);
	return status;
}

enum hd_status value_list_expand(struct value_list *p, const char *text, struct diag *d)
{
	struct value_list written = { 0 };
	enum hd_status status = HD_OK;

	value_list_split(&written, text);
	for (size_t i = 0; i < written.n && status == HD_OK; i++)
		status = expand(written.items[i], d, p);
	value_list_fini(&written);
	return status;
}

/* ---- what the values are ------------------------------------------------ */

/* The row of a path such as traffic.0.load; NULL if the table has none. */
static const struct schema_row *row_of(const char *path)
{
	const struct schema_row *row = NULL;
	bool item = false; /* the next part of the path is a list index */

	while (*path) {
		size_t len = strcspn(path, ".[");
		char *part = hd_strndup(path, len);

		if (!item)
			row = schema_child_named(scenario_fields, row, part);
		free(part);
		if (!row)
			return NULL;
		item = !item && row->type == SCHEMA_LIST;
		path += len + (path[len] != '\0');
	}
	return row;
}

/* The values of an option (or NULL), described as a row of a schema. */
static struct schema_row row_of_option(const struct option *o)
{
	static const enum schema_type types[] = {
		[OPT_FLAG] = SCHEMA_BOOL,     [OPT_TEXT] = SCHEMA_AMOUNT,
		[OPT_LIST] = SCHEMA_AMOUNT,   [OPT_UINT] = SCHEMA_UINT,
		[OPT_DOUBLE] = SCHEMA_REAL,   [OPT_RATE] = SCHEMA_RATE,
		[OPT_TIME] = SCHEMA_TIME,     [OPT_SIZE] = SCHEMA_SIZE,
		[OPT_RATIO] = SCHEMA_SHARE,   [OPT_RANGE] = SCHEMA_AMOUNT,
		[OPT_CHOICE] = SCHEMA_TEXT,   [OPT_INPUT] = SCHEMA_AMOUNT,
		[OPT_OUTPUT] = SCHEMA_AMOUNT,
	};
	struct schema_row row = { 0 };

	if (!o)
		return row;
	row.path = o->name;
	row.type = types[o->kind == OPT_SET ? o->as : o->kind];
	/* For a field with a fixed set of words, the command checks the word. */
	if (o->kind == OPT_SET && (o->as == OPT_FLAG || o->as == OPT_CHOICE))
		row.type = SCHEMA_AMOUNT;
	return row;
}

/* The type of a value; an amount has its base type if the text has that form, otherwise none. */
static enum schema_type type_of(const struct schema_row *row, const char *text)
{
	uint64_t ignored;

	if (!row || row->type == SCHEMA_CUSTOM)
		return SCHEMA_AMOUNT;
	if (row->type != SCHEMA_AMOUNT)
		return row->type;
	if ((row->base == SCHEMA_TIME && hd_time_parse(text, NULL, &ignored) == HD_OK) ||
	    (row->base == SCHEMA_SIZE && hd_size_parse(text, NULL, &ignored) == HD_OK))
		return row->base;
	return SCHEMA_AMOUNT;
}

/* The number in the unit of results (unit_of); NAN if it is not a number. */
static double number_of(const struct schema_row *row, const char *text)
{
	struct hd_rate rate;
	struct hd_ratio share;
	struct range_number decimal = { 0 };
	uint64_t whole;
	double number = NAN;

	switch (type_of(row, text)) {
	case SCHEMA_TIME:
		if (hd_time_parse(text, NULL, &whole) == HD_OK)
			number = (double)whole / (double)HD_US;
		break;
	case SCHEMA_RATE:
		if (hd_rate_parse(text, NULL, &rate) == HD_OK)
			number = hd_rate_bps(rate) / 1e9;
		break;
	case SCHEMA_SIZE:
		if (hd_size_parse(text, NULL, &whole) == HD_OK)
			number = (double)whole;
		break;
	case SCHEMA_SHARE:
		if (hd_ratio_parse(text, NULL, &share) == HD_OK)
			number = 100 * (double)share.num / (double)share.den;
		break;
	case SCHEMA_UINT:
	case SCHEMA_REAL:
		if (hd_double_parse(text, NULL, &number) != HD_OK)
			number = NAN;
		break;
	case SCHEMA_AMOUNT:
		if (decimal_parse(text, strlen(text), &decimal))
			number = (double)decimal.digits / (double)power_of_ten(decimal.scale);
		free(decimal.unit);
		break;
	default:
		break;
	}
	return number;
}

/* The unit of number_of. A value without a type keeps its unit. */
static char *unit_of(const struct schema_row *row, const char *text)
{
	static const char *const units[] = { [SCHEMA_TIME] = "us",
					     [SCHEMA_RATE] = "Gb/s",
					     [SCHEMA_SIZE] = "B",
					     [SCHEMA_SHARE] = "%",
					     [SCHEMA_CUSTOM] = NULL };
	enum schema_type type = type_of(row, text);
	struct range_number decimal = { 0 };

	if (type != SCHEMA_AMOUNT)
		return hd_strdup(units[type] ? units[type] : "");
	if (!decimal_parse(text, strlen(text), &decimal))
		return hd_strdup("");
	char *unit = text_trimmed(decimal.unit, strlen(decimal.unit));

	free(decimal.unit);
	return unit;
}

/* Values are numbers if all are numbers in one unit; otherwise texts. */
static void measure(struct axis *a, const struct schema_row *row)
{
	a->kind = VALUE_REAL;
	a->unit = a->unit_text = unit_of(row, a->values.items[0]);
	a->numbers = hd_alloc(a->values.n, sizeof(*a->numbers));
	for (size_t i = 0; i < a->values.n; i++) {
		char *unit = unit_of(row, a->values.items[i]);

		a->numbers[i] = number_of(row, a->values.items[i]);
		if (isnan(a->numbers[i]) || strcmp(unit, a->unit) != 0)
			a->kind = VALUE_TEXT;
		free(unit);
	}
	if (a->kind == VALUE_TEXT)
		a->unit = "";
}

double axis_number(const struct axis *a, const char *text)
{
	struct schema_row row;

	if (a->kind != VALUE_REAL)
		return NAN;
	if (!a->option)
		return number_of(row_of(a->field), text);
	row = row_of_option(a->option);
	return number_of(&row, text);
}

static bool is_choice(const struct option *o, const char *value)
{
	if (o->kind == OPT_FLAG)
		return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
	for (const char *const *c = o->choices; *c; c++) {
		if (strcmp(*c, value) == 0)
			return true;
	}
	return false;
}

/* Checks an option as far as possible without the command; the command checks the rest. */
static enum hd_status check_option(const struct axis *a, const struct schema_row *row,
				   struct diag *d)
{
	const struct option *o = a->option;

	for (size_t i = 0; i < a->values.n; i++) {
		const char *value = a->values.items[i];
		bool words = o->kind == OPT_FLAG || o->kind == OPT_CHOICE;

		if (words ? is_choice(o, value)
			  : row->type == SCHEMA_AMOUNT || !isnan(number_of(row, value)))
			continue;
		return diag_fail(d, HD_ERR_INPUT, "invalid value '%.80s'%s", value,
				 o->kind == OPT_FLAG ? " (yes or no is)" : "");
	}
	return HD_OK;
}

static enum hd_status check_values(const struct axis *a, const struct schema_row *row,
				   struct diag *d)
{
	struct diag inner = { .status = HD_OK };

	for (size_t i = 0; row && i < a->values.n; i++) {
		const char *value = a->values.items[i];

		if (schema_value_check(row, value, &inner) == HD_OK)
			continue;
		bool range = strstr(value, "..") && !strchr(value, ':');

		return diag_fail(d, inner.status, "%s%s", inner.message,
				 range ? " (a range is LOW..HIGH:STEP)" : "");
	}
	return HD_OK;
}

enum hd_status axis_init(struct axis *a, const char *field, const char *values,
			 const struct option *option, struct diag *d)
{
	const struct schema_row of_option = row_of_option(option);
	const struct schema_row *row = option ? &of_option : row_of(field);

	*a = (struct axis){ .field = hd_strdup(field), .unit = "", .option = option };
	if (!values[strspn(values, " ")])
		return diag_fail(d, HD_ERR_INPUT, "no values");
	enum hd_status status = value_list_expand(&a->values, values, d);

	if (status == HD_OK)
		status = option ? check_option(a, row, d) : check_values(a, row, d);
	if (status == HD_OK)
		measure(a, row);
	return status;
}

enum hd_status axis_init_labels(struct axis *a, const char *field, const char *values,
				struct diag *d)
{
	*a = (struct axis){ .field = hd_strdup(field), .unit = "", .kind = VALUE_TEXT };
	enum hd_status status = value_list_expand(&a->texts, values, d);

	for (size_t i = 0; i < a->texts.n; i++) {
		char *text = a->texts.items[i];
		char *equals = strchr(text, '=');

		value_list_add(&a->values, text_trimmed(text, strcspn(text, "=")));
		if (equals)
			memmove(text, equals + 1, strlen(equals + 1) + 1);
	}
	return status;
}

void axis_fini(struct axis *a)
{
	value_list_fini(&a->values);
	value_list_fini(&a->labels);
	value_list_fini(&a->texts);
	free(a->field);
	free(a->unit_text);
	free(a->numbers);
	*a = (struct axis){ 0 };
}
