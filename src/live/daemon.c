/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/capture.h"
#include "live/recording.h"

enum {
	LISTENER = 0, /* its mark among those of clients, which are slot + 1 */
	SIGNALS = -1,
	BATCH = 64,
	MOST_CLIENTS = 0xFFFF,
	/* A program that does not read is let go before it fills memory. */
	MOST_WAITING = 256 << 20,
};

static const int64_t MOST_WAIT = INT64_C(1000000000000); /* ns */

static const uint64_t PS_PER_NS = 1000;

hd_time live_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) *
	       PS_PER_NS;
}

hd_time daemon_now(const struct live *l)
{
	hd_time passed = live_now() - l->start;

	return l->pace == 1 ? passed : (hd_time)((double)passed * l->pace);
}

int live_file(const void *bytes, size_t size)
{
	int file = memfd_create("heddle", MFD_CLOEXEC);
	size_t done = 0;

	while (file >= 0 && done < size) {
		ssize_t put =
			write(file, (const uint8_t *)bytes + done, size - done);

		if (put <= 0) {
			close(file);
			return -1;
		}
		done += (size_t)put;
	}
	return file;
}

/* ---- programs */

uint32_t client_find(const struct live *l, uint32_t number)
{
	uint32_t slot = number & MOST_CLIENTS;

	if (slot >= l->n_clients || l->clients[slot].fd < 0 ||
	    l->clients[slot].number != number ||
	    l->clients[slot].kind != LIVE_UMAD)
		return NO_CLIENT;
	return slot;
}

static void close_client(struct live *l, uint32_t slot)
{
	struct client *c = &l->clients[slot];

	if (c->kind == LIVE_UMAD)
		frames_forget(l, slot);
	if (c->kind == LIVE_ISSM)
		agents_set_sm(l->agents, c->port, false, daemon_now(l));
	if (c->kind == LIVE_ADAPTER)
		adapters_forget(l, slot);
	while (c->first) {
		struct outgoing *o = c->first;

		c->first = o->next;
		if (o->file >= 0)
			close(o->file);
		free(o);
	}
	close(c->fd);
	c->fd = -1;
	c->kind = 0;
}

bool live_post(int fd, const void *bytes, size_t size, int file, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec part = { (void *)bytes, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (file >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &file, sizeof(file));
	}
	return sendmsg(fd, &m, flags | MSG_NOSIGNAL) == (ssize_t)size;
}

static void watch(struct live *l, uint32_t slot, bool writable)
{
	struct epoll_event e = {
		.events = EPOLLIN | (writable ? (uint32_t)EPOLLOUT : 0),
		.data.u32 = slot + 1,
	};

	epoll_ctl(l->epoll, EPOLL_CTL_MOD, l->clients[slot].fd, &e);
}

void client_send(struct live *l, uint32_t slot, const void *bytes, size_t size,
		 int file)
{
	struct client *c = &l->clients[slot];

	if (!c->first && live_post(c->fd, bytes, size, file, MSG_DONTWAIT)) {
		if (file >= 0)
			close(file);
		return;
	}
	/* It is not read, or the program is gone: the loop will see. */
	struct outgoing *o = hd_alloc(1, sizeof(*o) + size);

	*o = (struct outgoing){ .size = size, .file = file };
	memcpy(o->bytes, bytes, size);
	if (!c->first) {
		c->last = &c->first;
		watch(l, slot, true);
	}
	*c->last = o;
	c->last = &o->next;
	c->waiting += size;
	if (c->waiting > MOST_WAITING)
		shutdown(c->fd, SHUT_RDWR);
}

static void send_waiting(struct live *l, uint32_t slot)
{
	struct client *c = &l->clients[slot];

	while (c->first) {
		struct outgoing *o = c->first;

		if (!live_post(c->fd, o->bytes, o->size, o->file, MSG_DONTWAIT))
			return;
		c->first = o->next;
		c->waiting -= o->size;
		if (o->file >= 0)
			close(o->file);
		free(o);
	}
	watch(l, slot, false);
}

/* ---- what a connection is for */

static void reply(struct live *l, uint32_t slot, int error, uint32_t number,
		  const struct strbuf *text)
{
	struct live_reply r = { .error = error, .number = number };
	size_t n = text ? text->len : 0;
	uint8_t *all = hd_alloc(sizeof(r) + n, 1);

	memcpy(all, &r, sizeof(r));
	if (n > 0)
		memcpy(all + sizeof(r), text->text, n);
	if (n <= LIVE_TEXT)
		client_send(l, slot, all, sizeof(r) + n, -1);
	else
		client_send(l, slot, all, sizeof(r), live_file(text->text, n));
	free(all);
}

