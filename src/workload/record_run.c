/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts the program that is recorded, and reads what its ranks left. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/library.h"
#include "workload/record.h"

#define LIBRARY "libheddle-record.so"

/* Sets NAME=first:previous value. */
static void put_before(const char *name, const char *first)
{
	const char *old = getenv(name);
	struct strbuf all = STRBUF_INIT;

	strbuf_puts(&all, first);
	if (old && old[0])
		strbuf_printf(&all, ":%s", old);
	setenv(name, all.text, 1);
	strbuf_fini(&all);
}

/* Blanks and colons end a path in LD_PRELOAD: the loader gets a folder. */
_Noreturn static void become(char **words, const char *folder, char *library, bool aside)
{
	char *name = strrchr(library, '/');

	*name++ = '\0';
	put_before("LD_LIBRARY_PATH", library);
	put_before("LD_PRELOAD", name);
	setenv("HEDDLE_RECORD", folder, 1);
	if (!aside || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		execvp(words[0], words);
	_exit(127);
}

static enum hd_status launch(char **words, const char *folder, char *library, bool aside,
			     struct diag *d)
{
	int status = 0;
	pid_t child = cleanup_fork();

	if (child == 0)
		become(words, folder, library, aside);
	while (child > 0 && cleanup_wait(&status) != child && errno == EINTR)
		;
	if (child < 0)
		return diag_fail(d, HD_ERR_ENV, "cannot start '%s': %s", words[0], strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return diag_fail(d, HD_ERR_ENV, "cannot start '%s'", words[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return HD_OK;
	return diag_fail(d, HD_ERR_INPUT, "'%s' ended with %s %d", words[0],
			 WIFEXITED(status) ? "status" : "signal",
			 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

enum hd_status record_run(char **words, const struct record_how *how, struct diag *d,
			  struct opgraph *out)
{
	const char *place = getenv("TMPDIR");
	char *library = library_find(LIBRARY);
	struct strbuf folder = STRBUF_INIT;
	enum hd_status status;

	strbuf_printf(&folder, "%s/heddle-record-XXXXXX", place ? place : "/tmp");
	cleanup_defer_signals();
	if (!library) {
		status = diag_fail(
			d, HD_ERR_ENV,
			LIBRARY
			" is missing, which records MPI programs: run 'apt install libopenmpi-dev && make' and install again");
	} else if (!mkdtemp(folder.text)) {
		status = diag_fail(d, HD_ERR_IO, "no scratch folder %s: %s", folder.text,
				   strerror(errno));
	} else {
		/* A signal ends the program, and this process after removing the folder. */
		status = launch(words, folder.text, library, how->aside, d);
		if (status == HD_OK && !cleanup_signal_is_pending())
			status = record_read(folder.text, how->has_compute, d, out);
		folder_remove(folder.text);
	}
	cleanup_resume_signals();
	strbuf_fini(&folder);
	free(library);
	return status;
}
