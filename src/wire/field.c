/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/field.h"

#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "wire/cursor.h"

#define NAME_COLUMN 32 /* width of a name with its colon and dots */

static const struct field *find(const struct field *fields, const char *name)
{
	for (const struct field *f = fields; f && f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

bool field_record_find(const struct record *r, const char *name, struct field *out)
{
	const struct field *f = find(r->fields, name);

	if (f) {
		*out = *f;
		return true;
	}
	for (const struct record_part *p = r->parts; p && p->record; p++) {
		if (field_record_find(p->record, name, out)) {
			out->offset = (uint16_t)(out->offset + 8 * p->offset);
			return true;
		}
	}
	return false;
}

/* The field of that name, which must exist. */
static struct field known(const struct record *r, const char *name)
{
	struct field f = { .name = NULL };
	bool found = field_record_find(r, name, &f);

	assert(found);
	(void)found;
	return f;
}

uint64_t field_get(const struct field *f, const uint8_t *bytes)
{
	return bits_get(bytes, f->offset, f->width);
}

void field_set(const struct field *f, uint8_t *bytes, uint64_t value)
{
	bits_put(bytes, f->offset, f->width, value);
}

uint64_t field_record_get(const struct record *r, const uint8_t *bytes, const char *name)
{
	struct field f = known(r, name);

	return field_get(&f, bytes);
}

/* Field `name` of entry `i`, with its offset in the record. */
static struct field entry_field(const struct field_group *g, unsigned i, const char *name)
{
	const struct field *f = find(g->fields, name);

	assert(f && i < g->count);
	struct field shifted = *f;

	shifted.offset = (uint16_t)(g->offset + i * g->stride + f->offset);
	return shifted;
}

uint64_t field_record_get_entry(const struct record *r, const uint8_t *bytes, unsigned i,
				const char *name)
{
	struct field f = entry_field(r->group, i, name);

	return field_get(&f, bytes);
}

void field_record_set_entry(const struct record *r, uint8_t *bytes, unsigned i, const char *name,
			    uint64_t value)
{
	struct field f = entry_field(r->group, i, name);

	field_set(&f, bytes, value);
}

void field_print_gid(const uint8_t *gid, struct strbuf *out)
{
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(AF_INET6, gid, text, sizeof(text)))
		strbuf_puts(out, text);
}

static void print_mask(const struct field *f, uint64_t value, struct strbuf *out)
{
	strbuf_printf(out, "0x%" PRIx64, value);
	for (const struct field_name *n = f->names; n && n->name; n++)
		if (value & n->value)
			strbuf_printf(out, "\n\t\t\t\t%s", n->name);
}

static void print_enum(const struct field *f, uint64_t value, struct strbuf *out)
{
	for (const struct field_name *n = f->names; n->name; n++) {
		if (n->value == value) {
			strbuf_puts(out, n->name);
			return;
		}
	}
	strbuf_printf(out, "?(%" PRIu64 ")", value);
}

/* Names of bits in the order of the list; a whole value may have a name, too. */
static void print_set(const struct field *f, uint64_t value, struct strbuf *out)
{
	uint64_t unknown = value;
	const char *separator = "";

	for (const struct field_name *n = f->names; n->name; n++) {
		if (n->value == value) {
			strbuf_puts(out, n->name);
			return;
		}
	}
	for (const struct field_name *n = f->names; n->name; n++) {
		bool is_bit = n->value && (n->value & (n->value - 1)) == 0;

		if (!is_bit || !(value & n->value))
			continue;
		strbuf_printf(out, "%s%s", separator, n->name);
		separator = " or ";
		unknown &= ~n->value;
	}
	if (unknown || value == 0)
		strbuf_printf(out, "%sundefined (%" PRIu64 ")", separator, unknown);
}

/* Prints text from the wire; control characters are printed as numbers. */
static void print_string(const uint8_t *bytes, size_t size, struct strbuf *out)
{
	for (size_t i = 0; i < size && bytes[i]; i++) {
		if (bytes[i] < 0x20 || bytes[i] >= 0x7F)
			strbuf_printf(out, "\\x%02x", bytes[i]);
		else
			strbuf_putc(out, (char)bytes[i]);
	}
}

static void print_bytes(const uint8_t *bytes, size_t size, struct strbuf *out)
{
	for (size_t i = 0; i < size; i++)
		strbuf_printf(out, "%02x", bytes[i]);
}

static void print_number(const struct field *f, uint64_t value, struct strbuf *out)
{
	switch (f->kind) {
	case FIELD_HEX:
		strbuf_printf(out, "0x%0*" PRIx64, (f->width + 7) / 8 * 2, value);
		return;
	case FIELD_MASK:
		print_mask(f, value, out);
		return;
	case FIELD_ENUM:
		print_enum(f, value, out);
		return;
	case FIELD_SET:
		print_set(f, value, out);
		return;
	default:
		strbuf_printf(out, "%" PRIu64, value);
	}
}

void field_print(const struct field *f, const uint8_t *bytes, struct strbuf *out)
{
	switch (f->kind) {
	case FIELD_BYTES:
		print_bytes(bytes + f->offset / 8, f->width / 8, out);
		return;
	case FIELD_GID:
		field_print_gid(bytes + f->offset / 8, out);
		return;
	case FIELD_STRING:
		strbuf_putc(out, '\'');
		print_string(bytes + f->offset / 8, f->width / 8, out);
		strbuf_putc(out, '\'');
		return;
	default:
		print_number(f, field_get(f, bytes), out);
	}
}

static void print_line(const struct field *f, const uint8_t *bytes, const char *indent,
		       struct strbuf *out)
{
	size_t len = strlen(f->name);

	strbuf_printf(out, "%s%s:", indent, f->name);
	strbuf_pad(out, '.', len < NAME_COLUMN ? NAME_COLUMN - len : 0);
	field_print(f, bytes, out);
	strbuf_putc(out, '\n');
}

/* Prints name and number of an entry, then its fields with their names. */
static void print_entry(const struct field_group *g, unsigned i, const uint8_t *bytes,
			const char *indent, struct strbuf *out)
{
	size_t start = out->len + strlen(indent);

	strbuf_printf(out, "%s%s[%u]:", indent, g->name, i);
	size_t len = out->len - start - 1;

	strbuf_pad(out, '.', len < NAME_COLUMN ? NAME_COLUMN - len : 0);
	for (const struct field *f = g->fields; f->name; f++) {
		struct field at = entry_field(g, i, f->name);

		if (g->fields[1].name)
			strbuf_printf(out, "%s%s ", f == g->fields ? "" : " ", f->name);
		field_print(&at, bytes, out);
	}
	strbuf_putc(out, '\n');
}

static void print_entries(const struct field_group *g, const uint8_t *bytes, const char *indent,
			  struct strbuf *out)
{
	for (unsigned i = 0; i < g->count; i++)
		print_entry(g, i, bytes, indent, out);
}

static void print_wrapped(const struct field_group *g, const uint8_t *bytes, const char *indent,
			  struct strbuf *out)
{
	unsigned per_line = g->stride > 32 ? 2 : 8;

	for (unsigned i = 0; i < g->count; i++) {
		struct field at = entry_field(g, i, g->fields->name);

		if (i % per_line == 0)
			strbuf_printf(out, "%s%4u:", indent, i);
		strbuf_putc(out, ' ');
		field_print(&at, bytes, out);
		if (i % per_line == per_line - 1 || i + 1 == g->count)
			strbuf_putc(out, '\n');
	}
}

static void print_cells(const struct field_group *g, const uint8_t *bytes, const char *indent,
			struct strbuf *out)
{
	strbuf_printf(out, "%s%s: |", indent, g->name);
	for (unsigned i = 0; i < g->count; i++) {
		struct field at = entry_field(g, i, g->fields->name);

		strbuf_printf(out, "%2" PRIu64 "|", field_get(&at, bytes));
	}
	strbuf_putc(out, '\n');
}

static void print_rows(const struct field_group *g, const uint8_t *bytes, const char *indent,
		       struct strbuf *out)
{
	for (const struct field *f = g->fields; f->name; f++) {
		strbuf_printf(out, "%s%-6s: |", indent, f->name);
		for (unsigned i = 0; i < g->count; i++) {
			struct field at = entry_field(g, i, f->name);

			strbuf_printf(out, "0x%-2" PRIX64 "|", field_get(&at, bytes));
		}
		strbuf_putc(out, '\n');
	}
}

static void print_group(const struct field_group *g, const uint8_t *bytes, const char *indent,
			struct strbuf *out)
{
	switch (g->style) {
	case GROUP_WRAPPED:
		print_wrapped(g, bytes, indent, out);
		return;
	case GROUP_CELLS:
		print_cells(g, bytes, indent, out);
		return;
	case GROUP_ROWS:
		print_rows(g, bytes, indent, out);
		return;
	default:
		print_entries(g, bytes, indent, out);
	}
}

void field_record_print(const struct record *r, const uint8_t *bytes, const char *indent,
			struct strbuf *out)
{
	for (const struct field *f = r->fields; f && f->name; f++)
		print_line(f, bytes, indent, out);
	if (r->group)
		print_group(r->group, bytes, indent, out);
	for (const struct record_part *p = r->parts; p && p->record; p++)
		field_record_print(p->record, bytes + p->offset, indent, out);
}

static void json_value(const struct field *f, const uint8_t *bytes, struct json *w)
{
	struct strbuf text = STRBUF_INIT;

	if (f->kind == FIELD_UINT) {
		json_uint(w, field_get(f, bytes));
		return;
	}
	/* The names of a mask follow on lines of their own; not in JSON. */
	if (f->kind == FIELD_MASK)
		strbuf_printf(&text, "0x%" PRIx64, field_get(f, bytes));
	else if (f->kind == FIELD_STRING)
		print_string(bytes + f->offset / 8, f->width / 8, &text);
	else
		field_print(f, bytes, &text);
	json_text(w, text.text);
	strbuf_fini(&text);
}

static void json_field(const struct field *f, const uint8_t *bytes, struct json *w)
{
	json_key(w, f->name);
	json_value(f, bytes, w);
}

/* An entry with one field is written as that field's value, not as an object. */
static void json_entry(const struct field_group *g, unsigned i, const uint8_t *bytes,
		       struct json *w)
{
	if (!g->fields[1].name) {
		struct field at = entry_field(g, i, g->fields->name);

		json_value(&at, bytes, w);
		return;
	}
	json_begin_object(w);
	for (const struct field *f = g->fields; f->name; f++) {
		struct field at = entry_field(g, i, f->name);

		json_field(&at, bytes, w);
	}
	json_end(w);
}

static void json_fields(const struct record *r, const uint8_t *bytes, struct json *w)
{
	const struct field_group *g = r->group;

	for (const struct field *f = r->fields; f && f->name; f++)
		json_field(f, bytes, w);
	if (g) {
		json_key(w, g->name);
		json_begin_array(w);
		for (unsigned i = 0; i < g->count; i++)
			json_entry(g, i, bytes, w);
		json_end(w);
	}
	for (const struct record_part *p = r->parts; p && p->record; p++)
		json_fields(p->record, bytes + p->offset, w);
}

void field_record_json(const struct record *r, const uint8_t *bytes, struct json *w)
{
	json_begin_object(w);
	json_fields(r, bytes, w);
	json_end(w);
}
