/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/colour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIPE "\r\033[K"
#define RED  "\033[1;31m"
#define END  "\033[0m"

bool colour_on(int fd)
{
	const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");

	return isatty(fd) && !(refused && *refused) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void cli_print_error(const char *who, const char *line)
{
	bool coloured = colour_on(STDERR_FILENO);

	fprintf(stderr, "%s%s%s:%s %s\n", isatty(STDERR_FILENO) ? WIPE : "", coloured ? RED : "",
		who, coloured ? END : "", line);
}
