/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_WRITER_H
#define HD_REPORT_WRITER_H

/*
 * Output formats of results: one writer per format, all in one table. To add a
 * format, write its function, declare it in formats.h and add a row to
 * writers[] (writer.c); --format, help and completion follow.
 */

#include "base/strbuf.h"
#include "measure/results.h"

struct writer {
	const char *name;      /* as in --format */
	const char *extension; /* file extension without the dot */
	void (*write)(const struct results *r, struct strbuf *out);
};

/* The last entry has a NULL name; writers[0] is the default. */
extern const struct writer writers[];
/* "auto", then the names of writers[] in order: an option's choices. */
extern const char *const writer_names[];

/* Text for a terminal, with rows about missed goals in red. */
void writer_coloured(const struct results *r, struct strbuf *out);

/* NULL if there is no such format. */
const struct writer *writer_find(const char *name);
/* The writer for the extension of `path`; NULL if it is unknown. */
const struct writer *writer_of_path(const char *path);

#endif
