/* SPDX-License-Identifier: BSD-2-Clause */
/* Sweeps: whatever is accepted is finite, not empty and not endless. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = hd_strndup((const char *)data, size);
	struct diag d = { .status = HD_OK };
	struct series s;

	if (series_parse(text, &d, &s) != HD_OK) {
		if (!d.message[0])
			abort();
		free(text);
		return 0;
	}
	if (s.n == 0 || s.n > SERIES_MAX)
		abort();
	for (size_t k = 0; k < s.n; k++) {
		if (!isfinite(s.values[k]))
			abort();
	}
	series_fini(&s);
	free(text);
	return 0;
}
