/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sim/voq.h"

#define MOST_INPUTS 256u

/* The first member after `in`, cyclically, by looking at each. */
static unsigned first_after(const bool *members, unsigned n, unsigned in)
{
	for (unsigned k = 1; k <= n; k++) {
		if (members[(in + k) % n])
			return (in + k) % n;
	}
	fail_msg("the set is empty");
	return 0;
}

/* Sets of inputs of a lane grow and shrink; members and their order hold. */
static void check_sets(unsigned n_inputs)
{
	uint64_t words[MOST_INPUTS / 64] = { 0 };
	bool members[MOST_INPUTS] = { false };
	struct lane lane = { .inputs = 0 };
	struct sim s = { .wide = n_inputs > 64,
			 .words = words,
			 .outlet_lanes = &lane };
	unsigned n = 0;
	struct rng rng;

	rng_init(&rng, 1, n_inputs);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned in = (unsigned)rng_below(&rng, n_inputs);
		/* Few members in one half of the steps, many in the other. */
		bool add = n == 0 ||
			   rng_below(&rng, 8) < (step / 5000 % 2 ? 7u : 1u);

		assert_int_equal(inputs_has(&s, &lane, in, false), members[in]);
		if (add)
			inputs_add(&s, &lane, in, false);
		else
			inputs_remove(&s, &lane, in, false);
		n = n + (add && !members[in]) - (!add && members[in]);
		members[in] = add;
		assert_int_equal(lane.inputs == 0, n == 0);
		in = (unsigned)rng_below(&rng, n_inputs);
		if (n > 0)
			assert_int_equal(inputs_after(&s, &lane, in),
					 first_after(members, n_inputs, in));
	}
}

static void inputs_take_turns_in_switches_of_any_size(void **state)
{
	static const unsigned sizes[] = { 2, 3, 37, 64, 65, 128, 200, 255 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_sets(sizes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_take_turns_in_switches_of_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
