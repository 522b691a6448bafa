/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "hca/external_qp.h"
#include "hca/programs_for_tests.h"
#include "hca/testbed.h"
#include "hca/verbs.h"
#include "transport/codes.h"

/*
 * Messages of programs elsewhere, on one switch: 4x HDR, 4096-byte packets,
 * 100 ns in the switch, 10 ns of cable, adapters that cost no time.
 */

enum {
	MTU = 4096,
	HEADERS = 8 + 12 + 4 + 2, /* LRH, BTH, ICRC, VCRC */
	RETH = 16,
	DEPTH = 256,
	TIMEOUT = 14,
	RETRIES = 3,
};

struct fixture {
	struct testbed bed;
	struct sim *sim;
	struct external_qps *all;
	struct external_qp *a, *b;
	enum qp_kind kind;
	struct external_srq *srq; /* of b's receives */
	int mine, yours;          /* owners */
};

static struct qp_attr attributes(const struct fixture *f, uint32_t from, uint32_t to)
{
	const struct sim_setup *s = &f->bed.fabric->setup;
	const struct subnet *n = &f->bed.fabric->subnet;

	return (struct qp_attr){
		.pkey = 0xffff,
		.slid = n->lid_of_port[s->ports[s->nodes[from].first_port + 1].origin],
		.dlid = n->lid_of_port[s->ports[s->nodes[to].first_port + 1].origin],
		.mtu = MTU,
		.max_rd = 4,
		.max_dest_rd = 4,
		.min_rnr = 1,
		.timeout = TIMEOUT,
		.retry = RETRIES,
		.rnr_retry = 7,
	};
}

/* The first two end nodes of the simulation. */
static void find_ends(const struct fixture *f, uint32_t out[2])
{
	const struct sim_setup *s = &f->bed.fabric->setup;
	unsigned n = 0;

	for (uint32_t i = 0; i < s->n_nodes && n < 2; i++)
		if (s->nodes[i].kind == SIM_END)
			out[n++] = i;
	assert_int_equal(n, 2);
}

static struct external_qp *make(struct fixture *f, uint32_t node, void *owner)
{
	const struct sim_setup *s = &f->bed.fabric->setup;
	const struct external_qp_params place = {
		.kind = f->kind,
		.port = s->ports[s->nodes[node].first_port + 1].origin,
		.max_send = DEPTH,
		.max_recv = DEPTH + 1,
		.srq = f->srq,
	};
	struct external_qp *g = external_qp_new(f->all, &place, owner);

	assert_non_null(g);
	return g;
}

static void open_both(struct fixture *f, bool is_down)
{
	struct diag d = { .status = HD_OK };
	uint32_t ends[2];

	assert_int_equal(testbed_open("ideal", NULL, NULL, &d, &f->bed), HD_OK);
	find_ends(f, ends);
	if (is_down) {
		const struct sim_setup *s = &f->bed.fabric->setup;
		const struct sim_fault down = { .kind = SIM_LINK_DOWN,
						.port = s->nodes[ends[1]].first_port + 1 };

		fabric_add_fault(f->bed.fabric, down);
	}
	f->sim = sim_for_programs(f->bed.fabric);
	f->all = external_qps_new(f->bed.fabric, &f->bed.profile, f->sim);
	f->a = make(f, ends[0], &f->mine);
	f->b = make(f, ends[1], &f->yours);
	const struct qp_attr there = attributes(f, ends[0], ends[1]);
	const struct qp_attr back = attributes(f, ends[1], ends[0]);

	assert_int_equal(external_qp_connect(f->a, f->b, &there), HD_OK);
	assert_int_equal(external_qp_connect(f->b, f->a, &back), HD_OK);
	assert_int_equal(external_qp_start(f->a, &there), HD_OK);
	assert_int_equal(external_qp_start(f->b, &back), HD_OK);
}

static void close_both(struct fixture *f)
{
	external_qps_free(f->all);
	sim_free(f->sim);
	testbed_close(&f->bed);
}

/* Over RC and UC. */
static bool send(struct external_qp *q, enum wr_kind kind, uint64_t number, uint32_t length)
{
	const struct send_wr wr = {
		.id = number, .kind = kind, .n_sge = 1, .sge[0].length = length
	};

	return external_qp_send(q, NULL, &wr);
}

