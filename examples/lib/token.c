/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric under a simulator of one's own: a token goes around all hosts, and
 * each keeps it for a microsecond before it passes it on.
 *
 *	cc token.c $(pkg-config --cflags --libs heddle) -o token
 *	./token ../jobs.yaml 4096
 */
#include <heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define US UINT64_C(1000000) /* in picoseconds */

/* All that this simulator knows: which host has the token, and when it is done. */
struct ring {
	uint32_t holder;
	uint64_t until; /* HD_NEVER: it is under way */
	uint64_t bytes;
};

static void token_arrives(void *context, struct hd_net *net, int lost)
{
	struct ring *ring = context;

	ring->holder = (ring->holder + 1) % hd_net_hosts(net);
	ring->until = lost ? HD_NEVER : hd_net_now(net) + US;
}

/* Events of ours, and what the network does between them. */
static int go_around(struct hd_net *net, struct ring *ring, struct hd_error *error)
{
	const uint32_t n = hd_net_hosts(net);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = (ring->holder + 1) % n;

		if (hd_net_run_until(net, ring->until, error) != HD_DONE ||
		    hd_net_send(net, ring->holder, next, ring->bytes, HD_NO_CLASS, token_arrives,
				ring, error) != HD_DONE)
			return error->code;
		ring->until = HD_NEVER;
		if (hd_net_run_until(net, HD_NEVER, error) != HD_DONE)
			return error->code;
	}
	return HD_DONE;
}

int main(int argc, char **argv)
{
	/* Nothing of the scenario's own. */
	const struct hd_setting alone[] = { { "jobs", "" }, { "goals", "" } };
	struct hd_run_options options = HD_RUN_OPTIONS_INIT;
	struct hd_error error = HD_ERROR_INIT;
	struct ring ring = { .holder = 0, .until = 0 };
	struct hd_net *net;

	if (argc != 3) {
		fprintf(stderr, "usage: token SCENARIO BYTES\n");
		return HD_MISUSE;
	}
	ring.bytes = strtoull(argv[2], NULL, 10);
	options.settings = alone;
	options.n_settings = 2;
	int code = hd_net_open(argv[1], &options, &net, &error);

	if (code == HD_DONE) {
		code = go_around(net, &ring, &error);
		if (code == HD_DONE)
			printf("%" PRIu32 " hosts, %" PRIu64 " ps\n", hd_net_hosts(net),
			       hd_net_now(net));
		hd_net_close(net);
	}
	if (code != HD_DONE)
		fprintf(stderr, "token: %s\n", error.text);
	return code;
}
