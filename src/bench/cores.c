/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/cores.h"

#include <stddef.h>
#include <string.h>

#define SIGNAL_EVERY 16 /* of sends whose completion is not timed */

/* ---- latency ---------------------------------------------------------- */

/* Sends without asking each time; every so often the queue is emptied. */
static void send_quietly(struct endpoint *e)
{
	struct completion wc;
	bool asks = e->posted_sends % SIGNAL_EVERY == 0;

	if (asks && e->posted_sends > 0)
		endpoint_wait(e, &e->send_cq, &wc);
	if (e->ok)
		endpoint_send(e, asks ? WR_SIGNALED : 0);
}

static void note(struct endpoint *e, const struct stretch *s, hd_time sample)
{
	if (s->counts)
		histogram_record(&e->point->found.latency, sample);
}

/* Two requests are posted, then the receive is waited for. */
static void ping(struct endpoint *e, const struct stretch *s)
{
	struct completion wc;
	hd_time start = e->ops->now(e->nic);

	for (uint64_t i = 0; i < s->n && e->ok; i++) {
		endpoint_recv(e);
		if (e->ok)
			send_quietly(e);
		if (!e->ok || !endpoint_wait(e, &e->recv_cq, &wc))
			return;
		hd_time now = e->ops->now(e->nic);

		note(e, s, (now - start) / 2);
		start = now;
	}
}

/* Its first receive is posted before the first ping. */
static void pong(struct endpoint *e, const struct stretch *s)
{
	struct completion wc;

	for (uint64_t i = 0; i < s->n && e->ok; i++) {
		if (!endpoint_wait(e, &e->recv_cq, &wc))
			return;
		endpoint_recv(e);
		if (e->ok)
			send_quietly(e);
	}
}

static uint8_t *last_byte(struct endpoint *e, uint64_t offset, uint64_t turn)
{
	uint64_t b = bench_buffer(e->p->scheme, e->p->reuse, e->pool, turn);

	return e->memory + offset + b * e->stride + e->p->size - 1;
}

/* Writes back and forth; each side spins on the last byte. */
static void write_turns(struct endpoint *e, const struct stretch *s, bool first)
{
	hd_time start = e->ops->now(e->nic);

	for (uint64_t i = 0; i < s->n && e->ok; i++) {
		uint64_t turn = e->posted_sends;
		void *watch = e->ops->watch_new(e->nic, last_byte(e, e->half, turn));

		*last_byte(e, 0, turn) = (uint8_t)(turn + 1);
		if (first)
			send_quietly(e);
		if (e->ok && e->ops->watch_wait(e->nic, watch, turn + 1) != HD_OK)
			endpoint_fail(e, "nothing was written");
		e->ops->watch_free(e->nic, watch);
		if (!first && e->ok)
			send_quietly(e);
		hd_time now = e->ops->now(e->nic);

		if (first)
			note(e, s, (now - start) / 2);
		start = now;
	}
}

static void write_ping(struct endpoint *e, const struct stretch *s)
{
	write_turns(e, s, true);
}

static void write_pong(struct endpoint *e, const struct stretch *s)
{
	write_turns(e, s, false);
}

/* Reads and atomics: until the answer is here. */
static void ask(struct endpoint *e, const struct stretch *s)
{
	struct completion wc;

	for (uint64_t i = 0; i < s->n && e->ok; i++) {
		hd_time start = e->ops->now(e->nic);

		endpoint_send(e, WR_SIGNALED);
		if (!e->ok || !endpoint_wait(e, &e->send_cq, &wc))
			return;
		note(e, s, e->ops->now(e->nic) - start);
	}
}

static void stand_by(struct endpoint *e, const struct stretch *s)
{
	(void)e;
	(void)s;
}

/* ---- bandwidth -------------------------------------------------------- */

/*
 * Bandwidth while it lasts: the peak over any run of messages (peak.h), and
 * the least over a half window. The first of those, when nothing has come back
 * yet, and the last, when nothing is posted any more, do not count.
 */
struct course {
	hd_time start, since;
	double min; /* MB/s */
	struct peak peak;
};

static void course_begin(struct endpoint *e, const struct stretch *s, struct course *c)
{
	*c = (struct course){ .start = e->ops->now(e->nic) };
	c->since = c->start;
	if (!s->counts)
		return;
	peak_init(&c->peak, s->n);
	e->peak = &c->peak;
	if (e->nic->rank == 0)
		memset(e->point->found.per_qp, 0, sizeof(e->point->found.per_qp));
}

