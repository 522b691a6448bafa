/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/params_codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct bench_params example = {
	.core = CORE_SHARES,
	.verb = VERB_READ,
	.cost = COST_POST_READ,
	.transport = QP_UC,
	.size = 0x3fedcba9,
	.iterations = UINT64_C(0x123456789abcdef0),
	.warmup = 4,
	.duration = HD_S,
	.limit = 2 * HD_S,
	.window = 65536,
	.qps = 1024,
	.segments = 2,
	.max_sge = 3,
	.mtu = 2048,
	.contenders = 5,
	.loaders = 6,
	.receivers = 7,
	.threads = 8,
	.scheme = 2,
	.reuse = 75,
	.work_share = 150,
	.entries = 4096,
	.pkey = 0x8001,
	.peer_pkey = 0x7fff,
	.sl = 14,
	.load_sl = 1,
	.events = true,
	.huge = true,
	.weighted = true,
	.may_fail = true,
};

static void parameters_come_back(void **state)
{
	uint8_t bytes[PARAMS_CODE_SIZE], again[PARAMS_CODE_SIZE];
	struct diag d = { .status = HD_OK };
	struct bench_params p;

	(void)state;
	params_encode(&example, bytes);
	assert_int_equal(params_decode(bytes, sizeof(bytes), &d, &p), HD_OK);
	params_encode(&p, again);
	assert_memory_equal(bytes, again, sizeof(bytes));
	assert_true(p.size == example.size && p.mtu == example.mtu &&
		    p.iterations == example.iterations && p.peer_pkey == example.peer_pkey &&
		    p.may_fail);
	/* Independent of the machine: the size is the sixth word, in network order. */
	static const uint8_t size[] = { 0, 0, 0, 0, 0x3f, 0xed, 0xcb, 0xa9 };

	assert_memory_equal(bytes + 40, size, 8);
}

/* Every byte either changes the parameters or makes them invalid. */
static void every_byte_means_something(void **state)
{
	uint8_t bytes[PARAMS_CODE_SIZE], again[PARAMS_CODE_SIZE];

	(void)state;
	for (size_t i = 0; i < PARAMS_CODE_SIZE * 8; i++) {
		struct diag d = { .status = HD_OK };
		struct bench_params p = { .mtu = 7 };

		params_encode(&example, bytes);
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		if (params_decode(bytes, sizeof(bytes), &d, &p) != HD_OK) {
			assert_int_equal(d.status, HD_ERR_INPUT);
			assert_true(d.message[0]);
			assert_int_equal(p.mtu, 7);
			continue;
		}
		params_encode(&p, again);
		assert_memory_equal(bytes, again, sizeof(bytes));
	}
}

static void another_length_is_another_version(void **state)
{
	uint8_t bytes[PARAMS_CODE_SIZE + 8] = { 0 };

	(void)state;
	params_encode(&example, bytes);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		struct diag d = { .status = HD_OK };
		struct bench_params p;

		assert_int_equal(params_decode(bytes, n, &d, &p) == HD_OK, n == PARAMS_CODE_SIZE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_come_back),
		cmocka_unit_test(every_byte_means_something),
		cmocka_unit_test(another_length_is_another_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
