/* SPDX-License-Identifier: BSD-2-Clause */
/* Packed structs: whatever is accepted is written again as the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct row {
	uint8_t u8;
	int8_t i8;
	bool flag;
	uint16_t u16;
	int32_t i32;
	uint64_t u64[2];
	int64_t i64;
	double real;
};

static const struct pack_member row_members[] = {
	PACK(row, u8),  PACK(row, i8),       PACK(row, flag), PACK(row, u16),
	PACK(row, i32), PACK_EACH(row, u64), PACK(row, i64),  PACK(row, real),
};

struct rows {
	struct row *rows;
	size_t n;
	char *text;
	size_t len;
};

static void pack_rows(struct pack *p, struct rows *r)
{
	r->n = pack_count(p, r->n);
	if (p->reads)
		r->rows = hd_alloc(r->n, sizeof(*r->rows));
	for (size_t i = 0; i < r->n; i++)
		PACK_STRUCT(p, row_members, &r->rows[i]);
	r->len = pack_count(p, r->len);
	if (p->reads)
		r->text = hd_alloc(r->len, 1);
	pack_bytes(p, r->text, r->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf again = STRBUF_INIT;
	struct rows r = { .n = 0 };
	struct pack p;

	pack_from(&p, data, size);
	pack_rows(&p, &r);
	if (pack_is_done(&p)) {
		pack_to(&p, &again);
		pack_rows(&p, &r);
		if (again.len != size || memcmp(again.text, data, size) != 0)
			abort();
	}
	strbuf_fini(&again);
	free(r.rows);
	free(r.text);
	return 0;
}