static void course_note(struct endpoint *e, struct course *c, uint64_t n, bool steady)
{
	hd_time now = e->ops->now(e->nic);
	double rate =
		now > c->since ? (double)(n * e->p->size) / ((double)(now - c->since) / 1e6) : 0;

	c->since = now;
	if (rate > 0 && steady && (c->min == 0 || rate < c->min))
		c->min = rate;
}

/* One way: as seen here. Both ways: both sides' peaks together. */
static void course_end(struct endpoint *e, const struct stretch *s, struct course *c, unsigned ways)
{
	struct bench_found *f = &e->point->found;
	hd_time took = e->ops->now(e->nic) - c->start;
	double mine = 0, theirs = 0;

	e->peak = NULL;
	if (!s->counts)
		return;
	/* Messages per ps to MB/s: 1e12 a second, 1e6 bytes in an MB. */
	if (e->ok)
		mine = peak_rate(&c->peak) * (double)e->p->size * 1e6;
	peak_fini(&c->peak);
	if (ways == 2 && e->ok)
		endpoint_swap_real(e, e->peer, mine, &theirs);
	if (!e->ok || e->nic->rank != 0)
		return;
	f->elapsed = took;
	f->messages = s->n;
	f->bytes = ways * s->n * e->p->size;
	f->window_min = c->min;
	f->peak = mine + theirs;
}

bool bench_take_sends(struct endpoint *e, uint64_t n)
{
	struct completion wc;

	for (uint64_t i = 0; i < n; i++) {
		if (!endpoint_wait(e, &e->send_cq, &wc))
			return false;
		if (e->peak)
			peak_completed(e->peak, e->ops->now(e->nic));
		if (wc.id < BENCH_MAX_QPS && e->nic->rank == 0)
			e->point->found.per_qp[wc.id] += e->p->size;
	}
	return true;
}

/* w are posted, then w/2 waited for and w/2 posted, again and again. */
static void stream_ways(struct endpoint *e, const struct stretch *s, unsigned ways)
{
	uint64_t half = e->p->window > 1 ? e->p->window / 2 : 1;
	uint64_t posted = 0, taken = 0;
	struct course c;

	course_begin(e, s, &c);
	for (; posted < e->p->window && posted < s->n && e->ok; posted++)
		endpoint_send(e, WR_SIGNALED);
	while (taken < s->n && e->ok) {
		uint64_t n = s->n - taken < half ? s->n - taken : half;
		bool steady = taken > 0 && posted < s->n;

		if (!bench_take_sends(e, n))
			break;
		taken += n;
		course_note(e, &c, ways * n, steady);
		for (uint64_t i = 0; i < half && posted < s->n && e->ok; i++, posted++)
			endpoint_send(e, WR_SIGNALED);
	}
	course_end(e, s, &c, ways);
}

void bench_stream(struct endpoint *e, const struct stretch *s)
{
	stream_ways(e, s, 1);
}

static void write_both(struct endpoint *e, const struct stretch *s)
{
	stream_ways(e, s, 2);
}

/* Every queue pair has its own part of the window, which it keeps filled. */
static void stream_shares(struct endpoint *e, const struct stretch *s)
{
	uint32_t share = e->p->window / e->n_qps, each = share ? share : 1;
	struct course c;
	struct completion wc;

	course_begin(e, s, &c);
	for (uint32_t i = 0; i < each * e->n_qps && e->ok; i++)
		endpoint_send(e, WR_SIGNALED);
	for (uint64_t taken = 0; taken < s->n && e->ok; taken++) {
		if (!endpoint_wait(e, &e->send_cq, &wc))
			break;
		if (e->peak)
			peak_completed(e->peak, e->ops->now(e->nic));
		if (s->counts)
			e->point->found.per_qp[wc.id] += e->p->size;
		endpoint_send_on(e, (uint32_t)wc.id, WR_SIGNALED);
	}
	course_end(e, s, &c, 1);
	/* Messages still in flight are not measured. */
	for (uint32_t i = 0; i < each * e->n_qps && e->ok; i++)
		endpoint_wait(e, &e->send_cq, &wc);
}

/* Receives are posted ahead; each one taken is replaced. */
static void drain(struct endpoint *e, const struct stretch *s)
{
	struct completion wc;

	for (uint64_t i = 0; i < s->n && e->ok; i++) {
		if (!endpoint_wait(e, &e->recv_cq, &wc))
			return;
		endpoint_recv(e);
	}
}

