/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_RUN_CONTENT_H
#define HD_RUN_CONTENT_H

/*
 * The text whose digest identifies the input of a run: the scenario with all overrides and
 * defaults applied, and the digests of the files that it names. Equal content has an equal
 * digest, independent of file locations.
 */

#include "base/diag.h"
#include "scenario/scenario.h"

/* Appends a line with the digest of the file's bytes. */
HD_MUST_CHECK enum hd_status content_of_file(const char *name, const char *path, struct diag *d,
					     struct strbuf *out);
HD_MUST_CHECK enum hd_status content_of_scenario(const struct scenario *s, struct diag *d,
						 struct strbuf *out);

#endif
