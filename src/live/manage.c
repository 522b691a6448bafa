/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/daemon.h"
#include "manager/manager.h"

/*
 * Our subnet manager as a program on a host: an open umad like OpenSM's, with
 * the registrations that a manager has.
 */

enum { TIMEOUT = 500, RETRIES = 3 }; /* ms */
static const uint64_t PS_PER_MS = 1000000000;

enum { DIRECT, BY_LID, ADMINISTRATION, N_AGENTS };

struct host {
	const char *dir;
	const struct live_manager *options;
	struct manager *manager;
	int fd, issm;
	uint32_t connection;
	uint32_t agents[N_AGENTS];
	bool was_up, gone;
};

/* ---- registrations */

static bool register_one(struct host *h, unsigned i, uint8_t mgmt_class,
			 const uint8_t *methods, struct diag *d)
{
	struct live_greeting g = { .magic = LIVE_MAGIC, .kind = LIVE_CALL };
	struct {
		/* cppcheck-suppress unusedStructMember ; sent */
		struct live_call call;
		struct live_agent agent;
	} ask = {
		.call = { .question = LIVE_REGISTER },
		.agent = { .connection = h->connection,
			   .mgmt_class = mgmt_class,
			   .class_version = mgmt_class == MAD_SA ? 2 : 1,
			   .rmpp_version = mgmt_class == MAD_SA },
	};
	struct live_reply r = { .error = ENODEV };
	int fd = live_dial(h->dir, &g, d);

	if (fd < 0)
		return false;
	for (size_t k = 0; methods[k]; k++)
		ask.agent.methods[methods[k] / 32] |= 1U << methods[k] % 32;
	if (send(fd, &ask, sizeof(ask), MSG_NOSIGNAL) != (ssize_t)sizeof(ask) ||
	    recv(fd, &r, sizeof(r), 0) != (ssize_t)sizeof(r) || r.error != 0)
		diag_fail(d, HD_ERR_ENV,
			  r.error == EINVAL
				  ? "there is a subnet manager on '%s' already"
				  : "'%s' cannot have a subnet manager",
			  h->options->host);
	close(fd);
	h->agents[i] = r.number;
	return d->status == HD_OK;
}

static bool register_all(struct host *h, struct diag *d)
{
	static const uint8_t direct[] = { MAD_GET, MAD_SET, 0 };
	static const uint8_t by_lid[] = { MAD_GET, MAD_SET, MAD_TRAP, 0 };
	static const uint8_t sa[] = { MAD_GET, MAD_SET, MAD_GET_TABLE,
				      MAD_DELETE, 0 };

	return register_one(h, DIRECT, MAD_SMP_DIRECT, direct, d) &&
	       register_one(h, BY_LID, MAD_SMP, by_lid, d) &&
	       register_one(h, ADMINISTRATION, MAD_SA, sa, d);
}

static int open_device(struct host *h, enum live_kind kind, struct diag *d)
{
	struct live_greeting g = { .magic = LIVE_MAGIC,
				   .kind = (uint32_t)kind };
	struct live_reply r = { .error = ENODEV };
	size_t n = strlen(h->options->host);

	if (n >= sizeof(g.host)) {
		diag_fail(d, HD_ERR_NOT_FOUND, "no host '%s' here",
			  h->options->host);
		return -1;
	}
	memcpy(g.host, h->options->host, n);
	int fd = live_dial(h->dir, &g, d);

	if (fd >= 0 && (recv(fd, &r, sizeof(r), 0) != (ssize_t)sizeof(r) ||
			r.error != 0)) {
		close(fd);
		diag_fail(d, HD_ERR_NOT_FOUND, "no host '%s' here",
			  h->options->host);
		return -1;
	}
	if (kind == LIVE_UMAD)
		h->connection = r.number;
	return fd;
}

/* ---- frames */

