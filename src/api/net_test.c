/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks of heddle.h compared with closed forms and jobs, to the picosecond. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/heddle.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "base/strbuf.h"

#define STAR "fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}}\n"

static struct hd_net *net_of(const char *text)
{
	struct hd_error e = HD_ERROR_INIT;
	struct hd_net *net;

	if (hd_net_load(text, strlen(text), "x.yaml", NULL, &net, &e))
		fail_msg("%s\n%s", text, e.text);
	return net;
}

static void run(struct hd_net *net, uint64_t until)
{
	struct hd_error e = HD_ERROR_INIT;

	if (hd_net_run_until(net, until, &e))
		fail_msg("%s", e.text);
}

static void send(struct hd_net *net, uint32_t from, uint32_t to, uint64_t bytes, hd_net_done *done,
		 void *context)
{
	struct hd_error e = HD_ERROR_INIT;

	if (hd_net_send(net, from, to, bytes, HD_NO_CLASS, done, context, &e))
		fail_msg("%s", e.text);
}

struct note {
	uint64_t at;
	unsigned calls, lost;
};

static void note(void *context, struct hd_net *net, int lost)
{
	struct note *n = context;

	n->at = hd_net_now(net);
	n->calls++;
	n->lost += lost != 0;
}

/* ---- closed forms on a star --------------------------------------------- */

/* 40 ps a byte on 4x HDR; 26 bytes beyond the payload; MTU 4096. */
static uint64_t wire(uint64_t bytes)
{
	uint64_t packets = bytes ? (bytes + 4095) / 4096 : 1;

	return 40 * (bytes + 26 * packets);
}

/* 2 P + r + a = 110 ns by the model's defaults. */
static uint64_t message_time(uint64_t bytes)
{
	return 110000 + wire(bytes);
}

static void a_message_on_a_star_takes_its_closed_form(void **state)
{
	static const struct {
		uint64_t bytes, ps;
	} worked[] = { { 1024, 152000 }, { 4096, 274880 }, { 8192, 439760 }, { 65536, 2748080 } };
	struct rng rng;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_true(message_time(worked[i].bytes) == worked[i].ps);
	rng_init(&rng, 1, 1);
	for (unsigned i = 0; i < 60; i++) {
		struct hd_net *net = net_of(STAR);
		uint64_t bytes = i < 4 ? worked[i].bytes : i < 6 ? i - 4 : rng_below(&rng, 100000);
		uint64_t when = rng_below(&rng, 5000);
		struct note n = { 0 };

		run(net, when);
		send(net, 0, 1 + i % 7, bytes, note, &n);
		run(net, HD_NEVER);
		assert_int_equal(n.calls, 1);
		assert_int_equal(n.lost, 0);
		assert_true(n.at == when + message_time(bytes));
		assert_true(hd_net_now(net) == n.at);
		assert_true(hd_net_pending(net) == 0);
		hd_net_close(net);
	}
}

static void messages_of_a_host_leave_one_after_the_other(void **state)
{
	struct hd_net *net = net_of(STAR);
	struct note n[7] = { { 0 } };
	uint64_t left = 0;

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		send(net, 0, i + 1, 1000 * (i + 1), note, &n[i]);
	run(net, HD_NEVER);
	for (uint32_t i = 0; i < 7; i++) {
		assert_true(n[i].at == left + message_time(1000 * (i + 1)));
		left += wire(1000 * (i + 1));
	}
	hd_net_close(net);
}

struct ball {
	uint32_t from, to;
	unsigned left;
	uint64_t bytes;
};

static void throw_back(void *context, struct hd_net *net, int lost)
{
	struct ball *b = context;
	uint32_t to = b->from;

	assert_int_equal(lost, 0);
	/* A callback may only send. */
	assert_int_equal(hd_net_run_until(net, HD_NEVER, NULL), HD_MISUSE);
	if (b->left-- == 0)
		return;
	b->from = b->to;
	b->to = to;
	send(net, b->from, b->to, b->bytes, throw_back, b);
}

static void callbacks_may_send_again(void **state)
{
	struct hd_net *net = net_of(STAR);
	struct ball b = { 2, 5, 99, 3000 };

	(void)state;
	send(net, 2, 5, 3000, throw_back, &b);
	/* However it is cut, the game is the same. */
	for (uint64_t t = 0; t < 100 * message_time(3000); t += 77777)
		run(net, t);
	run(net, 100 * message_time(3000) - 1);
	assert_true(hd_net_pending(net) == 1);
	run(net, 100 * message_time(3000));
	assert_true(hd_net_pending(net) == 0);
	hd_net_close(net);
}

