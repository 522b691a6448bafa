/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/tables.h"

#include "base/strbuf.h"

#define LEVEL     0.999
#define MOST_ROWS 32 /* unless all are asked for */

static const struct column columns[] = {
	{ "port", NULL, VALUE_TEXT },
	{ "VL", NULL, VALUE_UINT },
	{ "offered", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "blocked", "%", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "jobs", NULL, VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "+-", NULL, VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "most", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "stay", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "borrowing", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "acquired", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "in vain", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "in line", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ NULL },
};

static void put_lane(struct table *t, const struct sim_lane_use *u)
{
	double borrowing = 0;

	for (unsigned k = 1; k <= SIM_MAX_LOANS; k++)
		borrowing += u->busy[k];
	table_put_uint(t, u->offered);
	table_put_real(t, 100 * u->blocking.mean);
	table_put_real(t, u->jobs.mean);
	table_put_real(t, u->jobs.half_width);
	table_put_uint(t, u->most);
	table_put_real(t, u->stay.mean / (double)HD_US);
	table_put_real(t, 100 * borrowing);
	table_put_uint(t, u->acquired);
	table_put_uint(t, u->in_vain);
	table_put_real(t, 100 * u->in_line);
}

void sim_loans_table(const struct sim_findings *f, struct sim *s,
		     struct results *r)
{
	const struct sim_setup *setup = &f->build->setup;
	struct strbuf name = STRBUF_INIT;
	unsigned rows = 0;

	if (!setup->borrowing.on)
		return;
	struct table *t = results_table(
		r, "loans",
		"packets waiting or being sent at hosts, per lane (+-: 99.9 %), "
		"and lanes on loan",
		columns);

	for (uint32_t port = 0; port < setup->n_ports; port++) {
		for (unsigned vl = 0; vl < setup->ports[port].vls; vl++) {
			struct sim_lane_use use;

			if (rows == MOST_ROWS && !f->all)
				break;
			if (!sim_lane_use(s, port, vl, LEVEL, &use))
				continue;
			strbuf_clear(&name);
			fabric_port_name(f->build, port, &name);
			table_put_text(t, name.text);
			table_put_uint(t, vl);
			put_lane(t, &use);
			rows++;
		}
	}
	strbuf_fini(&name);
}
