/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

bool cli_model_refused(const struct diag *d, int *status)
{
	if (d->status == HD_OK)
		return false;
	*status = command_refuse(d);
	return true;
}

bool cli_model_read_series(const struct command *self, const char *option, const char *text,
			   struct series *out, int *status)
{
	struct diag d = { .status = HD_OK };

	if (series_parse(text, &d, out) == HD_OK)
		return true;
	*status = command_usage(self, "option --%s: %s", option, d.message);
	return false;
}

bool cli_model_read_integers(const struct command *self, const char *option, const char *text,
			     struct series *out, int *status)
{
	struct series s;

	if (!cli_model_read_series(self, option, text, &s, status))
		return false;
	for (size_t k = 0; k < s.n; k++) {
		double v = s.values[k];

		if (v >= 0 && v <= 1e15 && v == floor(v))
			continue;
		struct diag d = { .status = HD_OK };

		diag_fail(&d, HD_ERR_RANGE, "%s %g: must be a whole number, not negative", option,
			  v);
		*status = command_refuse(&d);
		series_fini(&s);
		return false;
	}
	*out = s;
	return true;
}

/* Reads at most `high` fields; returns their number, or 0 if a field is not a number. */
static size_t read_fields(char *text, size_t high, double *out)
{
	size_t n = 0;

	for (char *field = text; field; n++) {
		char *colon = strchr(field, ':');

		if (colon)
			*colon = '\0';
		if (n == high || hd_double_parse(field, NULL, &out[n]) != HD_OK)
			return 0;
		field = colon ? colon + 1 : NULL;
	}
	return n;
}

bool cli_model_read_fields(const struct command *self, const char *text, size_t low, size_t high,
			   double *out, int *status)
{
	char *copy = hd_strdup(text);
	size_t n = read_fields(copy, high, out);

	free(copy);
	if (n >= low)
		return true;
	*status = command_usage(self, "option --class: '%s' is not %zu numbers separated by ':'",
				text, low);
	return false;
}

void cli_model_progress_begin(struct cli_model_progress *p, const struct common_options *common,
			      size_t points, uint64_t packets)
{
	/* Packets of the warm-up are counted, too. */
	struct des_options o = { .packets = packets };
	double each = packets ? (double)(packets + des_warmup(&o)) : 1;

	*p = (struct cli_model_progress){ .packets = packets, .each = each, .points = points };
	progress_begin(&p->line, common, packets ? "packets" : "points", (double)points * each);
}

bool cli_model_progress_point(struct cli_model_progress *p, size_t index)
{
	p->index = index;
	if (index < p->points && !progress_show(&p->line, (double)index * p->each))
		p->stopped = true;
	return index < p->points && !p->stopped;
}

static bool tick(void *arg, uint64_t arrivals)
{
	struct cli_model_progress *p = arg;

	if (!progress_show(&p->line, (double)p->index * (double)p->packets + (double)arrivals))
		p->stopped = true;
	return !p->stopped;
}

void cli_model_progress_end(struct cli_model_progress *p, struct results *r)
{
	progress_end(&p->line);
	if (p->stopped)
		results_remark(r, "interrupted after %zu of %zu points", p->index, p->points);
}

struct des_options cli_model_des_options(const struct common_options *common,
					 struct cli_model_progress *p)
{
	return (struct des_options){
		.packets = p->packets,
		/* Seeds of points are far apart, so that their random streams are independent. */
		.seed = common->seed + p->index * UINT64_C(0x9e3779b97f4a7c15),
		.level = 0.999,
		.tick = tick,
		.arg = p,
	};
}

struct cli_input_order cli_input_order(const size_t *n_values, size_t n)
{
	struct cli_input_order order = { .n = n };
	size_t at = 0;

	for (size_t k = 0; k < n; k++) {
		if (n_values[k] > 1)
			order.column[at++] = k;
	}
	order.n_swept = at;
	for (size_t k = 0; k < n; k++) {
		if (n_values[k] <= 1)
			order.column[at++] = k;
	}
	return order;
}

struct table *cli_model_table(struct results *r, const char *name, const char *title,
			      const struct column *columns, const struct cli_input_order *order)
{
	struct column shown[32];
	size_t n = 0;

	do
		shown[n] = columns[n];
	while (columns[n++].name);
	for (size_t k = 0; k < order->n; k++)
		shown[k] = columns[order->column[k]];
	if (order->n_swept == 1)
		return results_series(r, name, title, shown);
	return results_table(r, name, title, shown);
}

double cli_comparison_error(const struct cli_comparison *c)
{
	if (c->in->mean == 0)
		return NAN;
	return fabs(c->in->mean - c->computed) / fabs(c->in->mean);
}

bool cli_comparison_holds(const struct cli_comparison *c)
{
	return isnan(c->computed) || des_agrees(c->in, c->computed);
}

static const char *verdict(const struct cli_comparison *c)
{
	if (isnan(c->computed))
		return "-"; /* known from simulation only */
	if (c->in->mean == c->computed)
		return "yes"; /* e.g. no loss where no loss is possible */
	if (!c->in->sound || c->in->half_width == 0)
		return "unsure";
	return cli_comparison_holds(c) ? "yes" : "no";
}

struct comparison_row {
	struct cli_comparison compared;
	struct interval in;
	const char *inside;
	double error;
};

struct table *cli_comparison_table(struct results *r)
{
	static const struct column columns[] = {
		{ "point", NULL, CELL(comparison_row, compared.point) },
		{ "measure", NULL, CELL(comparison_row, compared.measure) },
		{ "unit", NULL, CELL(comparison_row, compared.unit) },
		{ "computed", NULL, CELL(comparison_row, compared.computed), ORIGIN_COMPUTED },
		{ "simulated", NULL, CELL(comparison_row, in.mean), ORIGIN_SIMULATED },
		{ "half_width", NULL, CELL(comparison_row, in.half_width), ORIGIN_SIMULATED },
		{ "inside", NULL, CELL(comparison_row, inside) },
		{ "EM", "%", CELL_SHARE(comparison_row, error), ORIGIN_COMPUTED, 3 },
		{ NULL },
	};

	return results_table(r, "simulated",
			     "computed values next to simulated ones with their 99.9 % intervals",
			     columns);
}

void cli_comparison_put(struct table *t, const struct cli_comparison *c)
{
	const struct comparison_row row = {
		.compared = *c,
		.in = *c->in,
		.inside = verdict(c),
		.error = cli_comparison_error(c),
	};

	table_put_row(t, &row);
}
