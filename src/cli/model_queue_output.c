/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_queue.h"

#include <math.h>

#include "cli/output.h"

struct queue_measure {
	const char *name, *unit;
	size_t result, des;
};

#define MEASURE(name, unit, field)                                \
	{                                                         \
		name, unit, offsetof(struct queue_result, field), \
			offsetof(struct queue_des_result, field)  \
	}

static const struct queue_measure measures[] = {
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
 * True if a computed measure can be compared with the simulation. For a shared link, measures are
 * in the unit of its rate and the simulation counts packets, so only the utilisation can.
 */
static bool is_comparable(const struct queue_output *o, size_t k)
{
	return o->sweep->kind != QUEUE_KIND_SHARING ||
	       measures[k].result == offsetof(struct queue_result, utilisation);
}

static struct cli_comparison compare(const struct queue_point *point, size_t k, size_t m,
				     const char *label)
{
	const char *base = (const char *)&point->simulated[k];
	double computed = value_of(&point->result[k], m);

	return (struct cli_comparison){
		.point = label,
		.measure = measures[m].name,
		.unit = measures[m].unit,
		.computed = isfinite(computed) ? computed : NAN,
		.in = (const struct interval *)(const void *)(base + measures[m].des),
	};
}

static struct cli_comparison compare_conserved(const struct queue_point *point)
{
	return (struct cli_comparison){
		.point = "all",
		.measure = "sum U Wq",
		.unit = "t",
		.computed = isfinite(point->conserved) ? point->conserved : NAN,
		.in = &point->simulated_conserved,
	};
}

struct queue_row {
	struct queue_class class;
	struct queue_result result;
	size_t number, capacity;
	double offered, quantum;
};

#define RESULT(member) CELL(queue_row, result.member), ORIGIN_COMPUTED

static const struct column columns[] = {
	{ "lambda", "packets/t", CELL(queue_row, class.lambda) },
	{ "class", NULL, CELL(queue_row, number) },
	{ "mu", "packets/t", CELL(queue_row, class.mu) },
	{ "cs2", NULL, CELL(queue_row, class.cs2) },
	{ "capacity", "packets", CELL_UNLESS(queue_row, capacity, 0) },
	{ "L", "packets", RESULT(mean_queue), 6 },
	{ "W", "t", RESULT(response), 6 },
	{ "Wq", "t", RESULT(wait), 6 },
	{ "U", "share", RESULT(utilisation), 6 },
	{ "blocking", "share", RESULT(blocking) },
	{ "throughput", "packets/t", RESULT(throughput), 6 },
	{ NULL },
};

static const struct column share_columns[] = {
	{ "class", NULL, CELL(queue_row, number) },
	{ "offered", "load", CELL(queue_row, offered) },
	{ "quantum", "B", CELL(queue_row, quantum), ORIGIN_COMPUTED },
	{ "throughput", "load", RESULT(throughput), 6 },
	{ "U", "share", RESULT(utilisation), 6 },
	{ NULL },
};

void queue_output_begin(struct queue_output *o, const struct queue_sweep *sweep)
{
	bool sharing = sweep->kind == QUEUE_KIND_SHARING;

	*o = (struct queue_output){
		.sweep = sweep,
		.goals_met = true,
	};
	o->results = results_new("model");
	results_remark(o->results, "t is the unit of time that the rates are per");
	if (sharing)
		o->points = results_table(o->results, "points",
					  "what each VL gets; load is in the unit of --mu",
					  share_columns);
	else
		o->points = results_series(o->results, "points", "exact solution", columns);
	if (sweep->values->simulate)
		o->simulated = cli_comparison_table(o->results);
}

static void put_row(struct queue_output *o, const struct queue_point *point, size_t k)
{
	const double *f = o->sweep->fields[k];
	const struct queue_row row = {
		.class = point->des.classes[k],
		.result = point->result[k],
		.number = k + 1,
		.capacity = point->des.capacity,
		.offered = f[0],
		.quantum = point->des.turn[k] * f[2],
	};

	table_put_row(o->points, &row);
}

static void put_comparisons(struct queue_output *o, const struct queue_point *point, size_t k)
{
	struct strbuf label = STRBUF_INIT;

	if (point->des.n_classes > 1)
		strbuf_printf(&label, "class %zu", k + 1);
	else
		strbuf_printf(&label, "lambda=%g cs2=%g", point->des.classes[k].lambda,
			      point->des.classes[k].cs2);
	for (size_t m = 0; m < N_MEASURES; m++) {
		struct cli_comparison c = compare(point, k, m, label.text);

		if (is_comparable(o, m))
			cli_comparison_put(o->simulated, &c);
	}
	strbuf_fini(&label);
}

static void judge(struct queue_output *o, const struct queue_point *point)
{
	struct cli_comparison sum = compare_conserved(point);

	for (size_t k = 0; k < point->des.n_classes; k++) {
		for (size_t m = 0; m < N_MEASURES; m++) {
			struct cli_comparison c = compare(point, k, m, "");

			if (is_comparable(o, m))
				o->goals_met &= cli_comparison_holds(&c);
		}
	}
	o->goals_met &= cli_comparison_holds(&sum);
}

void queue_output_point(struct queue_output *o, const struct queue_point *point)
{
	bool simulated = o->sweep->values->simulate > 0;

	if (simulated)
		judge(o, point);
	for (size_t k = 0; k < point->des.n_classes; k++) {
		put_row(o, point, k);
		if (o->simulated)
			put_comparisons(o, point, k);
	}
	if (o->simulated && isfinite(point->conserved)) {
		struct cli_comparison sum = compare_conserved(point);

		cli_comparison_put(o->simulated, &sum);
	}
}

int queue_output_end(struct queue_output *o)
{
	return output_results(&o->sweep->values->common, o->results, o->goals_met);
}

void queue_output_abandon(struct queue_output *o)
{
	results_free(o->results);
}
