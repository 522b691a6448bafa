/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/algorithms.h"

static double increase(const struct cc_config *c, double rate)
{
	return cc_clamp(c, rate + c->add);
}

static double decrease(const struct cc_config *c, double rate)
{
	return cc_clamp(c, rate / c->m);
}

static enum hd_status check(const struct cc_config *c, struct diag *d)
{
	if (!(c->m > 1))
		return diag_fail(d, HD_ERR_RANGE, "AIMD needs a factor m above 1, not %g", c->m);
	if (!(c->add > 0))
		return diag_fail(d, HD_ERR_RANGE, "AIMD needs an increase above 0, not %g", c->add);
	return HD_OK;
}

const struct cc_algorithm cc_aimd = {
	.name = "aimd",
	.summary = "additive increase, multiplicative decrease",
	.check = check,
	.increase = increase,
	.decrease = decrease,
};