/* A simulator that sends whenever something has arrived, at any time after. */
static void steps_end_at_the_next_arrival(void **state)
{
	struct hd_net *net = net_of(
		STAR
		"traffic: [{name: t, kind: poisson, load: 10%, destination: h7, source: h6, payload: 4096}]\n");
	uint64_t now = 0;

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		uint64_t bytes = 5000 * (i % 7), wait = i % 3;

		send(net, i % 6, (i + 1) % 6, bytes, NULL, NULL);
		if (i % 2) {
			run(net, HD_NEVER);
		} else {
			assert_int_equal(hd_net_step(net, now, NULL), HD_DONE);
			assert_true(hd_net_now(net) == now);
			assert_int_equal(hd_net_step(net, HD_NEVER, NULL), HD_DONE);
		}
		now += message_time(bytes);
		assert_true(hd_net_now(net) == now);
		assert_true(hd_net_pending(net) == 0);
		now += wait;
		run(net, now);
	}
	hd_net_close(net);
}

static void classes_do_not_wait_for_each_other(void **state)
{
	static const char text[] = STAR
		"qos: {vls: 2, classes: [{name: slow, sl: 0, vl: 0}, {name: fast, sl: 1, vl: 1, priority: high}]}\n";
	struct hd_net *net = net_of(text);
	struct hd_error e = HD_ERROR_INIT;
	struct note slow = { 0 }, fast = { 0 };
	uint32_t s, f;

	(void)state;
	assert_int_equal(hd_net_class(net, "slow", &s, &e), HD_DONE);
	assert_int_equal(hd_net_class(net, "fast", &f, &e), HD_DONE);
	assert_int_equal(hd_net_class(net, "no", &f, &e), HD_MISUSE);
	assert_int_equal(hd_net_send(net, 0, 1, 1 << 20, s, note, &slow, &e), HD_DONE);
	run(net, 1000);
	assert_int_equal(hd_net_send(net, 0, 1, 100, f, note, &fast, &e), HD_DONE);
	run(net, HD_NEVER);
	/* One packet of the other message is on the wire when it arrives. */
	assert_true(fast.at == message_time(4096) + wire(100));
	assert_true(slow.at == message_time(1 << 20) + wire(100));
	hd_net_close(net);
}

static void loss_is_reported(void **state)
{
	struct hd_net *net =
		net_of(STAR "faults: {events: [{at: 1us, kind: link-down, port: h3}]}\n");
	struct note before = { 0 }, during = { 0 }, after = { 0 };

	(void)state;
	send(net, 0, 3, 8192, note, &before);
	run(net, 999999);
	send(net, 1, 3, 65536, note, &during);
	run(net, 2000000);
	send(net, 2, 3, 10, note, &after);
	run(net, HD_NEVER);
	assert_true(before.calls == 1 && before.lost == 0);
	assert_true(during.calls == 1 && during.lost == 1);
	assert_true(after.calls == 1 && after.lost == 1);
	assert_true(hd_net_pending(net) == 0);
	hd_net_close(net);
}

/* ---- compared with jobs on random fabrics --------------------------------------- */

#define MESSAGES 40

/* Each message is sent at a time, or when another one has arrived at its source. */
struct plan {
	struct {
		uint32_t from, to;
		uint64_t bytes;
		uint32_t after; /* number + 1, or 0 */
		uint64_t at;    /* ns */
		uint64_t arrived;
	} m[MESSAGES];
	uint32_t ranks;
};

struct cue {
	struct plan *plan;
	uint32_t number;
};

static void send_from(struct plan *p, struct hd_net *net, struct cue *cues, uint32_t i,
		      hd_net_done *done)
{
	cues[i] = (struct cue){ p, i };
	send(net, p->m[i].from, p->m[i].to, p->m[i].bytes, done, &cues[i]);
}

static void go_on(void *context, struct hd_net *net, int lost)
{
	struct cue *cue = context;
	struct plan *p = cue->plan;
	struct cue *cues = cue - cue->number;

	assert_int_equal(lost, 0);
	p->m[cue->number].arrived = hd_net_now(net);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		if (p->m[i].after == cue->number + 1)
			send_from(p, net, cues, i, go_on);
	}
}

static void plan_draw(struct plan *p, struct rng *rng, uint32_t ranks)
{
	p->ranks = ranks;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint32_t after = i && rng_below(rng, 3) ? (uint32_t)rng_below(rng, i) + 1 : 0;
		uint32_t from = after ? p->m[after - 1].to : (uint32_t)rng_below(rng, ranks);
		uint32_t step = 1 + (uint32_t)rng_below(rng, ranks - 1);

		p->m[i].from = from;
		p->m[i].to = (from + step) % ranks;
		p->m[i].bytes = rng_below(rng, 30000);
		p->m[i].after = after;
		/* Distinct times, because the model decides the order of simultaneous messages. */
		p->m[i].at = 1 + 7 * i + 300 * rng_below(rng, 20);
	}
}

