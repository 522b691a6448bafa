/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/merge.h"

#include <string.h>

#include "report/database.h"
#include "study/tables.h"

/* The last sweep of a database. */
static enum hd_status open_one(const char *path, study_options_fn *options_of, struct diag *d,
			       struct study *out)
{
	struct run_info *infos;
	struct results *r;
	size_t n;
	int64_t run = 0;

	*out = (struct study){ 0 };
	d->file = path;
	enum hd_status status = database_list(path, d, &infos, &n);

	if (status != HD_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		if (infos[i].state == RUN_DONE && strcmp(infos[i].command, "sweep") == 0)
			run = infos[i].id;
	}
	database_infos_free(infos, n);
	if (!run)
		return diag_fail(d, HD_ERR_INPUT, "holds no sweep");
	status = database_read(path, run, d, &r);
	if (status != HD_OK)
		return status;
	status = study_restore(r, options_of, d, out);
	results_free(r);
	return status;
}

enum hd_status merge_open(const char *const *paths, size_t n, study_options_fn *options_of,
			  struct diag *d, struct study *out)
{
	enum hd_status status = open_one(paths[0], options_of, d, out);
	struct strbuf first = STRBUF_INIT;

	if (status == HD_OK)
		study_describe(out, &first);
	for (size_t i = 1; i < n && status == HD_OK; i++) {
		struct strbuf text = STRBUF_INIT;
		struct study other;

		status = open_one(paths[i], options_of, d, &other);
		if (status == HD_OK)
			study_describe(&other, &text);
		if (status == HD_OK && strcmp(text.text, first.text) != 0)
			status = diag_fail(d, HD_ERR_INPUT, "belongs to another study than %s",
					   paths[0]);
		strbuf_fini(&text);
		study_fini(&other);
	}
	strbuf_fini(&first);
	return status;
}
