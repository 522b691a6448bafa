/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE

/*
 * Replacement of /dev/infiniband/rdma_cm in libheddle-umad.so, for an unmodified librdmacm. A
 * channel is a socket to the daemon with one byte per event. A command written to it is sent as a
 * question; the reply is stored at the address in the command.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "live/umad/preload.h"

enum { MOST_COMMAND = 2048, MOST_ANSWER = 1024 };

/* Connection numbers of descriptors that are channels; 0: others. */
static _Atomic uint32_t channel_of[MAX_FDS];

int cm_open(void)
{
	int fd;
	uint32_t number = preload_open(LIVE_CM, 0, &fd);

	if (fd >= MAX_FDS) {
		preload_close(fd);
		errno = EMFILE;
		return -1;
	}
	if (fd >= 0)
		channel_of[fd] = number;
	return fd;
}

bool cm_is_open(int fd)
{
	return fd >= 0 && fd < MAX_FDS && channel_of[fd] != 0;
}

void cm_closed(int fd)
{
	if (fd >= 0 && fd < MAX_FDS)
		channel_of[fd] = 0;
}

/* Address for the response of a command; 0: it has none. */
static uint64_t where_to(const struct rdma_ucm_cmd_hdr *h, const uint8_t *in, size_t size)
{
	uint64_t at = 0;
	size_t offset = h->cmd == RDMA_USER_CM_CMD_CREATE_ID
				? offsetof(struct rdma_ucm_create_id, response)
				: 0;

	switch (h->cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
	case RDMA_USER_CM_CMD_GET_EVENT:
	case RDMA_USER_CM_CMD_MIGRATE_ID:
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
	case RDMA_USER_CM_CMD_JOIN_MCAST:
	case RDMA_USER_CM_CMD_LEAVE_MCAST:
		if (size >= offset + sizeof(at))
			memcpy(&at, in + offset, sizeof(at));
		return at;
	default:
		return 0;
	}
}

/* A command and the data appended to it. */
struct rdmacm_command {
	_Alignas(8) uint8_t bytes[MOST_COMMAND];
	size_t size;
	const void *more;
	size_t n_more;
};

/* Sends a command to the daemon; returns the number of events taken, or -1 with errno. */
static long ask(int fd, const struct rdmacm_command *c, char *out, size_t *out_size)
{
	uint8_t text[sizeof(uint32_t) + MOST_COMMAND];
	uint32_t channel = channel_of[fd];
	uint8_t *at = text + sizeof(channel);

	if (c->size + c->n_more > MOST_COMMAND) {
		errno = EINVAL;
		return -1;
	}
	memcpy(text, &channel, sizeof(channel));
	memcpy(at, c->bytes, c->size);
	if (c->n_more > 0)
		memcpy(at + c->size, c->more, c->n_more);
	return preload_call(LIVE_CM_COMMAND, text, sizeof(channel) + c->size + c->n_more, out,
			    out_size);
}

/* Reads the bytes of events that were taken; they may still be in transit. */
static void drain(int fd, long n)
{
	uint8_t byte;

	for (; n > 0; n--) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		while (recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR))
			poll(&p, 1, -1);
	}
}

/* Waits for an event; false with errno if none can come. */
static bool wait_for_event(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fcntl(fd, F_GETFL) & O_NONBLOCK) {
		errno = EAGAIN;
		return false;
	}
	if (poll(&p, 1, -1) < 0)
		return false;
	if (p.revents & (POLLHUP | POLLERR)) {
		errno = ENODEV; /* the fabric has ended */
		return false;
	}
	return true;
}

/* The value of an option is at the address in the command and is sent with the command. */
static size_t option(const uint8_t *in, size_t size, const void **at)
{
	struct rdma_ucm_set_option o = { 0 };

	memcpy(&o, in, size < sizeof(o) ? size : sizeof(o));
	*at = (const void *)(uintptr_t)o.optval; /* NOLINT: the kernel's way */
	return o.optlen;
}

ssize_t cm_write(int fd, const void *from, size_t n)
{
	struct rdmacm_command c = { .size = n };
	char answer[MOST_ANSWER];
	struct rdma_ucm_cmd_hdr h;
	uint8_t *in = c.bytes + sizeof(h);
	size_t size = sizeof(answer);
	int drained = fd;
	long taken;

	if (n < sizeof(h) || n > sizeof(c.bytes)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(c.bytes, from, n);
	memcpy(&h, c.bytes, sizeof(h));
	if (h.cmd == RDMA_USER_CM_CMD_SET_OPTION)
		c.n_more = option(in, n - sizeof(h), &c.more);
	if (h.cmd == RDMA_USER_CM_CMD_MIGRATE_ID) {
		struct rdma_ucm_migrate_id *m = (void *)in;

		drained = (int)m->fd;
		m->fd = cm_is_open(drained) ? channel_of[drained] : 0;
	}
	while ((taken = ask(fd, &c, answer, &size)) < 0) {
		if (h.cmd != RDMA_USER_CM_CMD_GET_EVENT || errno != EAGAIN || !wait_for_event(fd))
			return -1;
		size = sizeof(answer);
	}
	drain(drained, taken);
	uint64_t to = where_to(&h, in, n - sizeof(h));

	if (to)
		memcpy((void *)(uintptr_t)to, answer, /* NOLINT: as above */
		       size < h.out ? size : h.out);
	return (ssize_t)n;
}

/* ---- functions that replace the C library's */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* librdmacm accepts only a character device. */
#define WITH_STAT(name, type)                                                      \
	int name(int fd, type out)                                                 \
	{                                                                          \
		int (*f)(int, type);                                               \
                                                                                   \
		*(void **)&f = preload_next(#name);                                \
		int status = f(fd, out);                                           \
                                                                                   \
		if (status == 0 && cm_is_open(fd))                                 \
			out->st_mode = (out->st_mode & ~(mode_t)S_IFMT) | S_IFCHR; \
		return status;                                                     \
	}

WITH_STAT(fstat, struct stat *)
WITH_STAT(fstat64, struct stat64 *)

/* Host names of the fabric resolve to the hosts' addresses. */
int getaddrinfo(const char *restrict node, const char *restrict service,
		const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
	int (*f)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	char text[INET_ADDRSTRLEN];
	long found = node && preload_is_on()
			     ? preload_call(LIVE_ASK_ADDRESS, node, strlen(node) + 1, NULL, NULL)
			     : -1;

	*(void **)&f = preload_next("getaddrinfo");
	if (found < 0)
		return f(node, service, hints, out);
	const struct in_addr a = { htonl((uint32_t)found) };

	return f(inet_ntop(AF_INET, &a, text, sizeof(text)), service, hints, out);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
