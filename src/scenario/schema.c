/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define MAX_SIBLINGS 64

struct reader {
	const struct schema_row *table;
	struct document *doc;
	struct diag *d;
	struct schema_places *places;
};

/* Room for one value of any type that has a range. */
union plain {
	uint64_t whole;
	double real;
	struct hd_rate rate;
	struct hd_ratio share;
	struct schema_amount amount; /* cppcheck-suppress unusedStructMember */
};

const char *schema_name(const struct schema_row *f)
{
	const char *dot = strrchr(f->path, '.');

	return dot ? dot + 1 : f->path;
}

const struct schema_row *schema_find(const struct schema_row *table,
				     const char *path, size_t len)
{
	for (const struct schema_row *f = table; f->path; f++) {
		if (strncmp(f->path, path, len) == 0 && !f->path[len])
			return f;
	}
	return NULL;
}

void schema_spell(const char *name, struct strbuf *out)
{
	for (; *name; name++)
		strbuf_putc(out, *name == '-' ? '_' : *name);
}

static bool is_child(const struct schema_row *parent,
		     const struct schema_row *f)
{
	const char *rest = f->path;

	if (parent) {
		size_t len = strlen(parent->path);
		const char *link = parent->type == SCHEMA_LIST ? "[]." : ".";

		if (strncmp(rest, parent->path, len) != 0 ||
		    strncmp(rest + len, link, strlen(link)) != 0)
			return false;
		rest += len + strlen(link);
	}
	return !strchr(rest, '.');
}

const struct schema_row *schema_next_child(const struct schema_row *table,
					   const struct schema_row *parent,
					   const struct schema_row *after)
{
	for (const struct schema_row *f = after ? after + 1 : table; f->path;
	     f++) {
		if (is_child(parent, f))
			return f;
	}
	return NULL;
}

bool schema_applies(const struct schema_row *table, const struct schema_row *f,
		    const void *base)
{
	if (!f->when)
		return true;
	const struct schema_row *choice =
		schema_find(table, f->when, strlen(f->when));

	assert(choice && choice->type == SCHEMA_CHOICE);
	if (!schema_applies(table, choice, base))
		return false;
	unsigned value =
		*(const unsigned *)((const char *)base + choice->offset);

	return f->only >> value & 1;
}

HD_PRINTF(3, 4)
static enum hd_status refuse(const struct reader *r, const yaml_node_t *node,
			     const char *format, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	enum hd_status status = diag_fail_at(
		r->d, HD_ERR_INPUT, (unsigned)node->start_mark.line + 1,
		(unsigned)node->start_mark.column + 1, "%s", text.text);

	strbuf_fini(&text);
	return status;
}

static void note_place(const struct reader *r, const yaml_node_t *node,
		       const void *field, size_t size)
{
	struct schema_places *p = r->places;

	p->items = hd_grow(p->items, &p->cap, p->n + 1, sizeof(*p->items));
	p->items[p->n++] = (struct schema_place){
		.field = field,
		.size = size,
		.line = (unsigned)node->start_mark.line + 1,
		.column = (unsigned)node->start_mark.column + 1,
	};
}

const struct schema_place *schema_place_of(const struct schema_places *places,
					   const void *field)
{
	const struct schema_place *best = NULL;

	for (size_t i = 0; i < places->n; i++) {
		const struct schema_place *p = &places->items[i];
		const char *start = p->field;

		if ((const char *)field < start ||
		    (const char *)field >= start + p->size)
			continue;
		if (!best || p->size < best->size)
			best = p;
	}
	return best;
}

static const char *const bool_words[] = { "false", "true", "no",
					  "yes",   "off",  "on" };

static enum hd_status parse_bool(const char *text, struct diag *d, bool *out)
{
	for (unsigned i = 0; i < sizeof(bool_words) / sizeof(*bool_words);
	     i++) {
		if (strcmp(text, bool_words[i]) == 0) {
			*out = i & 1;
			return HD_OK;
		}
	}
	return diag_fail(d, HD_ERR_INPUT, "'%.80s' is neither true nor false",
			 text);
}

