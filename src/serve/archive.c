/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/archive.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "report/runs.h"

struct archive {
	const char *path;
};

static enum hd_status put_page(const struct archive *a, struct strbuf *out, struct diag *d)
{
	struct recorded_runs runs;
	struct page_run *parts = NULL;
	size_t n;
	enum hd_status status = recorded_runs_read(&runs, a->path, true, 0, NULL, d);

	if (status == HD_OK)
		status = recorded_runs_parts(&runs, NULL, d, &parts, &n);
	if (status == HD_OK)
		status = page_write(parts, n, out, d);
	free(parts);
	recorded_runs_fini(&runs);
	return status;
}

enum hd_status archive_new(const char *path, struct diag *d, struct archive **out)
{
	struct archive *a = hd_alloc(1, sizeof(*a));
	struct strbuf page = STRBUF_INIT;

	a->path = path;
	enum hd_status status = put_page(a, &page, d);

	strbuf_fini(&page);
	if (status == HD_OK)
		*out = a;
	else
		archive_free(a);
	return status;
}

void archive_free(struct archive *a)
{
	free(a);
}

void archive_answer(void *context, const struct http_request *r, struct reply *out)
{
	struct archive *a = context;
	struct diag d = { .status = HD_OK };

	if (r->kind != REQUEST_PAGE) {
		diag_fail(&d, HD_ERR_NOT_FOUND, "only the page is available for a database");
		serve_reply_refuse(out, &d);
		return;
	}
	out->type = "text/html; charset=utf-8";
	if (put_page(a, &out->body, &d) != HD_OK)
		serve_reply_refuse(out, &d);
}
