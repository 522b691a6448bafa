/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/daemon/daemon_internal.h"

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
#include "live/daemon/capture.h"
#include "live/daemon/recording.h"
#include "live/passing.h"

enum {
	LISTENER = 0, /* epoll data of the listener; a client's is its slot + 1 */
	SIGNALS = -1,
	BATCH = 64,
	MOST_CLIENTS = 0xFFFF,
	/* A client with more queued bytes is disconnected: its program does not read. */
	MOST_WAITING = 256 << 20,
};

static const int64_t MOST_WAIT = INT64_C(1000000000000); /* ns */

static const uint64_t PS_PER_NS = 1000;

hd_time live_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) * PS_PER_NS;
}

hd_time daemon_now(const struct live *l)
{
	hd_time passed = l->clock() - l->start;

	return l->pace == 1 ? passed : (hd_time)((double)passed * l->pace);
}

int live_file(const void *bytes, size_t size)
{
	int file = memfd_create("heddle", MFD_CLOEXEC);
	size_t done = 0;

	while (file >= 0 && done < size) {
		ssize_t put = write(file, (const uint8_t *)bytes + done, size - done);

		if (put <= 0) {
			close(file);
			return -1;
		}
		done += (size_t)put;
	}
	return file;
}

/* ---- clients */

uint32_t client_find(const struct live *l, uint32_t number, enum live_kind kind)
{
	uint32_t slot = number & MOST_CLIENTS;

	if (slot >= l->n_clients || l->clients[slot].fd < 0 || l->clients[slot].number != number ||
	    l->clients[slot].kind != kind)
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
	if (c->kind == LIVE_ADAPTER || c->kind == LIVE_CALL)
		adapters_forget(l, slot);
	if (c->kind == LIVE_CM)
		cm_close_channel(l->cm, c->number, daemon_now(l));
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
	struct iovec part = { (void *)bytes, size };

	return passing_send(fd, &part, 1, file, flags) == (ssize_t)size;
}

static void watch(struct live *l, uint32_t slot, bool writable)
{
	struct epoll_event e = {
		.events = EPOLLIN | (writable ? (uint32_t)EPOLLOUT : 0),
		.data.u32 = slot + 1,
	};

	epoll_ctl(l->epoll, EPOLL_CTL_MOD, l->clients[slot].fd, &e);
}

void client_send(struct live *l, uint32_t slot, const void *bytes, size_t size, int file)
{
	struct client *c = &l->clients[slot];

	if (!c->first && live_post(c->fd, bytes, size, file, MSG_DONTWAIT)) {
		if (file >= 0)
			close(file);
		return;
	}
	/* The socket is full, or the program has ended, which the event loop will detect. */
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

/* ---- messages */

/* Receives one message; false if no message waits or the client is gone. */
static bool receive(struct live *l, uint32_t slot)
{
	static uint8_t bytes[LIVE_INLINE + 4096];
	struct iovec part = { bytes, sizeof(bytes) };
	int file;
	ssize_t got = passing_receive(l->clients[slot].fd, &part, 1, MSG_DONTWAIT, &file);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0 || !client_says(l, slot, bytes, (size_t)got, file)) {
		close_client(l, slot);
		return false;
	}
	return true;
}

/* ---- event loop */

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
		l->clients =
			hd_grow(l->clients, &l->clients_cap, l->n_clients + 1, sizeof(*l->clients));
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
		/*
		 * Accepts and closes the connection; otherwise it would stay in the queue and wake
		 * the daemon again.
		 */
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
	/* A limited batch per turn, so that one client cannot starve the others. */
	for (unsigned i = 0; i < BATCH && receive(l, slot); i++)
		;
}

/* Nanoseconds of the system's clock until the next timer; -1: none. */
static int64_t time_left(const struct live *l)
{
	const hd_time next[] = { frames_next(l), agents_next(l->agents), cm_next(l->cm) };
	hd_time due = HD_TIME_NEVER, now = daemon_now(l);

	for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++)
		due = next[i] < due ? next[i] : due;

	if (due == HD_TIME_NEVER)
		return -1;
	if (due <= now)
		return 0;
	double left = (double)(due - now) / l->pace / (double)PS_PER_NS;

	return left < (double)MOST_WAIT ? (int64_t)left + 1 : MOST_WAIT;
}

