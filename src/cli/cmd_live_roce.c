/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "cli/commands.h"
#include "cli/live.h"
#include "live/place.h"

static const char *const mtus[] = { "256", "512", "1024", "2048", "4096", NULL };

struct live_roce_options {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	const char *address, *local, *remote;
	unsigned mtu;
	uint64_t lose;
};

static const struct option options[] = {
	{ "address", 'a', OPT_TEXT, offsetof(struct live_roce_options, address), "IPV4", NULL,
	  "IPv4 address of the adapter; determines its MAC address", NULL, 0, 0 },
	{ "local", 'l', OPT_TEXT, offsetof(struct live_roce_options, local), "SOCKET", NULL,
	  "socket of this end of the cable, created by the command", NULL, 0, 0 },
	{ "remote", 'r', OPT_TEXT, offsetof(struct live_roce_options, remote), "SOCKET", NULL,
	  "socket of the other end", NULL, 0, 0 },
	{ "mtu", 'm', OPT_CHOICE, offsetof(struct live_roce_options, mtu), "BYTES", "1024",
	  "active MTU of the port", mtus, 0, 0 },
	{ "lose", 0, OPT_UINT, offsetof(struct live_roce_options, lose), "N", "0",
	  "drop one of N frames in each direction, at random; 0: none", NULL, 0, UINT32_MAX },
	{ NULL },
};

/* The usage error of the options, or NULL. */
static const char *refusal(const struct live_roce_options *v, int n_args)
{
	enum { ROOM = sizeof(((struct sockaddr_un *)NULL)->sun_path) };
	struct in_addr address;

	if (n_args < 1)
		return "missing argument: expected PROGRAM";
	if (!v->address || !v->local || !v->remote)
		return "--address, --local and --remote are required";
	if (inet_pton(AF_INET, v->address, &address) != 1)
		return "option --address: expected an IPv4 address such as 10.0.0.2";
	return strlen(v->local) >= ROOM || strlen(v->remote) >= ROOM
		       ? "the path of a socket has 107 letters at most"
		       : NULL;
}

static void set_place(const struct live_roce_options *v)
{
	char lose[24];

	snprintf(lose, sizeof(lose), "%" PRIu64, v->lose);
	setenv(LIVE_ROCE, v->address, 1);
	setenv(LIVE_ROCE_LOCAL, v->local, 1);
	setenv(LIVE_ROCE_REMOTE, v->remote, 1);
	setenv(LIVE_ROCE_MTU, mtus[v->mtu], 1);
	setenv(LIVE_ROCE_LOSE, lose, 1);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	static const char *const libraries[] = { "libheddle-verbs.so", NULL };
	const struct live_roce_options *v = values;
	struct diag d = { .status = HD_OK };
	const char *why = refusal(v, n);

	if (why)
		return command_usage(self, "%s", why);
	set_place(v);
	if (cli_live_preload(libraries, &d))
		cli_live_exec(args, n, &d);
	return command_refuse(&d);
}

static const struct example examples[] = {
	{ "heddle live roce -a 10.0.0.2 -l ours -r theirs -- ibv_devinfo", "show the adapter" },
	{ NULL, NULL },
};

const struct command command_live_roce = {
	.name = "live roce",
	.summary = "run a program with an emulated RoCEv2 adapter",
	.arguments = "-- PROGRAM [ARGUMENT...]",
	.description =
		"Runs PROGRAM, a verbs program, with an adapter on an Ethernet: queue pairs,\n"
		"packets and timers follow the architecture. The cable is a pair of local\n"
		"datagram sockets with one frame per datagram, as of 'qemu -netdev dgram'. The\n"
		"peer may be the Linux kernel's rxe in an emulated machine, or another program\n"
		"started by this command. No interface of this host and no fabric is used. GID\n"
		"index 0 is the link-local address, 1 that of IPv4. The exit status is that of\n"
		"PROGRAM.\n",
	.options = options,
	.writes = BECOMES_ANOTHER,
	.examples = examples,
	COMMAND_CALL(run, struct live_roce_options, 0, ANY_NUMBER),
};