/* Port N + 1 of an adapter is umadN; a switch's own is umad0. */
static bool find_port(const struct live *l, node_id v, uint32_t unit,
		      port_id *out)
{
	const struct topo_node *n = &l->topo->nodes[v];

	if (n->kind == NODE_SWITCH) {
		*out = n->first_port;
		return unit == 0 && n->enhanced_port0;
	}
	*out = n->first_port + unit + 1;
	return unit < n->n_ports;
}

/* An errno. */
static int greet(struct live *l, uint32_t slot, const struct live_greeting *g)
{
	struct client *c = &l->clients[slot];
	size_t len = strnlen(g->host, sizeof(g->host));

	if (g->magic != LIVE_MAGIC)
		return EPROTO;
	c->node = 0;
	if (g->kind == LIVE_CALL && len == 0)
		return 0;
	uint32_t v = text_map_get(&l->node_of_name, g->host, len);

	if (v == MAP_NONE)
		return ENODEV;
	c->node = v;
	if (g->kind == LIVE_CALL || g->kind == LIVE_ADAPTER)
		return 0;
	if (g->kind != LIVE_UMAD && g->kind != LIVE_ISSM)
		return EPROTO;
	return find_port(l, v, g->unit, &c->port) ? 0 : ENODEV;
}

static bool take_greeting(struct live *l, uint32_t slot, const uint8_t *bytes,
			  size_t size)
{
	struct client *c = &l->clients[slot];
	struct live_greeting g;

	if (size != sizeof(g))
		return false;
	memcpy(&g, bytes, sizeof(g));
	int error = greet(l, slot, &g);

	if (error) {
		reply(l, slot, error, 0, NULL);
		return false;
	}
	c->kind = (enum live_kind)g.kind;
	if (c->kind == LIVE_ISSM)
		agents_set_sm(l->agents, c->port, true, daemon_now(l));
	if (c->kind == LIVE_ADAPTER)
		return adapters_greet(l, slot);
	if (c->kind != LIVE_CALL)
		reply(l, slot, 0, c->number, NULL);
	return true;
}

/* ---- questions */

static void take_command(struct live *l, uint32_t slot, const char *text,
			 size_t size)
{
	enum { MOST_WORDS = 64 };
	const char *words[MOST_WORDS];
	struct diag d = { .status = HD_OK };
	struct strbuf out = STRBUF_INIT;
	size_t n = 0;

	for (size_t at = 0; at < size && n < MOST_WORDS;) {
		size_t len = strnlen(text + at, size - at);

		if (at + len == size)
			break; /* not ended */
		words[n++] = text + at;
		at += len + 1;
	}
	if (live_obey(l, words, n, &d, &out) != HD_OK) {
		strbuf_clear(&out);
		strbuf_puts(&out, d.message);
	}
	reply(l, slot, 0, (uint32_t)d.status, &out);
	strbuf_fini(&out);
}

static void take_sysfs(struct live *l, uint32_t slot, const char *text,
		       size_t size)
{
	struct strbuf out = STRBUF_INIT;
	node_id v = l->clients[slot].node;
	int error =
		size > 0 && text[size - 1] == '\0' ? sysfs_make(l, v) : EINVAL;

	if (!error)
		error = sysfs_text(l, v, text, &out);
	reply(l, slot, error, 0, &out);
	strbuf_fini(&out);
}

static void take_call(struct live *l, uint32_t slot, const uint8_t *bytes,
		      size_t size)
{
	struct live_call c;
	struct live_agent a;
	uint32_t id = 0;
	int error = EINVAL;

	if (size < sizeof(c))
		return;
	memcpy(&c, bytes, sizeof(c));
	bytes += sizeof(c);
	size -= sizeof(c);
	switch (c.question) {
	case LIVE_REGISTER:
	case LIVE_UNREGISTER:
		if (size == sizeof(a)) {
			memcpy(&a, bytes, sizeof(a));
			error = c.question == LIVE_REGISTER
					? frame_register(l, &a, &id)
					: frame_unregister(l, &a);
		}
		reply(l, slot, error, id, NULL);
		break;
	case LIVE_SYSFS:
		take_sysfs(l, slot, (const char *)bytes, size);
		break;
	case LIVE_COMMAND:
		take_command(l, slot, (const char *)bytes, size);
		break;
	default:
		if (!adapters_answer(l, slot, c.question, bytes, size))
			reply(l, slot, ENOSYS, 0, NULL);
	}
}

