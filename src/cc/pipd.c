/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "cc/algorithms.h"

/*
 * A mark takes the m-th root of the rate; unmarked, F(t) = rmin^(m^(t rmin)).
 * Neither is homogeneous: the same rate in another unit behaves differently.
 * With a = rmin in the chosen unit, a <= 1 inverts or freezes the rule, and
 * a >= (rmax/rmin)^(1/(m-1)) leaves only rmin and rmax.
 */
static double unit_of(const struct cc_config *c)
{
	return c->unit > 0 ? c->unit : c->rmin / 2;
}

static double increase(const struct cc_config *c, double rate)
{
	double unit = unit_of(c);
	/* In logarithms: r^4 of a rate in packets per second overflows. */
	double log_rate = pow(c->m, c->rmin / rate) * log(rate / unit);

	if (log_rate >= log(c->rmax / unit))
		return c->rmax;
	return cc_clamp(c, exp(log_rate) * unit);
}

static double decrease(const struct cc_config *c, double rate)
{
	double unit = unit_of(c);

	return cc_clamp(c, exp(log(rate / unit) / c->m) * unit);
}

static enum hd_status check(const struct cc_config *c, struct diag *d)
{
	if (!(c->m > 1))
		return diag_fail(d, HD_ERR_RANGE, "PIPD needs a root m above 1, not %g", c->m);
	if (c->unit < 0)
		return diag_fail(d, HD_ERR_RANGE, "PIPD needs a unit above 0, not %g", c->unit);
	if (!(c->rmin / unit_of(c) > 1))
		return diag_fail(
			d, HD_ERR_RANGE,
			"PIPD needs a minimum rate above 1 in its unit, not %g: at 1 it cannot grow, below 1 roots raise the rate",
			c->rmin / unit_of(c));
	return HD_OK;
}

static const char *warning(const struct cc_config *c)
{
	double limit = pow(c->rmax / c->rmin, 1 / (c->m - 1));

	if (c->rmin / unit_of(c) < limit)
		return NULL;
	return "PIPD in this unit knows only the minimum and the maximum rate (a mark drops to one, the next unmarked ACK jumps to the other)";
}

const struct cc_algorithm cc_pipd = {
	.name = "pipd",
	.summary = "power increase, power decrease",
	.check = check,
	.warning = warning,
	.increase = increase,
	.decrease = decrease,
};
