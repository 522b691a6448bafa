/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever programs say to the daemon of a live fabric, whole or in pieces, in
 * any order, and wherever they are killed: each question has one answer, each
 * frame that comes says its length, and of a program that is gone nothing is
 * kept.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/daemon/daemon_internal.h"
#include "topo/generate.h"

#include "input.h"

enum { PROGRAMS = 8, MOST_MESSAGE = 400 };

struct program {
	int fd; /* -1: none */
	enum live_kind kind;
	uint32_t number;
	unsigned questions; /* not answered yet */
};

struct bench {
	struct live live;
	struct program programs[PROGRAMS];
	struct input in;
};

/* The same in every run, however long the machine takes. */
static hd_time now;

static hd_time clock_of_input(void)
{
	return now;
}

static void look(struct bench *b)
{
	now += 1000000; /* a microsecond */
	daemon_turn(&b->live, 0);
}

/* ---- what comes back */

/* What is there for a program now; all of a program's ends when it is shut. */
static void hear(struct program *p)
{
	static uint8_t bytes[LIVE_INLINE + 4096];
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { bytes, sizeof(bytes) };
	struct live_reply r;
	ssize_t got;

	for (;;) {
		struct msghdr m = { .msg_iov = &part,
				    .msg_iovlen = 1,
				    .msg_control = control.bytes,
				    .msg_controllen = sizeof(control) };

		got = recvmsg(p->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got <= 0)
			break;
		const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		struct umad_header h;
		int file = -1;

		if (c) {
			memcpy(&file, CMSG_DATA(c), sizeof(file));
			close(file);
		}
		if (p->kind == LIVE_UMAD && p->number != 0) {
			demand(got >= UMAD_HEADER);
			memcpy(&h, bytes, sizeof(h));
			demand(file >= 0 || h.length == (uint32_t)got);
			continue;
		}
		demand(got >= (ssize_t)sizeof(r));
		memcpy(&r, bytes, sizeof(r));
		if (p->kind == LIVE_CALL)
			demand(r.error != 0 || p->questions-- > 0);
		else if (r.error == 0)
			p->number = r.number;
	}
}

/* ---- what programs do */

/* Whatever has the size of a question is one: its bytes may happen to be. */
static void say(struct program *p, const void *bytes, size_t size, int file)
{
	if (size >= sizeof(struct live_call))
		p->questions++;
	/* It may be shut already, and refuse. */
	(void)live_post(p->fd, bytes, size, file, MSG_DONTWAIT);
}

