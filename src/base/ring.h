/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_RING_H
#define HD_BASE_RING_H

/*
 * Ring buffers that grow on demand. A ring has the items head, ..., tail - 1,
 * numbers that only increase (and may overflow). Item i is at index i % places;
 * `places` is a power of 2, or 0.
 *
 *	q->ring = ring_grow(q->ring, &q->places, q->head, q->tail,
 *			    sizeof(*q->ring));
 *	q->ring[q->tail++ % q->places] = item;
 */

#include <stddef.h>
#include <stdint.h>

/* Returns the ring, moved if necessary, with room for item `tail`. */
void *ring_grow(void *ring, uint32_t *places, uint32_t head, uint32_t tail, size_t size);

#endif
