/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_OUTPUT_FILES_H
#define HD_BASE_OUTPUT_FILES_H

/*
 * The output files of this process, known before any input is read. file_open
 * refuses to read them, so that no output overwrites an input of the run under
 * any name or link. Existing files are identified by device and inode, other
 * files by folder and name. Files that are not regular (a terminal, a pipe,
 * /dev/null) may be shared.
 *
 * Files belong to the process, and so does this list. It changes only while the
 * command line is parsed, by one thread.
 */

#include <stdbool.h>

/*
 * Registers `path` as output of the option `who` (borrowed); other options may
 * read it if it is `readable`. Returns NULL, or the option that already writes
 * the same file.
 */
const char *output_files_add(const char *path, const char *who, bool readable);
/* The option that writes this file, given by its path or an open file; NULL: none. */
const char *output_files_find(const char *path);
const char *output_files_find_fd(int fd);
void output_files_clear(void);

/* Whether both paths name the same regular file, existing or not. */
bool file_is_same(const char *a, const char *b);

#endif
