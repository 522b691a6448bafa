/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_JOBS_RUN_FOR_TESTS_H
#define HD_SIM_JOBS_RUN_FOR_TESTS_H

/* Runs the jobs of a scenario, and looks at what came of it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "sim/jobs/jobs.h"

/* Of a binary tree of p ranks: the logarithm, rounded up. */
static inline unsigned levels(uint32_t p)
{
	unsigned k = 0;

	while ((UINT32_C(1) << k) < p)
		k++;
	return k;
}

/* A run under way. */
struct course {
	struct fabric *fabric;
	struct jobs *jobs;
	struct sim *sim;
};

/* How it is computed: parts, threads, cut_seed and world of `how`. */
static inline struct course course_new(const char *text, const struct sim_rules *how)
{
	struct diag d = { .status = HD_OK };
	struct course c = { .fabric = NULL };

	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &c.fabric) != HD_OK ||
	    jobs_new(c.fabric, JOBS_ALL, &d, &c.jobs) != HD_OK)
		fail_msg("%s\n%s", text, d.message);
	struct sim_rules rules = c.fabric->rules;

	rules.parts = how->parts;
	rules.threads = how->threads;
	rules.cut_seed = how->cut_seed;
	rules.world = how->world;
	jobs_rules(c.fabric, &rules);
	c.sim = sim_new(&c.fabric->setup, c.fabric->flows, c.fabric->n_flows, &rules);
	jobs_attach(c.jobs, c.sim);
	return c;
}

static inline void course_end(struct course *c)
{
	sim_free(c->sim);
	jobs_free(c->jobs);
	fabric_free(c->fabric);
}

struct outcome {
	hd_time completion[4];
	struct results *results;
	bool well;
	uint64_t checksum, hops;
	uint32_t parts; /* in which it was computed */
};

static inline struct outcome run_on(const char *text, uint32_t parts)
{
	const hd_time alone[4] = { HD_TIME_NEVER, HD_TIME_NEVER, HD_TIME_NEVER, HD_TIME_NEVER };
	struct outcome out = { .results = results_new("test") };
	struct course c = course_new(text, &(struct sim_rules){ .parts = parts });
	const char *why_not;

	sim_run(c.sim, HD_TIME_NEVER, NULL, NULL);
	for (uint32_t i = 0; i < c.fabric->scenario->n_jobs && i < 4; i++)
		out.completion[i] = jobs_completion(c.jobs, i);
	out.well = jobs_tables(c.jobs, alone, sim_metrics(c.sim), true, out.results);
	out.checksum = sim_metrics(c.sim)->checksum;
	out.hops = sim_metrics(c.sim)->hops;
	out.parts = sim_is_cut(c.sim, &why_not);
	course_end(&c);
	return out;
}

static inline char *goal_file(const char *text)
{
	char *path = hd_strdup("/tmp/jobs-goal-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

/* Four hosts on a star; what else the job has, and the scenario. */
static inline struct outcome run_goal(const char *has, const char *goal, const char *with)
{
	char *path = goal_file(goal), text[512];

	snprintf(
		text, sizeof(text),
		"fabric: {topology: {kind: star, hosts: 4}, link: {rate: 4x HDR}}\njobs: [{name: a, %sgoal: %s}]\n%s\n",
		has, path, with);
	struct outcome o = run_on(text, 1);

	unlink(path);
	free(path);
	return o;
}

static inline const struct table *outcome_table(const struct outcome *o, const char *name)
{
	const struct table *t = results_find(o->results, name);

	if (!t)
		fail_msg("no table '%s'", name);
	return t;
}

static inline const struct value *outcome_cell(const struct outcome *o, const char *table,
					       size_t row, const char *column)
{
	const struct table *t = outcome_table(o, table);

	assert_true(row < table_rows(t));
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return table_cell(t, row, i);
	}
	fail_msg("%s has no column '%s'", table, column);
	return NULL;
}

/* In picoseconds, of a column in us. */
static inline hd_time outcome_time(const struct outcome *o, const char *table, size_t row,
				   const char *column)
{
	return (hd_time)(outcome_cell(o, table, row, column)->real * 1e6 + 0.5);
}

static inline bool value_same(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VALUE_NONE:
		return true;
	case VALUE_TEXT:
		return strcmp(a->text, b->text) == 0;
	case VALUE_BOOL:
		return a->yes == b->yes;
	default: /* numbers, all of 64 bits */
		return a->u == b->u;
	}
}

static inline void table_same(const struct table *a, const struct table *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->n_cells, b->n_cells);
	for (size_t i = 0; i < a->n_cells; i++) {
		if (!value_same(&a->cells[i], &b->cells[i]))
			fail_msg("%s: cell %zu differs", a->name, i);
	}
}

/* All tables, cell by cell. */
static inline void outcome_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->results->n_tables, b->results->n_tables);
	for (size_t i = 0; i < a->results->n_tables; i++)
		table_same(a->results->tables[i], b->results->tables[i]);
}

/* All cells of all of them, to the bit. */
static inline void print_tables(const struct results *r, struct strbuf *out)
{
	for (size_t k = 0; k < r->n_tables; k++) {
		const struct table *t = r->tables[k];

		strbuf_printf(out, "%s:", t->name);
		for (size_t i = 0; i < t->n_cells; i++) {
			const struct value *x = &t->cells[i];

			if (x->kind == VALUE_TEXT)
				strbuf_printf(out, " %s", x->text);
			else
				strbuf_printf(out, " %a", value_real(x));
		}
		strbuf_putc(out, '\n');
	}
}

#endif
