/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "scenario/scenario_internal.h"

#define MAX_SIBLINGS 64

struct schema_reader {
	const struct schema_row *table;
	struct document *doc;
	struct diag *d;
	const struct overrides *overrides;
	struct schema_places *places;
};

static enum hd_status refuse_at(const struct schema_reader *r, enum hd_status status,
				const yaml_node_t *node, const char *text)
{
	bool whole;
	const struct override *o = override_of(r->overrides, node, &whole);

	if (!o)
		return diag_fail_at(r->d, status, (unsigned)node->start_mark.line + 1,
				    (unsigned)node->start_mark.column + 1, "%s", text);
	r->d->file = NULL;
	return diag_fail(r->d, status, "%s: %s", o->label, text);
}

/* What an override says can be seen to be wrong without a file. */
HD_PRINTF(3, 4)
static enum hd_status refuse(const struct schema_reader *r, const yaml_node_t *node,
			     const char *format, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list args;
	bool whole;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	enum hd_status status =
		refuse_at(r, override_of(r->overrides, node, &whole) ? HD_ERR_USAGE : HD_ERR_INPUT,
			  node, text.text);

	strbuf_fini(&text);
	return status;
}

/* The same of a field's value; an override says which field it is. */
static enum hd_status refuse_value(const struct schema_reader *r, const char *path,
				   const yaml_node_t *node, const char *why)
{
	bool whole = false;

	return override_of(r->overrides, node, &whole) && whole
		       ? refuse(r, node, "%s", why)
		       : refuse(r, node, "%s: %s", path, why);
}

/* Refuses a missing field at its parent, from the file or from an override. */
static enum hd_status refuse_missing(const struct schema_reader *r, const struct schema_row *f,
				     const yaml_node_t *around)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "missing field '%s'", f->path);
	enum hd_status status = refuse_at(r, HD_ERR_INPUT, around, text.text);

	strbuf_fini(&text);
	return status;
}

static void note_place(const struct schema_reader *r, const yaml_node_t *node, const void *field,
		       size_t size)
{
	struct schema_places *p = r->places;

	bool whole;
	const struct override *o = override_of(r->overrides, node, &whole);

	p->items = hd_grow(p->items, &p->cap, p->n + 1, sizeof(*p->items));
	p->items[p->n++] = (struct schema_place){
		.field = field,
		.size = size,
		.label = o ? o->label : NULL,
		.line = o ? 0 : (unsigned)node->start_mark.line + 1,
		.column = o ? 0 : (unsigned)node->start_mark.column + 1,
	};
}

static const char *scalar_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* A list of values as one text with commas, if the field takes that. */
static enum hd_status join(const struct schema_reader *r, const struct schema_row *f,
			   const yaml_node_t *node, struct strbuf *out)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;

	for (; item < node->data.sequence.items.top; item++) {
		const yaml_node_t *value = document_node(r->doc, *item);

		if (value->type != YAML_SCALAR_NODE)
			return refuse(r, value, "%s: expected a value here, not %s", f->path,
				      document_kind(value));
		if (out->len)
			strbuf_putc(out, ',');
		strbuf_puts(out, scalar_text(value));
	}
	return HD_OK;
}

