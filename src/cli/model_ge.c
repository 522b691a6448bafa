/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_ge.h"

#include <assert.h>

#include "cli/model_commands.h"
#include "cli/model_ge_output.h"

const char *const ge_sweep_semantics[] = { "s1", "s2", NULL };

/* Assumptions of the models, from sections 5.2.4 and 5.3.4 of the thesis. */
static const struct assumption {
	const struct command *command;
	const char *mu, *capacity, *threshold;
	size_t least, most; /* valid numbers of thresholds */
} assumptions[] = {
	{ &command_model_ge, "8", "8", NULL, 0, GE_MAX_REGIONS - 1 },
	{ &command_model_et, "8,16", "16", "8", 1, 1 },
	{ &command_model_ajt, "8,16,24", "24", "8,16", 1, GE_MAX_REGIONS - 1 },
};

static const struct assumption *assumed(const struct command *self)
{
	const struct assumption *a = assumptions;

	while (a->command != self)
		a++;
	return a;
}

static bool read_thresholds(struct ge_sweep *s, const struct command *self, int *status)
{
	const struct assumption *a = assumed(self);
	const char *text = s->values->threshold ? s->values->threshold : a->threshold;
	struct ge_queue *q = &s->queue.service;
	struct series list = { 0 };
	struct diag d = { .status = HD_OK };

	if (text && !cli_model_read_integers(self, "threshold", text, &list, status))
		return false;
	if (list.n < a->least || list.n > a->most)
		diag_fail(&d, HD_ERR_RANGE, "%zu thresholds are given; '%s' takes %zu to %zu",
			  list.n, self->name, a->least, a->most);
	else if (list.n + 1 != q->n_regions)
		diag_fail(
			&d, HD_ERR_RANGE,
			"%zu thresholds divide the queue into %zu regions, but --mu has %zu rates",
			list.n, list.n + 1, q->n_regions);
	for (size_t i = 0; d.status == HD_OK && i < list.n; i++)
		q->threshold[i] = (size_t)list.values[i];
	series_fini(&list);
	return !cli_model_refused(&d, status);
}

static bool read_rates(struct ge_sweep *s, const struct command *self, int *status)
{
	const char *text = s->values->mu ? s->values->mu : assumed(self)->mu;
	struct ge_queue *q = &s->queue.service;
	struct series list;
	struct diag d = { .status = HD_OK };

	if (!cli_model_read_series(self, "mu", text, &list, status))
		return false;
	if (list.n > GE_MAX_REGIONS)
		diag_fail(&d, HD_ERR_RANGE, "%zu service rates: must be 1 to %d", list.n,
			  GE_MAX_REGIONS);
	q->n_regions = list.n;
	for (size_t i = 0; d.status == HD_OK && i < list.n; i++)
		q->mu[i] = list.values[i];
	series_fini(&list);
	return !cli_model_refused(&d, status);
}

static bool read_capacity(struct ge_sweep *s, const struct command *self, int *status)
{
	const char *text = s->values->capacity ? s->values->capacity : assumed(self)->capacity;
	struct series list;
	struct diag d = { .status = HD_OK };

	if (!cli_model_read_integers(self, "capacity", text, &list, status))
		return false;
	if (list.n != 1)
		diag_fail(&d, HD_ERR_RANGE, "option --capacity: expected one value, not %zu",
			  list.n);
	s->queue.service.capacity = (size_t)list.values[0];
	series_fini(&list);
	return !cli_model_refused(&d, status);
}

/* Semantics s2: reads the thresholds, or makes equal steps. */
static bool read_rooms(struct ge_sweep *s, const struct command *self, int *status)
{
	const struct ge_queue *q = &s->queue.service;
	struct series list = { 0 };
	struct diag d = { .status = HD_OK };

	assert(q->n_regions > 0);
	for (size_t i = 0; i < q->n_regions; i++)
		s->queue.room[i] = q->capacity;
	if (!s->values->rooms && s->values->semantics == 0)
		return true;
	if (s->values->rooms &&
	    !cli_model_read_integers(self, "rooms", s->values->rooms, &list, status))
		return false;
	if (s->values->rooms && list.n != q->n_regions)
		diag_fail(
			&d, HD_ERR_RANGE,
			"option --rooms: %zu values for %zu regions (expected one for each region)",
			list.n, q->n_regions);
	if (!s->values->rooms && q->capacity % q->n_regions)
		diag_fail(&d, HD_ERR_RANGE,
			  "capacity %zu cannot be divided equally among %zu regions; add --rooms",
			  q->capacity, q->n_regions);
	for (size_t i = 0; d.status == HD_OK && i < q->n_regions; i++)
		s->queue.room[i] =
			list.n ? (size_t)list.values[i] : q->capacity / q->n_regions * (i + 1);
	series_fini(&list);
	return !cli_model_refused(&d, status);
}

