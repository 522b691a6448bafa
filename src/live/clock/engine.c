/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/clock/engine.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fabric/fabric.h"
#include "live/clock/seen.h"
#include "live/live.h"
#include "live/protocol.h"
#include "run/run.h"

/* ---- questions to the daemon */

int clock_ask_daemon(struct engine *e, const struct asked *a, void *out, size_t *size, int *file)
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
	if (clock_ask_daemon(e, &a, NULL, &size, &file) != 0 || file < 0)
		return diag_fail(d, HD_ERR_ENV, "the fabric has an engine, or needs none");
	void *page = mmap(NULL, sizeof(*e->page), PROT_READ, MAP_SHARED, file, 0);

	close(file);
	if (page == MAP_FAILED)
		return diag_fail(d, HD_ERR_ENV, "no memory: %s", strerror(errno));
	e->page = page;
	return HD_OK;
}

/* ---- counters of programs' packets on links */

static void count_hop(struct engine *e, const struct external_hop *h)
{
	struct sim_counters *out = &e->traffic.counters[h->out], *in = &e->traffic.counters[h->in];
	bool is_group = h->packet->lrh.dlid >= LID_FIRST_MCAST;
	struct sim_progress p;

	if (e->traffic.from == HD_TIME_NEVER) {
		sim_progress(run_sim(e->run), &p);
		e->traffic.from = p.from;
	}
	if (h->now < e->traffic.from)
		return;
	out->xmit_bytes += h->bytes;
	out->xmit_packets++;
	out->xmit_multicast += is_group;
	out->xmit_bytes_vl[h->vl] += h->bytes;
	out->xmit_packets_vl[h->vl]++;
	out->xmit_bytes_sl[h->packet->lrh.sl] += h->bytes;
	out->xmit_packets_sl[h->packet->lrh.sl]++;
	if (h->is_lost || h->is_corrupt)
		return;
	in->rcv_bytes += h->bytes;
	in->rcv_packets++;
	in->rcv_multicast += is_group;
	in->rcv_bytes_vl[h->vl] += h->bytes;
	in->rcv_packets_vl[h->vl]++;
	in->rcv_bytes_sl[h->packet->lrh.sl] += h->bytes;
	in->rcv_packets_sl[h->packet->lrh.sl]++;
}

static void on_hop(void *context, const struct external_hop *h)
{
	struct engine *e = context;

	if (e->traffic.counters)
		count_hop(e, h);
	if (e->seen)
		clock_seen_hop(e, h);
}

void clock_observe(struct engine *e)
{
	if (e->external)
		external_qps_observe(e->external, e->seen || e->traffic.counters ? on_hop : NULL,
				     e);
}

const struct sim_counters *clock_program_counters(const struct engine *e, port_id port)
{
	return &e->traffic.counters[port];
}

/* ---- runs that simulate queue pairs of programs */

enum hd_status timed_enter(struct engine *e, struct run *run, hd_time now, struct diag *d)
{
	const hd_time before = engine_now(e);
	const struct fabric *fabric = run_fabric(run);
	struct external_event n;
	enum hd_status status = HD_OK;

	e->run = run;
	e->external = external_qps_new(run_fabric(run), &e->profile, run_sim(run));
	if (e->traffic.serial) {
		free(e->traffic.counters);
		e->traffic.counters = hd_alloc(fabric->topo.n_ports, sizeof(*e->traffic.counters));
		e->traffic.from = HD_TIME_NEVER;
	}
	if (now > 0)
		status = run_advance(run, now, d);
	(void)!external_qps_next(e->external, now, &n);
	e->base = before - external_qps_now(e->external);
	clock_observe(e);
	clock_pairs_enter(e);
	return status;
}

void clock_leave(struct engine *e)
{
	clock_seen_leave(e);
	clock_pairs_leave(e);
	e->base = engine_now(e);
	external_qps_free(e->external);
	e->external = NULL;
	e->run = NULL;
}

