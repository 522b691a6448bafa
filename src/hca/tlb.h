/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_TLB_H
#define HD_HCA_TLB_H

/*
 * An adapter's cache of page translations: the most recently used `entries`
 * pages. Nothing is translated here; it only tells hits from misses.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tlb {
	uint32_t entries; /* 0: everything hits */
	uint64_t last;    /* page used last: asked for most often */
	uint32_t *heads;  /* hash: first node */
	uint32_t mask;
	struct tlb_node {
		uint64_t page;
		uint32_t chain;        /* next of the same hash */
		uint32_t newer, older; /* by use; node 0 closes the circle */
	} * nodes;
	uint32_t n; /* nodes in use, without node 0 */
};

void tlb_init(struct tlb *t, uint32_t entries);
void tlb_fini(struct tlb *t);
/* Uses a page; false if it had to be fetched. */
bool tlb_use(struct tlb *t, uint64_t page);

#endif
