/* SPDX-License-Identifier: BSD-2-Clause */
/* 256 bytes, filled up with zeros: shown as text and JSON, whatever it says. */
#include <stdlib.h>
#include <string.h>

#include "wire/mad.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	/* On the heap, where a read too far is seen. */
	uint8_t *bytes = calloc(1, MAD_SIZE);
	struct json w;
	struct mad m;

	if (!bytes)
		abort();
	if (size > 0)
		memcpy(bytes, data, size < MAD_SIZE ? size : MAD_SIZE);
	if (mad_decode(bytes, MAD_SIZE, &d, &m) == HD_OK) {
		mad_summary(&m, &out);
		mad_print(&m, "", &out);
		strbuf_clear(&out);
		json_init(&w, &out);
		mad_json(&m, &w);
		if (w.depth != 0)
			abort();
	} else if (!d.message[0]) {
		abort();
	}
	strbuf_fini(&out);
	free(bytes);
	return 0;
}
