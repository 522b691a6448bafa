/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "cc/algorithms.h"

/*
 * A mark divides the rate by m. Between marks, the rate follows F(t) = rmin m^(t rmin): a factor of
 * m in each 1/rmin seconds, so that one mark per 1/rmin keeps the rate constant.
 */
static double increase(const struct cc_config *c, double rate)
{
	return cc_clamp(c, rate * pow(c->m, c->rmin / rate));
}

static double decrease(const struct cc_config *c, double rate)
{
	return cc_clamp(c, rate / c->m);
}

static enum hd_status check(const struct cc_config *c, struct diag *d)
{
	if (!(c->m > 1))
		return diag_fail(d, HD_ERR_RANGE, "FIMD needs a factor m above 1, not %g", c->m);
	return HD_OK;
}

const struct cc_algorithm cc_fimd = {
	.name = "fimd",
	.summary = "fast increase, multiplicative decrease",
	.check = check,
	.increase = increase,
	.decrease = decrease,
};