static enum hd_status read_text(const struct schema_reader *r, const struct schema_row *f,
				const yaml_node_t *node, struct strbuf *out)
{
	if (node->type == YAML_SEQUENCE_NODE && f->joins)
		return join(r, f, node, out);
	if (node->type != YAML_SCALAR_NODE) {
		struct strbuf expected = STRBUF_INIT;

		schema_describe(f, &expected);
		enum hd_status status = refuse(r, node, "%s: expected %s, not %s", f->path,
					       expected.text, document_kind(node));

		strbuf_fini(&expected);
		return status;
	}
	if (!*scalar_text(node) && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return refuse(r, node, "%s: no value", f->path);
	strbuf_puts(out, scalar_text(node));
	return HD_OK;
}

static enum hd_status read_value(const struct schema_reader *r, const struct schema_row *f,
				 const yaml_node_t *node, void *base)
{
	struct strbuf text = STRBUF_INIT;
	struct diag inner = { .status = HD_OK };
	void *value = (char *)base + f->offset;
	enum hd_status status = read_text(r, f, node, &text);

	if (status == HD_OK) {
		status = schema_value_set(f, text.text, &inner, value);
		if (status != HD_OK)
			status = refuse_value(r, f->path, node, inner.message);
	}
	strbuf_fini(&text);
	note_place(r, node, value, schema_value_size(f));
	return status;
}

static void set_default(const struct schema_row *f, void *base)
{
	struct diag d = { .status = HD_OK };

	if (!f->initial)
		return;
	/* A row whose default is refused is a bug. */
	enum hd_status status = schema_value_set(f, f->initial, &d, (char *)base + f->offset);

	assert(status == HD_OK);
	(void)status;
}

static enum hd_status read_field(const struct schema_reader *r, const struct schema_row *f,
				 const yaml_node_t *node, const yaml_node_t *around, void *base);

/* "traffic[]" for items, "fabric.link", what the document is for the whole. */
static void print_where(const struct schema_reader *r, const struct schema_row *parent,
			struct strbuf *out)
{
	if (!parent)
		strbuf_puts(out, r->doc->what);
	else
		strbuf_printf(out, "%s%s", parent->path, parent->type == SCHEMA_LIST ? "[]" : "");
}

/* Permitted names; names that do not fit on the line are omitted. */
static void list_names(const char *const *names, size_t n, struct strbuf *out)
{
	enum { ROOM = 280 };

	for (size_t i = 0; i < n; i++) {
		strbuf_puts(out, i ? ", " : " (known: ");
		if (out->len > ROOM) {
			strbuf_puts(out, "...");
			break;
		}
		schema_spell(names[i], out);
	}
	if (n)
		strbuf_putc(out, ')');
}

static enum hd_status refuse_unknown(const struct schema_reader *r, const struct schema_row *parent,
				     const yaml_node_t *key, const struct option *const *tables)
{
	const char *names[MAX_SIBLINGS];
	size_t n = 0;
	struct strbuf where = STRBUF_INIT, hint = STRBUF_INIT;

	for (const struct schema_row *f = schema_next_child(r->table, parent, NULL);
	     f && n < MAX_SIBLINGS; f = schema_next_child(r->table, parent, f))
		names[n++] = schema_name(f);
	for (; tables && *tables; tables++) {
		for (const struct option *o = *tables; o->name && n < MAX_SIBLINGS; o++)
			names[n++] = o->name;
	}
	const char *nearest = schema_nearest(scalar_text(key), names, n);

	print_where(r, parent, &where);
	if (nearest) {
		struct strbuf name = STRBUF_INIT;

		schema_spell(nearest, &name);
		strbuf_puts(&hint, text_hint(name.text).text);
		strbuf_fini(&name);
	} else {
		list_names(names, n, &hint);
	}
	enum hd_status status = refuse(r, key, "unknown field '%.80s' in %s%s", scalar_text(key),
				       where.text, hint.text);

	strbuf_fini(&hint);
	strbuf_fini(&where);
	return status;
}

static const struct schema_row *child_named(const struct schema_reader *r,
					    const struct schema_row *parent, const char *name)
{
	return schema_child_named(r->table, parent, name);
}

static enum hd_status check_keys(const struct schema_reader *r, const struct schema_row *parent,
				 const yaml_node_t *map)
{
	const struct schema_row *seen[MAX_SIBLINGS];
	size_t n_seen = 0;
	const yaml_node_pair_t *pair = map->data.mapping.pairs.start;

	for (; pair < map->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = document_node(r->doc, pair->key);

		if (key->type != YAML_SCALAR_NODE)
			return refuse(r, key, "expected the name of a field, not %s",
				      document_kind(key));
		const struct schema_row *f = child_named(r, parent, scalar_text(key));

		if (!f && parent && parent->params)
			continue; /* read_params looks at those */
		if (!f)
			return refuse_unknown(r, parent, key, NULL);
		for (size_t i = 0; i < n_seen; i++) {
			if (seen[i] == f)
				return refuse(r, key, "field '%s' is there twice", f->path);
		}
		assert(n_seen < MAX_SIBLINGS);
		seen[n_seen++] = f;
	}
	return HD_OK;
}

/* The value of a field in a mapping (or a shorthand); NULL if absent. */
static const yaml_node_t *value_of(const struct schema_reader *r, const struct schema_row *parent,
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
static const struct option *option_of(const struct option *const *tables, const char *name)
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
static enum hd_status option_try(const struct option *o, const char *text, struct diag *d)
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

static enum hd_status read_param(const struct schema_reader *r, const struct schema_row *parent,
				 const struct option *o, const yaml_node_t *node,
				 struct schema_params *params)
{
	struct diag inner = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT, path = STRBUF_INIT;
	struct schema_row row = { .type = SCHEMA_TEXT, .joins = true };

	strbuf_printf(&path, "%s.", parent->path);
	schema_spell(o->name, &path);
	row.path = path.text;
	enum hd_status status = has_param(params, o->name)
					? refuse(r, node, "field '%s' is there twice", row.path)
					: read_text(r, &row, node, &text);

	if (status == HD_OK) {
		status = option_try(o, text.text, &inner);
		if (status != HD_OK)
			status = refuse_value(r, row.path, node, inner.message);
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

static enum hd_status read_params(const struct schema_reader *r, const struct schema_row *parent,
				  const yaml_node_t *map, void *base)
{
	const struct option *tables[SCHEMA_MAX_TABLES + 1] = { NULL };
	struct schema_params *params = (struct schema_params *)((char *)base + parent->offset);
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
		status = read_param(r, parent, o, document_node(r->doc, pair->value), params);
	}
	return status;
}

static enum hd_status read_map(const struct schema_reader *r, const struct schema_row *parent,
			       const yaml_node_t *map, const yaml_node_t *around, void *base)
{
	enum hd_status status = HD_OK;
	bool is_short = map && map->type == YAML_SCALAR_NODE && parent && parent->shorthand;

	if (map && map->type != YAML_MAPPING_NODE && !is_short) {
		struct strbuf where = STRBUF_INIT;

		print_where(r, parent, &where);
		status = refuse(r, map, "%s: expected a mapping, not %s", where.text,
				document_kind(map));
		strbuf_fini(&where);
		return status;
	}
	if (map && !is_short)
		status = check_keys(r, parent, map);
	for (const struct schema_row *f = schema_next_child(r->table, parent, NULL);
	     f && status == HD_OK; f = schema_next_child(r->table, parent, f)) {
		const yaml_node_t *node = value_of(r, parent, map, schema_name(f));

		status = read_field(r, f, node, map ? map : around, base);
	}
	if (status == HD_OK && parent && parent->params)
		status = read_params(r, parent, map, base);
	return status;
}

/* A bare value in place of a list belongs to the field before it (its shorthand). */
static enum hd_status read_shorthand(const struct schema_reader *r, const struct schema_row *f,
				     const yaml_node_t *node, void *base)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%.*s%s", (int)(strlen(f->path) - strlen(schema_name(f))), f->path,
		      f->shorthand);
	const struct schema_row *meant = schema_find(r->table, path.text, path.len);

	strbuf_fini(&path);
	if (*(char *const *)((const char *)base + meant->offset))
		return refuse(r, node, "%s: %s is there too", f->path, meant->path);
	return read_value(r, meant, node, base);
}

static enum hd_status read_list(const struct schema_reader *r, const struct schema_row *f,
				const yaml_node_t *node, const yaml_node_t *around, void *base)
{
	void **items = (void **)((char *)base + f->offset);
	size_t *count = (size_t *)((char *)base + f->count);
	enum hd_status status = HD_OK;

	if (!node && f->at_least)
		return refuse_missing(r, f, around);
	if (!node)
		return HD_OK;
	if (node->type == YAML_SCALAR_NODE && f->shorthand)
		return read_shorthand(r, f, node, base);
	if (node->type != YAML_SEQUENCE_NODE)
		return refuse(r, node, "%s: expected a list, not %s", f->path, document_kind(node));
	const yaml_node_item_t *start = node->data.sequence.items.start;
	size_t n = (size_t)(node->data.sequence.items.top - start);

	if (n < f->at_least)
		return refuse(r, node, "%s: expected at least one item", f->path);
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
static enum hd_status refuse_idle(const struct schema_reader *r, const struct schema_row *f,
				  const yaml_node_t *node, const void *base)
{
	const struct schema_row *choice = f;

	do
		choice = schema_find(r->table, choice->when, strlen(choice->when));
	while (!schema_applies(r->table, choice, base));
	unsigned value = *(const unsigned *)((const char *)base + choice->offset);

	struct strbuf text = STRBUF_INIT;

	/* Of two fields, wherever they are written. */
	strbuf_printf(&text, "'%s' has no meaning when %s is %s", schema_name(f), choice->path,
		      choice->choices[value]);
	enum hd_status status = refuse_at(r, HD_ERR_INPUT, node, text.text);

	strbuf_fini(&text);
	return status;
}

static enum hd_status read_field(const struct schema_reader *r, const struct schema_row *f,
				 const yaml_node_t *node, const yaml_node_t *around, void *base)
{
	if (!schema_applies(r->table, f, base))
		return node ? refuse_idle(r, f, node, base) : HD_OK;
	if (f->type == SCHEMA_MAP) {
		if (node && f->item_size)
			note_place(r, node, (char *)base + f->offset, f->item_size);
		return read_map(r, f, node, around, base);
	}
	if (f->type == SCHEMA_LIST)
		return read_list(r, f, node, around, base);
	if (node)
		return read_value(r, f, node, base);
	if (!f->initial && !f->optional)
		return refuse_missing(r, f, around);
	set_default(f, base);
	return HD_OK;
}

enum hd_status schema_read(const struct schema_row *table, struct document *doc,
			   const struct overrides *overrides, struct diag *d, void *root,
			   struct schema_places *places)
{
	struct schema_reader r = {
		.table = table, .doc = doc, .overrides = overrides, .d = d, .places = places
	};
	enum hd_status status = overrides_apply(overrides, table, doc, d);
	const yaml_node_t *top = document_root(doc);

	assert(top); /* as document_load leaves it */
	return status == HD_OK ? read_map(&r, NULL, top, top, root) : status;
}