/* The same as GOAL: receives that a rank waits for, then its sends. */
static void plan_goal(const struct plan *p, struct strbuf *out)
{
	strbuf_printf(out, "num_ranks %u\n", p->ranks);
	for (uint32_t r = 0; r < p->ranks; r++) {
		strbuf_printf(out, "rank %u {\n", r);
		for (uint32_t i = 0; i < MESSAGES; i++) {
			if (p->m[i].to == r)
				strbuf_printf(out, "r%u: recv %llub from %u tag %u\n", i,
					      (unsigned long long)p->m[i].bytes, p->m[i].from, i);
			if (p->m[i].from == r && !p->m[i].after)
				strbuf_printf(out, "c%u: calc %llu cpu %u\n", i,
					      (unsigned long long)p->m[i].at, i);
		}
		for (uint32_t i = 0; i < MESSAGES; i++) {
			if (p->m[i].from != r)
				continue;
			strbuf_printf(out,
				      "s%u: send %llub to %u tag %u\n"
				      "s%u requires %c%u\n",
				      i, (unsigned long long)p->m[i].bytes, p->m[i].to, i, i,
				      p->m[i].after ? 'r' : 'c',
				      p->m[i].after ? p->m[i].after - 1 : i);
		}
		strbuf_puts(out, "}\n");
	}
}

static void plan_on_net(struct plan *p, const char *fabric)
{
	struct hd_net *net = net_of(fabric);
	struct cue cues[MESSAGES];

	for (uint64_t at = 1; at < 7000; at++) {
		for (uint32_t i = 0; i < MESSAGES; i++) {
			if (p->m[i].after || p->m[i].at != at)
				continue;
			run(net, at * 1000 - 1);
			run(net, at * 1000);
			send_from(p, net, cues, i, go_on);
		}
	}
	run(net, HD_NEVER);
	hd_net_close(net);
}

static uint64_t picoseconds(const struct hd_table *t, size_t row, const char *column)
{
	size_t c = hd_column_find(t, column);

	assert_string_equal(hd_column_unit(t, c), "us");
	return (uint64_t)llround(1e6 * hd_cell_real(t, row, c));
}

/* Completion, and the ends of ranks that only receive. */
static void compare_with_job(const struct plan *p, const char *text)
{
	struct hd_run_options o = HD_RUN_OPTIONS_INIT;
	struct hd_error e = HD_ERROR_INIT;
	struct hd_run *job;
	uint64_t last = 0;

	o.all = 1;
	if (hd_run_load(text, strlen(text), "x.yaml", &o, &job, &e) || hd_run_go(job, &e))
		fail_msg("%s\n%s", text, e.text);
	const struct hd_table *ranks = hd_run_table(job, "ranks");

	for (uint32_t r = 0; r < p->ranks; r++) {
		uint64_t end = 0;
		bool sends = false;

		for (uint32_t i = 0; i < MESSAGES; i++) {
			sends |= p->m[i].from == r;
			if (p->m[i].to == r && p->m[i].arrived > end)
				end = p->m[i].arrived;
		}
		last = end > last ? end : last;
		if (!sends)
			assert_true(picoseconds(ranks, r, "end") == end);
	}
	assert_true(picoseconds(hd_run_table(job, "jobs"), 0, "completion") == last);
	hd_run_close(job);
}

static void a_network_is_the_fabric_of_jobs(void **state)
{
	static const char *const shapes[] = {
		"{kind: xgft, down: '4,3', up: '1,2'}",
		"{kind: mesh, columns: 3, rows: 2, hosts: 2}",
		"{kind: star, hosts: 9}",
		"{kind: ring, switches: 4, hosts: 3}",
	};
	static const uint32_t hosts[] = { 12, 12, 9, 12 };
	unsigned n = cases_of_run(24, 400);
	struct rng rng;

	(void)state;
	rng_init(&rng, seed_of_run(3), 1);
	for (unsigned i = 0; i < n; i++) {
		char path[] = "/tmp/net-test-XXXXXX";
		struct strbuf fabric = STRBUF_INIT, goal = STRBUF_INIT;
		int fd = mkstemp(path);
		struct plan p;

		plan_draw(&p, &rng, hosts[i % 4]);
		plan_goal(&p, &goal);
		assert_true(write(fd, goal.text, goal.len) == (ssize_t)goal.len);
		close(fd);
		strbuf_printf(
			&fabric,
			"fabric: {topology: %s, link: {rate: %s}, routing: updn, packet: {mtu: %s}}\n",
			shapes[i % 4], rng_below(&rng, 2) ? "4x HDR" : "4x EDR",
			rng_below(&rng, 2) ? "4096" : "1024");
		plan_on_net(&p, fabric.text);
		strbuf_printf(&fabric, "jobs: [{name: a, goal: %s}]\n", path);
		compare_with_job(&p, fabric.text);
		unlink(path);
		strbuf_fini(&fabric);
		strbuf_fini(&goal);
	}
}

