/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/shares.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "subnet/tables/packet.h"

/* Three saturated VLs; shares in percent for payloads 4096, 2048, 256. */
static void quantisation_is_as_tabulated(void **state)
{
	(void)state;
	static const struct {
		uint8_t weight[3];
		double share[3][3];
	} cases[] = {
		{ { 1, 2, 4 }, { { 33, 33, 33 }, { 33, 33, 33 }, { 33, 33, 33 } } },
		{ { 4, 4, 4 }, { { 33, 33, 33 }, { 33, 33, 33 }, { 33, 33, 33 } } },
		{ { 16, 32, 64 }, { { 33, 33, 33 }, { 25, 25, 50 }, { 17, 29, 54 } } },
		{ { 64, 128, 192 }, { { 17, 33, 50 }, { 17, 33, 50 }, { 17, 33, 50 } } },
		{ { 66, 132, 198 }, { { 22, 33, 44 }, { 17, 33, 50 }, { 17, 33, 49 } } },
	};
	static const uint32_t payloads[] = { 4096, 2048, 256 };

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct vlarb_entry table[3];

		for (unsigned vl = 0; vl < 3; vl++)
			table[vl] = (struct vlarb_entry){ (uint8_t)vl, cases[c].weight[vl] };
		for (int p = 0; p < 3; p++) {
			struct shares_vl vls[N_DATA_VLS];
			double share[N_DATA_VLS];

			for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
				vls[vl] = shares_vl_of(payloads[p] + 26);
			shares_achieved(table, 3, vls, share);
			for (int vl = 0; vl < 3; vl++)
				assert_true(fabs(100 * share[vl] - cases[c].share[p][vl]) < 0.6);
		}
	}
}

static void a_4096_byte_payload_is_65_blocks(void **state)
{
	(void)state;
	assert_int_equal(blocks_of(4096 + 26), 65);
	assert_int_equal(blocks_of(2048 + 26), 33);
	assert_int_equal(blocks_of(64), 1);
}

/* All shares in whole percents are reached within one point. */
static void chosen_weights_achieve_what_was_wanted(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 9, 0);
	for (int round = 0; round < 500; round++) {
		double wanted[N_DATA_VLS] = { 0 }, share[N_DATA_VLS], sum = 0;
		struct shares_vl vls[N_DATA_VLS];
		struct vlarb_entry table[VLARB_MAX];
		unsigned used = 2 + (unsigned)rng_below(&rng, 3);

		for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
			vls[vl] = shares_vl_of(26 + (256u << rng_below(&rng, 5)));
		for (unsigned vl = 0; vl < used; vl++) {
			wanted[vl] = 5 + (double)rng_below(&rng, 60);
			sum += wanted[vl];
		}
		for (unsigned vl = 0; vl < used; vl++)
			wanted[vl] /= sum;
		struct shares_fit fit = shares_weights(wanted, 1, vls, VLARB_MAX, table);

		assert_in_range(fit.n, used, VLARB_MAX);
		assert_true(fit.short_by <= SHARES_NEAR);
		shares_achieved(table, fit.n, vls, share);
		for (unsigned vl = 0; vl < used; vl++)
			assert_true(fabs(share[vl] - wanted[vl]) < 0.01);
		/* Whole packets, except for the one that no weight can express. */
		for (unsigned i = 0; i < fit.n; i++)
			assert_true(table[i].weight == 255 ||
				    table[i].weight % blocks_of(vls[table[i].vl].size[0].bytes) ==
					    0);
	}
}

/* One turn of an entry, three small packets to each large one. */
static struct shares_sent draw_turn(struct rng *rng, unsigned weight)
{
	struct shares_sent sent = { 0 };
	int left = (int)weight;

	while (left > 0) {
		bool large = rng_below(rng, 4) == 0;

		sent.bytes += large ? 4122 : 90;
		sent.packets++;
		left -= large ? 65 : 2;
	}
	return sent;
}

static void mixed_sizes_have_the_mean_of_their_turns(void **state)
{
	const struct shares_vl mixed = { .n = 2, .size = { { 90, 0.75 }, { 4122, 0.25 } } };
	struct shares_vl vls[N_DATA_VLS] = { mixed };
	struct shares_sent sent[N_DATA_VLS];
	struct rng rng;

	(void)state;
	rng_init(&rng, 4, 0);
	for (unsigned weight = 1; weight < 256; weight += 23) {
		const struct vlarb_entry entry = { 0, (uint8_t)weight };
		const unsigned turns = 40000;
		double bytes = 0, packets = 0;

		for (unsigned i = 0; i < turns; i++) {
			struct shares_sent turn = draw_turn(&rng, weight);

			bytes += turn.bytes;
			packets += turn.packets;
		}
		shares_round(&entry, 1, vls, sent);
		assert_true(fabs(bytes / turns / sent[0].bytes - 1) < 0.02);
		assert_true(fabs(packets / turns / sent[0].packets - 1) < 0.02);
	}
}

/* One packet of 50 needs 49 of the others: four per entry, no more. */
static void entries_are_not_spent_without_need(void **state)
{
	double wanted[N_DATA_VLS] = { 0.02, 0.98 };
	struct shares_vl vls[N_DATA_VLS] = { shares_vl_of(4122), shares_vl_of(4122) };
	struct vlarb_entry table[VLARB_MAX];

	(void)state;
	/* 1 of 40 is 2.5 %, the first within half a point: 1 + 39 / 4. */
	struct shares_fit fit = shares_weights(wanted, 1, vls, 64, table);

	assert_int_equal(fit.n, 11);
	assert_true(fit.short_by <= SHARES_NEAR + 1e-12);
	/* Seven entries hold 28 of 29. */
	fit = shares_weights(wanted, 1, vls, 8, table);
	assert_int_equal(fit.n, 8);
	assert_int_equal(fit.worst, 1);
	assert_true(fabs(fit.short_by - (0.98 - 28. / 29)) < 1e-9);
	fit = shares_weights(wanted, 1, vls, 1, table);
	assert_int_equal(fit.n, 0);
}

/* Shares that weights of a whole packet can give are given by such weights. */
static void weights_hold_a_packet_of_the_largest_mtu(void **state)
{
	double wanted[N_DATA_VLS] = { 0.25, 0.75 };
	struct shares_vl vls[N_DATA_VLS] = { shares_vl_of(282), shares_vl_of(282) };
	struct vlarb_entry table[VLARB_MAX];

	(void)state;
	struct shares_fit fit = shares_weights(wanted, 1, vls, VLARB_MAX, table);

	assert_true(fit.n >= 2 && fit.short_by <= SHARES_NEAR);
	for (unsigned i = 0; i < fit.n; i++)
		assert_true(table[i].weight >= SHARES_LARGEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantisation_is_as_tabulated),
		cmocka_unit_test(a_4096_byte_payload_is_65_blocks),
		cmocka_unit_test(chosen_weights_achieve_what_was_wanted),
		cmocka_unit_test(mixed_sizes_have_the_mean_of_their_turns),
		cmocka_unit_test(entries_are_not_spent_without_need),
		cmocka_unit_test(weights_hold_a_packet_of_the_largest_mtu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
