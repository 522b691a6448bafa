/* SPDX-License-Identifier: BSD-2-Clause */
/* A file: every record is shown, and an end that is not clean has a reason. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/dissect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show_all(struct capture *c, struct diag *why)
{
	static struct dissection d;
	struct dissect_counts counts = { 0 };
	struct strbuf out = STRBUF_INIT;
	struct rmpp_joiner joiner = { 0 };
	struct capture_record rec;
	bool found = true;

	while (capture_next(c, why, &rec, &found) == HD_OK && found) {
		dissect(&rec, &d);
		dissect_join(&d, &joiner);
		dissect_count(&counts, &d);
		/* Records that were joined; tests/fuzz/packet.c shows all. */
		if (d.has_mad)
			dissection_full(&d, &out);
		else
			dissection_line(&d, &out);
		strbuf_clear(&out);
	}
	rmpp_fini(&joiner);
	if (why->status != HD_OK && !why->message[0])
		abort();
	dissect_counts_print(&counts, &out);
	strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag why = { .status = HD_OK };
	struct capture *c;

	if (size == 0)
		return 0;
	uint8_t *copy = hd_alloc(size, 1);

	memcpy(copy, data, size);
	FILE *stream = fmemopen(copy, size, "rb");

	if (!stream)
		abort();
	if (capture_open(stream, &why, &c) == HD_OK) {
		show_all(c, &why);
		capture_close(c);
	} else if (!why.message[0]) {
		abort();
	}
	free(copy);
	return 0;
}
