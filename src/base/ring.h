/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_RING_H
#define HD_BASE_RING_H

/*
 * Rings that take no more room than they ever needed. One has the items head,
 * ..., tail - 1, numbers that only grow (and may overflow), and item i is in
 * place i % places, which is a power of 2, or 0.
 *
 *	q->ring = ring_grow(q->ring, &q->places, q->head, q->tail,
 *			    sizeof(*q->ring));
 *	q->ring[q->tail++ % q->places] = item;
 */

#include <stddef.h>
#include <stdint.h>

/* The ring, moved if need be, with a place for item `tail`. */
void *ring_grow(void *ring, uint32_t *places, uint32_t head, uint32_t tail, size_t size);

#endif
