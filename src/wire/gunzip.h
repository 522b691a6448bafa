/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_GUNZIP_H
#define HD_WIRE_GUNZIP_H

/*
 * A stream of what a gzip file holds, for readers that want a stream. Members
 * that follow each other are one text, as for gzip(1); what comes after the
 * last one and begins no other is left alone.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gunzip;

/* Whether these four bytes begin a gzip file. */
bool gunzip_begins(const uint8_t *magic);

/*
 * Reads from `in`, of which `n` bytes are in `ahead` already. The stream owns
 * `in` and closes it, unless it is stdin, when it is closed itself. `*state`
 * lives until gunzip_free, after that.
 */
FILE *gunzip_open(FILE *in, const uint8_t *ahead, size_t n, struct gunzip **state);
/* Why reading ended, if not at the end of a whole file; else NULL. */
const char *gunzip_problem(const struct gunzip *g);
void gunzip_free(struct gunzip *g);

#endif
