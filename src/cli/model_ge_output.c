/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_ge_output.h"

#include <math.h>

#include "cli/output.h"

double ge_output_total_lambda(const struct batch_queue *q)
{
	double sum = 0;

	for (size_t k = 0; k < q->n_classes; k++)
		sum += q->classes[k].lambda;
	return sum;
}

struct cli_comparison ge_output_comparison(const struct ge_des_point *point, enum ge_des_measure m,
					   const char *label)
{
	return (struct cli_comparison){
		.point = label,
		.measure = ge_des_measure_names[m],
		.unit = ge_des_measure_units[m],
		.computed = ge_des_measure_of(&point->result, m),
		.in = ge_des_get(&point->des, m),
	};
}

struct cli_comparison ge_output_class_comparison(const struct ge_des_point *point, size_t k,
						 enum ge_des_measure m, const char *label)
{
	return (struct cli_comparison){
		.point = label,
		.measure = ge_des_measure_names[m],
		.unit = ge_des_measure_units[m],
		.computed = ge_des_measure_of(&point->classes[k], m),
		.in = ge_des_get(&point->class_des[k], m),
	};
}

void ge_output_begin(struct ge_output *o, const struct ge_sweep *sweep)
{
	const size_t n[] = { sweep->lambda.n, sweep->ca2.n, sweep->cs2.n };

	*o = (struct ge_output){
		.values = sweep->values,
		.goals_met = true,
		.order = cli_input_order(n, 3),
	};
	ge_tables_begin(o);
}

static void add_error(double error, double *sum, size_t *n)
{
	if (isfinite(error)) {
		*sum += error;
		++*n;
	}
}

/* Adds the errors of a point, and checks whether its values agree with the simulation. */
static void judge(struct ge_output *o, const struct ge_des_point *point)
{
	struct ge_errors *e = &o->errors;

	for (int m = 0; m < GE_MEASURES; m++) {
		struct cli_comparison c = ge_output_comparison(point, (enum ge_des_measure)m, "");

		/* Separate regions are an approximation: an error there does not miss a goal. */
		if (o->values->form == MAXENT_JOINED)
			o->goals_met &= cli_comparison_holds(&c);
		add_error(cli_comparison_error(&c), &e->sum[m], &e->n[m]);
	}
	for (size_t k = 0; k < point->n_classes; k++) {
		for (int m = 0; m < GE_MEASURES; m++) {
			struct cli_comparison c =
				ge_output_class_comparison(point, k, (enum ge_des_measure)m, "");

			o->goals_met &= cli_comparison_holds(&c);
		}
	}
}

void ge_output_point(struct ge_output *o, const struct batch_queue *q,
		     const struct ge_des_point *point)
{
	if (o->values->simulate)
		judge(o, point);
	ge_tables_point(o, q, point);
}

static double mean_error(double sum, size_t n)
{
	return n ? sum / (double)n : NAN;
}

static void remark_errors(struct ge_output *o)
{
	const struct ge_errors *e = &o->errors;

	for (int m = 0; m < GE_MEASURES; m++) {
		if (e->n[m])
			results_remark(o->results, "mean EM of %s: %.3g %%",
				       ge_des_measure_names[m],
				       100 * mean_error(e->sum[m], e->n[m]));
	}
}

int ge_output_end(struct ge_output *o)
{
	remark_errors(o);
	return output_results(&o->values->common, o->results, o->goals_met);
}

void ge_output_abandon(struct ge_output *o)
{
	results_free(o->results);
}
