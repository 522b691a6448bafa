/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/option.h"
#include "base/text.h"
#include "scenario/schema.h"

#define INDENT      2
#define NOTE_COLUMN 44

/* "1 packet", "4 packets per flow": the first word is the one to count. */
static void print_counted(uint64_t value, const char *unit, struct strbuf *out)
{
	size_t word = strcspn(unit, " ");
	bool one = value == 1 && unit[word - 1] == 's';

	strbuf_printf(out, "%llu %.*s%s", (unsigned long long)value, (int)(one ? word - 1 : word),
		      unit, unit + word);
}

static void print_amount(const struct schema_row *f, const struct schema_amount *amount,
			 struct strbuf *out)
{
	if (amount->unit)
		print_counted(amount->value, f->choices[amount->unit - 1], out);
	else if (f->base == SCHEMA_TIME)
		hd_time_print(amount->value, out);
	else if (f->base == SCHEMA_SIZE)
		hd_size_print(amount->value, out);
	else
		strbuf_printf(out, "%llu", (unsigned long long)amount->value);
}

/* Whether the value is the row's word_value. */
static bool is_word(const struct schema_row *f, const void *value)
{
	if (!f->word)
		return false;
	switch (f->type) {
	case SCHEMA_REAL:
		return *(const double *)value == (double)f->word_value;
	case SCHEMA_RATE:
	case SCHEMA_SHARE: {
		const struct hd_rate *rate = value;

		return rate->num == f->word_value && rate->den == 1;
	}
	case SCHEMA_AMOUNT: {
		const struct schema_amount *amount = value;

		return amount->value == f->word_value && !amount->unit;
	}
	default:
		return *(const uint64_t *)value == f->word_value;
	}
}

static void print_value(const struct schema_row *f, const void *value, struct strbuf *out)
{
	if (is_word(f, value)) {
		strbuf_puts(out, f->word);
		return;
	}
	switch (f->type) {
	case SCHEMA_TEXT:
		strbuf_puts(out, *(char *const *)value);
		break;
	case SCHEMA_UINT:
		strbuf_printf(out, "%llu", *(const unsigned long long *)value);
		break;
	case SCHEMA_REAL:
		text_double(out, *(const double *)value);
		break;
	case SCHEMA_BOOL:
		strbuf_puts(out, *(const bool *)value ? "true" : "false");
		break;
	case SCHEMA_CHOICE:
		strbuf_puts(out, f->choices[*(const unsigned *)value]);
		break;
	case SCHEMA_TIME:
		hd_time_print(*(const hd_time *)value, out);
		break;
	case SCHEMA_RATE:
		hd_rate_print(*(const struct hd_rate *)value, out);
		break;
	case SCHEMA_SIZE:
		hd_size_print(*(const uint64_t *)value, out);
		break;
	case SCHEMA_SHARE:
		hd_ratio_print(*(const struct hd_ratio *)value, out);
		break;
	case SCHEMA_AMOUNT:
		print_amount(f, value, out);
		break;
	case SCHEMA_CUSTOM:
		f->custom->print(value, out);
		break;
	case SCHEMA_MAP:
	case SCHEMA_LIST:
		break;
	}
}

/*
 * One character within double quotes; what acts is escaped, and what YAML
 * forbids there with it.
 */
static size_t print_quoted(const char *text, struct strbuf *out)
{
	size_t len = utf8_length(text);

	if (len == 0)
		len = 1; /* libyaml lets no such text pass */
	unsigned code = utf8_acts(text);

	if (*text == '"' || *text == '\\')
		strbuf_printf(out, "\\%c", *text);
	else if (code)
		strbuf_printf(out, code < 0xa0 ? "\\x%02x" : "\\u%04x", code);
	else
		strbuf_add(out, text, len);
	return len;
}

/* Plain where YAML can only read it as this text, else in double quotes. */
static void print_scalar(const char *text, struct strbuf *out)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+-:, ";
	size_t len = strlen(text);
	bool plain = len > 0 && strspn(text, safe) == len && !strchr(" ,%:.-+", text[0]) &&
		     text[len - 1] != ' ' && text[len - 1] != ':' && !strstr(text, ": ");

	if (plain) {
		strbuf_puts(out, text);
		return;
	}
	strbuf_putc(out, '"');
	while (*text)
		text += print_quoted(text, out);
	strbuf_putc(out, '"');
}

