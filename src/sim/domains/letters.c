/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/letters.h"

#include <stdlib.h>

#include "base/alloc.h"

static const struct pack_member letter_members[] = {
	PACK(letter, when),
	PACK(letter, id),
	PACK(letter, what),
};

void letters_add(struct letters *l, uint8_t what, uint32_t id, hd_time when)
{
	l->all = hd_grow(l->all, &l->cap, l->n + 1, sizeof(*l->all));
	l->all[l->n++] = (struct letter){ .when = when, .id = id, .what = what };
}

void letters_pack(struct letters *l, struct pack *p, letter_fn *with, void *context)
{
	size_t n = pack_count(p, p->reads ? 0 : l->n);

	for (size_t i = 0; i < n && !p->refused; i++) {
		struct letter one = { 0 };

		if (!p->reads)
			one = l->all[i];
		PACK_STRUCT(p, letter_members, &one);
		if (!p->refused)
			with(context, p, &one);
	}
	if (!p->reads)
		l->n = 0;
}

void letters_fini(struct letters *l)
{
	free(l->all);
}
