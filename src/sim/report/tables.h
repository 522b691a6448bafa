/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_TABLES_H
#define HD_SIM_REPORT_TABLES_H

/*
 * Results of a run as tables for people and programs: a summary first, then the traffic rows, the
 * busiest ports, and findings (losses, goals, a deadlock).
 *
 * Rates of traffic are of payload, as in the scenario; link utilization includes headers. Times are
 * those of the measured interval.
 */

#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/sim.h"

struct report_input {
	const struct fabric *fabric;
	struct sim *sim;
	const struct sim_metrics *metrics;
	enum sim_state state;
	bool all; /* every port and flow, not only the busiest */
};

/* One traffic row; the histogram is of all its packets. */
struct report_row {
	struct histogram latency;
	uint32_t n_flows;
	uint64_t made, delivered, lost;           /* packets; copies for delivered */
	uint64_t expected;                        /* copies that should arrive */
	uint64_t made_payload, delivered_payload; /* bytes */
	double jain;
};

/* Rows of the scenario, in order; the caller frees with report_rows_free. */
struct report_row *report_rows(const struct fabric *fabric, const struct sim_metrics *m);
void report_rows_free(struct report_row *rows, size_t n);

/*
 * Adds all tables but those below; true if every goal of the scenario was met,
 * and the run did not end in a deadlock.
 */
bool report_tables(const struct report_input *f, struct results *r);

/*
 * Of end ports: congestion control (rates of the rows, marks, admission), VLs whose queues are
 * bounded or that acquire others (B1 to B6).
 */
void report_end_tables(const struct report_input *f, struct results *r);

#endif