/* Progress of a side that sends and receives. */
struct both {
	uint64_t posted, sent, got;
};

static void both_send(struct endpoint *e, struct both *b, uint64_t n, uint64_t half)
{
	for (uint64_t i = 0; i < half && b->sent < n && e->ok; i++) {
		b->sent += bench_take_sends(e, 1);
		if (b->posted < n && e->ok) {
			endpoint_send(e, WR_SIGNALED);
			b->posted++;
		}
	}
}

static void both_receive(struct endpoint *e, struct both *b, uint64_t n, uint64_t half)
{
	struct completion wc;

	for (uint64_t i = 0; i < half && b->got < n && e->ok; i++) {
		if (!endpoint_wait(e, &e->recv_cq, &wc))
			return;
		b->got++;
		endpoint_recv(e);
	}
}

/* Streams in both directions until the last receive; bytes of both count. */
static void stream_both(struct endpoint *e, const struct stretch *s)
{
	uint64_t half = e->p->window > 1 ? e->p->window / 2 : 1;
	struct both b = { 0 };
	struct course c;

	course_begin(e, s, &c);
	for (; b.posted < e->p->window && b.posted < s->n && e->ok; b.posted++)
		endpoint_send(e, WR_SIGNALED);
	while ((b.sent < s->n || b.got < s->n) && e->ok) {
		uint64_t before = b.sent + b.got;
		bool steady = before > 0 && b.posted < s->n;

		both_send(e, &b, s->n, half);
		both_receive(e, &b, s->n, half);
		course_note(e, &c, b.sent + b.got - before, steady);
	}
	course_end(e, s, &c, 2);
}

/* ---- the two ranks among themselves ------------------------------------ */

/* Synchronises ranks 0 and 1; contenders continue. Both get rank 0's number. */
uint64_t bench_agree(struct endpoint *e, uint64_t mine)
{
	uint64_t theirs = 0;

	/* Also after a failure that others may survive: they wait for it. */
	mine = e->ok ? mine : 0;
	endpoint_swap_number(e, e->peer, mine, &theirs);
	if (!e->ok)
		return 0;
	return e->nic->rank == 0 ? mine : theirs;
}

/* ---- computing meanwhile ---------------------------------------------- */

/* Receives, sends, work, then wait for all: one iteration. */
static void compute_once(struct endpoint *e, hd_time work)
{
	struct completion wc;

	for (uint32_t i = 0; i < e->p->window && e->ok; i++)
		endpoint_recv(e);
	for (uint32_t i = 0; i < e->p->window && e->ok; i++)
		endpoint_send(e, WR_SIGNALED);
	if (e->ok)
		e->ops->work(e->nic, work);
	for (uint32_t i = 0; i < e->p->window && e->ok; i++)
		endpoint_wait(e, &e->recv_cq, &wc);
	if (e->ok)
		bench_take_sends(e, e->p->window);
}

/* Untimed iterations measure the duration of one without computation. */
static void compute(struct endpoint *e, const struct stretch *s)
{
	struct bench_found *f = &e->point->found;
	hd_time start = e->ops->now(e->nic);
	hd_time work = s->counts ? e->base / 100 * e->p->work_share : 0;

	for (uint64_t i = 0; i < s->n && e->ok; i++) {
		compute_once(e, work);
		bench_agree(e, 0);
	}
	hd_time took = e->ops->now(e->nic) - start;

	if (!s->counts)
		e->base = bench_agree(e, took / (s->n ? s->n : 1));
	if (!s->counts || e->nic->rank != 0 || !e->ok)
		return;
	f->elapsed = took;
	f->messages = s->n * e->p->window;
	f->bytes = 2 * f->messages * e->p->size;
	f->work_share = 100 * (double)(work * s->n) / (double)took;
}

/* ---- which of them ------------------------------------------------------ */

core_fn *bench_core_of(const struct bench_params *p, bool first)
{
	bool one_sided = p->verb != VERB_SEND;

	switch (p->core) {
	case CORE_LATENCY:
		return p->verb == VERB_SEND    ? (first ? ping : pong)
		       : p->verb == VERB_WRITE ? (first ? write_ping : write_pong)
					       : (first ? ask : stand_by);
	case CORE_BANDWIDTH:
		return first ? bench_stream : one_sided ? stand_by : drain;
	case CORE_SHARES:
		return first ? stream_shares : stand_by;
	case CORE_BIDIRECTIONAL:
		return one_sided ? write_both : stream_both;
	default:
		return compute;
	}
}
