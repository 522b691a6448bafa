/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/strbuf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Never written to: cap 0 makes every addition move to the heap first. */
char strbuf_empty[1];

#define DRAIN_FROM 65536

static void reserve(struct strbuf *s, size_t more)
{
	if (s->drain && s->len >= DRAIN_FROM)
		strbuf_flush(s);
	if (s->cap == 0)
		s->text = NULL;
	s->text = hd_grow(s->text, &s->cap, s->len + more + 1, 1);
}

void strbuf_fini(struct strbuf *s)
{
	if (s->cap)
		free(s->text);
	*s = (struct strbuf)STRBUF_INIT;
}

void strbuf_clear(struct strbuf *s)
{
	s->len = 0;
	if (s->cap)
		s->text[0] = '\0';
}

void strbuf_flush(struct strbuf *s)
{
	fwrite(s->text, 1, s->len, s->drain);
	strbuf_clear(s);
}

void strbuf_add(struct strbuf *s, const char *bytes, size_t len)
{
	reserve(s, len);
	if (len) /* memcpy does not accept NULL, even for 0 bytes */
		memcpy(s->text + s->len, bytes, len);
	s->len += len;
	s->text[s->len] = '\0';
}

void strbuf_puts(struct strbuf *s, const char *text)
{
	strbuf_add(s, text, strlen(text));
}

void strbuf_putc(struct strbuf *s, char c)
{
	strbuf_add(s, &c, 1);
}

void strbuf_pad(struct strbuf *s, char c, size_t n)
{
	reserve(s, n);
	memset(s->text + s->len, c, n);
	s->len += n;
	s->text[s->len] = '\0';
}

void strbuf_printf(struct strbuf *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_vprintf(s, format, args);
	va_end(args);
}

void strbuf_vprintf(struct strbuf *s, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	assert(len >= 0);
	reserve(s, (size_t)len);
	vsnprintf(s->text + s->len, (size_t)len + 1, format, args);
	s->len += (size_t)len;
}

char *strbuf_detach(struct strbuf *s)
{
	char *text = s->cap ? s->text : hd_strdup("");

	*s = (struct strbuf)STRBUF_INIT;
	return text;
}
