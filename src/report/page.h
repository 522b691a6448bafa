/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_PAGE_H
#define HD_REPORT_PAGE_H

/*
 * Writes results as one self-contained HTML page with plots that works from
 * disk, without a network. The page contains script and style (web/, bundled at
 * build time), followed by the results as JSON. The tables determine the plots:
 * see docs/report.md.
 */

#include "base/diag.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "measure/results.h"

struct page_run {
	int64_t id;          /* number in its database; 0: not stored */
	const char *created; /* may be NULL */
	const struct results *results;
};

/* HD_ERR_ENV if the program was built without the page's script. */
HD_MUST_CHECK enum hd_status page_write(const struct page_run *runs, size_t n, struct strbuf *out,
					struct diag *d);

/* Writes one run in the format of the page, without the tables of these names
 * (NULL-terminated; NULL: with all tables). */
void page_put_run(struct json *w, const struct page_run *run, const char *const *without);

#endif
