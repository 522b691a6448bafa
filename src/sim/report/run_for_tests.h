/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_RUN_FOR_TESTS_H
#define HD_SIM_REPORT_RUN_FOR_TESTS_H

/*
 * Runs the text of a scenario to its end and returns the results of its traffic rows, for tests of
 * a fabric's behaviour.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/tables.h"

struct test_run {
	struct fabric *fabric;
	struct sim *sim;
	enum sim_state state;
	const struct sim_metrics *metrics;
	struct report_row *rows;
};

static inline void test_run_init(struct test_run *r, const char *text)
{
	struct diag d = { .status = HD_OK };

	if (fabric_load(text, strlen(text), "test.yaml", NULL, &d, &r->fabric) != HD_OK) {
		fprintf(stderr, "%u:%u: %s\n", d.line, d.column, d.message);
		abort();
	}
	r->sim =
		sim_new(&r->fabric->setup, r->fabric->flows, r->fabric->n_flows, &r->fabric->rules);
	r->state = sim_run(r->sim, HD_TIME_NEVER, NULL, NULL);
	r->metrics = sim_metrics(r->sim);
	r->rows = report_rows(r->fabric, r->metrics);
}

static inline void test_run_fini(struct test_run *r)
{
	report_rows_free(r->rows, r->fabric->scenario->n_traffic);
	sim_free(r->sim);
	fabric_free(r->fabric);
}

#endif
