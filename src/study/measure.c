/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "study/point.h"

const struct column point_measures[] = {
	{ "offered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "mean", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p50", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "max", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "fairness", NULL, VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "busiest link", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "lost", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "goals met", NULL, VALUE_BOOL, ORIGIN_SIMULATED },
	{ NULL },
};

_Static_assert(sizeof(point_measures) / sizeof(*point_measures) ==
		       N_MEASURES + 1,
	       "N_MEASURES counts the rows above");

size_t measure_of(const char *name)
{
	size_t i = 0;

	while (i < N_MEASURES && strcmp(point_measures[i].name, name) != 0)
		i++;
	return i;
}

/* What a user writes, in the measure's unit; NAN if it is none. */
static double quantity(const struct column *c, const char *text)
{
	const char *unit = c->unit ? c->unit : "";
	struct hd_rate rate;
	struct hd_ratio share;
	hd_time time;
	double number;

	if (strcmp(unit, "us") == 0)
		return hd_time_parse(text, NULL, &time) == HD_OK
			       ? (double)time / (double)HD_US
			       : NAN;
	if (strcmp(unit, "Gb/s") == 0)
		return hd_rate_parse(text, NULL, &rate) == HD_OK
			       ? hd_rate_bps(rate) / 1e9
			       : NAN;
	if (strcmp(unit, "%") == 0)
		return hd_ratio_parse(text, NULL, &share) == HD_OK
			       ? 100 * (double)share.num / (double)share.den
			       : NAN;
	if (c->kind == VALUE_BOOL)
		return strcmp(text, "yes") == 0  ? 1
		       : strcmp(text, "no") == 0 ? 0
						 : NAN;
	return hd_double_parse(text, NULL, &number) == HD_OK ? number : NAN;
}

static enum hd_status refuse_name(const char *name, struct diag *d)
{
	const char *names[N_MEASURES];
	struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < N_MEASURES; i++) {
		names[i] = point_measures[i].name;
		strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	}
	const char *near = text_nearest(name, names, N_MEASURES);

	diag_fail(d, HD_ERR_INPUT, "no measure '%.80s'; there are %s%s%s%s",
		  name, all.text, near ? " (did you mean '" : "",
		  near ? near : "", near ? "'?)" : "");
	strbuf_fini(&all);
	return d->status;
}

enum hd_status measure_check(const struct term *t, struct diag *d)
{
	size_t left = measure_of(t->left), right = measure_of(t->right);

	if (left == N_MEASURES)
		return refuse_name(t->left, d);
	if (right != N_MEASURES)
		return HD_OK;
	if (t->share > 0)
		return refuse_name(t->right, d);
	const char *unit = point_measures[left].unit;

	if (isnan(quantity(&point_measures[left], t->right)))
		return diag_fail(d, HD_ERR_INPUT,
				 "'%.80s' is no value of %s%s%s", t->right,
				 t->left, unit ? ", which is in " : "",
				 unit ? unit : "");
	return HD_OK;
}

bool measure_holds(const struct term *t, const double *values)
{
	size_t left = measure_of(t->left), right = measure_of(t->right);
	double other = right == N_MEASURES
			       ? quantity(&point_measures[left], t->right)
			       : values[right];

	return relation_holds(t->relation, values[left],
			      t->share > 0 ? t->share * other : other);
}