/* ---- the programmed fabric */

static void leave_fabric(struct engine *e)
{
	struct run *run = e->run;

	clock_leave(e);
	if (run)
		e->from->close(e->from->context, run);
}

/* Logs the failure to a file in the fabric's folder. */
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

/*
 * Opens a run of the fabric. This fails until a manager has assigned LIDs; it is tried again after
 * a change.
 */
static void enter_fabric(struct engine *e)
{
	struct diag d = { .status = HD_OK };
	struct run *run;

	if (e->from->open(e->from->context, &d, &run) != HD_OK ||
	    timed_enter(e, run, 0, &d) != HD_OK)
		note_refusal(e, &d);
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

static void look_at_traffic(struct engine *e);

static void look(struct engine *e)
{
	uint32_t generation = atomic_load(&e->page->generation);

	if (generation == e->generation)
		return;
	e->generation = generation;
	clock_programs_look(e);
	clock_seen_look(e);
	look_at_traffic(e);
	uint64_t version = version_now(e);

	if (version == e->version)
		return;
	e->version = version;
	e->traffic.is_changed = true;
	/* Subnet managers often program values that do not differ from the current ones. */
	if (e->traffic.serial || (e->run && !e->from->is_old(e->from->context)))
		return;
	leave_fabric(e);
	e->is_fresh = true;
}

/* ---- attached traffic */

/* The serial number and words of the traffic that 'live traffic' has attached, if any. */
static uint32_t ask_traffic(struct engine *e, struct strbuf *words, int *file)
{
	const struct asked a = { LIVE_ASK_TRAFFIC, &e->traffic.serial, sizeof(uint32_t) };
	uint8_t *text = hd_alloc(LIVE_TEXT, 1);
	size_t size = LIVE_TEXT;
	uint32_t serial = 0;

	if (clock_ask_daemon(e, &a, text, &size, file) == 0 && size >= sizeof(serial)) {
		memcpy(&serial, text, sizeof(serial));
		strbuf_add(words, (const char *)text + sizeof(serial), size - sizeof(serial));
	}
	free(text);
	return serial;
}

static void report_end(const struct engine *e, uint32_t serial, int status, const char *text)
{
	struct strbuf number = STRBUF_INIT, code = STRBUF_INIT, out = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	strbuf_printf(&number, "%u", (unsigned)serial);
	strbuf_printf(&code, "%d", status);
	const char *const words[] = { "traffic-done", number.text, code.text, text };

	(void)!live_call(e->dir, words, 4, &d, &out);
	strbuf_fini(&number);
	strbuf_fini(&code);
	strbuf_fini(&out);
}

/* Runs attached traffic until its end; or records that it has been detached. */
static void look_at_traffic(struct engine *e)
{
	struct strbuf words = STRBUF_INIT, errors = STRBUF_INIT;
	int file = -1;
	uint32_t running = e->traffic.serial, serial = ask_traffic(e, &words, &file);

	e->traffic.is_detached = running && serial != running;
	if (!running && serial && file >= 0) {
		leave_fabric(e);
		e->traffic.serial = serial;
		e->traffic.pid = (pid_t)strtol(words.text, NULL, 10);
		int status = e->from->run_traffic(e->from->context, e, &words, file, &errors);

		e->traffic.serial = 0;
		free(e->traffic.counters);
		e->traffic.counters = NULL;
		e->is_fresh = true;
		report_end(e, serial, status, errors.len ? errors.text : "");
	}
	if (file >= 0)
		close(file);
	strbuf_fini(&words);
	strbuf_fini(&errors);
}

/* ---- one step */

/* Sleeps; the interval grows with `turns` up to two milliseconds. */
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

/* Advances to `until`, or to the next event; false if no event will ever come. */
static bool advance(struct engine *e, hd_time until)
{
	struct external_event n;
	bool goes_on = external_qps_next(e->external, until - e->base, &n);

	if (goes_on && n.kind != EXTERNAL_NOTHING)
		clock_pairs_events(e, &n);
	return goes_on;
}

static uint64_t machine_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Nothing is in the fabric and all programs wait: the simulated clock advances with the machine's
 * clock, up to the first deadline. True if that is near.
 */
static bool advance_idle(struct engine *e)
{
	const hd_time near = 200 * HD_US;
	uint64_t now = machine_ns(), since = e->idle_since;
	hd_time alarm = clock_programs_alarm(e), target = engine_now(e);

	e->idle_since = now;
	if (since == 0)
		return true;
	target += (now - since) * HD_NS;
	target = target < alarm ? target : alarm;
	if (target > engine_now(e) && (!e->external || !advance(e, target)))
		e->base += target - engine_now(e);
	clock_programs_time(e);
	return alarm - target < near;
}

/* One step of the engine; true if anything happened. */
static bool turn(struct engine *e)
{
	/*
	 * Limit of an advance between checks of the programs; with traffic rows it contains many
	 * packets.
	 */
	const hd_time step = e->traffic.serial ? 20 * HD_US : HD_MS;
	uint64_t idle_since = e->idle_since;

	e->idle_since = 0;
	look(e);
	/* Notes are delivered even if no message is in flight. */
	if (clock_pairs_take(e) || !clock_programs_have_read(e))
		return true;
	clock_seen_settle(e);
	bool is_idle = e->under_way == 0 && !e->traffic.serial;

	if (atomic_load(&e->page->is_held) || (is_idle && !clock_programs_need_time(e)))
		return false;
	/* clock_programs_wait sleeps itself: no doze is needed. */
	if (!clock_programs_wait(e) || clock_pairs_take(e))
		return true;
	if (!e->external && e->is_fresh && !is_idle) {
		e->is_fresh = false;
		enter_fabric(e);
		return true;
	}
	if (is_idle || !e->external) {
		e->idle_since = idle_since;
		return advance_idle(e);
	}
	if (clock_pairs_send(e))
		return true;
	hd_time until = engine_now(e) + step, alarm = clock_programs_alarm(e);
	bool goes_on = advance(e, until < alarm ? until : alarm);

	clock_programs_time(e);
	e->traffic.is_over = !goes_on;
	/*
	 * No event of the simulation is left although messages are in flight, e.g. without a route.
	 */
	if (!goes_on && !e->traffic.serial) {
		e->idle_since = idle_since;
		return advance_idle(e);
	}
	return goes_on;
}

/* ---- the loop */

/* One step, or a sleep; false if the fabric has ended. */
static bool go_on(struct engine *e, unsigned *turns, unsigned *idle)
{
	if ((*turns)++ % 64 == 0 && !daemon_is_there(e))
		return false;
	if (turn(e))
		*idle = 0;
	else
		doze((*idle)++);
	return true;
}

/* ESRCH only: the process may belong to root, who may use every fabric. */
static bool has_ended(pid_t pid)
{
	return kill(pid, 0) != 0 && errno == ESRCH;
}

enum timed_pause clock_carry(struct engine *e)
{
	unsigned idle = 0, turns = 0;

	e->traffic.is_changed = e->traffic.is_over = false;
	while (!e->traffic.is_changed && !e->traffic.is_over && !e->traffic.is_detached)
		if (!go_on(e, &turns, &idle) || (turns % 64 == 0 && has_ended(e->traffic.pid)))
			e->traffic.is_detached = true;
	return e->traffic.is_detached ? TIMED_DETACHED
	       : e->traffic.is_over   ? TIMED_OVER
				      : TIMED_CHANGED;
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
	while (status == HD_OK && go_on(e, &turns, &idle))
		;
	leave_fabric(e);
	clock_seen_end(e);
	clock_programs_free(e);
	free(e->fresh);
	if (e->calls >= 0)
		close(e->calls);
	profile_fini(&e->profile);
	free(e);
	return status;
}
