/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>

#include "base/text.h"
#include "cc/response.h"
#include "cli/commands.h"
#include "cli/output.h"

#define MAX_ACKS 10000000

struct values {
	struct common_options common;
	double rmin, rmax, m, add, unit;
	uint64_t points;
};

static const struct option options[] = {
	{ .name = "rmax",
	  .kind = OPT_DOUBLE,
	  .offset = offsetof(struct values, rmax),
	  .value = "RATE",
	  .initial = "483559",
	  .help = "highest rate, in packets per second" },
	{ .name = "rmin",
	  .kind = OPT_DOUBLE,
	  .offset = offsetof(struct values, rmin),
	  .value = "RATE",
	  .initial = "0",
	  .help = "lowest rate; 0 means a 256th of the highest" },
	{ .name = "m",
	  .kind = OPT_DOUBLE,
	  .offset = offsetof(struct values, m),
	  .value = "M",
	  .initial = "4",
	  .help = "factor (FIMD, AIMD) or root (PIPD) of a decrease" },
	{ .name = "add",
	  .kind = OPT_DOUBLE,
	  .offset = offsetof(struct values, add),
	  .value = "RATE",
	  .initial = "0",
	  .help = "AIMD's increase per acknowledgement; 0 means the lowest rate" },
	{ .name = "unit",
	  .kind = OPT_DOUBLE,
	  .offset = offsetof(struct values, unit),
	  .value = "RATE",
	  .initial = "0",
	  .help = "packets per second in PIPD's unit; 0 means half the lowest rate" },
	{ .name = "points",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, points),
	  .value = "N",
	  .initial = "9",
	  .low = 2,
	  .high = 10000,
	  .help = "rates to show, evenly spaced by their logarithm" },
	{ .name = NULL },
};

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

static struct results *show(const struct cc_algorithm *a,
			    const struct cc_config *c, uint64_t points)
{
	struct results *r = results_new("cc curve");
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
	return r;
}

static int refuse_name(const struct command *self, const char *name)
{
	const char *names[8];
	size_t n = 0;

	for (; cc_algorithms[n]; n++)
		names[n] = cc_algorithms[n]->name;
	const char *nearest = text_nearest(name, names, n);

	return command_usage(self, "no algorithm '%s'%s", name,
			     text_hint(nearest).text);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct diag d = { .status = HD_OK };
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		return status;
	if (n != 1)
		return command_usage(self, "which algorithm?");
	const struct cc_algorithm *a = cc_find(argv[0]);

	if (!a)
		return refuse_name(self, argv[0]);
	if (!a->increase)
		return command_usage(
			self,
			"'%s' has no rate function: its delays are a table's",
			a->name);
	struct cc_config c =
		cc_config_default(v.rmin != 0 ? v.rmin : v.rmax / 256, v.rmax);

	c.m = v.m;
	c.unit = v.unit;
	if (v.add != 0)
		c.add = v.add;
	if (cc_check(a, &c, &d) != HD_OK)
		return command_refuse(&d);
	struct results *r = show(a, &c, v.points);

	if (cc_warning(a, &c))
		results_remark(r, "%s", cc_warning(a, &c));
	return output_results(&v.common, r, true);
}

static const struct example examples[] = {
	{ "heddle cc curve fimd --m 2",
	  "fast increase, multiplicative decrease by two" },
	{ "heddle cc curve pipd --rmin 2 --rmax 512 --unit 1",
	  "powers and roots, in a unit where they behave" },
	{ "heddle cc curve lipd --points 100 --csv", "a curve to plot" },
	{ NULL, NULL },
};

const struct command command_cc_curve = {
	.name = "cc curve",
	.summary = "a response function's increase, decrease and recovery",
	.arguments = "fimd|lipd|pipd|aimd",
	.description =
		"For rates between the lowest and the highest: where one unmarked\n"
		"acknowledgement leads, where a marked one, and how long the way back\n"
		"takes when all are unmarked again. A function whose recovery takes\n"
		"1/rmin keeps its rate with one mark per 1/rmin, whatever the rate.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
