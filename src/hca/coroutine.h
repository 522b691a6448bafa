/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_COROUTINE_H
#define HD_HCA_COROUTINE_H

/*
 * A function that can stop in the middle and be continued, on a stack of its
 * own. Switching saves the registers that a call preserves and nothing else:
 * no system call, some nanoseconds. (The C library's swapcontext saves signal
 * masks by a system call each time, which would cost more than the simulation
 * of a packet.) Floating-point modes are shared by all.
 *
 * A coroutine may be freed while it is stopped: its stack goes away and what
 * it held there with it; nothing on it is unwound. Address sanitizers are notified
 * of every switch.
 */

#include <stdbool.h>
#include <stddef.h>

struct coroutine;

typedef void coroutine_fn(void *argument);

/* Nothing runs before the first resume. The stack ends at a guard page. */
struct coroutine *coroutine_new(size_t stack, coroutine_fn *fn, void *argument);
void coroutine_free(struct coroutine *c);

/* Runs until it yields (true) or returns (false); not again after that. */
bool coroutine_resume(struct coroutine *c);
/* Called inside: stops until the next resume. */
void coroutine_yield(struct coroutine *c);

#endif
