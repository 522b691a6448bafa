/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/live/live.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool live_is_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-' &&
		    name[i] != '_')
			return false;
	return n > 0 && n <= 32;
}

int live_ask(const char *name, const char *verb, char **words, int n,
	     struct strbuf *out)
{
	return live_ask_with(name, verb, words, n, -1, out);
}

int live_ask_with(const char *name, const char *verb, char **words, int n,
		  int file, struct strbuf *out)
{
	enum { MOST = 16 };
	const char *all[MOST] = { verb };
	struct diag d = { .status = HD_OK };
	int used = n < MOST ? n : MOST - 1;

	if (!live_is_name(name)) {
		diag_fail(&d, HD_ERR_USAGE, "'%s' is no name for a fabric",
			  name);
		return command_refuse(&d);
	}
	for (int i = 0; i < used; i++)
		all[i + 1] = words[i];
	char *dir = live_folder(name);
	enum hd_status status =
		live_call_with(dir, all, (size_t)used + 1, file, &d, out);

	free(dir);
	return status == HD_OK ? EXIT_DONE : command_refuse(&d);
}
