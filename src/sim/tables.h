/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_TABLES_H
#define HD_SIM_TABLES_H

/*
 * What a run found, as tables that a person or a program reads: a summary
 * first, then the traffic rows, the busiest ports, and whatever needs to be
 * said (losses, goals, a deadlock).
 *
 * Rates of traffic are of payload, as the scenario's are; use of links counts
 * headers too. Times are of the measured interval.
 */

#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/sim.h"

struct sim_findings {
	const struct fabric *build;
	const struct sim_metrics *metrics;
	enum sim_state state;
	bool all; /* every port and flow, not only the busiest */
};

/* One traffic row; the histogram is of all its packets. */
struct sim_row {
	struct histogram latency;
	uint32_t n_flows;
	uint64_t made, delivered, lost; /* packets; copies for delivered */
	uint64_t expected;              /* copies that should arrive */
	uint64_t made_payload, delivered_payload; /* bytes */
	double jain;
};

/* Rows of the scenario, in order; the caller frees with sim_rows_free. */
struct sim_row *sim_rows(const struct fabric *b, const struct sim_metrics *m);
void sim_rows_free(struct sim_row *rows, size_t n);

/*
 * Adds all tables; true if every goal of the scenario was met (see
 * sim_goals).
 */
bool sim_tables(const struct sim_findings *f, struct results *r);

/*
 * Adds the goals, each with what was found; true if all were met. A row
 * without a packet meets no latency goal.
 */
bool sim_goals(const struct sim_findings *f, const struct sim_row *rows,
	       struct results *r);

/* Connections of a row that came, or asked for bandwidth. */
struct sim_connections {
	uint64_t asked, blocked; /* while measuring, or before it all began */
	struct interval blocking;
	double held;     /* at a time, on average */
	double reserved; /* for them, bits per second, likewise */
};
/* False if the row's flows neither come and go nor ask. */
bool sim_connections(const struct sim_findings *f, uint32_t row,
		     struct sim_connections *out);

/* After SIM_DEADLOCK: the circle of packets that wait, and a remark. */
void sim_deadlock_table(const struct sim_findings *f, struct sim *s,
			struct results *r);

/* Lanes of hosts whose queues are bounded or that borrow others (B1 to B6). */
void sim_loans_table(const struct sim_findings *f, struct sim *s,
		     struct results *r);

/* Congestion control: rates of the rows, marks, who was admitted. */
void sim_control_tables(const struct sim_findings *f, struct sim *s,
			struct results *r);

/* "video h3 -> h7", "bulk h3" for flows that choose. */
void sim_flow_name(const struct fabric *b, uint32_t flow, struct strbuf *out);

#endif
