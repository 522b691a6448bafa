/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/live.h"

/* ---- the folder: only this user may enter it */

static int remove_one(const char *path, const struct stat *s, int kind,
		      struct FTW *where)
{
	(void)s;
	(void)kind;
	(void)where;
	remove(path);
	return 0;
}

static void remove_folder(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* That of a dead fabric is taken over. */
static enum hd_status make_folder(const char *dir, const char *name,
				  struct diag *d)
{
	const char *const words[] = { "show" };
	struct strbuf out = STRBUF_INIT;
	struct diag quiet = { .status = HD_OK };
	bool runs = live_call(dir, words, 1, &quiet, &out) == HD_OK;

	strbuf_fini(&out);
	if (runs)
		return diag_fail(d, HD_ERR_ENV,
				 "a fabric '%s' runs already; 'heddle live "
				 "down --name %s' ends it",
				 name, name);
	remove_folder(dir);
	if (mkdir(dir, 0700) != 0)
		return diag_fail(d, HD_ERR_ENV, "cannot make '%s': %s", dir,
				 strerror(errno));
	return HD_OK;
}

/* ---- a process of its own, away from the terminal */

/*
 * Tells the parent how it went, in a struct diag: once. From then on nobody
 * listens: whoever reads what the parent prints must not wait for our end.
 */
struct news {
	int fd; /* -1: nobody is told, or was told already */
	int nothing;
};

static void tell(struct news *n, const struct diag *d)
{
	if (n->fd < 0)
		return;
	dup2(n->nothing, STDERR_FILENO);
	/* A parent that was killed meanwhile does not hear it. */
	(void)!write(n->fd, d, sizeof(*d));
	close(n->fd);
	n->fd = -1;
}

static void tell_ready(void *context)
{
	const struct diag well = { .status = HD_OK };

	tell(context, &well);
}

static enum hd_status serve(const struct topo *t, const char *dir,
			    struct news *n, struct diag *d)
{
	enum hd_status status = live_run(t, dir, tell_ready, n, d);

	remove_folder(dir);
	return status;
}

static void leave_terminal(const struct news *n)
{
	setsid();
	signal(SIGHUP, SIG_IGN);
	/* Where the last words go, until the parent has heard from us. */
	dup2(n->nothing, STDIN_FILENO);
	dup2(n->nothing, STDOUT_FILENO);
}

static void serve_as_child(const struct topo *t, const char *dir, int fd)
{
	struct news n = { .fd = fd };
	struct diag d = { .status = HD_OK };

	n.nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	leave_terminal(&n);
	(void)!serve(t, dir, &n, &d);
	tell(&n, &d);
	_exit(d.status != HD_OK);
}

static enum hd_status hear(int fd, pid_t child, struct diag *d)
{
	struct diag told;

	if (read(fd, &told, sizeof(told)) != (ssize_t)sizeof(told)) {
		waitpid(child, NULL, 0);
		return diag_fail(d, HD_ERR_ENV,
				 "the fabric ended before it was up");
	}
	if (told.status == HD_OK)
		return HD_OK;
	waitpid(child, NULL, 0);
	return diag_fail(d, told.status, "%s", told.message);
}

static enum hd_status serve_apart(const struct topo *t, const char *dir,
				  struct diag *d)
{
	int ends[2];
	enum hd_status status;

	if (pipe(ends) != 0)
		return diag_fail(d, HD_ERR_ENV, "no pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t child = fork();

	if (child == 0) {
		close(ends[0]);
		serve_as_child(t, dir, ends[1]);
	}
	close(ends[1]);
	status = child > 0 ? hear(ends[0], child, d)
			   : diag_fail(d, HD_ERR_ENV, "no process: %s",
				       strerror(errno));
	close(ends[0]);
	return status;
}

enum hd_status live_start(const struct topo *t, const char *name, bool apart,
			  struct diag *d)
{
	char *dir = live_folder(name);
	struct news nobody = { .fd = -1 };
	enum hd_status status = make_folder(dir, name, d);

	if (status == HD_OK)
		status = apart ? serve_apart(t, dir, d)
			       : serve(t, dir, &nobody, d);
	free(dir);
	return status;
}