/* Several lines that YAML's literal style gives back as they are. */
static bool is_block(const char *text)
{
	size_t len = strlen(text);

	if (len < 2 || text[len - 1] != '\n' || text[len - 2] == '\n' || strchr(" \t\n", text[0]))
		return false;
	while (*text) {
		size_t one = utf8_length(text);

		if (one == 0 || (utf8_acts(text) && !strchr("\n\t", *text)))
			return false;
		text += one;
	}
	return true;
}

static void print_block(const char *text, unsigned depth, struct strbuf *out)
{
	while (*text) {
		size_t line = strcspn(text, "\n");

		if (line)
			strbuf_pad(out, ' ', (size_t)depth * INDENT);
		strbuf_add(out, text, line + 1);
		text += line + 1;
	}
}

struct printer {
	const struct schema_row *table;
	struct strbuf *out;
	bool notes;
	bool item; /* the next line opens a list item */
};

static void print_note(const struct printer *p, const struct schema_row *f, size_t line_start)
{
	size_t width = p->out->len - line_start;

	if (p->notes) {
		strbuf_pad(p->out, ' ', width < NOTE_COLUMN ? NOTE_COLUMN - width : 1);
		strbuf_printf(p->out, "# %s", f->help);
	}
	strbuf_putc(p->out, '\n');
}

/* "  name:" or "- name:"; returns where the line starts. */
static size_t print_key(struct printer *p, const struct schema_row *f, unsigned depth)
{
	size_t start = p->out->len;

	strbuf_pad(p->out, ' ', (size_t)depth * INDENT);
	if (p->item) {
		p->out->text[p->out->len - 2] = '-';
		p->item = false;
	}
	schema_spell(schema_name(f), p->out);
	strbuf_putc(p->out, ':');
	return start;
}

static void print_fields(struct printer *p, const struct schema_row *parent, const void *base,
			 unsigned depth);

static void print_list(struct printer *p, const struct schema_row *f, const void *base,
		       unsigned depth)
{
	size_t n = *(const size_t *)((const char *)base + f->count);
	const char *items = *(char *const *)((const char *)base + f->offset);
	size_t start = print_key(p, f, depth);

	if (n == 0)
		strbuf_puts(p->out, " []");
	print_note(p, f, start);
	for (size_t i = 0; i < n; i++) {
		p->item = true;
		print_fields(p, f, items + i * f->item_size, depth + 2);
	}
}

static void print_params(struct printer *p, const struct schema_row *parent, const void *base,
			 unsigned depth)
{
	const struct option *tables[SCHEMA_MAX_TABLES + 1] = { NULL };
	const struct schema_params *params =
		(const struct schema_params *)((const char *)base + parent->offset);

	parent->params(base, tables);
	for (size_t t = 0; tables[t]; t++) {
		for (const struct option *o = tables[t]; o->name; o++) {
			struct schema_row row = { .path = o->name, .help = o->help };
			const char *text = schema_param_text(params, o);

			if (!text)
				continue;
			size_t start = print_key(p, &row, depth);

			strbuf_putc(p->out, ' ');
			print_scalar(text, p->out);
			print_note(p, &row, start);
		}
	}
}

static void print_map(struct printer *p, const struct schema_row *f, const void *base,
		      unsigned depth)
{
	size_t start = print_key(p, f, depth);
	size_t after_key = p->out->len;

	print_note(p, f, start);
	size_t after_line = p->out->len;

	print_fields(p, f, base, depth + 1);
	if (f->params)
		print_params(p, f, base, depth + 1);
	if (p->out->len == after_line) {
		p->out->len = after_key;
		strbuf_puts(p->out, " {}");
		print_note(p, f, start);
	}
}

static void print_field(struct printer *p, const struct schema_row *f, const void *base,
			unsigned depth)
{
	const void *value = (const char *)base + f->offset;
	struct strbuf text = STRBUF_INIT;
	size_t start;

	if (f->type == SCHEMA_LIST) {
		print_list(p, f, base, depth);
		return;
	}
	if (f->type == SCHEMA_TEXT && !*(char *const *)value)
		return;
	if (f->type == SCHEMA_MAP) {
		print_map(p, f, base, depth);
		return;
	}
	start = print_key(p, f, depth);
	print_value(f, value, &text);
	bool block = is_block(text.text);

	strbuf_putc(p->out, ' ');
	if (block)
		strbuf_putc(p->out, '|');
	else
		print_scalar(text.text, p->out);
	print_note(p, f, start);
	if (block)
		print_block(text.text, depth + 1, p->out);
	strbuf_fini(&text);
}

