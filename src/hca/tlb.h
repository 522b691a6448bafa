/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_TLB_H
#define HD_HCA_TLB_H

/*
 * Model of an adapter's cache of page translations: the `entries` most recently used pages. It
 * only distinguishes hits from misses.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tlb {
	uint32_t entries; /* 0: unlimited, no misses */
	uint64_t last;    /* last page used, checked first */
	uint32_t *heads;  /* hash table: first node */
	uint32_t mask;
	struct tlb_node {
		uint64_t page;
		uint32_t chain;        /* next node of the same hash */
		uint32_t newer, older; /* LRU order; node 0 is the list head */
	} * nodes;
	uint32_t n; /* used nodes, without node 0 */
};

void tlb_init(struct tlb *t, uint32_t entries);
void tlb_fini(struct tlb *t);
/* Uses a page; false on a miss. */
bool tlb_use(struct tlb *t, uint64_t page);

#endif
