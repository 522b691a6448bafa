/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/live.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_live_is_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
			return false;
	return n > 0 && n <= 32;
}

int cli_live_request(const char *name, const char *verb, char **words, int n, struct strbuf *out)
{
	return cli_live_request_with_file(name, verb, words, n, -1, out);
}

int cli_live_request_with_file(const char *name, const char *verb, char **words, int n, int file,
			       struct strbuf *out)
{
	enum { MOST = 64 };
	const char *all[MOST] = { verb };
	struct diag d = { .status = HD_OK };

	if (n >= MOST) {
		diag_fail(&d, HD_ERR_USAGE, "%d words are too many; expected at most %d", n,
			  MOST - 1);
		return command_refuse(&d);
	}
	if (!cli_live_is_name(name)) {
		diag_fail(&d, HD_ERR_USAGE,
			  "invalid fabric name '%s': use letters, digits, '-' and '_'", name);
		return command_refuse(&d);
	}
	for (int i = 0; i < n; i++)
		all[i + 1] = words[i];
	char *dir = live_folder(name);
	enum hd_status status = live_call_with(dir, all, (size_t)n + 1, file, &d, out);

	free(dir);
	return status == HD_OK ? EXIT_DONE : command_refuse(&d);
}

const struct option cli_live_name_options[] = {
	LIVE_NAME_OPTION(struct cli_live_name),
	{ NULL },
};

int cli_live_forward(const struct command *self, void *values, int n, char **words)
{
	const struct cli_live_name *v = values;
	struct strbuf out = STRBUF_INIT;

	/* 'live down lab' without --name must not end the default fabric. */
	if (n > 0 && self->arguments[0] == '\0')
		return command_usage(self, "unexpected argument: select a fabric with --name %s",
				     words[0]);
	int status = cli_live_request(v->name, command_short_name(self), words, n, &out);

	if (status == EXIT_DONE && out.len > 0)
		fputs(out.text, stdout);
	strbuf_fini(&out);
	return status;
}
