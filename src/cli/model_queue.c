/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_queue.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static const char *const kind_names[QUEUE_KINDS] = {
	[QUEUE_MM1] = "mm1",
	[QUEUE_MM1N] = "mm1n",
	[QUEUE_MD1] = "md1",
	[QUEUE_MG1] = "mg1",
	[QUEUE_KIND_PRIORITY] = "priority",
	[QUEUE_KIND_SHARING] = "sharing",
};

static bool has_classes(const struct queue_sweep *s)
{
	return s->kind == QUEUE_KIND_PRIORITY || s->kind == QUEUE_KIND_SHARING;
}

static bool read_kind(struct queue_sweep *s, const struct command *self, const char *word,
		      int *status)
{
	for (unsigned k = 0; k < QUEUE_KINDS; k++) {
		if (strcmp(kind_names[k], word) == 0) {
			s->kind = (enum queue_kind)k;
			return true;
		}
	}
	const char *nearest = text_nearest(word, kind_names, QUEUE_KINDS);

	*status = command_usage(self, "'%s' is not one of %s%s", word, self->arguments,
				text_hint(nearest).text);
	return false;
}

/* Reads the classes; omitted values are cs2 = 1 and 64 bytes. */
static bool read_classes(struct queue_sweep *s, const struct command *self, int *status)
{
	const struct option_list *list = &s->values->classes;
	bool sharing = s->kind == QUEUE_KIND_SHARING;
	struct diag d = { .status = HD_OK };

	if (has_classes(s) && (list->n < 1 || list->n > QUEUE_MAX_CLASSES))
		diag_fail(&d, HD_ERR_RANGE, "%zu classes: must be 1 to %d", list->n,
			  QUEUE_MAX_CLASSES);
	if (!has_classes(s) && list->n)
		*status = command_usage(self, "--class requires the model priority or sharing");
	if (cli_model_refused(&d, status) || (!has_classes(s) && list->n))
		return false;
	s->n_classes = list->n;
	for (size_t k = 0; k < list->n; k++) {
		double *f = s->fields[k];

		f[2] = sharing ? 64 : 1;
		if (!cli_model_read_fields(self, list->items[k], 2, 3, f, status))
			return false;
		if (sharing && (!(f[1] >= 1 && f[1] <= 255) || f[1] != floor(f[1])))
			diag_fail(&d, HD_ERR_RANGE, "weight %g: must be a whole number in 1..255",
				  f[1]);
		if (sharing && (!(f[2] >= 1 && f[2] <= 65536) || f[2] != floor(f[2])))
			diag_fail(&d, HD_ERR_RANGE,
				  "packet of %g bytes: must be a whole number in 1..65536", f[2]);
	}
	return !cli_model_refused(&d, status);
}

static bool read_lists(struct queue_sweep *s, const struct command *self, int *status)
{
	const struct queue_sweep_options *v = s->values;
	struct diag d = { .status = HD_OK };

	if (hd_double_parse(v->mu, &d, &s->mu) != HD_OK) {
		*status = command_usage(self, "option --mu: %s", d.message);
		return false;
	}
	if (!cli_model_read_series(self, "lambda", v->lambda, &s->lambda, status) ||
	    !cli_model_read_series(self, "cs2", v->cs2, &s->cs2, status) ||
	    !cli_model_read_integers(self, "capacity", v->capacity, &s->capacity, status))
		return false;
	if ((double)s->lambda.n * (double)s->cs2.n * (double)s->capacity.n > MODEL_MAX_POINTS)
		diag_fail(&d, HD_ERR_RANGE, "too many points: at most %d are allowed",
			  MODEL_MAX_POINTS);
	return !cli_model_refused(&d, status);
}

bool queue_sweep_read(struct queue_sweep *s, const struct command *self, const char *kind,
		      int *status)
{
	return read_kind(s, self, kind, status) && read_classes(s, self, status) &&
	       read_lists(s, self, status);
}

void queue_sweep_fini(struct queue_sweep *s)
{
	series_fini(&s->lambda);
	series_fini(&s->cs2);
	series_fini(&s->capacity);
}

static enum hd_status solve_priority(const struct queue_sweep *s, struct queue_point *point,
				     struct diag *d)
{
	struct queue_des *q = &point->des;

