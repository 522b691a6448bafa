/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "verbs/testbed.h"
#include "verbs/verbs.h"

#define BUFFER 65536

/* One side of a connection, and the program that uses it. */
struct end {
	struct lab *lab;
	struct v_device *dev;
	struct v_pd *pd;
	struct v_mr *mr;
	struct v_channel *channel;
	struct v_cq *cq;
	struct v_qp *qp;
	struct v_srq *srq;
	uint8_t *memory;
	struct end *peer;
	hd_time times[8];
	uint64_t count;
	bool is_inline; /* what ping and pong send */
	struct completion wc;
	lid_t mlid;
};

struct fixture {
	struct testbed bed;
	struct lab *lab;
	struct end end[3];
	uint32_t n;
};

static void open_end(struct fixture *f, uint32_t i, enum qp_kind kind,
		     bool shared)
{
	struct end *e = &f->end[i];

	e->lab = f->lab;
	e->dev = lab_device(f->lab, i);
	e->memory = hd_alloc(BUFFER, 1);
	e->pd = v_pd_new(e->dev);
	e->mr = v_mr_new(e->pd, e->memory, BUFFER,
			 ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE |
				 ACCESS_REMOTE_READ | ACCESS_REMOTE_ATOMIC,
			 0);
	e->channel = v_channel_new(e->dev);
	e->cq = v_cq_new(e->dev, 64, e->channel);
	e->srq = shared ? v_srq_new(e->pd, 16) : NULL;
	const struct v_qp_init init = { .kind = kind,
					.send_cq = e->cq,
					.recv_cq = e->cq,
					.srq = e->srq,
					.max_send = 32,
					.max_recv = 32,
					.max_sge = 4 };

	e->qp = v_qp_new(e->pd, &init);
	assert_non_null(e->qp);
}

static void raise_end(struct end *e, enum qp_kind kind, const struct end *to)
{
	struct qp_attr a = { .access = ACCESS_REMOTE_WRITE |
				       ACCESS_REMOTE_READ |
				       ACCESS_REMOTE_ATOMIC,
			     .pkey = 0xffff,
			     .qkey = 0x1234,
			     .slid = v_lid(e->dev),
			     .dlid = v_lid(to->dev),
			     .mtu = 1024,
			     .dest_qpn = v_qpn(to->qp),
			     .max_dest_rd = 4,
			     .max_rd = 4,
			     .min_rnr = 1,
			     .timeout = 14,
			     .retry = 7,
			     .rnr_retry = 7 };
	static const unsigned masks[3][3] = {
		{ QPA_PKEY | QPA_ACCESS,
		  QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN |
			  QPA_MAX_DEST_RD | QPA_MIN_RNR,
		  QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY | QPA_RNR_RETRY |
			  QPA_MAX_RD },
		{ QPA_PKEY | QPA_ACCESS,
		  QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN, QPA_SQ_PSN },
		{ QPA_PKEY | QPA_QKEY, QPA_PATH | QPA_MTU, QPA_SQ_PSN },
	};

	for (unsigned step = 0; step < 3; step++) {
		a.state = (enum qp_state)(QPS_INIT + step);
		assert_int_equal(
			v_modify(e->qp, &a, QPA_STATE | masks[kind][step]),
			HD_OK);
	}
}

static struct fixture *open_lab(const char *profile, enum qp_kind kind,
				uint32_t n, bool shared)
{
	struct fixture *f = hd_alloc(1, sizeof(*f));
	struct diag d = { .status = HD_OK };

	assert_int_equal(testbed_open(profile, NULL, NULL, &d, &f->bed), HD_OK);
	f->lab = lab_new(f->bed.build, &f->bed.profile);
	f->n = n;
	for (uint32_t i = 0; i < n; i++)
		open_end(f, i, kind, shared);
	for (uint32_t i = 0; i < n; i++) {
		f->end[i].peer = &f->end[i == 0 ? 1 : 0];
		raise_end(&f->end[i], kind, f->end[i].peer);
	}
	return f;
}

