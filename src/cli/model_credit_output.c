/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_credit.h"

#include <math.h>

#include "cli/output.h"

/* Measures in the order in which they are shown. */
struct credit_measure {
	const char *name, *unit;
	size_t result, des; /* offsets of a double and of a confidence interval */
};

#define MEASURE(name, unit, field)                                 \
	{                                                          \
		name, unit, offsetof(struct credit_result, field), \
			offsetof(struct credit_des_result, field)  \
	}

static const struct credit_measure measures[] = {
	MEASURE("L1", "packets", mean_upstream),
	MEASURE("L2", "packets", mean_downstream),
	MEASURE("L", "packets", mean),
	MEASURE("R", "t", response),
	MEASURE("T", "packets/t", throughput),
	MEASURE("loss", "share", loss),
	MEASURE("in_flight", "credits", in_flight), /* only with a delay */
};

static size_t n_measures(const struct credit_link *link)
{
	size_t all = sizeof(measures) / sizeof(measures[0]);

	return link->delay > 0 ? all : all - 1;
}

static double value_of(const struct credit_point *point, size_t k)
{
	const char *r = (const char *)&point->result;

	if (!point->is_solved)
		return NAN;
	return *(const double *)(const void *)(r + measures[k].result);
}

static struct cli_comparison compare(const struct credit_point *point, size_t k, const char *label)
{
	const char *t = (const char *)&point->des;

	return (struct cli_comparison){
		.point = label,
		.measure = measures[k].name,
		.unit = measures[k].unit,
		.computed = value_of(point, k),
		.in = (const struct interval *)(const void *)(t + measures[k].des),
	};
}

/* Sources of the columns of the table of points. */
#define LINK(member)   CELL(credit_point, link.member)
#define RESULT(member) CELL(credit_point, result.member), ORIGIN_COMPUTED

/* Inputs in the order of enum credit_parameter. */
static const struct column point_columns[] = {
	{ "lambda", "packets/t", LINK(lambda) },
	{ "mu1", "packets/t", LINK(mu1) },
	{ "mu2", "packets/t", LINK(mu2) },
	{ "delay", "t", LINK(delay) },
	{ "n", "packets", LINK(upstream) },
	{ "m", "packets", LINK(downstream) },
	{ "L1", "packets", RESULT(mean_upstream), 6 },
	{ "L2", "packets", RESULT(mean_downstream), 6 },
	{ "L", "packets", RESULT(mean), 6 },
	{ "R", "t", RESULT(response), 6 },
	{ "T", "packets/t", RESULT(throughput), 6 },
	{ "loss", "share", RESULT(loss) },
	{ "in_flight", "credits", RESULT(in_flight), 6 },
	{ "states", NULL, CELL_UNLESS(credit_point, result.states, 0), ORIGIN_COMPUTED },
	{ "method", NULL, CELL(credit_point, result.method) },
	{ "residual", NULL, RESULT(residual) },
	{ NULL },
};

struct level_row {
	size_t n, m, i, j;
	double p;
};

static const struct column level_columns[] = {
	{ "n", "packets", CELL(level_row, n) },
	{ "m", "packets", CELL(level_row, m) },
	{ "i", "packets", CELL(level_row, i) },
	{ "j", "packets", CELL(level_row, j) },
	{ "p", NULL, CELL(level_row, p), ORIGIN_COMPUTED, 8 },
	{ NULL },
};

static void begin_tables(struct credit_output *o, const struct credit_sweep *sweep)
{
	struct results *r = results_new("model");
	size_t n[CREDIT_PARAMETERS];

	for (int k = 0; k < CREDIT_PARAMETERS; k++)
		n[k] = sweep->series[k].n;
	o->order = cli_input_order(n, CREDIT_PARAMETERS);
	if (o->values->paired && n[CREDIT_N] > 1)
		o->order.n_swept--; /* paired inputs count as one */
	o->results = r;
	results_remark(r, "t is the unit of time that the rates are per");
	if (sweep->phases == 0)
		results_remark(r, "credits take a constant time: simulated only");
	else if (sweep->phases > 1)
		results_remark(r, "delay is the sum of %u exponential phases", sweep->phases);
	o->points = cli_model_table(
		r, "points", "stationary distribution; residual is its distance from balance",
		point_columns, &o->order);
	if (o->values->levels)
		o->levels = results_table(
			r, "levels", "probability of i and j packets at the nodes", level_columns);
	if (o->values->simulate)
		o->simulated = cli_comparison_table(r);
}

void credit_output_begin(struct credit_output *o, const struct credit_sweep *sweep)
{
	*o = (struct credit_output){ .values = sweep->values, .goals_met = true };
	begin_tables(o, sweep);
}

static void put_levels(struct table *t, const struct credit_point *point)
{
	const struct credit_link *l = &point->link;
	size_t width = l->downstream + 1;

	for (size_t s = 0; s < (l->upstream + 1) * width; s++) {
		const struct level_row row = {
			.n = l->upstream,
			.m = l->downstream,
			.i = s / width,
			.j = s % width,
			.p = point->p[s],
		};

		table_put_row(t, &row);
	}
}

static void put_point(struct credit_output *o, const struct credit_point *point)
{
	static const struct credit_result unknown = {
		NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, .method = "-",
	};
	struct credit_point row = *point;

	if (!point->is_solved)
		row.result = unknown;
	else if (point->link.delay <= 0)
		row.result.in_flight = NAN;
	table_put_row(o->points, &row);
}

static void put_simulated(struct table *t, const struct credit_point *point)
{
	const struct credit_link *l = &point->link;
	struct strbuf label = STRBUF_INIT;

	strbuf_printf(&label, "n=%zu m=%zu lambda=%g", l->upstream, l->downstream, l->lambda);
	if (l->delay > 0)
		strbuf_printf(&label, " delay=%g", l->delay);
	for (size_t k = 0; k < n_measures(l); k++) {
		struct cli_comparison c = compare(point, k, label.text);

		cli_comparison_put(t, &c);
	}
	strbuf_fini(&label);
}

void credit_output_point(struct credit_output *o, const struct credit_point *point)
{
	for (size_t k = 0; o->values->simulate && k < n_measures(&point->link); k++) {
		struct cli_comparison c = compare(point, k, "");

		o->goals_met &= cli_comparison_holds(&c);
	}
	put_point(o, point);
	if (o->levels && point->p)
		put_levels(o->levels, point);
	if (o->simulated)
		put_simulated(o->simulated, point);
}

int credit_output_end(struct credit_output *o)
{
	return output_results(&o->values->common, o->results, o->goals_met);
}

void credit_output_abandon(struct credit_output *o)
{
	results_free(o->results);
}
