/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/ge_output.h"

#include <math.h>

#define INPUTS                                                              \
	{ "lambda", "packets/t", VALUE_REAL }, { "ca2", NULL, VALUE_REAL }, \
	{                                                                   \
		"cs2", NULL, VALUE_REAL                                     \
	}

#define MEASURES                                                            \
	{ "L", "packets", VALUE_REAL, ORIGIN_COMPUTED, .places = 6 },       \
		{ "U", "share", VALUE_REAL, ORIGIN_COMPUTED, .places = 6 }, \
		{ "blocking", "share", VALUE_REAL, ORIGIN_COMPUTED },       \
		{ "throughput", "packets/t", VALUE_REAL, ORIGIN_COMPUTED,   \
		  .places = 6 },                                            \
	{                                                                   \
		"W", "t", VALUE_REAL, ORIGIN_COMPUTED, .places = 6          \
	}

static const struct column point_columns[] = {
	INPUTS,
	MEASURES,
	{ NULL },
};

static const struct column thesis_columns[] = {
	INPUTS,
	MEASURES,
	{ "error_L", "%", VALUE_REAL, ORIGIN_COMPUTED, .places = 2 },
	{ "error_U", "%", VALUE_REAL, ORIGIN_COMPUTED, .places = 2 },
	{ "error_blocking", "%", VALUE_REAL, ORIGIN_COMPUTED, .places = 2 },
	{ NULL },
};

static const struct column without_columns[] = {
	INPUTS,
	{ "capacity", "packets", VALUE_UINT },
	MEASURES,
	{ NULL },
};

static const struct column coefficient_columns[] = {
	INPUTS,
	{ "region", NULL, VALUE_UINT },
	{ "mu", "packets/t", VALUE_REAL },
	{ "g", NULL, VALUE_REAL, ORIGIN_COMPUTED },
	{ "x", NULL, VALUE_REAL, ORIGIN_COMPUTED },
	{ "y", NULL, VALUE_REAL, ORIGIN_COMPUTED },
	{ "difference", NULL, VALUE_REAL, ORIGIN_COMPUTED },
	{ NULL },
};

static const struct column level_columns[] = {
	{ "n", "packets", VALUE_UINT },
	INPUTS,
	{ "p", NULL, VALUE_REAL, ORIGIN_COMPUTED, .places = 8 },
	{ NULL },
};

static const struct column class_columns[] = {
	{ "class", NULL, VALUE_UINT },
	INPUTS,
	MEASURES,
	{ NULL },
};

void ge_tables_begin(struct ge_output *o)
{
	const struct ge_values *v = o->values;
	struct results *r = results_new("model");

	o->results = r;
	results_remark(r, "t is the unit of time that the rates are per");
	o->points = model_table(r, "points", "exact solution", point_columns,
				&o->order);
	if (v->coefficients)
		o->coefficients = model_table(
			r, "coefficients",
			"P(n) = P(0) g x^n, times y at the capacity; largest difference from the recursion",
			coefficient_columns, &o->order);
	if (v->thesis)
		o->thesis = model_table(
			r, "thesis",
			"the thesis' approximation and its error against the exact solution",
			thesis_columns, &o->order);
	if (v->compare)
		o->without = model_table(
			r, "without",
			"the first rate alone, with one lane's room and with all of it",
			without_columns, &o->order);
	if (v->classes.n > 1)
		o->classes = results_table(r, "classes", "each class",
					   class_columns);
	if (v->levels)
		o->levels = results_series(
			r, "levels", "probability of n packets", level_columns);
	if (v->simulate)
		o->simulated = comparison_table(r, v->thesis);
}

static void put_inputs(struct table *t, const struct batch_queue *q,
		       const struct input_order *order)
{
	const double values[] = { ge_total_lambda(q),
				  q->n_classes == 1 ? q->classes[0].ca2 : NAN,
				  q->service.cs2 };

	model_put_inputs(t, order, values);
}

static void put_result(struct table *t, const struct ge_result *r)
{
	for (int m = 0; m < GE_MEASURES; m++)
		table_put_real(t, ge_result_get(r, (enum ge_measure)m));
}

