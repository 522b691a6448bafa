/* SPDX-License-Identifier: BSD-2-Clause */
/* An experiment alone, with all that it reads, as a file of its own. */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "paper/paper.h"

#define MINE "my" /* id of an extracted experiment */

/* A file that a command may read: one of the paper's, or built in. */
struct input_file {
	const char *name;
	const char *text;
	size_t len;
};

/* The i-th of them; false if there are no more. */
static bool source_at(const struct paper *p, size_t i, struct input_file *out)
{
	if (i < p->n_files) {
		*out = (struct input_file){ p->files[i].name, p->files[i].text,
					    strlen(p->files[i].text) };
		return true;
	}
	const struct paper_file *f = &paper_files[i - p->n_files];

	*out = (struct input_file){ f->name, (const char *)f->bytes, f->len };
	return f->name != NULL;
}

static bool names(const char *text, size_t len, const char *name)
{
	return memmem(text, len, name, strlen(name)) != NULL;
}

/* Whether a file reads another of the same folder. */
static bool reads(const struct input_file *a, const struct input_file *b)
{
	const char *slash = strrchr(b->name, '/');
	size_t folder = slash ? (size_t)(slash - b->name) + 1 : 0;

	return strncmp(a->name, b->name, folder) == 0 && names(a->text, a->len, b->name + folder);
}

static bool commands_name(const struct paper_study *s, const char *name)
{
	for (size_t i = 0; i < s->n_axes; i++) {
		if (names(s->axes[i].values, strlen(s->axes[i].values), name))
			return true;
	}
	return names(s->command, strlen(s->command), name) ||
	       (s->quick && names(s->quick, strlen(s->quick), name));
}

/* Whether the file is needed by the study or by one of those before it. */
static bool is_needed(const struct paper *p, const struct paper_study *s,
		      const struct input_file *f)
{
	struct input_file by;

	if (commands_name(s, f->name))
		return true;
	for (size_t i = 0; source_at(p, i, &by); i++) {
		if (commands_name(s, by.name) && reads(&by, f))
			return true;
	}
	return false;
}

/* "papers/003/dual.yaml" and "0/dual.yaml" become "my/dual.yaml". */
static char *name_of_mine(const char *name)
{
	struct strbuf out = STRBUF_INIT;

	if (strncmp(name, "papers/", strlen("papers/")) == 0)
		name += strlen("papers/");
	strbuf_printf(&out, MINE "%s", name + strcspn(name, "/"));
	return strbuf_detach(&out);
}

/* Every `from` becomes `to`; frees the text. */
static char *replace(char *text, const char *from, const char *to)
{
	struct strbuf out = STRBUF_INIT;
	const char *rest = text, *at;

	if (!text)
		return NULL;
	while ((at = strstr(rest, from)) != NULL) {
		strbuf_add(&out, rest, (size_t)(at - rest));
		strbuf_puts(&out, to);
		rest = at + strlen(from);
	}
	strbuf_puts(&out, rest);
	free(text);
	return strbuf_detach(&out);
}

static bool has_file(const struct paper *p, const char *name)
{
	for (size_t i = 0; i < p->n_files; i++) {
		if (strcmp(p->files[i].name, name) == 0)
			return true;
	}
	return false;
}

/*
 * With the study's command and quick one changed to match. What is built in
 * stays there if the paper has a file of that name already.
 */
static void take_files(const struct paper *p, const struct paper_study *s, struct paper_study *mine,
		       struct paper *out)
{
	struct input_file f;
	size_t cap = 0;

	for (size_t i = 0; source_at(p, i, &f); i++) {
		if (!is_needed(p, s, &f))
			continue;
		char *name = name_of_mine(f.name);

		if (has_file(out, name)) {
			free(name);
			continue;
		}
		mine->command = replace(mine->command, f.name, name);
		mine->quick = replace(mine->quick, f.name, name);
		for (size_t k = 0; k < mine->n_axes; k++)
			mine->axes[k].values = replace(mine->axes[k].values, f.name, name);
		out->files = hd_grow(out->files, &cap, out->n_files + 1, sizeof(*out->files));
		out->files[out->n_files++] = (struct paper_text){ name, hd_strndup(f.text, f.len) };
	}
}

/* A study with its own texts, for take_files; free with study_texts_free. */
static struct paper_study study_copy(const struct paper_study *s)
{
	struct paper_study copy = *s;

	copy.command = s->command ? hd_strdup(s->command) : NULL;
	copy.quick = s->quick ? hd_strdup(s->quick) : NULL;
	copy.axes = hd_alloc(s->n_axes + 1, sizeof(*copy.axes));
	for (size_t i = 0; i < s->n_axes; i++) {
		copy.axes[i] = s->axes[i];
		copy.axes[i].values = hd_strdup(s->axes[i].values);
	}
	return copy;
}

static void study_texts_free(struct paper_study *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		free(s->axes[i].values);
	free(s->axes);
	free(s->command);
	free(s->quick);
}

void paper_extract(const struct paper *p, const struct paper_experiment *e, struct strbuf *out)
{
	struct paper_experiment alone = *e;
	struct paper_study study = study_copy(e->study ? e->study : &e->own);
	struct paper mine = *p;

	mine.id = (char *)MINE;
	mine.experiments = &alone;
	mine.n_experiments = 1;
	mine.n_errata = mine.n_files = 0;
	mine.files = NULL;
	if (e->study)
		take_files(p, e->study, &study, &mine);
	mine.studies = &study;
	mine.n_studies = e->study && e->study != &e->own;
	if (!mine.n_studies)
		alone.own = study;
	strbuf_printf(
		out,
		"# %s/%s of 'heddle paper list', to be changed: 'heddle paper run FILE' runs it.\n",
		p->id, e->id);
	schema_print(paper_fields, &mine, false, out);
	for (size_t i = 0; i < mine.n_files; i++) {
		free(mine.files[i].name);
		free(mine.files[i].text);
	}
	free(mine.files);
	study_texts_free(&study);
}

bool paper_scenario(const struct paper *p, const struct paper_experiment *e, struct strbuf *out)
{
	struct input_file f;

	for (size_t i = 0; e->study && source_at(p, i, &f); i++) {
		size_t len = strlen(f.name);

		if (len < 5 || strcmp(f.name + len - 5, ".yaml") != 0 ||
		    !commands_name(e->study, f.name))
			continue;
		strbuf_add(out, f.text, f.len);
		return true;
	}
	return false;
}
