/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/match.h"

#include <stdlib.h>

#include "base/alloc.h"

#define FIRST_BUCKETS 64

void match_init(struct match_line *l, bool has_any)
{
	*l = (struct match_line){ .by_rank = has_any, .free = MATCH_NONE };
}

void match_fini(struct match_line *l)
{
	free(l->items);
	free(l->buckets);
}

static struct match_bucket *bucket_of(const struct match_line *l, struct match_key k)
{
	uint64_t h = (uint64_t)k.rank * UINT64_C(0x9e3779b97f4a7c15);

	if (!l->by_rank) {
		h ^= (uint64_t)k.source * UINT64_C(0xc2b2ae3d27d4eb4f);
		h ^= (uint64_t)k.tag * UINT64_C(0x165667b19e3779f9);
	}
	h ^= h >> 29;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return &l->buckets[(h >> 32) & (l->n_buckets - 1)];
}

static void append(struct match_line *l, uint32_t item)
{
	struct match_bucket *b = bucket_of(l, l->items[item].key);

	l->items[item].next = MATCH_NONE;
	if (b->first == MATCH_NONE)
		b->first = item;
	else
		l->items[b->last].next = item;
	b->last = item;
}

/* Entries with equal keys were in one bucket and keep their order. */
static void grow(struct match_line *l)
{
	struct match_bucket *old = l->buckets;
	size_t n_old = l->n_buckets;

	l->n_buckets = n_old ? 2 * n_old : FIRST_BUCKETS;
	l->buckets = hd_alloc(l->n_buckets, sizeof(*l->buckets));
	for (size_t i = 0; i < l->n_buckets; i++)
		l->buckets[i].first = MATCH_NONE;
	for (size_t i = 0; i < n_old; i++) {
		for (uint32_t at = old[i].first, next; at != MATCH_NONE; at = next) {
			next = l->items[at].next;
			append(l, at);
		}
	}
	free(old);
}

void match_put(struct match_line *l, struct match_key key, uint32_t value)
{
	uint32_t item = l->free;

	if (l->n >= l->n_buckets)
		grow(l);
	if (item == MATCH_NONE) {
		item = l->n_items++;
		l->items = hd_grow(l->items, &l->items_cap, l->n_items, sizeof(*l->items));
	} else {
		l->free = l->items[item].next;
	}
	l->items[item] = (struct match_item){ key, value, MATCH_NONE };
	l->n++;
	append(l, item);
}

static bool fits(uint32_t a, uint32_t b)
{
	return a == b || a == OP_ANY || b == OP_ANY;
}

uint32_t match_take(struct match_line *l, struct match_key key)
{
	uint32_t before = MATCH_NONE;

	if (!l->n)
		return MATCH_NONE;
	struct match_bucket *b = bucket_of(l, key);

	for (uint32_t at = b->first; at != MATCH_NONE; before = at, at = l->items[at].next) {
		struct match_item *i = &l->items[at];

		if (i->key.rank != key.rank || !fits(i->key.source, key.source) ||
		    !fits(i->key.tag, key.tag))
			continue;
		if (before == MATCH_NONE)
			b->first = i->next;
		else
			l->items[before].next = i->next;
		if (b->last == at)
			b->last = before;
		i->next = l->free;
		l->free = at;
		l->n--;
		return i->value;
	}
	return MATCH_NONE;
}

uint32_t match_count(const struct match_line *l)
{
	return l->n;
}

/* `next` is the place where it was found. */
static int compare_places(const struct match_item *a, const struct match_item *b)
{
	return a->next < b->next ? -1 : a->next > b->next;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct match_item *x = a, *y = b;

	if (x->key.rank != y->key.rank)
		return x->key.rank < y->key.rank ? -1 : 1;
	return compare_places(x, y);
}

static int compare_keys(const void *a, const void *b)
{
	const struct match_item *x = a, *y = b;

	if (x->key.rank != y->key.rank)
		return x->key.rank < y->key.rank ? -1 : 1;
	if (x->key.source != y->key.source)
		return x->key.source < y->key.source ? -1 : 1;
	if (x->key.tag != y->key.tag)
		return x->key.tag < y->key.tag ? -1 : 1;
	return compare_places(x, y);
}

void match_list(const struct match_line *l, struct match_item *out)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->n_buckets; i++) {
		for (uint32_t at = l->buckets[i].first; at != MATCH_NONE; at = l->items[at].next) {
			out[n] = l->items[at];
			out[n].next = n;
			n++;
		}
	}
	if (n)
		qsort(out, n, sizeof(*out), l->by_rank ? compare_ranks : compare_keys);
}
