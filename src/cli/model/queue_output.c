/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model/queue.h"

#include <math.h>

#include "cli/output.h"

struct measure {
	const char *name, *unit;
	size_t result, twin;
};

#define MEASURE(name, unit, field)                                \
	{                                                         \
		name, unit, offsetof(struct queue_result, field), \
			offsetof(struct queue_twin_result, field) \
	}

static const struct measure measures[] = {
	MEASURE("L", "packets", mean_queue),
	MEASURE("W", "t", response),
	MEASURE("Wq", "t", wait),
	MEASURE("U", "share", utilisation),
	MEASURE("blocking", "share", blocking),
	MEASURE("throughput", "packets/t", throughput),
};

#define N_MEASURES (sizeof(measures) / sizeof(measures[0]))

static double value_of(const struct queue_result *r, size_t k)
{
	const char *base = (const char *)r;

	return *(const double *)(const void *)(base + measures[k].result);
}

/*
 * A share of the link is in the unit of its rate; the twin counts packets, so
 * utilisation is what the two can be compared by.
 */
static bool is_comparable(const struct queue_output *o, size_t k)
{
	return o->sweep->kind != QUEUE_KIND_SHARING ||
	       measures[k].result == offsetof(struct queue_result, utilisation);
}

static struct comparison compare(const struct queue_point *point, size_t k,
				 size_t m, const char *label)
{
	const char *base = (const char *)&point->simulated[k];
	double computed = value_of(&point->result[k], m);

	return (struct comparison){
		.point = label,
		.measure = measures[m].name,
		.unit = measures[m].unit,
		.computed = isfinite(computed) ? computed : NAN,
		.thesis = NAN,
		.in = (const struct interval *)(const void *)(base +
							      measures[m].twin),
	};
}

static struct comparison compare_conserved(const struct queue_point *point)
{
	return (struct comparison){
		.point = "all",
		.measure = "sum U Wq",
		.unit = "t",
		.computed = isfinite(point->conserved) ? point->conserved : NAN,
		.thesis = NAN,
		.in = &point->simulated_conserved,
	};
}

#define REAL6(name, unit)                                            \
	{                                                            \
		name, unit, VALUE_REAL, ORIGIN_COMPUTED, .places = 6 \
	}

static const struct column columns[] = {
	{ "lambda", "packets/t", VALUE_REAL },
	{ "class", NULL, VALUE_UINT },
	{ "mu", "packets/t", VALUE_REAL },
	{ "cs2", NULL, VALUE_REAL },
	{ "capacity", "packets", VALUE_UINT },
	REAL6("L", "packets"),
	REAL6("W", "t"),
	REAL6("Wq", "t"),
	REAL6("U", "share"),
	{ "blocking", "share", VALUE_REAL, ORIGIN_COMPUTED },
	REAL6("throughput", "packets/t"),
	{ NULL },
};

static const struct column share_columns[] = {
	{ "class", NULL, VALUE_UINT },
	{ "offered", "load", VALUE_REAL },
	{ "quantum", "B", VALUE_REAL, ORIGIN_COMPUTED },
	REAL6("throughput", "load"),
	REAL6("U", "share"),
	{ NULL },
};

void queue_output_begin(struct queue_output *o, const struct queue_sweep *sweep)
{
	bool sharing = sweep->kind == QUEUE_KIND_SHARING;

	*o = (struct queue_output){
		.sweep = sweep,
		.goals_met = true,
		.is_json = output_is_json(&sweep->values->common),
	};
	o->text = (struct strbuf)STRBUF_INIT;
	if (o->is_json) {
		json_init(&o->json, &o->text);
		json_begin_object(&o->json);
		json_key(&o->json, "results");
		json_begin_array(&o->json);
	}
	o->results = results_new("model");
	results_remark(o->results,
		       "t is the unit of time that the rates are per");
	if (sharing)
		o->points = results_table(
			o->results, "points",
			"what each lane gets; load is in the unit of --mu",
			share_columns);
	else
		o->points = results_series(o->results, "points",
					   "exact solution", columns);
	if (sweep->values->simulate)
		o->simulated = comparison_table(o->results, false);
}