static void close_lab(struct fixture *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct end *e = &f->end[i];

		v_qp_free(e->qp);
		v_cq_free(e->cq);
		v_channel_free(e->channel);
		v_mr_free(e->mr);
		if (e->srq)
			v_srq_free(e->srq);
		assert_int_equal(v_pd_free(e->pd), HD_OK);
		free(e->memory);
	}
	lab_free(f->lab);
	testbed_close(&f->bed);
	free(f);
}

static struct sge piece(const struct end *e, uint64_t offset, uint32_t len)
{
	return (struct sge){ v_mr_addr(e->mr) + offset, len, v_mr_key(e->mr) };
}

static void post_recv(struct end *e, uint64_t id, uint64_t offset, uint32_t len)
{
	const struct recv_wr wr = { .id = id,
				    .n_sge = 1,
				    .sge = { piece(e, offset, len) } };

	assert_int_equal(v_post_recv(e->qp, &wr), HD_OK);
}

static struct send_wr request(const struct end *e, enum wr_kind kind,
			      uint64_t offset, uint32_t len, uint64_t remote)
{
	return (struct send_wr){
		.id = 7,
		.kind = kind,
		.flags = WR_SIGNALED,
		.n_sge = len ? 1 : 0,
		.sge = { piece(e, offset, len) },
		.remote_addr = v_mr_addr(e->peer->mr) + remote,
		.rkey = v_mr_key(e->peer->mr),
	};
}

/* ---- programs --------------------------------------------------------- */

/* The first 64 bytes, by the adapter or by the processor. */
static struct send_wr message(const struct end *e)
{
	struct send_wr wr = request(e, WR_SEND, 0, 64, 0);

	if (e->is_inline) {
		wr.flags |= WR_INLINE;
		wr.sge[0].addr = (uint64_t)(uintptr_t)e->memory;
	}
	return wr;
}

static void ping(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 4; i++) {
		const struct send_wr wr = message(e);

		post_recv(e, i, 4096, 64);
		e->times[i] = lab_now(e->lab);
		assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
		for (unsigned k = 0; k < 2; k++) {
			v_poll_wait(e->cq, &e->wc);
			assert_int_equal(e->wc.status, WC_SUCCESS);
		}
	}
	e->times[4] = lab_now(e->lab);
}

static void pong(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 4; i++) {
		struct send_wr wr = message(e);

		wr.flags &= ~(unsigned)WR_SIGNALED;
		post_recv(e, i, 0, 64);
		v_poll_wait(e->cq, &e->wc);
		assert_int_equal(e->wc.kind, WC_RECV);
		e->memory[0]++;
		assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	}
}

/*
 * With an ideal adapter only the wire takes time. A SEND of 64 bytes has 8 + 12
 * + 64 + 4 + 2 = 90 bytes; at 4x HDR (200 Gb/s) 3600 ps. It is cut through:
 * two cables of 10 ns and the switch's 100 ns, 123.6 ns in all, and back.
 */
