/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/option.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define MAX_NAMES 128

static enum hd_status read_uint(const struct option *o, const char *text, struct diag *d,
				uint64_t *out)
{
	uint64_t value;
	enum hd_status status = hd_uint_parse(text, d, &value);

	if (status != HD_OK)
		return status;
	if (o->high && (value < o->low || value > o->high))
		return diag_fail(d, HD_ERR_RANGE, "'%s' is not in %llu..%llu", text,
				 (unsigned long long)o->low, (unsigned long long)o->high);
	*out = value;
	return HD_OK;
}

static enum hd_status read_choice(const struct option *o, const char *text, struct diag *d,
				  unsigned *out)
{
	struct strbuf expected = STRBUF_INIT;

	for (unsigned i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], text) == 0) {
			*out = i;
			strbuf_fini(&expected);
			return HD_OK;
		}
		strbuf_printf(&expected, "%s%s", i ? ", " : "", o->choices[i]);
	}
	enum hd_status status =
		diag_fail(d, HD_ERR_INPUT, "'%s' is not one of %s", text, expected.text);

	strbuf_fini(&expected);
	return status;
}

static void list_add(struct option_list *list, const char *text)
{
	list->items = hd_grow(list->items, &list->cap, list->n + 1, sizeof(*list->items));
	list->items[list->n++] = text;
}

void option_list_fini(struct option_list *list)
{
	free(list->items);
	*list = (struct option_list){ 0 };
}

static void option_fini(const struct option *o, void *field)
{
	struct option_settings *settings = field;

	if (o->kind == OPT_LIST) {
		option_list_fini(field);
	} else if (o->kind == OPT_SET) {
		free(settings->items);
		*settings = (struct option_settings){ 0 };
	}
}

void options_fini(const struct option *const *tables, void *values)
{
	for (; *tables; tables++) {
		for (const struct option *o = *tables; o->name; o++)
			option_fini(o, (char *)values + o->offset);
	}
}

static enum hd_status read_time(const struct option *o, const char *text, struct diag *d,
				hd_time *out)
{
	struct strbuf least = STRBUF_INIT;
	enum hd_status status = hd_time_parse(text, d, out);

	if (status != HD_OK || *out >= o->low)
		return status;
	hd_time_print(o->low, &least);
	status = diag_fail(d, HD_ERR_RANGE, "'%s' is too short (at least %s)", text, least.text);
	strbuf_fini(&least);
	return status;
}

/* Kinds that hold one value, which has a form. */
static enum hd_status read_value(const struct option *o, enum option_kind kind, const char *text,
				 struct diag *d, void *out)
{
	switch (kind) {
	case OPT_UINT:
		return read_uint(o, text, d, out);
	case OPT_DOUBLE:
		return hd_double_parse(text, d, out);
	case OPT_RATE:
		return hd_rate_parse(text, d, out);
	case OPT_TIME:
		return read_time(o, text, d, out);
	case OPT_SIZE:
		return hd_size_parse(text, d, out);
	case OPT_RATIO:
		return hd_ratio_parse(text, d, out);
	case OPT_RANGE:
		return hd_range_parse(text, d, out);
	case OPT_CHOICE:
		return read_choice(o, text, d, out);
	default:
		return HD_ERR_INPUT;
	}
}

/* Keeps the text if it could be a value of the kind that the option names. */
static enum hd_status add_setting(const struct option *o, const char *text, struct diag *d,
				  struct option_settings *s)
{
	uint64_t ignored[4]; /* large enough for a value of any kind */
	enum hd_status status = HD_OK;

	static_assert(sizeof(struct hd_range) <= sizeof(ignored) &&
			      sizeof(struct hd_rate) <= sizeof(ignored) &&
			      sizeof(struct hd_ratio) <= sizeof(ignored),
		      "some value is larger");
	if (o->as != OPT_FLAG && o->as != OPT_INPUT)
		status = read_value(o, o->as, text, d, ignored);
	if (status != HD_OK)
		return status;
	s->items = hd_grow(s->items, &s->cap, s->n + 1, sizeof(*s->items));
	s->items[s->n++] = (struct option_setting){ o, text };
	return HD_OK;
}