static void take_call_with(struct live *l, uint32_t slot, const uint8_t *bytes,
			   size_t size, int file)
{
	l->given = file;
	take_call(l, slot, bytes, size);
	if (l->given >= 0)
		close(l->given);
	l->given = -1;
}

/* A frame that came as a file. */
static void take_file(struct live *l, uint32_t slot, int file)
{
	struct stat s;

	if (fstat(file, &s) == 0 && s.st_size > UMAD_HEADER &&
	    s.st_size < INT64_C(1) << 32) {
		/* A copy: whoever sent it could cut it short meanwhile. */
		size_t size = (size_t)s.st_size;
		uint8_t *all = hd_alloc(size, 1);

		if (pread(file, all, size, 0) == (ssize_t)size)
			frame_from(l, slot, all, size);
		free(all);
	}
	close(file);
}

static bool take(struct live *l, uint32_t slot, const uint8_t *bytes,
		 size_t size, int file)
{
	enum live_kind kind = l->clients[slot].kind;

	if (file >= 0) {
		if (kind == LIVE_UMAD)
			take_file(l, slot, file);
		else if (kind == LIVE_ADAPTER)
			adapters_memory(l, slot, file);
		else if (kind == LIVE_CALL)
			take_call_with(l, slot, bytes, size, file);
		else
			close(file);
		return true;
	}
	switch (kind) {
	case LIVE_UMAD:
		frame_from(l, slot, bytes, size);
		return true;
	case LIVE_CALL:
		take_call(l, slot, bytes, size);
		return true;
	case LIVE_ISSM:
	case LIVE_ADAPTER:
		return false; /* it has nothing to say */
	default:
		return take_greeting(l, slot, bytes, size);
	}
}

/* The first descriptor that came with a message, or -1; others are closed. */
static int file_of(const struct msghdr *m)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int first = -1, file;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return -1;
	for (size_t at = 0; CMSG_LEN(at + sizeof(file)) <= c->cmsg_len;
	     at += sizeof(file)) {
		memcpy(&file, CMSG_DATA(c) + at, sizeof(file));
		if (at == 0)
			first = file;
		else
			close(file);
	}
	return first;
}

/* One message; false if there is none now, or no more. */
static bool receive(struct live *l, uint32_t slot)
{
	static uint8_t bytes[LIVE_INLINE + 4096];
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { bytes, sizeof(bytes) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(l->clients[slot].fd, &m,
			      MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	int file = got >= 0 ? file_of(&m) : -1;

	if (got <= 0 && file >= 0)
		close(file);
	if (got <= 0 || !take(l, slot, bytes, (size_t)got, file)) {
		close_client(l, slot);
		return false;
	}
	return true;
}

/* ---- the loop */

static bool is_same_user(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

void daemon_adopt(struct live *l, int fd)
{
	int room = 4 << 20;
	uint32_t slot = 0;

	while (slot < l->n_clients && l->clients[slot].fd >= 0)
		slot++;
	if (slot == MOST_CLIENTS) {
		close(fd);
		return;
	}
	if (slot == l->n_clients) {
		l->clients = hd_grow(l->clients, &l->clients_cap,
				     l->n_clients + 1, sizeof(*l->clients));
		l->clients[l->n_clients++].number = slot;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	l->clients[slot] = (struct client){
		.fd = fd,
		.number = l->clients[slot].number + MOST_CLIENTS + 1U,
		.agents = NO_AGENT,
	};
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = slot + 1 };

	epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e);
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_client(struct live *l)
{
	int fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0 && is_same_user(fd)) {
		daemon_adopt(l, fd);
		return;
	}
	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		/* Refused: else it would stay in the queue and wake us. */
		close(l->spare);
		fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			close(fd);
		l->spare = open_spare();
	} else if (fd >= 0) {
		close(fd);
	}
}

static void serve(struct live *l, uint32_t slot, uint32_t events)
{
	if (l->clients[slot].fd < 0)
		return;
	if (events & EPOLLOUT)
		send_waiting(l, slot);
	/* A turn each: one that sends without end must not starve others. */
	for (unsigned i = 0; i < BATCH && receive(l, slot); i++)
		;
}

/* Nanoseconds of the clock until something is due; -1: nothing is. */
static int64_t time_left(const struct live *l)
{
	hd_time a = frames_next(l), b = agents_next(l->agents);
	hd_time due = a < b ? a : b, now = daemon_now(l);

	if (due == HD_TIME_NEVER)
		return -1;
	if (due <= now)
		return 0;
	double left = (double)(due - now) / l->pace / (double)PS_PER_NS;

	return left < (double)MOST_WAIT ? (int64_t)left + 1 : MOST_WAIT;
}

/* Waits for messages, until something is due, or for `most` ms. */
static int wait_for_events(struct live *l, struct epoll_event *events, int most)
{
	const int64_t ns_per_ms = 1000000;
	int64_t left = time_left(l);

	if (most >= 0 && (left < 0 || left > most * ns_per_ms))
		left = most * ns_per_ms;
	/* What is due in a moment is not to wait for a whole millisecond. */
	if (l->timed && left > 0 && left < 100 * ns_per_ms) {
		struct pollfd p = { .fd = l->epoll, .events = POLLIN };
		const struct timespec t = { .tv_nsec = (long)left };

		ppoll(&p, 1, &t, NULL);
		left = 0;
	}
	return epoll_wait(l->epoll, events, BATCH,
			  left < 0 ? -1
				   : (int)((left + ns_per_ms - 1) / ns_per_ms));
}

void daemon_turn(struct live *l, int most)
{
	struct epoll_event events[BATCH];
	int n = wait_for_events(l, events, most);

	for (int i = 0; i < n; i++) {
		uint32_t mark = events[i].data.u32;

		if (mark == LISTENER)
			accept_client(l);
		else if (mark == (uint32_t)SIGNALS)
			l->ends = true;
		else
			serve(l, mark - 1, events[i].events);
	}
	if (l->timed && agents_next(l->agents) <= daemon_now(l))
		l->changed = true;
	agents_run(l->agents, daemon_now(l));
	frames_run(l, daemon_now(l));
	if (l->changed)
		adapters_tell(l);
	if (l->recorder)
		recorder_flush(l->recorder);
	if (l->capture)
		live_capture_flush(l->capture);
}

/* ---- beginning and end */

enum hd_status daemon_listen(struct live *l, struct diag *d)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = LISTENER };

	if ((size_t)snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", l->dir,
			     LIVE_SOCKET) >= sizeof(a.sun_path))
		return diag_fail(d, HD_ERR_ENV,
				 "'%s' is too long for a socket's path",
				 l->dir);
	l->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (l->listener < 0 ||
	    bind(l->listener, (struct sockaddr *)&a, sizeof(a)) != 0 ||
	    listen(l->listener, 1024) != 0 ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->listener, &e) != 0)
		return diag_fail(d, HD_ERR_ENV, "cannot listen at '%s': %s",
				 a.sun_path, strerror(errno));
	return HD_OK;
}

