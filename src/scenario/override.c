/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/override.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/text.h"
#include "scenario/scenario_internal.h"

/* Nodes of override i are on line SIZE_MAX - i, where no file has any. */
#define MAX_OVERRIDES ((size_t)1 << 20)

void overrides_fini(struct overrides *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->items[i].label);
		free(o->items[i].path);
		free(o->items[i].value);
	}
	free(o->items);
	*o = (struct overrides){ 0 };
}

static void put(struct overrides *o, struct override item)
{
	o->items = hd_grow(o->items, &o->cap, o->n + 1, sizeof(*o->items));
	o->items[o->n++] = item;
}

void overrides_copy(const struct overrides *from, struct overrides *to)
{
	for (size_t i = 0; from && i < from->n; i++)
		put(to, (struct override){ .label = hd_strdup(from->items[i].label),
					   .path = hd_strdup(from->items[i].path),
					   .value = hd_strdup(from->items[i].value) });
}

void overrides_put(struct overrides *o, const char *label, const char *path, const char *format,
		   ...)
{
	struct strbuf value = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&value, format, args);
	va_end(args);
	put(o, (struct override){ .label = hd_strdup(label),
				  .path = hd_strdup(path),
				  .value = strbuf_detach(&value) });
}

enum hd_status overrides_add(struct overrides *o, const char *text, struct diag *d)
{
	const char *equals = strchr(text, '=');
	struct strbuf label = STRBUF_INIT;

	if (!equals || equals == text)
		return diag_fail(d, HD_ERR_USAGE, "--set takes PATH=VALUE, not '%.80s'", text);
	if (o->n == MAX_OVERRIDES)
		return diag_fail(d, HD_ERR_USAGE, "too many --set");
	strbuf_puts(&label, "--set ");
	strbuf_add(&label, text, (size_t)(equals - text));
	put(o, (struct override){ .label = strbuf_detach(&label),
				  .path = hd_strndup(text, (size_t)(equals - text)),
				  .value = hd_strdup(equals + 1) });
	return HD_OK;
}

const struct override *override_of(const struct overrides *o, const yaml_node_t *node, bool *whole)
{
	size_t i = SIZE_MAX - node->start_mark.line;

	if (i >= MAX_OVERRIDES || !o || i >= o->n)
		return NULL;
	*whole = node->start_mark.column == 0;
	return &o->items[i];
}

/* One override on its way through the file. Nodes are indices: they move. */
struct override_walk {
	yaml_document_t *yaml;
	const struct schema_row *table;
	const struct override *o;
	size_t number;
	const char *rest; /* of the path */
	struct diag *d;
};

static yaml_node_t *node_at(const struct override_walk *w, int index)
{
	return yaml_document_get_node(w->yaml, index);
}

/* Marks a new node as this override's; `whole`: all of its value. */
static int mark(const struct override_walk *w, int index, bool whole)
{
	if (!index)
		memory_refused(0); /* libyaml's only reason */
	yaml_node_t *node = node_at(w, index);

	node->start_mark.line = SIZE_MAX - w->number;
	node->start_mark.column = !whole;
	return index;
}

static int add_scalar(const struct override_walk *w, const char *text, bool whole)
{
	/* Quoted: an empty one is an empty text, not a missing value. */
	return mark(w,
		    yaml_document_add_scalar(w->yaml, NULL, (const yaml_char_t *)text,
					     (int)strlen(text), YAML_DOUBLE_QUOTED_SCALAR_STYLE),
		    whole);
}

static int add_mapping(const struct override_walk *w)
{
	return mark(w, yaml_document_add_mapping(w->yaml, NULL, YAML_ANY_MAPPING_STYLE), true);
}

static int add_sequence(const struct override_walk *w)
{
	return mark(w, yaml_document_add_sequence(w->yaml, NULL, YAML_ANY_SEQUENCE_STYLE), true);
}

static void append_pair(const struct override_walk *w, int map, int key, int value)
{
	if (!yaml_document_append_mapping_pair(w->yaml, map, key, value))
		memory_refused(0);
}

static void append_item(const struct override_walk *w, int list, int item)
{
	if (!yaml_document_append_sequence_item(w->yaml, list, item))
		memory_refused(0);
}