static void print_fields(struct printer *p, const struct schema_row *parent, const void *base,
			 unsigned depth)
{
	for (const struct schema_row *f = schema_next_child(p->table, parent, NULL); f;
	     f = schema_next_child(p->table, parent, f)) {
		if (schema_applies(p->table, f, base))
			print_field(p, f, base, depth);
	}
}

void schema_print(const struct schema_row *table, const void *root, bool notes, struct strbuf *out)
{
	struct printer p = { .table = table, .out = out, .notes = notes };

	print_fields(&p, NULL, root, 0);
}

static const char *type_text(enum schema_type type)
{
	switch (type) {
	case SCHEMA_MAP:
		return "a mapping";
	case SCHEMA_LIST:
		return "a list of mappings";
	case SCHEMA_TEXT:
		return "text";
	case SCHEMA_UINT:
		return "a whole number";
	case SCHEMA_REAL:
		return "a number";
	case SCHEMA_BOOL:
		return "true or false";
	case SCHEMA_TIME:
		return "a time (e.g. 20ns)";
	case SCHEMA_RATE:
		return "a rate (e.g. 2.5Gb/s, 4x HDR)";
	case SCHEMA_SIZE:
		return "a size (e.g. 256, 4KiB)";
	case SCHEMA_SHARE:
		return "a share (e.g. 20%)";
	case SCHEMA_CHOICE:
	case SCHEMA_AMOUNT:
	case SCHEMA_CUSTOM:
		break;
	}
	return "";
}

static void describe_choices(const char *const *choices, struct strbuf *out)
{
	for (size_t i = 0; choices[i]; i++)
		strbuf_printf(out, "%s%s",
			      i == 0           ? ""
			      : choices[i + 1] ? ", "
					       : " or ",
			      choices[i]);
}

void schema_describe(const struct schema_row *f, struct strbuf *out)
{
	if (f->type == SCHEMA_CHOICE || (f->type == SCHEMA_UINT && f->choices))
		describe_choices(f->choices, out);
	else if (f->type == SCHEMA_CUSTOM)
		strbuf_puts(out, f->custom->what);
	else if (f->type == SCHEMA_AMOUNT)
		strbuf_puts(out, type_text(f->base));
	else
		strbuf_puts(out, type_text(f->type));
	if (f->type == SCHEMA_AMOUNT) {
		for (size_t i = 0; f->choices[i]; i++)
			strbuf_printf(out, " or '4 %s'", f->choices[i]);
	}
	if (f->word)
		strbuf_printf(out, " or '%s'", f->word);
}

static void man_field(const struct schema_row *f, struct strbuf *out)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_puts(out, ".TP\n.B ");
	option_man_text(out, f->path);
	strbuf_puts(out, "\n");
	strbuf_printf(&text, "%c%s.",
		      f->help[0] >= 'a' && f->help[0] <= 'z' ? f->help[0] - 32 : f->help[0],
		      f->help + 1);
	if (f->type != SCHEMA_MAP && f->type != SCHEMA_LIST) {
		strbuf_puts(&text, " Expects ");
		schema_describe(f, &text);
		if (f->low && f->high)
			strbuf_printf(&text, ", %s to %s", f->low, f->high);
		else if (f->low)
			strbuf_printf(&text, ", at least %s", f->low);
		else if (f->high)
			strbuf_printf(&text, ", at most %s", f->high);
		if (f->initial)
			strbuf_printf(&text, "; default: %s.", f->initial);
		else
			strbuf_puts(&text, f->optional ? "; may be absent." : "; required.");
	}
	option_man_text(out, text.text);
	strbuf_puts(out, "\n");
	strbuf_fini(&text);
}

void schema_man(const struct schema_row *table, struct strbuf *out)
{
	for (const struct schema_row *f = NULL; (f = schema_after(table, f));)
		man_field(f, out);
}
