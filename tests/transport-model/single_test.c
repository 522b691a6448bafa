/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One fault at a time, for every packet in turn: small programs of requests whose outcome the model
 * determines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "world.h"

#define MTU 256

/* Runs the plan and compares with the model; returns the number of packets. */
static uint32_t run(const struct plan *p)
{
	struct world *w = world_new(p);
	uint32_t packets;

	if (!world_run(w)) {
		plan_print(p, stderr);
		fprintf(stderr, "harm %d to packet %u, %u of them: %s\n", (int)p->script,
			p->script_at, p->script_n, w->why);
		fail_msg("%s", w->why);
	}
	packets = w->n_packets;
	assert_true(p->script_n == 0 || w->n_harms > 0);
	world_free(w);
	return packets;
}

/* Every fault for every packet, then for every two consecutive packets. */
static void harm_each(struct plan *p)
{
	uint32_t packets = run(p);

	for (unsigned h = 0; h < HARM_COUNT; h++) {
		p->script = (enum harm)h;
		for (p->script_n = 1; p->script_n <= 2; p->script_n++) {
			for (p->script_at = 0; p->script_at < packets; p->script_at++)
				run(p);
		}
	}
}

static void send_of_three_packets(void **state)
{
	struct plan p;

	(void)state;
	plan_plain(&p, MTU);
	plan_add(&p, WR_SEND, 3 * MTU);
	harm_each(&p);
}

static void write_of_three_packets(void **state)
{
	struct plan p;

	(void)state;
	plan_plain(&p, MTU);
	plan_add(&p, WR_WRITE, 3 * MTU);
	plan_add(&p, WR_WRITE_IMM, 3 * MTU);
	harm_each(&p);
}

static void read_of_three_packets(void **state)
{
	struct plan p;

	(void)state;
	plan_plain(&p, MTU);
	plan_add(&p, WR_READ, 3 * MTU);
	harm_each(&p);
}

static void atomics_add_once(void **state)
{
	struct plan p;

	(void)state;
	plan_plain(&p, MTU);
	plan_add(&p, WR_FETCH_ADD, 8)->target = 0;
	plan_add(&p, WR_FETCH_ADD, 8)->target = 0;
	plan_add(&p, WR_CMP_SWAP, 8)->target = 0;
	p.conn[0].wr[0][2].compare = 6;
	harm_each(&p);
}

/* An ACK may follow the response of a later read. */
static void all_kinds_in_a_row(void **state)
{
	struct plan p;

	(void)state;
	plan_plain(&p, MTU);
	plan_add(&p, WR_SEND, MTU);
	plan_add(&p, WR_READ, 3 * MTU);
	plan_add(&p, WR_WRITE, 10);
	plan_add(&p, WR_FETCH_ADD, 8);
	plan_add(&p, WR_SEND_IMM, MTU + 1);
	plan_add(&p, WR_READ, 2 * MTU);
	plan_add(&p, WR_WRITE_IMM, 2 * MTU + 1);
	plan_add(&p, WR_SEND_INV, 3);
	harm_each(&p);
}

static void nothing_of_everything(void **state)
{
	static const enum wr_kind kinds[] = { WR_SEND,      WR_SEND_IMM, WR_WRITE,
					      WR_WRITE_IMM, WR_READ,     WR_SEND_INV };
	struct plan p;

	(void)state;
	plan_plain(&p, MTU);
	for (unsigned i = 0; i < 6; i++)
		plan_add(&p, kinds[i], 0);
	harm_each(&p);
}

static void lengths_around_every_mtu(void **state)
{
	static const enum wr_kind kinds[] = { WR_SEND, WR_WRITE, WR_READ };

	(void)state;
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
		struct plan p;

		plan_plain(&p, mtu);
		for (unsigned i = 0; i < 3; i++) {
			plan_add(&p, kinds[i], mtu - 1);
			plan_add(&p, kinds[i], mtu);
			plan_add(&p, kinds[i], mtu + 1);
			plan_add(&p, kinds[i], 2 * mtu);
		}
		harm_each(&p);
	}
}

/* Late receive requests: at a first, an only, a last with immediate. */
static void not_ready_anywhere(void **state)
{
	static const enum wr_kind kinds[] = { WR_SEND, WR_SEND, WR_WRITE_IMM, WR_WRITE_IMM };
	static const uint32_t lengths[] = { 3 * MTU, 5, 3 * MTU, 5 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct plan p;

		plan_plain(&p, MTU);
		p.conn[0].late_recv = true;
		p.conn[0].max_recv = 1;
		plan_add(&p, kinds[i], lengths[i]);
		plan_add(&p, kinds[i], lengths[i]);
		plan_add(&p, WR_SEND, 2 * MTU);
		harm_each(&p);
	}
}

static void one_read_at_a_time(void **state)
{
	struct plan p;

	(void)state;
	plan_plain(&p, MTU);
	p.conn[0].max_rd = p.conn[0].max_dest_rd = 1;
	plan_add(&p, WR_READ, 2 * MTU);
	plan_add(&p, WR_FETCH_ADD, 8);
	plan_add(&p, WR_SEND, 1);
	plan_add(&p, WR_READ, 1);
	harm_each(&p);
}

static void peer_errs_during_a_read(void **state)
{
	(void)state;
	for (hd_time at = 0; at < 3 * HD_US; at += 20 * HD_NS) {
		struct plan p;

		plan_plain(&p, MTU);
		p.conn[0].act = ACT_ERR;
		p.conn[0].act_side = 1;
		p.conn[0].act_at = at;
		plan_add(&p, WR_READ, 9 * MTU);
		plan_add(&p, WR_SEND, 1)->flags = 0;
		plan_add(&p, WR_SEND, 1);
		run(&p);
	}
}

/* The failing request, then all that follow, including unsignalled ones. */
static void flushes_come_in_order(void **state)
{
	(void)state;
	for (unsigned bad = 0; bad < 6; bad++) {
		struct plan p;

		plan_plain(&p, MTU);
		for (unsigned i = 0; i < 6; i++) {
			struct plan_wr *w = plan_add(&p, WR_WRITE, 300);

			w->flags = i % 2 ? WR_SIGNALED : 0;
			w->fault = i == bad ? FAULT_RKEY : FAULT_NONE;
		}
		run(&p);
	}
}

/* Drained at once, while a message is under way, and with more waiting. */
static void draining_ends_at_any_time(void **state)
{
	(void)state;
	for (hd_time at = 0; at < 4 * HD_US; at += 20 * HD_NS) {
		struct plan p;

		plan_plain(&p, MTU);
		p.conn[0].act = ACT_SQD;
		p.conn[0].act_at = at;
		plan_add(&p, WR_SEND, 5 * MTU);
		plan_add(&p, WR_READ, 5 * MTU);
		plan_add(&p, WR_WRITE, 5 * MTU)->gap = 500 * HD_NS;
		run(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_of_three_packets),
		cmocka_unit_test(write_of_three_packets),
		cmocka_unit_test(read_of_three_packets),
		cmocka_unit_test(atomics_add_once),
		cmocka_unit_test(all_kinds_in_a_row),
		cmocka_unit_test(nothing_of_everything),
		cmocka_unit_test(lengths_around_every_mtu),
		cmocka_unit_test(not_ready_anywhere),
		cmocka_unit_test(one_read_at_a_time),
		cmocka_unit_test(peer_errs_during_a_read),
		cmocka_unit_test(flushes_come_in_order),
		cmocka_unit_test(draining_ends_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
