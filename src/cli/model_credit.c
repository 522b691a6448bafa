/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_credit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char *const option_names[CREDIT_PARAMETERS] = {
	[CREDIT_LAMBDA] = "lambda",      [CREDIT_MU1] = "mu1",    [CREDIT_MU2] = "mu2",
	[CREDIT_DELAY] = "credit-delay", [CREDIT_N] = "upstream", [CREDIT_M] = "downstream",
};

static bool read_phases(struct credit_sweep *s, const struct command *self, int *status)
{
	const char *text = s->values->phases;
	uint64_t phases;

	if (strcmp(text, "fixed") == 0) {
		if (s->values->simulate)
			return true;
		*status = command_usage(self, "--phases fixed has no closed form; add --simulate");
		return false;
	}
	if (hd_uint_parse(text, NULL, &phases) == HD_OK && phases > 0 &&
	    phases <= CREDIT_MAX_PHASES) {
		s->phases = (unsigned)phases;
		return true;
	}
	*status = command_usage(self, "option --phases: '%s' is neither 1 to %d nor 'fixed'", text,
				CREDIT_MAX_PHASES);
	return false;
}

static bool read_lists(struct credit_sweep *s, const struct command *self, int *status)
{
	for (int k = 0; k < CREDIT_PARAMETERS; k++) {
		const char *text = s->values->text[k];
		bool whole = k == CREDIT_N || k == CREDIT_M;
		bool ok = (whole ? cli_model_read_integers : cli_model_read_series)(
			self, option_names[k], text, &s->series[k], status);

		if (!ok)
			return false;
	}
	return true;
}

static bool count_points(struct credit_sweep *s, int *status)
{
	struct diag d = { .status = HD_OK };
	double points = 1;

	for (int k = 0; k < CREDIT_PARAMETERS; k++)
		points *= (double)s->series[k].n;
	if (s->values->paired) {
		if (s->series[CREDIT_N].n != s->series[CREDIT_M].n)
			diag_fail(
				&d, HD_ERR_RANGE,
				"--paired needs equally many values: %zu upstream and %zu downstream values are given",
				s->series[CREDIT_N].n, s->series[CREDIT_M].n);
		points /= (double)s->series[CREDIT_M].n;
	}
	if (points > MODEL_MAX_POINTS)
		diag_fail(&d, HD_ERR_RANGE, "too many points: %.0f (at most %d)", points,
			  MODEL_MAX_POINTS);
	s->n = (size_t)points;
	if (d.status == HD_OK)
		return true;
	*status = command_refuse(&d);
	return false;
}

bool credit_sweep_read(struct credit_sweep *s, const struct command *self, int *status)
{
	return read_phases(s, self, status) && read_lists(s, self, status) &&
	       count_points(s, status);
}

void credit_sweep_fini(struct credit_sweep *s)
{
	for (int k = 0; k < CREDIT_PARAMETERS; k++)
		series_fini(&s->series[k]);
}

static struct credit_link link_at(const struct credit_sweep *s, size_t index)
{
	double v[CREDIT_PARAMETERS];

	for (int k = CREDIT_PARAMETERS; k-- > 0;) {
		const struct series *list = &s->series[k];

		v[k] = list->values[index % list->n];
		/* Paired sweep: the upstream value has the same index. */
		if (!(k == CREDIT_M && s->values->paired))
			index /= list->n;
	}
	return (struct credit_link){ .lambda = v[CREDIT_LAMBDA],
				     .mu1 = v[CREDIT_MU1],
				     .mu2 = v[CREDIT_MU2],
				     .upstream = (size_t)v[CREDIT_N],
				     .downstream = (size_t)v[CREDIT_M],
				     .delay = v[CREDIT_DELAY],
				     .phases = s->phases };
}

static enum hd_status solve(struct credit_point *point, bool levels, struct diag *d)
{
	struct credit_link *link = &point->link;
	/* A constant delay must satisfy the rules of an exponential one. */
	struct credit_link checked = *link;

	checked.phases = link->phases ? link->phases : 1;
	if (credit_check(&checked, d) != HD_OK)
		return d->status;
	point->is_solved = link->phases > 0 || link->delay == 0;
	if (!point->is_solved)
		return HD_OK;
	if (levels)
		point->p =
			hd_alloc((link->upstream + 1) * (link->downstream + 1), sizeof(*point->p));
	return credit_solve(&checked, d, point->p, &point->result);
}

int credit_sweep_run(const struct credit_sweep *s)
{
	const struct credit_sweep_options *v = s->values;
	struct diag d = { .status = HD_OK };
	struct credit_output out;
	struct cli_model_progress progress;

	credit_output_begin(&out, s);
	cli_model_progress_begin(&progress, &v->common, s->n, v->simulate);
	for (size_t k = 0; d.status == HD_OK && cli_model_progress_point(&progress, k); k++) {
		struct credit_point point = { .link = link_at(s, k) };
		struct des_options o = cli_model_des_options(&v->common, &progress);

		if (solve(&point, v->levels, &d) == HD_OK) {
			if (v->simulate)
				credit_des_run(&point.link, &o, &point.des);
			if (!progress.stopped)
				credit_output_point(&out, &point);
		}
		free(point.p);
	}
	cli_model_progress_end(&progress, out.results);
	if (d.status != HD_OK) {
		credit_output_abandon(&out);
		return command_refuse(&d);
	}
	return credit_output_end(&out);
}
