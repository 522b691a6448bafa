/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/arbiter.h"

#include <string.h>

static void compile(struct arbiter_list *l, const struct vlarb_entry *entries,
		    unsigned n)
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
	compile(&t->high, from->high, from->n_high);
	compile(&t->low, from->low, from->n_low);
	/* 64 * hi >= 4096 * limit, in blocks */
	t->limit = 64u * from->high_limit;
	t->unlimited = from->high_limit == 255;
}

void arbiter_init(struct arbiter *a, const struct arbiter_table *t)
{
	*a = (struct arbiter){
		.high_left = t->high.weight[0],
		.low_left = t->low.weight[0],
	};
}

bool arbiter_table_equal(const struct arbiter_table *a,
			 const struct arbiter_table *b)
{
	return memcmp(&a->high, &b->high, sizeof(a->high)) == 0 &&
	       memcmp(&a->low, &b->low, sizeof(a->low)) == 0 &&
	       a->limit == b->limit && a->unlimited == b->unlimited;
}

static int16_t cut(int16_t left, uint8_t weight)
{
	return left < weight ? left : weight;
}

void arbiter_adapt(struct arbiter *a, const struct arbiter_table *t)
{
	a->high_left = cut(a->high_left, t->high.weight[a->high_at]);
	a->low_left = cut(a->low_left, t->low.weight[a->low_at]);
}
