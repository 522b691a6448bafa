/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* NSIG */
#include "base/cleanup.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define MOST_CHILDREN 1024

/* Signals that end a process by default and that another process can send. */
static const int deadly[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTERM,
			      SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU };

#define N_DEADLY (sizeof(deadly) / sizeof(deadly[0]))

struct unfinished {
	struct unfinished *next;
	const char *path; /* borrowed */
};

/* The list changes under a hold only, and is followed only without one. */
static struct unfinished *files;
static atomic_int children[MOST_CHILDREN]; /* 0: none */
static atomic_int holds, due;              /* due: the signal, or 0 */

static void end_children(void)
{
	for (size_t i = 0; i < MOST_CHILDREN; i++) {
		pid_t pid = atomic_load(&children[i]);

		if (pid)
			kill(pid, SIGTERM);
	}
}

static void remove_all(void)
{
	end_children();
	for (const struct unfinished *f = files; f; f = f->next)
		unlink(f->path);
}

static void on_signal(int number)
{
	if (atomic_load(&holds)) {
		int none = 0;

		atomic_compare_exchange_strong(&due, &none, number);
		end_children();
		return;
	}
	remove_all();
	/*
	 * Ends the program once the handler is left. Not by SA_RESETHAND: the
	 * same signal sent twice at once would then kill us on our way here.
	 */
	signal(number, SIG_DFL);
	raise(number);
}

static void fill_deadly(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < N_DEADLY; i++)
		sigaddset(set, deadly[i]);
}

void cleanup_install_handlers(void)
{
	struct sigaction now, ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	fill_deadly(&ours.sa_mask);
	for (size_t i = 0; i < N_DEADLY; i++) {
		if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(deadly[i], &ours, NULL);
	}
}

void cleanup_defer_signals(void)
{
	atomic_fetch_add(&holds, 1);
}

void cleanup_resume_signals(void)
{
	int before = atomic_fetch_sub(&holds, 1);

	assert(before > 0);
	if (before == 1 && atomic_load(&due))
		raise(atomic_load(&due));
}

bool cleanup_signal_is_pending(void)
{
	return atomic_load(&due) != 0;
}

void cleanup_deliver_signal(void)
{
	if (!atomic_load(&due))
		return;
	atomic_store(&holds, 0);
	raise(atomic_load(&due));
}

void cleanup_add_file(const char *path)
{
	struct unfinished *f = hd_alloc(1, sizeof(*f));

	f->path = path;
	cleanup_defer_signals();
	f->next = files;
	files = f;
	cleanup_resume_signals();
}

void cleanup_forget_file(const char *path)
{
	struct unfinished **at = &files;

	cleanup_defer_signals();
	while (*at && (*at)->path != path)
		at = &(*at)->next;
	struct unfinished *f = *at;

	if (f)
		*at = f->next;
	free(f);
	cleanup_resume_signals();
}

void cleanup_run(void)
{
	cleanup_defer_signals();
	remove_all();
	cleanup_resume_signals();
}

/* In the child: restores default signal handling before exec. */
static void start_afresh(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* ended before prctl() */
		_exit(127);
	for (size_t i = 0; i < N_DEADLY; i++) {
		struct sigaction now;

		if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler == on_signal)
			signal(deadly[i], SIG_DFL);
	}
}

static void note_child(pid_t pid)
{
	for (size_t i = 0; i < MOST_CHILDREN; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&children[i], &none, pid))
			break;
	}
	if (atomic_load(&due))
		kill(pid, SIGTERM);
}

pid_t cleanup_fork(void)
{
	sigset_t set, before;
	pid_t parent = getpid();

	/* A signal finds the child noted, and in the child no handler. */
	fill_deadly(&set);
	sigprocmask(SIG_BLOCK, &set, &before);
	pid_t pid = fork();

	if (pid == 0)
		start_afresh(parent);
	if (pid > 0)
		note_child(pid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

pid_t cleanup_fork_detached(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		atomic_store(&holds, 0);
		atomic_store(&due, 0);
	}
	return pid;
}

pid_t cleanup_wait(int *status)
{
	siginfo_t info = { .si_pid = 0 };

	/* Unregisters the process while its number is still in use. */
	if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0)
		return -1;
	for (size_t i = 0; i < MOST_CHILDREN; i++) {
		int pid = info.si_pid;

		atomic_compare_exchange_strong(&children[i], &pid, 0);
	}
	return waitpid(info.si_pid, status, 0);
}
