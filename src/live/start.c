/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "live/live.h"

/* ---- the folder: only this user may enter it, and one fabric holds its lock */

/* True if `dir` still names the open folder; its fabric may have just ended. */
static bool is_named(int folder, const char *dir)
{
	struct stat open_one, named;

	return fstat(folder, &open_one) == 0 && lstat(dir, &named) == 0 &&
	       open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

static enum hd_status refuse_folder(const char *dir, const char *why, struct diag *d)
{
	return diag_fail(d, HD_ERR_ENV, "cannot make '%s': %s", dir, why);
}

/* Locks the open folder and removes the files of a fabric that was killed. */
static enum hd_status take_folder(int folder, const char *dir, const char *name, struct diag *d)
{
	struct stat s;

	if (flock(folder, LOCK_EX | LOCK_NB) != 0)
		return diag_fail(d, HD_ERR_ENV,
				 "a fabric '%s' runs already; 'heddle live down --name %s' ends it",
				 name, name);
	if (fstat(folder, &s) != 0 || s.st_uid != geteuid())
		return refuse_folder(dir, "another user has one of that name", d);
	if (fchmod(folder, 0700) != 0)
		return refuse_folder(dir, strerror(errno), d);
	if (is_named(folder, dir))
		folder_empty(dir);
	return HD_OK;
}

/*
 * Creates the folder and locks it while the descriptor in `out` is open in any process: this one,
 * and then the daemon. So exactly one of several processes that start a fabric of one name gets
 * the folder, and kill -9 releases it.
 */
static enum hd_status make_folder(const char *dir, const char *name, struct diag *d, int *out)
{
	do {
		if (mkdir(dir, 0700) != 0 && errno != EEXIST)
			return refuse_folder(dir, strerror(errno), d);
		*out = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (*out < 0 && errno == ENOENT)
			continue; /* the fabric ended in the meantime */
		if (*out < 0)
			return refuse_folder(dir, strerror(errno), d);
		if (take_folder(*out, dir, name, d) == HD_OK && is_named(*out, dir))
			return HD_OK;
		close(*out);
	} while (d->status == HD_OK);
	return d->status;
}

/* ---- a process of its own, without the terminal */

/*
 * Reports the result to the parent once, as a struct diag. The parent then closes
 * its end, so that a reader of its output does not wait for the child to end.
 */
struct news {
	int fd; /* -1: no parent waits, or it has the report */
	int nothing;
};

static void tell(struct news *n, const struct diag *d)
{
	struct diag told = { .file = d->file };

	if (n->fd < 0)
		return;
	/* The input (for instance a recording) has been read completely. */
	dup2(n->nothing, STDIN_FILENO);
	dup2(n->nothing, STDERR_FILENO);
	/* The file name is in memory of this process, so it is sent with the message. */
	if (d->status != HD_OK)
		diag_fail(&told, d->status, "%s%s%s", d->file ? d->file : "", d->file ? ": " : "",
			  d->message);
	/* The write fails if the parent was killed; there is nothing to report then. */
	(void)!write(n->fd, &told, sizeof(told));
	close(n->fd);
	n->fd = -1;
}

static void tell_ready(void *context)
{
	const struct diag well = { .status = HD_OK };

	tell(context, &well);
}

/* A function that runs in a child process: it reports once it is ready and returns at its end. */
struct work {
	enum hd_status (*run)(const struct work *w, struct news *n, struct diag *d);
	const char *dir;
	const struct topo *topo; /* for a daemon */
	const struct live_options *options;
	const char *host, *engine;
	const struct live_companion *companion;
	int patience; /* ms that the parent waits for the report; -1: no limit */
};

static enum hd_status serve(const struct work *w, struct news *n, struct diag *d)
{
	enum hd_status status = live_run(w->topo, w->dir, w->options, tell_ready, n, d);

	folder_remove(w->dir);
	return status;
}

static void leave_terminal(const struct news *n)
{
	setsid();
	signal(SIGHUP, SIG_IGN);
	/* The child continues if the parent stops waiting. */
	signal(SIGPIPE, SIG_IGN);
	/* Messages go to the terminal until the parent has the report. */
	dup2(n->nothing, STDOUT_FILENO);
}

static void run_as_child(const struct work *w, int fd)
{
	struct news n = { .fd = fd };
	struct diag d = { .status = HD_OK };

	n.nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	leave_terminal(&n);
	(void)!w->run(w, &n, &d);
	tell(&n, &d);
	_exit(d.status != HD_OK);
}

enum wait { NEWS, LATE, INTERRUPTED };

/* Waits in short intervals, since a signal may arrive just before a wait begins. */
static enum wait await_news(int fd, int patience)
{
	enum { LOOK = 100 };
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		int ms = patience >= 0 && patience < LOOK ? patience : LOOK;
		int n = poll(&p, 1, ms);

		if (cleanup_signal_is_pending())
			return INTERRUPTED;
		if (n > 0)
			return NEWS;
		if (n == 0 && patience >= 0 && (patience -= ms) <= 0)
			return LATE;
	}
}

