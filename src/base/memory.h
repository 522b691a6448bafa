/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_MEMORY_H
#define HD_BASE_MEMORY_H

/*
 * How much memory this process may have, and its end when that is not enough.
 *
 * base/alloc.h asks here before it takes much, and whenever what it took in
 * small pieces has added up. Beyond the limit, or when the system has no more,
 * the program ends with one line that names what grew. Code that builds
 * something large names it with memory_for().
 *
 * What is known in advance is asked for with memory_expect(), and refused in
 * time with a number; what grows in a run looks at memory_room() and can stop
 * while there is still something to show.
 *
 * Memory belongs to the process, and so does this state: set once by main().
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* Gets the line, without a newline; must not return. */
typedef void memory_end_fn(const char *line);

/* Limits further allocation to `bytes` (UINT64_MAX: no limit). */
void memory_limit(uint64_t bytes, memory_end_fn *end);

/*
 * Runs `work`; false if memory ran short in it, on this thread, with the line
 * in `line`. Then `work` was left where it was: what it had taken is lost, and
 * what it was changing must not be looked at again. For libraries, whose
 * callers want to live on. They nest.
 */
#define MEMORY_LINE 256
HD_MUST_CHECK bool memory_try(void (*work)(void *context), void *context,
			      char line[static MEMORY_LINE]);
/* The end with that line, which another thread has met. */
_Noreturn void memory_end(const char *line);

/* In one of n equal processes: limits it to its share of what is left. */
void memory_divide(unsigned n);

/* What is built from now on, in a plural noun; returns what was before. */
const char *memory_for(const char *what);

/* Bytes allocated since the limit was set. */
uint64_t memory_used(void);

/* Bytes that may still be taken. */
uint64_t memory_room(void);

/* HD_ERR_ENV, with both numbers, if `bytes` for `what` exceed the limit. */
HD_MUST_CHECK enum hd_status memory_expect(double bytes, const char *what, struct diag *d);

/* For base/alloc.c, and for memory that others allocate; 0: who knows. */
void memory_take(size_t bytes);
_Noreturn void memory_refused(size_t bytes);

/*
 * SuperLU's and METIS's own, which would print and end the program in their
 * way. The libraries call these because the program's come before theirs.
 */
#define MEMORY_SEEN __attribute__((visibility("default")))
MEMORY_SEEN void *superlu_malloc(size_t bytes);
MEMORY_SEEN size_t gk_GetCurMemoryUsed(void);

#endif