static bool read_classes(struct ge_sweep *s, const struct command *self, int *status)
{
	const struct option_list *list = &s->values->classes;

	s->queue.n_classes = 1;
	if (list->n == 0)
		return true;
	if (s->values->lambda || s->values->ca2) {
		*status = command_usage(self, "--class cannot be used with --lambda or --ca2");
		return false;
	}
	if (list->n > BATCH_MAX_CLASSES) {
		struct diag d = { .status = HD_OK };

		diag_fail(&d, HD_ERR_RANGE, "%zu classes: must be 1 to %d", list->n,
			  BATCH_MAX_CLASSES);
		return !cli_model_refused(&d, status);
	}
	s->queue.n_classes = list->n;
	for (size_t k = 0; k < list->n; k++) {
		double fields[2];

		if (!cli_model_read_fields(self, list->items[k], 2, 2, fields, status))
			return false;
		s->queue.classes[k] = (struct batch_class){ fields[0], fields[1] };
	}
	return true;
}

/* Classes have rates of their own: one point, or one per cs2. */
static bool read_sweeps(struct ge_sweep *s, const struct command *self, int *status)
{
	const struct ge_sweep_options *v = s->values;
	const char *lambda = v->lambda ? v->lambda : "1..8";
	const char *ca2 = v->ca2 ? v->ca2 : "5";
	struct diag d = { .status = HD_OK };

	if (v->classes.n)
		lambda = ca2 = "1";
	if (!cli_model_read_series(self, "lambda", lambda, &s->lambda, status) ||
	    !cli_model_read_series(self, "ca2", ca2, &s->ca2, status) ||
	    !cli_model_read_series(self, "cs2", v->cs2 ? v->cs2 : "7", &s->cs2, status))
		return false;
	double points = (double)s->lambda.n * (double)s->ca2.n * (double)s->cs2.n;

	double levels = points * ((double)s->queue.service.capacity + 1);

	if (points > MODEL_MAX_POINTS)
		diag_fail(&d, HD_ERR_RANGE, "too many points: %.0f (at most %d)", points,
			  MODEL_MAX_POINTS);
	else if (levels > 1e9)
		diag_fail(&d, HD_ERR_RANGE,
			  "too many levels: %.0f points with %zu levels each (at most 1e9 in all)",
			  points, s->queue.service.capacity + 1);
	return !cli_model_refused(&d, status);
}

static bool check_form(const struct ge_sweep *s, const struct command *self, int *status)
{
	const struct ge_sweep_options *v = s->values;

	if (v->form == MAXENT_JOINED || (v->classes.n < 2 && !v->rooms && v->semantics == 0))
		return true;
	*status = command_usage(self, "--form separate requires one class and --semantics s1");
	return false;
}

bool ge_sweep_read(struct ge_sweep *s, const struct command *self, int *status)
{
	return check_form(s, self, status) && read_rates(s, self, status) &&
	       read_thresholds(s, self, status) && read_capacity(s, self, status) &&
	       read_rooms(s, self, status) && read_classes(s, self, status) &&
	       read_sweeps(s, self, status);
}

void ge_sweep_fini(struct ge_sweep *s)
{
	series_fini(&s->lambda);
	series_fini(&s->ca2);
	series_fini(&s->cs2);
}

/* Parameters of a point: lambda varies fastest, then cs2, then ca2. */
static struct batch_queue queue_at(const struct ge_sweep *s, size_t index)
{
	struct batch_queue q = s->queue;
	double lambda = s->lambda.values[index % s->lambda.n];

	index /= s->lambda.n;
	q.service.cs2 = s->cs2.values[index % s->cs2.n];
	index /= s->cs2.n;
	if (s->values->classes.n == 0)
		q.classes[0] = (struct batch_class){ lambda, s->ca2.values[index] };
	return q;
}

int ge_sweep_run(const struct ge_sweep *s)
{
	const struct ge_sweep_options *v = s->values;
	size_t points = s->lambda.n * s->ca2.n * s->cs2.n;
	struct diag d = { .status = HD_OK };
	struct ge_output out;
	struct cli_model_progress progress;

	ge_output_begin(&out, s);
	cli_model_progress_begin(&progress, &v->common, points, v->simulate);
	for (size_t k = 0; d.status == HD_OK && cli_model_progress_point(&progress, k); k++) {
		struct ge_study study = { .queue = queue_at(s, k),
					  .reading = (enum maxent_reading)v->form,
					  .without = v->compare };
		struct ge_des_point point;

		study.des = cli_model_des_options(&v->common, &progress);
		if (ge_des_point_init(&point, &study, &d) != HD_OK)
			break;
		if (!progress.stopped)
			ge_output_point(&out, &study.queue, &point);
		ge_des_point_fini(&point);
	}
	cli_model_progress_end(&progress, out.results);
	if (d.status != HD_OK) {
		ge_output_abandon(&out);
		return command_refuse(&d);
	}
	return ge_output_end(&out);
}
