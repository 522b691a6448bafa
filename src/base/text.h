/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_TEXT_H
#define HD_BASE_TEXT_H

/* Small services on strings that several rooms need. */

#include <stddef.h>

#include "base/strbuf.h"

/*
 * The number of bytes of the UTF-8 character at `text`, 0 if the bytes there
 * are not one (or the string ends).
 */
size_t utf8_length(const char *text);

/* Where the first byte is that is not of a UTF-8 character; or the length. */
size_t utf8_find_invalid(const char *text);

/*
 * The code point of the UTF-8 character at `text` if it acts where it is shown
 * (moves a cursor, rings a bell, breaks a line, turns the writing around or is
 * no character at all), 0 if it does not. All of them are below 0x10000.
 */
unsigned utf8_acts(const char *text);

/*
 * Appends `text` for display: control characters are shown as an escape
 * ("\\n", "\\x1b", "\\u009b"), and so is a byte that is no UTF-8.
 */
void text_show(struct strbuf *out, const char *text);

/*
 * A copy of `len` bytes in which each of those characters is a blank, and so
 * is a byte that is no UTF-8 and a command of 8-bit terminals; other bytes are
 * kept, since names in older encodings are names. To be freed.
 */
char *text_inert(const char *text, size_t len) __attribute__((malloc));

/*
 * Offset of the first byte that no text file contains: NUL or another control
 * character that is not white space; `len` without one.
 */
size_t text_find_binary(const char *text, size_t len);

/* A copy of the first `len` bytes without the blanks around; caller frees. */
char *text_trimmed(const char *text, size_t len);

/* A short decimal that reads back as the same double ("0.1", "1e+300"). */
void text_double(struct strbuf *out, double value);

/*
 * The candidate that `word` was most likely meant to be, or NULL if none is
 * near: at most a third of its letters wrong, left out, added or swapped, or
 * `word` the beginning of it.
 */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);

/*
 * What a refusal of a name ends with: " (did you mean 'hosts'?)", or nothing
 * if `meant` is NULL.
 *
 *	diag_fail(d, HD_ERR_NOT_FOUND, "unknown test '%s'%s", name,
 *		  text_hint(text_nearest(name, names, n)).text);
 */
struct text_hint {
	char text[128];
};
struct text_hint text_hint(const char *meant);

/*
 * Appends `text` and a line break, wrapped so that it stays between `column`
 * and column 80. The first line is taken to be at `column` already, the others
 * are indented to it. Blank lines end paragraphs; a paragraph that starts with
 * a blank is kept line by line.
 */
void text_wrap(struct strbuf *out, const char *text, size_t column);

#endif
