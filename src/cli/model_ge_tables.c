/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_ge_output.h"

#include <math.h>

/* A row of any of the tables; each table shows some of the members. */
struct ge_row {
	double lambda, ca2, cs2;
	struct ge_result result;
	uint64_t capacity, region, class, level;
	double mu, g, x, y, difference, p;
};

#define INPUTS                                                                               \
	{ "lambda", "packets/t", CELL(ge_row, lambda) }, { "ca2", NULL, CELL(ge_row, ca2) }, \
	{                                                                                    \
		"cs2", NULL, CELL(ge_row, cs2)                                               \
	}
#define COMPUTED(member) CELL(ge_row, member), ORIGIN_COMPUTED
#define MEASURES                                                               \
	{ "L", "packets", COMPUTED(result.mean_queue), 6 },                    \
		{ "U", "share", COMPUTED(result.utilisation), 6 },             \
		{ "blocking", "share", COMPUTED(result.blocking) },            \
		{ "throughput", "packets/t", COMPUTED(result.throughput), 6 }, \
	{                                                                      \
		"W", "t", COMPUTED(result.response), 6                         \
	}

static const struct column point_columns[] = {
	INPUTS,
	MEASURES,
	{ NULL },
};

static const struct column without_columns[] = {
	INPUTS,
	{ "capacity", "packets", CELL(ge_row, capacity) },
	MEASURES,
	{ NULL },
};

static const struct column coefficient_columns[] = {
	INPUTS,
	{ "region", NULL, CELL(ge_row, region) },
	{ "mu", "packets/t", CELL(ge_row, mu) },
	{ "g", NULL, COMPUTED(g) },
	{ "x", NULL, COMPUTED(x) },
	{ "y", NULL, COMPUTED(y) },
	{ "difference", NULL, COMPUTED(difference) },
	{ NULL },
};

static const struct column level_columns[] = {
	{ "n", "packets", CELL(ge_row, level) },
	INPUTS,
	{ "p", NULL, COMPUTED(p), 8 },
	{ NULL },
};

static const struct column class_columns[] = {
	{ "class", NULL, CELL(ge_row, class) },
	INPUTS,
	MEASURES,
	{ NULL },
};

void ge_tables_begin(struct ge_output *o)
{
	const struct ge_sweep_options *v = o->values;
	struct results *r = results_new("model");

	o->results = r;
	results_remark(r, "t is the unit of time that the rates are per");
	o->points = cli_model_table(r, "points",
				    v->form == MAXENT_JOINED ? "exact solution"
							     : "approximation by separate regions",
				    point_columns, &o->order);
	if (v->coefficients)
		o->coefficients = cli_model_table(
			r, "coefficients",
			"P(n) = P(0) g x^n, times y at the capacity; largest difference from the exact solution",
			coefficient_columns, &o->order);
	if (v->compare)
		o->without = cli_model_table(
			r, "without", "the first rate alone, with one VL's room and with all of it",
			without_columns, &o->order);
	if (v->classes.n > 1)
		o->classes = results_table(r, "classes", "each class", class_columns);
	if (v->levels)
		o->levels = results_series(r, "levels", "probability of n packets", level_columns);
	if (v->simulate)
		o->simulated = cli_comparison_table(r);
}

static struct ge_row row_of(const struct batch_queue *q, const struct ge_result *r)
{
	return (struct ge_row){
		.lambda = ge_output_total_lambda(q),
		.ca2 = q->n_classes == 1 ? q->classes[0].ca2 : NAN,
		.cs2 = q->service.cs2,
		.result = *r,
	};
}

static void put_without(struct table *t, const struct batch_queue *q,
			const struct ge_des_point *point)
{
	struct ge_row vl = row_of(q, &point->vl);
	struct ge_row whole = row_of(q, &point->whole);

	vl.capacity = point->vl_capacity;
	table_put_row(t, &vl);
	whole.capacity = q->service.capacity;
	table_put_row(t, &whole);
}

static void put_coefficients(struct table *t, const struct batch_queue *q,
			     const struct ge_des_point *point)
{
	struct ge_row row = row_of(q, &point->result);

	row.difference = point->form_error;
	for (size_t i = 0; i < point->form.n_regions; i++) {
		row.region = i + 1;
		row.mu = q->service.mu[i];
		row.g = maxent_g(&point->form, i);
		row.x = point->form.x[i];
		row.y = row.region == point->form.n_regions ? point->form.y : NAN;
		table_put_row(t, &row);
	}
}

static void put_classes(struct table *t, const struct batch_queue *q,
			const struct ge_des_point *point)
{
	for (size_t k = 0; k < point->n_classes; k++) {
		struct ge_row row = row_of(q, &point->classes[k]);

		row.class = k + 1;
		row.lambda = q->classes[k].lambda;
		row.ca2 = q->classes[k].ca2;
		table_put_row(t, &row);
	}
}

static void put_levels(struct table *t, const struct batch_queue *q,
		       const struct ge_des_point *point)
{
	struct ge_row row = row_of(q, &point->result);

	for (row.level = 0; row.level <= q->service.capacity; row.level++) {
		row.p = point->p[row.level];
		table_put_row(t, &row);
	}
}

static void put_simulated(struct table *t, const struct batch_queue *q,
			  const struct ge_des_point *point)
{
	struct strbuf label = STRBUF_INIT;

	strbuf_printf(&label, "lambda=%g", ge_output_total_lambda(q));
	if (q->n_classes == 1)
		strbuf_printf(&label, " ca2=%g", q->classes[0].ca2);
	strbuf_printf(&label, " cs2=%g", q->service.cs2);
	for (int m = 0; m < GE_MEASURES; m++) {
		struct cli_comparison c =
			ge_output_comparison(point, (enum ge_des_measure)m, label.text);

		cli_comparison_put(t, &c);
	}
	for (size_t k = 0; k < point->n_classes; k++) {
		strbuf_clear(&label);
		strbuf_printf(&label, "class %zu", k + 1);
		for (int m = 0; m < GE_MEASURES; m++) {
			struct cli_comparison c = ge_output_class_comparison(
				point, k, (enum ge_des_measure)m, label.text);

			cli_comparison_put(t, &c);
		}
	}
	strbuf_fini(&label);
}

void ge_tables_point(struct ge_output *o, const struct batch_queue *q,
		     const struct ge_des_point *point)
{
	const struct ge_row row = row_of(q, &point->result);

	table_put_row(o->points, &row);
	if (o->coefficients && point->has_form)
		put_coefficients(o->coefficients, q, point);
	if (o->without)
		put_without(o->without, q, point);
	if (o->classes)
		put_classes(o->classes, q, point);
	if (o->levels)
		put_levels(o->levels, q, point);
	if (o->simulated)
		put_simulated(o->simulated, q, point);
}
