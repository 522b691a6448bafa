/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs of 256 bytes, the last filled up with zeros: shown as text and JSON,
 * whatever they say, and joined as if they were segments of one answer.
 */
#include <stdlib.h>
#include <string.h>

#include "wire/rmpp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(struct rmpp_joiner *joiner, const uint8_t *bytes)
{
	const struct rmpp_key key = { .tid = 1 };
	struct strbuf out = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct json w;
	struct mad m;

	if (mad_decode(bytes, MAD_SIZE, &d, &m) == HD_OK) {
		rmpp_join(joiner, &key, &m);
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rmpp_joiner joiner = { 0 };

	for (size_t at = 0; at <= size; at += MAD_SIZE) {
		size_t n = size - at < MAD_SIZE ? size - at : MAD_SIZE;
		/* On the heap, where a read too far is seen. */
		uint8_t *bytes = calloc(1, MAD_SIZE);

		if (!bytes)
			abort();
		if (n > 0)
			memcpy(bytes, data + at, n);
		show(&joiner, bytes);
		free(bytes);
	}
	rmpp_fini(&joiner);
	return 0;
}
