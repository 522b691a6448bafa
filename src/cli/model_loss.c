/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/model_loss.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/output.h"
#include "model/loss.h"

#define MOST_PLACES 1e7
#define MOST_LOAD   1e7

struct loss_row {
	uint32_t places, number;
	struct loss_class class;
	double lost, carried, used;
};

static const struct column columns[] = {
	{ "places", NULL, CELL(loss_row, places) },
	{ "class", NULL, CELL(loss_row, number) },
	{ "size", "places", CELL(loss_row, class.size) },
	{ "load", "erlangs", CELL(loss_row, class.load) },
	{ "blocking", "share", CELL(loss_row, lost), ORIGIN_COMPUTED },
	{ "carried", "erlangs", CELL(loss_row, carried), ORIGIN_COMPUTED, 6 },
	{ "used", "share", CELL(loss_row, used), ORIGIN_COMPUTED, 6 },
	{ NULL },
};

struct loss_sweep {
	const struct cli_model_loss_options *values;
	struct series places, load;
	struct loss_class *classes; /* classes of the command line; default: one of size 1 */
	uint32_t n_classes;
};

static bool read_class(struct loss_sweep *s, const struct command *self, const char *text,
		       int *status)
{
	struct diag d = { .status = HD_OK };
	double f[2];

	if (!cli_model_read_fields(self, text, 2, 2, f, status))
		return false;
	if (!(f[0] >= 1 && f[0] <= MOST_PLACES) || f[0] != floor(f[0]))
		diag_fail(&d, HD_ERR_RANGE, "size %g: must be a whole number in 1..%.0f", f[0],
			  MOST_PLACES);
	else if (!(f[1] >= 0 && f[1] <= MOST_LOAD))
		diag_fail(&d, HD_ERR_RANGE, "load %g: must be in 0..%.0f", f[1], MOST_LOAD);
	s->classes[s->n_classes++] = (struct loss_class){ (uint32_t)f[0], f[1] };
	return !cli_model_refused(&d, status);
}

static bool read_values(struct loss_sweep *s, const struct command *self, int *status)
{
	const struct cli_model_loss_options *v = s->values;
	struct diag d = { .status = HD_OK };
	size_t n = v->classes.n;

	s->classes = hd_alloc(n ? n : 1, sizeof(*s->classes));
	for (size_t i = 0; i < n; i++) {
		if (!read_class(s, self, v->classes.items[i], status))
			return false;
	}
	if (!n)
		s->classes[s->n_classes++] = (struct loss_class){ 1, 1 };
	if (!cli_model_read_integers(self, "places", v->places, &s->places, status) ||
	    !cli_model_read_series(self, "load", v->load, &s->load, status))
		return false;
	for (size_t i = 0; i < s->places.n; i++) {
		if (!(s->places.values[i] <= MOST_PLACES))
			diag_fail(&d, HD_ERR_RANGE,
				  "option --places: %g is too large (at most %.0f)",
				  s->places.values[i], MOST_PLACES);
	}
	for (size_t i = 0; i < s->load.n; i++) {
		if (!(s->load.values[i] >= 0 && s->load.values[i] <= MOST_LOAD))
			diag_fail(&d, HD_ERR_RANGE, "load %g: must be in 0..%.0f",
				  s->load.values[i], MOST_LOAD);
	}
	if (d.status == HD_OK && (double)s->places.n * (double)s->load.n > MODEL_MAX_POINTS)
		diag_fail(&d, HD_ERR_RANGE, "too many points: at most %d are allowed",
			  MODEL_MAX_POINTS);
	return !cli_model_refused(&d, status);
}

/* Adds all classes at one number of places and one load. */
static void put_point(const struct loss_sweep *s, uint32_t places, double load, struct table *t)
{
	struct loss_class *c = hd_alloc(s->n_classes, sizeof(*c));
	double *lost = hd_alloc(s->n_classes, sizeof(*lost));

	for (uint32_t i = 0; i < s->n_classes; i++)
		c[i] = (struct loss_class){ s->classes[i].size, s->classes[i].load * load };
	loss_shared(places, c, s->n_classes, lost);
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct loss_row row = { .places = places,
					.number = i + 1,
					.class = c[i],
					.lost = lost[i],
					.carried = c[i].load * (1 - lost[i]) };

		row.used = places ? row.carried * c[i].size / places : NAN;
		table_put_row(t, &row);
	}
	free(lost);
	free(c);
}

static int sweep_run(const struct loss_sweep *s)
{
	const size_t n_values[] = { s->places.n, 1, 1, s->load.n };
	const struct cli_input_order order = cli_input_order(n_values, 4);
	struct results *r = results_new("model");
	struct table *t = cli_model_table(
		r, "points", "who finds no room, by Erlang, Kaufman and Roberts", columns, &order);

	for (size_t i = 0; i < s->places.n; i++) {
		for (size_t k = 0; k < s->load.n; k++)
			put_point(s, (uint32_t)s->places.values[i], s->load.values[k], t);
	}
	return output_results(&s->values->common, r, true);
}

int cli_model_loss_run(const struct command *self, const struct cli_model_loss_options *values)
{
	struct loss_sweep s = { .values = values };
	int status;

	if (read_values(&s, self, &status))
		status = sweep_run(&s);
	series_fini(&s.places);
	series_fini(&s.load);
	free(s.classes);
	return status;
}