/*
 * Comparing costs as much as the word is long, and no field has a long name;
 * nothing is near a single letter or digit.
 */
static const char *nearest_of(const char *word, const char *const *names,
			      size_t n)
{
	return strlen(word) > 1 && strlen(word) <= 64
		       ? text_nearest(word, names, n)
		       : NULL;
}

static void list_choices(const char *const *choices, struct strbuf *out)
{
	for (size_t i = 0; choices[i]; i++)
		strbuf_printf(out, "%s%s", i ? ", " : "", choices[i]);
}

static enum hd_status refuse_choice(const char *text,
				    const char *const *choices, struct diag *d)
{
	struct strbuf expected = STRBUF_INIT;
	size_t n = 0;

	while (choices[n])
		n++;
	const char *nearest = nearest_of(text, choices, n);

	list_choices(choices, &expected);
	enum hd_status status =
		nearest ? diag_fail(
				  d, HD_ERR_INPUT,
				  "'%.80s' is none of %s (did you mean '%s'?)",
				  text, expected.text, nearest)
			: diag_fail(d, HD_ERR_INPUT, "'%.80s' is none of %s",
				    text, expected.text);

	strbuf_fini(&expected);
	return status;
}

static enum hd_status parse_choice(const struct schema_row *f, const char *text,
				   struct diag *d, unsigned *out)
{
	for (unsigned i = 0; f->choices[i]; i++) {
		if (strcmp(f->choices[i], text) == 0) {
			*out = i;
			return HD_OK;
		}
	}
	return refuse_choice(text, f->choices, d);
}

static enum hd_status parse_base(enum schema_type type, const char *text,
				 struct diag *d, uint64_t *out)
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
	return word > 0 && unit[word - 1] == 's' &&
	       strncmp(text, unit, word - 1) == 0 &&
	       strcmp(text + word - 1, unit + word) == 0;
}

/* "4 packets": the number of the unit after the blanks, 0 if none. */
static unsigned amount_unit(const struct schema_row *f, const char *text,
			    size_t *number_len)
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

static enum hd_status parse_amount(const struct schema_row *f, const char *text,
				   struct diag *d, struct schema_amount *out)
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
		*(struct hd_ratio *)value =
			(struct hd_ratio){ f->word_value, 1 };
		break;
	case SCHEMA_AMOUNT:
		*(struct schema_amount *)value =
			(struct schema_amount){ f->word_value, 0 };
		break;
	default:
		*(uint64_t *)value = f->word_value;
	}
}

static enum hd_status parse_value(const struct schema_row *f, const char *text,
				  struct diag *d, void *value)
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
	return diag_fail(d, HD_ERR_INPUT, "a mapping or list is no value");
}

/* Sign of value - bound, for the types that may have a range. */
static int compare(const struct schema_row *f, const union plain *value,
		   const union plain *bound)
{
	switch (f->type) {
	case SCHEMA_REAL:
		return (value->real > bound->real) -
		       (value->real < bound->real);
	case SCHEMA_RATE:
		return hd_rate_compare(value->rate, bound->rate);
	case SCHEMA_SHARE:
		return hd_rate_compare(
			(struct hd_rate){ value->share.num, value->share.den },
			(struct hd_rate){ bound->share.num, bound->share.den });
	default:
		return (value->whole > bound->whole) -
		       (value->whole < bound->whole);
	}
}

static bool beyond(const struct schema_row *f, const char *bound_text,
		   const union plain *value, int sign)
{
	union plain bound = { 0 };

	if (!bound_text)
		return false;
	/* Bounds of an amount hold in whatever unit it was written. */
	enum hd_status status =
		f->type == SCHEMA_AMOUNT
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
		return diag_fail(d, HD_ERR_RANGE,
				 "'%.80s' is out of range (%s to %s)", text,
				 f->low, f->high);
	return diag_fail(d, HD_ERR_RANGE, "'%.80s' is out of range (%s %s)",
			 text, f->low ? "at least" : "at most",
			 f->low ? f->low : f->high);
}

