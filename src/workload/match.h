/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_MATCH_H
#define HD_WORKLOAD_MATCH_H

/*
 * Message matching (docs/timing-rules.md, J4): receives that wait for messages,
 * or messages that wait for receives, of many ranks. The earliest matching
 * entry is taken. This takes constant time if no source or tag is OP_ANY;
 * otherwise the time is linear in the entries of the rank.
 */

#include <stdbool.h>
#include <stddef.h>

#include "workload/op.h"

#define MATCH_NONE UINT32_MAX

struct match_key {
	uint32_t rank; /* receiving rank */
	uint32_t source, tag;
};

struct match_line {
	struct match_item {
		struct match_key key;
		uint32_t value, next;
	} * items;
	size_t items_cap;
	uint32_t n_items, free, n;
	struct match_bucket {
		uint32_t first, last;
	} * buckets;
	size_t n_buckets; /* 0 or a power of two */
	bool by_rank;
};

/* `has_any`: some keys will contain OP_ANY. */
void match_init(struct match_line *l, bool has_any);
void match_fini(struct match_line *l);
void match_put(struct match_line *l, struct match_key key, uint32_t value);
/* MATCH_NONE if no entry matches. */
uint32_t match_take(struct match_line *l, struct match_key key);
/* Number of waiting entries, and copies of them: by rank, entries with the same
 * key in order of insertion. */
uint32_t match_count(const struct match_line *l);
void match_list(const struct match_line *l, struct match_item *out);

#endif
