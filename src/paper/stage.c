/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/stage.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* Makes all folders above a file. */
static void make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

/* A refusal includes the path, because `d` may not borrow it. */
static enum hd_status put_file(const char *folder, const char *name, const void *bytes, size_t len,
			       struct diag *d)
{
	struct strbuf path = STRBUF_INIT, why = STRBUF_INIT;
	struct diag own = { .status = HD_OK };

	strbuf_printf(&path, "%s/%s", folder, name);
	make_folders(path.text);
	if (file_write(path.text, bytes, len, &own) != HD_OK) {
		diag_print(&own, &why);
		diag_fail(d, own.status, "%s", why.text);
	}
	strbuf_fini(&why);
	strbuf_fini(&path);
	return own.status;
}

enum hd_status paper_files_write(const struct paper_catalogue *c, const char *folder,
				 struct diag *d)
{
	enum hd_status status = HD_OK;

	for (const struct paper_file *f = paper_files; f->name && status == HD_OK; f++)
		status = put_file(folder, f->name, f->bytes, f->len, d);
	for (size_t i = 0; i < c->n; i++) {
		const struct paper *p = c->papers[i];

		for (size_t k = 0; k < p->n_files && status == HD_OK; k++)
			status = put_file(folder, p->files[k].name, p->files[k].text,
					  strlen(p->files[k].text), d);
	}
	return status;
}
