/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/ends_for_tests.h"

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
	assert_int_equal(run_lab(f), LAB_DONE);
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
		assert_int_equal(run_lab(f), LAB_DONE);
		/* As above, without an ACK before the pong. */
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(f->end[0].times[i + 1] - f->end[0].times[i],
					 2 * (123600 + (is_inline ? 1 : 2) * bus));
		close_lab(f);
	}
}

/*
 * The clock of a program advances by the cost of its calls: 0.9 us of posting. The completion is
 * found by a poll that starts a whole number of 0.3 us later.
 */
static void polls_of_an_empty_queue_are_one_wait(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 2, false);

	(void)state;
	lab_spawn(f->lab, 0, ping, &f->end[0]);
	lab_spawn(f->lab, 1, pong, &f->end[1]);
	assert_int_equal(run_lab(f), LAB_DONE);
	for (unsigned i = 1; i < 4; i++) {
		/* post_recv .6, post_send .9, then polls. */
		hd_time spent = f->end[0].times[i] - f->end[0].times[i - 1] - 1500 * HD_NS -
				2 * 1000 * HD_NS;

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
				    .sge = { piece(e, 0, 50), piece(e, 100, 50) } };

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
		assert_int_equal(run_lab(f), LAB_DONE);
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

	(void)state;
	memset(f->end[0].memory, 0xee, 64);
	lab_spawn(f->lab, 0, write_out_of_bounds, &f->end[0]);
	assert_int_equal(run_lab(f), LAB_DONE);
	for (unsigned i = 0; i < BUFFER; i++)
		assert_int_equal(f->end[1].memory[i], 0);
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
		assert_int_equal(v_attach(f->end[i].qp, mlid, NULL), HD_OK);
	f->end[0].mlid = mlid;
	memset(f->end[0].memory, 0x5a, 300);
	lab_spawn(f->lab, 0, send_to_group, &f->end[0]);
	lab_spawn(f->lab, 1, take_datagram, &f->end[1]);
	lab_spawn(f->lab, 2, take_datagram, &f->end[2]);
	assert_int_equal(run_lab(f), LAB_DONE);
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(f->end[i].wc.byte_len, 340);
		assert_true(f->end[i].wc.flags & WC_GRH);
		assert_int_equal(f->end[i].wc.src_qp, v_qpn(f->end[0].qp));
		assert_int_equal(f->end[i].memory[40], 0x5a);
		assert_int_equal(f->end[i].memory[339], 0x5a);
	}
	close_lab(f);
}

/* ---- paths ------------------------------------------------------------- */

static void a_paths_mtu_is_the_least_along_it(void **state)
{
	struct fixture *f = open_lab("mt23108", QP_RC, 3, false);
	struct topo *t = &f->bed.fabric->topo;
	const struct sim_setup *s = &f->bed.fabric->setup;
	lid_t lid = v_lid(f->end[1].dev);

	(void)state;
	assert_int_equal(v_path_mtu(f->end[0].dev, lid), 4096);
	assert_int_equal(v_path_mtu(f->end[0].dev, 0x7000), 0);
	/* The switch's port to host 1, seen from both others. */
	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct sim_port *p = &s->ports[i];

		if (p->peer != SIM_NONE && s->nodes[s->ports[p->peer].node].kind == SIM_END &&
		    f->bed.fabric->subnet.lid_of_port[s->ports[p->peer].origin] == lid)
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
		cmocka_unit_test(a_paths_mtu_is_the_least_along_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
