/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_CLEANUP_H
#define HD_BASE_CLEANUP_H

/*
 * Cleans up when a signal ends this process: removes incomplete files and ends
 * child processes.
 *
 * main() calls cleanup_install_handlers() once. From then on a deadly signal
 * (HUP, INT, QUIT, PIPE, TERM etc.) still ends the program, but first removes
 * the files and ends the processes. Signals that the parent process set to be
 * ignored stay ignored. Without that call, this module only maintains its
 * lists.
 *
 * Between cleanup_defer_signals() and cleanup_resume_signals() a signal is
 * deferred: for a few system calls that belong together (a file and its entry
 * in the list, a transaction), or for work that polls
 * cleanup_signal_is_pending() and keeps its results when it is true. The
 * children are terminated immediately even then, so that a process waiting for
 * them does not wait long. Deferrals nest.
 *
 * Signals belong to the process, and so do these lists.
 */

#include <stdbool.h>
#include <sys/types.h>

void cleanup_install_handlers(void);

void cleanup_defer_signals(void);
void cleanup_resume_signals(void);
/* Whether a deadly signal is deferred; always false without a deferral. */
bool cleanup_signal_is_pending(void);
/* A pending signal ends the program now, regardless of deferrals. */
void cleanup_deliver_signal(void);

/*
 * Registers a file for removal until it is unregistered. The name is borrowed
 * until then, and may change while signals are deferred, as mkstemp() changes
 * it. Register the file before it is created and unregister it when it is
 * renamed, each with signals deferred.
 */
void cleanup_add_file(const char *path);
void cleanup_forget_file(const char *path);

/* Removes the files and ends the children when the program ends without a signal. */
void cleanup_run(void);

/*
 * fork() for a child that will execute another program. The child never
 * outlives this process. It starts with default signal handling, as without
 * this module.
 */
pid_t cleanup_fork(void);
/*
 * fork() for a child that may outlive this process and is responsible for
 * itself: its lists are empty, and a signal deferred here is not deferred
 * there.
 */
pid_t cleanup_fork_detached(void);
/* wait() for any child of cleanup_fork(); -1 if there are none. */
pid_t cleanup_wait(int *status);

#endif
