/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_MODEL_ARGS_H
#define HD_CLI_MODEL_ARGS_H

/*
 * Shared by the commands of 'heddle model': values given as lists and sweeps, and the comparison
 * of a computed value with the confidence interval of its simulation.
 *
 * Options that cannot be parsed as numbers are usage errors (exit 2); numbers that violate a rule
 * of the model are bad input (exit 3).
 */

#include "base/series.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "measure/results.h"
#include "model/des/des.h"

/* Upper limit of the points of a sweep. */
#define MODEL_MAX_POINTS 10000000

/* Options of the simulation of each model. */
#define MODEL_SIMULATE_OPTION(at)                                                                                          \
	{                                                                                                                  \
		.name = "simulate", .kind = OPT_UINT, .offset = (at), .value = "PACKETS",                                  \
		.low = DES_MIN_PACKETS, .high = DES_MAX_PACKETS,                                                           \
		.help = "simulate this number of packets per point and compare; exit status 1 outside the 99.9 % interval" \
	}

/* Prints the error if there is one; *status is the exit status then. */
bool cli_model_refused(const struct diag *d, int *status);

/* False if the values are invalid: the error has been printed and *status is the exit status. */
bool cli_model_read_series(const struct command *self, const char *option, const char *text,
			   struct series *out, int *status);
/* The same for integers; errors name the quantity. */
bool cli_model_read_integers(const struct command *self, const char *option, const char *text,
			     struct series *out, int *status);
/* Parses "2:5:64": `low` to `high` numbers; otherwise prints a usage error. */
bool cli_model_read_fields(const struct command *self, const char *text, size_t low, size_t high,
			   double *out, int *status);

/* Progress of a sweep, in points or, when simulating, in packets. */
struct cli_model_progress {
	struct progress line;
	uint64_t packets; /* per point; 0: points are counted */
	double each;      /* units of progress per point */
	size_t index;     /* of the current point */
	size_t points;    /* total number */
	bool stopped;     /* by a signal, before all points were done */
};

void cli_model_progress_begin(struct cli_model_progress *p, const struct common_options *common,
			      size_t points, uint64_t packets);
/* Begins a point; false if a signal has stopped the sweep. */
bool cli_model_progress_point(struct cli_model_progress *p, size_t index);
/* Ends the progress; if the sweep was stopped, adds a remark with the number of complete points. */
void cli_model_progress_end(struct cli_model_progress *p, struct results *r);

/* Options of the discrete-event simulation of the current point. */
struct des_options cli_model_des_options(const struct common_options *common,
					 struct cli_model_progress *p);

/*
 * Order of the input columns of a table: swept inputs come first, so that the first column is the
 * x axis of a plot.
 */
#define MODEL_MAX_INPUTS 8

struct cli_input_order {
	size_t n;
	size_t column[MODEL_MAX_INPUTS]; /* column[k]: index of the k-th input shown */
	size_t n_swept;
};

struct cli_input_order cli_input_order(const size_t *n_values, size_t n);
/* A table whose first order->n columns are inputs: a series if an input is swept, else rows. */
struct table *cli_model_table(struct results *r, const char *name, const char *title,
			      const struct column *columns, const struct cli_input_order *order);

/* A computed value and its simulated counterpart. */
struct cli_comparison {
	const char *point; /* label of the point: "lambda=4 ca2=5" */
	const char *measure;
	const char *unit;
	double computed;
	const struct interval *in;
};

/* |simulated - computed| / simulated; NaN without a simulation. */
double cli_comparison_error(const struct cli_comparison *c);
bool cli_comparison_holds(const struct cli_comparison *c);

struct table *cli_comparison_table(struct results *r);
void cli_comparison_put(struct table *t, const struct cli_comparison *c);

#endif
