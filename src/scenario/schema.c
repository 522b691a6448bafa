/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *schema_name(const struct schema_row *f)
{
	const char *dot = strrchr(f->path, '.');

	return dot ? dot + 1 : f->path;
}

const struct schema_row *schema_after(const struct schema_row *table, const struct schema_row *f)
{
	f = f ? f + 1 : table;
	while (!f->path && f->rest)
		f = f->rest;
	return f->path ? f : NULL;
}

const struct schema_row *schema_find(const struct schema_row *table, const char *path, size_t len)
{
	for (const struct schema_row *f = NULL; (f = schema_after(table, f));) {
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

static bool is_child(const struct schema_row *parent, const struct schema_row *f)
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
	const struct schema_row *f = schema_after(table, after);

	while (f && !is_child(parent, f))
		f = schema_after(table, f);
	return f;
}

const struct schema_row *schema_child_named(const struct schema_row *table,
					    const struct schema_row *parent, const char *name)
{
	for (const struct schema_row *f = schema_next_child(table, parent, NULL); f;
	     f = schema_next_child(table, parent, f)) {
		if (strcmp(schema_name(f), name) == 0)
			return f;
	}
	return NULL;
}

bool schema_applies(const struct schema_row *table, const struct schema_row *f, const void *base)
{
	if (!f->when)
		return true;
	const struct schema_row *choice = schema_find(table, f->when, strlen(f->when));

	assert(choice && choice->type == SCHEMA_CHOICE);
	if (!schema_applies(table, choice, base))
		return false;
	unsigned value = *(const unsigned *)((const char *)base + choice->offset);

	return f->only >> value & 1;
}

const struct schema_place *schema_place_of(const struct schema_places *places, const void *field)
{
	const struct schema_place *best = NULL;

	for (size_t i = 0; i < places->n; i++) {
		const struct schema_place *p = &places->items[i];
		const char *start = p->field;

		if ((const char *)field < start || (const char *)field >= start + p->size)
			continue;
		if (!best || p->size < best->size)
			best = p;
	}
	return best;
}

const char *schema_param_text(const struct schema_params *params, const struct option *o)
{
	for (size_t i = 0; i < params->n; i++) {
		if (strcmp(params->items[i].name, o->name) == 0)
			return params->items[i].value;
	}
	return o->initial;
}

enum hd_status schema_params_apply(const struct schema_params *params,
				   const struct option *const *tables, void *values, struct diag *d)
{
	options_set_initial(tables, values);
	for (size_t i = 0; i < params->n; i++) {
		const char *name = params->items[i].name;
		const struct option *o = option_find(tables, name, strlen(name));
		enum hd_status status = option_set(o, values, params->items[i].value, d);

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

static void release(const struct schema_row *table, const struct schema_row *parent, void *base)
{
	for (const struct schema_row *f = schema_next_child(table, parent, NULL); f;
	     f = schema_next_child(table, parent, f)) {
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
