/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_SCRATCH_H
#define HD_STUDY_SCRATCH_H

/*
 * A folder below TMPDIR for temporary files of this process and its child
 * processes. It is removed when the last of them ends. A watcher process
 * removes it if they were killed.
 */

#include <sys/types.h>

#include "base/diag.h"

struct scratch {
	char *folder;
	pid_t watcher; /* -1: no watcher could be started */
	int alive;     /* file descriptor held open by every process that uses the folder */
};

/* HD_ERR_IO if the folder cannot be created. */
HD_MUST_CHECK enum hd_status scratch_make(struct diag *d, struct scratch *out);
/* Removes the folder and its contents. */
void scratch_remove(struct scratch *s);

#endif
