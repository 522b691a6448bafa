/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/arbiter.h"

#include <string.h>

static void compile(struct arbiter_list *l, const struct vlarb_entry *entries, unsigned n)
{
	for (unsigned i = 0; i < n && i < VLARB_MAX; i++) {
		l->vl[i] = entries[i].vl & 15;
		l->weight[i] = entries[i].weight;
		if (entries[i].weight > 0 && entries[i].vl < VL_MANAGEMENT)
			l->places[entries[i].vl] |= (uint64_t)1 << i;
	}
	for (unsigned set = 0; set < 16; set++) {
		for (unsigned vl = 0; vl < 4; vl++)
			l->sets[set] |= set >> vl & 1 ? l->places[vl] : 0;
	}
}

void arbiter_table_init(struct arbiter_table *t, const struct vlarb *from)
{
	memset(t, 0, sizeof(*t));
	compile(&t->lists[ARB_HIGH], from->high, from->n_high);
	compile(&t->lists[ARB_LOW], from->low, from->n_low);
	/* 64 * hi >= 4096 * limit, in blocks, and hi > 0; 255: never */
	t->limit = from->high_limit ? 64u * from->high_limit : 1;
	if (from->high_limit == 255)
		t->limit = UINT32_MAX;
}

void arbiter_init(struct arbiter *a, const struct arbiter_table *t)
{
	*a = (struct arbiter){ 0 };
	for (unsigned side = 0; side < 2; side++)
		a->left[side] = t->lists[side].weight[0];
}

void arbiter_adapt(struct arbiter *a, const struct arbiter_table *t)
{
	for (unsigned side = 0; side < 2; side++) {
		int16_t weight = t->lists[side].weight[a->at[side]];

		a->left[side] = a->left[side] < weight ? a->left[side] : weight;
	}
}
