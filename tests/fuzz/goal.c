/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces: what is read is written as text that reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "workload/opgraph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static enum hd_status parse(const void *text, size_t size, struct diag *d, struct opgraph *g)
{
	char *copy = malloc(size);

	check(copy != NULL);
	memcpy(copy, text, size);
	FILE *in = fmemopen(copy, size, "r");

	check(in != NULL);
	enum hd_status status = opgraph_read(in, d, g);

	fclose(in);
	free(copy);
	return status;
}

/* Ranks without operations take memory all the same. */
static int is_small(const uint8_t *data, size_t size)
{
	unsigned digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 5)
			return 0;
	}
	return size > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { .status = HD_OK };
	struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;
	struct opgraph g;

	if (!is_small(data, size))
		return 0;
	if (parse(data, size, &d, &g) != HD_OK) {
		check(d.status != HD_OK && d.message[0]);
		return 0;
	}
	opgraph_write(&g, &once);
	opgraph_fini(&g);
	check(parse(once.text, once.len, &d, &g) == HD_OK);
	opgraph_write(&g, &twice);
	opgraph_fini(&g);
	check(strcmp(once.text, twice.text) == 0);
	strbuf_fini(&once);
	strbuf_fini(&twice);
	return 0;
}