	q->n_classes = s->n_classes;
	for (size_t k = 0; k < s->n_classes; k++)
		q->classes[k] =
			(struct queue_class){ s->fields[k][0], s->fields[k][1], s->fields[k][2] };
	if (queue_priority(q->classes, q->n_classes, d, point->result) != HD_OK)
		return d->status;
	point->conserved = queue_conserved(q->classes, q->n_classes);
	return HD_OK;
}

/* Converts loads and rates from the user's unit; each class has its own packet size. */
static enum hd_status solve_sharing(const struct queue_sweep *s, struct queue_point *point,
				    struct diag *d)
{
	struct queue_des *q = &point->des;
	struct share_class vls[QUEUE_MAX_CLASSES];
	double got[QUEUE_MAX_CLASSES];

	q->order = QUEUE_TURNS;
	q->n_classes = s->n_classes;
	for (size_t k = 0; k < s->n_classes; k++) {
		const double *f = s->fields[k];
		unsigned bytes = (unsigned)f[2];

		vls[k] = (struct share_class){ f[0], queue_share_quantum((unsigned)f[1], bytes) };
		q->turn[k] = (unsigned)(vls[k].quantum / bytes);
		q->classes[k] = (struct queue_class){ f[0] / bytes, s->mu / bytes, 0 };
	}
	if (queue_share(vls, s->n_classes, s->mu, d, got) != HD_OK)
		return d->status;
	for (size_t k = 0; k < s->n_classes; k++)
		point->result[k] = (struct queue_result){
			.throughput = got[k],
			.utilisation = got[k] / s->mu,
			.mean_queue = NAN,
			.response = NAN,
			.wait = NAN,
		};
	point->conserved = queue_conserved(q->classes, q->n_classes);
	return HD_OK;
}

static enum hd_status solve_single(const struct queue_sweep *s, size_t index,
				   struct queue_point *point, struct diag *d)
{
	static const double cs2[] = { [QUEUE_MM1] = 1, [QUEUE_MM1N] = 1, [QUEUE_MD1] = 0 };
	struct queue_des *q = &point->des;
	struct queue_class *c = &q->classes[0];

	q->n_classes = 1;
	c->lambda = s->lambda.values[index % s->lambda.n];
	index /= s->lambda.n;
	c->mu = s->mu;
	c->cs2 = s->kind == QUEUE_MG1 ? s->cs2.values[index] : cs2[s->kind];
	point->conserved = NAN;
	if (s->kind != QUEUE_MM1N)
		return queue_mg1(c->lambda, c->mu, c->cs2, d, point->result);
	q->capacity = (size_t)s->capacity.values[index];
	return queue_mm1n(c->lambda, c->mu, q->capacity, d, point->result);
}

static size_t n_points(const struct queue_sweep *s)
{
	if (has_classes(s))
		return 1;
	if (s->kind == QUEUE_MG1)
		return s->lambda.n * s->cs2.n;
	if (s->kind == QUEUE_MM1N)
		return s->lambda.n * s->capacity.n;
	return s->lambda.n;
}

static enum hd_status solve(const struct queue_sweep *s, struct cli_model_progress *progress,
			    struct queue_point *point, struct diag *d)
{
	const struct queue_sweep_options *v = s->values;
	enum hd_status status;

	if (s->kind == QUEUE_KIND_PRIORITY)
		status = solve_priority(s, point, d);
	else if (s->kind == QUEUE_KIND_SHARING)
		status = solve_sharing(s, point, d);
	else
		status = solve_single(s, progress->index, point, d);
	if (status != HD_OK || !v->simulate)
		return status;
	struct des_options o = cli_model_des_options(&v->common, progress);

	queue_des_run(&point->des, &o, point->simulated, &point->simulated_conserved);
	return HD_OK;
}

int queue_sweep_run(const struct queue_sweep *s)
{
	const struct queue_sweep_options *v = s->values;
	size_t points = n_points(s);
	struct diag d = { .status = HD_OK };
	struct queue_output out;
	struct cli_model_progress progress;

	queue_output_begin(&out, s);
	cli_model_progress_begin(&progress, &v->common, points, v->simulate);
	for (size_t k = 0; d.status == HD_OK && cli_model_progress_point(&progress, k); k++) {
		struct queue_point point = { 0 };

		if (solve(s, &progress, &point, &d) == HD_OK && !progress.stopped)
			queue_output_point(&out, &point);
	}
	cli_model_progress_end(&progress, out.results);
	if (d.status != HD_OK) {
		queue_output_abandon(&out);
		return command_refuse(&d);
	}
	return queue_output_end(&out);
}
