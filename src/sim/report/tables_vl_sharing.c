/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/report_internal.h"

#define LEVEL     0.999
#define MOST_ROWS 32 /* unless --all */

struct vl_sharing_row {
	const char *port;
	unsigned vl;
	double sharing; /* share of the time with acquired VLs */
	struct sim_vl_use use;
};

static const struct column columns[] = {
	{ "port", NULL, CELL(vl_sharing_row, port) },
	{ "VL", NULL, CELL(vl_sharing_row, vl) },
	{ "offered", NULL, CELL(vl_sharing_row, use.offered), ORIGIN_SIMULATED },
	{ "blocked", "%", CELL_SHARE(vl_sharing_row, use.blocking.mean), ORIGIN_SIMULATED, 3 },
	{ "jobs", NULL, CELL(vl_sharing_row, use.jobs.mean), ORIGIN_SIMULATED, 3 },
	{ "+-", NULL, CELL(vl_sharing_row, use.jobs.half_width), ORIGIN_SIMULATED, 3 },
	{ "most", NULL, CELL(vl_sharing_row, use.most), ORIGIN_SIMULATED },
	{ "stay", "us", CELL_TIME(vl_sharing_row, use.stay.mean), ORIGIN_SIMULATED, 3 },
	{ "sharing", "%", CELL_SHARE(vl_sharing_row, sharing), ORIGIN_SIMULATED, 2 },
	{ "acquired", NULL, CELL(vl_sharing_row, use.acquired), ORIGIN_SIMULATED },
	{ "refused", NULL, CELL(vl_sharing_row, use.refused), ORIGIN_SIMULATED },
	{ "waiting", "%", CELL_SHARE(vl_sharing_row, use.waiting), ORIGIN_SIMULATED, 2 },
	{ NULL },
};

static double time_sharing(const struct sim_vl_use *u)
{
	double sharing = 0;

	for (unsigned k = 1; k <= SIM_MAX_ACQUIRED; k++)
		sharing += u->busy[k];
	return sharing;
}

void findings_vl_sharing(const struct report_input *f, struct results *r)
{
	const struct sim_setup *setup = &f->fabric->setup;
	unsigned rows = 0;

	if (!setup->vl_sharing.on)
		return;
	struct table *t = results_table(
		r, "VL sharing",
		"packets waiting or being sent, per port and VL (+-: 99.9 %), and acquired VLs",
		columns);

	for (uint32_t port = 0; port < setup->n_ports; port++) {
		for (unsigned vl = 0; vl < setup->ports[port].vls; vl++) {
			struct vl_sharing_row row = { .vl = vl };

			if (rows == MOST_ROWS && !f->all)
				break;
			if (!sim_vl_use(f->sim, port, vl, LEVEL, &row.use))
				continue;
			row.port = findings_port_name(f->fabric, port, t);
			row.sharing = time_sharing(&row.use);
			table_put_row(t, &row);
			rows++;
		}
	}
}
