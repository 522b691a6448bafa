/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_LIBRARY_H
#define HD_BASE_LIBRARY_H

/*
 * Shared libraries that the program loads or preloads when they are needed. They are in the
 * folder of the program (build folder) or in LIBDIR/heddle, relative to the program (installed).
 */

/* The path of a library, for example "libheddle-umad.so", which the caller frees; NULL if no file
 * of this name can be read. */
char *library_find(const char *name);

#endif