/* A copy of a node of another document. */
static int graft(const struct override_walk *w, struct document *from, int index)
{
	const yaml_node_t *node = document_node(from, index);

	if (node->type == YAML_SCALAR_NODE)
		return add_scalar(w, (const char *)node->data.scalar.value, false);
	bool list = node->type == YAML_SEQUENCE_NODE;
	int copy = list ? add_sequence(w) : add_mapping(w);

	node_at(w, copy)->start_mark.column = 1;
	for (const yaml_node_item_t *i = node->data.sequence.items.start;
	     list && i < node->data.sequence.items.top; i++)
		append_item(w, copy, graft(w, from, *i));
	for (const yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     !list && p < node->data.mapping.pairs.top; p++) {
		int key = graft(w, from, p->key);

		append_pair(w, copy, key, graft(w, from, p->value));
	}
	return copy;
}

/* YAML where the field takes more than a text, else the text as it is. */
static enum hd_status add_value(const struct override_walk *w, const struct schema_row *f, int *out)
{
	const char *text = w->o->value;
	bool open = !f || f->type == SCHEMA_MAP || f->type == SCHEMA_LIST;
	bool yaml = (*text == '{' && open) || (*text == '[' && (open || f->joins));
	struct document doc;

	if (!yaml) {
		*out = add_scalar(w, text, true);
		return HD_OK;
	}
	enum hd_status status = document_load(text, strlen(text), "the value", w->d, &doc);

	if (status != HD_OK)
		return status;
	*out = graft(w, &doc, 1);
	document_fini(&doc);
	return HD_OK;
}

/* The next part of the path: up to a dot, or the text in brackets. */
static char *next_part(struct override_walk *w)
{
	size_t len = strcspn(w->rest, ".[");
	char *part = hd_strndup(w->rest, len);

	if (len && part[len - 1] == ']')
		part[len - 1] = '\0';
	w->rest += len;
	if (*w->rest)
		w->rest++;
	return part;
}

static yaml_node_pair_t *pair_named(const struct override_walk *w, int map, const char *name)
{
	const yaml_node_t *node = node_at(w, map);

	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
	     p++) {
		const yaml_node_t *key = node_at(w, p->key);

		if (key->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)key->data.scalar.value, name) == 0)
			return p;
	}
	return NULL;
}

static void set_pair(const struct override_walk *w, int map, const char *name, int value)
{
	yaml_node_pair_t *pair = pair_named(w, map, name);

	if (pair)
		pair->value = value;
	else
		append_pair(w, map, add_scalar(w, name, true), value);
}

static void remove_pair(const struct override_walk *w, int map, const char *name)
{
	yaml_node_pair_t *pair = pair_named(w, map, name);
	yaml_node_t *node = node_at(w, map);

	if (!pair)
		return;
	memmove(pair, pair + 1, (size_t)(node->data.mapping.pairs.top - pair - 1) * sizeof(*pair));
	node->data.mapping.pairs.top--;
}

/* Expands the shorthand of a mapping to the mapping. */
static int spell_out(const struct override_walk *w, const struct schema_row *f, int index)
{
	if (node_at(w, index)->type != YAML_SCALAR_NODE || !f->shorthand)
		return index;
	int map = add_mapping(w);
	int key = add_scalar(w, f->shorthand, true);

	append_pair(w, map, key, index);
	return map;
}

static bool item_is_named(const struct override_walk *w, int item, const char *name)
{
	if (node_at(w, item)->type != YAML_MAPPING_NODE)
		return false;
	const yaml_node_pair_t *pair = pair_named(w, item, "name");
	const yaml_node_t *value = pair ? node_at(w, pair->value) : NULL;

	return value && value->type == YAML_SCALAR_NODE &&
	       strcmp((const char *)value->data.scalar.value, name) == 0;
}

#define MOST_NAMES 64

static enum hd_status refuse_item(const struct override_walk *w, const struct schema_row *f,
				  int list, const char *part)
{
	const yaml_node_t *node = node_at(w, list);
	const char *names[MOST_NAMES];
	size_t n = 0, items = 0;

	for (const yaml_node_item_t *i = node->data.sequence.items.start;
	     i < node->data.sequence.items.top; i++, items++) {
		const yaml_node_pair_t *pair = node_at(w, *i)->type == YAML_MAPPING_NODE
						       ? pair_named(w, *i, "name")
						       : NULL;
		const yaml_node_t *name = pair ? node_at(w, pair->value) : NULL;

		if (name && name->type == YAML_SCALAR_NODE && n < MOST_NAMES)
			names[n++] = (const char *)name->data.scalar.value;
	}
	const char *near = schema_nearest(part, names, n);

	if (near)
		return diag_fail(w->d, HD_ERR_USAGE, "no item '%.80s' in %s%s", part, f->path,
				 text_hint(near).text);
	return diag_fail(
		w->d, HD_ERR_USAGE,
		"no item '%.80s' in %s, which has %zu (numbered from 0; '+' adds one, '-' is the last)",
		part, f->path, items);
}