/* Bytes over 4x HDR: 200 Gb/s. */
static hd_time wire_time(uint64_t bytes)
{
	return bytes * 8 * 5;
}

/* Writes keep the link busy from the first packet to the last. */
static void test_writes_fill_the_link(void **state)
{
	enum { N = 100, SIZE = 65536, PACKETS = SIZE / MTU };
	struct fixture f = { 0 };
	struct external_event n;
	hd_time first = 0;

	(void)state;
	open_both(&f, false);
	for (uint64_t i = 0; i < N; i++)
		assert_true(send(f.a, WR_WRITE, i, SIZE));
	for (uint64_t i = 0; i < N; i++) {
		assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
		assert_int_equal(n.kind, EXTERNAL_DONE);
		assert_ptr_equal(n.owner, &f.mine);
		assert_int_equal(n.number, i);
		assert_int_equal(n.status, WC_SUCCESS);
		first = i ? first : external_qps_now(f.all);
	}
	assert_int_equal(external_qps_now(f.all) - first,
			 (N - 1) * wire_time(PACKETS * (MTU + HEADERS) + RETH));
	assert_false(external_qps_next(f.all, HD_TIME_NEVER, &n));
	close_both(&f);
}

/* A send arrives before it completes; without a receive, after one. */
static void test_sends_need_receives(void **state)
{
	struct fixture f = { 0 };
	struct external_event n;

	(void)state;
	open_both(&f, false);
	assert_true(external_qp_receive(f.b));
	for (uint64_t i = 0; i < 2; i++)
		assert_true(send(f.a, WR_SEND, i, 1));
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_ARRIVED);
	assert_ptr_equal(n.receiver, &f.yours);
	assert_int_equal(n.number, 0);
	hd_time arrived = external_qps_now(f.all);

	/* 1 byte and its padding, through a switch that cuts through. */
	assert_in_range(arrived, 100 * HD_NS, 200 * HD_NS);
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_DONE);
	assert_int_equal(n.number, 0);
	assert_true(external_qps_now(f.all) > arrived);
	assert_true(external_qp_receive(f.b));
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_ARRIVED);
	assert_int_equal(n.number, 1);
	assert_true(external_qps_now(f.all) >= qp_rnr_delay(1));
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_DONE);
	assert_int_equal(n.number, 1);
	assert_int_equal(n.status, WC_SUCCESS);
	close_both(&f);
}

/* Without a receive request, the message is repeated for ever: time advances without an event. */
static void go_on_in_vain(const struct fixture *f)
{
	for (unsigned i = 0; i < 10; i++) {
		hd_time until = external_qps_now(f->all) + HD_MS;
		struct external_event n;

		assert_true(external_qps_next(f->all, until, &n));
		assert_int_equal(n.kind, EXTERNAL_NOTHING);
		assert_int_equal(external_qps_now(f->all), until);
	}
}

static void test_nothing_without_receives(void **state)
{
	struct fixture f = { 0 };
	struct external_event n;

	(void)state;
	open_both(&f, false);
	assert_true(send(f.a, WR_SEND, 7, 1));
	go_on_in_vain(&f);
	assert_true(external_qp_receive(f.b));
	assert_true(external_qps_next(f.all, external_qps_now(f.all) + HD_MS, &n));
	assert_int_equal(n.kind, EXTERNAL_ARRIVED);
	assert_int_equal(n.number, 7);
	close_both(&f);
}

/* A message takes the same time after an idle period. */
static void test_time_passes_when_idle(void **state)
{
	struct fixture f = { 0 };
	struct external_event n;
	hd_time took[2];

	(void)state;
	open_both(&f, false);
	for (unsigned i = 0; i < 2; i++) {
		hd_time begin = external_qps_now(f.all);

		assert_true(send(f.a, WR_WRITE, i, 65536));
		assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
		assert_int_equal(n.kind, EXTERNAL_DONE);
		took[i] = external_qps_now(f.all) - begin;
		for (unsigned k = 0; k < 10; k++) {
			hd_time until = external_qps_now(f.all) + HD_S;

			(void)external_qps_next(f.all, until, &n);
			assert_int_equal(external_qps_now(f.all), until);
		}
	}
	assert_int_equal(took[0], took[1]);
	close_both(&f);
}

