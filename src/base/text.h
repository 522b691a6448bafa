/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_TEXT_H
#define HD_BASE_TEXT_H

/* String functions shared by several modules. */

#include <stddef.h>

#include "base/strbuf.h"

/*
 * The length in bytes of the UTF-8 character at `text`; 0 if the bytes there
 * are not a character (or the string ends).
 */
size_t utf8_length(const char *text);

/* Offset of the first byte that is not part of a UTF-8 character; or the length. */
size_t utf8_find_invalid(const char *text);

/*
 * The code point of the UTF-8 character at `text` if it affects the display
 * (moves a cursor, rings a bell, breaks a line, changes the writing direction
 * or is a noncharacter), 0 otherwise. All of them are below 0x10000.
 */
unsigned utf8_acts(const char *text);

/*
 * Appends `text` for display: control characters and bytes that are not UTF-8
 * are shown as an escape ("\\n", "\\x1b", "\\u009b").
 */
void text_show(struct strbuf *out, const char *text);

/*
 * A copy of `len` bytes in which a space replaces each character of utf8_acts,
 * each such byte that is not UTF-8 and each command of 8-bit terminals. Other
 * bytes are kept, since names may have older encodings. To be freed.
 */
char *text_inert(const char *text, size_t len) __attribute__((malloc));

/*
 * Offset of the first byte that does not occur in text files: NUL or another
 * control character that is not white space; `len` if none exists.
 */
size_t text_find_binary(const char *text, size_t len);

/* A copy of the first `len` bytes without surrounding spaces; the caller frees it. */
char *text_trimmed(const char *text, size_t len);

/* A short decimal that reads back as the same double ("0.1", "1e+300"). */
void text_double(struct strbuf *out, double value);

/*
 * The candidate nearest to `word`, or NULL if none is near. A candidate is near
 * if at most a third of the letters are wrong, missing, added or swapped, or if
 * it begins with `word`.
 */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);

/*
 * The suffix of an error about a name: " (did you mean 'hosts'?)", or nothing if
 * `meant` is NULL.
 *
 *	diag_fail(d, HD_ERR_NOT_FOUND, "unknown test '%s'%s", name,
 *		  text_hint(text_nearest(name, names, n)).text);
 */
struct text_hint {
	char text[128];
};
struct text_hint text_hint(const char *meant);

/*
 * Appends `text` and a line break, wrapped between `column` and column 80. The
 * first line is assumed to start at `column`; the others are indented to it.
 * Blank lines end paragraphs; a paragraph that starts with a space keeps its
 * line breaks.
 */
void text_wrap(struct strbuf *out, const char *text, size_t column);

#endif