enum hd_status option_set(const struct option *o, void *values, const char *text, struct diag *d)
{
	void *field = (char *)values + o->offset;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)field = true;
		return HD_OK;
	case OPT_TEXT:
	case OPT_INPUT:
	case OPT_OUTPUT:
		*(const char **)field = text;
		return HD_OK;
	case OPT_LIST:
		list_add(field, text);
		return HD_OK;
	case OPT_SET:
		return add_setting(o, text, d, field);
	default:
		return read_value(o, o->kind, text, d, field);
	}
}

/* option_set() with the option's name before the error message. */
static enum hd_status set_named(const struct option *o, void *values, const char *text,
				struct diag *d)
{
	struct diag inner = { .status = HD_OK };
	enum hd_status status = option_set(o, values, text, &inner);

	if (status != HD_OK)
		return diag_fail(d, status, "option --%s: %s", o->name, inner.message);
	return HD_OK;
}

void options_set_initial(const struct option *const *tables, void *values)
{
	for (; *tables; tables++) {
		for (const struct option *o = *tables; o->name; o++) {
			struct diag d = { .status = HD_OK };

			if (!o->initial || o->kind == OPT_LIST)
				continue;
			/* Rejecting a default is a programming error. */
			enum hd_status status = option_set(o, values, o->initial, &d);

			assert(status == HD_OK);
			(void)status;
		}
	}
}

const struct option *option_find(const struct option *const *tables, const char *name, size_t len)
{
	for (; *tables; tables++) {
		for (const struct option *o = *tables; o->name; o++) {
			if (strncmp(o->name, name, len) == 0 && !o->name[len])
				return o;
		}
	}
	return NULL;
}

static const struct option *find_letter(const struct option *const *tables, char letter)
{
	for (; *tables; tables++) {
		for (const struct option *o = *tables; o->name; o++) {
			if (o->letter == letter)
				return o;
		}
	}
	return NULL;
}

static enum hd_status refuse_unknown(const struct option *const *tables, const char *word,
				     struct diag *d)
{
	const char *names[MAX_NAMES];
	size_t n = 0;

	for (; *tables; tables++) {
		for (const struct option *o = *tables; o->name; o++) {
			assert(n < MAX_NAMES);
			names[n++] = o->name;
		}
	}
	char *name = hd_strndup(word, strcspn(word, "="));
	const char *nearest = strncmp(name, "--", 2) == 0 ? text_nearest(name + 2, names, n) : NULL;
	struct strbuf meant = STRBUF_INIT;

	strbuf_printf(&meant, "--%s", nearest ? nearest : "");
	enum hd_status status = diag_fail(d, HD_ERR_INPUT, "unknown option '%s'%s", name,
					  text_hint(nearest ? meant.text : NULL).text);

	strbuf_fini(&meant);
	free(name);
	return status;
}

/* Reads the option at argv[*i]; advances *i past a separate value. */
static enum hd_status read_option(const struct option *const *tables, void *values, int argc,
				  char **argv, int *i, struct diag *d)
{
	const char *word = argv[*i];
	const char *value = NULL;
	const struct option *o;

	if (word[1] == '-') {
		size_t len = strcspn(word + 2, "=");

		o = option_find(tables, word + 2, len);
		if (word[2 + len])
			value = word + 3 + len;
	} else {
		o = find_letter(tables, word[1]);
		if (word[2])
			value = word + 2;
	}
	if (!o || (o->kind == OPT_FLAG && value && word[1] != '-'))
		return refuse_unknown(tables, word, d);

	if (o->kind == OPT_REFUSED)
		return diag_fail(d, HD_ERR_INPUT, "option --%s is not supported: %s", o->name,
				 o->value);
	if (o->kind == OPT_FLAG) {
		if (value)
			return diag_fail(d, HD_ERR_INPUT, "option --%s takes no value", o->name);
		return option_set(o, values, "", d);
	}
	if (!value) {
		if (*i + 1 >= argc)
			return diag_fail(d, HD_ERR_INPUT, "option --%s needs a value", o->name);
		value = argv[++*i];
	}
	return set_named(o, values, value, d);
}