/* The place of the item that a part of the path names. */
static enum hd_status find_item(const struct override_walk *w, const struct schema_row *f, int list,
				const char *part, size_t *out)
{
	const yaml_node_t *node = node_at(w, list);
	const yaml_node_item_t *items = node->data.sequence.items.start;
	size_t n = (size_t)(node->data.sequence.items.top - items);
	char *end;
	unsigned long number = strtoul(part, &end, 10);
	bool digits = *part >= '0' && *part <= '9' && !*end;

	if (strcmp(part, "+") == 0)
		append_item(w, list, add_mapping(w));
	if (strcmp(part, "+") == 0 || (strcmp(part, "-") == 0 && n)) {
		*out = *part == '+' ? n : n - 1;
		return HD_OK;
	}
	for (size_t i = 0; i < n; i++) {
		if (digits ? i == number : item_is_named(w, items[i], part)) {
			*out = i;
			return HD_OK;
		}
	}
	return refuse_item(w, f, list, part);
}

static void remove_item(const struct override_walk *w, int list, size_t at)
{
	yaml_node_t *node = node_at(w, list);
	yaml_node_item_t *items = node->data.sequence.items.start;
	size_t n = (size_t)(node->data.sequence.items.top - items);

	memmove(items + at, items + at + 1, (n - at - 1) * sizeof(*items));
	node->data.sequence.items.top--;
}

static enum hd_status walk_map(struct override_walk *w, const struct schema_row *parent, int map);

/* The rest of the path leads into the list `f`. */
static enum hd_status walk_list(struct override_walk *w, const struct schema_row *f, int list)
{
	char *part = next_part(w);
	size_t at = 0;
	enum hd_status status = find_item(w, f, list, part, &at);
	int value = 0;

	free(part);
	if (status != HD_OK)
		return status;
	if (!*w->rest && !*w->o->value) {
		remove_item(w, list, at);
		return HD_OK;
	}
	if (*w->rest)
		value = spell_out(w, f, node_at(w, list)->data.sequence.items.start[at]);
	else
		status = add_value(w, f, &value);
	if (status != HD_OK)
		return status;
	node_at(w, list)->data.sequence.items.start[at] = value;
	return *w->rest ? walk_map(w, f, value) : HD_OK;
}

/* The last part of a path names a field of `map`. */
static enum hd_status set_field(const struct override_walk *w, const struct schema_row *f, int map,
				const char *name)
{
	int value = 0;

	if (!*w->o->value && (f || pair_named(w, map, name))) {
		remove_pair(w, map, name);
		return HD_OK;
	}
	enum hd_status status = add_value(w, f, &value);

	if (status == HD_OK)
		set_pair(w, map, name, value);
	return status;
}

/* A part before the last: the mapping or list of that name, made if need be. */
static enum hd_status enter(struct override_walk *w, const struct schema_row *f, int map,
			    const char *name)
{
	yaml_node_pair_t *pair = pair_named(w, map, name);
	bool list = f && f->type == SCHEMA_LIST;
	int inner = pair ? pair->value : 0;

	/* An unknown field is refused, with a suggestion, by the reader. */
	if (!f) {
		set_pair(w, map, name, add_scalar(w, "", true));
		return HD_OK;
	}
	if (!list && f->type != SCHEMA_MAP)
		return diag_fail(w->d, HD_ERR_USAGE, "%s is a value and has no fields", f->path);
	if (!inner)
		inner = list ? add_sequence(w) : add_mapping(w);
	else if (!list)
		inner = spell_out(w, f, inner);
	set_pair(w, map, name, inner);
	if (node_at(w, inner)->type != (list ? YAML_SEQUENCE_NODE : YAML_MAPPING_NODE))
		return HD_OK; /* a wrong file, which the reader refuses */
	return list ? walk_list(w, f, inner) : walk_map(w, f, inner);
}

static enum hd_status walk_map(struct override_walk *w, const struct schema_row *parent, int map)
{
	char *name = next_part(w);
	const struct schema_row *f = schema_child_named(w->table, parent, name);
	enum hd_status status = HD_OK;

