/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_CLI_VERBS_MEET_H
#define HD_TESTS_CLI_VERBS_MEET_H

/*
 * A TCP connection for two programs to agree on what they send by verbs. It may
 * lead through a forwarder that starts before its target: a connection that ends
 * before the peer has answered is tried again.
 */

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static inline bool meet_hear(int fd, void *bytes, size_t size)
{
	return recv(fd, bytes, size, MSG_WAITALL) == (ssize_t)size;
}

/* Each sends `size` bytes, and receives those of the other. */
static inline bool meet_swap(int fd, const void *own, void *other, size_t size)
{
	return send(fd, own, size, MSG_NOSIGNAL) == (ssize_t)size && meet_hear(fd, other, size);
}

/*
 * Who forwards may also say why it cannot, or say nothing. Each says a word of
 * its own; the one who connects confirms that it has heard the other's, which
 * the listener waits for: then both know that both do.
 */
static inline bool meet_greet(int fd, bool listens)
{
	const struct timeval long_enough = { .tv_sec = 60 };
	const struct timeval for_ever = { .tv_sec = 0 };
	const char word = 1, heard = 2;
	char said = 0, confirmed = heard;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &long_enough, sizeof(long_enough));
	if (send(fd, &word, 1, MSG_NOSIGNAL) != 1 || !meet_hear(fd, &said, 1) || said != word)
		return false;
	if (listens && !meet_hear(fd, &confirmed, 1))
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof(for_ever));
	return listens ? confirmed == heard : send(fd, &heard, 1, MSG_NOSIGNAL) == 1;
}

static inline struct sockaddr_in meet_at(const char *port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
	};
}

/* The connection, or -1. */
static inline int meet_listen(const char *port)
{
	const struct sockaddr_in at = meet_at(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1, peer = -1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 8) == 0)
		peer = accept(fd, NULL, NULL);
	while (peer >= 0 && !meet_greet(peer, true)) {
		close(peer);
		peer = accept(fd, NULL, NULL);
	}
	close(fd);
	return peer;
}

/* Tries for `seconds` until a peer listens and answers; -1 if none does. */
static inline int meet_connect(const char *host, const char *port, int seconds)
{
	const struct timespec again = { .tv_nsec = 200000000 };
	struct sockaddr_in to = meet_at(port);

	if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
		return -1;
	for (int i = 0; i < 5 * seconds; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 && meet_greet(fd, false))
			return fd;
		close(fd);
		nanosleep(&again, NULL);
	}
	return -1;
}

#endif