static void put_share(struct queue_output *o, const struct queue_point *point,
		      size_t k)
{
	const double *f = o->sweep->fields[k];

	table_put_uint(o->points, k + 1);
	table_put_real(o->points, f[0]);
	table_put_real(o->points, point->twin.turn[k] * f[2]);
	table_put_real(o->points, point->result[k].throughput);
	table_put_real(o->points, point->result[k].utilisation);
}

static void put_row(struct queue_output *o, const struct queue_point *point,
		    size_t k)
{
	const struct queue_class *c = &point->twin.classes[k];
	struct table *t = o->points;

	table_put_real(t, c->lambda);
	table_put_uint(t, k + 1);
	table_put_real(t, c->mu);
	table_put_real(t, c->cs2);
	if (point->twin.capacity)
		table_put_uint(t, point->twin.capacity);
	else
		table_put_none(t);
	for (size_t m = 0; m < N_MEASURES; m++)
		table_put_real(t, value_of(&point->result[k], m));
}

static void put_comparisons(struct queue_output *o,
			    const struct queue_point *point, size_t k)
{
	struct strbuf label = STRBUF_INIT;

	if (point->twin.n_classes > 1)
		strbuf_printf(&label, "class %zu", k + 1);
	else
		strbuf_printf(&label, "lambda=%g cs2=%g",
			      point->twin.classes[k].lambda,
			      point->twin.classes[k].cs2);
	for (size_t m = 0; m < N_MEASURES; m++) {
		struct comparison c = compare(point, k, m, label.text);

		if (is_comparable(o, m))
			comparison_put(o->simulated, &c);
	}
	strbuf_fini(&label);
}

static void json_row(struct queue_output *o, const struct queue_point *point,
		     size_t k)
{
	const struct queue_class *c = &point->twin.classes[k];
	struct json *w = &o->json;

	json_begin_object(w);
	json_put_real(w, "lambda", c->lambda);
	json_put_real(w, "mu", c->mu);
	for (size_t m = 0; m < N_MEASURES; m++)
		json_put_real(w, measures[m].name,
			      value_of(&point->result[k], m));
	json_put_real(w, "cs2", c->cs2);
	if (point->twin.capacity)
		json_put_uint(w, "capacity", point->twin.capacity);
	if (point->twin.n_classes > 1)
		json_put_uint(w, "class", k + 1);
	if (o->sweep->values->simulate) {
		json_key(w, "simulated");
		json_begin_object(w);
		for (size_t m = 0; m < N_MEASURES; m++) {
			struct comparison cmp = compare(point, k, m, "");

			if (is_comparable(o, m))
				comparison_json(w, &cmp);
		}
		json_end(w);
	}
	json_end(w);
}

static void judge(struct queue_output *o, const struct queue_point *point)
{
	struct comparison sum = compare_conserved(point);

	for (size_t k = 0; k < point->twin.n_classes; k++) {
		for (size_t m = 0; m < N_MEASURES; m++) {
			struct comparison c = compare(point, k, m, "");

			if (is_comparable(o, m))
				o->goals_met &= comparison_holds(&c);
		}
	}
	o->goals_met &= comparison_holds(&sum);
}

void queue_output_point(struct queue_output *o, const struct queue_point *point)
{
	bool simulated = o->sweep->values->simulate > 0;

	if (simulated)
		judge(o, point);
	for (size_t k = 0; k < point->twin.n_classes; k++) {
		if (o->is_json)
			json_row(o, point, k);
		if (o->sweep->kind == QUEUE_KIND_SHARING)
			put_share(o, point, k);
		else
			put_row(o, point, k);
		if (o->simulated)
			put_comparisons(o, point, k);
	}
	if (o->simulated && isfinite(point->conserved)) {
		struct comparison sum = compare_conserved(point);

		comparison_put(o->simulated, &sum);
	}
}

int queue_output_end(struct queue_output *o)
{
	const struct common_options *common = &o->sweep->values->common;

	if (!o->is_json)
		return output_results(common, o->results, o->goals_met);
	json_end(&o->json);
	json_end(&o->json);
	strbuf_putc(&o->text, '\n');
	int status = output_shaped(common, o->results, &o->text, o->goals_met);

	strbuf_fini(&o->text);
	return status;
}

void queue_output_abandon(struct queue_output *o)
{
	strbuf_fini(&o->text);
	results_free(o->results);
}
