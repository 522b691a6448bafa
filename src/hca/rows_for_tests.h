/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_ROWS_FOR_TESTS_H
#define HD_HCA_ROWS_FOR_TESTS_H

/*
 * Runs of one row of traffic with a transport, and what came of it. Links have
 * 200 Gb/s, which is 40 ps a byte; a packet has 26 bytes of headers, an ACK is
 * one of 30.
 */

#include <math.h>

#include "base/strbuf.h"
#include "fabric/build_for_tests.h"
#include "hca/traffic.h"

#define BYTE UINT64_C(40)
#define MTU  4096u

/* The end of a run, as the table has it. */
struct outcome {
	double posted, completed, failed, received, retries, early;
	double mean, max, goodput; /* us, Gb/s */
	uint64_t arrived, missed, lost, checksum, out_of_order;
	hd_time arrived_after; /* the slowest */
};

static inline double cell(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (strcmp(t->columns[i].name, name) == 0)
			return value_real(&t->cells[i]);
	}
	fail_msg("no column '%s'", name);
	return NAN;
}

static inline void read_table(const struct lab *rows, const struct sim_metrics *m,
			      struct outcome *out)
{
	struct results *r = results_new("sim");

	traffic_rows_table(rows, m, r);
	const struct table *t = r->tables[0];

	*out = (struct outcome){
		.posted = cell(t, "posted"),
		.completed = cell(t, "completed"),
		.failed = cell(t, "failed"),
		.received = cell(t, "received"),
		.retries = cell(t, "retries"),
		.early = cell(t, "early"),
		.mean = cell(t, "mean"),
		.max = cell(t, "max"),
		.goodput = cell(t, "goodput"),
		.arrived = m->flows[0].delivered,
		.missed = m->flows[0].lost,
		.arrived_after = m->flows[0].latency_max,
		.checksum = m->checksum,
		.out_of_order = m->checks.out_of_order,
	};
	for (unsigned i = 0; i < SIM_FATES; i++)
		out->lost += m->lost[i];
	results_free(r);
}

/* Runs a row `what` on that fabric, among whatever else is in `rest`. */
static inline void run_on(const char *fabric, const char *what, const char *rest,
			  struct outcome *out)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct lab *rows = NULL;
	struct fabric *f;

	strbuf_printf(&text, "%straffic:\n- {name: a, %s}\n%s\n", fabric, what, rest);
	must_build(text.text, &f);
	struct sim_rules rules = f->rules;

	assert_true(traffic_rows_any(f));
	lab_rules(&rules);
	struct sim *s = sim_new(&f->setup, f->flows, f->n_flows, &rules);

	assert_int_equal(qp_rows_new(f, s, &d, &rows), HD_OK);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	read_table(rows, sim_metrics(s), out);
	lab_free(rows);
	sim_free(s);
	fabric_free(f);
	strbuf_fini(&text);
}

/* What `payload` bytes take on a link, with the headers of their packets. */
static inline hd_time on_link(uint64_t payload)
{
	return (payload + 26 * ((payload + MTU - 1) / MTU)) * BYTE;
}

#endif
