/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/rmpp.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/mad_tables.h"

void rmpp_fini(struct rmpp_joiner *j)
{
	for (size_t i = 0; i < RMPP_ANSWERS; i++)
		free(j->answers[i].bytes);
}

/* The response of `key`, or an entry for it. */
static struct rmpp_answer *find(struct rmpp_joiner *j, const struct rmpp_key *key)
{
	struct rmpp_answer *oldest = &j->answers[0];

	for (size_t i = 0; i < RMPP_ANSWERS; i++) {
		struct rmpp_answer *a = &j->answers[i];

		if (a->used && memcmp(&a->key, key, sizeof(*key)) == 0)
			return a;
		if (a->turn < oldest->turn)
			oldest = a;
	}
	oldest->used = false;
	return oldest;
}

/* Keeps the incomplete record of the last segment if this segment continues it. */
static void continue_record(struct rmpp_answer *a, const struct rmpp_key *key, uint32_t segment)
{
	bool follows = a->used && segment == a->segment + 1 && segment > 1;

	a->size -= follows ? a->done : a->size;
	if (follows)
		memmove(a->bytes, a->bytes + a->done, a->size);
	a->used = true;
	a->key = *key;
	a->segment = segment;
}

void rmpp_join(struct rmpp_joiner *j, const struct rmpp_key *key, struct mad *m)
{
	const struct rmpp *r = &m->rmpp;
	size_t stride = m->record && r->active ? mad_table_stride(m) : 0;

	if (stride == 0 || r->type != RMPP_DATA || r->segment == 0)
		return;
	struct rmpp_answer *a = find(j, key);

	/* A repeated segment; but segment 1 may also begin another response. */
	if (a->used && r->segment <= a->segment && r->segment > 1)
		return;
	continue_record(a, key, r->segment);
	a->turn = ++j->turn;
	uint64_t offset = (uint64_t)(r->segment - 1) * SA_DATA_SIZE - a->size;

	/* One additional byte, so that the buffer of an empty response is not NULL. */
	a->bytes = hd_grow(a->bytes, &a->cap, a->size + r->bytes + 1, 1);
	memcpy(a->bytes + a->size, m->data, r->bytes);
	a->size += r->bytes;
	m->table = mad_table_find(offset, a->bytes, a->size, m->record->size, stride);
	uint64_t next = (m->table.first + m->table.n) * stride - offset;

	a->done = next < a->size ? (size_t)next : a->size;
}
