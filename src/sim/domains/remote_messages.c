/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/domains/remote_messages.h"

#include <stdlib.h>

#include "base/alloc.h"

static const struct pack_member letter_members[] = {
	PACK(remote_message, when),
	PACK(remote_message, id),
	PACK(remote_message, what),
};

void remote_messages_add(struct remote_messages *l, uint8_t what, uint32_t id, hd_time when)
{
	l->all = hd_grow(l->all, &l->cap, l->n + 1, sizeof(*l->all));
	l->all[l->n++] = (struct remote_message){ .when = when, .id = id, .what = what };
}

void remote_messages_pack(struct remote_messages *l, struct pack *p, remote_message_fn *with,
			  void *context)
{
	size_t n = pack_count(p, p->reads ? 0 : l->n);

	for (size_t i = 0; i < n && !p->refused; i++) {
		struct remote_message one = { 0 };

		if (!p->reads)
			one = l->all[i];
		PACK_STRUCT(p, letter_members, &one);
		if (!p->refused)
			with(context, p, &one);
	}
	if (!p->reads)
		l->n = 0;
}

void remote_messages_fini(struct remote_messages *l)
{
	free(l->all);
}
