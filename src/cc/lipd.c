/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/algorithms.h"

/*
 * A mark adds one packet time (1/rmax) to the inter-packet delay 1/rate.
 * Unmarked, 1/F(t) = 1/rmin - t rmin/rmax.
 */
static double increase(const struct cc_config *c, double rate)
{
	return cc_clamp(c, rate / (1 - c->rmin / c->rmax));
}

static double decrease(const struct cc_config *c, double rate)
{
	return cc_clamp(c, rate / (1 + rate / c->rmax));
}

const struct cc_algorithm cc_lipd = {
	.name = "lipd",
	.summary = "linear inter-packet delay",
	.increase = increase,
	.decrease = decrease,
};
