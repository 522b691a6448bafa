/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_FILE_H
#define HD_BASE_FILE_H

/*
 * Whole files in, whole files out.
 *
 * Reading takes a path, or "-" for standard input, and a limit, so that a
 * wrong path cannot fill the memory. Writing never leaves half a file: bytes
 * go to a file next to the target, which takes the target's name only when all
 * of them are down. A refusal leaves the old file as it was, and a signal too
 * (base/cleanup.h). A link stays a link: what it points to is replaced, or
 * made if it is not there. Permissions stay as they were, but for set-user-ID
 * and its like. What is no regular file (a terminal, a pipe, /dev/null) is
 * written directly.
 *
 * Both set d->file to `path` (borrowed), so that what a parser refuses later
 * names the file as well. An input that is not there is HD_ERR_NOT_FOUND, one
 * that is too large, or that this process will write (base/output_files.h),
 * HD_ERR_INPUT; what the system refuses is HD_ERR_IO.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/digest.h"
#include "base/strbuf.h"

/* Size limits of files written by tools and of files written by hand. */
#define FILE_LIMIT         ((size_t)1 << 30)
#define FILE_WRITTEN_LIMIT ((size_t)64 << 20)

/* Appends all bytes of `path`, at most `limit`, to `out`. */
HD_MUST_CHECK enum hd_status file_read(const char *path, size_t limit, struct diag *d,
				       struct strbuf *out);

/*
 * For files that are read as they come, however long: opens `path` for
 * file_close, standard input if it is "-". A device that never ends is
 * HD_ERR_INPUT.
 */
HD_MUST_CHECK enum hd_status file_open(const char *path, struct diag *d, FILE **out);
void file_close(FILE *in);
/* file_read for what is left of a file that is open. */
HD_MUST_CHECK enum hd_status file_read_rest(FILE *in, size_t limit, struct diag *d,
					    struct strbuf *out);

HD_MUST_CHECK enum hd_status file_write(const char *path, const void *bytes, size_t len,
					struct diag *d);

/*
 * Refuses what file_write would refuse for its place: a folder, or a file in
 * one that is not there or must not be changed. For commands that compute for
 * long before they write; passing it is no promise.
 */
HD_MUST_CHECK enum hd_status file_check_place(const char *path, struct diag *d);

/*
 * The file that writing to `path` would change or make, to be freed: what is
 * behind all links. NULL with errno if they lead nowhere.
 */
char *file_target(const char *path);
/* The folder of `path`, to be freed. */
char *file_folder(const char *path);
/* A folder goes with all that is in it, or all of that alone does. */
void folder_remove(const char *path);
void folder_empty(const char *path);

/*
 * file_write for output that is too long to hold in memory: print to `stream`,
 * then commit. Only file_commit makes the target appear; file_abandon drops
 * what was written. One of the two must follow a successful file_create.
 */
struct file_writer {
	FILE *stream;
	const char *path;       /* as the caller said it, borrowed */
	struct file_sink *sink; /* where `stream` ends */
	char *target;           /* to replace; NULL when written directly */
	char *partial;          /* its name before; NULL: none, or written directly */
	bool durable;           /* commit waits until it is on the disk */
	bool kept;              /* another process may continue it */
};

HD_MUST_CHECK enum hd_status file_create(struct file_writer *w, const char *path, struct diag *d);
HD_MUST_CHECK enum hd_status file_commit(struct file_writer *w, struct diag *d);
void file_abandon(struct file_writer *w);

/*
 * For files that another process continues if this one ends.
 * file_keep puts all that was written on the disk and returns its extent. Once
 * that is noted somewhere, file_hand_on, under the same hold as the note, lets
 * nothing but a commit take it away; until then it goes with this process. With
 * its place, w->partial, and its final name, w->target, it can be continued:
 * file_resume instead of file_create, then file_cut to the kept extent.
 * If it was committed in the meantime, a copy of its beginning is continued,
 * and the target stays as it is until the next commit. HD_ERR_NOT_FOUND if it
 * is in neither place, HD_ERR_INPUT if it does not begin so any more. Not for
 * what is written directly.
 */
struct file_part {
	uint64_t len;
	struct digest content;
};
HD_MUST_CHECK enum hd_status file_keep(struct file_writer *w, struct diag *d,
				       struct file_part *part);
void file_hand_on(struct file_writer *w);
HD_MUST_CHECK enum hd_status file_resume(struct file_writer *w, const char *path,
					 const char *partial, const char *target, struct diag *d);
HD_MUST_CHECK enum hd_status file_cut(struct file_writer *w, const struct file_part *part,
				      struct diag *d);

#endif
