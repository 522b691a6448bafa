/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_REPORT_PAGE_H
#define HD_REPORT_PAGE_H

/*
 * Results as one HTML page with plots that works from disk, without a network:
 * script and style (web/, bundled when the program is built) are in it, and
 * the results follow as JSON. What is drawn follows from the tables: see
 * docs/report.md.
 */

#include "base/diag.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "measure/results.h"

struct page_run {
	int64_t id;          /* in its database; 0: it is in none */
	const char *created; /* or NULL */
	const struct results *results;
};

/* HD_ERR_ENV if the program was built without the page's script. */
HD_MUST_CHECK enum hd_status page_write(const struct page_run *runs, size_t n, struct strbuf *out,
					struct diag *d);

/* One run as the page reads it, without the tables of these names (up to NULL;
 * or NULL: with all). */
void page_put_run(struct json *w, const struct page_run *run, const char *const *without);

#endif
