/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MODEL_DES_DES_FOR_TESTS_H
#define HD_MODEL_DES_DES_FOR_TESTS_H

/* Checks that a model's value is within its counterpart's 99.9 % interval. */

#include "base/seeds_for_tests.h"
#include "model/des/des.h"
#include "model/expect_for_tests.h"

static inline struct des_options options(uint64_t packets, uint64_t seed)
{
	return (struct des_options){
		.packets = run_is_long() ? 10 * packets : packets,
		.seed = seed,
		.level = 0.999,
	};
}

static inline void agrees(const struct interval *in, double value, const char *what)
{
	assert_true(isfinite(in->half_width));
	if (!des_agrees(in, value))
		fail_msg("%s: simulated %.6g +- %.2g, computed %.6g", what, in->mean,
			 in->half_width, value);
}

#endif