static void an_ideal_ping_pong_takes_the_wires_time(void **state)
{
	struct fixture *f = open_lab("ideal", QP_RC, 2, false);

	(void)state;
	f->end[0].memory[0] = 40;
	lab_spawn(f->lab, 0, ping, &f->end[0]);
	lab_spawn(f->lab, 1, pong, &f->end[1]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	/* The receiver polls after the send's ACK as well: the same time, since
	 * the answer waits for no ACK and follows it on the link. */
	hd_time trip = f->end[0].times[1] - f->end[0].times[0];

	/* One way each; the pong follows its own ACK of 30 bytes (1200 ps) on
	 * the link. */
	assert_int_equal(trip, 2 * 123600 + 1200);
	assert_int_equal(f->end[0].memory[4096], 41);
	close_lab(f);
}

/*
 * The adapter reads a request before it knows where the data are, and waits
 * for each: twice, or once if the data came with the request.
 */
static void a_read_from_the_host_waits_for_the_bus(void **state)
{
	const hd_time bus = HD_US;

	(void)state;
	for (unsigned is_inline = 0; is_inline < 2; is_inline++) {
		struct fixture *f = open_lab("ideal", QP_RC, 2, false);

		f->bed.profile.bus_latency = bus;
		f->end[0].is_inline = f->end[1].is_inline = is_inline;
		lab_spawn(f->lab, 0, ping, &f->end[0]);
		lab_spawn(f->lab, 1, pong, &f->end[1]);
		assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
		/* As above, but no ACK is in the pong's way any more. */
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(
				f->end[0].times[i + 1] - f->end[0].times[i],
				2 * (123600 + (is_inline ? 1 : 2) * bus));
		close_lab(f);
	}
}

/*
 * The clock of a program moves by what its calls cost: 0.9 us of posting; the
 * completion is found by a poll that starts a whole number of 0.3 us after.
 */
static void polls_of_an_empty_queue_are_one_wait(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, ping, &f->end[0]);
	lab_spawn(f->lab, 1, pong, &f->end[1]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	for (unsigned i = 1; i < 4; i++) {
		/* post_recv .6, post_send .9, then polls. */
		hd_time spent = f->end[0].times[i] - f->end[0].times[i - 1] -
				1500 * HD_NS - 2 * 1000 * HD_NS;

		assert_int_equal(spent % (300 * HD_NS), 0);
	}
	/* A round trip is some microseconds, not milliseconds. */
	hd_time trip = (f->end[0].times[4] - f->end[0].times[0]) / 4;

	assert_in_range(trip, 8 * HD_US, 30 * HD_US);
	close_lab(f);
}

static void everything(void *argument)
{
	struct end *e = argument;
	const struct send_wr write = request(e, WR_WRITE, 0, 5000, 8192);
	const struct send_wr read = request(e, WR_READ, 16384, 5000, 8192);
	struct send_wr add = request(e, WR_FETCH_ADD, 32768, 8, 40000);
	struct send_wr small = request(e, WR_SEND_IMM, 24576, 100, 0);

	for (unsigned i = 0; i < 5000; i++)
		e->memory[i] = e->memory[24576 + i] = (uint8_t)(i * 7);
	add.swap_add = 5;
	small.flags |= WR_INLINE;
	small.sge[0].addr = (uint64_t)(uintptr_t)(e->memory + 24576);
	small.imm = 99;
	assert_int_equal(v_post_send(e->qp, &write), HD_OK);
	assert_int_equal(v_post_send(e->qp, &read), HD_OK);
	assert_int_equal(v_post_send(e->qp, &add), HD_OK);
	assert_int_equal(v_post_send(e->qp, &small), HD_OK);
	memset(e->memory + 24576, 1, 100); /* inline data were taken already */
	for (unsigned i = 0; i < 4; i++) {
		v_poll_wait(e->cq, &e->wc);
		assert_int_equal(e->wc.status, WC_SUCCESS);
	}
}

static void take_one(void *argument)
{
	struct end *e = argument;
	const struct recv_wr wr = { .id = 3,
				    .n_sge = 2,
				    .sge = { piece(e, 0, 50),
					     piece(e, 100, 50) } };

	if (e->srq)
		assert_int_equal(v_post_srq(e->srq, &wr), HD_OK);
	else
		assert_int_equal(v_post_recv(e->qp, &wr), HD_OK);
	v_poll_wait(e->cq, &e->wc);
}

static void every_operation_moves_its_bytes(void **state)
{
	for (unsigned shared = 0; shared < 2; shared++) {
		struct fixture *f = open_lab("mt23108", QP_RC, 2, shared);
		uint8_t *there = f->end[1].memory, *here = f->end[0].memory;
		uint64_t value = 37;

		(void)state;
		memcpy(there + 40000, &value, 8);
		lab_spawn(f->lab, 0, everything, &f->end[0]);
		lab_spawn(f->lab, 1, take_one, &f->end[1]);
		assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
		for (unsigned i = 0; i < 5000; i++) {
			assert_int_equal(there[8192 + i], (uint8_t)(i * 7));
			assert_int_equal(here[16384 + i], (uint8_t)(i * 7));
		}
		memcpy(&value, there + 40000, 8);
		assert_int_equal(value, 42);
		memcpy(&value, here + 32768, 8);
		assert_int_equal(value, 37);
		assert_int_equal(f->end[1].wc.imm, 99);
		assert_int_equal(f->end[1].wc.byte_len, 100);
		assert_int_equal(there[49], (uint8_t)(49 * 7));
		assert_int_equal(there[100], (uint8_t)(50 * 7));
		close_lab(f);
	}
}

static void write_out_of_bounds(void *argument)
{
	struct end *e = argument;
	const struct send_wr wr = request(e, WR_WRITE, 0, 64, BUFFER - 32);
	const struct send_wr behind = request(e, WR_WRITE, 0, 64, 0);

	assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	assert_int_equal(v_post_send(e->qp, &behind), HD_OK);
	v_poll_wait(e->cq, &e->wc);
	assert_int_equal(e->wc.status, WC_REM_ACCESS_ERR);
	v_poll_wait(e->cq, &e->wc);
	assert_int_equal(e->wc.status, WC_WR_FLUSH_ERR);
}

static void a_bad_address_is_refused_and_nothing_written(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);
	struct v_async_event event;

	(void)state;
	memset(f->end[0].memory, 0xee, 64);
	lab_spawn(f->lab, 0, write_out_of_bounds, &f->end[0]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	for (unsigned i = 0; i < BUFFER; i++)
		assert_int_equal(f->end[1].memory[i], 0);
	do {
		assert_true(v_async_try(f->end[1].dev, &event));
	} while (event.event != QP_EVENT_ACCESS_ERR);
	close_lab(f);
}

/* ---- datagrams -------------------------------------------------------- */

static void send_to_group(void *argument)
{
	struct end *e = argument;
	struct send_wr wr = request(e, WR_SEND, 0, 300, 0);

	wr.to = v_ah_multicast(e->pd, e->mlid, 0);
	wr.to.qkey = 0x1234;
	lab_work(e->lab, 100 * HD_US); /* until all have posted */
	assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	v_poll_wait(e->cq, &e->wc);
	assert_int_equal(e->wc.kind, WC_SEND);
}

static void take_datagram(void *argument)
{
	struct end *e = argument;

	post_recv(e, 1, 0, 400);
	v_poll_wait(e->cq, &e->wc);
}

static void a_multicast_reaches_every_member(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_UD, 3, false);
	const uint32_t hosts[] = { 0, 1, 2 };
	struct diag d = { .status = HD_OK };
	lid_t mlid;

	(void)state;
	assert_int_equal(lab_multicast(f->lab, hosts, 3, &d, &mlid), HD_OK);
	for (unsigned i = 1; i < 3; i++)
		assert_int_equal(v_attach(f->end[i].qp, mlid), HD_OK);
	f->end[0].mlid = mlid;
	memset(f->end[0].memory, 0x5a, 300);
	lab_spawn(f->lab, 0, send_to_group, &f->end[0]);
	lab_spawn(f->lab, 1, take_datagram, &f->end[1]);
	lab_spawn(f->lab, 2, take_datagram, &f->end[2]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(f->end[i].wc.byte_len, 340);
		assert_true(f->end[i].wc.flags & WC_GRH);
		assert_int_equal(f->end[i].wc.src_qp, v_qpn(f->end[0].qp));
		assert_int_equal(f->end[i].memory[40], 0x5a);
		assert_int_equal(f->end[i].memory[339], 0x5a);
	}
	close_lab(f);
}

