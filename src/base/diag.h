/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_DIAG_H
#define HD_BASE_DIAG_H

/*
 * An error status with a one-line message that a user can act on.
 *
 * Library code never prints: it fills a diag and returns its status; cli/ prints
 * it. The first error is kept and later ones are ignored, because later errors
 * are usually consequences of the first.
 *
 * Messages start in lower case, say what is wrong first and what was expected
 * after it, quote the user's words in single quotes and end without a full stop:
 *
 *	fabric.yaml:12:9: unknown field 'hots' in fabric.topology
 *	(did you mean 'hosts'?)
 */

#include <stdarg.h>

#include "base/status.h"
#include "base/strbuf.h"

struct diag {
	enum hd_status status; /* HD_OK until the first error */
	const char *file;      /* borrowed; NULL if no file is involved */
	unsigned line;         /* 1-based; 0 = unknown */
	unsigned column;       /* 1-based; 0 = unknown */
	char message[480];
};

/* Records the error unless there is one already; returns d->status. */
HD_PRINTF(3, 4)
enum hd_status diag_fail(struct diag *d, enum hd_status status, const char *format, ...);
/* Like diag_fail, at a line and column of d->file. */
HD_PRINTF(5, 6)
enum hd_status diag_fail_at(struct diag *d, enum hd_status status, unsigned line, unsigned column,
			    const char *format, ...);

/* Writes "file:line:column: message" without the unknown parts. */
void diag_print(const struct diag *d, struct strbuf *out);

#endif
