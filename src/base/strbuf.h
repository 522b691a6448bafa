/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_STRBUF_H
#define HD_BASE_STRBUF_H

/*
 * A growing string. `text` is never NULL and always ends in a NUL that `len`
 * does not count. STRBUF_INIT needs no memory, so a strbuf can be declared
 * before any call that can fail.
 *
 * A drain lets text pass through that is too long for memory: when the text
 * reaches 64 KiB, it is written to the stream, and `len` restarts at 0. The
 * stream records its errors; the owner of the stream checks them.
 */

#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct strbuf {
	char *text;
	size_t len;
	size_t cap;  /* 0 while text is the shared empty string */
	FILE *drain; /* may be NULL */
};

extern char strbuf_empty[];
#define STRBUF_INIT                  \
	{                            \
		.text = strbuf_empty \
	}

void strbuf_fini(struct strbuf *s);
void strbuf_clear(struct strbuf *s);
/* Writes the present text to the drain. */
void strbuf_flush(struct strbuf *s);

void strbuf_add(struct strbuf *s, const char *bytes, size_t len);
void strbuf_puts(struct strbuf *s, const char *text);
void strbuf_putc(struct strbuf *s, char c);
void strbuf_pad(struct strbuf *s, char c, size_t n);
HD_PRINTF(2, 3) void strbuf_printf(struct strbuf *s, const char *format, ...);
void strbuf_vprintf(struct strbuf *s, const char *format, va_list args);

/* Transfers the string to the caller, who frees it; the strbuf is empty again. */
char *strbuf_detach(struct strbuf *s);

#endif
