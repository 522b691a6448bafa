/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_OUT_OF_MEMORY_H
#define HD_CLI_OUT_OF_MEMORY_H

/*
 * The end of a program that has no more memory: one line, no unfinished
 * files, EXIT_ENVIRONMENT; what is in the database stays as it was.
 */

#include <stdint.h>

/* Before all else: the end is as above, and there is no limit yet. */
void out_of_memory_guard(void);
/* Limits memory to `bytes` from now on; 0: nine tenths of free memory. */
void out_of_memory_limit(uint64_t bytes);

#endif
