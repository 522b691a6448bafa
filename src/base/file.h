/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_FILE_H
#define HD_BASE_FILE_H

/*
 * Reads and writes whole files.
 *
 * Reading takes a path, or "-" for standard input, and a limit, so that a wrong
 * path cannot fill the memory. Writing is atomic: bytes go to a file next to
 * the target, which is renamed to the target when it is complete. An error or a
 * signal (base/cleanup.h) leaves the old file unchanged. A symbolic link is
 * preserved: its target is replaced, or created if it does not exist.
 * Permissions are preserved except for set-user-ID and similar bits. A file
 * that is not regular (a terminal, a pipe, /dev/null) is written directly.
 *
 * Both set d->file to `path` (borrowed), so that a later parse error names the
 * file as well. A missing input is HD_ERR_NOT_FOUND. An input that is too
 * large, or that is an output of this process (base/output_files.h), is
 * HD_ERR_INPUT. System errors are HD_ERR_IO.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/digest.h"
#include "base/strbuf.h"

/* Size limits of files written by tools and by hand. */
#define FILE_LIMIT         ((size_t)1 << 30)
#define FILE_WRITTEN_LIMIT ((size_t)64 << 20)

/* Appends all bytes of `path`, at most `limit`, to `out`. */
HD_MUST_CHECK enum hd_status file_read(const char *path, size_t limit, struct diag *d,
				       struct strbuf *out);

/*
 * Opens `path`, or standard input if it is "-", for reading as a stream of any
 * length; close it with file_close. HD_ERR_INPUT for an endless device.
 */
HD_MUST_CHECK enum hd_status file_open(const char *path, struct diag *d, FILE **out);
void file_close(FILE *in);
/* Like file_read, for the remainder of an open file. */
HD_MUST_CHECK enum hd_status file_read_rest(FILE *in, size_t limit, struct diag *d,
					    struct strbuf *out);

HD_MUST_CHECK enum hd_status file_write(const char *path, const void *bytes, size_t len,
					struct diag *d);

/*
 * Reports the errors of file_write that concern the path: `path` is a folder,
 * or its folder does not exist or is not writable. For commands that compute
 * for a long time before they write. Success is no guarantee.
 */
HD_MUST_CHECK enum hd_status file_check_place(const char *path, struct diag *d);

/*
 * Returns the file that writing to `path` would change or create, after all
 * links are resolved; to be freed. NULL with errno if the links are broken.
 */
char *file_target(const char *path);
/* Returns the folder of `path`; to be freed. */
char *file_folder(const char *path);
/* Removes a folder with its content, or the content only. */
void folder_remove(const char *path);
void folder_empty(const char *path);

/*
 * file_write for output that is too long for memory: print to `stream`, then
 * commit. The target appears only with file_commit; file_abandon discards the
 * output. A successful file_create must be followed by one of the two.
 */
struct file_writer {
	FILE *stream;
	const char *path;       /* path as passed by the caller, borrowed */
	struct file_sink *sink; /* destination of `stream` */
	char *target;           /* file to replace; NULL when written directly */
	char *partial;          /* temporary name; NULL: none, or written directly */
	bool durable;           /* commit waits until the data is on the disk */
	bool kept;              /* another process may continue the file */
};

HD_MUST_CHECK enum hd_status file_create(struct file_writer *w, const char *path, struct diag *d);
HD_MUST_CHECK enum hd_status file_commit(struct file_writer *w, struct diag *d);
void file_abandon(struct file_writer *w);

/*
 * For files that another process continues if this one ends. file_keep flushes
 * the written data to the disk and returns its extent. The caller records the
 * extent and calls file_keep_partial, both within one deferral of signals; from then
 * on only a commit removes the partial file. Until then it is removed with this
 * process. The recorded w->partial and w->target identify the file: the other
 * process calls file_resume instead of file_create, then file_cut to the kept
 * extent. If the file was committed in the meantime, a copy of its beginning is
 * continued, and the target is unchanged until the next commit.
 * HD_ERR_NOT_FOUND if the file is in neither place, HD_ERR_INPUT if its
 * beginning has changed. Not for files that are written directly.
 */
struct file_part {
	uint64_t len;
	struct digest content;
};
HD_MUST_CHECK enum hd_status file_keep(struct file_writer *w, struct diag *d,
				       struct file_part *part);
void file_keep_partial(struct file_writer *w);
HD_MUST_CHECK enum hd_status file_resume(struct file_writer *w, const char *path,
					 const char *partial, const char *target, struct diag *d);
HD_MUST_CHECK enum hd_status file_cut(struct file_writer *w, const struct file_part *part,
				      struct diag *d);

#endif
