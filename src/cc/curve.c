/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/curve.h"

#include <math.h>

#define MAX_ACKS 10000000

struct curve_row {
	double rate, increase, decrease, recovery;
	uint64_t recovery_acks;
};

static const struct column columns[] = {
	{ "rate", "1/s", CELL(curve_row, rate), ORIGIN_GIVEN, 3 },
	{ "increase", "1/s", CELL(curve_row, increase), ORIGIN_COMPUTED, 3 },
	{ "decrease", "1/s", CELL(curve_row, decrease), ORIGIN_COMPUTED, 3 },
	{ "recovery", "us", CELL(curve_row, recovery), ORIGIN_COMPUTED, 3 },
	{ "recovery acks", NULL, CELL(curve_row, recovery_acks), ORIGIN_COMPUTED },
	{ NULL },
};

struct curve_summary_row {
	const char *algorithm;
	double rmin, rmax, one_mark_per, from_rmin_to_rmax;
};

static const struct column summary_columns[] = {
	{ "algorithm", NULL, CELL(curve_summary_row, algorithm) },
	{ "rmin", "1/s", CELL(curve_summary_row, rmin), ORIGIN_GIVEN, 3 },
	{ "rmax", "1/s", CELL(curve_summary_row, rmax), ORIGIN_GIVEN, 3 },
	{ "one mark per", "us", CELL(curve_summary_row, one_mark_per), ORIGIN_COMPUTED, 3 },
	{ "from rmin to rmax", "us", CELL(curve_summary_row, from_rmin_to_rmax), ORIGIN_COMPUTED,
	  3 },
	{ NULL },
};

static double microseconds(struct cc_recovery way)
{
	return way.acks ? way.seconds * 1e6 : NAN;
}

void cc_curve_show(const struct cc_algorithm *a, const struct cc_config *c, uint64_t points,
		   struct results *r)
{
	struct table *summary = results_record(r, "algorithm", a->summary, summary_columns);
	struct table *t =
		results_series(r, "curve", "one step up, one step down, and the way back", columns);

	const struct curve_summary_row row = {
		.algorithm = a->name,
		.rmin = c->rmin,
		.rmax = c->rmax,
		.one_mark_per = 1e6 / c->rmin,
		.from_rmin_to_rmax = microseconds(cc_recover(a, c, c->rmin, c->rmax, MAX_ACKS)),
	};

	table_put_row(summary, &row);
	for (uint64_t i = 0; i < points; i++) {
		double share = (double)i / (double)(points - 1);
		double rate = c->rmin * pow(c->rmax / c->rmin, share);

		/* The last point is rmax itself, not its neighbour. */
		if (i + 1 == points)
			rate = c->rmax;
		double low = a->decrease(c, rate);
		struct cc_recovery way = cc_recover(a, c, low, rate, MAX_ACKS);

		const struct curve_row shown = {
			.rate = rate,
			.increase = a->increase(c, rate),
			.decrease = low,
			.recovery = microseconds(way),
			.recovery_acks = way.acks,
		};

		table_put_row(t, &shown);
	}
}
