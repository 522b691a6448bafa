/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/umad/umad.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/daemon/daemon_internal.h"
#include "live/passing.h"

/* Opens a connection of the host; *number is its number. -1 on failure. */
static int dial(const struct umad *v, enum live_kind kind, uint32_t *number, struct diag *d)
{
	struct live_greeting g = { .magic = LIVE_MAGIC, .kind = (uint32_t)kind };
	struct live_reply r = { .error = ENODEV };
	size_t n = strlen(v->host);
	int fd = -1;

	if (n < sizeof(g.host)) {
		memcpy(g.host, v->host, n);
		fd = live_dial(v->dir, &g, d);
		if (fd < 0)
			return -1;
	}
	if (fd >= 0 && recv(fd, &r, sizeof(r), 0) == (ssize_t)sizeof(r) && r.error == 0) {
		*number = r.number;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	diag_fail(d, HD_ERR_NOT_FOUND, "no host '%s' here", v->host);
	return -1;
}

enum hd_status umad_open(struct umad *v, struct diag *d)
{
	v->fd = dial(v, LIVE_UMAD, &v->connection, d);
	return v->fd >= 0 ? HD_OK : d->status;
}

int umad_claim(const struct umad *v, struct diag *d)
{
	uint32_t number;

	return dial(v, LIVE_ISSM, &number, d);
}

int umad_register(const struct umad *v, uint8_t mgmt_class, const uint8_t *methods, uint32_t *agent)
{
	struct live_greeting g = { .magic = LIVE_MAGIC, .kind = LIVE_CALL };
	struct {
		/* cppcheck-suppress unusedStructMember ; sent */
		struct live_call call;
		struct live_agent agent;
	} ask = {
		.call = { .question = LIVE_REGISTER },
		.agent = { .connection = v->connection,
			   .mgmt_class = mgmt_class,
			   .class_version = mgmt_class == MAD_SA ? 2 : 1,
			   .rmpp_version = mgmt_class == MAD_SA },
	};
	struct live_reply r = { .error = ENODEV };
	struct diag quiet = { .status = HD_OK };
	int fd = live_dial(v->dir, &g, &quiet);

	if (fd < 0)
		return ENODEV;
	for (size_t k = 0; methods[k]; k++)
		ask.agent.methods[methods[k] / 32] |= 1U << methods[k] % 32;
	if (send(fd, &ask, sizeof(ask), MSG_NOSIGNAL) != (ssize_t)sizeof(ask) ||
	    recv(fd, &r, sizeof(r), 0) != (ssize_t)sizeof(r))
		r.error = ENODEV;
	close(fd);
	*agent = r.number;
	return r.error;
}

bool umad_send(const struct umad *v, const struct umad_header *h, const uint8_t *mad, size_t size)
{
	struct umad_header head = *h;
	size_t total = sizeof(head) + size;
	uint8_t *frame = hd_alloc(total, 1);
	bool sent;

	head.length = (uint32_t)total;
	memcpy(frame, &head, sizeof(head));
	memcpy(frame + sizeof(head), mad, size);
	if (total <= LIVE_INLINE) {
		sent = live_post(v->fd, frame, total, -1, 0);
	} else {
		int file = live_file(frame, total);

		sent = file >= 0 && live_post(v->fd, frame, UMAD_HEADER, file, 0);
		if (file >= 0)
			close(file);
	}
	free(frame);
	return sent;
}

/* Reads a whole memory file. */
static void read_all(int file, struct strbuf *out)
{
	char part[4096];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(file, part, sizeof(part), at)) > 0) {
		strbuf_add(out, part, (size_t)got);
		at += got;
	}
}

bool umad_receive(const struct umad *v, struct strbuf *frame)
{
	char bytes[LIVE_INLINE];
	struct iovec part = { bytes, sizeof(bytes) };
	int file;
	ssize_t got = passing_receive(v->fd, &part, 1, 0, &file);

	strbuf_clear(frame);
	if (file >= 0) {
		read_all(file, frame);
		close(file);
	} else if (got > 0) {
		strbuf_add(frame, bytes, (size_t)got);
	}
	return got > 0;
}