/* Waits for messages or the next timer, for at most `most` ms. */
static int wait_for_events(struct live *l, struct epoll_event *events, int most)
{
	const int64_t ns_per_ms = 1000000;
	int64_t left = time_left(l);

	if (most >= 0 && (left < 0 || left > most * ns_per_ms))
		left = most * ns_per_ms;
	/* Timers that are due within a millisecond need a finer wait than epoll_wait's. */
	if (l->times && left > 0 && left < 100 * ns_per_ms) {
		struct pollfd p = { .fd = l->epoll, .events = POLLIN };
		const struct timespec t = { .tv_nsec = (long)left };

		ppoll(&p, 1, &t, NULL);
		left = 0;
	}
	return epoll_wait(l->epoll, events, BATCH,
			  left < 0 ? -1 : (int)((left + ns_per_ms - 1) / ns_per_ms));
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
	if (l->times && agents_next(l->agents) <= daemon_now(l))
		l->changed = true;
	agents_run(l->agents, daemon_now(l));
	cm_run(l->cm, daemon_now(l));
	frames_run(l, daemon_now(l));
	if (l->changed)
		adapters_tell(l);
	if (l->recorder)
		recorder_flush(l->recorder);
	if (l->capture)
		live_capture_flush(l->capture);
}

/* ---- start and end */

enum hd_status daemon_listen(struct live *l, struct diag *d)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = LISTENER };

	if ((size_t)snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", l->dir, LIVE_SOCKET) >=
	    sizeof(a.sun_path))
		return diag_fail(d, HD_ERR_ENV, "'%s' is too long for a socket's path", l->dir);
	l->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (l->listener < 0 || bind(l->listener, (struct sockaddr *)&a, sizeof(a)) != 0 ||
	    listen(l->listener, 1024) != 0 ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->listener, &e) != 0)
		return diag_fail(d, HD_ERR_ENV, "cannot listen at '%s': %s", a.sun_path,
				 strerror(errno));
	return HD_OK;
}

static void record_change(void *live, const struct agent_change *d)
{
	const struct live *l = live;

	if (l->recorder)
		recorder_note(l->recorder, d);
}

static void capture_link_event(void *live, const struct agents_link_event *c)
{
	const struct live *l = live;

	if (l->capture)
		live_capture_write(l->capture, c);
}

bool daemon_init(struct live *l, const struct topo *t, const char *dir,
		 const struct live_options *o)
{
	const struct agents_options options = { .times = o->times };
	const struct agents_events events = { frame_arrived, l, record_change, capture_link_event,
					      sysfs_keys_set };
	hd_time (*clock)(void) = o->clock ? o->clock : live_now;

	*l = (struct live){
		.clock = clock,
		.start = clock(),
		.pace = o->pace > 0 ? o->pace : 1,
		.times = o->times,
		.topo = t,
		.dir = dir,
		.listener = -1,
		.signals = -1,
		.given = -1,
		.spare = open_spare(),
		.traffic.file = -1,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.free_registration = NO_AGENT,
	};
	l->traffic.text = (struct strbuf)STRBUF_INIT;
	l->agents = agents_new(t, &options, &events);
	l->adapters = adapters_new(o->times_data ? LIVE_TIMED : LIVE_FREE);
	l->cm = cm_new(l->agents, &(struct cm_events){ client_wake, l });
	l->agents_of_port = hd_alloc(t->n_ports, sizeof(*l->agents_of_port));
	for (port_id p = 0; p < t->n_ports; p++)
		l->agents_of_port[p] = NO_AGENT;
	daemon_node_names(t, &l->node_of_name);
	return l->epoll >= 0 && l->spare >= 0 && l->adapters;
}

void daemon_fini(struct live *l)
{
	const int files[] = { l->listener, l->signals, l->spare, l->epoll };

	for (uint32_t i = 0; i < l->n_clients; i++)
		if (l->clients[i].fd >= 0)
			close_client(l, i);
	frames_fini(l);
	daemon_traffic_fini(l);
	adapters_free(l->adapters);
	cm_free(l->cm);
	free(l->clients);
	text_map_fini(&l->node_of_name);
	daemon_faults_fini(l);
	agents_free(l->agents);
	(void)live_capture_close(l->capture);
	(void)recorder_close(l->recorder);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] >= 0)
			close(files[i]);
}

void daemon_end_by(struct live *l, int signals)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)SIGNALS };

	l->signals = signals;
	epoll_ctl(l->epoll, EPOLL_CTL_ADD, signals, &e);
}