	if (node_at(w, map)->type != YAML_MAPPING_NODE)
		status = HD_OK; /* as in enter() */
	else if (!*name)
		status = diag_fail(w->d, HD_ERR_USAGE, "a path has a name between dots");
	else if (*w->rest)
		status = enter(w, f, map, name);
	else
		status = set_field(w, f, map, name);
	free(name);
	return status;
}

/* libyaml takes surrogates here, which it refuses in files. */
static enum hd_status check_encoding(const struct override *o, struct diag *d)
{
	const char *texts[] = { o->path, o->value };

	for (size_t i = 0; i < 2; i++) {
		size_t at = utf8_find_invalid(texts[i]);

		if (texts[i][at])
			return diag_fail(d, HD_ERR_USAGE,
					 "the %s is not UTF-8 at byte %zu (0x%02x)",
					 i ? "value" : "path", at + 1, (unsigned char)texts[i][at]);
	}
	return HD_OK;
}

/* One of them; `d` has no file, for it is about no line of one. */
static enum hd_status apply(const struct overrides *o, size_t number,
			    const struct schema_row *table, struct document *doc, struct diag *d)
{
	struct diag inner = { .status = HD_OK };
	struct override_walk w = { .yaml = &doc->yaml,
				   .table = table,
				   .o = &o->items[number],
				   .number = number,
				   .rest = o->items[number].path,
				   .d = &inner };

	if (check_encoding(w.o, &inner) == HD_OK && walk_map(&w, NULL, 1) == HD_OK)
		return HD_OK;
	d->file = NULL;
	return diag_fail(d, HD_ERR_USAGE, "%s: %s", w.o->label, inner.message);
}

enum hd_status overrides_apply(const struct overrides *o, const struct schema_row *table,
			       struct document *doc, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; o && i < o->n && status == HD_OK; i++)
		status = apply(o, i, table, doc, d);
	return status;
}

/* Marks overrides with a value below a node; nodes created on the path to it do not count. */
static void note_left(struct document *doc, int index, size_t n, bool *left)
{
	const yaml_node_t *node = document_node(doc, index);
	size_t number = SIZE_MAX - node->start_mark.line;

	if (number < n && (node->type == YAML_SCALAR_NODE || node->start_mark.column != 0))
		left[number] = true;
	for (const yaml_node_item_t *i = node->data.sequence.items.start;
	     node->type == YAML_SEQUENCE_NODE && i < node->data.sequence.items.top; i++)
		note_left(doc, *i, n, left);
	for (const yaml_node_pair_t *p = node->data.mapping.pairs.start;
	     node->type == YAML_MAPPING_NODE && p < node->data.mapping.pairs.top; p++)
		note_left(doc, p->value, n, left);
}

bool overrides_clash(const struct overrides *o, size_t first, const struct schema_row *table,
		     struct document *doc, size_t *lost, size_t *by)
{
	bool *was = hd_alloc(o->n + 1, sizeof(*was));
	bool *left = hd_alloc(o->n + 1, sizeof(*left));
	bool clash = false;

	for (size_t i = 0; i < o->n && !clash; i++) {
		struct diag ignored = { .status = HD_OK };

		if (apply(o, i, table, doc, &ignored) != HD_OK)
			continue;
		memset(left, 0, o->n * sizeof(*left));
		note_left(doc, 1, o->n, left);
		for (size_t k = first; k < i && !clash; k++) {
			clash = was[k] && !left[k];
			*lost = k;
			*by = i;
		}
		memcpy(was, left, o->n * sizeof(*was));
	}
	free(was);
	free(left);
	return clash;
}

void override_paths(const struct schema_row *table, struct strbuf *out)
{
	for (const struct schema_row *f = NULL; (f = schema_after(table, f));) {
		for (const char *c = f->path; *c; c++) {
			if (*c == '[')
				strbuf_puts(out, ".0");
			else if (*c != ']')
				strbuf_putc(out, *c);
		}
		for (size_t i = 0; f->type == SCHEMA_CHOICE && f->choices[i]; i++)
			strbuf_printf(out, " %s", f->choices[i]);
		if (f->type == SCHEMA_CUSTOM && f->custom->words) {
			strbuf_putc(out, ' ');
			f->custom->words(out);
		}
		strbuf_putc(out, '\n');
	}
}
