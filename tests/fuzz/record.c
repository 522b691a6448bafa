/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of MPI programs: what is taken is GOAL that reads back the same. */
#include <stdlib.h>
#include <string.h>

#include "workload/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

/* Records of ranks stand behind each other, a line "%" between them. */
struct input {
	char *data;
	size_t size;
};

static FILE *open_record(void *context, uint32_t rank)
{
	const struct input *in = context;
	size_t begin = 0, end = 0;

	for (uint32_t i = 0; i <= rank; i++) {
		begin = i ? end + 2 : 0;
		if (begin >= in->size)
			return NULL;
		for (end = begin; end < in->size; end++) {
			if (in->data[end] == '%' && end + 1 < in->size && in->data[end + 1] == '\n')
				break;
		}
	}
	return end > begin ? fmemopen(in->data + begin, end - begin, "r") : NULL;
}

/* Ranks and members of communicators take memory before they are there. */
static int is_small(const uint8_t *data, size_t size)
{
	unsigned digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > 4)
			return 0;
	}
	return size > 0 && size < 4096;
}

static void check_text(const struct opgraph *g)
{
	struct diag d = { .status = HD_OK };
	struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;
	struct opgraph again;

	opgraph_write(g, &once);
	FILE *in = fmemopen(once.text, once.len, "r");

	check(in != NULL);
	check(opgraph_read(in, &d, &again) == HD_OK);
	fclose(in);
	opgraph_write(&again, &twice);
	opgraph_fini(&again);
	check(strcmp(once.text, twice.text) == 0);
	strbuf_fini(&once);
	strbuf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { malloc(size + 1), size };
	const struct record_source from = { open_record, &in };
	struct diag d = { .status = HD_OK };
	struct opgraph g;

	check(in.data != NULL);
	memcpy(in.data, data, size);
	if (!is_small(data, size)) {
		free(in.data);
		return 0;
	}
	if (record_read_from(&from, true, &d, &g) == HD_OK) {
		check_text(&g);
		opgraph_fini(&g);
	} else {
		check(d.status != HD_OK && d.message[0]);
	}
	free(in.data);
	return 0;
}
