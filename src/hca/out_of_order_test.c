/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that overtake each other, and queue pairs that store early packets. */
#include "hca/rows_for_tests.h"

/*
 * Two leaves under two spines, whose leaves take them in turn. The cables of
 * the second spine are longer, by so much for the way over it that its packets
 * come 2k packets later and, the host sending one after the other, never when
 * one of the first spine does.
 */
static void run_two_ways(unsigned k, unsigned packets, unsigned window, struct outcome *out)
{
	const hd_time longer = 5000 + k * on_link(MTU);
	char fabric[400], row[200];

	snprintf(fabric, sizeof(fabric),
		 "fabric:\n"
		 "  topology: {kind: xgft, down: '2,2', up: '1,2', link: 4x HDR}\n"
		 "  links: [{ports: s2-1, propagation: %llups}]\n"
		 "  routing: {engine: ftree, adaptive: turns}\n"
		 "  host: {out_of_order: %u}\n",
		 (unsigned long long)longer, window);
	snprintf(
		row, sizeof(row),
		"kind: messages, transport: rc, source: h0, destination: h2, start: 1us, payload: %u",
		packets * MTU);
	run_on(fabric, row, "run: {warmup: 0s, measure: 1ms}", out);
}

/*
 * Packets that arrive behind a younger one, of n that are sent in one slot of
 * time after the other, of which every second one takes 2k slots longer.
 */
static unsigned n_overtaken(unsigned k, unsigned n)
{
	unsigned last = 0, count = 0;

	for (unsigned slot = 0; slot < n + 2 * k; slot++) {
		unsigned late = slot % 2 ? 2 * k : 0;

		if (slot < late || slot - late >= n)
			continue;
		count += slot - late < last;
		last = slot - late;
	}
	return count;
}

/* Four cables of 5 ns and three switches of 100. */
#define WAY_UP UINT64_C(320000)

/* No packet is repeated, and the last packet of the longer path completes the message. */
static void kept_packets_arrive_in_order(void **state)
{
	(void)state;
	for (unsigned k = 1; k <= 2; k++) {
		for (unsigned n = 2; n <= 15; n++) {
			unsigned last = (n - 2) / 2 * 2 + 1;
			hd_time there = (last + 2 * k + 1) * on_link(MTU) + WAY_UP;
			hd_time all = there + 30 * BYTE + WAY_UP;
			struct outcome o;

			run_two_ways(k, n, 2 * k - 1, &o);
			assert_int_equal(o.arrived_after, there);
			assert_true(fabs(o.max * 1e6 - (double)all) < 1);
			assert_true(o.completed == 1 && o.retries == 0);
			assert_int_equal(o.early, (n - 1) / 2);
			assert_int_equal(o.out_of_order, n_overtaken(k, n));
		}
	}
}

/* With a window one packet smaller, the sender repeats. */
static void packets_beyond_the_window_are_repeated(void **state)
{
	(void)state;
	for (unsigned k = 1; k <= 2; k++) {
		for (unsigned n = 2 * k + 1; n <= 15; n++) {
			struct outcome o, kept;

			run_two_ways(k, n, 2 * k - 1, &kept);
			run_two_ways(k, n, 2 * k - 2, &o);
			assert_true(o.completed == 1 && o.failed == 0);
			assert_true(o.retries > 0 && o.max > kept.max);
		}
	}
}

/*
 * Three packets, of which the second is overtaken. The NAK takes the short path, the two packets
 * are repeated on one path each, and the ACK takes the other.
 */
static void a_gap_is_a_nak_and_a_repetition(void **state)
{
	const hd_time packet = on_link(MTU), answer = 30 * BYTE + WAY_UP;
	const hd_time nak = 3 * packet + WAY_UP + answer;
	const hd_time there = nak + 2 * packet + WAY_UP;
	const hd_time all = there + answer + 2 * packet;
	struct outcome o;

	(void)state;
	run_two_ways(1, 3, 0, &o);
	assert_int_equal(o.arrived_after, there);
	assert_true(fabs(o.max * 1e6 - (double)all) < 1);
	assert_true(o.completed == 1 && o.retries == 1 && o.early == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_packets_arrive_in_order),
		cmocka_unit_test(packets_beyond_the_window_are_repeated),
		cmocka_unit_test(a_gap_is_a_nak_and_a_repetition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
