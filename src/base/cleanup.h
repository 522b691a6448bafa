/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_CLEANUP_H
#define HD_BASE_CLEANUP_H

/*
 * What must not outlive this process when a signal ends it: files that are
 * not whole yet, and processes that work for it.
 *
 * main() calls cleanup_install_handlers() once. From then on a deadly signal (HUP,
 * INT, QUIT, PIPE, TERM and their like) ends the program as it always would,
 * but first removes the files and ends the processes. What the caller made us
 * ignore stays ignored. Without the call all of this only keeps lists.
 *
 * Between cleanup_defer_signals() and cleanup_resume_signals() a signal has to wait: for
 * a few system calls that belong together (a file and its name on the list, a
 * transaction), or for work that looks at cleanup_signal_is_pending() now and then and
 * keeps what it has when it is true. The children are asked to end at once
 * all the same, so that who waits for them need not wait long. Holds nest.
 *
 * Signals belong to the process, and so do these lists.
 */

#include <stdbool.h>
#include <sys/types.h>

void cleanup_install_handlers(void);

void cleanup_defer_signals(void);
void cleanup_resume_signals(void);
/* Whether a deadly signal waits for the hold to end; always false without. */
bool cleanup_signal_is_pending(void);
/* A pending signal ends the program now, in spite of holds. */
void cleanup_deliver_signal(void);

/*
 * A file that is to vanish, until it is taken back. The name is borrowed until
 * then, and may still change under a hold, as mkstemp() changes it. Add it
 * before it is made, take it back when it is renamed, both under one hold.
 */
void cleanup_add_file(const char *path);
void cleanup_forget_file(const char *path);

/* Removes the files and ends the children: for other ends than a signal. */
void cleanup_run(void);

/*
 * fork() for a child that will execute another program: it does not outlive
 * us, however we end, and signals find it as if we had none of this.
 */
pid_t cleanup_fork(void);
/*
 * fork() for a child that lives on without us, and answers for itself: it holds
 * nothing, and a signal that waits here does not wait there.
 */
pid_t cleanup_fork_detached(void);
/* wait() for any child of cleanup_fork(); -1 without children. */
pid_t cleanup_wait(int *status);

#endif
