/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/clock/engine.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "hca/lab.h"
#include "live/clock/seen.h"
#include "live/live.h"
#include "live/protocol.h"
#include "run/run.h"

/* ---- the daemon */

int engine_ask(struct engine *e, const struct asked *a, void *out, size_t *size, int *file)
{
	struct live_call c = { .question = a->question };
	struct live_reply r = { .error = ENODEV };
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec question[] = { { &c, sizeof(c) }, { (void *)a->text, a->size } };
	struct iovec answer[] = { { &r, sizeof(r) }, { out, *size } };
	struct msghdr to = { .msg_iov = question, .msg_iovlen = 2 };
	struct msghdr from = { .msg_iov = answer,
			       .msg_iovlen = out ? 2 : 1,
			       .msg_control = control.bytes,
			       .msg_controllen = sizeof(control) };

	if (sendmsg(e->calls, &to, MSG_NOSIGNAL) < 0)
		return ENODEV;
	ssize_t got = recvmsg(e->calls, &from, MSG_CMSG_CLOEXEC);

	if (got < (ssize_t)sizeof(r))
		return ENODEV;
	const struct cmsghdr *came = CMSG_FIRSTHDR(&from);

	*size = (size_t)got - sizeof(r);
	if (file)
		*file = -1;
	if (file && came && came->cmsg_type == SCM_RIGHTS)
		memcpy(file, CMSG_DATA(came), sizeof(*file));
	return r.error;
}

static enum hd_status attach(struct engine *e, struct diag *d)
{
	const struct asked a = { LIVE_BE_ENGINE, NULL, 0 };
	size_t size = 0;
	int file = -1;

	e->calls = live_connect(e->dir, d);
	if (e->calls < 0)
		return d->status;
	if (engine_ask(e, &a, NULL, &size, &file) != 0 || file < 0)
		return diag_fail(d, HD_ERR_ENV, "the fabric has an engine, or needs none");
	void *page = mmap(NULL, sizeof(*e->page), PROT_READ, MAP_SHARED, file, 0);

	close(file);
	if (page == MAP_FAILED)
		return diag_fail(d, HD_ERR_ENV, "no memory: %s", strerror(errno));
	e->page = page;
	return HD_OK;
}

/* ---- the fabric as it is programmed */

static void leave_fabric(struct engine *e)
{
	seen_leave(e);
	pairs_leave(e);
	e->base = engine_now(e);
	external_qps_free(e->external);
	e->external = NULL;
	if (e->run)
		run_close(e->run);
	e->run = NULL;
	if (e->fabric)
		e->from->close(e->from->context, e->fabric);
	e->fabric = NULL;
}

/* What is wrong stays in the fabric's folder. */
static void note_refusal(const struct engine *e, const struct diag *d)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/engine.log", e->dir);
	FILE *log = fopen(path.text, "ae");

	if (log) {
		fprintf(log, "data wait: %s\n", d->message);
		fclose(log);
	}
	strbuf_fini(&path);
}

/* Without LIDs, for instance, there is none yet: again when it has changed. */
static void enter_fabric(struct engine *e)
{
	struct diag d = { .status = HD_OK };

	if (e->from->open(e->from->context, &d, &e->fabric) != HD_OK) {
		e->fabric = NULL;
		note_refusal(e, &d);
		return;
	}
	struct run_load load = { .ends_without_memory = true };
	const struct run_options options = { .load = &load };

	lab_program_rules(&load.rules);
	if (run_open(e->fabric, &options, &d, &e->run) != HD_OK) {
		e->run = NULL;
		note_refusal(e, &d);
		return;
	}
	e->external = external_qps_new(e->fabric, &e->profile, run_sim(e->run));
	if (!e->external)
		return;
	seen_enter(e);
	pairs_enter(e);
}

static uint64_t version_now(const struct engine *e)
{
	const char *const words[] = { "version" };
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	uint64_t version = UINT64_MAX;

	if (live_call(e->dir, words, 1, &d, &text) == HD_OK)
		version = strtoull(text.text, NULL, 10);
	strbuf_fini(&text);
	return version;
}

static void look(struct engine *e)
{
	uint32_t generation = atomic_load(&e->page->generation);

	if (generation == e->generation)
		return;
	e->generation = generation;
	programs_look(e);
	seen_look(e);
	uint64_t version = version_now(e);

	if (version == e->version)
		return;
	e->version = version;
	/* Managers set many things again as they are. */
	if (e->fabric && !e->from->is_old(e->from->context))
		return;
	leave_fabric(e);
	e->is_fresh = true;
}

/* ---- the loop */

/* Longer and longer while nothing happens, up to two milliseconds. */
static void doze(unsigned turns)
{
	enum { SPINS = 200, STEP = 20000, MOST = 2000000 };
	long long step = (long long)(turns - SPINS) * STEP;
	const struct timespec t = { .tv_nsec = step < MOST ? step : MOST };

	if (turns < SPINS)
		sched_yield();
	else
		nanosleep(&t, NULL);
}

static bool daemon_is_there(const struct engine *e)
{
	struct pollfd p = { .fd = e->calls };

	return poll(&p, 1, 0) == 0;
}

/* True if anything happened. */
static bool turn(struct engine *e)
{
	/* Programs are looked at that often, whatever else happens. */
	const hd_time STEP = HD_MS;
	struct external_event n;

	look(e);
	/* The last of all is heard, too, with nothing under way any more. */
	if (pairs_take(e) || !programs_have_heard(e))
		return true;
	seen_settle(e);
	if (e->under_way == 0)
		return false;
	if ((!e->external && !e->is_fresh) || atomic_load(&e->page->is_held))
		return false;
	/* Who looks whether programs wait has waited a while: no dozing. */
	if (!programs_wait(e) || pairs_take(e))
		return true;
	if (!e->external) {
		e->is_fresh = false;
		enter_fabric(e);
		return true;
	}
	if (pairs_send(e))
		return true;
	bool goes_on = external_qps_next(e->external, external_qps_now(e->external) + STEP, &n);

	programs_time(e);
	if (goes_on && n.kind != EXTERNAL_NOTHING)
		pairs_news(e, &n);
	return goes_on;
}

enum hd_status timed_run(const char *dir, const char *profile, const struct timed_source *from,
			 void (*ready)(void *who), void *who, struct diag *d)
{
	struct engine *e = hd_alloc(1, sizeof(*e));
	unsigned idle = 0, turns = 0;

	e->dir = dir;
	e->from = from;
	e->version = UINT64_MAX;
	enum hd_status status = profile_open(profile, d, &e->profile);

	if (status == HD_OK)
		status = attach(e, d);
	if (status == HD_OK)
		ready(who);
	while (status == HD_OK && (turns++ % 64 != 0 || daemon_is_there(e))) {
		if (turn(e))
			idle = 0;
		else
			doze(idle++);
	}
	leave_fabric(e);
	seen_end(e);
	programs_free(e);
	free(e->fresh);
	if (e->calls >= 0)
		close(e->calls);
	profile_fini(&e->profile);
	free(e);
	return status;
}
