/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "scenario/scenario_internal.h"

/* Room for one value of any type that has a range. */
union plain {
	uint64_t whole;
	double real;
	struct hd_rate rate;
	struct hd_ratio share;
	struct schema_amount amount; /* cppcheck-suppress unusedStructMember */
};

static const char *const bool_words[] = { "false", "true", "no", "yes", "off", "on" };

static enum hd_status parse_bool(const char *text, struct diag *d, bool *out)
{
	for (unsigned i = 0; i < sizeof(bool_words) / sizeof(*bool_words); i++) {
		if (strcmp(text, bool_words[i]) == 0) {
			*out = i & 1;
			return HD_OK;
		}
	}
	return diag_fail(d, HD_ERR_INPUT, "'%.80s' is neither true nor false", text);
}

const char *schema_nearest(const char *word, const char *const *names, size_t n)
{
	return strlen(word) > 1 && strlen(word) <= 64 ? text_nearest(word, names, n) : NULL;
}

static void list_choices(const char *const *choices, struct strbuf *out)
{
	for (size_t i = 0; choices[i]; i++)
		strbuf_printf(out, "%s%s", i ? ", " : "", choices[i]);
}

static enum hd_status refuse_choice(const char *text, const char *const *choices, struct diag *d)
{
	struct strbuf expected = STRBUF_INIT;
	size_t n = 0;

	while (choices[n])
		n++;
	const char *nearest = schema_nearest(text, choices, n);

	list_choices(choices, &expected);
	enum hd_status status = diag_fail(d, HD_ERR_INPUT, "'%.80s' is not one of %s%s", text,
					  expected.text, text_hint(nearest).text);

	strbuf_fini(&expected);
	return status;
}

static enum hd_status parse_choice(const struct schema_row *f, const char *text, struct diag *d,
				   unsigned *out)
{
	for (unsigned i = 0; f->choices[i]; i++) {
		if (strcmp(f->choices[i], text) == 0) {
			*out = i;
			return HD_OK;
		}
	}
	return refuse_choice(text, f->choices, d);
}

static enum hd_status parse_base(enum schema_type type, const char *text, struct diag *d,
				 uint64_t *out)
{
	if (type == SCHEMA_TIME)
		return hd_time_parse(text, d, out);
	if (type == SCHEMA_SIZE)
		return hd_size_parse(text, d, out);
	return hd_uint_parse(text, d, out);
}

/* Whether `text` is the unit, or the unit of one: "packet per flow". */
static bool is_unit(const char *text, const char *unit)
{
	size_t word = strcspn(unit, " ");

	if (strcmp(text, unit) == 0)
		return true;
	return word > 0 && unit[word - 1] == 's' && strncmp(text, unit, word - 1) == 0 &&
	       strcmp(text + word - 1, unit + word) == 0;
}

/* "4 packets": the number of the unit after the blanks, 0 if none. */
static unsigned amount_unit(const struct schema_row *f, const char *text, size_t *number_len)
{
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;

	while (*unit == ' ')
		unit++;
	for (unsigned i = 0; digits && f->choices[i]; i++) {
		if (is_unit(unit, f->choices[i])) {
			*number_len = digits;
			return i + 1;
		}
	}
	return 0;
}

static enum hd_status parse_amount(const struct schema_row *f, const char *text, struct diag *d,
				   struct schema_amount *out)
{
	struct schema_amount amount = { 0 };
	size_t number_len;
	unsigned unit = amount_unit(f, text, &number_len);
	enum hd_status status;

	if (unit) {
		char *number = hd_strndup(text, number_len);

		status = hd_uint_parse(number, NULL, &amount.value);
		amount.unit = unit;
		free(number);
	} else {
		status = parse_base(f->base, text, NULL, &amount.value);
	}
	if (status == HD_OK) {
		*out = amount;
		return HD_OK;
	}
	struct strbuf expected = STRBUF_INIT;

	schema_describe(f, &expected);
	diag_fail(d, status, "'%.80s' is not %s", text, expected.text);
	strbuf_fini(&expected);
	return status;
}

static void set_word(const struct schema_row *f, void *value)
{
	switch (f->type) {
	case SCHEMA_REAL:
		*(double *)value = (double)f->word_value;
		break;
	case SCHEMA_RATE:
		*(struct hd_rate *)value = (struct hd_rate){ f->word_value, 1 };
		break;
	case SCHEMA_SHARE:
		*(struct hd_ratio *)value = (struct hd_ratio){ f->word_value, 1 };
		break;
	case SCHEMA_AMOUNT:
		*(struct schema_amount *)value = (struct schema_amount){ f->word_value, 0 };
		break;
	default:
		*(uint64_t *)value = f->word_value;
	}
}

