/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/report_internal.h"

#define LEVEL     0.999
#define MOST_ROWS 32 /* unless all are asked for */

struct loan_row {
	const char *port;
	unsigned vl;
	double borrowing; /* share of the time */
	struct sim_vl_use use;
};

static const struct column columns[] = {
	{ "port", NULL, CELL(loan_row, port) },
	{ "VL", NULL, CELL(loan_row, vl) },
	{ "offered", NULL, CELL(loan_row, use.offered), ORIGIN_SIMULATED },
	{ "blocked", "%", CELL_SHARE(loan_row, use.blocking.mean), ORIGIN_SIMULATED, 3 },
	{ "jobs", NULL, CELL(loan_row, use.jobs.mean), ORIGIN_SIMULATED, 3 },
	{ "+-", NULL, CELL(loan_row, use.jobs.half_width), ORIGIN_SIMULATED, 3 },
	{ "most", NULL, CELL(loan_row, use.most), ORIGIN_SIMULATED },
	{ "stay", "us", CELL_TIME(loan_row, use.stay.mean), ORIGIN_SIMULATED, 3 },
	{ "borrowing", "%", CELL_SHARE(loan_row, borrowing), ORIGIN_SIMULATED, 2 },
	{ "acquired", NULL, CELL(loan_row, use.acquired), ORIGIN_SIMULATED },
	{ "refused", NULL, CELL(loan_row, use.refused), ORIGIN_SIMULATED },
	{ "in line", "%", CELL_SHARE(loan_row, use.in_line), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

static double time_borrowing(const struct sim_vl_use *u)
{
	double borrowing = 0;

	for (unsigned k = 1; k <= SIM_MAX_LOANS; k++)
		borrowing += u->busy[k];
	return borrowing;
}

void findings_loans(const struct report_input *f, struct results *r)
{
	const struct sim_setup *setup = &f->fabric->setup;
	unsigned rows = 0;

	if (!setup->borrowing.on)
		return;
	struct table *t = results_table(
		r, "loans",
		"packets waiting or being sent, per port and VL (+-: 99.9 %), and VLs lent to others",
		columns);

	for (uint32_t port = 0; port < setup->n_ports; port++) {
		for (unsigned vl = 0; vl < setup->ports[port].vls; vl++) {
			struct loan_row row = { .vl = vl };

			if (rows == MOST_ROWS && !f->all)
				break;
			if (!sim_vl_use(f->sim, port, vl, LEVEL, &row.use))
				continue;
			row.port = findings_port_name(f->fabric, port, t);
			row.borrowing = time_borrowing(&row.use);
			table_put_row(t, &row);
			rows++;
		}
	}
}
