/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/curve.h"

#include <math.h>

#define MAX_ACKS 10000000

static const struct column columns[] = {
	{ "rate", "1/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "increase", "1/s", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "decrease", "1/s", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "recovery", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "recovery acks", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column summary_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "rmin", "1/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "rmax", "1/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "one mark per", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "from rmin to rmax", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_recovery(struct table *t, struct cc_recovery way)
{
	if (way.acks)
		table_put_real(t, way.seconds * 1e6);
	else
		table_put_none(t);
}

void cc_curve_show(const struct cc_algorithm *a, const struct cc_config *c,
		   uint64_t points, struct results *r)
{
	struct table *summary =
		results_record(r, "algorithm", a->summary, summary_columns);
	struct table *t = results_series(
		r, "curve", "one step up, one step down, and the way back",
		columns);

	table_put_text(summary, a->name);
	table_put_real(summary, c->rmin);
	table_put_real(summary, c->rmax);
	table_put_real(summary, 1e6 / c->rmin);
	put_recovery(summary, cc_recover(a, c, c->rmin, c->rmax, MAX_ACKS));
	for (uint64_t i = 0; i < points; i++) {
		double share = (double)i / (double)(points - 1);
		double rate = c->rmin * pow(c->rmax / c->rmin, share);

		/* The last point is rmax itself, not its neighbour. */
		if (i + 1 == points)
			rate = c->rmax;
		double low = a->decrease(c, rate);
		struct cc_recovery way = cc_recover(a, c, low, rate, MAX_ACKS);

		table_put_real(t, rate);
		table_put_real(t, a->increase(c, rate));
		table_put_real(t, low);
		put_recovery(t, way);
		table_put_uint(t, way.acks);
	}
}