static enum hd_status parse_value(const struct schema_row *f, const char *text, struct diag *d,
				  void *value)
{
	if (f->word && strcmp(text, f->word) == 0) {
		set_word(f, value);
		return HD_OK;
	}
	switch (f->type) {
	case SCHEMA_TEXT:
		free(*(char **)value);
		*(char **)value = hd_strdup(text);
		return HD_OK;
	case SCHEMA_UINT:
		return hd_uint_parse(text, d, value);
	case SCHEMA_REAL:
		return hd_double_parse(text, d, value);
	case SCHEMA_BOOL:
		return parse_bool(text, d, value);
	case SCHEMA_CHOICE:
		return parse_choice(f, text, d, value);
	case SCHEMA_TIME:
		return hd_time_parse(text, d, value);
	case SCHEMA_RATE:
		return hd_rate_parse(text, d, value);
	case SCHEMA_SIZE:
		return hd_size_parse(text, d, value);
	case SCHEMA_SHARE:
		return hd_ratio_parse(text, d, value);
	case SCHEMA_AMOUNT:
		return parse_amount(f, text, d, value);
	case SCHEMA_CUSTOM:
		return f->custom->parse(text, d, value);
	case SCHEMA_MAP:
	case SCHEMA_LIST:
		break;
	}
	return diag_fail(d, HD_ERR_INPUT, "a mapping or list is not a value");
}

/* Sign of value - bound, for the types that may have a range. */
static int compare(const struct schema_row *f, const union plain *value, const union plain *bound)
{
	switch (f->type) {
	case SCHEMA_REAL:
		return (value->real > bound->real) - (value->real < bound->real);
	case SCHEMA_RATE:
		return hd_rate_compare(value->rate, bound->rate);
	case SCHEMA_SHARE:
		return hd_rate_compare((struct hd_rate){ value->share.num, value->share.den },
				       (struct hd_rate){ bound->share.num, bound->share.den });
	default:
		return (value->whole > bound->whole) - (value->whole < bound->whole);
	}
}

static bool beyond(const struct schema_row *f, const char *bound_text, const union plain *value,
		   int sign)
{
	union plain bound = { 0 };

	if (!bound_text)
		return false;
	/* Bounds of an amount apply in any unit. */
	enum hd_status status = f->type == SCHEMA_AMOUNT
					? hd_uint_parse(bound_text, NULL, &bound.whole)
					: parse_value(f, bound_text, NULL, &bound);

	assert(status == HD_OK);
	(void)status;
	return compare(f, value, &bound) * sign > 0;
}

static enum hd_status check_range(const struct schema_row *f, const char *text,
				  const union plain *value, struct diag *d)
{
	if (f->word && strcmp(text, f->word) == 0)
		return HD_OK;
	if (!beyond(f, f->low, value, -1) && !beyond(f, f->high, value, 1))
		return HD_OK;
	if (f->low && f->high)
		return diag_fail(d, HD_ERR_RANGE, "'%.80s' is out of range (%s to %s)", text,
				 f->low, f->high);
	/* 1 means 100 %, so 15 is probably a mistake. */
	bool bare = f->type == SCHEMA_SHARE && !strchr(text, '%');

	return diag_fail(d, HD_ERR_RANGE,
			 bare ? "'%.80s' is out of range (%s %s; did you mean '%.80s%%'?)"
			      : "'%.80s' is out of range (%s %s)",
			 text, f->low ? "at least" : "at most", f->low ? f->low : f->high, text);
}

/* SCHEMA_UINT with `choices`: one of these numbers and no other. */
static enum hd_status check_set(const struct schema_row *f, const char *text, struct diag *d)
{
	if (f->word && strcmp(f->word, text) == 0)
		return HD_OK;
	for (size_t i = 0; f->choices[i]; i++) {
		if (strcmp(f->choices[i], text) == 0)
			return HD_OK;
	}
	return refuse_choice(text, f->choices, d);
}

size_t schema_value_size(const struct schema_row *f)
{
	switch (f->type) {
	case SCHEMA_TEXT:
		return sizeof(char *);
	case SCHEMA_BOOL:
		return sizeof(bool);
	case SCHEMA_CHOICE:
		return sizeof(unsigned);
	case SCHEMA_RATE:
	case SCHEMA_SHARE:
		return sizeof(struct hd_rate);
	case SCHEMA_AMOUNT:
		return sizeof(struct schema_amount);
	case SCHEMA_CUSTOM:
		return f->custom->size;
	default:
		return sizeof(uint64_t);
	}
}

enum hd_status schema_value_set(const struct schema_row *f, const char *text, struct diag *d,
				void *value)
{
	if (f->type == SCHEMA_CUSTOM || f->type == SCHEMA_TEXT || f->type == SCHEMA_BOOL ||
	    f->type == SCHEMA_CHOICE)
		return parse_value(f, text, d, value);

	union plain plain = { 0 };
	enum hd_status status = parse_value(f, text, d, &plain);

	if (status == HD_OK)
		status = check_range(f, text, &plain, d);
	if (status == HD_OK && f->type == SCHEMA_UINT && f->choices)
		status = check_set(f, text, d);
	if (status == HD_OK)
		memcpy(value, &plain, schema_value_size(f));
	return status;
}

enum hd_status schema_value_check(const struct schema_row *f, const char *text, struct diag *d)
{
	if (f->type == SCHEMA_MAP || f->type == SCHEMA_LIST)
		return HD_OK;
	void *value = hd_alloc(1, schema_value_size(f));
	enum hd_status status = schema_value_set(f, text, d, value);

	if (f->type == SCHEMA_TEXT)
		free(*(char **)value);
	else if (f->type == SCHEMA_CUSTOM && f->custom->release)
		f->custom->release(value);
	free(value);
	return status;
}
