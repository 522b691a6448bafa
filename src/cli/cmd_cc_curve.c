/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"
#include "cc/curve.h"
#include "cli/commands.h"
#include "cli/output.h"

struct cc_curve_options {
	struct common_options common;
	double rmin, rmax, m, add, unit;
	uint64_t points;
};

#define FIELD(name) offsetof(struct cc_curve_options, name)

static const struct option options[] = {
	{ "rmax", 0, OPT_DOUBLE, FIELD(rmax), "RATE", "483559",
	  "highest rate, in packets per second" },
	{ "rmin", 0, OPT_DOUBLE, FIELD(rmin), "RATE", "0",
	  "lowest rate; 0 means a 256th of the highest" },
	{ "factor", 0, OPT_DOUBLE, FIELD(m), "M", "4",
	  "factor (FIMD, AIMD) or root (PIPD) of a decrease" },
	{ "add", 0, OPT_DOUBLE, FIELD(add), "RATE", "0",
	  "AIMD's increase per acknowledgement; 0 means the lowest rate" },
	{ "unit", 0, OPT_DOUBLE, FIELD(unit), "RATE", "0",
	  "packets per second in PIPD's unit; 0 means half the lowest rate" },
	{ "points", 0, OPT_UINT, FIELD(points), "N", "9",
	  "rates to show, evenly spaced by their logarithm", .low = 2, .high = 10000 },
	{ .name = NULL },
};

static int refuse_name(const struct command *self, const char *name)
{
	const char *names[8];
	size_t n = 0;

	for (; cc_algorithms[n]; n++)
		names[n] = cc_algorithms[n]->name;
	const char *nearest = text_nearest(name, names, n);

	return command_usage(self, "unknown algorithm '%s'%s", name, text_hint(nearest).text);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct cc_curve_options *v = values;
	struct diag d = { .status = HD_OK };
	const struct cc_algorithm *a = cc_find(args[0]);

	(void)n;
	if (!a)
		return refuse_name(self, args[0]);
	if (!a->increase)
		return command_usage(
			self,
			"algorithm '%s' has no response function: it uses a table of delays (expected fimd, lipd, pipd or aimd)",
			a->name);
	struct cc_config c = cc_config_default(v->rmin != 0 ? v->rmin : v->rmax / 256, v->rmax);

	c.m = v->m;
	c.unit = v->unit;
	if (v->add != 0)
		c.add = v->add;
	if (cc_check(a, &c, &d) != HD_OK)
		return command_refuse(&d);
	struct results *r = results_new("cc curve");

	cc_curve_show(a, &c, v->points, r);
	if (cc_warning(a, &c))
		results_remark(r, "%s", cc_warning(a, &c));
	return output_results(&v->common, r, true);
}

static const struct example examples[] = {
	{ "heddle cc curve fimd --factor 2", "fast increase, multiplicative decrease by two" },
	{ "heddle cc curve pipd --rmin 2 --rmax 512 --unit 1",
	  "powers and roots, in a unit where they behave" },
	{ "heddle cc curve lipd --points 100 --csv", "a curve to plot" },
	{ NULL, NULL },
};

const struct command command_cc_curve = {
	.name = "cc curve",
	.summary = "print a response function: increase, decrease, recovery",
	.arguments = "fimd|lipd|pipd|aimd",
	.description = "For rates between the lowest and the highest: where one unmarked\n"
		       "acknowledgement leads, where a marked one, and how long the way back\n"
		       "takes when all are unmarked again. A function whose recovery takes\n"
		       "1/rmin keeps its rate with one mark per 1/rmin, whatever the rate.\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct cc_curve_options, 1, 1),
};
