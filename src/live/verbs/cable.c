/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/verbs/cable.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/place.h"

static bool name_socket(struct sockaddr_un *out, const char *path)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!path || strlen(path) >= sizeof(out->sun_path))
		return false;
	memcpy(out->sun_path, path, strlen(path) + 1);
	return true;
}

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

bool cable_describe(uint8_t ipv4[4], uint8_t *mtu)
{
	const char *address = getenv(LIVE_ROCE);
	uint64_t bytes = number(LIVE_ROCE_MTU);

	*mtu = IBV_MTU_256;
	while (*mtu < IBV_MTU_4096 && (UINT64_C(256) << *mtu) <= bytes)
		++*mtu;
	return address && inet_pton(AF_INET, address, ipv4) == 1;
}

/* Address of the socket. The process that bound it removes its file; child processes do not. */
static struct sockaddr_un bound;
static pid_t bound_by;

__attribute__((destructor)) static void remove_socket(void)
{
	if (bound_by == getpid())
		unlink(bound.sun_path);
}

int cable_open(struct roce_cable *c)
{
	struct sockaddr_un own;

	c->lose = number(LIVE_ROCE_LOSE);
	c->sent = 1;
	c->taken = 2;
	if (!name_socket(&own, getenv(LIVE_ROCE_LOCAL)) ||
	    !name_socket(&c->other, getenv(LIVE_ROCE_REMOTE)))
		return EINVAL;
	c->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return errno;
	/* Removes the socket of an earlier process. */
	unlink(own.sun_path);
	if (bind(c->fd, (struct sockaddr *)&own, sizeof(own)) == 0) {
		bound = own;
		bound_by = getpid();
		return 0;
	}
	int error = errno;

	close(c->fd);
	return error;
}

/*
 * Knuth's generator (MMIX). Losses are random: with every n-th frame lost, a sender that resends n
 * packets after each loss would lose the same packet for ever.
 */
static bool is_lost(uint64_t lose, uint64_t *stream)
{
	*stream = *stream * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lose && (*stream >> 33) % lose == 0;
}

bool cable_take(struct roce_cable *c, uint8_t *frame, size_t *size)
{
	ssize_t got;

	do
		got = recv(c->fd, frame, CABLE_FRAME, 0);
	while (got >= 0 && is_lost(c->lose, &c->taken));
	*size = got < 0 ? 0 : (size_t)got;
	return got >= 0;
}

/* False if the socket of the peer has no room. */
static bool try_send(const struct roce_cable *c, const uint8_t *frame, size_t size)
{
	return sendto(c->fd, frame, size, MSG_NOSIGNAL, (const struct sockaddr *)&c->other,
		      sizeof(c->other)) >= 0 ||
	       (errno != EAGAIN && errno != EINTR);
}

bool cable_is_free(struct roce_cable *c)
{
	if (c->n_waiting && try_send(c, c->waiting, c->n_waiting))
		c->n_waiting = 0;
	return c->n_waiting == 0;
}

void cable_send(struct roce_cable *c, const uint8_t *frame, size_t size)
{
	if (is_lost(c->lose, &c->sent) || try_send(c, frame, size))
		return;
	memcpy(c->waiting, frame, size);
	c->n_waiting = size;
}
