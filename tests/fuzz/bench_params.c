/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process that listens is sent: read back as it was, or refused. */
#include <stdlib.h>
#include <string.h>

#include "bench/params_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag why = { .status = HD_OK };
	uint8_t again[PARAMS_CODE_SIZE];
	struct bench_params p;

	if (params_decode(data, size, &why, &p) != HD_OK) {
		if (!why.message[0])
			abort();
		return 0;
	}
	params_encode(&p, again);
	if (memcmp(data, again, sizeof(again)) != 0)
		abort();
	return 0;
}
