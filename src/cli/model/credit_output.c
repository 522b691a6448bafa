/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/credit.h"

#include <math.h>

#include "cli/output.h"

/* The measures by name, in the order in which they are shown. */
struct measure {
	const char *name, *unit;
	size_t result, twin; /* offsets of a double and of an interval */
};

#define MEASURE(name, unit, field)                                 \
	{                                                          \
		name, unit, offsetof(struct credit_result, field), \
			offsetof(struct credit_twin_result, field) \
	}

static const struct measure measures[] = {
	MEASURE("L1", "packets", mean_upstream),
	MEASURE("L2", "packets", mean_downstream),
	MEASURE("L", "packets", mean),
	MEASURE("R", "t", response),
	MEASURE("T", "packets/t", throughput),
	MEASURE("loss", "share", loss),
	MEASURE("in_flight", "credits", in_flight), /* with delay only */
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

static struct comparison compare(const struct credit_point *point, size_t k,
				 const char *label)
{
	const char *t = (const char *)&point->twin;

	return (struct comparison){
		.point = label,
		.measure = measures[k].name,
		.unit = measures[k].unit,
		.computed = value_of(point, k),
		.thesis = NAN,
		.in = (const struct interval *)(const void *)(t +
							      measures[k].twin),
	};
}

#define REAL6(name, unit)                                            \
	{                                                            \
		name, unit, VALUE_REAL, ORIGIN_COMPUTED, .places = 6 \
	}

/* Inputs in the order of enum credit_parameter. */
static const struct column point_columns[] = {
	{ "lambda", "packets/t", VALUE_REAL },
	{ "mu1", "packets/t", VALUE_REAL },
	{ "mu2", "packets/t", VALUE_REAL },
	{ "delay", "t", VALUE_REAL },
	{ "n", "packets", VALUE_UINT },
	{ "m", "packets", VALUE_UINT },
	REAL6("L1", "packets"),
	REAL6("L2", "packets"),
	REAL6("L", "packets"),
	REAL6("R", "t"),
	REAL6("T", "packets/t"),
	{ "loss", "share", VALUE_REAL, ORIGIN_COMPUTED },
	REAL6("in_flight", "credits"),
	{ "states", NULL, VALUE_UINT, ORIGIN_COMPUTED },
	{ "method", NULL, VALUE_TEXT },
	{ "residual", NULL, VALUE_REAL, ORIGIN_COMPUTED },
	{ NULL },
};

static const struct column level_columns[] = {
	{ "n", "packets", VALUE_UINT },
	{ "m", "packets", VALUE_UINT },
	{ "i", "packets", VALUE_UINT },
	{ "j", "packets", VALUE_UINT },
	{ "p", NULL, VALUE_REAL, ORIGIN_COMPUTED, .places = 8 },
	{ NULL },
};

static void begin_tables(struct credit_output *o,
			 const struct credit_sweep *sweep)
{
	struct results *r = results_new("model");
	size_t n[CREDIT_PARAMETERS];

	for (int k = 0; k < CREDIT_PARAMETERS; k++)
		n[k] = sweep->series[k].n;
	o->order = input_order_of(n, CREDIT_PARAMETERS);
	if (o->values->paired && n[CREDIT_N] > 1)
		o->order.n_swept--; /* both are one */
	o->results = r;
	results_remark(r, "t is the unit of time that the rates are per");
	if (sweep->phases == 0)
		results_remark(r, "credits take a constant time: simulated "
				  "only");
	else if (sweep->phases > 1)
		results_remark(r, "delay is the sum of %u exponential phases",
			       sweep->phases);
	o->points = model_table(
		r, "points",
		"stationary distribution; residual is its distance from balance",
		point_columns, &o->order);
	if (o->values->levels)
		o->levels = results_table(
			r, "levels",
			"probability of i and j packets at the nodes",
			level_columns);
	if (o->values->simulate)
		o->simulated = comparison_table(r, false);
}

void credit_output_begin(struct credit_output *o,
			 const struct credit_sweep *sweep)
{
	*o = (struct credit_output){
		.values = sweep->values,
		.goals_met = true,
		.is_json = output_is_json(&sweep->values->common),
	};
	o->text = (struct strbuf)STRBUF_INIT;
	begin_tables(o, sweep);
	if (!o->is_json)
		return;
	json_init(&o->json, &o->text);
	json_begin_object(&o->json);
	json_key(&o->json, "results");
	json_begin_array(&o->json);
}

static void put_levels(struct table *t, const struct credit_point *point)
{
	const struct credit_link *l = &point->link;
	size_t width = l->downstream + 1;

	for (size_t s = 0; s < (l->upstream + 1) * width; s++) {
		table_put_uint(t, l->upstream);
		table_put_uint(t, l->downstream);
		table_put_uint(t, s / width);
		table_put_uint(t, s % width);
		table_put_real(t, point->p[s]);
	}
}

static void put_point(struct credit_output *o, const struct credit_point *point)
{
	const struct credit_link *l = &point->link;
	const double inputs[] = { l->lambda,
				  l->mu1,
				  l->mu2,
				  l->delay,
				  (double)l->upstream,
				  (double)l->downstream };
	size_t shown = n_measures(l);
	struct table *t = o->points;

	model_put_inputs(t, &o->order, inputs);
	for (size_t k = 0; k < sizeof(measures) / sizeof(measures[0]); k++)
		table_put_real(t, k < shown ? value_of(point, k) : NAN);
	if (!point->is_solved) {
		table_put_none(t);
		table_put_text(t, "-");
		table_put_none(t);
		return;
	}
	table_put_uint(t, point->result.states);
	table_put_text(t, point->result.method);
	table_put_real(t, point->result.residual);
}

static void put_simulated(struct table *t, const struct credit_point *point)
{
	const struct credit_link *l = &point->link;
	struct strbuf label = STRBUF_INIT;

	strbuf_printf(&label, "n=%zu m=%zu lambda=%g", l->upstream,
		      l->downstream, l->lambda);
	if (l->delay > 0)
		strbuf_printf(&label, " delay=%g", l->delay);
	for (size_t k = 0; k < n_measures(l); k++) {
		struct comparison c = compare(point, k, label.text);

		comparison_put(t, &c);
	}
	strbuf_fini(&label);
}

static void json_levels(struct json *w, const struct credit_point *point)
{
	const struct credit_link *l = &point->link;
	size_t width = l->downstream + 1;

	json_key(w, "p");
	json_begin_array(w);
	for (size_t i = 0; i <= l->upstream; i++) {
		json_begin_array(w);
		for (size_t j = 0; j < width; j++)
			json_double(w, point->p[i * width + j]);
		json_end(w);
	}
	json_end(w);
}

static void json_simulated(struct json *w, const struct credit_point *point)
{
	json_key(w, "simulated");
	json_begin_object(w);
	for (size_t k = 0; k < n_measures(&point->link); k++) {
		struct comparison c = compare(point, k, "");

		comparison_json(w, &c);
	}
	json_end(w);
}

static void json_point(struct credit_output *o,
		       const struct credit_point *point)
{
	const struct credit_link *l = &point->link;
	struct json *w = &o->json;

	json_begin_object(w);
	json_put_uint(w, "n", l->upstream);
	json_put_uint(w, "m", l->downstream);
	for (size_t k = 0; k < n_measures(l); k++)
		json_put_real(w, measures[k].name, value_of(point, k));
	json_put_real(w, "lambda", l->lambda);
	json_put_real(w, "mu1", l->mu1);
	json_put_real(w, "mu2", l->mu2);
	json_put_real(w, "delay", l->delay);
	if (point->is_solved) {
		json_put_uint(w, "states", point->result.states);
		json_key(w, "method");
		json_text(w, point->result.method);
		json_put_real(w, "residual", point->result.residual);
	}
	if (point->p)
		json_levels(w, point);
	if (o->values->simulate)
		json_simulated(w, point);
	json_end(w);
}

void credit_output_point(struct credit_output *o,
			 const struct credit_point *point)
{
	for (size_t k = 0; o->values->simulate && k < n_measures(&point->link);
	     k++) {
		struct comparison c = compare(point, k, "");

		o->goals_met &= comparison_holds(&c);
	}
	if (o->is_json)
		json_point(o, point);
	put_point(o, point);
	if (o->levels && point->p)
		put_levels(o->levels, point);
	if (o->simulated)
		put_simulated(o->simulated, point);
}

int credit_output_end(struct credit_output *o)
{
	if (!o->is_json)
		return output_results(&o->values->common, o->results,
				      o->goals_met);
	json_end(&o->json);
	json_end(&o->json);
	strbuf_putc(&o->text, '\n');
	int status = output_shaped(&o->values->common, o->results, &o->text,
				   o->goals_met);

	strbuf_fini(&o->text);
	return status;
}

void credit_output_abandon(struct credit_output *o)
{
	strbuf_fini(&o->text);
	results_free(o->results);
}
