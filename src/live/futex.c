/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1
#include "live/futex.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void live_wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void live_sleep(_Atomic uint32_t *word, uint32_t seen, long ns)
{
	const struct timespec most = { .tv_nsec = ns };

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}