static void put_thesis(struct table *t, const struct batch_queue *q,
		       const struct ge_point *point,
		       const struct input_order *order)
{
	const struct ge_result none = { NAN, NAN, NAN, NAN, NAN };
	const struct ge_result *r = point->has_thesis ? &point->thesis : &none;
	const struct ge_result *e = &point->exact;

	put_inputs(t, q, order);
	put_result(t, r);
	table_put_real(t, 100 * fabs(r->mean_queue / e->mean_queue - 1));
	table_put_real(t, 100 * fabs(r->utilisation / e->utilisation - 1));
	table_put_real(t, 100 * fabs(r->blocking / e->blocking - 1));
}

static void put_without(struct table *t, const struct batch_queue *q,
			const struct ge_point *point,
			const struct input_order *order)
{
	put_inputs(t, q, order);
	table_put_uint(t, point->lane_capacity);
	put_result(t, &point->lane);
	put_inputs(t, q, order);
	table_put_uint(t, q->service.capacity);
	put_result(t, &point->whole);
}

static void put_coefficients(struct table *t, const struct batch_queue *q,
			     const struct ge_point *point,
			     const struct input_order *order)
{
	for (size_t i = 0; i < point->form.n_regions; i++) {
		bool last = i + 1 == point->form.n_regions;

		put_inputs(t, q, order);
		table_put_uint(t, i + 1);
		table_put_real(t, q->service.mu[i]);
		table_put_real(t, maxent_g(&point->form, i));
		table_put_real(t, point->form.x[i]);
		table_put_real(t, last ? point->form.y : NAN);
		table_put_real(t, point->form_error);
	}
}

static void put_classes(struct table *t, const struct batch_queue *q,
			const struct ge_point *point)
{
	for (size_t k = 0; k < point->n_classes; k++) {
		table_put_uint(t, k + 1);
		table_put_real(t, q->classes[k].lambda);
		table_put_real(t, q->classes[k].ca2);
		table_put_real(t, q->service.cs2);
		put_result(t, &point->classes[k]);
	}
}

static void put_levels(struct table *t, const struct batch_queue *q,
		       const struct ge_point *point)
{
	const struct input_order as_declared = { .n = 3,
						 .column = { 0, 1, 2 } };

	for (size_t n = 0; n <= q->service.capacity; n++) {
		table_put_uint(t, n);
		put_inputs(t, q, &as_declared);
		table_put_real(t, point->p[n]);
	}
}

static void put_simulated(struct table *t, const struct batch_queue *q,
			  const struct ge_point *point)
{
	struct strbuf label = STRBUF_INIT;

	strbuf_printf(&label, "lambda=%g", ge_total_lambda(q));
	if (q->n_classes == 1)
		strbuf_printf(&label, " ca2=%g", q->classes[0].ca2);
	strbuf_printf(&label, " cs2=%g", q->service.cs2);
	for (int m = 0; m < GE_MEASURES; m++) {
		struct comparison c =
			ge_comparison(point, (enum ge_measure)m, label.text);

		comparison_put(t, &c);
	}
	for (size_t k = 0; k < point->n_classes; k++) {
		strbuf_clear(&label);
		strbuf_printf(&label, "class %zu", k + 1);
		for (int m = 0; m < GE_MEASURES; m++) {
			struct comparison c = ge_class_comparison(
				point, k, (enum ge_measure)m, label.text);

			comparison_put(t, &c);
		}
	}
	strbuf_fini(&label);
}

void ge_tables_point(struct ge_output *o, const struct batch_queue *q,
		     const struct ge_point *point)
{
	put_inputs(o->points, q, &o->order);
	put_result(o->points, &point->exact);
	if (o->coefficients && point->has_form)
		put_coefficients(o->coefficients, q, point, &o->order);
	if (o->thesis)
		put_thesis(o->thesis, q, point, &o->order);
	if (o->without)
		put_without(o->without, q, point, &o->order);
	if (o->classes)
		put_classes(o->classes, q, point);
	if (o->levels)
		put_levels(o->levels, q, point);
	if (o->simulated)
		put_simulated(o->simulated, q, point);
}
