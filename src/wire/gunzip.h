/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_GUNZIP_H
#define HD_WIRE_GUNZIP_H

/*
 * Decompressed stream of a gzip file. Consecutive members are concatenated, as by gzip(1); data
 * after the last member is ignored.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gunzip;

/* True if these four bytes are the start of a gzip file. */
bool gunzip_begins(const uint8_t *magic);

/*
 * Opens a stream that decompresses `in`, of which the first `n` bytes have been read into `ahead`.
 * The stream owns `in` and closes it with itself, unless it is stdin. `*state` must be freed by
 * gunzip_free, after the stream was closed.
 */
FILE *gunzip_open(FILE *in, const uint8_t *ahead, size_t n, struct gunzip **state);
/* The error that ended reading, or NULL at a regular end. */
const char *gunzip_problem(const struct gunzip *g);
void gunzip_free(struct gunzip *g);

#endif
