/* SPDX-License-Identifier: BSD-2-Clause */
/* POLLRDHUP is not POSIX. */
#define _GNU_SOURCE
#include "bench/ranks.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bench/message.h"

#define SLICE   100 /* ms between two checks whether to continue */
#define BARRIER 'B'
#define FINISH  'F'

/* ---- bytes ------------------------------------------------------------- */

static bool is_going(const struct bench_ranks *r)
{
	return !r->going || r->going(r->context);
}

/* True: there is something to read, or the peer has closed the connection. */
static bool wait_readable(const struct bench_ranks *r, int fd)
{
	while (is_going(r)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int ready = poll(&p, 1, SLICE);

		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
	}
	return false;
}

bool ranks_send(struct bench_ranks *r, unsigned to, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t n = send(r->fd[to], at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool ranks_receive(struct bench_ranks *r, unsigned from, void *bytes, size_t len)
{
	char *at = bytes;

	while (len) {
		if (!wait_readable(r, r->fd[from]))
			return false;
		ssize_t n = recv(r->fd[from], at, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

void ranks_abandon(struct bench_ranks *r)
{
	for (unsigned i = 0; i < RANKS_MAX; i++) {
		if (r->fd[i] >= 0)
			shutdown(r->fd[i], SHUT_RDWR);
	}
}

bool ranks_abandoned(const struct bench_ranks *r)
{
	struct pollfd list[RANKS_MAX];
	nfds_t n = 0;

	for (unsigned i = 0; i < r->n; i++) {
		if (r->fd[i] >= 0)
			list[n++] = (struct pollfd){ .fd = r->fd[i], .events = POLLRDHUP };
	}
	if (poll(list, n, 0) <= 0)
		return false;
	for (nfds_t i = 0; i < n; i++) {
		if (list[i].revents)
			return true;
	}
	return false;
}

/* ---- what ranks do together -------------------------------------------- */

bool ranks_exchange(struct bench_ranks *r, unsigned with, const void *mine, void *theirs,
		    size_t len)
{
	unsigned by = r->fd[with] >= 0 ? with : 0;

	return r->fd[by] >= 0 && ranks_send(r, by, mine, len) && ranks_receive(r, by, theirs, len);
}

bool ranks_carry(struct bench_ranks *r, unsigned a, unsigned b, size_t len)
{
	char from_a[MESSAGE_MOST], from_b[MESSAGE_MOST];

	if (!r->apart)
		return true;
	assert(len <= MESSAGE_MOST);
	return ranks_receive(r, a, from_a, len) && ranks_receive(r, b, from_b, len) &&
	       ranks_send(r, a, from_b, len) && ranks_send(r, b, from_a, len);
}

/* A "finish" that was not requested may precede it. */
static bool take_barrier(struct bench_ranks *r, unsigned from)
{
	char c;

	do {
		if (!ranks_receive(r, from, &c, 1))
			return false;
	} while (c == FINISH);
	return c == BARRIER;
}

bool ranks_barrier(struct bench_ranks *r)
{
	const char c = BARRIER;

	if (r->self != 0)
		return ranks_send(r, 0, &c, 1) && take_barrier(r, 0);
	for (unsigned i = 1; i < r->n; i++) {
		if (!take_barrier(r, i))
			return false;
	}
	for (unsigned i = 1; i < r->n; i++) {
		if (!ranks_send(r, i, &c, 1))
			return false;
	}
	return true;
}

void ranks_finish(struct bench_ranks *r)
{
	const char c = FINISH;

	for (unsigned i = 2; i < r->n; i++)
		(void)ranks_send(r, i, &c, 1);
}

bool ranks_finished(struct bench_ranks *r)
{
	char c;
	ssize_t n = recv(r->fd[0], &c, 1, MSG_DONTWAIT);

	return n == 0 || (n == 1 && c == FINISH);
}

void ranks_close(struct bench_ranks *r)
{
	for (unsigned i = 0; i < RANKS_MAX; i++) {
		if (r->fd[i] >= 0)
			close(r->fd[i]);
	}
}

static void ranks_init(struct bench_ranks *r, unsigned n, unsigned self)
{
	r->n = n;
	r->self = self;
	r->apart = false;
	for (unsigned i = 0; i < RANKS_MAX; i++)
		r->fd[i] = -1;
}

enum hd_status ranks_local(struct bench_ranks *list, unsigned n, struct diag *d)
{
	for (unsigned i = 0; i < n; i++)
		ranks_init(&list[i], n, i);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = i + 1; k < n; k++) {
			int pair[2];

			if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
				return diag_fail(d, HD_ERR_IO, "cannot make a socket: %s",
						 strerror(errno));
			list[i].fd[k] = pair[0];
			list[k].fd[i] = pair[1];
		}
	}
	return HD_OK;
}

/* ---- between processes ------------------------------------------------ */

/* Splits "host:port" and looks it up. */
static enum hd_status look_up(const char *text, bool passive, struct diag *d, struct addrinfo **out)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = passive ? AI_PASSIVE : 0 };
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || !colon[1])
		return diag_fail(d, HD_ERR_INPUT, "'%s': expected HOST:PORT", text);
	char *host = hd_strndup(text, (size_t)(colon - text));
	int bad = getaddrinfo(host, colon + 1, &hints, out);

	free(host);
	if (bad)
		return diag_fail(d, HD_ERR_ENV, "'%s': %s", text, gai_strerror(bad));
	return HD_OK;
}

