/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_CONTENT_H
#define HD_RUN_CONTENT_H

/*
 * What decides what a run gives: the scenario with all overrides and defaults
 * filled in, and what is in the files that it names. What has the same content
 * has the same digest, wherever it came from.
 */

#include "base/diag.h"
#include "scenario/scenario.h"

/* A line with the digest of what is in a file. */
HD_MUST_CHECK enum hd_status content_of_file(const char *name, const char *path, struct diag *d,
					     struct strbuf *out);
HD_MUST_CHECK enum hd_status content_of_scenario(const struct scenario *s, struct diag *d,
						 struct strbuf *out);

#endif
