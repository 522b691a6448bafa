/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/ge_output.h"

#include <math.h>

static void put_result(struct json *w, const struct ge_result *r)
{
	for (int m = 0; m < GE_MEASURES; m++)
		json_put_real(w, ge_measure_names[m],
			      ge_result_get(r, (enum ge_measure)m));
}

static void put_object(struct json *w, const char *key,
		       const struct ge_result *r)
{
	json_key(w, key);
	json_begin_object(w);
	put_result(w, r);
	json_end(w);
}

static void put_array(struct json *w, const char *key, const double *values,
		      size_t n)
{
	json_key(w, key);
	json_begin_array(w);
	for (size_t k = 0; k < n; k++)
		json_double(w, values[k]);
	json_end(w);
}

static void put_thesis(struct json *w, const struct ge_point *point)
{
	json_key(w, "thesis");
	if (!point->has_thesis) {
		json_none(w);
		return;
	}
	json_begin_object(w);
	put_result(w, &point->thesis);
	json_key(w, "error");
	json_begin_object(w);
	for (int m = 0; m < GE_MEASURES; m++) {
		double exact = ge_result_get(&point->exact, (enum ge_measure)m);
		double thesis =
			ge_result_get(&point->thesis, (enum ge_measure)m);

		json_put_real(w, ge_measure_names[m],
			      fabs(thesis - exact) / exact);
	}
	json_end(w);
	json_end(w);
}

static void put_form(struct json *w, const struct ge_point *point)
{
	double g[GE_MAX_REGIONS];

	for (size_t i = 0; i < point->form.n_regions; i++)
		g[i] = maxent_g(&point->form, i);
	json_key(w, "me");
	json_begin_object(w);
	put_array(w, "g", g, point->form.n_regions);
	put_array(w, "x", point->form.x, point->form.n_regions);
	json_put_real(w, "y", point->form.y);
	json_put_real(w, "difference", point->form_error);
	json_end(w);
}

static void put_simulated(struct json *w, const struct ge_point *point)
{
	json_key(w, "simulated");
	json_begin_object(w);
	for (int m = 0; m < GE_MEASURES; m++) {
		struct comparison c =
			ge_comparison(point, (enum ge_measure)m, "");

		comparison_json(w, &c);
	}
	json_end(w);
}

static void put_class(struct json *w, const struct batch_queue *q,
		      const struct ge_point *point, size_t k, bool simulated)
{
	json_begin_object(w);
	json_put_real(w, "lambda", q->classes[k].lambda);
	json_put_real(w, "ca2", q->classes[k].ca2);
	put_result(w, &point->classes[k]);
	if (simulated) {
		json_key(w, "simulated");
		json_begin_object(w);
		for (int m = 0; m < GE_MEASURES; m++) {
			struct comparison c = ge_class_comparison(
				point, k, (enum ge_measure)m, "");

			comparison_json(w, &c);
		}
		json_end(w);
	}
	json_end(w);
}

static void put_classes(struct json *w, const struct batch_queue *q,
			const struct ge_point *point, bool simulated)
{
	json_key(w, "classes");
	json_begin_array(w);
	for (size_t k = 0; k < point->n_classes; k++)
		put_class(w, q, point, k, simulated);
	json_end(w);
}

static void put_without(struct json *w, const struct batch_queue *q,
			const struct ge_point *point)
{
	json_key(w, "without");
	json_begin_object(w);
	json_put_uint(w, "lane_capacity", point->lane_capacity);
	put_object(w, "lane", &point->lane);
	json_put_uint(w, "whole_capacity", q->service.capacity);
	put_object(w, "whole", &point->whole);
	json_end(w);
}

void ge_json_point(struct ge_output *o, const struct batch_queue *q,
		   const struct ge_point *point)
{
	const struct ge_values *v = o->values;
	struct json *w = &o->json;

	json_begin_object(w);
	json_put_real(w, "lambda", ge_total_lambda(q));
	put_result(w, &point->exact);
	put_array(w, "p", point->p, q->service.capacity + 1);
	if (q->n_classes == 1)
		json_put_real(w, "ca2", q->classes[0].ca2);
	json_put_real(w, "cs2", q->service.cs2);
	if (v->coefficients && point->has_form)
		put_form(w, point);
	if (v->thesis)
		put_thesis(w, point);
	if (v->compare)
		put_without(w, q, point);
	if (point->n_classes)
		put_classes(w, q, point, v->simulate > 0);
	if (v->simulate)
		put_simulated(w, point);
	json_end(w);
}
