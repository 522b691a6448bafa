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
#include "live/daemon/daemon_internal.h"
#include "live/umad/umad.h"
#include "mgmt/sm/sm.h"

/*
 * Heddle's subnet manager as a program on a host: it uses a umad connection with the registrations
 * of a manager, as OpenSM does.
 */

enum { TIMEOUT = 500, RETRIES = 3 }; /* ms */
static const uint64_t PS_PER_MS = 1000000000;

enum { DIRECT, BY_LID, ADMINISTRATION, N_AGENTS };

struct host {
	struct umad umad;
	const struct live_manager *options;
	struct sm *manager;
	uint32_t agents[N_AGENTS];
	struct strbuf frame; /* the last received frame */
	bool was_up, gone;
};

/* ---- registrations */

static enum hd_status register_one(struct host *h, unsigned i, uint8_t mgmt_class,
				   const uint8_t *methods, struct diag *d)
{
	int error = umad_register(&h->umad, mgmt_class, methods, &h->agents[i]);

	if (error == 0)
		return HD_OK;
	return diag_fail(d, HD_ERR_ENV,
			 error == EINVAL ? "there is a subnet manager on '%s' already"
					 : "'%s' cannot have a subnet manager",
			 h->options->host);
}

static enum hd_status register_all(struct host *h, struct diag *d)
{
	static const uint8_t direct[] = { MAD_GET, MAD_SET, 0 };
	static const uint8_t by_lid[] = { MAD_GET, MAD_SET, MAD_TRAP, 0 };
	static const uint8_t sa[] = {
		MAD_GET, MAD_SET, MAD_GET_TABLE, MAD_GET_MULTI, MAD_DELETE, 0
	};
	enum hd_status status = register_one(h, DIRECT, MAD_SMP_DIRECT, direct, d);

	if (status == HD_OK)
		status = register_one(h, BY_LID, MAD_SMP, by_lid, d);
	if (status == HD_OK)
		status = register_one(h, ADMINISTRATION, MAD_SA, sa, d);
	return status;
}

/* ---- frames */

static void send_mad(void *context, const struct mad_address *to, const uint8_t *mad, size_t size,
		     bool is_request)
{
	struct host *h = context;
	unsigned agent = mad[MAD_CLASS] == MAD_SMP_DIRECT ? DIRECT
			 : mad[MAD_CLASS] == MAD_SMP      ? BY_LID
							  : ADMINISTRATION;
	struct umad_header head = {
		.agent = h->agents[agent],
		.timeout = is_request ? TIMEOUT : 0,
		.retries = is_request ? RETRIES : 0,
		.qp = htonl(agent == ADMINISTRATION ? 1 : 0),
		.qkey = htonl(agent == ADMINISTRATION ? MAD_QKEY : 0),
		.lid = htons(to->lid),
		.sl = to->sl,
	};

	h->gone |= !umad_send(&h->umad, &head, mad, size);
}

static void say(void *context, const char *line)
{
	const struct host *h = context;

	h->options->say(h->options->context, line);
}

static void take_frame(struct host *h)
{
	struct umad_header head;
	const uint8_t *bytes;

	if (!umad_receive(&h->umad, &h->frame)) {
		h->gone = true;
		return;
	}
	if (h->frame.len < UMAD_HEADER + MAD_SIZE)
		return;
	bytes = (const uint8_t *)h->frame.text;
	memcpy(&head, bytes, sizeof(head));
	struct mad_address from = {
		.lid = ntohs(head.lid),
		.sl = head.sl,
		.qp = ntohl(head.qp),
		.qkey = ntohl(head.qkey),
	};

	if (head.status != 0)
		sm_timeout(h->manager, bytes + sizeof(head), live_now());
	else
		sm_receive(h->manager, &from, bytes + sizeof(head), h->frame.len - sizeof(head),
			   live_now());
}

static int time_left(const struct host *h)
{
	hd_time due = sm_next(h->manager), now = live_now();

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
		struct pollfd p = { .fd = h->umad.fd, .events = POLLIN };

		if (poll(&p, 1, time_left(h)) > 0)
			take_frame(h);
		sm_run(h->manager, live_now());
		enum sm_state role = sm_state(h->manager);

		if (!h->was_up && (sm_is_up(h->manager) || role == SM_STANDBY)) {
			h->was_up = true;
			h->options->ready(h->options->context);
		}
		/* Later sweeps keep the programmed tables. */
		const struct diag *why = sm_refusal(h->manager);

		if (!h->was_up && why->status != HD_OK) {
			diag_fail(d, why->status, "%s", why->message);
			return;
		}
	}
}

enum hd_status live_manage(const char *dir, const struct live_manager *o, struct diag *d)
{
	struct host h = { .umad = { .dir = dir, .host = o->host, .fd = -1 },
			  .options = o,
			  .frame = STRBUF_INIT };
	int issm = -1;
	const struct sm_options options = {
		.engine = o->engine,
		.priority = (uint8_t)o->priority,
		.tables = o->tables,
		.key = 1, /* OpenSM's default */
	};
	const struct sm_events events = { send_mad, say, &h };

	if (umad_open(&h.umad, d) == HD_OK && register_all(&h, d) == HD_OK)
		issm = umad_claim(&h.umad, d);
	if (issm >= 0) {
		h.manager = sm_new(&options, &events);
		sm_start(h.manager, live_now());
		run(&h, d);
		sm_free(h.manager);
		close(issm);
	}
	if (h.umad.fd >= 0)
		close(h.umad.fd);
	strbuf_fini(&h.frame);
	return d->status;
}
