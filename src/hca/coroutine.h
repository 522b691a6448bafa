/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_COROUTINE_H
#define HD_HCA_COROUTINE_H

/*
 * A function that can be suspended and resumed, on a stack of its own. A switch saves the
 * callee-saved registers only: no system call, a few nanoseconds. (swapcontext of the C library
 * saves signal masks by a system call each time, which would cost more than the
 * simulation of a packet.) All coroutines share the floating-point modes.
 *
 * A suspended coroutine may be freed: its stack is freed without unwinding, so resources held
 * on it leak. Address sanitizers are notified of every switch.
 */

#include <stdbool.h>
#include <stddef.h>

struct coroutine;

typedef void coroutine_fn(void *argument);

/* Does not run `fn` before the first resume. A guard page precedes the stack. */
struct coroutine *coroutine_new(size_t stack, coroutine_fn *fn, void *argument);
void coroutine_free(struct coroutine *c);

/*
 * Runs until the coroutine yields (true) or returns (false). Not to be called after it has
 * returned.
 */
bool coroutine_resume(struct coroutine *c);
/* Called by the running coroutine: suspends it until the next resume. */
void coroutine_yield(struct coroutine *c);

#endif
