/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_LIBRARY_H
#define HD_BASE_LIBRARY_H

/*
 * Libraries of ours that are not linked to the program but loaded when they are
 * needed: beside it, as it is built, or where it was installed.
 */

/* The path of "libheddle-umad.so", which the caller frees; NULL if it is not
 * there. */
char *library_find(const char *name);

#endif
