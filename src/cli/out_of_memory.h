/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_OUT_OF_MEMORY_H
#define HD_CLI_OUT_OF_MEMORY_H

/*
 * Ends the program when memory is exhausted: prints one line, removes incomplete files and exits
 * with EXIT_ENVIRONMENT. Databases keep their previous state.
 */

#include <stdint.h>

/* Installs the handler, without a limit; called first in main(). */
void out_of_memory_guard(void);
/* Limits memory to `bytes` from now on; 0: nine tenths of free memory. */
void out_of_memory_limit(uint64_t bytes);

#endif
