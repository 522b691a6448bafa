/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_CONTENT_H
#define HD_STUDY_CONTENT_H

/*
 * What decides what a run gives: the scenario with all overrides and defaults
 * filled in, and what is in the files that it names. What has the same content
 * has the same digest, wherever it came from.
 */

#include "base/diag.h"
#include "scenario/scenario.h"

/* 128 bits from two hashes that have nothing in common. */
struct digest {
	uint64_t a, b;
};

extern const struct digest digest_start;
void digest_add(struct digest *h, const char *bytes, size_t len);
void digest_print(const struct digest *h, struct strbuf *out);

/* A line with the digest of what is in a file. */
HD_MUST_CHECK enum hd_status content_of_file(const char *name, const char *path,
					     struct diag *d,
					     struct strbuf *out);
HD_MUST_CHECK enum hd_status content_of_scenario(const struct scenario *s,
						 struct diag *d,
						 struct strbuf *out);

#endif