static void send_mad(void *context, const struct mad_peer *to,
		     const uint8_t *mad, size_t size, bool is_request)
{
	struct host *h = context;
	unsigned agent = mad[1] == MAD_SMP_DIRECT ? DIRECT
			 : mad[1] == MAD_SMP      ? BY_LID
						  : ADMINISTRATION;
	struct umad_header head = {
		.agent = h->agents[agent],
		.timeout = is_request ? TIMEOUT : 0,
		.retries = is_request ? RETRIES : 0,
		.length = (uint32_t)(sizeof(head) + size),
		.qp = htonl(agent == ADMINISTRATION ? 1 : 0),
		.qkey = htonl(agent == ADMINISTRATION ? MAD_QKEY : 0),
		.lid = htons(to->lid),
		.sl = to->sl,
	};
	uint8_t *frame = hd_alloc(sizeof(head) + size, 1);
	bool sent;

	memcpy(frame, &head, sizeof(head));
	memcpy(frame + sizeof(head), mad, size);
	if (sizeof(head) + size <= LIVE_INLINE) {
		sent = live_post(h->fd, frame, sizeof(head) + size, -1, 0);
	} else {
		int file = live_file(frame, sizeof(head) + size);

		sent = file >= 0 &&
		       live_post(h->fd, frame, UMAD_HEADER, file, 0);
		if (file >= 0)
			close(file);
	}
	h->gone |= !sent;
	free(frame);
}

static void say(void *context, const char *line)
{
	const struct host *h = context;

	h->options->say(h->options->context, line);
}

/* One frame; requests of many segments are not asked of a manager. */
static void take_frame(struct host *h)
{
	uint8_t frame[UMAD_HEADER + 4096];
	struct umad_header head;
	ssize_t got = recv(h->fd, frame, sizeof(frame), 0);

	if (got <= 0) {
		h->gone = true;
		return;
	}
	if (got < UMAD_HEADER + MAD_SIZE)
		return;
	memcpy(&head, frame, sizeof(head));
	struct mad_peer from = {
		.lid = ntohs(head.lid),
		.sl = head.sl,
		.qp = ntohl(head.qp),
		.qkey = ntohl(head.qkey),
	};

	if (head.status != 0)
		manager_lost(h->manager, frame + sizeof(head), live_now());
	else
		manager_take(h->manager, &from, frame + sizeof(head),
			     (size_t)got - sizeof(head), live_now());
}

static int time_left(const struct host *h)
{
	hd_time due = manager_next(h->manager), now = live_now();

	if (due == HD_TIME_NEVER)
		return -1;
	if (due <= now)
		return 0;
	hd_time left = (due - now) / PS_PER_MS + 1;

	return left < INT_MAX ? (int)left : INT_MAX;
}

static void run(struct host *h, struct diag *d)
{
	while (!h->gone) {
		struct pollfd p = { .fd = h->fd, .events = POLLIN };

		if (poll(&p, 1, time_left(h)) > 0)
			take_frame(h);
		manager_run(h->manager, live_now());
		enum manager_role role = manager_role(h->manager);

		if (!h->was_up &&
		    (manager_is_up(h->manager) || role == MANAGER_STANDBY)) {
			h->was_up = true;
			h->options->ready(h->options->context);
		}
		/* Later it goes on with the tables that are there. */
		const struct diag *why = manager_refusal(h->manager);

		if (!h->was_up && why->status != HD_OK) {
			diag_fail(d, why->status, "%s", why->message);
			return;
		}
	}
}

enum hd_status live_manage(const char *dir, const struct live_manager *o,
			   struct diag *d)
{
	struct host h = { .dir = dir, .options = o, .fd = -1, .issm = -1 };
	const struct manager_options options = {
		.engine = o->engine,
		.priority = (uint8_t)o->priority,
		.key = 1, /* OpenSM's, unless it is told another */
	};
	const struct manager_events events = { send_mad, say, &h };

	h.fd = open_device(&h, LIVE_UMAD, d);
	if (h.fd >= 0 && register_all(&h, d))
		h.issm = open_device(&h, LIVE_ISSM, d);
	if (h.issm >= 0) {
		h.manager = manager_new(&options, &events);
		manager_start(h.manager, live_now());
		run(&h, d);
		manager_free(h.manager);
		close(h.issm);
	}
	if (h.fd >= 0)
		close(h.fd);
	return d->status;
}