/* Operations complete in posting order; arrivals are reported for all but writes. */
static void test_operations_in_order(void **state)
{
	static const enum wr_kind kinds[] = { WR_WRITE,    WR_READ,     WR_FETCH_ADD,
					      WR_SEND_IMM, WR_CMP_SWAP, WR_WRITE_IMM };
	enum { N = sizeof(kinds) / sizeof(kinds[0]) };
	struct fixture f = { 0 };
	struct external_event n;
	uint64_t done = 0, arrived = 0;

	(void)state;
	open_both(&f, false);
	for (uint64_t i = 0; i < N; i++) {
		bool atomic = kinds[i] == WR_FETCH_ADD || kinds[i] == WR_CMP_SWAP;

		assert_true(external_qp_receive(f.b));
		assert_true(send(f.a, kinds[i], i, atomic ? 8 : 10000));
	}
	while (external_qps_next(f.all, HD_TIME_NEVER, &n)) {
		if (n.kind == EXTERNAL_ARRIVED) {
			assert_int_equal(n.number, ++arrived);
			assert_int_equal(n.took_receive, n.number == 3 || n.number == 5);
			continue;
		}
		assert_int_equal(n.status, WC_SUCCESS);
		assert_int_equal(n.number, done++);
	}
	assert_int_equal(done, N);
	assert_int_equal(arrived, N - 1);
	close_both(&f);
}

struct watched {
	const struct fixture *f;
	unsigned requests, answers, firsts;
	hd_time last;
};

static void watch(void *context, const struct external_hop *p)
{
	struct watched *w = context;
	bool answers = opcode_flags(p->packet->bth.opcode) & OPCODE_RESPONSE;

	assert_true(p->now >= w->last);
	assert_true(p->there > p->now);
	w->last = p->now;
	assert_ptr_equal(p->sender, answers ? &w->f->yours : &w->f->mine);
	/* Both belong to the message with the request. */
	assert_ptr_equal(p->owner, &w->f->mine);
	assert_int_equal(p->number, 7);
	w->firsts += p->is_first;
	if (answers)
		w->answers++;
	else
		assert_int_equal(p->offset, (w->requests++ / 2) * MTU);
}

/* The observer sees each packet on each of its two cables, and the time at
 * which all is done is the same; so it is by small steps. */
static void test_watching_changes_nothing(void **state)
{
	hd_time ends[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct fixture f = { 0 };
		struct watched w = { .f = &f };
		struct external_event n;

		open_both(&f, false);
		assert_true(send(f.a, WR_WRITE, 7, MTU));
		if (i == 1)
			external_qps_observe(f.all, watch, &w);
		do
			assert_true(external_qps_next(
				f.all, i < 2 ? HD_TIME_NEVER : external_qps_now(f.all) + HD_NS,
				&n));
		while (n.kind == EXTERNAL_NOTHING);
		assert_int_equal(n.kind, EXTERNAL_DONE);
		ends[i] = external_qps_now(f.all);
		assert_int_equal(w.requests, i == 1 ? 2 : 0);
		assert_int_equal(w.answers, i == 1 ? 2 : 0);
		assert_int_equal(w.firsts, i == 1 ? 2 : 0);
		close_both(&f);
	}
	assert_int_equal(ends[0], ends[1]);
	assert_int_equal(ends[0], ends[2]);
}

/* Over a link that is down, the request fails when its retries are used up. */
static void test_retries_end(void **state)
{
	struct fixture f = { 0 };
	struct external_event n;

	(void)state;
	open_both(&f, true);
	assert_true(send(f.a, WR_WRITE, 7, 100));
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_DONE);
	assert_int_equal(n.number, 7);
	assert_int_equal(n.status, WC_RETRY_EXC_ERR);
	/* A timer runs for its timeout at least, and four times as long at most. */
	assert_in_range(external_qps_now(f.all), (RETRIES + 1) * qp_ack_timeout(TIMEOUT),
			4 * (RETRIES + 1) * qp_ack_timeout(TIMEOUT));
	close_both(&f);
}

