/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_SCRATCH_H
#define HD_STUDY_SCRATCH_H

/*
 * A folder below TMPDIR for the files of this process and of those that work
 * for it. It goes with the last of them, however they end: a process of its own
 * watches, and removes the folder if they could not.
 */

#include <sys/types.h>

#include "base/diag.h"

struct scratch {
	char *folder;
	pid_t watcher; /* -1: none could be had */
	int alive;     /* held open by all who use the folder */
};

/* HD_ERR_IO if there is no place for it. */
HD_MUST_CHECK enum hd_status scratch_make(struct diag *d, struct scratch *out);
/* With all that is in it. */
void scratch_remove(struct scratch *s);

#endif
