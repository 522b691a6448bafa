/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library.h"
#include "cli/live/live.h"

/* The loader ends a path at a blank or a colon. */
static bool is_loadable(const char *path)
{
	return !strpbrk(path, " \t\n:");
}

/* Where the loader finds it: itself, or by a link to it in `links`. */
static bool add_library(const char *name, const char *links, struct strbuf *all,
			struct diag *d)
{
	char *path = library_find(name);
	struct strbuf link = STRBUF_INIT;
	const char *found = path;

	if (!path) {
		diag_fail(d, HD_ERR_ENV, "%s is not where it was installed",
			  name);
		return false;
	}
	if (!is_loadable(path)) {
		strbuf_printf(&link, "%s/%s", links, name);
		if (access(link.text, R_OK) != 0)
			(void)!symlink(path, link.text);
		found = link.text;
	}
	if (!is_loadable(found))
		diag_fail(d, HD_ERR_ENV,
			  "the loader takes %s neither from '%s' nor from "
			  "'%s': a blank or a colon ends a path",
			  name, path, found);
	else
		strbuf_printf(all, "%s%s", all->len ? ":" : "", found);
	strbuf_fini(&link);
	free(path);
	return d->status == HD_OK;
}

bool live_preload(const char *const *names, const char *links, struct diag *d)
{
	const char *old = getenv("LD_PRELOAD");
	struct strbuf all = STRBUF_INIT;
	bool found = true;

	for (; *names && found; names++)
		found = add_library(*names, links, &all, d);
	if (old && old[0])
		strbuf_printf(&all, ":%s", old);
	if (found)
		setenv("LD_PRELOAD", all.text, 1);
	strbuf_fini(&all);
	return found;
}

void live_become(char **words, int n, struct diag *d)
{
	char **program = calloc((size_t)n + 1, sizeof(*program));

	if (program) {
		memcpy(program, words, (size_t)n * sizeof(*program));
		execvp(program[0], program);
	}
	diag_fail(d, HD_ERR_ENV, "cannot start '%s': %s", words[0],
		  strerror(errno));
	free(program);
}