static enum hd_status hear(int fd, pid_t child, struct diag *d)
{
	struct diag told;

	if (read(fd, &told, sizeof(told)) != (ssize_t)sizeof(told)) {
		waitpid(child, NULL, 0);
		return diag_fail(d, HD_ERR_ENV, "the fabric ended before it was up");
	}
	if (told.status == HD_OK)
		return HD_OK;
	waitpid(child, NULL, 0);
	if (told.file)
		d->file = NULL; /* the name belongs to the other process */
	return diag_fail(d, told.status, "%s", told.message);
}

/* Ends the child and reports the interruption. */
static enum hd_status call_off(pid_t child, struct diag *d)
{
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	return diag_fail(d, HD_ERR_ENV, "interrupted");
}

/*
 * *is_late: the child reported nothing within the time, and keeps running. A pending
 * signal ends the child.
 */
static enum hd_status run_apart(const struct work *w, struct diag *d, bool *is_late)
{
	int ends[2];
	enum hd_status status = HD_OK;

	if (pipe(ends) != 0)
		return diag_fail(d, HD_ERR_ENV, "no pipe: %s", strerror(errno));
	fflush(NULL);
	pid_t child = cleanup_fork_detached();

	if (child == 0) {
		close(ends[0]);
		run_as_child(w, ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return diag_fail(d, HD_ERR_ENV, "no process: %s", strerror(errno));
	}
	switch (await_news(ends[0], w->patience)) {
	case NEWS:
		status = hear(ends[0], child, d);
		break;
	case LATE:
		*is_late = true;
		break;
	case INTERRUPTED:
		status = call_off(child, d);
		break;
	}
	close(ends[0]);
	return status;
}

enum hd_status live_start(const struct topo *t, const char *name, const struct live_options *o,
			  bool apart, struct diag *d)
{
	char *dir = live_folder(name);
	struct work w = { .run = serve, .dir = dir, .topo = t, .options = o, .patience = -1 };
	struct news no_parent = { .fd = -1 };
	bool never;
	int folder = -1;

	/* A signal ends the child first, and then this process. */
	if (apart)
		cleanup_defer_signals();
	enum hd_status status = make_folder(dir, name, d, &folder);

	if (status == HD_OK) {
		status = apart ? run_apart(&w, d, &never) : serve(&w, &no_parent, d);
		/* A daemon that was killed has left its folder. */
		if (status != HD_OK && is_named(folder, dir))
			folder_remove(dir);
		close(folder);
	}
	free(dir);
	if (apart)
		cleanup_resume_signals();
	return status;
}

void live_await_end(const char *name)
{
	enum { TRIES = 4000 };
	const struct timespec a_while = { .tv_nsec = 5000000 };
	char *dir = live_folder(name);

	for (int i = 0; i < TRIES && access(dir, F_OK) == 0; i++)
		nanosleep(&a_while, NULL);
	free(dir);
}

/* ---- a subnet manager; its messages go to a file in the fabric's folder */

struct log {
	int fd;
	struct news *news;
};

static void write_line(void *context, const char *line)
{
	const struct log *l = context;

	if (l->fd >= 0)
		dprintf(l->fd, "%s\n", line);
}

static void tell_managed(void *context)
{
	const struct log *l = context;

	tell_ready(l->news);
}

static enum hd_status manage(const struct work *w, struct news *n, struct diag *d)
{
	struct strbuf path = STRBUF_INIT;
	struct log l = { .news = n };
	struct live_manager o = {
		.host = w->host,
		.engine = w->engine,
		.say = write_line,
		.ready = tell_managed,
		.context = &l,
	};

	strbuf_printf(&path, "%s/manager-%s.log", w->dir, w->host);
	l.fd = open(path.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	strbuf_fini(&path);
	enum hd_status status = live_manage(w->dir, &o, d);

	if (l.fd >= 0)
		close(l.fd);
	return status;
}

enum hd_status live_start_manager(const char *name, const char *host, const char *engine,
				  int patience, struct diag *d, bool *is_late)
{
	char *dir = live_folder(name);
	struct work w = {
		.run = manage, .dir = dir, .host = host, .engine = engine, .patience = patience
	};
	enum hd_status status = run_apart(&w, d, is_late);

	free(dir);
	return status;
}

/* ---- a companion, such as the engine of the simulated clock */

static enum hd_status accompany(const struct work *w, struct news *n, struct diag *d)
{
	live_raise_limit();
	return w->companion->run(w->dir, w->companion->context, tell_ready, n, d);
}

enum hd_status live_start_companion(const char *name, const struct live_companion *c,
				    struct diag *d)
{
	char *dir = live_folder(name);
	struct work w = { .run = accompany, .dir = dir, .companion = c, .patience = -1 };
	bool never;
	enum hd_status status = run_apart(&w, d, &never);

	free(dir);
	return status;
}
