/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdmacm_connects PORT N: listens, accepts N connections as late as it likes and waits until each
 * is disconnected. rdmacm_connects PORT N HOST SEED: connects N times at random times, half of
 * them while an earlier connection is still there. A connection that is not established is an
 * error: its event and status are printed.
 */
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Requests that wait at a time: one per program. */
enum { BACKLOG = 8 };

static struct rdma_event_channel *channel;
static uint64_t state;

static void demand(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static unsigned draw(unsigned below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % below;
}

static void rest(unsigned most) /* us */
{
	const struct timespec t = { .tv_nsec = 1000L * draw(most + 1) };

	nanosleep(&t, NULL);
}

/* The next event, acknowledged; `id` is the one that it is about. */
static enum rdma_cm_event_type next(struct rdma_cm_id **id, int *status)
{
	struct rdma_cm_event *e;

	demand(rdma_get_cm_event(channel, &e) == 0, "rdma_get_cm_event");
	enum rdma_cm_event_type type = e->event;

	*id = e->id;
	*status = e->status;
	rdma_ack_cm_event(e);
	return type;
}

/* ---- the listener */

static void serve(uint16_t port, unsigned n)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct rdma_cm_id *listener, *id;
	unsigned accepted = 0, ended = 0;
	int status;

	demand(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	demand(rdma_bind_addr(listener, (struct sockaddr *)&at) == 0, "rdma_bind_addr");
	demand(rdma_listen(listener, BACKLOG) == 0, "rdma_listen");
	printf("listens\n");
	fflush(stdout);
	while (ended < n) {
		struct rdma_conn_param p = { .qp_num = 1 };

		switch (next(&id, &status)) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			if (draw(8) == 0)
				rest(20000);
			demand(rdma_accept(id, &p) == 0, "rdma_accept");
			accepted++;
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			rdma_disconnect(id);
			demand(rdma_destroy_id(id) == 0, "rdma_destroy_id");
			ended++;
			break;
		default:
			break;
		}
	}
	demand(rdma_destroy_id(listener) == 0, "rdma_destroy_id");
	printf("%u accepted, %u ended\n", accepted, ended);
}

/* ---- the others */

static void expect(enum rdma_cm_event_type wanted, unsigned k)
{
	struct rdma_cm_id *id;
	int status;
	enum rdma_cm_event_type got = next(&id, &status);

	if (got == wanted)
		return;
	printf("connection %u: %s, status %d, not %s\n", k, rdma_event_str(got), status,
	       rdma_event_str(wanted));
	exit(1);
}

static void end(struct rdma_cm_id *id, unsigned k)
{
	demand(rdma_disconnect(id) == 0, "rdma_disconnect");
	expect(RDMA_CM_EVENT_DISCONNECTED, k);
	demand(rdma_destroy_id(id) == 0, "rdma_destroy_id");
}

static void connect_all(uint16_t port, unsigned n, const char *host)
{
	struct rdma_cm_id *id, *earlier = NULL;
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *to;
	char service[8];

	snprintf(service, sizeof(service), "%u", port);
	demand(rdma_getaddrinfo(host, service, &hints, &to) == 0, "rdma_getaddrinfo");
	for (unsigned k = 0; k < n; k++) {
		struct rdma_conn_param p = { .qp_num = 1, .retry_count = 7 };

		rest(4000);
		demand(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
		demand(rdma_resolve_addr(id, NULL, to->ai_dst_addr, 60000) == 0, "resolve_addr");
		expect(RDMA_CM_EVENT_ADDR_RESOLVED, k);
		demand(rdma_resolve_route(id, 60000) == 0, "rdma_resolve_route");
		expect(RDMA_CM_EVENT_ROUTE_RESOLVED, k);
		demand(rdma_connect(id, &p) == 0, "rdma_connect");
		/* Without a queue pair of librdmacm the program confirms the response. */
		expect(RDMA_CM_EVENT_CONNECT_RESPONSE, k);
		demand(rdma_establish(id) == 0, "rdma_establish");
		if (earlier)
			end(earlier, k);
		earlier = draw(2) ? id : NULL;
		if (!earlier)
			end(id, k);
	}
	if (earlier)
		end(earlier, n);
	rdma_freeaddrinfo(to);
	printf("%u connected\n", n);
}

int main(int argc, char **argv)
{
	demand(argc == 3 || argc == 5, "usage: rdmacm_connects PORT N [HOST SEED]");
	uint16_t port = (uint16_t)strtoul(argv[1], NULL, 10);
	unsigned n = (unsigned)strtoul(argv[2], NULL, 10);

	channel = rdma_create_event_channel();
	demand(channel != NULL, "rdma_create_event_channel");
	state = argc == 5 ? strtoull(argv[4], NULL, 10) : 1;
	if (argc == 5)
		connect_all(port, n, argv[3]);
	else
		serve(port, n);
	rdma_destroy_event_channel(channel);
	return 0;
}
