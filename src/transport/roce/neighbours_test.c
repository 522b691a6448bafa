/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/roce/neighbours.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "wire/capture.h"

#define FIXTURE HD_SOURCE_DIR "/tests/fixtures/rxe.pcap"

enum { ROOM = 2048, TYPE = 12, ARP = 0x0806, WORD = 60 };

static const uint8_t ours[4] = { 10, 0, 0, 1 }, theirs[4] = { 10, 0, 0, 2 };

/* The first two ARP frames of two Linux kernels: request and reply. */
static void read_kernels(uint8_t frames[2][ROOM], size_t sizes[2])
{
	struct diag d = { .status = HD_OK };
	FILE *f = fopen(FIXTURE, "rb");
	struct capture *c = NULL;
	struct capture_record rec;
	bool found = true;
	unsigned n = 0;

	assert_non_null(f);
	assert_int_equal(capture_open(f, &d, &c), HD_OK);
	while (n < 2 && found) {
		assert_int_equal(capture_next(c, &d, &rec, &found), HD_OK);
		if (!found || rec.bytes[TYPE] != ARP >> 8 || rec.bytes[TYPE + 1] != (ARP & 0xFF))
			continue;
		assert_in_range(rec.size, 42, ROOM);
		memcpy(frames[n], rec.bytes, rec.size);
		sizes[n++] = rec.size;
	}
	assert_int_equal(n, 2);
	capture_close(c);
}

static void answers_are_those_of_a_kernel(void **state)
{
	uint8_t frames[2][ROOM], out[ROOM];
	struct roce_address own;
	size_t sizes[2], size;

	(void)state;
	read_kernels(frames, sizes);
	own = roce_address_of(ours);
	memcpy(own.mac, frames[1] + MAC_SIZE, MAC_SIZE);
	struct neighbours *n = neighbours_new(&own);

	neighbours_receive(n, frames[0], sizes[0]);
	assert_true(neighbours_next(n, out, sizeof(out), &size));
	assert_int_equal(size, sizes[1]);
	assert_memory_equal(out, frames[1], size);
	assert_false(neighbours_next(n, out, sizeof(out), &size));
	neighbours_free(n);
}

static void questions_are_those_of_a_kernel(void **state)
{
	uint8_t frames[2][ROOM], out[ROOM], data[WORD] = { 0 };
	struct roce_address own, other;
	size_t sizes[2], size;

	(void)state;
	read_kernels(frames, sizes);
	own = roce_address_of(theirs);
	other = roce_address_of(ours);
	memcpy(own.mac, frames[0] + MAC_SIZE, MAC_SIZE);
	struct neighbours *n = neighbours_new(&own);

	data[WORD - 1] = 77;
	neighbours_send(n, other.gid[ROCE_GID_IPV4], data, sizeof(data), 0);
	assert_true(neighbours_next(n, out, sizeof(out), &size));
	assert_int_equal(size, sizes[0]);
	assert_memory_equal(out, frames[0], size);
	assert_false(neighbours_next(n, out, sizeof(out), &size));
	/* The reply releases the waiting frames. */
	neighbours_receive(n, frames[1], sizes[1]);
	assert_true(neighbours_next(n, out, sizeof(out), &size));
	assert_int_equal(size, sizeof(data));
	assert_memory_equal(out, frames[1] + MAC_SIZE, MAC_SIZE);
	assert_int_equal(out[WORD - 1], 77);
	assert_int_equal(neighbours_due(n), HD_TIME_NEVER);
	neighbours_free(n);
}

/* All but the flow label and traffic class is seen by what is checked. */
static void damage(struct neighbours *n, uint8_t *frame, size_t size)
{
	for (size_t at = 18; at < size; at++) {
		frame[at] ^= 0x10;
		neighbours_receive(n, frame, size);
		frame[at] ^= 0x10;
		neighbours_receive(n, frame, at);
	}
}

static void two_find_each_other(enum roce_gid kind)
{
	struct roce_address a, b;
	uint8_t out[ROOM], data[WORD] = { [WORD - 1] = 5 };
	size_t size;

	a = roce_address_of(ours);
	b = roce_address_of(theirs);
	struct neighbours *one = neighbours_new(&a), *two = neighbours_new(&b);

	neighbours_send(one, b.gid[kind], data, sizeof(data), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(neighbours_next(i ? two : one, out, ROOM, &size));
		if (kind == ROCE_GID_LINK)
			damage(i ? one : two, out, size);
		assert_false(neighbours_next(i ? one : two, out + 1000, ROOM - 1000, &size));
		neighbours_receive(i ? one : two, out, kind == ROCE_GID_LINK ? 86 : 42);
	}
	assert_true(neighbours_next(one, out, ROOM, &size));
	assert_int_equal(size, sizeof(data));
	assert_memory_equal(out, b.mac, MAC_SIZE);
	/* The target of the request knows the sender's address. */
	neighbours_send(two, a.gid[kind], data, sizeof(data), 0);
	assert_true(neighbours_next(two, out, ROOM, &size));
	assert_memory_equal(out, a.mac, MAC_SIZE);
	neighbours_free(one);
	neighbours_free(two);
}

static void both_kinds_find_each_other(void **state)
{
	(void)state;
	two_find_each_other(ROCE_GID_IPV4);
	two_find_each_other(ROCE_GID_LINK);
}

static void missing_neighbours_are_requested_for_a_second(void **state)
{
	struct roce_address own, other;
	uint8_t out[ROOM], data[WORD] = { 0 };
	unsigned asked = 0;
	hd_time now = 0, last = 0;
	size_t size;

	(void)state;
	own = roce_address_of(ours);
	other = roce_address_of(theirs);
	struct neighbours *n = neighbours_new(&own);

	for (int i = 0; i < 1000; i++)
		neighbours_send(n, other.gid[ROCE_GID_IPV4], data, WORD, 0);
	while ((now = neighbours_due(n)) != HD_TIME_NEVER) {
		while (neighbours_next(n, out, ROOM, &size)) {
			assert_int_equal(size, 42);
			asked++;
		}
		last = now;
		neighbours_timer(n, now);
	}
	assert_int_equal(last, HD_S);
	assert_in_range(asked, 3, 100);
	/* Waiting frames are dropped; the next one sends a new request. */
	neighbours_send(n, other.gid[ROCE_GID_IPV4], data, WORD, 9 * HD_S);
	assert_true(neighbours_next(n, out, ROOM, &size));
	assert_int_equal(size, 42);
	neighbours_free(n);
}

/* 02:48:0a:00:00:01 by RFC 4291, appendix A. */
static void addresses_follow_from_ipv4(void **state)
{
	static const uint8_t link[GID_SIZE] = { 0xFE, 0x80, 0,    0,    0,    0, 0, 0,
						0,    0x48, 0x0A, 0xFF, 0xFE, 0, 0, 1 };
	struct roce_address a;

	(void)state;
	a = roce_address_of(ours);
	assert_memory_equal(a.gid[ROCE_GID_LINK], link, GID_SIZE);
	assert_true(gid_is_ipv4(a.gid[ROCE_GID_IPV4]));
	assert_false(gid_is_ipv4(a.gid[ROCE_GID_LINK]));
	assert_memory_equal(a.gid[ROCE_GID_IPV4] + 12, ours, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_those_of_a_kernel),
		cmocka_unit_test(questions_are_those_of_a_kernel),
		cmocka_unit_test(both_kinds_find_each_other),
		cmocka_unit_test(missing_neighbours_are_requested_for_a_second),
		cmocka_unit_test(addresses_follow_from_ipv4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
