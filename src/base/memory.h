/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_MEMORY_H
#define HD_BASE_MEMORY_H

/*
 * Memory limit of this process, and the end of the program when it is exceeded.
 *
 * base/alloc.h calls this module before large allocations, and whenever small
 * allocations have added up. Beyond the limit, or when the system has no more
 * memory, the program ends with one line that names the growing data. Code that
 * builds large data names it with memory_for().
 *
 * For sizes known in advance, memory_expect() fails early and reports the
 * required size. Data that grows during a run can compare with memory_room()
 * and stop while results can still be reported.
 *
 * Memory belongs to the process, and so does this state; main() sets it once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* Receives the line, without a newline; must not return. */
typedef void memory_end_fn(const char *line);

/* Limits further allocation to `bytes` (UINT64_MAX: no limit). */
void memory_limit(uint64_t bytes, memory_end_fn *end);

/*
 * Calls `work`; false if memory was exhausted in it, on this thread, with the
 * message in `line`. `work` was then abandoned: its memory is lost, and data
 * that it was modifying must not be used. For libraries whose callers must
 * survive. Calls nest.
 */
#define MEMORY_LINE 256
HD_MUST_CHECK bool memory_try(void (*work)(void *context), void *context,
			      char line[static MEMORY_LINE]);
/* Ends the program with a line that another thread reported. */
_Noreturn void memory_end(const char *line);

/* In one of n equal processes: limits it to its share of the remaining memory. */
void memory_divide(unsigned n);

/* Sets the name of the data built from now on, a plural noun; returns the previous one. */
const char *memory_for(const char *what);

/* Bytes allocated since the limit was set. */
uint64_t memory_used(void);

/* Number of bytes that may still be allocated. */
uint64_t memory_room(void);

/* HD_ERR_ENV, with both numbers, if `bytes` for `what` exceed the limit. */
HD_MUST_CHECK enum hd_status memory_expect(double bytes, const char *what, struct diag *d);

/* Accounts for memory allocated by base/alloc.c or by external code; 0: unknown size. */
void memory_take(size_t bytes);
_Noreturn void memory_refused(size_t bytes);

/*
 * Replacements of the allocation functions of SuperLU and METIS, which would
 * print and end the program themselves. The dynamic linker resolves these
 * symbols of the program before those of the libraries.
 */
#define MEMORY_SEEN __attribute__((visibility("default")))
MEMORY_SEEN void *superlu_malloc(size_t bytes);
MEMORY_SEEN size_t gk_GetCurMemoryUsed(void);

#endif
