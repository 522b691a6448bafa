/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples the rate that congestion control allows each flow, at equal intervals. */
#include <stdlib.h>

#include "base/alloc.h"
#include "run/run_internal.h"

hd_time run_rates_next(const struct run *s)
{
	return s->options.rates ? s->rates.next : HD_TIME_NEVER;
}

void run_rates_take(struct run *s)
{
	struct run_rates *x = &s->rates;
	hd_time now = sim_now(s->sim);

	x->next += s->options.rates;
	for (uint32_t i = 0; i < s->fabric->n_flows; i++) {
		struct sim_flow_control c;

		if (!sim_flow_control(s->sim, i, &c))
			continue;
		x->items = hd_grow(x->items, &x->cap, x->n + 1, sizeof(*x->items));
		x->items[x->n++] = (struct run_rate){ now, i, c.rate };
	}
}

struct rate_row {
	hd_time time;
	uint64_t flow;
	const char *traffic;
	double rate;
};

static const struct column columns[] = {
	{ "time", "us", CELL_TIME(rate_row, time), ORIGIN_GIVEN, 3 },
	{ "flow", NULL, CELL(rate_row, flow) },
	{ "traffic", NULL, CELL(rate_row, traffic) },
	{ "rate", "1/s", CELL(rate_row, rate), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

void run_rates_table(const struct run *s, struct results *r)
{
	const struct run_rates *x = &s->rates;

	if (!x->n)
		return;
	struct table *t = results_series(
		r, "rates", "packets per second that congestion control allows each flow", columns);

	for (size_t i = 0; i < x->n; i++) {
		const struct scn_traffic *rows = s->fabric->scenario->traffic;

		table_put_row(t,
			      &(struct rate_row){
				      .time = x->items[i].time,
				      .flow = x->items[i].flow,
				      .traffic = rows[s->fabric->flows[x->items[i].flow].row].name,
				      .rate = x->items[i].rate,
			      });
	}
}
