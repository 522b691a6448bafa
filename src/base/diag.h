/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_DIAG_H
#define HD_BASE_DIAG_H

/*
 * Why something was refused, in one line that a user can act on.
 *
 * Library code never prints: it fills a diag and returns its status; cli/
 * prints it. The first refusal is kept and later ones are ignored, because
 * what follows an error is usually its echo.
 *
 * Messages start in lower case, say what is wrong first and what was expected
 * after it, quote the user's words in single quotes and end without a stop:
 *
 *	fabric.yaml:12:9: unknown field 'hots' in fabric.topology
 *	(did you mean 'hosts'?)
 */

#include <stdarg.h>

#include "base/status.h"
#include "base/strbuf.h"

struct diag {
	enum hd_status status; /* HD_OK while nothing was refused */
	const char *file;      /* borrowed; NULL if no file is involved */
	unsigned line;         /* 1-based; 0 = unknown */
	unsigned column;       /* 1-based; 0 = unknown */
	char message[480];
};

/* Records the refusal unless one is there already; returns d->status. */
HD_PRINTF(3, 4)
enum hd_status diag_fail(struct diag *d, enum hd_status status, const char *format, ...);
/* The same, at a line and column of d->file. */
HD_PRINTF(5, 6)
enum hd_status diag_fail_at(struct diag *d, enum hd_status status, unsigned line, unsigned column,
			    const char *format, ...);

/* "file:line:column: message", leaving out what is unknown. */
void diag_print(const struct diag *d, struct strbuf *out);

#endif
