/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ranks.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"

#define PATIENCE 30000 /* ms */
#define BARRIER  'B'
#define FINISH   'F'

bool ranks_send(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool ranks_receive(int fd, void *bytes, size_t len)
{
	char *at = bytes;

	while (len) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int ready = poll(&p, 1, PATIENCE);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		ssize_t n = recv(fd, at, len, 0);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool ranks_exchange(struct ranks *r, unsigned with, const void *mine,
		    void *theirs, size_t len)
{
	return with < RANKS_MAX && r->fd[with] >= 0 &&
	       ranks_send(r->fd[with], mine, len) &&
	       ranks_receive(r->fd[with], theirs, len);
}

/* A "finish" that nobody has asked for may stand before it. */
static bool take_barrier(int fd)
{
	char c;

	do {
		if (!ranks_receive(fd, &c, 1))
			return false;
	} while (c == FINISH);
	return c == BARRIER;
}

bool ranks_barrier(struct ranks *r)
{
	const char c = BARRIER;

	if (r->self != 0)
		return ranks_send(r->fd[0], &c, 1) && take_barrier(r->fd[0]);
	for (unsigned i = 1; i < r->n; i++) {
		if (!take_barrier(r->fd[i]))
			return false;
	}
	for (unsigned i = 1; i < r->n; i++) {
		if (!ranks_send(r->fd[i], &c, 1))
			return false;
	}
	return true;
}

void ranks_finish(struct ranks *r)
{
	const char c = FINISH;

	for (unsigned i = 2; i < r->n; i++)
		(void)ranks_send(r->fd[i], &c, 1);
}

bool ranks_finished(struct ranks *r)
{
	char c;
	ssize_t n = recv(r->fd[0], &c, 1, MSG_DONTWAIT);

	return n == 0 || (n == 1 && c == FINISH);
}

void ranks_close(struct ranks *r)
{
	for (unsigned i = 0; i < RANKS_MAX; i++) {
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	}
}

static void ranks_init(struct ranks *r, unsigned n, unsigned self)
{
	r->n = n;
	r->self = self;
	for (unsigned i = 0; i < RANKS_MAX; i++)
		r->fd[i] = -1;
}

enum hd_status ranks_local(struct ranks *list, unsigned n, struct diag *d)
{
	for (unsigned i = 0; i < n; i++)
		ranks_init(&list[i], n, i);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = i + 1; k < n; k++) {
			int pair[2];

			if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
				return diag_fail(d, HD_ERR_IO,
						 "cannot make a socket: %s",
						 strerror(errno));
			list[i].fd[k] = pair[0];
			list[k].fd[i] = pair[1];
		}
	}
	return HD_OK;
}

/* ---- between processes ------------------------------------------------ */

/* Splits "host:port" and looks it up. */
static enum hd_status look_up(const char *text, bool passive, struct diag *d,
			      struct addrinfo **out)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = passive ? AI_PASSIVE : 0 };
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || !colon[1])
		return diag_fail(d, HD_ERR_INPUT, "'%s': expected HOST:PORT",
				 text);
	char *host = hd_strndup(text, (size_t)(colon - text));
	int bad = getaddrinfo(host, colon + 1, &hints, out);

	free(host);
	if (bad)
		return diag_fail(d, HD_ERR_ENV, "'%s': %s", text,
				 gai_strerror(bad));
	return HD_OK;
}

static enum hd_status connect_one(const char *text, struct diag *d, int *out)
{
	struct addrinfo *found = NULL;
	enum hd_status status = look_up(text, false, d, &found);
	int fd = -1, why = 0;

	if (status != HD_OK)
		return status;
	for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			why = errno;
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	if (fd < 0)
		return diag_fail(d, HD_ERR_ENV, "cannot connect to '%s': %s",
				 text, strerror(why));
	*out = fd;
	return HD_OK;
}

enum hd_status ranks_connect(const char *hosts, struct diag *d,
			     struct ranks *out)
{
	enum hd_status status = HD_OK;

	ranks_init(out, 1, 0);
	while (*hosts && status == HD_OK) {
		size_t len = strcspn(hosts, ",");
		char *one = hd_strndup(hosts, len);

		if (out->n == RANKS_MAX)
			status = diag_fail(d, HD_ERR_RANGE,
					   "more than %d hosts", RANKS_MAX - 1);
		else
			status = connect_one(one, d, &out->fd[out->n++]);
		free(one);
		hosts += len + (hosts[len] == ',');
	}
	if (status != HD_OK)
		ranks_close(out);
	return status;
}

enum hd_status ranks_listen(const char *at, struct diag *d, struct ranks *out)
{
	struct addrinfo *found = NULL;
	enum hd_status status = look_up(at, true, d, &found);
	int yes = 1;

	ranks_init(out, 2, 1);
	if (status != HD_OK || !found)
		return status;
	int fd = socket(found->ai_family, found->ai_socktype,
			found->ai_protocol);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
	    listen(fd, 1) != 0 || (out->fd[0] = accept(fd, NULL, NULL)) < 0)
		status = diag_fail(d, HD_ERR_ENV, "cannot listen at '%s': %s",
				   at, strerror(errno));
	if (fd >= 0)
		close(fd);
	freeaddrinfo(found);
	return status;
}