/* SCHEMA_UINT with `choices`: one of these numbers and no other. */
static enum hd_status check_set(const struct schema_row *f, const char *text,
				struct diag *d)
{
	for (size_t i = 0; f->choices[i]; i++) {
		if (strcmp(f->choices[i], text) == 0)
			return HD_OK;
	}
	return refuse_choice(text, f->choices, d);
}

static size_t value_size(const struct schema_row *f)
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

static enum hd_status set_value(const struct schema_row *f, const char *text,
				struct diag *d, void *value)
{
	if (f->type == SCHEMA_CUSTOM || f->type == SCHEMA_TEXT ||
	    f->type == SCHEMA_BOOL || f->type == SCHEMA_CHOICE)
		return parse_value(f, text, d, value);

	union plain plain = { 0 };
	enum hd_status status = parse_value(f, text, d, &plain);

	if (status == HD_OK)
		status = check_range(f, text, &plain, d);
	if (status == HD_OK && f->type == SCHEMA_UINT && f->choices)
		status = check_set(f, text, d);
	if (status == HD_OK)
		memcpy(value, &plain, value_size(f));
	return status;
}

static const char *scalar_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* A list of values as one text with commas, if the field takes that. */
static enum hd_status join(const struct reader *r, const struct schema_row *f,
			   const yaml_node_t *node, struct strbuf *out)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;

	for (; item < node->data.sequence.items.top; item++) {
		const yaml_node_t *value = document_node(r->doc, *item);

		if (value->type != YAML_SCALAR_NODE)
			return refuse(r, value,
				      "%s: expected a value here, not %s",
				      f->path, document_kind(value));
		if (out->len)
			strbuf_putc(out, ',');
		strbuf_puts(out, scalar_text(value));
	}
	return HD_OK;
}