/* A queue pair that closes affects no other. */
static void test_leaving(void **state)
{
	struct fixture f = { 0 };
	struct external_event n;

	(void)state;
	open_both(&f, false);
	assert_true(send(f.a, WR_WRITE, 0, 65536));
	external_qp_release(f.b);
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_DONE);
	assert_int_equal(n.status, WC_RETRY_EXC_ERR);
	external_qp_release(f.a);
	assert_false(external_qps_next(f.all, HD_TIME_NEVER, &n));
	close_both(&f);
}

struct leaving {
	bool has_left;
	unsigned before, behind; /* packets of answers */
};

static void watch_leaving(void *context, const struct external_hop *p)
{
	struct leaving *l = context;

	if (!(opcode_flags(p->packet->bth.opcode) & OPCODE_RESPONSE))
		return;
	if (l->has_left)
		assert_null(p->sender);
	++*(l->has_left ? &l->behind : &l->before);
}

/* A queue pair that closes sends its pending response; its owner is not reported any more. */
static void test_leaving_with_an_answer(void **state)
{
	struct fixture f = { 0 };
	struct external_event n;
	struct leaving l = { false };

	(void)state;
	open_both(&f, false);
	external_qps_observe(f.all, watch_leaving, &l);
	assert_true(send(f.a, WR_READ, 0, 1 << 20));
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_ARRIVED);
	external_qp_release(f.b);
	l.has_left = true;
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_DONE);
	assert_int_equal(n.status, WC_SUCCESS);
	/* On two links each; some packets started with the arrival of the request. */
	assert_int_equal(l.before + l.behind, (2 << 20) / MTU);
	assert_true(l.before <= 2);
	close_both(&f);
}

/* ---- without acknowledgements */

/* When each of n messages left, and its result. */
struct course {
	hd_time left[DEPTH], landed[DEPTH];
	bool is_lost[DEPTH];
	uint64_t n_left, n_landed;
};

static void follow(struct fixture *f, struct course *c)
{
	struct external_event n;

	*c = (struct course){ .n_left = 0 };
	while (external_qps_next(f->all, HD_TIME_NEVER, &n)) {
		assert_ptr_equal(n.owner, &f->mine);
		assert_true(n.number < DEPTH);
		if (n.kind == EXTERNAL_DONE) {
			assert_int_equal(n.status, WC_SUCCESS);
			assert_int_equal(n.number, c->n_left++);
			c->left[n.number] = external_qps_now(f->all);
			continue;
		}
		c->n_landed++;
		c->landed[n.number] = external_qps_now(f->all);
		c->is_lost[n.number] = n.kind == EXTERNAL_LOST;
		if (n.kind == EXTERNAL_ARRIVED)
			assert_ptr_equal(n.receiver, &f->yours);
	}
}

/* They complete as the link takes them, and arrive one latency later. */
static void test_unreliable_writes_fill_the_link(void **state)
{
	enum { N = 100, SIZE = 65536, PACKETS = SIZE / MTU };
	struct fixture f = { .kind = QP_UC };
	struct course c;

	(void)state;
	open_both(&f, false);
	for (uint64_t i = 0; i < N; i++)
		assert_true(send(f.a, WR_WRITE, i, SIZE));
	follow(&f, &c);
	assert_int_equal(c.n_left, N);
	assert_int_equal(c.n_landed, N);
	for (unsigned i = 0; i < N; i++) {
		assert_false(c.is_lost[i]);
		/* A switch and two cables. */
		assert_in_range(c.landed[i] - c.left[i], 100 * HD_NS, 300 * HD_NS);
	}
	assert_int_equal(c.left[N - 1] - c.left[0],
			 (N - 1) * wire_time(PACKETS * (MTU + HEADERS) + RETH));
	close_both(&f);
}

/* Over a link that is down, they complete locally and are lost. */
static void test_unreliable_over_a_dead_link(void **state)
{
	enum { N = 20 };
	static const enum wr_kind kinds[] = { WR_SEND, WR_WRITE };
	struct fixture f = { .kind = QP_UC };
	struct course c;

	(void)state;
	open_both(&f, true);
	for (uint64_t i = 0; i < N; i++) {
		assert_true(external_qp_receive(f.b));
		assert_true(send(f.a, kinds[i % 2], i, 10000));
	}
	follow(&f, &c);
	assert_int_equal(c.n_left, N);
	assert_int_equal(c.n_landed, N);
	for (unsigned i = 0; i < N; i++)
		assert_true(c.is_lost[i]);
	close_both(&f);
}

