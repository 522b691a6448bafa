/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_PAPER_VALUE_H
#define HD_PAPER_VALUE_H

/* Looks up the rows, the column and the number of a paper_value. */

#include "base/strbuf.h"
#include "measure/results.h"
#include "paper/paper.h"

/* A case: columns, and the cells of its rows in these columns. */
struct binding {
	char *name;
	const struct value *is;
};

struct bindings {
	struct binding *items;
	size_t n, cap;
};
void bindings_add(struct bindings *b, const char *name, size_t len, const struct value *is);
void bindings_fini(struct bindings *b);
/* "vls=2, size=32" */
void bindings_print(const struct bindings *b, struct strbuf *out);

struct paper_cells {
	const struct table *table;
	size_t column; /* n_columns if no column is named */
	size_t *rows, n;
	double *numbers; /* values of the column; NaN if a cell has no number */
};

/*
 * Finds the rows that match `where` and the case. Columns of the case that the
 * table lacks or that `where` already restricts are ignored. Returns false with
 * a reason if something is missing; zero matching rows are an error only if
 * rows are not counted.
 */
bool paper_value_find(const struct paper_value *v, const struct results *r,
		      const struct bindings *in, struct paper_cells *out, struct strbuf *missing);
void paper_cells_fini(struct paper_cells *f);

/* Reduces the rows to one number; NaN, with a reason, if none exists. */
double paper_cells_reduce(const struct paper_cells *f, const struct paper_value *v,
			  struct strbuf *missing);

/* Index of a column; n_columns if none exists. */
size_t paper_column_find(const struct table *t, const char *name, size_t len);
/* Whether a cell has the `len` characters at `text`. */
bool paper_cell_is(const struct value *v, const char *text, size_t len);
bool paper_cell_same(const struct value *a, const struct value *b);

#endif
