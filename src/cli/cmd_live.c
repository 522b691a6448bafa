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
		"A PORT is 'leaf3:19', or the name of a host with one port. Both ends of the cable change, and switches say so to their subnet manager (trap 128).",
	.options = cli_live_name_options,
	.examples = link_examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(cli_live_forward, struct cli_live_name, 0, ANY_NUMBER),
};

static const struct example error_examples[] = {
	{ "heddle live inject-error leaf3:19 SymbolErrorCounter 7",
	  "what ibqueryerrors then shows" },
	{ NULL, NULL },
};

static const struct command command_live_inject_error = {
	.name = "live inject-error",
	.summary = "add a value to a port counter",
	.arguments = "PORT COUNTER N",
	.description = "COUNTER is a name that perfquery prints.",
	.options = cli_live_name_options,
	.examples = error_examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(cli_live_forward, struct cli_live_name, 0, ANY_NUMBER),
};

static const struct example fault_examples[] = {
	{ "heddle live fault h0 complete=REM_ACCESS_ERR after=10",
	  "the eleventh send of each program on h0 fails" },
	{ "heddle live fault h0 post=ENOMEM chance=0.01 seed=7", "one in a hundred is not taken" },
	{ "heddle live fault clear h0", "no more" },
	{ NULL, NULL },
};

static const struct command command_live_fault = {
	.name = "live fault",
	.summary = "let verbs fail in programs of a host, at chosen places",
	.arguments = "HOST ACTION...|list|clear [HOST|ID]",
	.description =
		"ACTION: complete=STATUS (as IBV_WC_STATUS; the request is not carried out), post=ERRNO (EAGAIN, EINVAL, ENOMEM), delay=TIME (a completion queue hides its completions), rnr=TIME (receivers are not ready), qp-error=EVENT (QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR), device=DEVICE_FATAL. WHICH: after=N events pass first, times=N are hit (1; with a chance no limit), chance=P with seed=N, qp=NUMBER, process=PID. Each program counts for itself.",
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
		"Programs that are attached find their adapter gone. One that reads from it again and again, as OpenSM does, gets SIGTERM.",
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
	{ "heddle live up 'fat-tree --radix 4 --levels 3'", "start one" },
	{ "heddle live exec h0 -- opensm -B", "let OpenSM manage it" },
	{ "heddle live exec h5 -- iblinkinfo", "look at it" },
	{ NULL, NULL },
};

const struct command command_live = {
	.name = "live",
	.summary = "run a fabric that unmodified InfiniBand tools attach to",
	.arguments = "",
	.description = "'live up' starts a fabric in the background; 'live exec' runs "
		       "any program as if it were on one of its hosts: OpenSM manages "
		       "the fabric, and the tools of infiniband-diags ask it, as they "
		       "would on hardware. What is not there is the kernel's driver: "
		       "a library that 'live exec' preloads replaces it.",
	.examples = examples,
	.subcommands = subcommands,
};