/* ---- events ------------------------------------------------------ */

static void send_three(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 3; i++) {
		const struct send_wr wr = request(e, WR_SEND, 0, 8, 0);

		lab_work(e->lab, HD_MS);
		assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	}
}

/* Arms, sleeps, polls all: as UCX does. */
static void take_by_events(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 3; i++)
		post_recv(e, i, 0, 64);
	while (e->count < 3) {
		v_arm(e->cq, false);
		while (v_poll(e->cq, &e->wc, 1))
			e->count++;
		if (e->count == 3)
			break;
		assert_ptr_equal(v_event_wait(e->channel), e->cq);
		e->times[0]++;
		while (v_poll(e->cq, &e->wc, 1))
			e->count++;
	}
}

static void events_wake_once_for_each_completion(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, send_three, &f->end[0]);
	lab_spawn(f->lab, 1, take_by_events, &f->end[1]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	assert_int_equal(f->end[1].times[0], 3);
	close_lab(f);
}

/*
 * The rule of arming: what came since the last event and was not polled makes
 * one at once; what was there when the last event was made does not.
 */
static void arm_after_arrival(void *argument)
{
	struct end *e = argument;

	for (unsigned i = 0; i < 3; i++)
		post_recv(e, i, 0, 64);
	lab_work(e->lab, 1500 * HD_US); /* the first has come */
	lab_settle(e->lab);
	v_arm(e->cq, false);
	assert_non_null(v_event_wait(e->channel));
	/* Armed again before polling: nothing new, no event yet. */
	v_arm(e->cq, false);
	assert_null(v_event_try(e->channel));
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 1);
	assert_non_null(v_event_wait(e->channel)); /* by the second */
	lab_work(e->lab, 2 * HD_MS);               /* the third comes */
	assert_null(v_event_try(e->channel));
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 1);
	v_arm(e->cq, false); /* the third is there, unpolled, untold */
	assert_non_null(v_event_wait(e->channel));
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 1);
	assert_int_equal(v_poll(e->cq, &e->wc, 1), 0);
}

