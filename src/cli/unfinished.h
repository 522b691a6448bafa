/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_UNFINISHED_H
#define HD_CLI_UNFINISHED_H

/*
 * Long files that are being written while a simulation runs. SIGINT and
 * SIGTERM end the program as ever, but remove them first. A file that was
 * committed or abandoned has lost the name that is removed, so nobody needs
 * to take it back.
 */

#include "base/file.h"

void unfinished_add(const struct file_writer *w);
/* Removes them: for other ends than a signal. */
void unfinished_clear(void);

#endif
