/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_LOAD_H
#define HD_BENCH_LOAD_H

/*
 * Outcomes of benchmarks, whoever wrote them, as 'heddle bench --json' does:
 * an object "tables" of tests with "rows" that have "#bytes", "#iterations" and
 * "t_avg" and maybe "t_typical" (us) or "BW average" (MiB/s). What perftest
 * prints is turned into that: its tests have our names, its units become ours.
 */

#include <jansson.h>

#include "base/diag.h"

/* To be released with json_decref. */
HD_MUST_CHECK enum hd_status bench_load(const char *path, struct diag *d, json_t **out);

/* What a row of such a table has; NaN if that is no number. */
double bench_number(const json_t *row, const char *column);

/* Of perftest's text; NULL if there is no result in it. */
json_t *bench_perftest_read(const char *text);

#endif
