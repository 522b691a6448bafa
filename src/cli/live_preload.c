/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library.h"
#include "cli/live.h"

static void put_in_front(const char *variable, const char *text)
{
	const char *old = getenv(variable);
	struct strbuf all = STRBUF_INIT;

	strbuf_printf(&all, "%s%s%s", text, old && old[0] ? ":" : "", old ? old : "");
	setenv(variable, all.text, 1);
	strbuf_fini(&all);
}

/*
 * Adds the path of a library. The loader splits the list at blanks and colons; for a path with a
 * blank, the list gets the library's name, and `folder` gets the folder to search.
 */
static bool add_library(const char *name, struct strbuf *all, struct strbuf *folder, struct diag *d)
{
	char *path = library_find(name);

	if (!path) {
		diag_fail(d, HD_ERR_ENV, "library '%s' is missing: install Heddle again", name);
		return false;
	}
	bool is_loadable = !strpbrk(path, " \t\n:");

	strbuf_printf(all, "%s%s", all->len ? ":" : "", is_loadable ? path : name);
	strbuf_clear(folder);
	if (!is_loadable)
		strbuf_printf(folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	if (folder->len && strpbrk(folder->text, ":;"))
		diag_fail(
			d, HD_ERR_ENV,
			"%s cannot be preloaded from '%s': the path contains a colon or semicolon; install Heddle in another folder",
			name, folder->text);
	free(path);
	return d->status == HD_OK;
}

bool cli_live_preload(const char *const *names, struct diag *d)
{
	struct strbuf all = STRBUF_INIT, folder = STRBUF_INIT;
	bool found = true;

	for (; *names && found; names++)
		found = add_library(*names, &all, &folder, d);
	if (found)
		put_in_front("LD_PRELOAD", all.text);
	if (found && folder.len)
		put_in_front("LD_LIBRARY_PATH", folder.text);
	strbuf_fini(&all);
	strbuf_fini(&folder);
	return found;
}

void cli_live_exec(char **words, int n, struct diag *d)
{
	char **program = calloc((size_t)n + 1, sizeof(*program));

	if (program) {
		memcpy(program, words, (size_t)n * sizeof(*program));
		execvp(program[0], program);
	}
	diag_fail(d, HD_ERR_ENV, "cannot start '%s': %s", words[0], strerror(errno));
	free(program);
}
