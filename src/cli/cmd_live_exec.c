/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library.h"
#include "cli/commands.h"
#include "cli/live/live.h"
#include "live/protocol.h"

struct values {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	const char *name;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct values),
	{ NULL },
};

/*
 * In front of whatever is preloaded already. The loader ends a path at a blank
 * or a colon, so it finds the library in the fabric's folder.
 */
static void set_preload(const char *dir, const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	struct strbuf all = STRBUF_INIT;

	strbuf_printf(&all, "%s/libheddle-umad.so", dir);
	if (access(all.text, R_OK) != 0)
		(void)!symlink(library, all.text);
	if (old && old[0])
		strbuf_printf(&all, ":%s", old);
	setenv("LD_PRELOAD", all.text, 1);
	strbuf_fini(&all);
}

static int start(const struct values *v, const char *host, char **words, int n)
{
	struct diag d = { .status = HD_OK };
	char *library = library_find("libheddle-umad.so");
	char *dir = live_folder(v->name);
	char **program = calloc((size_t)n + 1, sizeof(*program));

	if (!program || !library) {
		diag_fail(&d, HD_ERR_ENV,
			  "libheddle-umad.so is not where it was installed");
	} else {
		memcpy(program, words, (size_t)n * sizeof(*program));
		setenv(LIVE_DIR, dir, 1);
		setenv(LIVE_HOST, host, 1);
		set_preload(dir, library);
		execvp(program[0], program);
		diag_fail(&d, HD_ERR_ENV, "cannot start '%s': %s", program[0],
			  strerror(errno));
	}
	free(library);
	free(program);
	free(dir);
	return command_refuse(&d);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct strbuf out = STRBUF_INIT;
	int n_args, status;

	if (!command_parse(self, &v, argc, argv, &n_args, &status))
		return status;
	if (n_args < 2)
		return command_usage(self,
				     "which HOST, and what to run there?");
	status = live_ask(v.name, "host", argv, 1, &out);
	strbuf_fini(&out);
	if (status != EXIT_DONE)
		return status;
	return start(&v, argv[0], argv + 1, n_args - 1);
}

static const struct example examples[] = {
	{ "heddle live exec h0 -- opensm -B", "a subnet manager on h0" },
	{ "heddle live exec h1 -- ibnetdiscover",
	  "what the fabric looks like" },
	{ "heddle live exec h1 -- sh", "a shell on h1" },
	{ NULL, NULL },
};

const struct command command_live_exec = {
	.name = "live exec",
	.summary = "run a program as if on a host of a live fabric",
	.arguments = "HOST -- PROGRAM [ARGUMENT...]",
	.description =
		"Runs PROGRAM with a library preloaded that lets it find the "
		"adapter of HOST where the kernel's would be. Programs that it "
		"starts are on that host, too. Its exit status is that of the "
		"program.",
	.options = options,
	.examples = examples,
	.run = run,
};
