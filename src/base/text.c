/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

size_t utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	/* Lower bounds exclude overlong forms, upper bounds UTF-16 surrogates. */
	static const struct {
		unsigned char first_low, first_high, low, high, len;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
		if (s[0] < forms[f].first_low || s[0] > forms[f].first_high)
			continue;
		if (forms[f].len == 1)
			return 1;
		if (s[1] < forms[f].low || s[1] > forms[f].high)
			return 0;
		for (size_t i = 2; i < forms[f].len; i++) {
			if (s[i] < 0x80 || s[i] > 0xbf)
				return 0;
		}
		return forms[f].len;
	}
	return 0;
}

size_t utf8_find_invalid(const char *text)
{
	size_t at = 0, len;

	while ((len = utf8_length(text + at)) > 0)
		at += len;
	return at;
}

/* The code point of a character of `len` bytes. */
static unsigned code_point(const char *text, size_t len)
{
	unsigned code = (unsigned char)text[0];

	if (len > 1)
		code &= 0xffu >> (len + 1);
	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/* Controls, separators of lines, what changes the direction, no characters. */
unsigned utf8_acts(const char *text)
{
	static const struct {
		unsigned first, last;
	} acting[] = {
		{ 0, 0x1f },        { 0x7f, 0x9f },     { 0x61c, 0x61c },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x2069 },
		{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xfffe, 0xffff },
	};
	size_t len = utf8_length(text);
	unsigned code = len ? code_point(text, len) : 0;

	for (size_t i = 0; i < sizeof(acting) / sizeof(acting[0]); i++) {
		if (code >= acting[i].first && code <= acting[i].last)
			return code;
	}
	return 0;
}

void text_show(struct strbuf *out, const char *text)
{
	static const char named[] = "abtnvfr"; /* \a is 7, \r is 13 */

	while (*text) {
		size_t len = utf8_length(text);
		unsigned code = utf8_acts(text);

		if (len && !code)
			strbuf_add(out, text, len);
		else if (code >= 7 && code <= 13)
			strbuf_printf(out, "\\%c", named[code - 7]);
		else if (len > 1)
			strbuf_printf(out, "\\u%04x", code);
		else
			strbuf_printf(out, "\\x%02x", (unsigned char)*text);
		text += len ? len : 1;
	}
}

char *text_inert(const char *text, size_t len)
{
	char *copy = hd_strndup(text, len), *to = copy;

	for (const char *c = copy; *c;) {
		size_t n = utf8_length(c), bytes = n ? n : 1;
		/* A byte that is no UTF-8, but a command to some. */
		bool command = !n && (unsigned char)*c < 0xa0;

		if (command || utf8_acts(c)) {
			*to++ = ' ';
		} else {
			memmove(to, c, bytes);
			to += bytes;
		}
		c += bytes;
	}
	*to = 0;
	return copy;
}

size_t text_find_binary(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == 0 || c == 0x7F || (c < ' ' && !strchr("\t\n\v\f\r", c)))
			return i;
	}
	return len;
}

char *text_trimmed(const char *text, size_t len)
{
	while (len && *text == ' ')
		text++, len--;
	while (len && text[len - 1] == ' ')
		len--;
	return hd_strndup(text, len);
}

void text_double(struct strbuf *out, double value)
{
	char digits[40];

	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	strbuf_puts(out, digits);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau's distance, adjacent swaps counting once; three rows suffice. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t rows = strlen(a) + 1, columns = strlen(b) + 1;
	size_t *cells = hd_alloc(3 * columns, sizeof(*cells));
	size_t *before = cells, *last = cells + columns, *now = cells + 2 * columns;

	for (size_t j = 0; j < columns; j++)
		last[j] = j;
	for (size_t i = 1; i < rows; i++) {
		now[0] = i;
		for (size_t j = 1; j < columns; j++) {
			size_t wrong = a[i - 1] != b[j - 1];
			size_t best = last[j - 1] + wrong;

			best = least(best, last[j] + 1);
			best = least(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = least(best, before[j - 2] + 1);
			now[j] = best;
		}
		size_t *spare = before;

		before = last;
		last = now;
		now = spare;
	}
	size_t distance = last[columns - 1];

	free(cells);
	return distance;
}

static bool is_start(const char *word, const char *of)
{
	return strncmp(word, of, strlen(word)) == 0;
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
	const char *nearest = NULL;
	size_t best = (strlen(word) + 2) / 3 + 1;

	for (size_t i = 0; i < n; i++) {
		size_t distance = edit_distance(word, candidates[i]);

		if (word[0] && word[1] && is_start(word, candidates[i]))
			distance = 1;
		if (distance < best) {
			best = distance;
			nearest = candidates[i];
		}
	}
	return nearest;
}

/* Wraps one paragraph of `len` bytes; line breaks count as blanks. */
static void wrap_paragraph(struct strbuf *out, const char *text, size_t len, size_t column)
{
	const char *end = text + len;
	size_t at = column;

	while (text < end) {
		size_t word = strcspn(text, " \n");

		if (word > (size_t)(end - text))
			word = (size_t)(end - text);
		if (at > column && at + 1 + word > 79) {
			strbuf_putc(out, '\n');
			strbuf_pad(out, ' ', column);
			at = column;
		} else if (at > column) {
			strbuf_putc(out, ' ');
			at++;
		}
		strbuf_add(out, text, word);
		at += word;
		text += word;
		text += strspn(text, " \n");
	}
}

void text_wrap(struct strbuf *out, const char *text, size_t column)
{
	for (bool first = true; *text; first = false) {
		const char *end = strstr(text, "\n\n");
		size_t len = end ? (size_t)(end - text) : strlen(text);

		if (!first) {
			strbuf_puts(out, "\n\n");
			strbuf_pad(out, ' ', column);
		}
		if (*text == ' ')
			strbuf_add(out, text, len);
		else
			wrap_paragraph(out, text, len, column);
		text += len;
		text += strspn(text, "\n");
	}
	strbuf_putc(out, '\n');
}

struct text_hint text_hint(const char *meant)
{
	struct text_hint h = { "" };

	if (meant)
		snprintf(h.text, sizeof(h.text), " (did you mean '%.100s'?)", meant);
	return h;
}
