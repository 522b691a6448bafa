/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_FORMATS_H
#define HD_REPORT_FORMATS_H

/* The writers behind writer.h, one per file of the same name. */

#include "base/json.h"
#include "base/strbuf.h"
#include "measure/results.h"

/* Columns aligned for reading; lines that are not data start with '#'. */
void text_write(const struct results *r, struct strbuf *out);
/*
 * RFC 4180 with LF, a header line, and a '#' line with title and origins
 * before each table; an empty line between tables.
 */
void csv_write(const struct results *r, struct strbuf *out);
/* One object; each table by name under "tables". Numbers read back exactly. */
void json_write(const struct results *r, struct strbuf *out);
/*
 * "NAME HASH" for each table and for all together: the same results give the
 * same lines on every machine.
 */
void checksum_write(const struct results *r, struct strbuf *out);
/* A tabular per table with booktabs' rules, to \input into a paper. */
void latex_write(const struct results *r, struct strbuf *out);
/*
 * Columns for gnuplot under their names; two empty lines part tables, and the
 * curves of a series, so that `index` finds them: rows of a curve stand
 * together whatever their order in the table. No value is NaN.
 */
void gnuplot_write(const struct results *r, struct strbuf *out);
/* Nothing: what a run costs without its output. */
void null_write(const struct results *r, struct strbuf *out);

/* "# note: ..." for each remark, a line each. */
void remarks_write(const struct results *r, struct strbuf *out);
/* One cell as a person reads it, with the column's places. */
void value_write_text(const struct value *v, const struct column *c, struct strbuf *out);
/* A number so that it reads back exactly; false if it is none. */
bool value_write_number(const struct value *v, struct strbuf *out);
/* One cell, for all that is written as JSON. */
void value_write_json(struct json *w, const struct value *v);
/* "simulated", or "" when all columns are given or origins differ. */
const char *table_origin(const struct table *t);

#endif
