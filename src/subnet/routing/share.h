/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_SHARE_H
#define HD_SUBNET_ROUTING_SHARE_H

/*
 * Forwarding tables that are shared as they are made, one switch after the
 * other: in rows they would take ten times the memory of what is left of them,
 * and that would be the most that a large fabric ever takes.
 *
 *	lft_fold_begin(&fold, s->n_switches, s->lft_stride);
 *	for each switch: lft_fold_row(&fold, sw, row);
 *	lft_fold_into(&fold, s);
 */

#include "subnet/subnet.h"

/* Finds stored rows by their hash; numbers are + 1, 0 marks a free slot. */
struct intern_index {
	uint32_t *slots;
	size_t n_slots; /* a power of two, more than twice those kept */
	size_t n;
};

struct lft_fold {
	int32_t *at;    /* of struct lft_blocks */
	uint8_t *bytes; /* blocks that are kept; there is room for */
	size_t cap;
	struct intern_index kept;
	size_t n_places; /* of `at` */
	unsigned in_row; /* blocks of a switch that LIDs are in */
};

void lft_fold_begin(struct lft_fold *f, uint32_t n_switches, uint32_t stride);
/* `row` has the ports of LIDs below the stride. */
void lft_fold_row(struct lft_fold *f, switch_id sw, const uint8_t *row);
/* The subnet's tables are those from now on. */
void lft_fold_into(struct lft_fold *f, struct subnet *s);

/* No switch forwards anything; in blocks. */
void lft_clear(struct subnet *s);

#endif
