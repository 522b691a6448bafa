/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "live/place.h"

/* The preloaded libraries that replace the kernel: MADs and files, verbs. */
static const char *const libraries[] = { "libheddle-umad.so", "libheddle-verbs.so", NULL };

struct live_exec_options {
	struct common_options common;
	const char *name;
	bool hostname;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_exec_options),
	{ "hostname", 0, OPT_FLAG, offsetof(struct live_exec_options, hostname), NULL, NULL,
	  "gethostname() and uname() return the name of the simulated host" },
	{ NULL },
};

static int start(const struct live_exec_options *v, const char *host, char **words, int n)
{
	struct diag d = { .status = HD_OK };
	char *dir = live_folder(v->name);

	setenv(LIVE_DIR, dir, 1);
	setenv(LIVE_HOST, host, 1);
	if (v->hostname)
		setenv(LIVE_HOSTNAME, "1", 1);
	cli_live_use_adapter();
	if (cli_live_preload(libraries, &d))
		cli_live_exec(words, n, &d);
	free(dir);
	return command_refuse(&d);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct live_exec_options *v = values;
	struct strbuf out = STRBUF_INIT;
	int status;

	(void)self;
	if (cli_live_is_selection(args[0])) {
		struct diag d = { .status = HD_OK };

		status = cli_live_find_hosts(v->name, args[0], &d, &out) == HD_OK
				 ? start(v, out.text, args + 1, n - 1)
				 : command_refuse(&d);
		strbuf_fini(&out);
		return status;
	}
	status = cli_live_request(v->name, "host", args, 1, &out);
	strbuf_fini(&out);
	return status == EXIT_DONE ? start(v, args[0], args + 1, n - 1) : status;
}

static const struct example examples[] = {
	{ "heddle live exec h0 -- opensm -B", "run a subnet manager on h0" },
	{ "heddle live exec h1 -- ibnetdiscover", "show the topology" },
	{ "heddle live exec h1 -- ib_write_bw", "run the server of a bandwidth test" },
	{ "heddle live exec h1 -- sh", "run a shell on h1" },
	{ "heddle live exec h0..h7 -- mpirun -n 8 ./app",
	  "run rank i of an MPI program on the i-th of these hosts" },
	{ NULL, NULL },
};

const struct command command_live_exec = {
	.name = "live exec",
	.summary = "run a program on a host of a live fabric",
	.arguments = "HOSTS -- PROGRAM [ARGUMENT...]",
	.description =
		"Runs PROGRAM with preloaded libraries that present the adapter of a host, for\n"
		"management and verbs. Its child processes are on that host, too. With several\n"
		"HOSTS, selected as in scenarios (h0..h7, h0,h5, all), the ranks that a\n"
		"launcher such as mpirun starts are on one host each, in order. The exit status\n"
		"is that of PROGRAM.\n\n"
		"All hosts are on this machine, so Open MPI and UCX would use shared memory.\n"
		"'live exec' makes them use the adapter, unless their variables (OMPI_MCA_pml,\n"
		"UCX_TLS, ...) are set.\n",
	.options = options,
	.writes = BECOMES_ANOTHER,
	.examples = examples,
	COMMAND_CALL(run, struct live_exec_options, 2, ANY_NUMBER),
};
