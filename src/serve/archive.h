/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_ARCHIVE_H
#define HD_SERVE_ARCHIVE_H

/* The runs of a database as a page, which is generated for each request. */

#include "serve/asks.h"

struct archive;

/* Fails if the file is no database with a run; the path is borrowed. */
HD_MUST_CHECK enum hd_status archive_new(const char *path, struct diag *d, struct archive **out);
void archive_free(struct archive *a);

/* Answers REQUEST_PAGE only. */
asks_answer_fn archive_answer;

#endif
