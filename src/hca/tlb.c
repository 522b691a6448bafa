/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/tlb.h"

#include <stdlib.h>

#include "base/alloc.h"

#define NO_PAGE UINT64_MAX

void tlb_init(struct tlb *t, uint32_t entries)
{
	uint32_t size = 16;

	*t = (struct tlb){ .entries = entries, .last = NO_PAGE };
	if (entries == 0)
		return;
	while (size < 2 * entries)
		size *= 2;
	t->mask = size - 1;
	t->heads = hd_alloc(size, sizeof(*t->heads));
	t->nodes = hd_alloc((size_t)entries + 1, sizeof(*t->nodes));
}

void tlb_fini(struct tlb *t)
{
	free(t->heads);
	free(t->nodes);
}

static uint32_t hash_of(const struct tlb *t, uint64_t page)
{
	return (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 40) & t->mask;
}

static void unlink_node(struct tlb *t, uint32_t i)
{
	struct tlb_node *n = &t->nodes[i];

	t->nodes[n->newer].older = n->older;
	t->nodes[n->older].newer = n->newer;
}

/* nodes[0].older is the newest node, nodes[0].newer the oldest. */
static void link_newest(struct tlb *t, uint32_t i)
{
	struct tlb_node *n = &t->nodes[i], *end = &t->nodes[0];

	n->newer = 0;
	n->older = end->older;
	t->nodes[end->older].newer = i;
	end->older = i;
}

static uint32_t take_oldest(struct tlb *t)
{
	uint32_t i = t->nodes[0].newer;
	uint32_t *at = &t->heads[hash_of(t, t->nodes[i].page)];

	unlink_node(t, i);
	while (*at != i)
		at = &t->nodes[*at].chain;
	*at = t->nodes[i].chain;
	return i;
}

bool tlb_use(struct tlb *t, uint64_t page)
{
	if (t->entries == 0 || page == t->last)
		return true;
	t->last = page;
	uint32_t *head = &t->heads[hash_of(t, page)];

	for (uint32_t i = *head; i; i = t->nodes[i].chain) {
		if (t->nodes[i].page != page)
			continue;
		unlink_node(t, i);
		link_newest(t, i);
		return true;
	}
	uint32_t fresh = t->n < t->entries ? ++t->n : take_oldest(t);

	t->nodes[fresh].page = page;
	t->nodes[fresh].chain = *head;
	*head = fresh;
	link_newest(t, fresh);
	return false;
}
