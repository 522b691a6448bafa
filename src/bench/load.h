/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_LOAD_H
#define HD_BENCH_LOAD_H

/*
 * Results of benchmarks in the format of 'heddle bench --json': an object
 * "tables" of tests with "rows" that have "#bytes", "#iterations" and "t_avg"
 * and maybe "t_typical" (us) or "BW average" (MiB/s). The output of perftest is
 * converted to this format, with our names of tests and our units.
 */

#include <jansson.h>

#include "base/diag.h"

/* To be released with json_decref. */
HD_MUST_CHECK enum hd_status bench_load(const char *path, struct diag *d, json_t **out);

/* The value of a column in a row; NaN if it is not a number. */
double bench_number(const json_t *row, const char *column);

/* Of perftest's text; NULL if there is no result in it. */
json_t *bench_perftest_read(const char *text);

#endif