static void arming_counts_what_came_since_the_last_event(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, send_three, &f->end[0]);
	lab_spawn(f->lab, 1, arm_after_arrival, &f->end[1]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	close_lab(f);
}

/* ---- limits ------------------------------------------------------ */

static void overfill(void *argument)
{
	struct end *e = argument;
	const struct send_wr wr = request(e, WR_WRITE, 0, 8, 0);
	struct send_wr many = wr;

	many.n_sge = 5; /* the queue pair was made for 4 */
	assert_int_equal(v_post_send(e->qp, &many), HD_ERR_RANGE);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	assert_int_equal(v_post_send(e->qp, &wr), HD_ERR_FULL);
	assert_int_equal(v_errno(HD_ERR_FULL), 12);
	for (unsigned i = 0; i < 32; i++) {
		v_poll_wait(e->cq, &e->wc);
		assert_int_equal(e->wc.status, WC_SUCCESS);
	}
	assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	v_poll_wait(e->cq, &e->wc);
}

static void a_full_queue_refuses_and_recovers(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, overfill, &f->end[0]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	close_lab(f);
}

static void wait_for_nothing(void *argument)
{
	struct end *e = argument;

	v_poll_wait(e->cq, &e->wc);
}

static void a_program_that_waits_for_ever_is_reported(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, wait_for_nothing, &f->end[0]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_STUCK);
	close_lab(f);
}

/* ---- cancelling ---------------------------------------------------------- */

struct waiting {
	struct end *end;
	struct v_semaphore *semaphore;
	unsigned kind;
	unsigned refused; /* waits that were ended, or not even begun */
};

static bool wait_for(struct waiting *w)
{
	struct end *e = w->end;

	switch (w->kind) {
	case 0:
		return v_poll_wait(e->cq, &e->wc);
	case 1:
		return v_event_wait(e->channel) != NULL;
	case 2:
		return v_semaphore_wait(w->semaphore);
	case 3:
		return lab_barrier(e->lab, 100);
	default: {
		struct v_watch *watch = v_watch_new(e->dev, e->memory);
		bool written = v_watch_wait(watch, 1);

		v_watch_free(watch);
		return written;
	}
	}
}

