/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_readings.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct readings_file *)a)->path,
		      ((const struct readings_file *)b)->path);
}

/* Adds a file. Skips non-regular files and files with NUL bytes. */
static enum hd_status add(struct readings *r, const char *path, struct diag *d)
{
	struct readings_file one = { .path = hd_strdup(path), .text = STRBUF_INIT };
	struct diag inner = { .status = HD_OK };
	struct stat is;
	enum hd_status status = HD_OK;

	if (stat(path, &is) == 0 && S_ISREG(is.st_mode))
		status = file_read(path, FILE_LIMIT, &inner, &one.text);
	if (status != HD_OK) /* the file name in the error is freed here */
		diag_fail(d, status, "%s: %s", path, inner.message);
	if (one.text.len == 0 || strlen(one.text.text) != one.text.len) {
		strbuf_fini(&one.text);
		free(one.path);
		return status;
	}
	r->items = hd_grow(r->items, &r->cap, r->n + 1, sizeof(*r->items));
	r->items[r->n++] = one;
	return status;
}

enum hd_status readings_load(const char *folder, struct diag *d, struct readings *out)
{
	DIR *open = opendir(folder);
	enum hd_status status = HD_OK;

	*out = (struct readings){ 0 };
	if (!open)
		return diag_fail(d, HD_ERR_INPUT, "%s: %s", folder, strerror(errno));
	for (const struct dirent *e; status == HD_OK && (e = readdir(open)) != NULL;) {
		struct strbuf path = STRBUF_INIT;

		strbuf_printf(&path, "%s/%s", folder, e->d_name);
		status = add(out, path.text, d);
		strbuf_fini(&path);
	}
	closedir(open);
	if (status != HD_OK)
		readings_fini(out);
	else if (out->n)
		qsort(out->items, out->n, sizeof(*out->items), by_path);
	return status;
}

void readings_fini(struct readings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->items[i].path);
		strbuf_fini(&r->items[i].text);
	}
	free(r->items);
}

const char *readings_topology(const struct readings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const char *text = r->items[i].text.text;

		if (strstr(text, "\nswitchguid=") || strstr(text, "\ncaguid="))
			return r->items[i].path;
	}
	return NULL;
}
