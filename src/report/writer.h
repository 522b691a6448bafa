/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_WRITER_H
#define HD_REPORT_WRITER_H

/*
 * How results are shown: one writer per format, all in one table. To add a
 * format, write its function, declare it in formats.h and add a row to
 * writers[] (writer.c); --format, help and completion follow.
 */

#include "base/strbuf.h"
#include "measure/results.h"

struct writer {
	const char *name;      /* as in --format */
	const char *extension; /* of a file that holds it, without the dot */
	void (*write)(const struct results *r, struct strbuf *out);
};

/* Ends with a NULL name; writers[0] is the default. */
extern const struct writer writers[];
/* "auto" and then the same names in the same order: an option's choices. */
extern const char *const writer_names[];

/* Text for a terminal: rows about what was missed are red. */
void writer_coloured(const struct results *r, struct strbuf *out);

/* NULL if no format has that name. */
const struct writer *writer_find(const char *name);
/* By the extension of `path`; NULL if it says nothing. */
const struct writer *writer_of_path(const char *path);

#endif
