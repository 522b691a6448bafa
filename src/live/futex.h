/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_FUTEX_H
#define HD_LIVE_FUTEX_H

/* Words in shared memory that processes sleep on. */

#include <stdatomic.h>
#include <stdint.h>

/* Changes the word, and wakes all threads that sleep on it. */
void live_wake(_Atomic uint32_t *word);
/* Sleeps until the word differs from `seen`, for `ns` at most. */
void live_sleep(_Atomic uint32_t *word, uint32_t seen, long ns);

#endif
