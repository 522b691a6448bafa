/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output of perftest, possibly edited: accepted rows have
 * a size and a result that can be computed with, of a test that we have.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static void check_row(const json_t *row)
{
	const json_t *time = json_object_get(row, "t_avg");
	const json_t *result = time ? time : json_object_get(row, "BW average");

	check(json_integer_value(json_object_get(row, "#bytes")) >= 1);
	check(json_integer_value(json_object_get(row, "#iterations")) >= 0);
	check(json_is_real(result) && json_real_value(result) > 0 &&
	      isfinite(json_real_value(result)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = hd_strndup((const char *)data, size);
	json_t *all = bench_perftest_read(text), *table, *row;
	struct diag d = { .status = HD_OK };
	const char *name;
	size_t i, rows = 0;

	json_object_foreach(json_object_get(all, "tables"), name, table)
	{
		check(bench_find(name, &d) != NULL);
		json_array_foreach(json_object_get(table, "rows"), i, row)
		{
			check_row(row);
			rows++;
		}
	}
	check(!all || rows > 0);
	json_decref(all);
	free(text);
	return 0;
}
