/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_LOAD_H
#define HD_BENCH_LOAD_H

/*
 * Loads benchmark results in the format of 'heddle bench --json': an object
 * "tables" of tests with "rows" that have "#bytes", "#iterations" and "t_avg",
 * and optionally "t_typical" (us) or "BW average" (MiB/s). Output of perftest
 * is converted to this format, with Heddle's names of tests and units.
 */

#include <jansson.h>

#include "base/diag.h"

/* Release the result with json_decref. */
HD_MUST_CHECK enum hd_status bench_load(const char *path, struct diag *d, json_t **out);

/* The value of a column in a row; NaN if it is not a number. */
double bench_number(const json_t *row, const char *column);

/* Parses perftest's text; NULL if it contains no result. */
json_t *bench_perftest_read(const char *text);

#endif
