/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

void json_init(struct json *w, struct strbuf *out)
{
	*w = (struct json){ .out = out };
}

static void new_line(struct json *w)
{
	if (w->compact)
		return;
	strbuf_putc(w->out, '\n');
	strbuf_pad(w->out, ' ', 2 * (size_t)w->depth);
}

/* Writes the separator before a value: empty, a comma, or a line break. */
static void before_value(struct json *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->depth == 0)
		return;
	assert(w->closer[w->depth - 1] == ']');
	if (w->has_items[w->depth - 1])
		strbuf_putc(w->out, ',');
	w->has_items[w->depth - 1] = true;
	new_line(w);
}

static void open_level(struct json *w, char opener, char closer)
{
	before_value(w);
	assert(w->depth < JSON_MAX_DEPTH);
	strbuf_putc(w->out, opener);
	w->closer[w->depth] = closer;
	w->has_items[w->depth] = false;
	w->depth++;
}

void json_begin_object(struct json *w)
{
	open_level(w, '{', '}');
}

void json_begin_array(struct json *w)
{
	open_level(w, '[', ']');
}

void json_end(struct json *w)
{
	assert(w->depth > 0 && !w->after_key);
	w->depth--;
	if (w->has_items[w->depth])
		new_line(w);
	strbuf_putc(w->out, w->closer[w->depth]);
	if (w->depth == 0 && !w->compact)
		strbuf_putc(w->out, '\n');
}

static void quote(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '"');
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t len = utf8_length(text);

		if (len == 0) {
			strbuf_puts(out, "\\ufffd");
			len = 1;
		} else if (c == '"' || c == '\\') {
			strbuf_printf(out, "\\%c", c);
		} else if (c == '\n') {
			strbuf_puts(out, "\\n");
		} else if (utf8_acts(text)) {
			strbuf_printf(out, "\\u%04x", utf8_acts(text));
		} else {
			strbuf_add(out, text, len);
		}
		text += len;
	}
	strbuf_putc(out, '"');
}

void json_key(struct json *w, const char *key)
{
	assert(w->depth > 0 && w->closer[w->depth - 1] == '}');
	assert(!w->after_key);
	if (w->has_items[w->depth - 1])
		strbuf_putc(w->out, ',');
	w->has_items[w->depth - 1] = true;
	new_line(w);
	quote(w->out, key);
	strbuf_puts(w->out, w->compact ? ":" : ": ");
	w->after_key = true;
}

void json_text(struct json *w, const char *text)
{
	before_value(w);
	quote(w->out, text);
}

void json_uint(struct json *w, uint64_t value)
{
	before_value(w);
	strbuf_printf(w->out, "%llu", (unsigned long long)value);
}

void json_int(struct json *w, int64_t value)
{
	before_value(w);
	strbuf_printf(w->out, "%lld", (long long)value);
}

void json_double(struct json *w, double value)
{
	before_value(w);
	if (isfinite(value))
		text_double(w->out, value);
	else
		strbuf_puts(w->out, "null");
}

void json_bool(struct json *w, bool value)
{
	before_value(w);
	strbuf_puts(w->out, value ? "true" : "false");
}

void json_none(struct json *w)
{
	before_value(w);
	strbuf_puts(w->out, "null");
}

void json_put_text(struct json *w, const char *key, const char *text)
{
	json_key(w, key);
	json_text(w, text);
}

void json_put_uint(struct json *w, const char *key, uint64_t value)
{
	json_key(w, key);
	json_uint(w, value);
}
