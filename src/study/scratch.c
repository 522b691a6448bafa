/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* close_range */
#include "study/scratch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"

/* ---- who watches -------------------------------------------------------- */

/*
 * Reads until the last process that holds the other end closes it, which nothing but
 * its death need make do so. In a session of its own and deaf, so that what
 * ends the others, key or batch system, does not end it before them; and with
 * none of their files, so that no process waits for it.
 */
_Noreturn static void watch(const char *folder, int end)
{
	sigset_t all;
	ssize_t n;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	if (end > 0)
		close_range(0, (unsigned)end - 1, 0);
	close_range((unsigned)end + 1, ~0U, 0);
	do
		n = read(end, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* no message that it is removed */
		folder_remove(folder);
	_exit(0);
}

/*
 * Without a watcher, only an orderly end removes the folder. A socket instead of a pipe, because
 * writing to it raises no signal if the watcher has ended.
 */
static void begin_watch(struct scratch *s)
{
	int ends[2];

	s->watcher = -1;
	s->alive = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return;
	s->watcher = fork();
	if (s->watcher == 0) {
		close(ends[1]);
		watch(s->folder, ends[0]);
	}
	close(ends[0]);
	s->alive = ends[1];
}

static void end_watch(struct scratch *s)
{
	if (s->watcher > 0 && send(s->alive, "", 1, MSG_NOSIGNAL) == 1)
		waitpid(s->watcher, NULL, 0);
	if (s->alive >= 0)
		close(s->alive);
}

/* ---- the folder --------------------------------------------------------- */

enum hd_status scratch_make(struct diag *d, struct scratch *out)
{
	const char *place = getenv("TMPDIR");
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/heddle-jobs-XXXXXX", place ? place : "/tmp");
	*out = (struct scratch){ .folder = strbuf_detach(&path) };
	if (!mkdtemp(out->folder)) {
		diag_fail(d, HD_ERR_IO, "cannot create the scratch folder %s: %s", out->folder,
			  strerror(errno));
		free(out->folder);
		return d->status;
	}
	begin_watch(out);
	return HD_OK;
}

void scratch_remove(struct scratch *s)
{
	folder_remove(s->folder);
	end_watch(s);
	free(s->folder);
}
