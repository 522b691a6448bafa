/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/tokenizer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define BUFFER ((size_t)1 << 18)

void tokenizer_init(struct tokenizer *r, FILE *in, struct diag *d)
{
	*r = (struct tokenizer){ .in = in, .d = d, .line = 1 };
	r->buffer = hd_alloc(BUFFER, 1);
	r->before = hd_alloc(BUFFER, 1);
}

void tokenizer_fini(struct tokenizer *r)
{
	free(r->buffer);
	free(r->before);
}

enum hd_status tokenizer_fail(struct tokenizer *r, const struct token *t, const char *format, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	if (t && t->len == 0)
		strbuf_puts(&text, " (the file ends)");
	enum hd_status status =
		diag_fail_at(r->d, HD_ERR_INPUT, t ? t->line : r->line, 0, "%s", text.text);

	strbuf_fini(&text);
	r->ended = true;
	return status;
}

/* The next character, not yet taken; -1 at the end. */
static inline int look(struct tokenizer *r)
{
	if (r->at < r->len)
		return (unsigned char)r->buffer[r->at];
	if (r->ended)
		return -1;
	/* Earlier words remain in the other buffer until it is full. */
	char *other = r->before;

	r->before = r->buffer;
	r->buffer = other;
	r->len = fread(r->buffer, 1, BUFFER, r->in);
	r->at = 0;
	if (r->len == 0) {
		r->ended = true;
		if (ferror(r->in))
			diag_fail(r->d, HD_ERR_IO, "cannot read on");
		return -1;
	}
	return (unsigned char)r->buffer[0];
}

static void skip_line(struct tokenizer *r)
{
	for (int c = look(r); c != -1 && c != '\n'; c = look(r))
		r->at++;
}

/* Behind the two characters that begin it. */
static void skip_comment(struct tokenizer *r)
{
	uint32_t began = r->line;
	int before = 0;

	for (int c = look(r); c != -1; c = look(r)) {
		r->at++;
		r->line += c == '\n';
		if (before == '*' && c == '/')
			return;
		before = c;
	}
	diag_fail_at(r->d, HD_ERR_INPUT, began, 0, "a comment without an end");
}

/* Behind a '/': a comment, or false. */
static bool skip_slash(struct tokenizer *r)
{
	int c = look(r);

	if (c == '/') {
		skip_line(r);
	} else if (c == '*') {
		r->at++;
		skip_comment(r);
	} else {
		tokenizer_fail(r, NULL, "a '/' that begins no comment");
		return false;
	}
	return true;
}

/* Blanks and comments; the character that comes then, or -1. */
static int skip(struct tokenizer *r)
{
	for (int c = look(r); c != -1; c = look(r)) {
		if (c == '\n') {
			r->line++;
			r->at++;
		} else if (c == ' ' || c == '\t' || c == '\r') {
			r->at++;
		} else if (c == '/') {
			r->at++;
			if (!skip_slash(r))
				return -1;
		} else {
			return c;
		}
	}
	return -1;
}

int tokenizer_peek(struct tokenizer *r)
{
	int c = skip(r);

	return c == -1 ? 0 : c;
}

static inline bool is_word(int c)
{
	static const bool yes[256] = {
		['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1,
		['7'] = 1, ['8'] = 1, ['9'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1,
		['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1,
		['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1,
		['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1,
		['Z'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1,
		['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1,
		['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1,
		['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1, ['_'] = 1,
		['-'] = 1, ['>'] = 1, ['.'] = 1,
	};

	return c != -1 && yes[c];
}

/* Most words end inside the buffer and are used in place. */
static uint32_t word_here(struct tokenizer *r)
{
	size_t end = r->at;

	while (end < r->len && is_word((unsigned char)r->buffer[end]))
		end++;
	return end < r->len ? (uint32_t)(end - r->at) : 0;
}

void tokenizer_next(struct tokenizer *r, struct token *out)
{
	int c = skip(r);
	uint32_t n;

	*out = (struct token){ .text = &r->buffer[r->at], .line = r->line };
	if (c == -1)
		return;
	if (!is_word(c)) {
		out->len = 1;
		r->at++;
		return;
	}
	n = word_here(r);
	if (n && n < TOKEN_LONGEST) {
		out->len = n;
		r->at += n;
		return;
	}
	out->text = r->word;
	for (n = 0; is_word(c) && n < TOKEN_LONGEST; c = look(r)) {
		r->word[n++] = (char)c;
		r->at++;
	}
	out->len = n;
	if (n == TOKEN_LONGEST) {
		out->len = 1;
		tokenizer_fail(r, out, "a word of more than %u letters", TOKEN_LONGEST - 1);
		r->at = r->len;
		out->len = 0;
	}
}

enum hd_status tokenizer_end(struct tokenizer *r)
{
	return r->d->status;
}

static bool number_of(const struct token *t, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < t->len; i++) {
		unsigned digit = (unsigned)(t->text[i] - '0');

		if (digit > 9 || value > most)
			return false;
		value = 10 * value + digit;
	}
	*out = value;
	return t->len > 0 && value <= most;
}

static enum hd_status refuse_number(struct tokenizer *r, const struct token *t, const char *what,
				    uint64_t most)
{
	return tokenizer_fail(r, t, "'%.*s' is not %s (a whole number up to %llu)", token_show(t),
			      t->text, what, (unsigned long long)most);
}

enum hd_status tokenizer_number(struct tokenizer *r, const char *what, uint64_t most,
				bool may_be_any, uint64_t *out)
{
	struct token t;

	tokenizer_next(r, &t);
	if (may_be_any && token_is(&t, "-1"))
		*out = UINT64_MAX;
	else if (!number_of(&t, most, out))
		return refuse_number(r, &t, what, most);
	return HD_OK;
}

enum hd_status tokenizer_size(struct tokenizer *r, uint64_t *out)
{
	struct token t;

	tokenizer_next(r, &t);
	struct token digits = t;

	if (t.len && t.text[t.len - 1] == 'b')
		digits.len--;
	return number_of(&digits, OP_MOST_SIZE, out)
		       ? HD_OK
		       : refuse_number(r, &t, "a size in bytes", OP_MOST_SIZE);
}