static void wait_twice(void *argument)
{
	struct waiting *w = argument;

	w->refused += !wait_for(w);
	w->refused += !wait_for(w);
}

static void a_cancelled_run_lets_its_programs_return(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);
	struct v_semaphore *semaphore = v_semaphore_new(f->lab);
	struct waiting w[5];

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		w[i] = (struct waiting){ &f->end[i & 1], semaphore, i, 0 };
		lab_spawn(f->lab, i & 1, wait_twice, &w[i]);
	}
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_STUCK);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(w[i].refused, 0);
	lab_cancel(f->lab);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(w[i].refused, 2);
	v_semaphore_free(semaphore);
	close_lab(f);
}

static void spin_on_memory(void *argument)
{
	struct end *e = argument;
	struct v_watch *w = v_watch_new(e->dev, e->memory + 8192 + 63);

	v_watch_wait(w, 1);
	e->times[0] = lab_now(e->lab);
	assert_int_equal(e->memory[8192 + 63], 9);
	v_watch_free(w);
}

static void write_once(void *argument)
{
	struct end *e = argument;
	const struct send_wr wr = request(e, WR_WRITE, 0, 64, 8192);

	e->memory[63] = 9;
	assert_int_equal(v_post_send(e->qp, &wr), HD_OK);
	v_poll_wait(e->cq, &e->wc);
	e->times[0] = lab_now(e->lab);
}

static void a_program_may_spin_on_memory(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, write_once, &f->end[0]);
	lab_spawn(f->lab, 1, spin_on_memory, &f->end[1]);
	assert_int_equal(lab_run(f->lab, NULL, NULL), LAB_DONE);
	/* Seen before the sender knows of it. */
	assert_true(f->end[1].times[0] > 0 &&
		    f->end[1].times[0] < f->end[0].times[0]);
	close_lab(f);
}

/* ---- paths ------------------------------------------------------------- */

static void a_paths_mtu_is_the_least_along_it(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 3, false);
	struct topo *t = &f->bed.build->topo;
	const struct sim_setup *s = &f->bed.build->setup;
	lid_t lid = v_lid(f->end[1].dev);

	(void)state;
	assert_int_equal(v_path_mtu(f->end[0].dev, lid), 4096);
	assert_int_equal(v_path_mtu(f->end[0].dev, 0x7000), 0);
	/* The switch's port to host 1, seen from both others. */
	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct sim_port *p = &s->ports[i];

		if (p->peer != SIM_NONE &&
		    s->nodes[s->ports[p->peer].node].kind == SIM_END &&
		    f->bed.build->subnet
				    .lid_of_port[s->ports[p->peer].origin] ==
			    lid)
			t->ports[p->origin].mtu = 512;
	}
	assert_int_equal(v_path_mtu(f->end[0].dev, lid), 512);
	assert_int_equal(v_path_mtu(f->end[2].dev, lid), 512);
	assert_int_equal(v_path_mtu(f->end[1].dev, v_lid(f->end[0].dev)), 512);
	assert_int_equal(v_path_mtu(f->end[2].dev, v_lid(f->end[0].dev)), 4096);
	close_lab(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ideal_ping_pong_takes_the_wires_time),
		cmocka_unit_test(a_read_from_the_host_waits_for_the_bus),
		cmocka_unit_test(polls_of_an_empty_queue_are_one_wait),
		cmocka_unit_test(every_operation_moves_its_bytes),
		cmocka_unit_test(a_bad_address_is_refused_and_nothing_written),
		cmocka_unit_test(a_multicast_reaches_every_member),
		cmocka_unit_test(events_wake_once_for_each_completion),
		cmocka_unit_test(arming_counts_what_came_since_the_last_event),
		cmocka_unit_test(a_full_queue_refuses_and_recovers),
		cmocka_unit_test(a_program_that_waits_for_ever_is_reported),
		cmocka_unit_test(a_cancelled_run_lets_its_programs_return),
		cmocka_unit_test(a_program_may_spin_on_memory),
		cmocka_unit_test(a_paths_mtu_is_the_least_along_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
