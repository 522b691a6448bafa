/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/unfinished.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_FILES 2

/* Copies, since a handler must not follow what may have been freed. */
static char paths[MOST_FILES][PATH_MAX];
static volatile sig_atomic_t n_paths;

void unfinished_clear(void)
{
	for (int i = 0; i < n_paths; i++)
		unlink(paths[i]);
}

static void on_end(int number)
{
	unfinished_clear();
	/*
	 * Ends the program once the handler is left. Not by SA_RESETHAND: the
	 * same signal sent twice at once would then kill us on our way here.
	 */
	signal(number, SIG_DFL);
	raise(number);
}

static void install(int number)
{
	struct sigaction now, ours = { .sa_handler = on_end };

	sigemptyset(&ours.sa_mask);
	/* What the caller made us ignore stays ignored. */
	if (sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(number, &ours, NULL);
}

void unfinished_add(const struct file_writer *w)
{
	if (!w->beside || n_paths == MOST_FILES ||
	    strlen(w->beside) >= PATH_MAX)
		return;
	snprintf(paths[n_paths], PATH_MAX, "%s", w->beside);
	n_paths++;
	install(SIGINT);
	install(SIGTERM);
}