static void note_deed(void *live, const struct deed *d)
{
	const struct live *l = live;

	if (l->recorder)
		recorder_note(l->recorder, d);
}

static void note_crossing(void *live, const struct agents_crossing *c)
{
	const struct live *l = live;

	if (l->capture)
		live_capture_write(l->capture, c);
}

bool daemon_init(struct live *l, const struct topo *t, const char *dir,
		 const struct live_options *o)
{
	const struct agents_options options = { .timed = o->timed };
	const struct agents_events events = { frame_arrived, l, note_deed,
					      note_crossing };

	*l = (struct live){
		.start = live_now(),
		.pace = o->pace > 0 ? o->pace : 1,
		.timed = o->timed,
		.topo = t,
		.dir = dir,
		.listener = -1,
		.signals = -1,
		.given = -1,
		.spare = open_spare(),
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.free_registration = NO_AGENT,
	};
	l->agents = agents_new(t, &options, &events);
	l->adapters = adapters_new();
	l->agents_of_port = hd_alloc(t->n_ports, sizeof(*l->agents_of_port));
	for (port_id p = 0; p < t->n_ports; p++)
		l->agents_of_port[p] = NO_AGENT;
	names_of_nodes(t, &l->node_of_name);
	return l->epoll >= 0 && l->spare >= 0 && l->adapters;
}

void daemon_fini(struct live *l)
{
	const int files[] = { l->listener, l->signals, l->spare, l->epoll };

	for (uint32_t i = 0; i < l->n_clients; i++)
		if (l->clients[i].fd >= 0)
			close_client(l, i);
	frames_fini(l);
	adapters_free(l->adapters);
	free(l->clients);
	text_map_fini(&l->node_of_name);
	agents_free(l->agents);
	(void)live_capture_close(l->capture);
	(void)recorder_close(l->recorder);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] >= 0)
			close(files[i]);
}

void daemon_end_by(struct live *l, int signals)
{
	struct epoll_event e = { .events = EPOLLIN,
				 .data.u32 = (uint32_t)SIGNALS };

	l->signals = signals;
	epoll_ctl(l->epoll, EPOLL_CTL_ADD, signals, &e);
}