/* ---- misuse ------------------------------------------------------------- */

static void any_call_at_any_time_is_answered(void **state)
{
	static const uint64_t sizes[] = {
		0, 1, 4096, HD_MOST_BYTES, HD_MOST_BYTES + 1, UINT64_MAX
	};
	struct rng rng;

	(void)state;
	rng_init(&rng, seed_of_run(5), 1);
	for (unsigned game = 0; game < cases_of_run(60, 2000); game++) {
		struct hd_net *net = net_of(
			STAR "traffic: [{name: t, kind: poisson, load: 20%, payload: 4096}]\n");
		struct note n = { 0 };
		uint64_t now = 0;

		for (unsigned i = 0; i < 50; i++) {
			struct hd_error e = HD_ERROR_INIT;
			uint32_t from = (uint32_t)rng_below(&rng, 10);
			uint32_t to = (uint32_t)rng_below(&rng, 10);
			uint64_t bytes = sizes[rng_below(&rng, 6)];
			uint32_t class = rng_below(&rng, 4) ? HD_NO_CLASS : 0;
			uint64_t time = now + rng_below(&rng, 100000);

			time -= time < 30000 ? 0 : 30000;
			bool fits = from < 8 && to < 8 && from != to && bytes <= HD_MOST_BYTES &&
				    class == HD_NO_CLASS;

			assert_int_equal(hd_net_send(net, from, to, bytes, class, note, &n,
						     rng_below(&rng, 2) ? &e : NULL),
					 fits ? HD_DONE : HD_MISUSE);
			assert_int_equal(hd_net_run_until(net, time, &e),
					 time < now ? HD_MISUSE : HD_DONE);
			assert_true((e.text[0] == '\0') == (time >= now));
			now = time < now ? now : time;
			assert_true(hd_net_now(net) == now);
		}
		assert_int_equal(hd_net_run_until(net, HD_NEVER - 1, NULL), HD_MISUSE);
		assert_int_equal(n.lost, 0);
		/* Messages of 2^40 bytes are under way. */
		hd_net_close(net);
	}
}

static void hosts_have_names(void **state)
{
	struct hd_net *net = net_of(STAR);
	struct hd_error e = HD_ERROR_INIT;
	uint32_t host;

	(void)state;
	assert_int_equal(hd_net_hosts(net), 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(hd_net_host(net, hd_net_host_name(net, i), &host, &e), HD_DONE);
		assert_int_equal(host, i);
	}
	assert_string_equal(hd_net_host_name(net, 3), "h3");
	assert_null(hd_net_host_name(net, 8));
	assert_int_equal(hd_net_host(net, "h8", &host, &e), HD_MISUSE);
	assert_string_equal(e.text, "unknown host 'h8'");
	hd_net_close(net);
}

static void receivers_without_messages_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "fabric: {topology: {kind: star, hosts: 8}, switch: {input_buffer: 1KiB}}\n"
		  "traffic: [{name: t, kind: cbr, load: 1%, payload: 64}]\n",
		  "packets of 4122 bytes do not fit" },
		{ STAR "qos: {thresholds: {capacity: 9}}\n",
		  "messages are not possible with qos.thresholds.capacity" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hd_error e = HD_ERROR_INIT;
		struct hd_net *net = NULL;

		assert_int_equal(
			hd_net_load(cases[i].text, strlen(cases[i].text), "x.yaml", NULL, &net, &e),
			HD_REFUSED);
		assert_non_null(strstr(e.text, cases[i].why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_on_a_star_takes_its_closed_form),
		cmocka_unit_test(messages_of_a_host_leave_one_after_the_other),
		cmocka_unit_test(callbacks_may_send_again),
		cmocka_unit_test(steps_end_at_the_next_arrival),
		cmocka_unit_test(classes_do_not_wait_for_each_other),
		cmocka_unit_test(loss_is_reported),
		cmocka_unit_test(a_network_is_the_fabric_of_jobs),
		cmocka_unit_test(any_call_at_any_time_is_answered),
		cmocka_unit_test(hosts_have_names),
		cmocka_unit_test(receivers_without_messages_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
