/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_COLOUR_H
#define HD_CLI_COLOUR_H

/*
 * Colour on a terminal for errors and missed goals. Without a terminal, with
 * TERM=dumb or NO_COLOR (no-color.org), output has no colour.
 */

#include <stdbool.h>

/* True if output to this descriptor is coloured. */
bool colour_on(int fd);

/*
 * Prints "WHO: LINE" to stderr; used for all errors. WHO is "heddle", or "heddle " and the name of
 * a command. The line replaces a progress line.
 */
void cli_print_error(const char *who, const char *line);

#endif
