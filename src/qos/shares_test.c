/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/shares.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"

/* Three saturated VLs; shares in percent for payloads 4096, 2048, 256. */
static void quantisation_is_as_tabulated(void **state)
{
	(void)state;
	static const struct {
		uint8_t weight[3];
		double share[3][3];
	} cases[] = {
		{ { 1, 2, 4 },
		  { { 33, 33, 33 }, { 33, 33, 33 }, { 33, 33, 33 } } },
		{ { 4, 4, 4 },
		  { { 33, 33, 33 }, { 33, 33, 33 }, { 33, 33, 33 } } },
		{ { 16, 32, 64 },
		  { { 33, 33, 33 }, { 25, 25, 50 }, { 17, 29, 54 } } },
		{ { 64, 128, 192 },
		  { { 17, 33, 50 }, { 17, 33, 50 }, { 17, 33, 50 } } },
		{ { 66, 132, 198 },
		  { { 22, 33, 44 }, { 17, 33, 50 }, { 17, 33, 49 } } },
	};
	static const uint32_t payloads[] = { 4096, 2048, 256 };

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct vlarb_entry table[3];

		for (unsigned vl = 0; vl < 3; vl++)
			table[vl] = (struct vlarb_entry){ (uint8_t)vl,
							  cases[c].weight[vl] };
		for (int p = 0; p < 3; p++) {
			uint32_t bytes[N_DATA_VLS];
			double share[N_DATA_VLS];

			for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
				bytes[vl] = payloads[p] + 26;
			shares_achieved(table, 3, bytes, share);
			for (int vl = 0; vl < 3; vl++)
				assert_true(fabs(100 * share[vl] -
						 cases[c].share[p][vl]) < 0.6);
		}
	}
}

static void a_4096_byte_payload_is_65_blocks(void **state)
{
	(void)state;
	assert_int_equal(shares_blocks(4096 + 26), 65);
	assert_int_equal(shares_blocks(2048 + 26), 33);
	assert_int_equal(shares_blocks(64), 1);
}

/* Whatever is asked for in whole percents comes out within one point. */
static void chosen_weights_achieve_what_was_wanted(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 9, 0);
	for (int round = 0; round < 500; round++) {
		double wanted[N_DATA_VLS] = { 0 }, share[N_DATA_VLS], sum = 0;
		uint32_t bytes[N_DATA_VLS];
		struct vlarb_entry table[VLARB_MAX];
		unsigned used = 2 + (unsigned)rng_below(&rng, 3);

		for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
			bytes[vl] = 26 + (256u << rng_below(&rng, 5));
		for (unsigned vl = 0; vl < used; vl++) {
			wanted[vl] = 5 + (double)rng_below(&rng, 60);
			sum += wanted[vl];
		}
		unsigned n = shares_weights(wanted, bytes, table);

		assert_in_range(n, used, VLARB_MAX);
		shares_achieved(table, n, bytes, share);
		for (unsigned vl = 0; vl < used; vl++)
			assert_true(fabs(share[vl] - wanted[vl] / sum) < 0.01);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(
				table[i].weight %
					shares_blocks(bytes[table[i].vl]),
				0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantisation_is_as_tabulated),
		cmocka_unit_test(a_4096_byte_payload_is_65_blocks),
		cmocka_unit_test(chosen_weights_achieve_what_was_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