/* A host that died without a word is noticed within half a minute. */
static void keep_alive(int fd)
{
	const int yes = 1, idle = 10, interval = 5, count = 4;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
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
		return diag_fail(d, HD_ERR_ENV, "cannot connect to '%s': %s", text, strerror(why));
	keep_alive(fd);
	*out = fd;
	return HD_OK;
}

enum hd_status ranks_connect(const char *hosts, struct diag *d, struct bench_ranks *out)
{
	enum hd_status status = HD_OK;

	ranks_init(out, 1, 0);
	out->apart = true;
	while (*hosts && status == HD_OK) {
		size_t len = strcspn(hosts, ",");
		char *one = hd_strndup(hosts, len);

		if (out->n == RANKS_MAX)
			status = diag_fail(d, HD_ERR_RANGE, "more than %d hosts", RANKS_MAX - 1);
		else
			status = connect_one(one, d, &out->fd[out->n++]);
		free(one);
		hosts += len + (hosts[len] == ',');
	}
	if (status != HD_OK)
		ranks_close(out);
	return status;
}

/* Accepts one connection; waiting ends as described in ranks.h. */
static enum hd_status accept_one(struct bench_ranks *r, int fd, const char *at, struct diag *d)
{
	if (listen(fd, 1) == 0 && wait_readable(r, fd))
		r->fd[0] = accept(fd, NULL, NULL);
	if (r->fd[0] >= 0) {
		keep_alive(r->fd[0]);
		return HD_OK;
	}
	if (!is_going(r))
		return diag_fail(d, HD_ERR_ENV, "interrupted");
	return diag_fail(d, HD_ERR_ENV, "cannot listen at '%s': %s", at, strerror(errno));
}

enum hd_status ranks_listen(const char *at, struct diag *d, struct bench_ranks *out)
{
	struct addrinfo *found = NULL;
	enum hd_status status = look_up(at, true, d, &found);
	int yes = 1;

	ranks_init(out, 2, 1);
	if (status != HD_OK || !found)
		return status;
	int fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0)
		status = diag_fail(d, HD_ERR_ENV, "cannot listen at '%s': %s", at, strerror(errno));
	else
		status = accept_one(out, fd, at, d);
	if (fd >= 0)
		close(fd);
	freeaddrinfo(found);
	return status;
}
