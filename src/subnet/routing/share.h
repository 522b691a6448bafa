/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_SHARE_H
#define HD_SUBNET_ROUTING_SHARE_H

/*
 * Shared forwarding tables, built switch by switch. Unshared rows would take ten
 * times the memory, the peak of a large fabric.
 *
 *	lft_fold_begin(&fold, s->n_switches, s->lft_stride);
 *	for each switch: lft_fold_row(&fold, sw, row);
 *	lft_fold_into(&fold, s);
 */

#include "subnet/subnet.h"

/* Index of stored rows by hash; entries are the number + 1, 0 marks a free slot. */
struct intern_index {
	uint32_t *slots;
	size_t n_slots; /* a power of two, more than twice the number of stored rows */
	size_t n;
};

struct lft_fold {
	int32_t *at;    /* of struct lft_blocks */
	uint8_t *bytes; /* stored blocks; the capacity is `cap` */
	size_t cap;
	struct intern_index kept;
	size_t n_places; /* of `at` */
	unsigned in_row; /* blocks per switch that have LIDs */
};

void lft_fold_begin(struct lft_fold *f, uint32_t n_switches, uint32_t stride);
/* `row` has the ports of LIDs below the stride. */
void lft_fold_row(struct lft_fold *f, switch_id sw, const uint8_t *row);
/* Replaces the subnet's tables. */
void lft_fold_into(struct lft_fold *f, struct subnet *s);

/* Clears all forwarding tables, in shared form. */
void lft_clear(struct subnet *s);

#endif
