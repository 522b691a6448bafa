/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_LIBRARY_H
#define HD_BASE_LIBRARY_H

/*
 * Shared libraries that the program loads or preloads on demand. They are in
 * the folder of the program (build folder) or in LIBDIR/heddle, relative to the
 * program (installed).
 */

/* Returns the path of a library, for example "libheddle-umad.so"; the caller
 * frees it. NULL if no file of this name is readable. */
char *library_find(const char *name);

#endif
