/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_PASSING_H
#define HD_LIVE_PASSING_H

/*
 * Messages on a socket that may carry a file descriptor. The functions are inline because the
 * preloaded libraries use them as well.
 */

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Aligned space for the control message of one descriptor. */
union passing_room {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* Sends one message of `n` parts, with a file unless `file` is -1; returns as sendmsg. */
static inline ssize_t passing_send(int fd, struct iovec *parts, size_t n, int file, int flags)
{
	union passing_room room = { { 0 } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = n };

	if (file >= 0) {
		m.msg_control = room.bytes;
		m.msg_controllen = sizeof(room);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &file, sizeof(file));
	}
	return sendmsg(fd, &m, flags | MSG_NOSIGNAL);
}

/* The first file of a message, or -1; other files are closed. */
static inline int passing_file(const struct msghdr *m)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int first = -1, file;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return -1;
	for (size_t at = 0; CMSG_LEN(at + sizeof(file)) <= c->cmsg_len; at += sizeof(file)) {
		memcpy(&file, CMSG_DATA(c) + at, sizeof(file));
		if (at == 0)
			first = file;
		else
			close(file);
	}
	return first;
}

/* Returns as recvmsg. The caller owns *file, which is -1 without a descriptor or a message. */
static inline ssize_t passing_receive(int fd, struct iovec *parts, size_t n, int flags, int *file)
{
	union passing_room room;
	struct msghdr m = {
		.msg_iov = parts,
		.msg_iovlen = n,
		.msg_control = room.bytes,
		.msg_controllen = sizeof(room),
	};
	ssize_t got = recvmsg(fd, &m, flags | MSG_CMSG_CLOEXEC);

	*file = got >= 0 ? passing_file(&m) : -1;
	if (got == 0 && *file >= 0) {
		close(*file);
		*file = -1;
	}
	return got;
}

#endif
