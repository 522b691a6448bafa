/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_ALLOC_H
#define HD_BASE_ALLOC_H

/*
 * Memory allocation that does not fail: each function returns memory or ends
 * the program (base/memory.h), so callers have no out-of-memory path. Release
 * memory with free().
 */

#include <stddef.h>

/* Zeroed memory for `n` elements of `size` bytes; never NULL, even for 0. */
void *hd_alloc(size_t n, size_t size) __attribute__((malloc));
void *hd_realloc(void *old, size_t n, size_t size);
char *hd_strdup(const char *text) __attribute__((malloc));
char *hd_strndup(const char *text, size_t len) __attribute__((malloc));

/*
 * Like hd_alloc, but aligned to a cache line, and on separate huge pages from
 * HD_DENSE_HUGE bytes, if the system supports them. For arrays with random
 * access, where TLB misses would cost more than the access.
 */
#define HD_DENSE_HUGE ((size_t)64 << 10)
void *hd_alloc_dense(size_t n, size_t size) __attribute__((malloc));
/* Like hd_alloc_dense, with undefined content: pages take no memory before they are written. */
void *hd_alloc_lazy(size_t n, size_t size) __attribute__((malloc));
/* Zeroed and page-aligned; pages take no memory before they are written. For sparse arrays. */
void *hd_alloc_sparse(size_t n, size_t size) __attribute__((malloc));
/* Copies one array of hd_alloc_lazy to another and frees `from`. Pages of
 * `from` are released as they are read, so that the two arrays never take twice
 * the memory. */
void hd_move_lazy(void *to, void *from, size_t n, size_t size);
/* Like hd_grow, for an array of hd_alloc_dense; *cap at least doubles. */
void *hd_grow_dense(void *data, size_t *cap, size_t need, size_t size);

/*
 * Makes room in a growing array: returns `data`, moved if need be, with space
 * for at least `need` elements, and updates *cap. New space is not zeroed.
 *
 *	a->items = hd_grow(a->items, &a->cap, a->n + 1, sizeof(*a->items));
 *	a->items[a->n++] = item;
 */
void *hd_grow(void *data, size_t *cap, size_t need, size_t size);

#endif