static enum hd_status read_text(const struct reader *r,
				const struct schema_row *f,
				const yaml_node_t *node, struct strbuf *out)
{
	if (node->type == YAML_SEQUENCE_NODE && f->joins)
		return join(r, f, node, out);
	if (node->type != YAML_SCALAR_NODE) {
		struct strbuf expected = STRBUF_INIT;

		schema_describe(f, &expected);
		enum hd_status status =
			refuse(r, node, "%s: expected %s, not %s", f->path,
			       expected.text, document_kind(node));

		strbuf_fini(&expected);
		return status;
	}
	if (!*scalar_text(node) &&
	    node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return refuse(r, node, "%s: no value", f->path);
	strbuf_puts(out, scalar_text(node));
	return HD_OK;
}

static enum hd_status read_value(const struct reader *r,
				 const struct schema_row *f,
				 const yaml_node_t *node, void *base)
{
	struct strbuf text = STRBUF_INIT;
	struct diag inner = { .status = HD_OK };
	void *value = (char *)base + f->offset;
	enum hd_status status = read_text(r, f, node, &text);

	if (status == HD_OK) {
		status = set_value(f, text.text, &inner, value);
		if (status != HD_OK)
			refuse(r, node, "%s: %s", f->path, inner.message);
	}
	strbuf_fini(&text);
	note_place(r, node, value, value_size(f));
	return status;
}

static void set_default(const struct schema_row *f, void *base)
{
	struct diag d = { .status = HD_OK };

	if (!f->initial)
		return;
	/* A row whose default is refused is a bug. */
	enum hd_status status =
		set_value(f, f->initial, &d, (char *)base + f->offset);

	assert(status == HD_OK);
	(void)status;
}

static enum hd_status read_field(const struct reader *r,
				 const struct schema_row *f,
				 const yaml_node_t *node,
				 const yaml_node_t *around, void *base);

/* "traffic[]" for items, "fabric.link", "the scenario" for the whole. */
static void print_where(const struct schema_row *parent, struct strbuf *out)
{
	if (!parent)
		strbuf_puts(out, "the scenario");
	else
		strbuf_printf(out, "%s%s", parent->path,
			      parent->type == SCHEMA_LIST ? "[]" : "");
}

static enum hd_status refuse_unknown(const struct reader *r,
				     const struct schema_row *parent,
				     const yaml_node_t *key,
				     const struct option *const *tables)
{
	const char *names[MAX_SIBLINGS];
	size_t n = 0;
	struct strbuf where = STRBUF_INIT, suggestion = STRBUF_INIT;

	for (const struct schema_row *f =
		     schema_next_child(r->table, parent, NULL);
	     f && n < MAX_SIBLINGS; f = schema_next_child(r->table, parent, f))
		names[n++] = schema_name(f);
	for (; tables && *tables; tables++) {
		for (const struct option *o = *tables;
		     o->name && n < MAX_SIBLINGS; o++)
			names[n++] = o->name;
	}
	const char *nearest = nearest_of(scalar_text(key), names, n);

	print_where(parent, &where);
	if (nearest)
		schema_spell(nearest, &suggestion);
	enum hd_status status =
		nearest ? refuse(r, key,
				 "unknown field '%.80s' in %s (did you mean '%s'?)",
				 scalar_text(key), where.text, suggestion.text)
			: refuse(r, key, "unknown field '%.80s' in %s",
				 scalar_text(key), where.text);

	strbuf_fini(&suggestion);
	strbuf_fini(&where);
	return status;
}

static const struct schema_row *child_named(const struct reader *r,
					    const struct schema_row *parent,
					    const char *name)
{
	for (const struct schema_row *f =
		     schema_next_child(r->table, parent, NULL);
	     f; f = schema_next_child(r->table, parent, f)) {
		if (strcmp(schema_name(f), name) == 0)
			return f;
	}
	return NULL;
}

static enum hd_status check_keys(const struct reader *r,
				 const struct schema_row *parent,
				 const yaml_node_t *map)
{
	const struct schema_row *seen[MAX_SIBLINGS];
	size_t n_seen = 0;
	const yaml_node_pair_t *pair = map->data.mapping.pairs.start;

	for (; pair < map->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = document_node(r->doc, pair->key);

		if (key->type != YAML_SCALAR_NODE)
			return refuse(r, key,
				      "expected the name of a field, not %s",
				      document_kind(key));
		const struct schema_row *f =
			child_named(r, parent, scalar_text(key));

		if (!f && parent && parent->params)
			continue; /* read_params looks at those */
		if (!f)
			return refuse_unknown(r, parent, key, NULL);
		for (size_t i = 0; i < n_seen; i++) {
			if (seen[i] == f)
				return refuse(r, key,
					      "field '%s' is there twice",
					      f->path);
		}
		assert(n_seen < MAX_SIBLINGS);
		seen[n_seen++] = f;
	}
	return HD_OK;
}

/* The value of a field in a mapping (or a shorthand); NULL if absent. */
static const yaml_node_t *value_of(const struct reader *r,
				   const struct schema_row *parent,
				   const yaml_node_t *map, const char *name)
{
	if (!map)
		return NULL;
	if (map->type == YAML_SCALAR_NODE)
		return strcmp(parent->shorthand, name) == 0 ? map : NULL;
	const yaml_node_pair_t *pair = map->data.mapping.pairs.start;

	for (; pair < map->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = document_node(r->doc, pair->key);

		if (strcmp(scalar_text(key), name) == 0)
			return document_node(r->doc, pair->value);
	}
	return NULL;
}

/* The option that a field name means: host_ports is "host-ports". */
static const struct option *option_of(const struct option *const *tables,
				      const char *name)
{
	char *dashed = hd_strdup(name);

	for (char *c = dashed; *c; c++) {
		if (*c == '_')
			*c = '-';
		else if (*c == '-')
			*c = '_';
	}
	const struct option *o = option_find(tables, dashed, strlen(dashed));

	free(dashed);
	return o;
}

/* Whether the text will do for the option, wherever its value is kept. */
static enum hd_status option_try(const struct option *o, const char *text,
				 struct diag *d)
{
	if (o->kind == OPT_LIST)
		return diag_fail(d, HD_ERR_INPUT, "cannot be given here");
	struct option here = *o;
	uint64_t scratch[4] = { 0 }; /* no kind of value is larger */

	here.offset = 0;
	return option_set(&here, scratch, text, d);
}

static bool has_param(const struct schema_params *params, const char *name)
{
	for (size_t i = 0; i < params->n; i++) {
		if (strcmp(params->items[i].name, name) == 0)
			return true;
	}
	return false;
}

static enum hd_status read_param(const struct reader *r,
				 const struct schema_row *parent,
				 const struct option *o,
				 const yaml_node_t *node,
				 struct schema_params *params)
{
	struct diag inner = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT, path = STRBUF_INIT;
	struct schema_row row = { .type = SCHEMA_TEXT, .joins = true };

	strbuf_printf(&path, "%s.", parent->path);
	schema_spell(o->name, &path);
	row.path = path.text;
	enum hd_status status =
		has_param(params, o->name)
			? refuse(r, node, "field '%s' is there twice", row.path)
			: read_text(r, &row, node, &text);

	if (status == HD_OK) {
		status = option_try(o, text.text, &inner);
		if (status != HD_OK)
			refuse(r, node, "%s: %s", row.path, inner.message);
	}
	if (status == HD_OK)
		params->items[params->n++] = (struct schema_param){
			.name = hd_strdup(o->name),
			.value = hd_strdup(text.text),
		};
	strbuf_fini(&text);
	strbuf_fini(&path);
	return status;
}

static enum hd_status read_params(const struct reader *r,
				  const struct schema_row *parent,
				  const yaml_node_t *map, void *base)
{
	const struct option *tables[SCHEMA_MAX_TABLES + 1] = { NULL };
	struct schema_params *params =
		(struct schema_params *)((char *)base + parent->offset);
	enum hd_status status = HD_OK;

	if (!map || map->type != YAML_MAPPING_NODE)
		return HD_OK;
	const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	const yaml_node_pair_t *top = map->data.mapping.pairs.top;

	parent->params(base, tables);
	params->items = hd_alloc((size_t)(top - pair), sizeof(*params->items));
	for (; pair < top && status == HD_OK; pair++) {
		const yaml_node_t *key = document_node(r->doc, pair->key);

		if (child_named(r, parent, scalar_text(key)))
			continue;
		const struct option *o = option_of(tables, scalar_text(key));

		if (!o)
			return refuse_unknown(r, parent, key, tables);
		status = read_param(r, parent, o,
				    document_node(r->doc, pair->value), params);
	}
	return status;
}

static enum hd_status read_map(const struct reader *r,
			       const struct schema_row *parent,
			       const yaml_node_t *map,
			       const yaml_node_t *around, void *base)
{
	enum hd_status status = HD_OK;
	bool is_short = map && map->type == YAML_SCALAR_NODE && parent &&
			parent->shorthand;

	if (map && map->type != YAML_MAPPING_NODE && !is_short) {
		struct strbuf where = STRBUF_INIT;

		print_where(parent, &where);
		status = refuse(r, map, "%s: expected a mapping, not %s",
				where.text, document_kind(map));
		strbuf_fini(&where);
		return status;
	}
	if (map && !is_short)
		status = check_keys(r, parent, map);
	for (const struct schema_row *f =
		     schema_next_child(r->table, parent, NULL);
	     f && status == HD_OK; f = schema_next_child(r->table, parent, f)) {
		const yaml_node_t *node =
			value_of(r, parent, map, schema_name(f));

		status = read_field(r, f, node, map ? map : around, base);
	}
	if (status == HD_OK && parent && parent->params)
		status = read_params(r, parent, map, base);
	return status;
}

static enum hd_status read_list(const struct reader *r,
				const struct schema_row *f,
				const yaml_node_t *node,
				const yaml_node_t *around, void *base)
{
	void **items = (void **)((char *)base + f->offset);
	size_t *count = (size_t *)((char *)base + f->count);
	enum hd_status status = HD_OK;

	if (!node && f->at_least)
		return refuse(r, around, "missing field '%s'", f->path);
	if (!node)
		return HD_OK;
	if (node->type != YAML_SEQUENCE_NODE)
		return refuse(r, node, "%s: expected a list, not %s", f->path,
			      document_kind(node));
	const yaml_node_item_t *start = node->data.sequence.items.start;
	size_t n = (size_t)(node->data.sequence.items.top - start);

	if (n < f->at_least)
		return refuse(r, node, "%s: expected at least one item",
			      f->path);
	*items = hd_alloc(n, f->item_size);
	for (size_t i = 0; i < n && status == HD_OK; i++) {
		const yaml_node_t *item = document_node(r->doc, start[i]);
		char *value = (char *)*items + i * f->item_size;

		*count = i + 1;
		note_place(r, item, value, f->item_size);
		status = read_map(r, f, item, node, value);
	}
	return status;
}

/* A field that a choice rules out, or a choice above that one. */
static enum hd_status refuse_idle(const struct reader *r,
				  const struct schema_row *f,
				  const yaml_node_t *node, const void *base)
{
	const struct schema_row *choice = f;

	do
		choice = schema_find(r->table, choice->when,
				     strlen(choice->when));
	while (!schema_applies(r->table, choice, base));
	unsigned value =
		*(const unsigned *)((const char *)base + choice->offset);

	return refuse(r, node, "'%s' has no meaning when %s is %s",
		      schema_name(f), choice->path, choice->choices[value]);
}

static enum hd_status read_field(const struct reader *r,
				 const struct schema_row *f,
				 const yaml_node_t *node,
				 const yaml_node_t *around, void *base)
{
	if (!schema_applies(r->table, f, base))
		return node ? refuse_idle(r, f, node, base) : HD_OK;
	if (f->type == SCHEMA_MAP)
		return read_map(r, f, node, around, base);
	if (f->type == SCHEMA_LIST)
		return read_list(r, f, node, around, base);
	if (node)
		return read_value(r, f, node, base);
	if (!f->initial && !f->optional)
		return refuse(r, around, "missing field '%s'", f->path);
	set_default(f, base);
	return HD_OK;
}

enum hd_status schema_read(const struct schema_row *table, struct document *doc,
			   struct diag *d, void *root,
			   struct schema_places *places)
{
	struct reader r = {
		.table = table, .doc = doc, .d = d, .places = places
	};
	const yaml_node_t *top = document_root(doc);

	return read_map(&r, NULL, top, top, root);
}

const char *schema_param_text(const struct schema_params *params,
			      const struct option *o)
{
	for (size_t i = 0; i < params->n; i++) {
		if (strcmp(params->items[i].name, o->name) == 0)
			return params->items[i].value;
	}
	return o->initial;
}

enum hd_status schema_params_apply(const struct schema_params *params,
				   const struct option *const *tables,
				   void *values, struct diag *d)
{
	options_set_initial(tables, values);
	for (size_t i = 0; i < params->n; i++) {
		const char *name = params->items[i].name;
		const struct option *o =
			option_find(tables, name, strlen(name));
		enum hd_status status =
			option_set(o, values, params->items[i].value, d);

		if (status != HD_OK)
			return status;
	}
	return HD_OK;
}

static void release_params(struct schema_params *params)
{
	for (size_t i = 0; i < params->n; i++) {
		free(params->items[i].name);
		free(params->items[i].value);
	}
	free(params->items);
}

static void release(const struct schema_row *table,
		    const struct schema_row *parent, void *base)
{
	for (const struct schema_row *f =
		     schema_next_child(table, parent, NULL);
	     f; f = schema_next_child(table, parent, f)) {
		void *value = (char *)base + f->offset;

		if (f->type == SCHEMA_TEXT)
			free(*(char **)value);
		else if (f->type == SCHEMA_CUSTOM && f->custom->release)
			f->custom->release(value);
		else if (f->type == SCHEMA_MAP)
			release(table, f, base);
		if (f->params)
			release_params(value);
		if (f->type != SCHEMA_LIST)
			continue;
		size_t n = *(size_t *)((char *)base + f->count);
		char *items = *(char **)value;

		for (size_t i = 0; i < n; i++)
			release(table, f, items + i * f->item_size);
		free(items);
	}
}

void schema_release(const struct schema_row *table, void *root)
{
	release(table, NULL, root);
}
