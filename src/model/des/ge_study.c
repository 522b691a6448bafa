/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/ge_study.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

const char *const ge_des_measure_names[GE_MEASURES] = {
	[GE_L] = "L", [GE_U] = "U", [GE_BLOCKING] = "blocking", [GE_THROUGHPUT] = "throughput",
	[GE_W] = "W",
};

const char *const ge_des_measure_units[GE_MEASURES] = {
	[GE_L] = "packets",
	[GE_U] = "share",
	[GE_BLOCKING] = "share",
	[GE_THROUGHPUT] = "packets/t",
	[GE_W] = "t",
};

double ge_des_measure_of(const struct ge_result *r, enum ge_des_measure m)
{
	const double values[GE_MEASURES] = {
		[GE_L] = r->mean_queue,      [GE_U] = r->utilisation,
		[GE_BLOCKING] = r->blocking, [GE_THROUGHPUT] = r->throughput,
		[GE_W] = r->response,
	};

	return values[m];
}

const struct interval *ge_des_get(const struct ge_des_result *r, enum ge_des_measure m)
{
	const struct interval *const values[GE_MEASURES] = {
		[GE_L] = &r->mean_queue,      [GE_U] = &r->utilisation,
		[GE_BLOCKING] = &r->blocking, [GE_THROUGHPUT] = &r->throughput,
		[GE_W] = &r->response,
	};

	return values[m];
}

/* Whether the recursion applies: one class, and a batch may fill the whole capacity. */
static bool is_simple(const struct batch_queue *q)
{
	for (size_t i = 0; i < q->service.n_regions; i++) {
		if (q->room[i] != q->service.capacity)
			return false;
	}
	return q->n_classes == 1;
}

static struct ge_queue simple_queue(const struct batch_queue *q)
{
	struct ge_queue simple = q->service;

	simple.lambda = q->classes[0].lambda;
	simple.ca2 = q->classes[0].ca2;
	return simple;
}

static void add_joined(struct ge_des_point *point, const struct ge_queue *q)
{
	double *p = hd_alloc(q->capacity + 1, sizeof(*p));

	point->has_form = true;
	maxent_joined(q, &point->form);
	maxent_evaluate(q, &point->form, p);
	for (size_t n = 0; n <= q->capacity; n++)
		point->form_error = fmax(point->form_error, fabs(p[n] - point->p[n]));
	free(p);
}

/* Replaces the exact solution by the form of separate regions, if there is one. */
static void use_separate(struct ge_des_point *point, const struct ge_queue *q)
{
	struct diag none = { .status = HD_OK };
	double *p = hd_alloc(q->capacity + 1, sizeof(*p));

	point->result = (struct ge_result){ NAN, NAN, NAN, NAN, NAN };
	point->has_form = maxent_separate(q, &none, &point->form) == HD_OK;
	for (size_t n = 0; n <= q->capacity; n++)
		p[n] = NAN;
	if (point->has_form) {
		maxent_evaluate(q, &point->form, p);
		point->result = ge_des_measure(q, p);
	}
	for (size_t n = 0; n <= q->capacity; n++) {
		point->form_error = fmax(point->form_error, fabs(p[n] - point->p[n]));
		point->p[n] = p[n];
	}
	free(p);
}

/* The queue with its first rate alone and `capacity` places. */
static enum hd_status without_thresholds(const struct batch_queue *q, size_t capacity,
					 struct diag *d, struct ge_result *out)
{
	struct batch_queue plain = *q;
	double *p = hd_alloc(capacity + 1, sizeof(*p));
	enum hd_status status = HD_OK;

	plain.service.capacity = plain.room[0] = capacity;
	plain.service.n_regions = 1;
	if (plain.n_classes == 1) {
		struct ge_queue simple = simple_queue(&plain);

		ge_solve(&simple, p);
		*out = ge_des_measure(&simple, p);
	} else {
		status = batch_solve(&plain, d, p);
		if (status == HD_OK)
			*out = batch_measure(&plain, p);
	}
	free(p);
	return status;
}

static enum hd_status add_without(struct ge_des_point *point, const struct batch_queue *q,
				  struct diag *d)
{
	size_t vl = q->service.capacity / q->service.n_regions;

	point->vl_capacity = vl ? vl : 1;
	enum hd_status status = without_thresholds(q, point->vl_capacity, d, &point->vl);

	return status == HD_OK ? without_thresholds(q, q->service.capacity, d, &point->whole)
			       : status;
}

static enum hd_status solve_whole(struct ge_des_point *point, const struct batch_queue *q,
				  struct diag *d)
{
	enum hd_status status = batch_solve(q, d, point->p);

	if (status != HD_OK)
		return status;
	point->result = batch_measure(q, point->p);
	if (q->n_classes < 2)
		return HD_OK;
	point->n_classes = q->n_classes;
	for (size_t k = 0; k < q->n_classes; k++)
		point->classes[k] = batch_measure_class(q, point->p, k);
	return HD_OK;
}

static void solve_simple(struct ge_des_point *point, const struct ge_study *study)
{
	struct ge_queue q = simple_queue(&study->queue);

	ge_solve(&q, point->p);
	point->result = ge_des_measure(&q, point->p);
	if (study->reading == MAXENT_SEPARATE)
		use_separate(point, &q);
	else
		add_joined(point, &q);
}

enum hd_status ge_des_point_init(struct ge_des_point *point, const struct ge_study *study,
				 struct diag *d)
{
	const struct batch_queue *q = &study->queue;
	bool simple = is_simple(q);
	struct ge_queue alone = simple_queue(q);
	enum hd_status status = simple ? ge_check(&alone, d) : batch_check(q, d);

	if (status != HD_OK)
		return status;
	*point = (struct ge_des_point){ 0 };
	point->p = hd_alloc(q->service.capacity + 1, sizeof(*point->p));
	if (simple)
		solve_simple(point, study);
	else
		status = solve_whole(point, q, d);
	if (status == HD_OK && study->without)
		status = add_without(point, q, d);
	if (status != HD_OK) {
		ge_des_point_fini(point);
		return status;
	}
	if (study->des.packets)
		ge_des_run(q, &study->des, &point->des, point->class_des);
	return HD_OK;
}

void ge_des_point_fini(struct ge_des_point *point)
{
	free(point->p);
	point->p = NULL;
}
