/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_FUTEX_H
#define HD_LIVE_FUTEX_H

/* Futexes: words in shared memory on which processes sleep. */

#include <stdatomic.h>
#include <stdint.h>

/* Increments the word and wakes all threads that sleep on it. */
void live_wake(_Atomic uint32_t *word);
/* Sleeps until the word differs from `seen`, for at most `ns` nanoseconds. */
void live_sleep(_Atomic uint32_t *word, uint32_t seen, long ns);

#endif