static void leave(struct program *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* A connection, and its greeting: right, or with some bytes of the input. */
static void arrive(struct bench *b, struct program *p)
{
	static const char *const hosts[] = { "h0", "h1", "s-0-0", "", "unknown" };
	struct live_greeting g = { .magic = LIVE_MAGIC };
	int ends[2];
	uint8_t how = take(&b->in), more = take(&b->in);

	leave(p);
	demand(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	daemon_adopt(&b->live, ends[0]);
	*p = (struct program){ .fd = ends[1] };
	g.kind = how % 4;
	g.unit = more % 3;
	strcpy(g.host, hosts[(how >> 2) % 5]);
	p->kind = (enum live_kind)g.kind;
	if (more & 0x80)
		take_bytes(&b->in, (uint8_t *)&g, more % sizeof(g));
	say(p, &g, more & 0x40 ? more % sizeof(g) : sizeof(g), -1);
	p->questions = 0; /* a greeting does not count */
	look(b);
	hear(p);
}

static void ask(struct program *p, uint32_t question, const void *text, size_t n)
{
	struct live_call c = { .question = question };
	uint8_t message[sizeof(c) + MOST_MESSAGE];

	memcpy(message, &c, sizeof(c));
	memcpy(message + sizeof(c), text, n);
	say(p, message, sizeof(c) + n, -1);
}

static void ask_for_mads(struct bench *b, struct program *p)
{
	static const uint8_t classes[] = { 0x01, 0x81, 0x03, 0x04, 0x21, 0x32, 0x07, 0x00 };
	uint8_t how = take(&b->in), whose = take(&b->in);
	struct live_agent a = {
		.connection = b->programs[whose % PROGRAMS].number,
		.id = how >> 5,
		.mgmt_class = classes[how % 8],
		.class_version = 1,
		.rmpp_version = how >> 3 & 1,
		.methods = { how & 0x10 ? UINT32_MAX : 1U << (whose >> 3) },
	};

	ask(p, how & 0x80 ? LIVE_UNREGISTER : LIVE_REGISTER, &a, sizeof(a));
}

static void ask_anything(struct bench *b, struct program *p)
{
	uint8_t text[MOST_MESSAGE], question = take(&b->in);
	size_t n = take_bytes(&b->in, text, take(&b->in));

	ask(p, question % 6, text, n);
}

/* Words of the input's choice. */
static void command(struct bench *b, struct program *p)
{
	static const char *const words[] = {
		"link",
		"error",
		"show",
		"count",
		"image",
		"host",
		"h0",
		"s-0-0",
		"h1:1",
		"down",
		"up",
		"speed",
		"width",
		"4x",
		"EDR",
		"SDR",
		"2",
		"SymbolErrorCounter",
		"",
		"0 1 2",
		"9 9 9",
		"h0:",
		"LocalLinkIntegrityErrors",
	};
	char text[MOST_MESSAGE];
	size_t at = 0, n = take(&b->in) % 6;

	for (size_t i = 0; i < n; i++) {
		const char *w = words[take(&b->in) % (sizeof(words) / sizeof(words[0]))];

		strcpy(text + at, w);
		at += strlen(w) + 1;
	}
	ask(p, LIVE_COMMAND, text, at);
}

static void read_sysfs(struct bench *b, struct program *p)
{
	static const char *const paths[] = {
		"/sys/class/infiniband/heddle0/ports/1/lid",
		"/sys/class/infiniband/heddle0/ports/1/gids/0",
		"/sys/class/infiniband/heddle0/node_guid",
		"/sys/class/infiniband_mad/abi_version",
		"/sys/class/infiniband/../../etc/passwd",
		"",
	};
	const char *path = paths[take(&b->in) % 6];

	ask(p, LIVE_SYSFS, path, strlen(path) + 1);
}

/* A frame: its header and the first bytes of its MAD. */
static void send_frame(struct bench *b, struct program *p)
{
	uint8_t how = take(&b->in);
	struct umad_header h = {
		.agent = how % 4,
		.timeout = how & 8 ? 50 : 0,
		.retries = how >> 4 & 3,
		.lid = (uint16_t)(take(&b->in) << 8), /* big-endian */
	};
	uint8_t frame[UMAD_HEADER + MOST_MESSAGE] = { 0 };

	memcpy(frame, &h, sizeof(h));
	size_t n = take_bytes(&b->in, frame + sizeof(h), take(&b->in));

	if (how & 0x80)
		n = 256; /* zeros behind what was given */
	if (how & 0x40) {
		int file = live_file(frame, sizeof(h) + n);

		say(p, frame, UMAD_HEADER, file);
		close(file);
	} else {
		say(p, frame, sizeof(h) + n, -1);
	}
}

static void send_anything(struct bench *b, struct program *p)
{
	uint8_t bytes[MOST_MESSAGE];

	say(p, bytes, take_bytes(&b->in, bytes, take(&b->in)), -1);
}

/* Requests come back or are said again; notices are said again. */
static void let_time_pass(struct bench *b)
{
	now += (hd_time)take(&b->in) << 42; /* of some 4 s each */
}

static void step(struct bench *b)
{
	static void (*const acts[])(struct bench *, struct program *) = {
		ask_for_mads, ask_anything,  command,    read_sysfs,
		send_frame,   send_anything, send_frame,
	};
	uint8_t what = take(&b->in);
	struct program *p = &b->programs[what >> 5];

	if (what % 32 < 4)
		arrive(b, p);
	else if (what % 32 == 4)
		leave(p);
	else if (what % 32 == 5)
		let_time_pass(b);
	else if (p->fd >= 0)
		acts[what % 7](b, p);
	look(b);
	/* Some do not read until later. */
	if (p->fd >= 0 && what % 3)
		hear(p);
}

/* ---- nothing is left */

static int open_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static char dir[] = "/tmp/heddle-fuzz-XXXXXX";

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
	(void)s;
	(void)kind;
	(void)where;
	return remove(path);
}

static void remove_dir(void)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The same for all inputs, which do not change it. */
static const struct topo *fabric(void)
{
	static struct topo t;
	struct diag d = { .status = HD_OK };

	if (t.n_nodes == 0) {
		demand(topo_generate_text("mesh --rows=1 --columns=2", 1, 0, &d, &t) == HD_OK);
		demand(mkdtemp(dir) && atexit(remove_dir) == 0);
	}
	return &t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bench b;
	const struct live_options options = { .clock = clock_of_input };
	const struct topo *t = fabric();
	int before = open_files();

	now = 0;
	b = (struct bench){ .in = { data, size } };
	demand(daemon_init(&b.live, t, dir, &options));
	for (unsigned i = 0; i < PROGRAMS; i++)
		b.programs[i].fd = -1;
	while (b.in.size > 0)
		step(&b);
	for (unsigned i = 0; i < PROGRAMS; i++)
		leave(&b.programs[i]);
	look(&b);
	look(&b);
	demand(b.live.n_waiting == 0);
	for (uint32_t i = 0; i < b.live.n_clients; i++)
		demand(b.live.clients[i].fd < 0);
	for (size_t i = 0; i < b.live.n_registrations; i++)
		demand(!b.live.registrations[i].used);
	daemon_fini(&b.live);
	demand(open_files() == before);
	return 0;
}
