/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_ALLOC_H
#define HD_BASE_ALLOC_H

/*
 * Memory that is always there: each function either returns it or ends the
 * program (base/memory.h), so no caller has an out-of-memory path. Free with
 * free().
 */

#include <stddef.h>

/* Zeroed memory for `n` elements of `size` bytes; never NULL, even for 0. */
void *hd_alloc(size_t n, size_t size) __attribute__((malloc));
void *hd_realloc(void *old, size_t n, size_t size);
char *hd_strdup(const char *text) __attribute__((malloc));
char *hd_strndup(const char *text, size_t len) __attribute__((malloc));

/*
 * The same as hd_alloc, but starting at a cache line, and on huge pages of its
 * own from HD_DENSE_HUGE bytes on, if the system has them: for arrays that are
 * accessed at random, where looking up pages would cost more than the access.
 */
#define HD_DENSE_HUGE ((size_t)64 << 10)
void *hd_alloc_dense(size_t n, size_t size) __attribute__((malloc));
/* The same with any content: pages take no memory before they are written. */
void *hd_alloc_lazy(size_t n, size_t size) __attribute__((malloc));
/* Zeroed and page-aligned; pages take no memory before they are written. For
 * sparse arrays. */
void *hd_alloc_sparse(size_t n, size_t size) __attribute__((malloc));
/* From one array of hd_alloc_lazy to another. Pages are given back as they are
 * read, so that the two never take twice the memory; then `from` is freed. */
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
