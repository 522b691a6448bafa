/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/live.h"

/*
 * 'heddle live': its subcommands. Commands that the daemon executes are one record each; their
 * words are sent to it unchanged, and it reports invalid ones.
 */

static const struct example link_examples[] = {
	{ "heddle live link leaf3:19 down", "pull the cable at port 19" },
	{ "heddle live link h0 speed EDR", "let a host's link train at EDR" },
	{ NULL, NULL },
};

static const struct command command_live_link = {
	.name = "live link",
	.summary = "take a link down or up, change its speed or width",
	.arguments = "PORT down|up|speed NAME|width N",
	.description =
		"PORT is NODE:PORT, such as 'leaf3:19', or the name of a host with one port.\n"
		"Both ends of the cable change, and switches send a trap 128 to their subnet\n"
		"manager.\n",
	.options = cli_live_name_options,
	.examples = link_examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(cli_live_forward, struct cli_live_name, 0, ANY_NUMBER),
};

static const struct example error_examples[] = {
	{ "heddle live inject-error leaf3:19 SymbolErrorCounter 7",
	  "add 7 symbol errors, for ibqueryerrors" },
	{ NULL, NULL },
};

static const struct command command_live_inject_error = {
	.name = "live inject-error",
	.summary = "add a value to a port counter",
	.arguments = "PORT COUNTER N",
	.description = "COUNTER is a name that perfquery prints.\n",
	.options = cli_live_name_options,
	.examples = error_examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(cli_live_forward, struct cli_live_name, 0, ANY_NUMBER),
};

static const struct example fault_examples[] = {
	{ "heddle live fault h0 complete=REM_ACCESS_ERR after=10",
	  "let the eleventh send of each program on h0 fail" },
	{ "heddle live fault h0 post=ENOMEM chance=0.01 seed=7", "let one post in a hundred fail" },
	{ "heddle live fault clear h0", "remove the faults of h0" },
	{ NULL, NULL },
};

static const struct command command_live_fault = {
	.name = "live fault",
	.summary = "let verbs fail in programs of a host, at chosen places",
	.arguments = "HOST ACTION...|list|clear [HOST|ID]",
	.description =
		"ACTION: complete=STATUS (as IBV_WC_STATUS; the request is not executed),\n"
		"post=ERRNO (EAGAIN, EINVAL, ENOMEM), delay=TIME (a completion queue delays its\n"
		"completions), rnr=TIME (receivers are not ready), qp-error=EVENT (QP_FATAL,\n"
		"QP_REQ_ERR, QP_ACCESS_ERR), device=DEVICE_FATAL.\n\n"
		"WHICH: after=N (skip N events), times=N (number of faults; default 1, or\n"
		"unlimited with a chance), chance=P with seed=N, qp=NUMBER, process=PID. Each\n"
		"program counts its own events.\n",
	.options = cli_live_name_options,
	.examples = fault_examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(cli_live_forward, struct cli_live_name, 0, ANY_NUMBER),
};

static int run_down(const struct command *self, void *values, int n, char **words)
{
	const struct cli_live_name *v = values;
	int status = cli_live_forward(self, values, n, words);

	if (status == EXIT_DONE)
		live_await_end(v->name);
	return status;
}

static const struct example down_examples[] = {
	{ "heddle live down --name lab", "end the fabric 'lab'" },
	{ NULL, NULL },
};

static const struct command command_live_down = {
	.name = "live down",
	.summary = "stop a live fabric",
	.arguments = "",
	.description =
		"Detaches all programs from their adapters. A program that keeps reading from\n"
		"its adapter, such as OpenSM, gets SIGTERM.\n",
	.options = cli_live_name_options,
	.examples = down_examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(run_down, struct cli_live_name, 0, ANY_NUMBER),
};

static const struct command *const subcommands[] = {
	&command_live_up,      &command_live_exec,    &command_live_roce,
	&command_live_sm,      &command_live_link,    &command_live_inject_error,
	&command_live_fault,   &command_live_show,    &command_live_dump,
	&command_live_traffic, &command_live_capture, &command_live_replay,
	&command_live_time,    &command_live_down,    NULL,
};

static const struct example examples[] = {
	{ "heddle live up 'fat-tree --radix 4 --levels 3'", "start a fat tree" },
	{ "heddle live exec h0 -- opensm -B", "run OpenSM on host h0" },
	{ "heddle live exec h5 -- iblinkinfo", "list its links" },
	{ NULL, NULL },
};

const struct command command_live = {
	.name = "live",
	.summary = "run a fabric that unmodified InfiniBand tools attach to",
	.arguments = "",
	.description =
		"'live up' starts a fabric in the background; 'live exec' runs any program on\n"
		"one of its hosts. OpenSM manages the fabric, and the tools of infiniband-diags\n"
		"query it, as on hardware. A library that 'live exec' preloads replaces the\n"
		"kernel's driver.\n",
	.examples = examples,
	.subcommands = subcommands,
};