enum hd_status options_parse(const struct option *const *tables, void *values, int argc,
			     char **argv, struct diag *d, int *n_args)
{
	int kept = 0;
	bool only_arguments = false;

	options_set_initial(tables, values);
	for (int i = 0; i < argc; i++) {
		/* A lone "-" means standard input. */
		if (only_arguments || argv[i][0] != '-' || !argv[i][1]) {
			argv[kept++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			only_arguments = true;
			continue;
		}
		enum hd_status status = read_option(tables, values, argc, argv, &i, d);

		if (status != HD_OK)
			return status;
	}
	*n_args = kept;
	return HD_OK;
}

static void print_heading(const struct option *o, struct strbuf *out)
{
	if (o->letter)
		strbuf_printf(out, "-%c, ", o->letter);
	else
		strbuf_puts(out, "    ");
	strbuf_printf(out, "--%s", o->name);
	if (o->choices) {
		for (unsigned i = 0; o->choices[i]; i++)
			strbuf_printf(out, "%c%s", i ? '|' : ' ', o->choices[i]);
	} else if (o->kind != OPT_FLAG) {
		strbuf_printf(out, " %s", o->value);
	}
}

static void print_meaning(const struct option *o, struct strbuf *out)
{
	strbuf_puts(out, o->help);
	if (o->initial)
		strbuf_printf(out, " (default %s)", o->initial);
	if (o->kind == OPT_LIST || (o->kind == OPT_SET && !o->path))
		strbuf_puts(out, " (may be repeated)");
}

static void help_row(const struct option *o, struct strbuf *out)
{
	const size_t column = 30;
	struct strbuf meaning = STRBUF_INIT;
	size_t start = out->len;

	strbuf_puts(out, "  ");
	print_heading(o, out);
	if (out->len - start + 2 > column) {
		strbuf_putc(out, '\n');
		start = out->len;
	}
	strbuf_pad(out, ' ', column - (out->len - start));
	print_meaning(o, &meaning);
	text_wrap(out, meaning.text, column);
	strbuf_fini(&meaning);
}

bool option_is_shown(const struct option *const *tables, const struct option *o)
{
	return o->kind != OPT_REFUSED && option_find(tables, o->name, strlen(o->name)) == o;
}

void options_help(const struct option *const *tables, struct strbuf *out)
{
	for (size_t i = 0; tables[i]; i++) {
		for (const struct option *o = tables[i]; o->name; o++) {
			if (option_is_shown(tables, o))
				help_row(o, out);
		}
	}
}

/*
 * roff interprets a bare dash as a hyphen, a backslash as an escape, and a dot or quote at the
 * start of a line as a request.
 */
void option_man_text(struct strbuf *out, const char *text)
{
	bool line_start = out->len == 0 || out->text[out->len - 1] == '\n';

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			strbuf_puts(out, "\\&");
		if (*text == '-')
			strbuf_puts(out, "\\-");
		else if (*text == '\\')
			strbuf_puts(out, "\\e");
		else
			strbuf_putc(out, *text);
		line_start = *text == '\n';
	}
}

void options_man(const struct option *const *tables, struct strbuf *out)
{
	for (size_t i = 0; tables[i]; i++) {
		for (const struct option *o = tables[i]; o->name; o++) {
			struct strbuf line = STRBUF_INIT;

			if (!option_is_shown(tables, o))
				continue;
			strbuf_puts(out, ".TP\n");
			print_heading(o, &line);
			strbuf_puts(out, ".B ");
			option_man_text(out, line.text + strspn(line.text, " "));
			strbuf_putc(out, '\n');
			strbuf_clear(&line);
			print_meaning(o, &line);
			option_man_text(out, line.text);
			strbuf_puts(out, ".\n");
			strbuf_fini(&line);
		}
	}
}

static size_t table_length(const struct option *table)
{
	size_t n = 0;

	while (table[n].name)
		n++;
	return n;
}

struct option *options_join(const struct option *first, const struct option *const *more,
			    size_t offset)
{
	size_t n = table_length(first), total = n + 1;

	for (size_t i = 0; more[i]; i++)
		total += table_length(more[i]);
	struct option *all = hd_alloc(total, sizeof(*all));

	memcpy(all, first, n * sizeof(*all));
	for (; *more; more++) {
		for (const struct option *o = *more; o->name; o++) {
			all[n] = *o;
			all[n++].offset += offset;
		}
	}
	return all;
}
