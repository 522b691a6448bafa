/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_COLOUR_H
#define HD_CLI_COLOUR_H

/*
 * Colour on a terminal, for what must not be overlooked: errors and missed
 * goals. Nowhere else, not on a terminal of kind "dumb", and not for somebody
 * who has set NO_COLOR (no-color.org).
 */

#include <stdbool.h>

/* Whether a reader of this file descriptor wants it. */
bool colour_on(int fd);

/*
 * Prints "WHO: LINE" to stderr, for all errors. WHO is "heddle", or "heddle "
 * and the name of a command; a line of progress that stands there is wiped.
 */
void cli_print_error(const char *who, const char *line);

#endif
