/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "report/writer.h"

struct goal_row {
	const char *what, *goal, *unit, *met;
	double value, ratio;
};

static const struct column columns[] = {
	{ "what", NULL, CELL(goal_row, what) },
	{ "goal", NULL, CELL(goal_row, goal) },
	{ "value", NULL, CELL(goal_row, value), ORIGIN_MEASURED },
	{ "unit", NULL, CELL(goal_row, unit) },
	{ "ratio", NULL, CELL(goal_row, ratio), ORIGIN_MEASURED, 2 },
	{ "met", NULL, CELL(goal_row, met) },
	{ NULL },
};

bool bench_is_tiny(void)
{
	return getenv("HD_BENCH_TINY") != NULL;
}

unsigned long bench_count(unsigned long full)
{
	if (!bench_is_tiny())
		return full;
	return full < 100 ? 1 : full / 100;
}

double bench_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void bench_begin(struct bench *b, const char *name)
{
	*b = (struct bench){ .results = results_new("bench"), .tiny = bench_is_tiny() };
	b->table = results_table(b->results, name, "ratio is how far the goal is met; 1 is just",
				 columns);
}

static void add_row(struct bench *b, const char *what, const char *unit, const char *goal,
		    double value, double ratio)
{
	bool has_goal = *goal != '-';
	const struct goal_row row = {
		.what = what,
		.goal = goal,
		.value = value,
		.unit = unit,
		.ratio = has_goal ? ratio : NAN,
		.met = !has_goal    ? "-"
		       : ratio >= 1 ? "yes"
				    : "no",
	};

	table_put_row(b->table, &row);
	if (has_goal && ratio < 1)
		b->missed = true;
}

void bench_at_least(struct bench *b, const char *what, const char *unit, double goal, double value)
{
	char text[32] = "-";

	if (goal > 0)
		snprintf(text, sizeof(text), ">= %g", goal);
	add_row(b, what, unit, text, value, value / goal);
}

void bench_at_most(struct bench *b, const char *what, const char *unit, double goal, double value)
{
	char text[32] = "-";

	if (goal > 0)
		snprintf(text, sizeof(text), "<= %g", goal);
	add_row(b, what, unit, text, value, goal / value);
}

int bench_end(struct bench *b)
{
	struct strbuf out = STRBUF_INIT;

	writers[0].write(b->results, &out);
	puts(out.text);
	strbuf_fini(&out);
	results_free(b->results);
	return b->missed && !b->tiny;
}

static double seconds_per_call(void (*work)(void *arg), void *arg)
{
	unsigned long calls = 0;
	double begun = bench_seconds(), spent;

	do {
		work(arg);
		calls++;
		spent = bench_seconds() - begun;
	} while (spent < 0.5 && !bench_is_tiny());
	return spent / (double)calls;
}

double bench_rate(void (*work)(void *arg), void *arg, double amount)
{
	double best = seconds_per_call(work, arg);

	for (int i = 0; i < 2 && !bench_is_tiny(); i++) {
		double again = seconds_per_call(work, arg);

		best = again < best ? again : best;
	}
	return amount / best;
}
