/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/diag.h"

#include <assert.h>
#include <stdio.h>

#include "base/text.h"

static void record(struct diag *d, enum hd_status status, const char *format, va_list args)
{
	d->status = status;
	vsnprintf(d->message, sizeof(d->message), format, args);
}

enum hd_status diag_fail(struct diag *d, enum hd_status status, const char *format, ...)
{
	assert(status != HD_OK);
	if (d->status == HD_OK) {
		va_list args;

		va_start(args, format);
		record(d, status, format, args);
		va_end(args);
	}
	return d->status;
}

enum hd_status diag_fail_at(struct diag *d, enum hd_status status, unsigned line, unsigned column,
			    const char *format, ...)
{
	assert(status != HD_OK);
	if (d->status == HD_OK) {
		va_list args;

		d->line = line;
		d->column = column;
		va_start(args, format);
		record(d, status, format, args);
		va_end(args);
	}
	return d->status;
}

void diag_print(const struct diag *d, struct strbuf *out)
{
	/* A user's words may hold anything; the line stays one line. */
	if (d->file) {
		text_show(out, d->file);
		strbuf_putc(out, ':');
	}
	if (d->line)
		strbuf_printf(out, "%u:", d->line);
	if (d->line && d->column)
		strbuf_printf(out, "%u:", d->column);
	if (d->file || d->line)
		strbuf_putc(out, ' ');
	text_show(out, d->message);
}
