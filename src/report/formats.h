/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_FORMATS_H
#define HD_REPORT_FORMATS_H

/* Functions of the writers in writer.h, one per file of the same name. */

#include "base/json.h"
#include "base/strbuf.h"
#include "measure/results.h"

/* Columns aligned for reading; lines that are not data start with '#'. */
void writer_text(const struct results *r, struct strbuf *out);
/*
 * RFC 4180 with LF, a header line, and a '#' line with title and origins
 * before each table; an empty line between tables.
 */
void writer_csv(const struct results *r, struct strbuf *out);
/* One table: a header and rows, without comments. */
void writer_csv_table(const struct table *t, struct strbuf *out);
/* One object; each table by name under "tables". Numbers read back exactly. */
void writer_json(const struct results *r, struct strbuf *out);
/*
 * Writes "NAME HASH" for each table and for all tables together. The same
 * results give the same lines on every machine.
 */
void writer_checksum(const struct results *r, struct strbuf *out);
/* A tabular per table with the rules of booktabs, for \input in a paper. */
void writer_latex(const struct results *r, struct strbuf *out);
/*
 * Columns for gnuplot under their names. Two empty lines separate tables, and
 * the curves of a series, so that `index` selects them. The rows of a curve are
 * consecutive, regardless of their order in the table. A missing value is NaN.
 */
void writer_gnuplot(const struct results *r, struct strbuf *out);
/* Writes nothing; for measuring the cost of a run without output. */
void writer_null(const struct results *r, struct strbuf *out);

/* One line "# note: ..." per remark. */
void writer_remarks(const struct results *r, struct strbuf *out);
/* Formats one cell for display, with the column's places. */
void writer_value_text(const struct value *v, const struct column *c, struct strbuf *out);
/* Formats a number so that it reads back exactly; false for other values. */
bool writer_value_number(const struct value *v, struct strbuf *out);
/* Formats one cell as JSON. */
void writer_value_json(struct json *w, const struct value *v);
/* "simulated", or "" when all columns are given or origins differ. */
const char *writer_table_origin(const struct table *t);

#endif
