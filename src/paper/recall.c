/* SPDX-License-Identifier: BSD-2-Clause */
#include "paper/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "paper/tables.h"
#include "study/store.h"

/* A file that a command may find where it works. */
struct readable {
	const char *name, *bytes;
	size_t len;
	bool counts;
};

/* All of them: those that are built in, and those that come with papers. */
static struct readable *list_files(const struct paper_catalogue *c, size_t *n)
{
	struct readable *files = NULL;
	size_t cap = 0;

	*n = 0;
	for (const struct paper_file *f = paper_files; f->name; f++) {
		files = hd_grow(files, &cap, *n + 1, sizeof(*files));
		files[(*n)++] = (struct readable){
			.name = f->name,
			.bytes = (const char *)f->bytes,
			.len = f->len,
		};
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct paper *p = c->papers[i];

		for (size_t k = 0; k < p->n_files; k++) {
			files = hd_grow(files, &cap, *n + 1, sizeof(*files));
			files[(*n)++] = (struct readable){
				.name = p->files[k].name,
				.bytes = p->files[k].text,
				.len = strlen(p->files[k].text),
			};
		}
	}
	return files;
}

/* A text names a file as seen from anywhere: by the last part of its path. */
static bool names(const char *text, const char *path)
{
	const char *slash = strrchr(path, '/');

	return strstr(text, slash ? slash + 1 : path) != NULL;
}

/* What a text names counts, and what that names. */
static void count_files(struct readable *files, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		if (files[i].counts || !names(text, files[i].name))
			continue;
		char *its = hd_strndup(files[i].bytes, files[i].len);

		files[i].counts = true;
		count_files(files, n, its);
		free(its);
	}
}

void review_key(const struct paper_review *s, size_t job, struct strbuf *out)
{
	const char *command = s->jobs[job].command;
	struct strbuf head = STRBUF_INIT;
	struct digest h = DIGEST_START;
	size_t n;
	struct readable *files = list_files(s->catalogue, &n);

	count_files(files, n, command);
	strbuf_printf(&head, "# rules: %d\nheddle %s\n", POINT_RULES, command);
	digest_add(&h, head.text, head.len);
	for (size_t i = 0; i < n; i++) {
		if (!files[i].counts)
			continue;
		digest_add(&h, files[i].name, strlen(files[i].name) + 1);
		digest_add(&h, files[i].bytes, files[i].len);
	}
	digest_print(&h, out);
	strbuf_fini(&head);
	free(files);
}

void review_recall(struct paper_review *s, size_t job, struct results *r)
{
	while (r->n_tables && review_is_note(r->tables[r->n_tables - 1]->name))
		results_drop_last(r);
	s->jobs[job].end = (struct process_end){ .results = r };
	s->jobs[job].known = true;
}
