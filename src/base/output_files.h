/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_OUTPUT_FILES_H
#define HD_BASE_OUTPUT_FILES_H

/*
 * The files that this process was told to write, known before anything is read
 * or computed: file_open refuses to read them, so that no output takes the
 * place of an input, whichever of the files that a run needs it is, and by
 * whatever name or link. Files are known by device and inode; one that is not
 * there yet, by its folder and name. What is no regular file (a terminal, a
 * pipe, /dev/null) may be shared.
 *
 * Files belong to the process, and so does this list. It changes only while
 * the command line is read, by one thread.
 */

#include <stdbool.h>

/*
 * `who` (borrowed) will write `path`, which others may still read if it is
 * `readable`. NULL, or who will write the same file already.
 */
const char *output_files_add(const char *path, const char *who, bool readable);
/* The option that will write this file; NULL: none. By its path, or an open
 * file. */
const char *output_files_find(const char *path);
const char *output_files_find_fd(int fd);
void output_files_clear(void);

/* Whether both name one regular file, be it there or not. */
bool file_is_same(const char *a, const char *b);

#endif
