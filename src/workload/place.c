/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/place.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"

/* A host, by its switch (numbered as they first appear) and its place there. */
struct spot_of_host {
	uint32_t leaf, nth, host;
};

static int by_leaf(const void *a, const void *b)
{
	const struct spot_of_host *x = a, *y = b;

	if (x->leaf != y->leaf)
		return x->leaf < y->leaf ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static int by_turn(const void *a, const void *b)
{
	const struct spot_of_host *x = a, *y = b;

	if (x->nth != y->nth)
		return x->nth < y->nth ? -1 : 1;
	return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

static void sort_hosts(const uint32_t *leaf, uint32_t n, bool in_turn, uint32_t *order)
{
	struct spot_of_host *spots = hd_alloc(n, sizeof(*spots));
	uint32_t *n_on = hd_alloc(n, sizeof(*n_on));
	struct map seen = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		uint32_t number = map_get(&seen, leaf[i]);

		if (number == MAP_NONE) {
			number = (uint32_t)seen.n;
			map_put(&seen, leaf[i], number);
		}
		spots[i] = (struct spot_of_host){ number, n_on[number]++, i };
	}
	qsort(spots, n, sizeof(*spots), in_turn ? by_turn : by_leaf);
	for (uint32_t i = 0; i < n; i++)
		order[i] = spots[i].host;
	map_fini(&seen);
	free(n_on);
	free(spots);
}

void place_ranks(enum placement how, const uint32_t *leaf, uint32_t n, struct rng *rng,
		 uint32_t ranks, uint32_t *hosts)
{
	uint32_t *order = hd_alloc(n, sizeof(*order));

	assert(ranks <= n);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (how == PLACE_RANDOM) {
		rng_shuffle(rng, order, n);
	} else if (how != PLACE_LINEAR) {
		sort_hosts(leaf, n, how == PLACE_ROUND, order);
	}
	for (uint32_t i = 0; i < ranks; i++)
		hosts[i] = order[i];
	free(order);
}
