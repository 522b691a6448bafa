/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats.h"

#include <string.h>

/* FNV-1a, 64 bits: sufficient to distinguish two runs. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x00000100000001b3)

static uint64_t add_bytes(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * HASH_PRIME;
	return hash;
}

/* With its NUL, so that "ab","c" and "a","bc" differ. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	return add_bytes(hash, text, strlen(text) + 1);
}

static uint64_t add_word(uint64_t hash, uint64_t word)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(word >> (8 * i));
	return add_bytes(hash, bytes, sizeof(bytes));
}

static uint64_t add_value(uint64_t hash, const struct value *v)
{
	uint64_t bits = 0;

	hash = add_word(hash, v->kind);
	switch (v->kind) {
	case VALUE_NONE:
		return hash;
	case VALUE_TEXT:
		return add_text(hash, v->text);
	case VALUE_UINT:
		return add_word(hash, v->u);
	case VALUE_INT:
		return add_word(hash, (uint64_t)v->i);
	case VALUE_REAL:
		memcpy(&bits, &v->real, sizeof(bits));
		return add_word(hash, bits);
	case VALUE_BOOL:
		return add_word(hash, v->yes);
	}
	return hash;
}

static uint64_t table_hash(const struct table *t)
{
	uint64_t hash = add_text(HASH_START, t->name);

	for (size_t i = 0; i < t->n_columns; i++) {
		hash = add_text(hash, t->columns[i].name);
		hash = add_text(hash, t->columns[i].unit);
		hash = add_word(hash, t->columns[i].origin);
	}
	for (size_t i = 0; i < t->n_cells; i++)
		hash = add_value(hash, &t->cells[i]);
	return hash;
}

void writer_checksum(const struct results *r, struct strbuf *out)
{
	uint64_t all = HASH_START;

	for (size_t i = 0; i < r->n_tables; i++) {
		uint64_t hash = table_hash(r->tables[i]);

		all = add_word(all, hash);
		strbuf_printf(out, "%s %016llx\n", r->tables[i]->name, (unsigned long long)hash);
	}
	strbuf_printf(out, "all %016llx\n", (unsigned long long)all);
}