/* A datagram needs a queue pair, its Q_Key and a receive. */
static void test_datagrams(void **state)
{
	enum { QKEY = 0x1111, FIRST = 3, NOWHERE = 1, WRONG = 2, N = 6 };
	struct fixture f = { .kind = QP_UD };
	struct course c;
	uint32_t ends[2];

	(void)state;
	open_both(&f, false);
	find_ends(&f, ends);
	const struct qp_attr a = attributes(&f, ends[0], ends[1]);

	for (unsigned i = 0; i < FIRST; i++)
		assert_true(external_qp_receive(f.b));
	for (uint64_t i = 0; i < N; i++) {
		const struct send_wr wr = {
			.kind = i % 2 ? WR_SEND : WR_SEND_IMM,
			.id = i,
			.n_sge = 1,
			.sge[0].length = MTU,
			.to = { .qkey = i == WRONG ? QKEY : 0, .dlid = a.dlid, .global = i == 0 },
		};

		assert_true(external_qp_send(f.a, i == NOWHERE ? NULL : f.b, &wr));
	}
	follow(&f, &c);
	assert_int_equal(c.n_left, N);
	assert_int_equal(c.n_landed, N);
	/* 0, 3 and 4 take the three receives. */
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(c.is_lost[i], i == NOWHERE || i == WRONG || i == N - 1);
	close_both(&f);
}

/* ---- receives that are shared */

/* A receive serves the first sender; the other waits for the next one. */
static void test_shared_receives(void **state)
{
	struct fixture f = { 0 };
	struct external_event n;
	uint32_t ends[2];
	int others;

	(void)state;
	open_both(&f, false);
	find_ends(&f, ends);
	const struct qp_attr there = attributes(&f, ends[0], ends[1]);
	const struct qp_attr back = attributes(&f, ends[1], ends[0]);
	const struct sim_setup *s = &f.bed.fabric->setup;

	struct external_srq *queue =
		external_srq_new(f.all, s->ports[s->nodes[ends[1]].first_port + 1].origin, DEPTH);

	assert_non_null(queue);
	f.srq = queue;
	struct external_qp *to[2] = { make(&f, ends[1], &f.yours), make(&f, ends[1], &others) };

	f.srq = NULL;
	for (unsigned i = 0; i < 2; i++) {
		struct external_qp *from = make(&f, ends[0], &f.mine);

		assert_int_equal(external_qp_connect(from, to[i], &there), HD_OK);
		assert_int_equal(external_qp_connect(to[i], from, &back), HD_OK);
		assert_int_equal(external_qp_start(from, &there), HD_OK);
		if (i == 0)
			assert_true(external_srq_receive(queue));
		assert_true(send(from, WR_SEND, i, 100));
	}
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_ARRIVED);
	assert_int_equal(n.number, 0);
	assert_ptr_equal(n.receiver, &f.yours);
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_DONE);
	go_on_in_vain(&f);
	assert_true(external_srq_receive(queue));
	assert_true(external_qps_next(f.all, HD_TIME_NEVER, &n));
	assert_int_equal(n.kind, EXTERNAL_ARRIVED);
	assert_int_equal(n.number, 1);
	assert_ptr_equal(n.receiver, &others);
	close_both(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_fill_the_link),
		cmocka_unit_test(test_sends_need_receives),
		cmocka_unit_test(test_nothing_without_receives),
		cmocka_unit_test(test_time_passes_when_idle),
		cmocka_unit_test(test_operations_in_order),
		cmocka_unit_test(test_watching_changes_nothing),
		cmocka_unit_test(test_retries_end),
		cmocka_unit_test(test_leaving),
		cmocka_unit_test(test_leaving_with_an_answer),
		cmocka_unit_test(test_unreliable_writes_fill_the_link),
		cmocka_unit_test(test_unreliable_over_a_dead_link),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_shared_receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
